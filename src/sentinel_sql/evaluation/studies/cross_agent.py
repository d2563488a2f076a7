"""The comparison of several agents: the cross-agent table, and exhibits of each agent stacked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Annotated, Any, get_type_hints

from sentinel_sql.decision.ragged_columns import terminal
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import (
    GAIN_OF_FULL,
    RS_ABSTAIN,
    RS_FULL,
    RS_VANILLA,
    SHARE,
    STAKES,
    Column,
)
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.exhibits.early_stopping import early_stopping
from sentinel_sql.evaluation.exhibits.question_baseline import question_only
from sentinel_sql.evaluation.exhibits.resources import resources
from sentinel_sql.evaluation.exhibits.step_economics import step_economics
from sentinel_sql.evaluation.exhibits.withholding import withholding
from sentinel_sql.evaluation.paper_numbers import paper

AGENT = Column("the agent's name")


@dataclass(frozen=True, kw_only=True)
class AgentRow:
    """One agent alone, and the AUROC of its monitor's heads."""

    agent: Annotated[str, AGENT]
    runs: Annotated[int, Column("runs of the pool")]
    unanswerable: Annotated[int, Column("of these, over unanswerable questions")]
    coverage: Annotated[
        Interval | None,
        Column("share of questions that the agent alone answers", unit="share", within=SHARE),
    ]
    accuracy: Annotated[
        Interval | None,
        Column("share of the agent's answers that is correct", unit="share", within=SHARE),
    ]
    auroc_correctness: Annotated[
        Interval | None,
        Column("AUROC of the correctness head on answers to answerable questions", within=SHARE),
    ]
    rule_correctness: Annotated[
        Interval | None,
        Column("AUROC of the plain rule 'executed and not empty' on these answers", within=SHARE),
    ]
    quiet_correctness: Annotated[
        Interval | None,
        Column("AUROC of the correctness head on the clean ones of these answers", within=SHARE),
    ]
    auroc_answerability: Annotated[
        Interval | None, Column("AUROC of the answerability head on all runs", within=SHARE)
    ]


@dataclass(frozen=True, kw_only=True)
class CrossAgentRow:
    """One agent at one λ: the agent alone, the full system, and refusing everything."""

    agent: Annotated[str, AGENT]
    stakes: Annotated[float, STAKES]
    rs_vanilla: Annotated[Interval | None, RS_VANILLA]
    rs_full: Annotated[Interval | None, RS_FULL]
    rs_abstain: Annotated[Interval | None, RS_ABSTAIN]
    gain: Annotated[Interval | None, GAIN_OF_FULL]
    significant: Annotated[bool, Column("the interval of the gain excludes zero")]
    coverage: Annotated[
        Interval | None,
        Column("share of questions that the full system answers", unit="share", within=SHARE),
    ]
    accuracy: Annotated[
        Interval | None,
        Column("share of its delivered answers that is correct", unit="share", within=SHARE),
    ]


STACKED: Mapping[str, Callable[[Evidence], Exhibit[Any]]] = {
    "early_stop_by_agent": early_stopping,
    "resources_by_agent": resources,
    "withhold_by_agent": withholding,
    "question_only_by_agent": question_only,
    "step_economics_by_agent": step_economics,
}
"""Exhibits of one agent to stack for all agents (paper tables 2, 5, 8, 9 and figure 3a)."""


def cross_agent_exhibits(agents: Mapping[str, Evidence]) -> dict[str, Exhibit[Any]]:
    """Return every exhibit over several agents, by name; the paper's numbers are the last.

    Args:
        agents: by name, in the order of the tables.
    """
    return {
        "agents": agents_alone(agents),
        "cross_agent": cross_agent(agents),
        **{
            name: stack({agent: exhibit(evidence) for agent, evidence in agents.items()})
            for name, exhibit in STACKED.items()
        },
        "paper": paper(),
    }


def agents_alone(agents: Mapping[str, Evidence]) -> Exhibit[AgentRow]:
    """Return the figures of each agent alone, and the AUROC of its heads."""
    return Exhibit(
        title="Agents and their monitors",
        note=(
            "Accuracy counts an answer to an unanswerable question as wrong. Quiet figures are of "
            "answers that executed and aren't empty."
        ),
        row=AgentRow,
        rows=tuple(_agent(name, evidence) for name, evidence in agents.items()),
    )


def cross_agent(agents: Mapping[str, Evidence]) -> Exhibit[CrossAgentRow]:
    """Return the cross-agent table (paper table 1)."""
    rows = []
    for name, evidence in agents.items():
        scores, resampling = evidence.scores, evidence.resampling
        for level in evidence.stakes:
            vanilla, full, nothing = (
                evidence.replays[system, level] for system in ("vanilla", "full", "always-abstain")
            )
            gain = resampling.mean(full.payoff - nothing.payoff)
            rows.append(
                CrossAgentRow(
                    agent=name,
                    stakes=level,
                    rs_vanilla=resampling.mean(vanilla.payoff),
                    rs_full=resampling.mean(full.payoff),
                    rs_abstain=resampling.mean(nothing.payoff),
                    gain=gain,
                    significant=gain is not None and gain.excludes_zero,
                    coverage=resampling.mean(full.delivered),
                    accuracy=resampling.mean(scores.correct, full.delivered),
                )
            )
    return Exhibit(
        title="Across agents",
        note="The agent alone, the full system and refusing everything, at every λ.",
        row=CrossAgentRow,
        rows=tuple(rows),
    )


def stack(exhibits: Mapping[str, Exhibit[Any]]) -> Exhibit[Any]:
    """Stack one exhibit of several agents, with the agent's name as the first column.

    Args:
        exhibits: the same exhibit by agent, at least one.
    """
    first = next(iter(exhibits.values()))
    hints = get_type_hints(first.row, include_extras=True)
    row = make_dataclass(
        f"{first.row.__name__}OfAgent",
        [
            ("agent", Annotated[str, AGENT]),
            *((part.name, hints[part.name], field()) for part in fields(first.row)),
        ],
        frozen=True,
        kw_only=True,
    )
    return Exhibit(
        title=f"{first.title}, by agent",
        note=first.note,
        row=row,
        rows=tuple(
            row(agent=agent, **{part.name: getattr(it, part.name) for part in fields(it)})
            for agent, exhibit in exhibits.items()
            for it in exhibit.rows
        ),
    )


def _agent(name: str, evidence: Evidence) -> AgentRow:
    scores, resampling = evidence.scores, evidence.resampling
    last = terminal(scores)
    answers = scores.answered & scores.answerable
    raw = scores.raw_correct[last]
    return AgentRow(
        agent=name,
        runs=len(scores),
        unanswerable=int((~scores.answerable).sum()),
        coverage=resampling.mean(scores.answered),
        accuracy=resampling.mean(scores.correct, scores.answered),
        auroc_correctness=resampling.auroc(scores.correct, raw, answers),
        rule_correctness=resampling.auroc(scores.correct, scores.clean.astype(float), answers),
        quiet_correctness=resampling.auroc(scores.correct, raw, answers & scores.clean),
        auroc_answerability=resampling.auroc(scores.answerable, scores.p_answerable[last]),
    )
