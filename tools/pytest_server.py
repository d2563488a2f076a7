"""Runs pytest again and again, each time in a copy of a process that has imported the libraries.

A copy starts in milliseconds and imports only pytest's plugins, the tests and the tested code.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

LIBRARIES = (
    *("numpy", "scipy.sparse", "scipy.stats", "sklearn.ensemble", "sklearn.isotonic"),
    *("sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection", "sqlglot.optimizer"),
    *("pydantic", "rich.console", "typer", "pandas", "pyarrow.parquet"),
)
"""What takes most of the time to import, and belongs neither to us nor to pytest."""

WAITING = 5
"""How much longer a run may take by the clock, on a busy machine or as it waits for something."""


@dataclass(frozen=True, kw_only=True)
class PytestServer:
    """The process whose copies run tests."""

    process: subprocess.Popen[str]

    def run(self, tests: Sequence[str], sources: Path, *, seconds: int) -> tuple[int, str]:
        """Run tests until the first fails.

        Args:
            tests: what pytest is given.
            sources: the folder of the package to test.
            seconds: processor time that the run has.

        Returns:
            pytest's exit code, or the negative number of the signal that ended it; and what it
            printed.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"tests": list(tests), "sources": str(sources), "seconds": seconds}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        code, printed = json.loads(self.process.stdout.readline())
        return code, printed


@cache
def pytest_server() -> PytestServer:
    """Start the server of this process, which ends with it."""
    left = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**left, **threads, "PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_PROFILE": "mutants"},
    )
    atexit.register(process.kill)
    return PytestServer(process=process)


def _serve() -> None:
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as printed:
            code = _run(json.loads(line), printed.fileno())
            printed.seek(0)
            print(json.dumps([code, printed.read()]), flush=True)


def _run(request: Mapping[str, Any], sink: int) -> int:
    child = os.fork()
    if child == 0:
        _become_pytest(request, sink)
    until = time.monotonic() + WAITING * request["seconds"]
    ended, status = 0, 0
    while not ended:
        time.sleep(0.05)
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
        ended, status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests have left running
    return os.waitstatus_to_exitcode(status)


def _become_pytest(request: Mapping[str, Any], sink: int) -> None:
    code = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"]))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        above = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join([request["sources"], above]).rstrip(os.pathsep)
        sys.path.insert(0, request["sources"])
        import pytest  # its plugins must come after it

        quietly = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider")
        code = int(pytest.main([*quietly, *request["tests"]]))
        sys.stdout.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve()
