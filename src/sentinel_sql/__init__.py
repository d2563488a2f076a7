"""Sentinel: knows when a data agent should not be believed.

From questions to a guarded agent, each verb taking what the one before returned, or its path:

    import sentinel_sql as sentinel

    questions = sentinel.read_questions("questions.jsonl")
    pools = sentinel.make_pools(questions, seed=42)
    sentinel.import_runs("logs.jsonl", store="runs/")        # or sentinel.collect(...)
    labels = sentinel.label_runs("runs/", questions, "hospital.sqlite")
    monitor = sentinel.fit("runs/", pools, labels)
    sentinel.save_monitor(monitor, "monitor/")
    evaluation = sentinel.evaluate("monitor/", "runs/", pools, labels)
    evaluation.save("evaluation/")
    sentinel.write_report(evaluation, "report/")
    answer = sentinel.Guard.load("monitor/", stakes=4).run(my_agent, "how many patients ...?")

What comes out of each:

    read_questions      list[Question]
    make_pools          Pools
    collect             CollectSummary; on its way, Progress
    import_runs         ImportSummary
    read_trajectories   Trajectory, one after another
    ├── AskedQuestion       question
    ├── AgentInfo           agent
    ├── Step                steps: Observation, Usage, Telemetry, Seconds
    └── Outcome             outcome
    label_runs          Labelling: LabelsHeader, Label; read_labels gives Labels
    label_by_ratings    Labelling, by what people say of each answer
    fit, load_monitor   Monitor
    evaluate            Evaluation
    write_report        Report
    Guard.run           Answer
    Guard.session       GuardSession
    ├── observe             Verdict
    └── close               Answer
    open_database       Database, such as SqliteDatabase: Schema, Limits, DatabaseHealth
    └── execute             ExecutionResult
    hints               Hints
    open_grounder       Coverage, for Guard.session(…, grounder=…)
    Recorder            a store of live runs, for the adapters of agent frameworks

What can be raised, and the exit code of the command where it is:

    SentinelError               1   something else went wrong
    ├── InputError              2   a file, an option or a record can't be used as given
    │   ├── QuestionsError          a question file or a question
    │   ├── PoolsError              a pool manifest, or a store that doesn't fit it
    │   ├── StoreError              a store of trajectories, or a recordings file
    │   ├── LabelsError             a labels file, or labels that don't fit the store
    │   ├── BundleError             a saved monitor
    │   └── MissingExtraError       a part that an optional dependency brings
    ├── DatabaseError           3   a database can't be opened or read
    ├── EndpointError           4   a model endpoint is down, refuses or answers nonsense
    ├── CannotFitError          5   too little or one-sided data to fit a monitor honestly
    └── LeakageError            6   something is given away that no figure may rest on

Each name is loaded when it is first used: importing this package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentinel_sql.agent.openai import OpenAIModel as OpenAIModel
    from sentinel_sql.agent.prompt import Prompt as Prompt
    from sentinel_sql.agent.react import ReactAgent as ReactAgent
    from sentinel_sql.coverage import Coverage as Coverage
    from sentinel_sql.database.coverage.cover import open_grounder as open_grounder
    from sentinel_sql.database.executor import Database as Database
    from sentinel_sql.database.executor import DatabaseHealth as DatabaseHealth
    from sentinel_sql.database.executor import ExecutionResult as ExecutionResult
    from sentinel_sql.database.executor import Limits as Limits
    from sentinel_sql.database.opening import open_database as open_database
    from sentinel_sql.database.opening import register_database as register_database
    from sentinel_sql.database.sqlite.database import SqliteDatabase as SqliteDatabase
    from sentinel_sql.database.value_index.hints import Hints as Hints
    from sentinel_sql.database.value_index.hints import hints as hints
    from sentinel_sql.decision.agent_loop import guarded as guarded
    from sentinel_sql.decision.guard import Guard as Guard
    from sentinel_sql.decision.live_step import LiveStep as LiveStep
    from sentinel_sql.decision.session import GuardSession as GuardSession
    from sentinel_sql.decision.verdict import Answer as Answer
    from sentinel_sql.decision.verdict import Verdict as Verdict
    from sentinel_sql.errors import BundleError as BundleError
    from sentinel_sql.errors import CannotFitError as CannotFitError
    from sentinel_sql.errors import DatabaseError as DatabaseError
    from sentinel_sql.errors import EndpointError as EndpointError
    from sentinel_sql.errors import InputError as InputError
    from sentinel_sql.errors import LabelsError as LabelsError
    from sentinel_sql.errors import LeakageError as LeakageError
    from sentinel_sql.errors import MissingExtraError as MissingExtraError
    from sentinel_sql.errors import PoolsError as PoolsError
    from sentinel_sql.errors import QuestionsError as QuestionsError
    from sentinel_sql.errors import SentinelError as SentinelError
    from sentinel_sql.errors import StoreError as StoreError
    from sentinel_sql.evaluation_store.record import Evaluation as Evaluation
    from sentinel_sql.labels.file import read_labels as read_labels
    from sentinel_sql.labels.file import write_labels as write_labels
    from sentinel_sql.labels.record import Label as Label
    from sentinel_sql.labels.record import Labels as Labels
    from sentinel_sql.labels.record import LabelsHeader as LabelsHeader
    from sentinel_sql.monitor.bundle import load as load_monitor
    from sentinel_sql.monitor.bundle import save as save_monitor
    from sentinel_sql.monitor.session import Monitor as Monitor
    from sentinel_sql.pipeline.collect import CollectSummary as CollectSummary
    from sentinel_sql.pipeline.collect import Progress as Progress
    from sentinel_sql.pipeline.collect import collect as collect
    from sentinel_sql.pipeline.evaluate import evaluate as evaluate
    from sentinel_sql.pipeline.fit import fit as fit
    from sentinel_sql.pipeline.import_runs import ImportSummary as ImportSummary
    from sentinel_sql.pipeline.import_runs import import_runs as import_runs
    from sentinel_sql.pipeline.label import Labelling as Labelling
    from sentinel_sql.pipeline.label import label_runs as label_runs
    from sentinel_sql.pipeline.rating_labels import label_by_ratings as label_by_ratings
    from sentinel_sql.questions.pools import Pools as Pools
    from sentinel_sql.questions.pools import make_pools as make_pools
    from sentinel_sql.questions.read import read_questions as read_questions
    from sentinel_sql.questions.record import Question as Question
    from sentinel_sql.report.write import Written as Report
    from sentinel_sql.report.write import write_report as write_report
    from sentinel_sql.schema import Schema as Schema
    from sentinel_sql.trajectory.record import AgentInfo as AgentInfo
    from sentinel_sql.trajectory.record import AskedQuestion as AskedQuestion
    from sentinel_sql.trajectory.record import Observation as Observation
    from sentinel_sql.trajectory.record import Outcome as Outcome
    from sentinel_sql.trajectory.record import Seconds as Seconds
    from sentinel_sql.trajectory.record import Step as Step
    from sentinel_sql.trajectory.record import Telemetry as Telemetry
    from sentinel_sql.trajectory.record import Trajectory as Trajectory
    from sentinel_sql.trajectory.record import Usage as Usage
    from sentinel_sql.trajectory.recorder import Recorder as Recorder
    from sentinel_sql.trajectory.store import TrajectoryStore as TrajectoryStore
    from sentinel_sql.trajectory.store import read_trajectories as read_trajectories

_HOMES = {
    "AgentInfo": "trajectory.record:AgentInfo",
    "Answer": "decision.verdict:Answer",
    "AskedQuestion": "trajectory.record:AskedQuestion",
    "BundleError": "errors:BundleError",
    "CannotFitError": "errors:CannotFitError",
    "CollectSummary": "pipeline.collect:CollectSummary",
    "Coverage": "coverage:Coverage",
    "Database": "database.executor:Database",
    "DatabaseError": "errors:DatabaseError",
    "DatabaseHealth": "database.executor:DatabaseHealth",
    "EndpointError": "errors:EndpointError",
    "Evaluation": "evaluation_store.record:Evaluation",
    "ExecutionResult": "database.executor:ExecutionResult",
    "Guard": "decision.guard:Guard",
    "GuardSession": "decision.session:GuardSession",
    "Hints": "database.value_index.hints:Hints",
    "ImportSummary": "pipeline.import_runs:ImportSummary",
    "InputError": "errors:InputError",
    "Label": "labels.record:Label",
    "Labelling": "pipeline.label:Labelling",
    "Labels": "labels.record:Labels",
    "LabelsError": "errors:LabelsError",
    "LabelsHeader": "labels.record:LabelsHeader",
    "LeakageError": "errors:LeakageError",
    "Limits": "database.executor:Limits",
    "LiveStep": "decision.live_step:LiveStep",
    "MissingExtraError": "errors:MissingExtraError",
    "Monitor": "monitor.session:Monitor",
    "Observation": "trajectory.record:Observation",
    "OpenAIModel": "agent.openai:OpenAIModel",
    "Outcome": "trajectory.record:Outcome",
    "Pools": "questions.pools:Pools",
    "PoolsError": "errors:PoolsError",
    "Progress": "pipeline.collect:Progress",
    "Prompt": "agent.prompt:Prompt",
    "Question": "questions.record:Question",
    "QuestionsError": "errors:QuestionsError",
    "ReactAgent": "agent.react:ReactAgent",
    "Recorder": "trajectory.recorder:Recorder",
    "Report": "report.write:Written",
    "Schema": "schema:Schema",
    "Seconds": "trajectory.record:Seconds",
    "SentinelError": "errors:SentinelError",
    "SqliteDatabase": "database.sqlite.database:SqliteDatabase",
    "Step": "trajectory.record:Step",
    "StoreError": "errors:StoreError",
    "Telemetry": "trajectory.record:Telemetry",
    "Trajectory": "trajectory.record:Trajectory",
    "TrajectoryStore": "trajectory.store:TrajectoryStore",
    "Usage": "trajectory.record:Usage",
    "Verdict": "decision.verdict:Verdict",
    "collect": "pipeline.collect:collect",
    "evaluate": "pipeline.evaluate:evaluate",
    "fit": "pipeline.fit:fit",
    "guarded": "decision.agent_loop:guarded",
    "hints": "database.value_index.hints:hints",
    "import_runs": "pipeline.import_runs:import_runs",
    "label_by_ratings": "pipeline.rating_labels:label_by_ratings",
    "label_runs": "pipeline.label:label_runs",
    "load_monitor": "monitor.bundle:load",
    "make_pools": "questions.pools:make_pools",
    "open_database": "database.opening:open_database",
    "open_grounder": "database.coverage.cover:open_grounder",
    "read_labels": "labels.file:read_labels",
    "read_questions": "questions.read:read_questions",
    "read_trajectories": "trajectory.store:read_trajectories",
    "register_database": "database.opening:register_database",
    "save_monitor": "monitor.bundle:save",
    "write_labels": "labels.file:write_labels",
    "write_report": "report.write:write_report",
}

__all__ = [
    "AgentInfo",
    "Answer",
    "AskedQuestion",
    "BundleError",
    "CannotFitError",
    "CollectSummary",
    "Coverage",
    "Database",
    "DatabaseError",
    "DatabaseHealth",
    "EndpointError",
    "Evaluation",
    "ExecutionResult",
    "Guard",
    "GuardSession",
    "Hints",
    "ImportSummary",
    "InputError",
    "Label",
    "Labelling",
    "Labels",
    "LabelsError",
    "LabelsHeader",
    "LeakageError",
    "Limits",
    "LiveStep",
    "MissingExtraError",
    "Monitor",
    "Observation",
    "OpenAIModel",
    "Outcome",
    "Pools",
    "PoolsError",
    "Progress",
    "Prompt",
    "Question",
    "QuestionsError",
    "ReactAgent",
    "Recorder",
    "Report",
    "Schema",
    "Seconds",
    "SentinelError",
    "SqliteDatabase",
    "Step",
    "StoreError",
    "Telemetry",
    "Trajectory",
    "TrajectoryStore",
    "Usage",
    "Verdict",
    "collect",
    "evaluate",
    "fit",
    "guarded",
    "hints",
    "import_runs",
    "label_by_ratings",
    "label_runs",
    "load_monitor",
    "make_pools",
    "open_database",
    "open_grounder",
    "read_labels",
    "read_questions",
    "read_trajectories",
    "register_database",
    "save_monitor",
    "write_labels",
    "write_report",
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
