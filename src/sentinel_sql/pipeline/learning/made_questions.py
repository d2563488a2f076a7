"""Makes questions without an answer: those of a project, about things that nothing holds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from sentinel_sql.coverage import Coverage, CoveredPhrase
from sentinel_sql.decision.grounder import Grounder
from sentinel_sql.questions.record import Question

ABSENT = (
    "shoe size",
    "favourite colour",
    "library card number",
    "eye colour",
    "bicycle brand",
    "parking space",
    "holiday destination",
    "handwriting style",
    "star sign",
    "ring tone",
    "umbrella count",
    "hat size",
    "pet name",
    "hair dye",
    "passport photo",
    "car insurance",
    "guitar model",
    "bedtime story",
    "lottery number",
    "carpet pattern",
)
"""Things that a working database rarely holds (ours); each is looked up before it is used."""

MADE = "made without an answer"
"""Begins the template of each made question, so that they are known as made."""


def make_unanswerable(
    questions: Sequence[Question], grounder: Grounder, *, count: int, seed: int = 42
) -> list[Question]:
    """Return questions without an answer, made of answerable ones; fewer if too few can be made.

    In each, the phrase that names a column or a stored text becomes a thing that nothing in the
    database holds. Their templates begin with `MADE` and name the thing, so that one thing is never
    in two pools.

    Args:
        questions: of the project.
        grounder: over its database.
        count: how many to make, at least 0.
        seed: equal seeds make equal questions.
    """
    absent = [it for it in ABSENT if grounder.ground(f"what is the {it}").unheld]
    rng = random.Random(seed)  # noqa: S311 (no secret)
    sources = [it for it in questions if it.answerable]
    rng.shuffle(sources)
    made: list[Question] = []
    seen: set[str] = {it.text for it in questions}
    for thing, source in _pairs(absent, sources, rng):
        if len(made) >= count:
            break
        phrase = _replaceable(grounder.ground(source.text))
        if phrase is None:
            continue
        end = phrase.start + len(phrase.text)
        text = f"{source.text[: phrase.start]}{thing}{source.text[end:]}"
        if text in seen:
            continue
        seen.add(text)
        made.append(
            Question(
                id=f"made-{len(made) + 1:04d}",
                text=text,
                answerable=False,
                template=f"{MADE}: {thing}",
                database=source.database,
            )
        )
    return made


def _pairs(
    absent: Sequence[str], sources: Sequence[Question], rng: random.Random
) -> Iterator[tuple[str, Question]]:
    """Yield pairs of a thing and a question, each thing once before any thing comes again."""
    if not absent:
        return
    for round_ in range(len(sources)):
        for at, thing in enumerate(rng.sample(absent, len(absent))):
            yield thing, sources[(round_ * len(absent) + at) % len(sources)]


def _replaceable(coverage: Coverage) -> CoveredPhrase | None:
    """Return the phrase that names what is asked about: a column, else a stored text."""
    if not coverage.readable:
        return None
    for kind in ("column", "value"):
        for phrase in coverage.phrases:
            if phrase.matches and phrase.matches[0].kind == kind:
                return phrase
    return None
