"""An evaluation on the terminal: each exhibit as a table that fits 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sentinel_sql.decision.payoff import chow_bar
from sentinel_sql.evaluation.check_costs import costly_checks, stakes_note
from sentinel_sql.monitor.thresholds import Gate
from sentinel_sql.report.terminal.table import (
    empty_table,
    green_if_ahead,
    number,
    point,
    share,
    share_point,
    share_span,
    span,
)

Json = Mapping[str, Any]
Rows = Sequence[Json]


def screen(evaluation: Json) -> Iterator[RenderableType]:
    """Yield what `sentinel evaluate` shows, the ladder first.

    Args:
        evaluation: what `Evaluation.to_json` gave.
    """
    yield headline(evaluation)
    for name, exhibit in evaluation["exhibits"].items():
        if name in TABLES:
            yield Text()
            yield TABLES[name](exhibit)


def headline(evaluation: Json) -> RenderableType:
    """Say in a few lines what was evaluated, on what, and what was left out."""
    counts = evaluation["counts"]
    lines = [
        Text.assemble(
            (f"{evaluation['pool']} pool", "bold"),
            f": {counts['runs']} runs, {counts['answerable']} answerable, "
            f"{counts['unanswerable']} not, {counts['templates']} templates",
        ),
        Text(
            f"the agent answered {counts['answered']} ({counts['correct']} correctly), "
            f"abstained on {counts['abstained']}, hit the cap on {counts['cap']}"
        ),
    ]
    gaps = evaluation["gaps"]
    if any(gaps.values()):
        told = ", ".join(f"{len(ids)} {why}" for why, ids in gaps.items() if ids)
        lines.append(Text(f"left out: {told}", style="yellow"))
    thresholds = evaluation["thresholds"]
    notes = [
        *evaluation.get("notes", ()),
        *filter(None, [stakes_note(thresholds, evaluation["stakes"])]),
        *costly_checks(
            (row["system"], row["stakes"], row["rs"]["estimate"])
            for row in evaluation["exhibits"]["ladder"]["rows"]
        ),
    ]
    lines += [Text(f"note: {note}", style="yellow") for note in notes]
    gate = Gate.model_validate(thresholds["gate"])
    theta = "" if gate.theta is None else f"gate θ = {gate.theta:.4g}: "
    lines.append(Text(f"{theta}{gate.why}", style="dim"))
    spent = evaluation["spent"]
    if spent is not None:
        style = "dim" if spent == 1 else "yellow"
        times = "once" if spent == 1 else f"{spent} times, each in another way"
        lines.append(Text(f"this monitor's held-out pool was spent {times}", style=style))
    return Group(*lines)


def ladder(exhibit: Json) -> Table:
    """Show the system ladder, one section for each λ; the best score of a section is bold."""
    table = empty_table(
        "System ladder: what each check adds",
        ("system", "RS(λ)", "95 % interval", "cover", "right", "steps−", "tokens−"),
    )
    rows: Rows = exhibit["rows"]
    for stakes in dict.fromkeys(row["stakes"] for row in rows):
        here = [row for row in rows if row["stakes"] == stakes]
        best = max(row["rs"]["estimate"] for row in here)
        table.add_section()
        table.add_row(Text(f"λ = {stakes:g}, bar {chow_bar(stakes):.3g}", style="bold cyan"))
        for row in here:
            table.add_row(
                row["system"],
                Text(
                    f"{row['rs']['estimate']:+.3f}",
                    style="bold green" if row["rs"]["estimate"] == best else "",
                ),
                span(row["rs"], "+.2f"),
                share(row["coverage"]),
                share(row["accuracy"]),
                share(row["steps_saved"]),
                share(row["tokens_saved"]),
            )
    table.caption = (
        "RS: +1 right answer or rightly none, 0 missed, −λ wrong.\n"
        "right: of the answers given; steps−, tokens−: share never spent."
    )
    return table


def heads(exhibit: Json) -> Table:
    """Show every head's AUROC beside the plain rule's."""
    table = empty_table(
        "Heads: AUROC, and the rule 'executed and not empty' beside it",
        ("task", "n", "pos.", "AUROC", "95 % interval", "rule", "lead"),
    )
    for row in exhibit["rows"]:
        table.add_row(
            row["name"],
            str(row["n"]),
            str(row["positives"]),
            point(row["auroc"], ".3f"),
            span(row["auroc"], ".2f"),
            point(row["rule"], ".3f"),
            green_if_ahead(point(row["lead"], "+.3f"), row["lead"]),
        )
    table.caption = "Quiet failure: among answers that executed and aren't empty."
    return table


def operating(exhibit: Json) -> Table:
    """Show coverage and accuracy of every system at every λ."""
    table = empty_table(
        "Operating characteristics",
        ("λ", "system", "cover", "95 % interval", "right", "95 % interval", "harm"),
        words=("λ", "system"),
    )
    for stakes, rows in _by_stakes(exhibit["rows"]):
        table.add_section()
        for index, row in enumerate(rows):
            table.add_row(
                f"{stakes:g}" if index == 0 else "",
                row["system"],
                share_point(row["coverage"]),
                share_span(row["coverage"]),
                share_point(row["accuracy"]),
                share_span(row["accuracy"]),
                str(row["wrong"]),
            )
    table.caption = "harm: wrong answers, and answers to unanswerable questions."
    return table


def gain(exhibit: Json) -> Table:
    """Show gains over always abstaining and over the agent alone side by side."""
    table = empty_table(
        "Gain in RS(λ), † where its 95 % interval excludes zero",
        ("λ", "system", "over abstaining", "over the agent alone"),
        words=("λ", "system"),
    )
    for stakes, rows in _by_stakes(exhibit["rows"]):
        table.add_section()
        cells = {(row["system"], row["over"]): row for row in rows}
        for index, system in enumerate(dict.fromkeys(row["system"] for row in rows)):
            table.add_row(
                f"{stakes:g}" if index == 0 else "",
                system,
                *(_gain(cells[system, rival]) for rival in ("always-abstain", "vanilla")),
            )
    return table


def reliability(exhibit: Json) -> Table:
    """Show the calibration errors before and after."""
    table = empty_table(
        "Calibration at delivery",
        ("", "n", "says", "is", "ECE", "95 % interval", "Brier"),
    )
    for row in exhibit["rows"]:
        table.add_row(
            row["stage"],
            str(row["n"]),
            point(row["confidence"], ".3f"),
            point(row["accuracy"], ".3f"),
            point(row["ece"], ".3f"),
            span(row["ece"], ".2f"),
            point(row["brier"], ".3f"),
        )
    table.caption = "says: mean confidence; is: share correct."
    return table


def by_step(exhibit: Json) -> Table:
    """Show both heads' AUROC by step, side by side."""
    table = empty_table(
        "AUROC by step",
        ("t", "n", "correctness", "95 % interval", "n", "answerability", "95 % interval"),
        words=(),
    )
    cells = {(row["head"], row["t"]): row for row in exhibit["rows"]}
    for t in sorted({row["t"] for row in exhibit["rows"]}):
        parts: list[str] = []
        for head in ("correctness", "answerability"):
            row = cells[head, t]
            parts += [str(row["n"]), point(row["auroc"], ".3f"), span(row["auroc"], ".2f")]
        table.add_row(str(t), *parts)
    return table


def step_economics(exhibit: Json) -> Table:
    """Show the mean costs of a run by how it ends."""
    table = empty_table(
        "What unanswerable questions cost the agent alone, a run",
        ("group", "n", "steps", "95 % interval", "tokens", "seconds"),
    )
    for row in exhibit["rows"]:
        table.add_row(
            row["group"],
            str(row["n"]),
            point(row["steps"], ".2f"),
            span(row["steps"], ".2f"),
            point(row["tokens"], ".0f"),
            point(row["seconds"], ".1f"),
        )
    return table


def selective(exhibit: Json) -> Table:
    """Show the share of wrong answers by how many answers are delivered."""
    shown = (20, 40, 60, 80, 100)
    table = empty_table(
        "Risk: share of wrong answers when the most confident are delivered",
        ("confidence", "AURC", *(f"at {percent} %" for percent in shown)),
    )
    for row in exhibit["rows"]:
        table.add_row(
            row["confidence"],
            number(row["aurc"], ".3f"),
            *(share(row[f"risk_at_{percent}"]) for percent in shown),
        )
    return table


TABLES: Mapping[str, Callable[[Json], Table]] = {
    "ladder": ladder,
    "heads": heads,
    "operating": operating,
    "gain": gain,
    "reliability": reliability,
    "by_step": by_step,
    "step_economics": step_economics,
    "selective": selective,
}


def _by_stakes(rows: Rows) -> Iterator[tuple[float, list[Json]]]:
    for stakes in dict.fromkeys(row["stakes"] for row in rows):
        yield stakes, [row for row in rows if row["stakes"] == stakes]


def _gain(row: Json) -> str:
    mark = "†" if row["significant"] else " "
    return f"{row['gain']['estimate']:+.3f}{mark} {span(row['gain'], '+.2f')}"
