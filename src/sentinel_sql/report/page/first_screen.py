"""What the first screen says of an agent beside its verdict: on what, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final, Literal

from sentinel_sql.evaluation.check_costs import costly_checks, stakes_note
from sentinel_sql.report.evaluated_agents import ReportedAgent
from sentinel_sql.report.terminal.table import NOT_SAID
from sentinel_sql.report.verdict import Verdict, verdict

FEW: Final = 200
"""Runs below which a figure is called a first direction (ours)."""

FEW_TEMPLATES: Final = 20
"""Question templates below which their resampling is too sure of itself (ours)."""

Form = Literal["share", "signed", "plain"]


@dataclass(frozen=True, kw_only=True)
class FirstScreen:
    """What stands above the slider for one agent."""

    name: str
    about: str
    verdict: Verdict
    sure: Sequence[str]


def first_screen(agent: ReportedAgent) -> FirstScreen:
    """Return what stands above the slider for one agent."""
    document = agent.document
    counts = document["counts"]
    about = (
        f"{document['pool']} pool: {counts['runs']:,} runs, {counts['unanswerable']:,} of them "
        f"of questions without an answer; alone it answers {counts['answered']:,}, "
        f"{counts['correct']:,} of them rightly"
    )
    return FirstScreen(
        name=agent.name,
        about=about,
        verdict=verdict(agent.stakes, runs=agent.runs),
        sure=_sure(agent),
    )


def _sure(agent: ReportedAgent) -> list[str]:
    """Say how far all of this can be trusted, and what can't be said at all."""
    document = agent.document
    counts = document["counts"]
    said = [
        f"How sure: intervals are 95 %, from {document['bootstrap']['resamples']:,} resamples of "
        f"{counts['templates']:,} question templates over {counts['runs']:,} runs. Resampling is "
        "blind to what was never seen, so the answers shown must also be enough by count."
    ]
    if counts["templates"] < FEW_TEMPLATES:
        said.append(
            f"{counts['templates']:,} question templates are few: with so few, such intervals are "
            "too narrow."
        )
    if counts["runs"] < FEW:
        said.append(
            f"{counts['runs']:,} runs are few: take every figure as a first direction, not as "
            "a finding."
        )
    if not counts["unanswerable"]:
        said.append(
            "No question here is unanswerable, so nothing can be said of refusing, and never "
            "answering earns 0."
        )
    if not counts["answerable"]:
        said.append("No question here is answerable, so nothing can be said of right answers.")
    if not counts["answered"]:
        said.append("The agent answered nothing, so nothing can be said of its answers.")
    elif not counts["correct"]:
        said.append(
            "No answer was right, so nothing can be said of how well right is told from wrong."
        )
    elif counts["correct"] == counts["answered"]:
        said.append(
            "Every answer was right, so nothing can be said of how well wrong ones are caught."
        )
    economics = agent.rows.get("step_economics")
    if economics is not None and all(row.tokens is None for row in economics):
        said.append("The agent told no token counts, so nothing can be said of tokens.")
    special = [name.replace("_", " ") for name, value in options(document).items() if value]
    if special:
        said.append(f"Not as usual: evaluated with {', '.join(special)}.")
    beyond = stakes_note(document.get("thresholds", {}), document.get("stakes", ()))
    if beyond is not None:
        said.append(_sentence(beyond))
    ladder = agent.tables.get("ladder")
    if ladder is not None:
        rows: list[Any] = [(row["system"], row["stakes"], row["rs"]) for row in ladder.rows]
        said += map(_sentence, costly_checks(rows))
    spent = document.get("spent")
    if spent is not None and spent > 1:
        said.append(
            f"This held-out pool was evaluated in {spent:,} different ways with monitors of this "
            "place: the more there are to choose from, the rosier the figures."
        )
    if any(document["gaps"].values()):
        told = ", ".join(f"{len(ids):,} {why}" for why, ids in document["gaps"].items() if ids)
        said.append(f"Left out: {told}.")
    return said


def _sentence(line: str) -> str:
    return f"{line[:1].upper()}{line[1:]}."


def said(value: float | None, form: Form) -> str:
    """Write a figure as the page's script writes it, which takes over when the slider moves."""
    if value is None:
        return NOT_SAID
    exact = Decimal(float(value))
    if form == "share":
        return f"{(100 * exact).quantize(Decimal(1), ROUND_HALF_UP)} %"
    if form == "signed":
        text = f"{exact.quantize(Decimal('0.01'), ROUND_HALF_UP):+}"
    else:
        text = f"{float(value):.4g}"
    return text.replace("-", "−")


def options(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an evaluation did otherwise than usual, by name; prices decide nothing."""
    return {name: value for name, value in document["options"].items() if name != "prices"}
