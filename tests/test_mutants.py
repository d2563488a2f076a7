"""The tool that changes the code: where it does so, and how it judges what the tests notice."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

import mutants

ROOT = Path(__file__).parents[1]

SOURCE = '''\
"""A λ stands in front, so that bytes and letters are told apart."""
from typing import Final
Either = int | None
LIMIT: Final = 3

def clears(score: float, bar: float | None = 0.5) -> bool:
    """Say whether a score of 3 or more clears."""
    λ = abs(score)
    if bar is None or not λ:
        raise ValueError(f"a bar of {1 + 1}")
    total = pow(
        λ,
        LIMIT,
    )
    return total + 1 >= bar
'''


@pytest.fixture
def tool() -> ModuleType:
    return mutants


def test_every_mutant_is_one_change_that_still_compiles(tool: ModuleType) -> None:
    source = SOURCE.encode()
    found = tool.mutants_of("sample.py", source)
    changed = [mutant.applied(source) for mutant in found]
    assert source not in changed
    assert len(set(changed)) == len(changed)
    for mutant, code in zip(found, changed, strict=True):
        compile(code, mutant.kind, "exec")
    assert {mutant.kind for mutant in found} == {
        *("comparison", "arithmetic", "boolean", "removed sign", "constant", "condition"),
        *("swapped arguments", "return", "dropped statement"),
    }


def test_types_docstrings_and_messages_are_left_alone(tool: ModuleType) -> None:
    source = SOURCE.encode()
    for mutant in tool.mutants_of("sample.py", source):
        code = mutant.applied(source).decode()
        for kept in ("Either = int | None", "float | None", "score of 3 or more", "Final"):
            assert kept in code
        assert mutant.kind == "dropped statement" or "a bar of {1 + 1}" in code


@pytest.mark.slow
def test_equal_seeds_draw_equal_mutants_of_every_room(tool: ModuleType) -> None:
    package = ROOT / "src" / tool.PACKAGE
    first, again, other = (tool.draw(package, seed=seed, count=80) for seed in (1, 1, 2))
    assert first == again != other
    assert len(first) == 80
    assert {mutant.module.split("/")[0] for mutant in first} == set(tool.REST)
    for pattern, tests in tool.ROOMS.items():
        assert list(package.glob(pattern)), pattern
        for each in (*tests, *(path for group in tool.REST.values() for path in group)):
            assert (ROOT / "tests" / each).exists(), each


@pytest.mark.parametrize(
    ("kind", "wanted", "verdict"),
    [
        ("return", "0", "killed"),
        ("constant", "0", "survived"),
        ("comparison", "0", "hung"),
        ("return", "1", "unknown"),
    ],
)
def test_a_mutant_is_killed_by_a_failing_test_and_survives_passing_ones(
    tool: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    wanted: str,
    verdict: str,
) -> None:
    package = tmp_path / "src" / tool.PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    source = "def first(n):\n    while n < 0:\n        pass\n    return n or 7\n"
    (package / "sample.py").write_text(source)
    (tmp_path / "test_first.py").write_text(
        f"from {tool.PACKAGE}.sample import first\n"
        "def test_first():\n"
        f"    assert first({wanted}) not in (None, 1)\n"
    )
    mutant = next(
        each
        for each in tool.mutants_of("sample.py", source.encode())
        if each.kind == kind and each.text != "1"
    )
    if verdict == "hung":
        monkeypatch.setattr(tool, "SECONDS", 3)
    found = tool.judge(mutant, tmp_path / "src", [["test_first.py"]], tmp_path)
    assert found.verdict == verdict, found
    assert (package / "sample.py").read_text() == source
    assert found.diff.count("\n+") == 2  # its head and the changed line
