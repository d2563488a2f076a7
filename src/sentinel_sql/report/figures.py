"""The figures of one agent, each drawn from the rows of its tables only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sentinel_sql.report.drawing import COLOURS, Drawing, direct_label, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rows = Mapping[str, Sequence[Any]]
DrawFigure = Callable[[Rows, str], Drawing | None]
"""Draws an agent's rows under a name that is unique on the page; None if there is no data."""

SYSTEM_WORDS: Final[Mapping[str, str]] = {
    "vanilla": "agent alone",
    "gate": "+ gate",
    "chow": "delivery bar alone",
    "full": "gate + delivery bar",
    "early-stop": "+ early stop",
    "certified": "gate + certified bar",
    "always-abstain": "never answering",
}
_PAINT = {"vanilla": "alone", "always-abstain": "never"}


def stakes(rows_of: Rows, name: str) -> Drawing | None:
    """Draw payoff, coverage and accuracy at every λ."""
    rows = _known(rows_of, "stakes", "rs_full", "rs_vanilla", "rs_abstain")
    if not rows:
        return None
    levels = [row.stakes for row in rows]
    last = rows[-1]
    low = min(row.rs_full.low for row in rows)
    floor = max(min(low, last.rs_abstain.low) - 0.1, -2.0)

    def paint(axes: Any) -> None:
        above, below = axes
        above.set_xscale("log")
        above.fill_between(
            levels,
            [row.rs_full.low for row in rows],
            [row.rs_full.high for row in rows],
            color=COLOURS["guarded"],
            alpha=0.18,
            linewidth=0,
        )
        for column, colour, dashes, words in (
            ("rs_vanilla", "alone", ":", "agent alone"),
            ("rs_abstain", "never", "--", "never answering"),
            ("rs_full", "guarded", "-", "guarded"),
        ):
            values = [getattr(row, column).estimate for row in rows]
            above.plot(levels, values, dashes, color=COLOURS[colour], label=words)
        above.set_ylim(floor, min(1.0, max(row.rs_full.high for row in rows) + 0.1))
        above.set_ylabel("payoff a question, RS(λ)")
        above.legend(loc="lower left")
        for column, colour, dashes, words in (
            ("coverage", "ink", "--", "runs answered"),
            ("accuracy", "good", "-", "answers right"),
        ):
            known = [(row.stakes, it.estimate) for row in rows if (it := getattr(row, column))]
            below.plot(*zip(*known, strict=True), dashes, color=COLOURS[colour], label=words)
            _band(below, rows, column, colour)
        below.set_ylim(0, 1.02)
        below.set_ylabel("share")
        below.set_xlabel("stakes λ: what a wrong answer costs")
        below.legend(loc="lower left")
        ticks = [level for level in (0.1, 0.3, 1, 4, 9, 20, 50) if levels[0] <= level <= levels[-1]]
        below.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
        below.minorticks_off()

    values = "; ".join(
        f"at λ = {row.stakes:g} guarded {row.rs_full.estimate:+.2f}, agent alone "
        f"{row.rs_vanilla.estimate:+.2f}, never answering {row.rs_abstain.estimate:+.2f}"
        for row in rows
        if row.stakes in (1.0, 4.0, 9.0)
    )
    return draw(
        "The payoff of the guarded agent at every cost of a wrong answer",
        "Answering pays where the solid line is above the dashed one. Shaded: 95 % intervals.",
        f"Upper panel, mean payoff a question: {values}. Lower panel: share of runs answered "
        f"and share of answers right. The shaded bands are 95 % intervals.",
        paint,
        name=name,
        panels=(2, 1),
        size=(7.0, 5.4),
        shared=True,
    )


def ladder(rows_of: Rows, name: str) -> Drawing | None:
    """Draw what each check adds at every λ of the evaluation."""
    rows = _known(rows_of, "ladder", "rs")
    if not rows:
        return None
    levels = list(dict.fromkeys(row.stakes for row in rows))[:4]

    def paint(axes: Any) -> None:
        panels = [axes] if len(levels) == 1 else list(axes)
        for level, panel in zip(levels, panels, strict=True):
            here = [row for row in rows if row.stakes == level]
            places = range(len(here))[::-1]
            for place, row in zip(places, here, strict=True):
                colour = COLOURS[_PAINT.get(row.system, "guarded")]
                panel.plot([row.rs.low, row.rs.high], [place, place], color=colour, lw=3)
                panel.plot([row.rs.estimate], [place], "o", color=colour, ms=7)
            nothing = [row.rs.estimate for row in here if row.system == "always-abstain"]
            for value in nothing:
                panel.axvline(value, color=COLOURS["never"], ls="--", lw=1.2)
            names = [SYSTEM_WORDS.get(row.system, row.system) for row in here]
            panel.set_yticks(list(places), names if panel is panels[0] else [""] * len(here))
            panel.set_title(f"λ = {level:g}")
            panel.set_xlabel("RS(λ)")
            panel.grid(axis="y", visible=False)

    values = "; ".join(
        f"λ = {row.stakes:g}, {SYSTEM_WORDS.get(row.system, row.system)}: "
        f"{row.rs.estimate:+.2f} ({row.rs.low:+.2f} to {row.rs.high:+.2f})"
        for row in rows
        if row.stakes in levels
    )
    return draw(
        "System ladder: what each check adds",
        "Dot: mean payoff a question; bar: 95 % interval; dashed: never answering.",
        f"Mean payoff a question with 95 % intervals. {values}. Dashed: never answering.",
        paint,
        name=name,
        panels=(1, len(levels)),
        size=(2.0 + 1.8 * len(levels), 3.4),
    )


def risk_coverage(rows_of: Rows, name: str) -> Drawing | None:
    """Draw the risk–coverage curves with the points of Chow's rule."""
    rows = _known(rows_of, "risk_coverage", "coverage", "risk")
    curves = [row for row in rows if row.stakes is None]
    points = [row for row in rows if row.stakes is not None]
    if not curves:
        return None
    styles = (("guarded", "-"), ("alone", "--"), ("never", ":"), ("bad", "-."))
    names = list(dict.fromkeys(row.confidence for row in curves))

    def paint(axes: Axes) -> None:
        for (colour, dashes), each in zip(styles, names, strict=False):
            line = [row for row in curves if row.confidence == each]
            axes.plot(
                [row.coverage for row in line],
                [row.risk for row in line],
                dashes,
                marker="s" if len(line) < 4 else None,
                color=COLOURS[colour],
                label=each,
            )
        for row in points:
            axes.plot([row.coverage], [row.risk], "D", color=COLOURS["ink"], ms=7)
            axes.annotate(
                f"λ = {row.stakes:g}",
                (row.coverage, row.risk),
                xytext=(7, 7),
                textcoords="offset points",
            )
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("share of the answers that is delivered")
        axes.set_ylabel("share of delivered answers that is wrong")
        axes.legend(loc="best")

    values = "; ".join(
        f"at λ = {row.stakes:g} {row.coverage:.0%} of the answers are delivered and "
        f"{row.risk:.0%} of these are wrong"
        for row in points
    )
    values = values or "Chow's rule delivers nothing"
    return draw(
        "Risk and coverage, with the points of Chow's rule",
        "A lower line means fewer wrong answers among those shown. ◆: the delivery bar at λ.",
        f"One curve for each of: {', '.join(names)}. {values}.",
        paint,
        name=name,
    )


def reliability(rows_of: Rows, name: str) -> Drawing | None:
    """Draw the reliability diagram before and after calibration."""
    rows = _known(rows_of, "confidence_bins", "confidence", "accuracy")
    if not rows:
        return None

    def paint(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=COLOURS["muted"], lw=1, ls="--")
        axes.annotate(
            "perfect calibration",
            (0.86, 0.86),
            rotation=33,
            ha="center",
            va="bottom",
            color=COLOURS["muted"],
            fontsize=9,
        )
        for stage, colour, mark, dashes in (
            ("raw", "alone", "s", ":"),
            ("calibrated", "guarded", "o", "-"),
        ):
            here = [row for row in rows if row.stage == stage]
            if not here:
                continue
            x = [row.confidence for row in here]
            y = [row.accuracy.estimate for row in here]
            axes.plot(x, y, dashes, color=COLOURS[colour], lw=1.2)
            biggest = max(row.n for row in here)
            axes.scatter(
                x,
                y,
                s=[25 + 110 * row.n / biggest for row in here],
                marker=mark,
                color=COLOURS[colour],
                label=stage,
                zorder=3,
            )
            if stage == "calibrated":
                for row in here:
                    axes.plot(
                        [row.confidence] * 2,
                        [row.accuracy.low, row.accuracy.high],
                        color=COLOURS[colour],
                        lw=1.4,
                    )
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("mean confidence")
        axes.set_ylabel("share of right answers")
        axes.legend(loc="upper left", markerscale=0.7)

    values = "; ".join(
        f"{row.n} answers with confidence {row.confidence:.2f}, {row.accuracy.estimate:.2f} right"
        for row in rows
        if row.stage == "calibrated"
    )
    return draw(
        "Reliability diagram: confidence and share of right answers",
        "A bigger mark means more answers; vertical bars: 95 % intervals.",
        f"Ten bins of confidence against the share right, calibrated: {values}.",
        paint,
        name=name,
    )


def by_step(rows_of: Rows, name: str) -> Drawing | None:
    """Draw the AUROC of both heads by step."""
    rows = _known(rows_of, "by_step", "auroc")
    if not rows:
        return None

    def paint(axes: Axes) -> None:
        for head, colour, mark, dashes in (
            ("answerability", "never", "s", "--"),
            ("correctness", "guarded", "o", "-"),
        ):
            here = [row for row in rows if row.head == head]
            if not here:
                continue
            t = [row.t for row in here]
            auroc = [row.auroc.estimate for row in here]
            axes.plot(t, auroc, dashes, marker=mark, color=COLOURS[colour])
            _band(axes, here, "auroc", colour, x="t")
            direct_label(axes, t[-1], auroc[-1], head, colour)
        axes.axhline(0.5, color=COLOURS["muted"], lw=1, ls=":")
        axes.set_ylim(0, 1.02)
        axes.set_xlim(0, max(row.t for row in rows) * 1.22 + 0.4)
        axes.set_xticks(range(max(row.t for row in rows) + 1))
        axes.set_xlabel("steps read, t (only longer runs have late steps)")
        axes.set_ylabel("AUROC")

    values = "; ".join(f"{row.head} at t = {row.t}: {row.auroc.estimate:.2f}" for row in rows)
    return draw(
        "AUROC of the heads by step",
        "Dotted: chance. Shaded: 95 % intervals. Only longer runs have late steps.",
        f"AUROC on the prefix of t steps, 0.5 is chance: {values}. Bands are 95 % intervals.",
        paint,
        name=name,
    )


def step_economics(rows_of: Rows, name: str) -> Drawing | None:
    """Draw the agent's costs of runs by their outcome."""
    rows = [row for row in _known(rows_of, "step_economics", "steps") if row.n]
    if not rows:
        return None
    costs = [cost for cost in ("steps", "tokens") if all(getattr(row, cost) for row in rows)]

    def paint(axes: Any) -> None:
        panels = [axes] if len(costs) == 1 else list(axes)
        for cost, panel in zip(costs, panels, strict=True):
            places = range(len(rows))[::-1]
            for place, row in zip(places, rows, strict=True):
                colour = COLOURS["good" if row.group == "answerable" else "never"]
                mean = getattr(row, cost)
                panel.barh(place, mean.estimate, color=colour, height=0.55, alpha=0.75)
                panel.plot([mean.low, mean.high], [place] * 2, color=COLOURS["ink"])
            names = [f"{row.group} (n = {row.n})" for row in rows]
            panel.set_yticks(list(places), names if panel is panels[0] else [""] * len(rows))
            panel.set_xlabel(f"{cost} a run")
            panel.grid(axis="y", visible=False)

    values = "; ".join(
        f"{row.group}: {row.steps.estimate:.1f} steps over {row.n} runs" for row in rows
    )
    return draw(
        "Costs of unanswerable questions for the agent alone",
        "Means a run; thin lines: 95 % intervals.",
        f"Means a run with 95 % intervals. {values}.",
        paint,
        name=name,
        panels=(1, len(costs)),
        size=(7.4, 1.2 + 0.5 * len(rows)),
    )


FIGURES: Final[Mapping[str, DrawFigure]] = {
    "stakes": stakes,
    "ladder": ladder,
    "risk_coverage": risk_coverage,
    "reliability": reliability,
    "by_step": by_step,
    "step_economics": step_economics,
}


def _known(rows_of: Rows, table: str, *columns: str) -> list[Any]:
    """Return the rows of a table in which all these columns are known; none without the table."""
    rows = rows_of.get(table, ())
    return [row for row in rows if all(getattr(row, name) is not None for name in columns)]


def _band(axes: Axes, rows: Sequence[Any], column: str, colour: str, *, x: str = "stakes") -> None:
    known = [(getattr(row, x), span) for row in rows if (span := getattr(row, column))]
    axes.fill_between(
        [place for place, _ in known],
        [span.low for _, span in known],
        [span.high for _, span in known],
        color=COLOURS[colour],
        alpha=0.15,
        linewidth=0,
    )
