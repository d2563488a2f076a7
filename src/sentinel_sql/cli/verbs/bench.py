"""`sentinel bench`: measures the ratios that the project promises, on this machine."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from sentinel_sql.cli.output import AsJson, emit, facts, say
from sentinel_sql.errors import InputError, MissingExtraError

EXAMPLE = "Example: sentinel bench --only monitor --json"

BENCHMARKS = ("encoder", "executor", "exhibits", "harness", "monitor", "report", "scoring")


def bench(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"One of {', '.join(BENCHMARKS)}; repeat for more."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure on this machine the ratios that the project promises (a source checkout only)."""
    names = tuple(only or BENCHMARKS)
    for name in names:
        if name not in BENCHMARKS:
            raise InputError(f"no benchmark {name!r}: choose of {', '.join(BENCHMARKS)}")
    document: dict[str, Any] = {}
    for name in names:
        say(f"measuring {name} …")
        try:
            document[name] = _measure(name)()
        except MissingExtraError as error:
            if only:
                raise
            document[name] = {"not measured": str(error)}
    emit(
        document,
        as_json=as_json,
        tables=lambda: [facts(name, measured) for name, measured in document.items()],
    )


def _measure(name: str) -> Callable[[], dict[str, Any]]:
    path = Path(__file__).resolve().parents[4] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"sentinel_benchmarks_{name}", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise InputError("the benchmarks are part of the source checkout: clone it and run there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    measure: Callable[[], dict[str, Any]] = module.measure
    return measure
