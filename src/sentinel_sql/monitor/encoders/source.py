"""The source of an encoder: a local folder, which needs no network, or a name on the model hub."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from sentinel_sql.errors import InputError
from sentinel_sql.monitor.encoders.extras import transformers

NEEDED = ("config.json", "model.safetensors", "tokenizer.json")
_FETCHED = ("config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer*.json")

_HUB_NAME = re.compile(r"(?:[\w-][\w.-]*/)?[\w-][\w.-]*")
"""A valid name on the hub; anything else is a path, which never causes a network call."""

UNBOUNDED = 1 << 20
"""A tokenizer that claims more than this many tokens states no limit."""


def find_encoder(encoder: str) -> Path:
    """Return the folder of an encoder; a name that is no folder is fetched from the model hub.

    Args:
        encoder: a local folder, or a name such as `answerdotai/ModernBERT-base`.

    Raises:
        InputError: the folder lacks a file, or the name can't be fetched.
        MissingExtraError: the extra `encoders` isn't installed.
    """
    folder = Path(encoder).expanduser()
    if not folder.is_dir():
        if not _HUB_NAME.fullmatch(encoder):
            raise InputError(
                f"there is no folder {encoder}: name one with {_join(NEEDED)}, or a model of the "
                "hub as OWNER/NAME"
            )
        folder = _fetch(encoder)
    if missing := _missing(folder):
        raise InputError(
            f"the encoder {encoder} lacks {', '.join(missing)}: a folder with {_join(NEEDED)} "
            "is needed (weights as .bin are pickles and aren't read)"
        )
    return folder


def content_hash(folder: Path) -> str:
    """Return the SHA-256 of an encoder's configuration, weights and tokenizer."""
    parts = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".safetensors"))
    return _hash_files(
        tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in parts)
    )


@lru_cache(maxsize=8)
def _hash_files(parts: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, size, _ in parts:
        digest.update(f"{path.name} {size} ".encode())
        with path.open("rb") as source:
            while piece := source.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()


def token_limit(folder: Path) -> int:
    """Return the most tokens that an encoder can read, from its configuration and tokenizer."""
    config = _json(folder / "config.json")
    stated = [
        _json(folder / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    ]
    limits = [int(limit) for limit in stated if isinstance(limit, int | float) and limit > 0]
    limit = min((limit for limit in limits if limit <= UNBOUNDED), default=UNBOUNDED)
    # These families number positions from the padding token's id on.
    if "roberta" in str(config.get("model_type")) or config.get("model_type") == "camembert":
        usable = int(config.get("max_position_embeddings", limit)) - 1
        limit = min(limit, usable - int(config.get("pad_token_id", 1)))
    return limit


@contextmanager
def offline() -> Iterator[None]:
    """Forbid network calls to the hub's library, as `HF_HUB_OFFLINE=1` does."""
    transformers()
    constants: Any = import_module("huggingface_hub.constants")
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _fetch(name: str) -> Path:
    transformers()
    hub = import_module("huggingface_hub")
    problem: Exception | None = None
    for local in (True, False):  # a model that was fetched before isn't fetched again
        try:
            folder = Path(
                hub.snapshot_download(name, allow_patterns=_FETCHED, local_files_only=local)
            )
        except (OSError, ValueError, RuntimeError) as error:
            problem = error
            continue
        if not (local and _missing(folder)):
            return folder
    raise InputError(
        f"the encoder {name} is no folder here and can't be fetched from the model hub: put its "
        f"{_join(NEEDED)} into a folder and name that folder instead"
    ) from problem


def _missing(folder: Path) -> list[str]:
    return [
        name
        for name in NEEDED
        if not (folder / name).is_file()
        and not (name == "model.safetensors" and any(folder.glob("*.safetensors")))
    ]


def _join(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _json(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path} isn't JSON that can be read") from error
    return read if isinstance(read, dict) else {}
