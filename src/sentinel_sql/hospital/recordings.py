"""The bundled recordings: real runs of real agents over the default benchmark.

`provenance.json` beside them says of each which model, served how, on which days, and the hash of
what it holds. `tools/pack_recordings.py` packs a collected store into this form. Under
`confidences/NAME` stands what the agent's own model said of its answers, where it was asked.
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

DEFAULT = "guided"
"""The recording that the demo fits on."""


def bundled(folder: Path = FOLDER) -> Mapping[str, Path]:
    """Return the recordings that are there, by name."""
    return {path.name.removesuffix(ENDING): path for path in sorted(folder.glob(f"*{ENDING}"))}


def recording(name: str = DEFAULT, folder: Path = FOLDER) -> Path:
    """Return the file of one recording.

    Raises:
        StoreError: there is none of that name.
    """
    there = bundled(folder)
    if name not in there:
        raise StoreError(
            f"no recording {name!r} is bundled with this installation (there are: "
            f"{', '.join(there) or 'none'}): name a store of your own runs instead"
        )
    return there[name]


def confidences(name: str = DEFAULT, folder: Path = FOLDER) -> Path | None:
    """Return the folder of confidences of one recording, or None where its model wasn't asked."""
    place = folder / CONFIDENCES / name
    return place if place.is_dir() else None


def provenance(folder: Path = FOLDER) -> Mapping[str, Any]:
    """Return what is known of each recording, by name; empty where none is bundled.

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
