"""Changes the code in small ways, one at a time, and asks the tests whether they notice.

Example:
    tools/mutants.py build/mutants.jsonl --seed 7 --count 80 --minutes 30

The mutants are drawn by the seed from the modules that decide: `ROOMS`. Each one is put into a copy
of `src`, and the tests that reach its module run until the first fails. The record grows by one
line for each mutant, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_server import pytest_server

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "sentinel_sql"

ROOMS: Mapping[str, tuple[str, ...]] = {
    "decision/neighbours.py": ("decision/test_neighbours.py", "pipeline/test_views.py"),
    "decision/payoff.py": ("decision/test_payoff.py", "decision/test_policy.py"),
    "decision/thresholds.py": ("decision/test_thresholds.py", "decision/test_policy.py"),
    "decision/gate.py": ("decision/test_gate.py", "decision/test_thresholds.py"),
    "decision/exact_bound.py": ("decision/test_gate.py", "monitor/test_calibration.py"),
    "decision/live_result.py": ("decision/test_live_result.py",),
    "decision/row_sources.py": ("decision/test_live_result.py",),
    "decision/live_step.py": ("decision/test_guard.py", "decision/test_sentence.py"),
    "decision/judgement.py": ("decision/test_guard.py", "decision/test_sentence.py"),
    "decision/session.py": ("decision/test_guard.py", "decision/test_sentence.py"),
    "decision/conversation.py": ("decision/test_conversation.py",),
    "decision/sentence/*.py": ("decision/test_sentence.py",),
    "decision/*.py": (
        *("decision/test_guard.py", "decision/test_guard_run.py", "decision/test_policy.py"),
        *("decision/test_prefix_columns.py", "decision/test_thresholds.py"),
    ),
    "labels/audit.py": ("labels/test_audit.py", "cli/test_audit_verbs.py"),
    "labels/llm_judge.py": ("labels/test_llm_judge.py", "cli/test_label_llm.py"),
    "labels/*.py": ("labels",),
    "monitor/calibration.py": ("monitor/test_calibration.py",),
    "monitor/crossfit.py": ("monitor/test_crossfit.py",),
    "monitor/delivery_estimator.py": ("monitor/test_hybrid.py",),
    "monitor/heads/contributions.py": ("monitor/test_contributions.py", "pipeline/test_views.py"),
    "monitor/heads/embedding.py": ("monitor/test_conformity.py", "monitor/test_encoder_parts.py"),
    "monitor/heads/encoder.py": ("monitor/test_conformity.py", "monitor/test_encoder.py"),
    "monitor/heads/linear.py": (
        *("monitor/test_regimes.py", "monitor/test_contributions.py", "monitor/test_bundle.py"),
    ),
    "monitor/heads/ngram*.py": ("monitor/test_ngrams.py", "monitor/test_contributions.py"),
    "monitor/heads/regimes.py": ("monitor/test_regimes.py",),
    "monitor/snapshots.py": ("monitor/test_features.py", "monitor/test_crossfit.py"),
    "evaluation/bootstrap.py": ("evaluation/test_bootstrap.py",),
    "evaluation/metrics.py": ("evaluation/test_metrics.py",),
    "evaluation/rater_agreement.py": ("labels/test_audit.py", "evaluation/test_disagreement.py"),
    "evaluation/replay.py": ("decision/test_policy.py", "evaluation/test_exhibits.py"),
    "evaluation/share_interval.py": ("evaluation/test_exhibits_of_the_paper.py",),
}
"""The modules that are changed, each with the tests to ask first. The first pattern counts."""

REST: Mapping[str, tuple[str, ...]] = {
    "decision": ("decision", "evaluation", "pipeline", "cli/test_loop.py", "cli/test_ask.py"),
    "labels": ("labels", "cli/test_loop.py", "cli/test_label_llm.py", "pipeline/test_fit.py"),
    "monitor": ("monitor", "pipeline", "rivals", "decision/test_guard.py", "cli/test_loop.py"),
    "evaluation": ("evaluation", "rivals", "report", "cli/test_loop.py"),
}
"""The tests to ask after these, by room."""

PYTEST = "pytest itself"

SECONDS = 300
"""Processor time that a group of tests has for one mutant; one that makes them hang is noticed."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One small change.

    Attributes:
        module: path below the package.
        start, end: the bytes of the module that are replaced.
        text: what stands there instead.
        kind: the operator that made it.
    """

    module: str
    start: int
    end: int
    text: str
    kind: str

    def applied(self, source: bytes) -> bytes:
        """Return the module's source with the change in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a mutant, and by what.

    `killed` by a test that passes without it, `survived` all tests, `hung` until the time limit,
    or `unknown`, because a test fails without it, too.
    """

    number: int
    module: str
    kind: str
    verdict: str
    by: str
    seconds: float
    diff: str


COMPARISONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}

SYMMETRIC = ("min", "max", "np.minimum", "np.maximum", "np.logaddexp")
"""Functions that don't care which argument comes first."""


def changes(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the changes of one node, each as its kind and the code to put in its place."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            changed: ast.AST = ast.Compare(
                node.left, [COMPARISONS[type(operator)]()], node.comparators
            )
            yield "comparison", ast.unparse(changed)
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC:
            changed = ast.BinOp(node.left, ARITHMETIC[type(operator)](), node.right)
            yield "arithmetic", f"({ast.unparse(changed)})"
        case ast.BoolOp(op=operator):
            other = ast.And() if isinstance(operator, ast.Or) else ast.Or()
            yield "boolean", f"({ast.unparse(ast.BoolOp(other, node.values))})"
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub()):
            yield "removed sign", f"({ast.unparse(node.operand)})"
        case ast.Constant(value=bool(value)):
            yield "constant", repr(not value)
        case ast.Constant(value=int(value)) | ast.Constant(value=float(value)):
            yield "constant", repr(value + 1)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield "condition", f"(not ({ast.unparse(test)}))"
        case ast.Call(args=[first, second, *rest]) if not (
            isinstance(first, ast.Starred)
            or isinstance(second, ast.Starred)
            or ast.unparse(node.func) in SYMMETRIC
        ):
            swapped = ast.Call(node.func, [second, first, *rest], node.keywords)
            yield "swapped arguments", ast.unparse(swapped)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield "return", "return None"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue():
            yield "dropped statement", "pass"


def mutants_of(module: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a module, in the order of its lines."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in _code(ast.parse(source)):
        for kind, text in changes(node):
            place: Any = node.test if kind == "condition" else node  # type: ignore[attr-defined]
            found.append(
                Mutant(
                    module=module,
                    start=starts[place.lineno - 1] + place.col_offset,
                    end=starts[place.end_lineno - 1] + place.end_col_offset,
                    text=text,
                    kind=kind,
                )
            )
    return sorted(found, key=lambda each: (each.start, each.end, each.kind))


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Walk over what runs: no types, decorators, messages or checks of lengths."""
    skipped: list[object] = []
    match node:
        case ast.JoinedStr() | ast.Raise(exc=ast.Call()):
            yield node
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return
        case ast.arg() | ast.AnnAssign():
            skipped = [node.annotation]
        case ast.FunctionDef():
            skipped = [node.returns, *node.decorator_list]
        case ast.ClassDef():
            skipped = [*node.bases, *node.decorator_list]
        case ast.Assign(value=ast.Subscript() | ast.BinOp(op=ast.BitOr())) if node.col_offset == 0:
            skipped = [node.value]  # a name for a type
        case ast.Call(func=ast.Name(id="cast" | "TypeVar")) | ast.keyword(arg="strict"):
            return
    yield node
    for child in ast.iter_child_nodes(node):
        if not any(child is each for each in skipped):
            yield from _code(child)


def draw(package: Path, *, seed: int, count: int) -> list[Mutant]:
    """Draw mutants, each as likely as another; no two change the same line in the same way."""
    modules = sorted(
        {
            path.relative_to(package).as_posix()
            for pattern in ROOMS
            for path in package.glob(pattern)
            if path.name != "__init__.py"
        }
    )
    every = [
        (mutant, source.count(b"\n", 0, mutant.start))
        for module in modules
        for source in [(package / module).read_bytes()]
        for mutant in mutants_of(module, source)
    ]
    random.Random(seed).shuffle(every)
    drawn: dict[tuple[str, int, str], Mutant] = {}
    for mutant, line in every:
        if len(drawn) == count:
            break
        place = (mutant.module, line, mutant.kind)
        if place not in drawn and _changes_code(mutant, (package / mutant.module).read_bytes()):
            drawn[place] = mutant
    return list(drawn.values())


def _changes_code(mutant: Mutant, source: bytes) -> bool:
    """Return whether the mutant is other code, unlike two equal arguments that change places."""
    return ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source))


def asked(module: str) -> list[list[str]]:
    """Return the tests that a module's mutants have to pass, those that know it best first."""
    first = next(tests for pattern, tests in ROOMS.items() if Path(module).match(pattern))
    then = [each for each in REST[module.split("/")[0]] if each not in first]
    return [list(first), then]


def difference(mutant: Mutant, source: bytes) -> str:
    """Return what the mutant changes, as a unified diff."""
    return "\n".join(
        difflib.unified_diff(
            source.decode().splitlines(),
            mutant.applied(source).decode().splitlines(),
            f"a/{mutant.module}",
            f"b/{mutant.module}",
            lineterm="",
            n=1,
        )
    )


def judge(mutant: Mutant, copy: Path, tests: Sequence[Sequence[str]], folder: Path) -> Verdict:
    """Run tests over a copy of the sources with one mutant in it.

    Args:
        mutant: to apply.
        copy: of `src`; it is as before afterwards.
        tests: groups of paths below `folder`, asked one group after the other.
        folder: of the tests.
    """
    path = copy / PACKAGE / mutant.module
    source = path.read_bytes()
    began, verdict, by = time.monotonic(), "survived", ""
    path.write_bytes(mutant.applied(source))
    try:
        for group in tests:
            failed = _run([str(folder / each) for each in group], copy)
            if failed is None:
                verdict, by = "hung", "the time limit"
            elif failed:
                verdict, by = "killed", failed
            if verdict != "survived":
                break
    finally:
        path.write_bytes(source)
    asked_again = tuple(str(folder / each) for each in group) if by == PYTEST else (by,)
    if verdict == "killed" and not _passes(asked_again, copy):
        verdict = "unknown"  # the test fails without the mutant, too
    return Verdict(
        number=-1,
        module=mutant.module,
        kind=mutant.kind,
        verdict=verdict,
        by=by,
        seconds=round(time.monotonic() - began, 1),
        diff=difference(mutant, source),
    )


def _run(tests: Sequence[str], copy: Path) -> str | None:
    """Return the first test that fails, "" if none does, or None if they take too long."""
    code, printed = pytest_server().run(tests, copy, seconds=SECONDS)
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    if code == 0:
        return ""
    for line in printed.splitlines():
        state, _, test = line.partition(" ")
        if state in ("FAILED", "ERROR"):
            return test.partition(" - ")[0]
    return PYTEST


@cache
def _passes(tests: tuple[str, ...], copy: Path) -> bool:
    return _run(tests, copy) == ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the mutants, judge those that the record lacks, and print what became of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path, help="JSON lines; goes on with one that is there")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no mutant after that")
    options = parser.parse_args(arguments)
    package = ROOT / "src" / PACKAGE
    drawn = draw(package, seed=options.seed, count=options.count)
    sources = hashlib.sha256(b"".join((package / each.module).read_bytes() for each in drawn))
    about = {"seed": options.seed, "count": options.count, "sources": sources.hexdigest()}
    lines = options.record.read_text().splitlines() if options.record.exists() else []
    if lines and json.loads(lines[0]) != about:
        print(f"{options.record} is of another draw or of other sources: name a new file")
        return 2
    known = [Verdict(**json.loads(line)) for line in lines[1:]]
    until = time.monotonic() + 60 * options.minutes
    options.record.parent.mkdir(parents=True, exist_ok=True)
    with options.record.open("a") as record, tempfile.TemporaryDirectory() as place:
        if not lines:
            record.write(json.dumps(about) + "\n")
        copy = Path(shutil.copytree(ROOT / "src", Path(place) / "src"))
        for number, mutant in enumerate(drawn):
            if any(each.number == number for each in known) or time.monotonic() > until:
                continue
            found = judge(mutant, copy, asked(mutant.module), ROOT / "tests")
            known.append(Verdict(**{**asdict(found), "number": number}))
            record.write(json.dumps(asdict(known[-1])) + "\n")
            record.flush()
            print(
                f"{number:>3} {found.verdict:<8} {found.seconds:>6.1f} s {found.module} {found.by}"
            )
    for each in known:
        if each.verdict != "killed":
            print(f"\n{each.number}: {each.verdict}: {each.kind}\n{each.diff}")
    told = Counter(each.verdict for each in known)
    print(f"\n{len(drawn)} drawn: {', '.join(f'{n} {verdict}' for verdict, n in told.items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
