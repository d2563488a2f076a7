"""A run's page says where the run isn't of the agent that the monitor knows."""

from __future__ import annotations

import pytest

from sentinel_sql.pipeline.run_views import view
from sentinel_sql.report.page.run_page import run_page
from small_runs import fitted

FOREIGN = "fitted on another agent's runs"


def page(agent: str | None) -> str:
    monitor, runs, _, _ = fitted()
    return run_page(view(runs[0], monitor), monitor, stakes=1.0, early_stop=False, agent=agent)


@pytest.mark.parametrize(
    "agent", ["react | another model | - | 8 | 0.0", "nobody's fingerprint", "<script>x</script>"]
)
def test_a_page_of_another_agents_run_says_so_and_in_what_they_differ(agent: str) -> None:
    shown = page(agent)
    assert FOREIGN in shown
    assert "<script>x" not in shown


def test_a_page_of_the_monitors_own_agent_says_nothing_of_it() -> None:
    assert FOREIGN not in page(fitted()[0].agent)
    assert FOREIGN not in page(None)
