"""The count of a log's lines, in the file `<log>.count` beside it.

It says how many lines are surely on the disk, and so distinguishes missing lines from an unfinished
last line of a killed process.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Final

from sentinel_sql.errors import StoreError
from sentinel_sql.storage.checksums import sealed, unsealed

_COUNT_WIDTH: Final = 128
"""Bytes of a count with its newline; fixed, so that it can be overwritten in place."""


def read_count(file: Path) -> int | None:
    """Return how many lines a log has at least, or None without a count.

    Read it before the log itself, because a writer may add lines in between.

    Raises:
        StoreError: the count is damaged.
    """
    count = count_file(file)
    for _ in range(3):  # if it is just being overwritten, it is complete a moment later
        try:
            return int(unsealed(json.loads(count.read_bytes()))["lines"])
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"{count}: {error.strerror}; check its rights") from error
        except (ValueError, TypeError, AttributeError, KeyError):
            pass
        time.sleep(0.01)
    raise StoreError(
        f"{count}: damaged, so the number of lines of {file.name} is unknown; restore it from a "
        f"copy, or delete it if all lines of {file.name} are there"
    )


def count_file(file: Path) -> Path:
    """Return the path of a log's count."""
    return file.with_name(file.name + ".count")


def count_text(lines: int) -> bytes:
    """Return a count as its file holds it."""
    return json.dumps(sealed({"lines": lines})).encode().ljust(_COUNT_WIDTH - 1) + b"\n"
