"""Work on many items in threads that can't keep an interrupted process alive."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

_LOOK_UP = 0.2
"""Seconds after which a waiting thread looks whether anybody still reads; ours."""


def in_daemons(
    work: Callable[[Item], Iterator[Made]], items: Sequence[Item], *, count: int
) -> Generator[Made | Exception]:
    """Yield all that `work` yields of all items, as it comes; an item's failure is yielded too.

    Items are started in their order, and a thread goes on once its last result was dealt with.
    Whoever stops reading stops the work; a thread that hangs in a call is left behind.

    What ends a program (`SystemExit`, `KeyboardInterrupt` and the like) and is raised in `work`
    ends it here, too: it is raised to the reader instead of yielded.

    Args:
        work: yields the results of one item; called in any thread.
        items: what to work on.
        count: threads at once, ≥ 1.
    """
    waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
    for item in items:
        waiting.put(item)
    made: queue.SimpleQueue[_Handed[Made]] = queue.SimpleQueue()
    stop = threading.Event()

    def hand(result: Made | BaseException) -> bool:
        handed = _Handed(result)
        made.put(handed)
        while not handed.taken.wait(_LOOK_UP):
            if stop.is_set():
                return False
        return not stop.is_set()

    def run() -> None:
        while not stop.is_set():
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                break
            try:
                if not all(hand(result) for result in work(item)):
                    return
            except BaseException as error:  # a thread that dies unheard leaves its reader waiting
                hand(error)
        made.put(_Handed(None))

    threads = [
        threading.Thread(target=run, name=f"sentinel-{number}", daemon=True)
        for number in range(min(count, len(items)))
    ]
    for thread in threads:
        thread.start()
    left = len(threads)
    try:
        while left:
            handed = made.get()
            result = handed.result
            if result is None:
                left -= 1
            elif isinstance(result, BaseException) and not isinstance(result, Exception):
                raise result
            else:
                yield result
            handed.taken.set()
    finally:
        stop.set()


class _Handed(Generic[Made]):
    """A result on its way to the reader; None says that a thread is done."""

    def __init__(self, result: Made | BaseException | None) -> None:
        self.result = result
        self.taken = threading.Event()
