"""What is no path is refused in one line by whoever reads a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sentinel_sql as public
from sentinel_sql.storage.paths import path_of

READERS: dict[str, Callable[[Any], Any]] = {
    "labels": public.read_labels,
    "questions": public.read_questions,
    "trajectories": lambda path: list(public.read_trajectories(path)),
    "store": public.TrajectoryStore.open,
    "monitor": public.load_monitor,
    "guard": lambda path: public.Guard.load(path, stakes=1.0),
    "database": public.SqliteDatabase.open,
    "pools": public.Pools.read,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("given", [None, 5, b"labels.jsonl", "a\0b", 1.5, object()])
def test_what_is_no_path_is_refused_by_each_reader(
    reader: Callable[[Any], Any], given: object
) -> None:
    with pytest.raises(public.InputError, match="path") as caught:
        reader(given)
    assert "\n" not in str(caught.value)


def test_a_text_and_a_path_are_the_same() -> None:
    assert path_of("a/b") == path_of(Path("a/b")) == Path("a/b")
