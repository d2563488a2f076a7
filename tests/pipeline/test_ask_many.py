"""Many items asked at once: nothing that happens in a thread is lost, nor hangs its reader."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_sql.errors import EndpointError
from sentinel_sql.pipeline import ask_many as asking
from sentinel_sql.pipeline.ask_many import FAILURES_IN_A_ROW, Tally, ask_many

Ask = Callable[[int, threading.Event], Iterator[int]]


def asked(
    ask: Ask,
    items: range,
    kept: list[int],
    *,
    workers: int = 2,
    on_progress: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    return ask_many(
        items,
        ask,
        kept.append,
        workers=workers,
        what="results",
        place=Path("place"),
        on_progress=on_progress,
    )


class _OddError(BaseException):
    """No `Exception`, as pytest's own outcomes are."""


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, _OddError, ValueError])
@pytest.mark.parametrize("workers", [1, 3])
def test_whatever_ends_a_worker_ends_the_asking_and_never_hangs_it(
    error: type[BaseException], workers: int
) -> None:
    def ask(item: int, _: threading.Event) -> Iterator[int]:
        yield item
        if item == 2:
            raise error
        yield -item

    ended: list[object] = []

    def read() -> None:
        try:
            asked(ask, range(1, 6), [], workers=workers)
        except BaseException as raised:
            ended.append(type(raised))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(10)
    assert not reader.is_alive()
    assert ended == [error]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), max_size=FAILURES_IN_A_ROW - 1), st.integers(0, 4))
def test_every_item_is_kept_or_counted_as_failed(fails: list[bool], workers: int) -> None:
    def ask(item: int, _: threading.Event) -> Iterator[int]:
        if fails[item]:
            raise EndpointError("busy")
        yield item

    kept: list[int] = []
    seen: list[Tally] = []
    found = asked(ask, range(len(fails)), kept, workers=workers, on_progress=seen.append)
    assert sorted(kept) == [at for at, fault in enumerate(fails) if not fault]
    assert (found.done, found.failed) == (len(kept), sum(fails))
    assert [one.done + one.failed for one in seen] == list(range(1, len(fails) + 1))


def test_ten_failures_in_a_row_end_it_and_say_what_is_kept_where() -> None:
    def ask(item: int, _: threading.Event) -> Iterator[int]:
        if item >= 7:
            raise EndpointError("gone")
        yield item

    kept: list[int] = []
    with pytest.raises(EndpointError, match=r"gone\. 7 new results are kept in place"):
        asked(ask, range(90), kept, workers=1)
    assert kept == list(range(7))


def test_a_first_answer_that_holds_for_every_call_ends_it_at_once() -> None:
    heard: list[int] = []

    def ask(item: int, _: threading.Event) -> Iterator[int]:
        heard.append(item)
        raise EndpointError("no such model", for_every_call=True)
        yield item

    with pytest.raises(EndpointError, match="0 new results"):
        asked(ask, range(90), [], workers=2)
    assert len(heard) <= 3


def test_a_thread_goes_on_once_its_last_result_was_dealt_with() -> None:
    heard: list[int] = []

    def ask(item: int, _: threading.Event) -> Iterator[int]:
        heard.append(item)
        yield item

    def interrupt(so_far: Tally) -> None:
        if so_far.done == 4:
            raise KeyboardInterrupt

    kept: list[int] = []
    found = asked(ask, range(50), kept, workers=1, on_progress=interrupt)
    assert found.interrupted
    assert heard == kept == [0, 1, 2, 3]


def test_what_other_threads_have_ready_is_kept_at_an_interruption() -> None:
    ready = threading.Barrier(3, timeout=10)

    def ask(item: int, _: threading.Event) -> Iterator[int]:
        ready.wait()
        yield item

    def interrupt(_: Tally) -> None:
        time.sleep(0.1)
        raise KeyboardInterrupt

    kept: list[int] = []
    found = asked(ask, range(3), kept, workers=3, on_progress=interrupt)
    assert sorted(kept) == [0, 1, 2]
    assert (found.done, found.interrupted) == (3, True)


def test_a_call_that_hangs_is_waited_for_no_longer_than_the_grace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "GRACE", 0.2)
    free = threading.Event()

    def ask(item: int, _: threading.Event) -> Iterator[int]:
        if item:
            free.wait(30)
        yield item

    def interrupt(_: Tally) -> None:
        raise KeyboardInterrupt

    started = time.monotonic()
    kept: list[int] = []
    assert asked(ask, range(3), kept, on_progress=interrupt).interrupted
    free.set()
    assert kept == [0]
    assert time.monotonic() - started < 10


def test_a_result_counts_as_done_once_it_is_on_the_disk() -> None:
    waiting: list[Future[None]] = []
    seen: list[Tally] = []

    def keep(_: int) -> Future[None]:
        waiting.append(Future())
        if len(waiting) == 4:  # a disk that is slower than the model
            assert seen == []
            for future in waiting:
                future.set_result(None)
        return waiting[-1]

    found = ask_many(
        range(4),
        lambda item, _: iter([item]),
        keep,
        workers=2,
        what="results",
        place=Path("place"),
        on_progress=seen.append,
    )
    assert found.done == len(seen) == 4


def test_a_full_disk_ends_it() -> None:
    def keep(_: int) -> Future[None]:
        future: Future[None] = Future()
        future.set_exception(OSError("full"))
        return future

    with pytest.raises(OSError, match="full"):
        ask_many(
            range(9),
            lambda item, _: iter([item]),
            keep,
            workers=2,
            what="results",
            place=Path("place"),
        )
