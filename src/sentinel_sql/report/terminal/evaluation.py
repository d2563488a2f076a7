"""The tables of an evaluation for the terminal, each of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from sentinel_sql.decision.payoff import chow_bar
from sentinel_sql.evaluation.check_costs import costly_checks, stakes_note
from sentinel_sql.monitor.thresholds import Gate
from sentinel_sql.report.terminal.table import (
    Json,
    Layout,
    column,
    ends,
    estimate,
    figure,
    green_if_ahead,
    percent,
    point,
    span,
    value,
)


def screen(evaluation: Json) -> Iterator[RenderableType]:
    """Yield the output of `sentinel evaluate`, the ladder first.

    Args:
        evaluation: the result of `Evaluation.to_json`.
    """
    yield headline(evaluation)
    for name, exhibit in evaluation["exhibits"].items():
        if name in TABLES:
            yield Text()
            yield TABLES[name].show(exhibit)


def headline(evaluation: Json) -> RenderableType:
    """Return a few lines on the pool, the agent's answers, the gate and what was left out."""
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
        reasons = ", ".join(f"{len(ids)} {why}" for why, ids in gaps.items() if ids)
        lines.append(Text(f"left out: {reasons}", style="yellow"))
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


def _with_best(rows: Sequence[Json]) -> list[Json]:
    """Mark the best score at each λ."""
    best = {
        stakes: max(row["rs"]["estimate"] for row in here)
        for stakes, here in groupby(rows, key=itemgetter("stakes"))
    }
    return [{**row, "best": row["rs"]["estimate"] == best[row["stakes"]]} for row in rows]


def _by_system(rows: Sequence[Json]) -> list[Json]:
    """Return one row for each system and λ, with the gains over both rivals."""
    found: dict[tuple[float, str], dict[str, Any]] = {}
    for row in rows:
        system = {"stakes": row["stakes"], "system": row["system"]}
        found.setdefault((row["stakes"], row["system"]), system)[row["over"]] = row
    return list(found.values())


def _by_step(rows: Sequence[Json]) -> list[Json]:
    """Return one row for each step, with both heads."""
    found: dict[int, dict[str, Any]] = {}
    for row in sorted(rows, key=itemgetter("t")):
        step = found.setdefault(row["t"], {"t": row["t"]})
        step |= {row["head"]: row["auroc"], f"{row['head']}_n": row["n"]}
    return list(found.values())


def _best_in_green(row: Json) -> Text:
    return Text(point(row["rs"], "+.3f"), style="bold green" if row["best"] else "")


def _gain(row: Json) -> str:
    mark = "†" if row["significant"] else " "
    return f"{point(row['gain'], '+.3f')}{mark} {span(row['gain'], '+.2f')}"


TABLES: Mapping[str, Layout] = {
    "ladder": Layout(
        arrange=_with_best,
        title="System ladder: what each check adds",
        section=lambda row: f"λ = {row['stakes']:g}, bar {chow_bar(row['stakes']):.3g}",
        columns=(
            column("system", value("system")),
            column("RS(λ)", _best_in_green),
            column("95 % interval", ends("rs", "+.2f")),
            column("cover", percent("coverage")),
            column("right", percent("accuracy")),
            column("steps−", percent("steps_saved")),
            column("tokens−", percent("tokens_saved")),
        ),
        caption="RS: +1 right answer or right refusal, 0 wrong refusal, −λ wrong answer.\n"
        "right: share of delivered answers; steps−, tokens−: share saved.",
    ),
    "heads": Layout(
        title="Heads: AUROC, compared with the rule 'executed and not empty'",
        columns=(
            column("task", value("name")),
            column("n", value("n")),
            column("pos.", value("positives")),
            column("AUROC", estimate("auroc", ".3f")),
            column("95 % interval", ends("auroc", ".2f")),
            column("rule", estimate("rule", ".3f")),
            column("lead", lambda row: green_if_ahead(point(row["lead"], "+.3f"), row["lead"])),
        ),
        caption="Quiet failure: among answers that executed and aren't empty.",
    ),
    "operating": Layout(
        title="Operating characteristics",
        section=lambda row: f"λ = {row['stakes']:g}",
        columns=(
            column("system", value("system")),
            column("cover", estimate("coverage", ".0%")),
            column("95 % interval", ends("coverage", ".0%")),
            column("right", estimate("accuracy", ".0%")),
            column("95 % interval", ends("accuracy", ".0%")),
            column("harm", value("wrong")),
        ),
        caption="harm: wrong answers, and answers to unanswerable questions.",
    ),
    "gain": Layout(
        arrange=_by_system,
        title="Gain in RS(λ), † where its 95 % interval excludes zero",
        section=lambda row: f"λ = {row['stakes']:g}",
        columns=(
            column("system", value("system")),
            column("over abstaining", lambda row: _gain(row["always-abstain"])),
            column("over the agent alone", lambda row: _gain(row["vanilla"])),
        ),
    ),
    "reliability": Layout(
        title="Calibration at delivery",
        columns=(
            column("", value("stage")),
            column("n", value("n")),
            column("conf.", estimate("confidence", ".3f")),
            column("right", estimate("accuracy", ".3f")),
            column("ECE", estimate("ece", ".3f")),
            column("95 % interval", ends("ece", ".2f")),
            column("Brier", estimate("brier", ".3f")),
        ),
        caption="conf.: mean confidence; right: share of right answers.",
    ),
    "by_step": Layout(
        arrange=_by_step,
        title="AUROC by step",
        first_is_number=True,
        columns=(
            column("t", value("t")),
            *(
                each
                for head in ("correctness", "answerability")
                for each in (
                    column("n", value(f"{head}_n")),
                    column(head, estimate(head, ".3f")),
                    column("95 % interval", ends(head, ".2f")),
                )
            ),
        ),
    ),
    "step_economics": Layout(
        title="Costs of a run for the agent alone",
        columns=(
            column("group", value("group")),
            column("n", value("n")),
            column("steps", estimate("steps", ".2f")),
            column("95 % interval", ends("steps", ".2f")),
            column("tokens", estimate("tokens", ".0f")),
            column("seconds", estimate("seconds", ".1f")),
        ),
    ),
    "selective": Layout(
        title="Risk: share of wrong answers when the most confident are delivered",
        columns=(
            column("confidence", value("confidence")),
            column("AURC", figure("aurc", ".3f")),
            *(column(f"at {at} %", percent(f"risk_at_{at}")) for at in (20, 40, 60, 80, 100)),
        ),
    ),
}
