"""The first screen of an agent: its verdict, the data behind it, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final, Literal

from sentinel_sql.evaluation.check_costs import costly_checks, stakes_note
from sentinel_sql.report.evaluated_agents import ReportedAgent
from sentinel_sql.report.page.data import of_100
from sentinel_sql.report.terminal.table import UNKNOWN
from sentinel_sql.report.verdict import FEW_TEMPLATES, Verdict, verdict

FEW: Final = 200
"""With fewer runs, figures are called a first impression (ours)."""

Form = Literal["share", "signed", "plain"]


@dataclass(frozen=True, kw_only=True)
class FirstScreen:
    """The texts above the slider for one agent."""

    name: str
    about: str
    verdict: Verdict
    sure: Sequence[str]
    alone: tuple[int, int, int]
    """Right, wrong and no answers of the agent alone, of 100 questions."""


def first_screen(agent: ReportedAgent) -> FirstScreen:
    """Return the texts above the slider for one agent."""
    document = agent.document
    counts = document["counts"]
    about = (
        f"{document['pool']} pool: {counts['runs']:,} runs, {counts['unanswerable']:,} of them "
        f"on unanswerable questions; without the guard it answers {counts['answered']:,}, "
        f"{counts['correct']:,} of them correctly"
    )
    return FirstScreen(
        name=agent.name,
        about=about,
        verdict=verdict(agent.stakes, runs=agent.runs, templates=counts["templates"]),
        sure=_certainty(agent),
        alone=of_100(counts["correct"], counts["answered"] - counts["correct"], counts["runs"]),
    )


def _certainty(agent: ReportedAgent) -> list[str]:
    """Return sentences on the certainty of the figures, and on what isn't known."""
    document = agent.document
    counts = document["counts"]
    sentences = [
        f"How sure: intervals are 95 %, from {document['bootstrap']['resamples']:,} resamples of "
        f"{counts['templates']:,} question templates over {counts['runs']:,} runs. Resampling "
        "can't show failures that never occurred, so the number of answers must also be high "
        "enough."
    ]
    if counts["templates"] < FEW_TEMPLATES:
        sentences.append(
            f"{counts['templates']:,} question templates are few, so these intervals are too "
            "narrow."
        )
    if counts["runs"] < FEW:
        sentences.append(
            f"{counts['runs']:,} runs are few: take every figure as a first impression, not as "
            "a finding."
        )
    if not counts["unanswerable"]:
        sentences.append(
            "No question here is unanswerable, so the effect of refusing isn't known, and never "
            "answering earns 0."
        )
    if not counts["answerable"]:
        sentences.append("No question here is answerable, so there are no right answers.")
    if not counts["answered"]:
        sentences.append("The agent answered nothing, so the quality of its answers isn't known.")
    elif not counts["correct"]:
        sentences.append(
            "No answer was right, so it isn't known how well right and wrong ones are separated."
        )
    elif counts["correct"] == counts["answered"]:
        sentences.append(
            "Every answer was right, so it isn't known how well wrong ones are caught."
        )
    economics = agent.rows.get("step_economics")
    if economics is not None and all(row.tokens is None for row in economics):
        sentences.append("The agent reported no token counts, so no costs in tokens are known.")
    special = [name.replace("_", " ") for name, value in options(document).items() if value]
    if special:
        sentences.append(f"Evaluated with other options than usual: {', '.join(special)}.")
    beyond = stakes_note(document.get("thresholds", {}), document.get("stakes", ()))
    if beyond is not None:
        sentences.append(_sentence(beyond))
    ladder = agent.tables.get("ladder")
    if ladder is not None:
        rows: list[Any] = [(row["system"], row["stakes"], row["rs"]) for row in ladder.rows]
        sentences += map(_sentence, costly_checks(rows))
    spent = document.get("spent")
    if spent is not None and spent > 1:
        sentences.append(
            f"This held-out pool was evaluated in {spent:,} different ways with monitors in this "
            "folder. The best of many evaluations looks better than it is."
        )
    if any(document["gaps"].values()):
        gaps = ", ".join(f"{len(ids):,} {why}" for why, ids in document["gaps"].items() if ids)
        sentences.append(f"Left out: {gaps}.")
    return sentences


def _sentence(line: str) -> str:
    return f"{line[:1].upper()}{line[1:]}."


def show(value: float | None, form: Form) -> str:
    """Return a figure as text, exactly as the page's script writes it when the slider moves."""
    if value is None:
        return UNKNOWN
    exact = Decimal(float(value))
    if form == "share":
        return f"{(100 * exact).quantize(Decimal(1), ROUND_HALF_UP)} %"
    if form == "signed":
        text = f"{exact.quantize(Decimal('0.01'), ROUND_HALF_UP):+}"
    else:
        text = f"{float(value):.4g}"
    return text.replace("-", "−")


def options(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of an evaluation by name, without prices, which change no decision."""
    return {name: value for name, value in document["options"].items() if name != "prices"}
