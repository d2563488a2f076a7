"""Records how often a held-out pool was spent, beside the bundle, counting each reading once."""

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
_READING = ("runs", "monitor", "labels", "settings")
"""What, besides the pools, determines the figures of a reading."""


def spending_log(bundle: Path) -> Path:
    """Return the path of the log of a bundle's spending.

    It is beside the folder, not in it, so that a new fit doesn't delete it.
    """
    bundle = bundle.resolve()
    return bundle.parent / f"{bundle.name}.spent.jsonl"


def settings_hash(
    options: Options | None, stakes: Sequence[float], seed: int, resamples: int
) -> str:
    """Hash the settings that change figures of the same runs; prices don't."""
    settings = (options or Options()).to_json() | {
        "stakes": sorted(set(map(float, stakes))),
        "seed": seed,
    }
    del settings["prices"]
    if resamples != RESAMPLES:  # so that older lines, without resamples, keep their hash
        settings["resamples"] = resamples
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def record_spending(bundle: Path, hashes: Mapping[str, str]) -> int:
    """Append one line to the log, and return how often this held-out pool was spent by now.

    The same monitor, runs, labels and settings give the same figures, so repeated evaluations count
    once (our rule: only a choice among different figures makes them too good). An older line,
    without labels and settings, counts as a separate reading.

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
            readings = _distinct_readings(entries, entry["pools"])
            append(file.fileno(), with_checksum(json.dumps(entry).encode(), line=len(entries)))
    except OSError as error:
        raise BundleError(
            f"can't record in {log} that the held-out pool is spent ({error.strerror}): make "
            "the folder writable, or evaluate another pool"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BundleError(
            f"{log} is damaged, so it is unknown how often the held-out pool was spent: {_REMEDY}"
        ) from error
    return readings


def _distinct_readings(entries: Sequence[Mapping[str, Any]], pools: str) -> int:
    same_pools = [entry for entry in entries if entry["pools"] == pools]
    whole = [entry for entry in same_pools if all(name in entry for name in _READING)]
    distinct = {tuple(str(entry[name]) for name in _READING) for entry in whole}
    return len(same_pools) - len(whole) + len(distinct)
