"""The bundled recordings: real runs of real agents over the default benchmark.

`provenance.json` gives for each recording its model, the way of serving, the days and the hash of
its content. `tools/pack_recordings.py` packs a collected store into this form. For some recordings
`confidences/NAME` holds the confidences that the agent's own model stated for its answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sentinel_sql.errors import StoreError

FOLDER = Path(__file__).with_name("recordings")
PROVENANCE = "provenance.json"
ENDING = ".jsonl.gz"
CONFIDENCES = "confidences"

DEFAULT = "grounded"
"""The recording that the demo uses."""


def bundled(folder: Path = FOLDER) -> Mapping[str, Path]:
    """Return the files of the bundled recordings, by name."""
    return {path.name.removesuffix(ENDING): path for path in sorted(folder.glob(f"*{ENDING}"))}


def recording(name: str = DEFAULT, folder: Path = FOLDER) -> Path:
    """Return the file of one recording.

    Raises:
        StoreError: there is no recording of that name.
    """
    known = bundled(folder)
    if name not in known:
        raise StoreError(
            f"this installation has no recording {name!r} (it has: "
            f"{', '.join(known) or 'none'}): name a store of your own runs instead"
        )
    return known[name]


def confidences(name: str = DEFAULT, folder: Path = FOLDER) -> Path | None:
    """Return the folder of confidences of one recording, or None if it has none."""
    path = folder / CONFIDENCES / name
    return path if path.is_dir() else None


def provenance(folder: Path = FOLDER) -> Mapping[str, Any]:
    """Return the provenance of each recording, by name; empty if none is bundled.

    Raises:
        StoreError: `provenance.json` is damaged.
    """
    file = folder / PROVENANCE
    try:
        known = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise StoreError(f"{file} can't be read: install the package again") from error
    return dict(known)
