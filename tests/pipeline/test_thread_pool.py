"""Daemon threads hand over everything that happens in them."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from sentinel_sql.pipeline.thread_pool import in_daemons


class _OddError(BaseException):
    """No `Exception`, as pytest's own outcomes are."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, _OddError])
@pytest.mark.parametrize("count", [1, 3])
def test_whatever_ends_a_worker_ends_the_reader_and_never_hangs_it(
    error: type[BaseException], count: int
) -> None:
    def work(item: int) -> Iterator[int]:
        yield item
        if item == 2:
            raise error
        yield -item

    got: list[object] = []

    def read() -> None:
        try:
            got.extend(in_daemons(work, range(1, 6), count=count))
        except BaseException as raised:
            got.append(type(raised))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(10)
    assert not reader.is_alive()
    assert got[-1:] == [error] or error in got


def test_an_items_failure_is_yielded_and_the_others_go_on() -> None:
    def work(item: int) -> Iterator[int]:
        if item % 2:
            raise ValueError(str(item))
        yield item

    got = list(in_daemons(work, range(6), count=2))
    assert sorted(str(one) for one in got) == list("012345")
    assert sum(isinstance(one, ValueError) for one in got) == 3
