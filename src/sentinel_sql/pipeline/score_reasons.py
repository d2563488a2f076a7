"""What weighed most in a monitor's two scores of a prefix, in words; for heads that can tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sentinel_sql.monitor.heads.contributions import Term, contributions
from sentinel_sql.monitor.heads.linear import FittedLinearHead, LinearHead
from sentinel_sql.monitor.heads.ngrams import name_ngrams
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.trajectory.record import Prefix, commitment
from sentinel_sql.trajectory.render import TOKEN, render_question, render_step

STRONGEST: Final = 8
"""Terms that are named one by one (ours: more isn't read); the others are summed."""

_SIGNS: Final = {"answerability": -1.0, "correctness": 1.0}
"""The answerability head's positive class is the unanswerable one; here + always speaks well."""


def weights(monitor: Monitor, prefix: Prefix) -> Mapping[str, list[dict[str, Any]]]:
    """Return what weighs most in both heads' log-odds, by head.

    An n-gram is a word, a piece of one or a pair, and nobody reads pieces: what it adds is shared
    evenly among the words of the prefix that it comes from.

    Args:
        monitor: frozen.
        prefix: what it judges.

    Returns:
        `answerability` and `correctness`, each a list of `name` and `value`: what a word or a
        feature adds to the log-odds that the question is answerable, or the answer right. The
        last two are everything else together, and what a typical prefix has before any term; so
        the values sum to the log-odds. Empty where the head isn't linear.
    """
    its = monitor.estimators
    if not isinstance(its.head, LinearHead):
        return {}
    surroundings = Surroundings(keys=its.keys, clock=prefix.question.clock or its.clock)
    words = _Words(prefix)
    told = {}
    for head, sign in _SIGNS.items():
        fitted = getattr(its, head)
        if not isinstance(fitted, FittedLinearHead):
            return {}
        parts = contributions(fitted, its.head, prefix, surroundings)
        added = words.shared(parts.terms)
        strongest = sorted(added, key=lambda name: -abs(added[name]))[:STRONGEST]
        rest = parts.margin - parts.bias - sum(added[name] for name in strongest)
        told[head] = [
            *({"name": name, "value": sign * added[name]} for name in strongest),
            {
                "name": f"{len(added) - len(strongest)} other words and features",
                "value": sign * rest,
            },
            {"name": "before any of these", "value": sign * parts.bias},
        ]
    return told


class _Words:
    """The words of a prefix: where each stands, and which n-grams come from it."""

    def __init__(self, prefix: Prefix) -> None:
        self._places: dict[str, list[str]] = {}
        texts = [("question", render_question(prefix.question))]
        for step in prefix.steps:
            committed = commitment(step, commit_on_error=prefix.commit_on_error)
            texts.append((f"step {step.index}", render_step(step, committed)))
        for place, text in texts:
            for word in dict.fromkeys(match.group() for match in TOKEN.finditer(text.lower())):
                self._places.setdefault(word, []).append(place)
        self._shown = {word: _with_places(word, at) for word, at in self._places.items()}
        self._owners: dict[str, list[str]] = {}
        for word in self._places:
            for names in name_ngrams(word).values():
                for name in names:
                    self._owners.setdefault(name, []).append(word)

    def shared(self, terms: Iterable[Term]) -> dict[str, float]:
        """Return what every word and feature adds, by its name for people."""
        added: dict[str, float] = {}
        for term in terms:
            if term.kind == "feature":
                added[f"{term.names[0]} = {term.value:.3g}"] = term.log_odds
                continue
            owners = dict.fromkeys(
                word
                for name in term.names
                for word in self._owners.get(name, name.split() if " " in name else ())
                if word in self._places
            )
            for word in owners:
                name = self._shown[word]
                added[name] = added.get(name, 0.0) + term.log_odds / len(owners)
        return added


def _with_places(word: str, places: Sequence[str]) -> str:
    return f"“{word}” ({', '.join(places[:3])}{', …' if len(places) > 3 else ''})"
