"""The paper's own numbers, to compare with ours. None of them was measured by this project.

They are from "Trajectory-Derived Confidence for Reliable, Resource-Aware Clinical Text-to-SQL
Agents" (arXiv 2610.04156), of five agents on a held-out pool of EHRSQL (MIMIC-III). Data, models
and encoder differ from ours, so our numbers need not equal them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from sentinel_sql.decision.payoff import STAKES_OF_RECORD
from sentinel_sql.evaluation.column_meaning import STAKES, Column
from sentinel_sql.evaluation.exhibit_record import Exhibit

AGENTS = ("GPT-4o-mini", "GPT-4o", "Llama-3.1-8B", "Qwen2.5-Coder-7B", "Phi-4-mini")

Five = Sequence[float | None]

# In the order of AGENTS; None if the paper doesn't print the number.
_ONE_FIGURE: Mapping[tuple[str, str], Five] = {
    ("vanilla accuracy", "table 1"): (0.48, 0.54, 0.31, 0.22, 0.087),
    ("AUROC correctness", "table 1"): (0.787, 0.762, 0.707, 0.920, 0.921),
    ("AUROC answerability", "table 1"): (0.923, 0.981, 0.903, 0.959, 0.987),
    ("AUROC correctness, question alone", "table 5"): (0.699, 0.705, 0.663, 0.742, 0.782),
    ("AUROC answerability, question alone", "table 5"): (0.910, 0.988, 0.962, 0.961, 0.968),
    ("withhold AUC", "figures 3 to 7"): (0.80, 0.76, 0.72, 0.92, 0.93),
    ("steps, fabrication", "table 9"): (3.29, 3.35, 5.26, 2.25, 1.75),
    ("steps, correct refusal", "table 9"): (2.12, 2.12, 4.46, 1.68, 1.70),
    ("steps, typical answerable", "table 9"): (2.86, 3.01, 4.97, 1.96, 3.36),
    ("seconds a step", "section 4.3 and appendix K"): (2.2, 1.9, None, None, None),
}
_BY_STAKES: Mapping[tuple[str, str], tuple[Five, Five, Five]] = {
    ("RS vanilla", "table 1"): (
        (-0.02, 0.08, -0.23, -0.46, -0.46),
        (-1.34, -1.08, -1.61, -2.43, -2.03),
        (-3.53, -3.02, -3.91, -5.72, -4.64),
    ),
    ("RS full", "table 1"): (
        (0.21, 0.24, 0.06, 0.10, 0.04),
        (0.08, 0.02, 0.03, 0.03, 0.03),
        (0.04, 0.03, 0.03, 0.03, 0.03),
    ),
    ("RS early stop", "table 8"): (
        (0.20, 0.24, 0.06, 0.10, 0.04),
        (0.06, 0.02, 0.03, 0.03, 0.03),
        (0.03, 0.03, 0.03, 0.03, 0.03),
    ),
    ("steps saved by early stop", "table 8"): (
        (0.28, 0.13, 0.14, 0.22, 0.15),
        (0.64, 0.42, 0.53, 0.62, 0.32),
        (0.70, 0.42, 0.53, 0.62, 0.32),
    ),
    ("tokens saved by early stop", "table 2"): (
        (None, 0.16, None, None, None),
        (None, 0.47, None, None, None),
        (None, 0.47, None, None, None),
    ),
    ("coverage vanilla", "table 3, abstract and section 5"): ((0.84, 0.84, None, 0.84, None),) * 3,
    ("coverage with Chow's rule", "table 3, sections 4.2 and 5"): (
        (0.38, 0.55, None, 0.21, None),
        (0.17, None, None, None, None),
        (0.03, None, None, None, None),
    ),
    ("accuracy with Chow's rule", "table 3, sections 4.2 and 5, appendix F"): (
        (0.73, 0.69, None, 0.68, None),
        (0.86, 0.79, None, None, None),
        (0.95, None, None, None, None),
    ),
    ("accuracy with Chow's rule, strict labels", "appendix F"): (
        (None, 0.52, None, None, None),
        (None, 0.66, None, None, None),
        (None, None, None, None, None),
    ),
    ("gain over always abstaining, strict labels", "appendix F"): (
        (0.05, 0.03, None, None, None),
        (-0.07, -0.11, None, None, None),
        (None, None, None, None, None),
    ),
    ("gain over always abstaining, 20 % unanswerable", "appendix F"): (
        (0.15, 0.16, None, None, None),
        (None, None, None, None, None),
        (None, None, None, None, None),
    ),
    ("gain over always abstaining, 33 % unanswerable", "appendix F"): (
        (0.12, 0.12, None, None, None),
        (None, None, None, None, None),
        (None, None, None, None, None),
    ),
}
# Gain over always abstaining with its interval (table 4), by agent, at λ = 1, 4, 9.
_GAIN: Mapping[str, Sequence[tuple[float, float, float]]] = {
    "GPT-4o-mini": ((0.177, 0.088, 0.270), (0.048, -0.017, 0.130), (0.015, -0.014, 0.040)),
    "GPT-4o": ((0.209, 0.113, 0.306), (-0.010, -0.058, 0.034), (0.001, 0.000, 0.004)),
    "Llama-3.1-8B": ((0.029, -0.016, 0.081), (0.000, 0.000, 0.002), (0.000, 0.000, 0.001)),
    "Qwen2.5-Coder-7B": ((0.075, 0.022, 0.135), (0.001, 0.000, 0.003), (0.001, 0.000, 0.003)),
    "Phi-4-mini": ((0.010, 0.002, 0.021), (0.000, 0.000, 0.000), (0.000, 0.000, 0.000)),
}
# Numbers over all agents, or of the benchmark.
_OVERALL: Mapping[tuple[str, str], float] = {
    ("RS always abstain", "table 1"): 0.03,
    ("ECE raw, held out", "section 5"): 0.25,
    ("ECE calibrated, held out, lowest", "section 5"): 0.03,
    ("ECE calibrated, held out, highest", "section 5"): 0.07,
    ("AUROC answerability, question-only TF-IDF", "appendix A"): 0.955,
    ("AUROC answerability, transcript TF-IDF", "appendix A"): 0.966,
    ("AUROC answerability, mean entropy", "appendix A"): 0.947,
    ("AUROC correctness, question-only TF-IDF", "appendix A"): 0.689,
    ("AUROC answerability, shuffled labels, lowest", "appendix A"): 0.47,
    ("AUROC answerability, shuffled labels, highest", "appendix A"): 0.49,
    ("standard deviation of AUROC over three seeds", "appendix M"): 0.009,
}


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """One number as the paper prints it."""

    agent: Annotated[str | None, Column("the paper's agent; empty for a number over all or none")]
    figure: Annotated[str, Column("what the number is")]
    stakes: Annotated[
        float | None, Column("stakes λ, where the figure has them", within=STAKES.within)
    ]
    value: Annotated[float, Column("the number that the paper prints")]
    value_low: Annotated[float | None, Column("lower end of its 95 % interval, where printed")]
    value_high: Annotated[float | None, Column("upper end of its 95 % interval, where printed")]
    where: Annotated[str, Column("where in the paper it stands")]


def paper() -> Exhibit[PaperRow]:
    """Return the paper's numbers of record."""
    return Exhibit(
        title="The paper's own numbers",
        note=(
            "As printed in arXiv 2610.04156, on EHRSQL (MIMIC-III) with five other agents; not "
            "measured here."
        ),
        row=PaperRow,
        rows=tuple(_rows()),
    )


def _rows() -> Iterator[PaperRow]:
    for (figure, where), five in _ONE_FIGURE.items():
        for agent, value in zip(AGENTS, five, strict=True):
            if value is not None:
                yield _row(agent, figure, None, value, where)
    for (figure, where), by_stakes in _BY_STAKES.items():
        for stakes, five in zip(STAKES_OF_RECORD, by_stakes, strict=True):
            for agent, value in zip(AGENTS, five, strict=True):
                if value is not None:
                    yield _row(agent, figure, stakes, value, where)
    for agent, gains in _GAIN.items():
        for stakes, (value, low, high) in zip(STAKES_OF_RECORD, gains, strict=True):
            yield _row(agent, "gain over always abstaining", stakes, value, "table 4", low, high)
    for (figure, where), value in _OVERALL.items():
        yield _row(None, figure, None, value, where)


def _row(
    agent: str | None,
    figure: str,
    stakes: float | None,
    value: float,
    where: str,
    low: float | None = None,
    high: float | None = None,
) -> PaperRow:
    return PaperRow(
        agent=agent,
        figure=figure,
        stakes=stakes,
        value=value,
        value_low=low,
        value_high=high,
        where=where,
    )
