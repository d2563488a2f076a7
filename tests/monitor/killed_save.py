"""Save a monitor over an older one and die on the way; run by a test as a process.

    killed_save.py BUNDLE steps          die before the 1st, 2nd, … file operation of a save
    killed_save.py BUNDLE random COUNT   be killed from outside, COUNT times, at random moments

After each death the bundle is loaded. Prints, as JSON, how many saves died, how many left a whole
monitor, and how often something was left beside it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sentinel_sql.errors import BundleError
from sentinel_sql.monitor import bundle

SEEN = ("open", "os.", "shutil.", "ctypes.", "tempfile.")
LONGEST_WAIT = 1.5
"""Times as long as a whole save takes, so that some finish."""


def main(folder: Path, how: str, count: int) -> None:
    monitor = bundle.load(folder)

    def save() -> None:
        bundle.save(monitor, folder)

    started = time.perf_counter()
    save()
    took = time.perf_counter() - started
    died = whole = littered = 0
    for killed in at_every_step(save) if how == "steps" else at_random(save, count, took):
        died += killed
        littered += len(os.listdir(folder.parent)) > 1
        try:
            bundle.load(folder)
            whole += killed
        except BundleError as error:
            sys.stderr.write(f"{error}\n")
    sys.stdout.write(json.dumps({"died": died, "whole": whole, "littered": littered}))


def at_every_step(save: Callable[[], None]) -> Iterator[bool]:
    """Die before each file operation in turn, until a save finishes alive."""
    step, killed = 0, True
    while killed:
        step += 1
        child = os.fork()
        if child == 0:
            die_at(step)
            save()
            os._exit(0)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        if killed:
            yield True


def die_at(step: int) -> None:
    passed = 0

    def hook(event: str, _: object) -> None:
        nonlocal passed
        if event.startswith(SEEN):
            passed += 1
            if passed == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def at_random(save: Callable[[], None], count: int, took: float) -> Iterator[bool]:
    rng = random.Random(0)
    died = 0
    while died < count:
        child = os.fork()
        if child == 0:
            save()
            os._exit(0)
        time.sleep(rng.uniform(0, LONGEST_WAIT * took))
        os.kill(child, signal.SIGKILL)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        died += killed
        yield killed


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
