"""Fits the packaged general monitor on every bundled recording: equal recordings, equal bytes.

Example:
    tools/fit_general.py
"""

from __future__ import annotations

import sys

from sentinel_sql.monitor.bundle import GENERAL_FOLDER, save
from sentinel_sql.pipeline.demo import SEED
from sentinel_sql.pipeline.learning.bundled_runs import read_bundled_runs
from sentinel_sql.pipeline.learning.fit_general import fit_general


def main() -> int:
    """Fit and save; print what was learned from."""
    monitor = fit_general(list(read_bundled_runs().values()), seed=SEED)
    save(monitor, GENERAL_FOLDER)
    size = sum(path.stat().st_size for path in GENERAL_FOLDER.iterdir())
    sys.stdout.write(f"{GENERAL_FOLDER}: {size:,} bytes; {dict(monitor.facts)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
