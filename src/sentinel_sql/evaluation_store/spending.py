"""How often a held-out pool was spent: written down beside the bundle, each distinct look once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sentinel_sql.errors import BundleError
from sentinel_sql.evaluation.bootstrap import RESAMPLES
from sentinel_sql.evaluation.options import Options
from sentinel_sql.storage.append_log import append
from sentinel_sql.storage.checksums import read_lines, with_checksum

_REMEDY = "mend it or move it away"
_LOOK = ("runs", "monitor", "labels", "settings")
"""What a look's figures follow from, beside the pools; equal in all of it, they are the same."""


def spending_log(bundle: Path) -> Path:
    """Return where the spending of a bundle's held-out pool is written down.

    It lies beside the folder, not in it, so that fitting again doesn't wipe it out.
    """
    bundle = bundle.resolve()
    return bundle.parent / f"{bundle.name}.spent.jsonl"


def settings_hash(
    options: Options | None, stakes: Sequence[float], seed: int, resamples: int
) -> str:
    """Hash what changes figures of the same runs; prices decide and score nothing."""
    told = (options or Options()).to_json() | {
        "stakes": sorted(set(map(float, stakes))),
        "seed": seed,
    }
    del told["prices"]
    if resamples != RESAMPLES:  # lines that were written before they could be chosen stay equal
        told["resamples"] = resamples
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def record_spending(bundle: Path, hashes: Mapping[str, str]) -> int:
    """Append one line to the log, and return how often this held-out pool was spent by now.

    Replaying the same monitor over the same runs, labels and settings gives the same figures, so
    it tells nothing new, and is counted once however often it is done (ours: what makes figures
    rosy is choosing among different ones). A line of before, which doesn't tell labels and
    settings, counts as a look of its own.

    Args:
        bundle: the monitor's folder.
        hashes: `pools`, `runs`, `monitor`, `labels` and `settings`.

    Raises:
        BundleError: the log is damaged or can't be written.
    """
    log = spending_log(bundle)
    entry = {"time": datetime.now(UTC).isoformat(timespec="seconds"), **hashes}
    try:
        handle = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "r+b") as file:
            lines = read_lines(file, file=log, remedy=_REMEDY, refusal=BundleError)
            entries = [*(json.loads(line.content) for line in lines), entry]
            looks = _looks(entries, entry["pools"])
            append(file.fileno(), with_checksum(json.dumps(entry).encode(), line=len(entries)))
    except OSError as error:
        raise BundleError(
            f"can't record in {log} that the held-out pool is spent ({error.strerror}): make "
            "the folder writable, or evaluate another pool"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BundleError(
            f"{log} is damaged, so nobody can tell how often the held-out pool was spent: {_REMEDY}"
        ) from error
    return looks


def _looks(entries: Sequence[Mapping[str, Any]], pools: str) -> int:
    told = [entry for entry in entries if entry["pools"] == pools]
    whole = [entry for entry in told if all(name in entry for name in _LOOK)]
    distinct = {tuple(str(entry[name]) for name in _LOOK) for entry in whole}
    return len(told) - len(whole) + len(distinct)
