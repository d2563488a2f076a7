"""What the package offers by name, and what importing it costs."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import sentinel_sql
from sentinel_sql import errors
from sentinel_sql.monitor.bundle import save
from small_runs import fitted

PUBLIC = [
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
"""The contract with users: who adds or takes away a name changes this list and the changelog."""

PAGE = sentinel_sql.__doc__ or ""


def test_the_public_names_are_these_and_no_others() -> None:
    assert sorted(sentinel_sql.__all__) == sorted(PUBLIC)
    assert set(sentinel_sql._HOMES) == set(PUBLIC)
    for name in PUBLIC:
        assert getattr(sentinel_sql, name) is not None
    assert set(PUBLIC) <= set(dir(sentinel_sql))
    with pytest.raises(AttributeError, match="no_such_name"):
        sentinel_sql.no_such_name  # noqa: B018


def test_every_error_is_public_and_drawn_as_it_inherits() -> None:
    drawn: dict[str, tuple[int, int | None]] = {}
    for line in PAGE.splitlines():
        if found := re.match(r"    ((?:[│├└─ ]*))(\w+Error)\s+(\d)?", line):
            drawn[found[2]] = (len(found[1]) // 4, int(found[3]) if found[3] else None)
    kinds = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.SentinelError)
    }
    assert set(drawn) == set(kinds)
    for name, kind in kinds.items():
        depth, code = drawn[name]
        assert depth == len(kind.__mro__) - len(errors.SentinelError.__mro__)
        assert code in (None, kind.exit_code)
        assert getattr(sentinel_sql, name) is kind


def test_every_public_record_stands_in_the_drawing() -> None:
    records = {name for name in PUBLIC if isinstance(getattr(sentinel_sql, name), type)}
    tools = {"OpenAIModel", "Prompt", "ReactAgent", "TrajectoryStore", "LiveStep", "Guard"}
    assert records - tools <= set(re.findall(r"\w+", PAGE))


PATHS = [
    "read_questions",
    "read_labels",
    "write_labels",
    "read_trajectories",
    "save_monitor",
    "load_monitor",
    "fit",
    "evaluate",
    "collect",
    "hints",
    "import_runs",
    "label_by_ratings",
    "label_runs",
    "write_report",
]


@pytest.mark.parametrize("name", PATHS)
def test_every_path_may_be_text_or_any_path(name: str) -> None:
    public = getattr(sentinel_sql, name)
    hints = [str(hint) for hint in _hints(public).values()]
    paths = [hint for hint in hints if "PathLike" in hint]
    assert paths
    assert all("str" in hint for hint in paths)
    assert not [hint for hint in hints if "pathlib.Path" in hint]


def _hints(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    module = sys.modules[function.__module__]
    hints = get_type_hints(function, vars(module))
    return {name: hint for name, hint in hints.items() if name in parameters}


class Elsewhere(os.PathLike[str]):
    """A path of another library."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


@pytest.mark.parametrize("kind", [str, Path, Elsewhere])
def test_a_missing_file_is_named_whatever_kind_of_path_it_is(kind: Any, tmp_path: Path) -> None:
    missing = tmp_path / "nothing.here"
    for read in (
        sentinel_sql.read_questions,
        sentinel_sql.read_labels,
        sentinel_sql.load_monitor,
        sentinel_sql.Pools.read,
        sentinel_sql.SqliteDatabase.open,
        sentinel_sql.open_database,
        lambda path: list(sentinel_sql.read_trajectories(path)),
        lambda path: sentinel_sql.import_runs(path, store=tmp_path / "s"),
        lambda path: sentinel_sql.write_report(path, tmp_path / "r"),
        lambda path: sentinel_sql.TrajectoryStore.open(path),
        lambda path: sentinel_sql.Guard.load(path, stakes=1),
    ):
        with pytest.raises(sentinel_sql.SentinelError, match=r"nothing\.here"):
            read(kind(missing))


def test_importing_the_package_and_asking_for_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; import sentinel_sql; import sentinel_sql.cli.main; "
        "print(*{m.partition('.')[0] for m in sys.modules})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "numpy",
        "sklearn",
        "scipy",
        "pydantic",
        "sqlglot",
        "openai",
        "httpx",
        "httpx2",
        "sqlite3",
    }
    assert not heavy & set(loaded)


def test_a_guard_judges_without_the_libraries_of_fitting(tmp_path: Path) -> None:
    save(fitted()[0], tmp_path / "monitor")
    program = """
import sys
from sentinel_sql import Guard
guard = Guard.load(sys.argv[1], stakes=1.0, early_stop=True)
with guard.session("how many patients got heparin") as session:
    session.observe(thought="look", sql="SELECT drug FROM prescriptions", result=[("heparin",)])
print(*{name.partition(".")[0] for name in sys.modules})
"""
    loaded = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "monitor")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not {"sklearn", "scipy", "pandas", "torch", "matplotlib"} & set(loaded)
