"""Tokens and money: what a question and a right answer cost by system (paper appendix G)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentinel_sql.decision.policy import SYSTEMS
from sentinel_sql.evaluation.bootstrap import Interval
from sentinel_sql.evaluation.column_meaning import SHARE, STAKES, SYSTEM, Column
from sentinel_sql.evaluation.exhibit_record import Evidence, Exhibit
from sentinel_sql.evaluation.replay import total_cost

MONEY = "in the currency of the prices"


@dataclass(frozen=True, kw_only=True)
class CostRow:
    """One system at one λ, over runs whose tokens are known for every step."""

    system: Annotated[str, SYSTEM]
    stakes: Annotated[float, STAKES]
    n: Annotated[int, Column("runs with known prompt and completion tokens for every step")]
    prompt_tokens: Annotated[
        Interval | None, Column("mean prompt tokens a question", unit="tokens")
    ]
    completion_tokens: Annotated[
        Interval | None, Column("mean completion tokens a question", unit="tokens")
    ]
    money: Annotated[
        Interval | None, Column("mean price a question; empty without prices", unit=MONEY)
    ]
    money_saved: Annotated[
        Interval | None,
        Column("share of the cost of the agent alone that is saved", unit="share", within=SHARE),
    ]
    money_a_right_answer: Annotated[
        Interval | None,
        Column("price of all runs for each correct answer delivered", unit=MONEY),
    ]


def cost(evidence: Evidence) -> Exhibit[CostRow]:
    """Return the tokens, and with prices the money, of every system that runs the agent."""
    scores, resampling = evidence.scores, evidence.resampling
    prices = evidence.options.prices
    rows = []
    for level in evidence.stakes:
        agent = evidence.replays["vanilla", level]
        all_prompts = total_cost(scores, evidence.facts.prompt_tokens, agent.steps)
        known = ~np.isnan(all_prompts) & ~np.isnan(agent.tokens)
        for system, parts in SYSTEMS.items():
            if parts.nothing:
                continue
            run = evidence.replays[system, level]
            prompts = total_cost(scores, evidence.facts.prompt_tokens, run.steps)
            money = saved = a_right_answer = None
            if prices is not None:
                paid = prices.of(prompts, run.tokens)
                in_full = prices.of(all_prompts, agent.tokens)
                money = resampling.mean(paid, known)
                saved = resampling.ratio(in_full - paid, in_full, known)
                right = run.delivered & scores.correct
                a_right_answer = resampling.ratio(paid, right, known)
            rows.append(
                CostRow(
                    system=system,
                    stakes=level,
                    n=int(known.sum()),
                    prompt_tokens=resampling.mean(prompts, known),
                    completion_tokens=resampling.mean(run.tokens, known),
                    money=money,
                    money_saved=saved,
                    money_a_right_answer=a_right_answer,
                )
            )
    return Exhibit(
        title="Tokens and cost",
        note=(
            "Prompt tokens are those that the endpoint reported, summed over all turns; discounts "
            "for cached prompts aren't considered. The monitor costs no token."
        ),
        row=CostRow,
        rows=tuple(rows),
    )
