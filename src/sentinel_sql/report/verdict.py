"""At which stakes may an agent be believed: the stakes table said in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal

from sentinel_sql.evaluation.exhibits.stakes_sweep import StakesRow

Rows = Sequence[StakesRow]

Standing = Literal["better", "unsure", "not-better", "worse", "silent", "unknown"]
"""What a guarded agent is at one λ against never answering at all."""

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
    """A stretch of the grid of stakes on which the standing is the same."""

    standing: Standing
    low: float
    high: float
    levels: int

    @property
    def words(self) -> str:
        """Name the stretch."""
        if self.low == self.high:
            return f"λ = {self.low:g}"
        return f"λ = {self.low:g} … {self.high:g}"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the first screen says of one agent.

    Attributes:
        tone: `yes`, `unsure` or `no`.
        headline: one sentence.
        sentences: more, in order.
        spans: over the whole grid.
    """

    tone: str
    headline: str
    sentences: tuple[str, ...]
    spans: tuple[Span, ...]


def standings(rows: Rows) -> list[Standing]:
    """Tell what a guarded agent is at each λ of the stakes table, by rising λ.

    Ours: what is "clearly" so at one λ, and at neither of its two neighbours on the grid, loses
    the word; of 67 intervals of 95 % a few miss by chance. Nothing else is smoothed.
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
    """Tell if the delivered answers are enough to say that they earn something at this λ.

    Ours: of the answers at least λ/(1+λ) must be right for any gain, so the exact interval of
    that share must lie above it. The bootstrap alone is sure of 13 right answers out of 13.
    A table of an older evaluation doesn't hold the interval, and is never enough.
    """
    counted = row.accuracy_counted
    return counted is not None and counted.low > row.bar


def spans(rows: Rows) -> tuple[Span, ...]:
    """Put neighbouring λ of one standing together."""
    found = []
    for each, members in groupby(zip(standings(rows), rows, strict=True), key=itemgetter(0)):
        levels = [row.stakes for _, row in members]
        found.append(Span(standing=each, low=levels[0], high=levels[-1], levels=len(levels)))
    return tuple(found)


def verdict(rows: Rows, *, runs: int) -> Verdict:
    """Say at which stakes an agent may be believed.

    Args:
        rows: of the stakes table, by rising λ.
        runs: of the evaluated pool.
    """
    stretches = spans(rows)
    if not rows:
        return Verdict(
            tone="no",
            headline="Nothing can be said: there is no table of stakes.",
            sentences=(),
            spans=(),
        )
    found = {each: _listed(stretches, each) for each in STANDINGS}
    told = f"on {runs:,} runs"
    if found["better"]:
        # Stakes below 1 are for whom a wrong answer hardly matters: no reason for a green light.
        grave = any(span.standing == "better" and span.high >= 1 for span in stretches)
        tone = "yes" if grave else "unsure"
        headline = (
            f"Its answers can be believed at {found['better']}: there it clearly earns more than "
            f"never answering{_of_low_stakes(stretches, 'better')}."
        )
    elif found["unsure"]:
        tone = "unsure"
        headline = (
            f"At no stakes does it clearly earn more than never answering; at {found['unsure']} "
            f"it may{_of_low_stakes(stretches, 'unsure')} ({told})."
        )
    else:
        tone = "no"
        headline = (
            "Don't rely on its answers: at no stakes does it earn more than never answering "
            f"({told})."
        )
    sentences = []
    if found["better"] and found["unsure"]:
        sentences.append(f"At {found['unsure']} it seems to earn more, but {told} that isn't sure.")
    sentences += _too_few(rows)
    for each, words in (
        ("not-better", "it earns no more than never answering"),
        ("worse", "it clearly earns less than never answering: don't show its answers there"),
        (
            "silent",
            "it answers nothing: no answer reaches the bar, or its monitor can't serve such stakes",
        ),
        ("unknown", "nothing can be said"),
    ):
        if found[each]:  # type: ignore[index]
            sentences.append(f"At {found[each]} {words}.")  # type: ignore[index]
    return Verdict(tone=tone, headline=headline, sentences=tuple(sentences), spans=stretches)


def _of_low_stakes(stretches: Sequence[Span], wanted: Standing) -> str:
    """Say what λ < 1 means where that is all there is."""
    if any(span.high >= 1 for span in stretches if span.standing == wanted):
        return ""
    return ", but at λ < 1 a wrong answer costs less than a right one earns"


def _too_few(rows: Rows) -> list[str]:
    """Say why the least λ that only resampling is sure of is no better than perhaps."""
    unsure = (row for row in rows if _standing(row) == "unsure")
    row = next((row for row in unsure if row.gain is not None and row.gain.low > 0), None)
    if row is None:
        return []
    if row.accuracy_counted is None:
        return [
            "This evaluation doesn't say how many answers its certainty rests on: evaluate again, "
            "with `sentinel evaluate … --out`."
        ]
    answers = row.right + row.wrong
    return [
        f"Why only perhaps: at λ = {row.stakes:g}, {row.right:,} of {answers:,} answers "
        f"right can still come from an agent that is right {_percent(row.accuracy_counted.low)} "
        f"of the time, and it must be right more than {_percent(row.bar)}: too few answers "
        "to be sure."
    ]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _listed(stretches: Sequence[Span], wanted: Standing) -> str:
    words = [span.words for span in stretches if span.standing == wanted]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
