"""Sentinel: knows when a data agent should not be believed.

The public names, each loaded when it is first used: importing this package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentinel_sql.agent.openai import OpenAIModel as OpenAIModel
    from sentinel_sql.agent.prompt import Prompt as Prompt
    from sentinel_sql.agent.react import ReactAgent as ReactAgent
    from sentinel_sql.database.sqlite import SqliteDatabase as SqliteDatabase
    from sentinel_sql.decision.guard import Guard as Guard
    from sentinel_sql.errors import SentinelError as SentinelError
    from sentinel_sql.labels.file import read_labels as read_labels
    from sentinel_sql.labels.file import write_labels as write_labels
    from sentinel_sql.monitor.bundle import load as load_monitor
    from sentinel_sql.monitor.bundle import save as save_monitor
    from sentinel_sql.pipeline.collect import collect as collect
    from sentinel_sql.pipeline.evaluate import evaluate as evaluate
    from sentinel_sql.pipeline.fit import fit as fit
    from sentinel_sql.pipeline.import_runs import import_runs as import_runs
    from sentinel_sql.pipeline.label import label_runs as label_runs
    from sentinel_sql.questions.pools import Pools as Pools
    from sentinel_sql.questions.pools import make_pools as make_pools
    from sentinel_sql.questions.read import read_questions as read_questions
    from sentinel_sql.questions.record import Question as Question
    from sentinel_sql.trajectory.record import Step as Step
    from sentinel_sql.trajectory.record import Trajectory as Trajectory
    from sentinel_sql.trajectory.store import TrajectoryStore as TrajectoryStore
    from sentinel_sql.trajectory.store import read_trajectories as read_trajectories

_HOMES = {
    "Guard": "decision.guard:Guard",
    "OpenAIModel": "agent.openai:OpenAIModel",
    "Pools": "questions.pools:Pools",
    "Prompt": "agent.prompt:Prompt",
    "Question": "questions.record:Question",
    "ReactAgent": "agent.react:ReactAgent",
    "SentinelError": "errors:SentinelError",
    "SqliteDatabase": "database.sqlite:SqliteDatabase",
    "Step": "trajectory.record:Step",
    "Trajectory": "trajectory.record:Trajectory",
    "TrajectoryStore": "trajectory.store:TrajectoryStore",
    "collect": "pipeline.collect:collect",
    "evaluate": "pipeline.evaluate:evaluate",
    "fit": "pipeline.fit:fit",
    "import_runs": "pipeline.import_runs:import_runs",
    "label_runs": "pipeline.label:label_runs",
    "load_monitor": "monitor.bundle:load",
    "make_pools": "questions.pools:make_pools",
    "read_labels": "labels.file:read_labels",
    "read_questions": "questions.read:read_questions",
    "read_trajectories": "trajectory.store:read_trajectories",
    "save_monitor": "monitor.bundle:save",
    "write_labels": "labels.file:write_labels",
}

__all__ = [
    "Guard",
    "OpenAIModel",
    "Pools",
    "Prompt",
    "Question",
    "ReactAgent",
    "SentinelError",
    "SqliteDatabase",
    "Step",
    "Trajectory",
    "TrajectoryStore",
    "collect",
    "evaluate",
    "fit",
    "import_runs",
    "label_runs",
    "load_monitor",
    "make_pools",
    "read_labels",
    "read_questions",
    "read_trajectories",
    "save_monitor",
    "write_labels",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sentinel_sql' has no attribute {name!r}")
    module, _, attribute = home.partition(":")
    value = getattr(import_module(f"sentinel_sql.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
