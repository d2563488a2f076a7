"""The verdict on an agent in words: deploy it at which stakes, not yet, or not at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal

from sentinel_sql.evaluation.exhibits.stakes_sweep import StakesRow

Rows = Sequence[StakesRow]

Standing = Literal["better", "unsure", "not-better", "worse", "silent", "unknown"]
"""How a guarded agent compares with never answering at one λ."""

STANDINGS: Final[Mapping[Standing, str]] = {
    "better": "is clearly better than never answering",
    "unsure": "is perhaps better than never answering",
    "not-better": "is not better than never answering",
    "worse": "is clearly worse than never answering",
    "silent": "answers nothing, so it is no better than never answering",
    "unknown": "has no figures here",
}
SHORT: Final[Mapping[Standing, str]] = {
    "better": "✓ better",
    "unsure": "? perhaps",
    "not-better": "✗ not better",
    "worse": "✗ worse",
    "silent": "✗ silent",
    "unknown": "–",
}
TONES: Final[Mapping[Standing, str]] = {
    "better": "yes",
    "unsure": "unsure",
    "not-better": "no",
    "worse": "no",
    "silent": "no",
    "unknown": "no",
}
_WITHOUT_CLEARLY: Final[Mapping[Standing, Standing]] = {"better": "unsure", "worse": "not-better"}


@dataclass(frozen=True, kw_only=True)
class Span:
    """A range of neighbouring stakes with the same standing."""

    standing: Standing
    low: float
    high: float
    levels: int

    @property
    def words(self) -> str:
        """The range in words."""
        if self.low == self.high:
            return f"λ = {self.low:g}"
        return f"λ = {self.low:g} … {self.high:g}"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on one agent, for the first screen.

    Attributes:
        tone: `yes`, `unsure` or `no`.
        headline: deploy, not yet or don't, in one sentence with its reason.
        sentences: further sentences, in order.
        spans: ranges of stakes that cover the whole table.
    """

    tone: str
    headline: str
    sentences: tuple[str, ...]
    spans: tuple[Span, ...]


def standings(rows: Rows) -> list[Standing]:
    """Return the standing at each λ of the stakes table, by ascending λ.

    Ours: a standing that is "clearly" better or worse at one λ, but at neither of its two
    neighbours, loses the word "clearly", because some of 67 95 % intervals miss by chance.
    Nothing else is smoothed.
    """
    alone = [_standing(row) for row in rows]
    found = list(alone)
    for place in range(1, len(alone) - 1):
        if alone[place] not in (alone[place - 1], alone[place + 1]):
            found[place] = _WITHOUT_CLEARLY.get(alone[place], alone[place])
    return found


def _standing(row: StakesRow) -> Standing:
    gain = row.gain
    if gain is None:
        return "unknown"
    if row.coverage is None or not row.coverage.estimate:
        return "silent"
    if gain.low > 0 and has_enough_answers(row):
        return "better"
    if gain.high < 0:
        return "worse"
    return "unsure" if gain.estimate > 0 else "not-better"


def has_enough_answers(row: StakesRow) -> bool:
    """Return whether the delivered answers are enough to show a gain at this λ.

    Ours: a gain needs a share of right answers above λ/(1+λ), so the exact interval of that share
    must lie above it. The bootstrap alone would be certain after 13 right answers out of 13. Older
    evaluations don't have the exact interval, so they never show a gain.
    """
    exact = row.accuracy_counted
    return exact is not None and exact.low > row.bar


def spans(rows: Rows) -> tuple[Span, ...]:
    """Return the ranges of neighbouring λ with the same standing."""
    found = []
    for each, members in groupby(zip(standings(rows), rows, strict=True), key=itemgetter(0)):
        levels = [row.stakes for _, row in members]
        found.append(Span(standing=each, low=levels[0], high=levels[-1], levels=len(levels)))
    return tuple(found)


FEW_TEMPLATES: Final = 20
"""With fewer question templates, bootstrap intervals are called too narrow, and no agent is to be
deployed by them (ours)."""


def verdict(rows: Rows, *, runs: int, templates: int | None = None) -> Verdict:
    """Return the verdict on an agent.

    Args:
        rows: rows of the stakes table, by ascending λ.
        runs: the number of evaluated runs.
        templates: the number of their question templates; None if it isn't known.
    """
    stretches = spans(rows)
    if not rows:
        return Verdict(
            tone="no",
            headline="There is no verdict, because the evaluation has no table of stakes.",
            sentences=(),
            spans=(),
        )
    found = {each: _join_spans(stretches, each) for each in STANDINGS}
    tone, headline, sentences = _decide(rows, stretches, found, runs=runs)
    if tone == "yes" and templates is not None and templates < FEW_TEMPLATES:
        reach = headline.removeprefix("Deploy at ").partition(":")[0]
        tone, headline = (
            "unsure",
            f"Not yet: at {reach} it earns more than never answering on these {runs:,} runs, but "
            f"they are of {templates:,} kinds of question, and at least {FEW_TEMPLATES} would "
            "tell.",
        )
    sentences += _too_few(rows)
    for each, words in (
        ("not-better", "it earns no more than never answering"),
        ("worse", "it clearly earns less than never answering: don't show its answers there"),
        (
            "silent",
            "it answers nothing: no answer reaches the bar, or its monitor can't serve such stakes",
        ),
        ("unknown", "the comparison isn't known"),
    ):
        if found[each]:  # type: ignore[index]
            sentences.append(f"At {found[each]} {words}.")  # type: ignore[index]
    return Verdict(tone=tone, headline=headline, sentences=tuple(sentences), spans=stretches)


def _decide(
    rows: Rows, stretches: Sequence[Span], found: Mapping[Standing, str], *, runs: int
) -> tuple[str, str, list[str]]:
    """Return tone, headline and first sentences.

    Only stakes from 1 on count: below, a wrong answer costs less than a right one earns.
    """
    held = standings(rows)
    matters = [(row, its) for row, its in zip(rows, held, strict=True) if row.stakes >= 1]
    # A gain that begins above the lowest of these stakes alone is one of many looks.
    lowest = matters[0][0].stakes if matters else math.inf
    better = [it for it in stretches if it.standing == "better" and it.low <= lowest <= it.high]
    hopeful = next((row for row, its in matters if its in ("unsure", "better")), None)
    sentences = []
    if better:
        headline = (
            f"Deploy at stakes up to λ = {better[0].high:g}: guarded, it clearly earns more than "
            "never answering there."
        )
        if found["unsure"]:
            sentences.append(
                f"At {found['unsure']} it seems to earn more, but not clearly on {runs:,} runs."
            )
        return "yes", headline, sentences
    if found["better"]:
        light = any(it.standing == "better" and it.low < 1 for it in stretches)
        but = ", but at λ < 1 a wrong answer costs less than a right one earns" if light else ""
        sentences.append(f"At {found['better']} it clearly earns more than never answering{but}.")
    more = None if hopeful is None else runs_to_tell(hopeful, runs=runs)
    if hopeful is not None and (more is None or more <= MOST_TIMES * runs):
        needed = "more" if more is None else f"about {more:,} more"
        return (
            "unsure",
            f"Not yet: at λ = {hopeful.stakes:g} it may earn more than never answering, and "
            f"{needed} labelled test runs like these {runs:,} would tell.",
            sentences,
        )
    silent = bool(matters) and all(its == "silent" for _, its in matters)
    reason = (
        "from λ = 1 on it answers nothing, which is worth what silence is worth"
        if silent
        else "where a wrong answer costs at least what a right one earns, it earns no more than "
        "never answering"
    )
    sentences.append(
        "A better agent would change this, or a monitor that was fitted on more kinds of question."
    )
    return "no", f"Don't deploy: {reason} ({runs:,} runs).", sentences


MOST_TIMES: Final = 20
"""If more than so many times the runs would be needed to tell, there is no gain to wait for."""


def runs_to_tell(row: StakesRow, *, runs: int) -> int | None:
    """Return how many more runs would show the gain, if it stays as it is; None if none would.

    Both the gain's interval must lie above 0 and that of the share of right answers above λ/(1+λ).
    An interval narrows with the square root of the number of runs. The number is rounded up to two
    digits.
    """
    gain, share = row.gain, row.accuracy_counted
    if gain is None or share is None or gain.estimate <= 0 or share.estimate <= row.bar:
        return None
    times = max(
        (gain.estimate - gain.low) / gain.estimate,
        (share.estimate - share.low) / (share.estimate - row.bar),
    )
    if times <= 1.0:
        return None
    times = min(times, 1e6)
    more = max(1, math.ceil(runs * times**2 - runs))
    digits: int = 10 ** max(0, len(str(more)) - 2)
    return -(-more // digits) * digits


def _too_few(rows: Rows) -> list[str]:
    """Explain why an agent is unsure at the lowest λ with a bootstrap interval above 0."""
    unsure = (row for row in rows if _standing(row) == "unsure")
    row = next((row for row in unsure if row.gain is not None and row.gain.low > 0), None)
    if row is None:
        return []
    if row.accuracy_counted is None:
        return [
            "This evaluation is of an older version without exact intervals: evaluate again with "
            "`sentinel evaluate … --out`."
        ]
    answers = row.right + row.wrong
    return [
        f"Why only perhaps: at λ = {row.stakes:g}, an agent that is right "
        f"{_percent(row.accuracy_counted.low)} of the time could also give {row.right:,} right "
        f"answers out of {answers:,}, but it must be right more than {_percent(row.bar)} of the "
        "time. More runs are needed."
    ]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _join_spans(stretches: Sequence[Span], wanted: Standing) -> str:
    words = [span.words for span in stretches if span.standing == wanted]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
