"""Public functions and records refuse what they can't take by an `InputError` of one line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Protocol
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sentinel_sql as sentinel
from sentinel_sql.arguments import checked, checked_fields
from sentinel_sql.errors import InputError, SentinelError
from sentinel_sql.trajectory.store import StoreManifest
from small_runs import AGENT, fitted, header

MADE_BY_VERBS = {
    *("Answer", "CollectSummary", "Evaluation", "ExecutionResult", "GuardSession"),
    *("ImportSummary", "Labelling", "Labels", "Monitor", "Progress", "Report", "SqliteDatabase"),
    *("TrajectoryStore", "Verdict"),
}
"""Results, which no user builds, and classes that are opened by another function."""

RECORDS = [
    name
    for name in sentinel.__all__
    if isinstance(getattr(sentinel, name), type)
    and not issubclass(getattr(sentinel, name), Exception)
    and not getattr(getattr(sentinel, name), "_is_protocol", False)
    and name not in {*MADE_BY_VERBS, "Guard", "LiveStep"}
]
FUNCTIONS: dict[str, Callable[..., object]] = {
    **{name: getattr(sentinel, name) for name in sentinel.__all__ if name[0].islower()},
    "SqliteDatabase.open": sentinel.SqliteDatabase.open,
    "Guard.over": sentinel.Guard.over,
    "Guard.load": sentinel.Guard.load,
    "Pools.read": sentinel.Pools.read,
    "TrajectoryStore.open": sentinel.TrajectoryStore.open,
}
anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5)
)
anything = st.one_of(
    anything,
    st.lists(anything, max_size=3),
    st.dictionaries(st.text(max_size=3), anything, max_size=2),
    st.builds(object),
    st.just(Path("nowhere") / "at-all"),
)


def parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    taken = inspect.signature(function).parameters.values()
    return [one for one in taken if one.kind is not one.VAR_KEYWORD]


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=20)
@given(data=st.data())
def test_no_argument_of_a_public_function_raises_another_error(
    name: str, data: st.DataObject
) -> None:
    function = FUNCTIONS[name]
    given_ = {one.name: data.draw(anything, label=one.name) for one in parameters(function)}
    # No path that could be written: what is refused is refused before anything is made.
    given_ |= {key: object() for key in given_ if key in ("store", "out", "path", "folder")}
    with pytest.raises(SentinelError) as caught:
        function(**given_)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", RECORDS)
@settings(max_examples=20)
@given(data=st.data())
def test_no_field_of_a_public_record_raises_another_error(name: str, data: st.DataObject) -> None:
    record = getattr(sentinel, name)
    given_ = {one.name: data.draw(anything, label=one.name) for one in parameters(record)}
    with suppress(SentinelError):
        record(**given_)


def calls() -> dict[str, dict[str, Any]]:
    """Return a call of each verb whose arguments are all right."""
    monitor, runs, pools, labels = fitted()
    question = sentinel.Question(id="q", text="how many", answerable=True)
    return {
        "collect": {"questions": [question], "agent": Mock(), "database": Mock(), "store": "s"},
        "evaluate": {"monitor": monitor, "trajectories": runs, "pools": pools, "labels": labels},
        "fit": {"trajectories": runs, "pools": pools, "labels": labels, "header": header()},
        "import_runs": {"files": ["f"], "store": "s"},
        "label_runs": {"trajectories": runs, "questions": [question], "database": "d"},
        "make_pools": {"questions": [question]},
        "save_monitor": {"monitor": monitor, "folder": "m"},
        "write_labels": {"path": "p", "header": header(), "labels": list(labels.values())},
        "write_report": {"evaluations": "e", "out": "o"},
        "SqliteDatabase.open": {"path": "p"},
        "Guard.over": {"monitor": monitor, "stakes": 1.0},
        "Guard.load": {"bundle": "m", "stakes": 1.0},
        "TrajectoryStore.open": {"folder": "s"},
    }


@pytest.mark.parametrize("name", sorted(calls()))
def test_one_argument_of_a_wrong_type_is_named(name: str) -> None:
    right, function = calls()[name], FUNCTIONS[name]
    for one in parameters(function):
        with pytest.raises(InputError) as caught:
            function(**right | {one.name: object()})
        if name != "Guard.load":  # the folder is looked for first
            assert one.name in str(caught.value) or "path" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "argument", "value", "said"),
    [
        ("fit", "stakes", ["1"], "stakes= can't be a list of str: give a list of number"),
        ("fit", "seed", "42", "seed= can't be of type str: give a whole number"),
        ("fit", "trajectories", [1, "x"], "a list of int, str"),
        ("make_pools", "questions", ["q"], "a list of str: give a list of Question or a text"),
        ("make_pools", "fractions", {"train": "half"}, "fractions= can't be of type dict"),
        ("write_labels", "labels", "labels.jsonl", "labels= can't be of type str"),
        ("evaluate", "prices", (1.0,), "prices= can't be a tuple of float"),
        ("import_runs", "files", [5], "files= can't be a list of int"),
        ("Guard.over", "gate", "no", "gate= can't be of type str: give True or False"),
        ("SqliteDatabase.open", "limits", {"seconds": 3}, "give a Limits or None"),
    ],
)
def test_message_says_what_was_given_and_what_to_give(
    name: str, argument: str, value: object, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        FUNCTIONS[name](**calls()[name] | {argument: value})


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("Limits", {"seconds": "3"}),
        ("Limits", {"rows": 2.5}),
        ("Limits", {"memory": None}),
        ("Question", {"id": 5, "text": "how many", "answerable": True}),
        ("Question", {"id": "q", "text": "how many", "answerable": "yes"}),
        ("Schema", {"tables": {"t": ["a"]}}),
        ("Prompt", {"name": "p", "system": b"text"}),
        ("OpenAIModel", {"base_url": "http://localhost", "model": 5}),
        ("OpenAIModel", {"base_url": "http://localhost", "model": "m", "stop": "RESULT:"}),
        ("Step", {"index": 1, "action": "select", "observation": {"kind": "none"}}),
        ("Telemetry", {"logprobs": (float("nan"),), "entropies": ()}),
        ("Label", {"question_id": "q", "answerable": "perhaps", "outcome": "cap", "reason": "x"}),
    ],
)
def test_record_names_its_wrong_field_and_quotes_no_value(
    name: str, fields: dict[str, object]
) -> None:
    with pytest.raises(InputError) as caught:
        getattr(sentinel, name)(**fields)
    said = str(caught.value)
    assert any(field in said for field in fields)
    assert "\n" not in said
    assert "select" not in said
    assert "perhaps" not in said


def test_other_methods_refuse_wrong_types(tmp_path: Path) -> None:
    monitor, runs, pools, _ = fitted()
    guard = sentinel.Guard.over(monitor, stakes=1.0)
    manifest = StoreManifest(agent=AGENT)
    with sentinel.TrajectoryStore.open(tmp_path / "s", manifest=manifest) as store:
        refused: list[Callable[[], object]] = [
            lambda: store.append(5),  # type: ignore[arg-type]
            lambda: store.submit(runs[0].steps[0]),  # type: ignore[arg-type]
            lambda: pools.write(5),  # type: ignore[arg-type]
            lambda: guard.session("how many", stakes="4"),  # type: ignore[arg-type]
            lambda: guard.run(lambda question: [], 5),  # type: ignore[call-overload]
            lambda: list(sentinel.guarded(5, guard.session("how many"))),  # type: ignore[call-overload]
            lambda: list(sentinel.guarded([5], guard.session("how many"))),  # type: ignore[type-var]
        ]
        for call in refused:
            with pytest.raises(InputError):
                call()


# --- the check itself -----------------------------------------------------------------------------


class Named(Protocol):
    @property
    def name(self) -> str: ...


@checked
def takes(
    number: float = 0.0,
    count: int = 0,
    names: Sequence[str] = (),
    each: Iterable[int] = (),
    pair: tuple[float, float] = (0.0, 0.0),
    table: Mapping[str, int] | None = None,
    call: Callable[[int], int] | None = None,
    way: Literal["a", "b"] = "a",
    thing: Named | None = None,
) -> str:
    return "taken"


@pytest.mark.parametrize(
    "fitting",
    [
        {"number": 3},
        {"number": np.float64(3), "count": np.int64(3)},
        {"names": ["a", "b"], "pair": [1, 2.5]},
        {"names": np.array(["a", "b"])},
        {"each": range(3)},
        {"each": iter(["not looked at"])},
        {"table": {"a": 1}, "call": len, "way": "other"},
        {"thing": Path("x")},
    ],
)
def test_what_fits_is_taken_whatever_library_it_comes_from(fitting: dict[str, Any]) -> None:
    assert takes(**fitting) == "taken"


@pytest.mark.parametrize(
    "wrong",
    [
        {"number": "3"},
        {"number": None},
        {"count": 3.0},
        {"names": "abc"},
        {"names": ["a", 1]},
        {"names": {"a": "b"}},
        {"each": 3},
        {"each": ["a"]},
        {"pair": (1.0,)},
        {"table": {"a": "1"}},
        {"table": [("a", 1)]},
        {"call": 5},
        {"way": 5},
        {"thing": 5},
    ],
)
def test_what_does_not_fit_is_refused_by_its_name(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=rf"^{name}= can't be "):
        takes(**wrong)


def test_a_wrong_number_of_arguments_stays_pythons_error() -> None:
    with pytest.raises(TypeError):
        takes(nothing=1)  # type: ignore[call-arg]


def test_a_checked_record_keeps_its_signature() -> None:
    class Plain:
        def __init__(self, *, size: int) -> None:
            self.size = size

    assert checked_fields(Plain)(size=3).size == 3
    assert list(inspect.signature(Plain).parameters) == ["size"]
    with pytest.raises(InputError, match="size= can't be of type str"):
        Plain(size="3")  # type: ignore[arg-type]
