"""Saving and loading a monitor: a folder of JSON, plain arrays and weights, never code.

    manifest.json     format, fit, thresholds, and the hashes of all other files
    monitor.npz       heads, delivery estimator and calibration maps
    calibration.npz   the calibration pool's columns
    answerability/    further files of this head, if it has any
    correctness/      the same for this head; files that both heads share lie in answerability/

Loading gives back every number bit for bit, or raises one line that says what is wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from sentinel_sql.arguments import checked
from sentinel_sql.errors import BundleError, InputError, MissingExtraError
from sentinel_sql.monitor.calibration import CalibrationMap
from sentinel_sql.monitor.delivery_estimator import Delivery, FittedHybrid
from sentinel_sql.monitor.features.ten_features import FEATURES
from sentinel_sql.monitor.head import Arrays, Head
from sentinel_sql.monitor.heads.embedding import EmbeddingHead
from sentinel_sql.monitor.heads.encoder import EncoderHead
from sentinel_sql.monitor.heads.linear import LinearHead
from sentinel_sql.monitor.heads.ngram_head import NgramHead
from sentinel_sql.monitor.prefix_scores import PrefixScores
from sentinel_sql.monitor.session import Estimators, Monitor
from sentinel_sql.monitor.thresholds import Thresholds
from sentinel_sql.schema import Schema
from sentinel_sql.storage.paths import path_of
from sentinel_sql.storage.saved_parts import DAMAGES, packed, read_document, under, unpacked
from sentinel_sql.storage.whole_file import (
    OccupiedError,
    check_replaceable,
    read_whole_folder,
    whole_folder,
)

FORMAT = "sentinel-monitor/4"
GENERAL = "general"
"""The name of the packaged monitor, wherever a bundle is asked for."""

GENERAL_FOLDER = Path(__file__).with_name("general")
MANIFEST = "manifest.json"
ARRAYS = ("monitor.npz", "calibration.npz")

HEADS: Mapping[str, Head[Any]] = {
    head.name: head for head in (LinearHead(), NgramHead(), EmbeddingHead(), EncoderHead())
}
"""The kinds of head that can be fitted and loaded, by name, with the settings of record."""

_Made = TypeVar("_Made")
_PARTS = ("answerability", "correctness")
_FILES = (*ARRAYS, *(f"{part}/*" for part in _PARTS))
_MAPS = ("prefix_map", "delivery_map", "unanswerable_map")
_AGAIN = "fit the monitor again with `sentinel fit`"


@checked
def save(monitor: Monitor, folder: str | PathLike[str]) -> None:
    """Write a monitor. The folder appears whole or not at all; an older bundle is replaced.

    Raises:
        BundleError: the folder holds something other than a bundle, can't be written, or has the
            name of the packaged monitor.
    """
    folder = _require_own(folder)
    with (
        _bundle_errors(folder),
        whole_folder(folder, known_by=MANIFEST, parts=_FILES, kind="monitor") as staged,
    ):
        arrays = (_arrays(monitor), monitor.calibration.to_columns())
        contents = dict(zip(ARRAYS, arrays, strict=True))
        hashes = {name: _write(staged / name, packed(it)) for name, it in contents.items()}
        placed, brought = _place_files(monitor)
        for path, name in placed.items():
            (staged / name).parent.mkdir(mode=0o700, exist_ok=True)
            hashes[name] = _copy(path, staged / name)
        manifest = _with_hash(_manifest(monitor) | {"files": hashes, "brought": brought})
        _write(staged / MANIFEST, json.dumps(manifest, indent=1).encode() + b"\n")


def check_place(folder: str | PathLike[str]) -> None:
    """Check that a monitor can be saved there, before a fit that may take hours.

    Raises:
        BundleError: the folder holds something other than a bundle, or can't be written.
    """
    folder = _require_own(folder)
    with _bundle_errors(folder):
        check_replaceable(folder, known_by=MANIFEST, parts=_FILES, kind="monitor")


def _require_own(folder: str | PathLike[str]) -> Path:
    folder = path_of(folder)
    if str(folder) == GENERAL:
        raise BundleError(
            f"{GENERAL} is the name of the packaged monitor, so a folder of that name could never "
            "be read: choose another one"
        )
    return folder


@contextmanager
def _bundle_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OccupiedError as error:
        raise BundleError(f"{error}: choose another folder for the monitor") from error
    except OSError as error:
        raise BundleError(
            f"can't write the monitor to {folder}: {error.strerror}; choose another folder"
        ) from error


def load(folder: str | PathLike[str]) -> Monitor:
    """Read a monitor that `save` wrote, or the packaged one by the name "general".

    Raises:
        BundleError: the folder is missing, damaged, or written by another version.
    """
    folder = path_of(folder)
    if str(folder) == GENERAL:
        folder = GENERAL_FOLDER
    return read_whole_folder(folder, partial(_load, folder))


def _load(folder: Path) -> Monitor:
    manifest = _read_manifest(folder)
    try:
        arrays, columns = (
            unpacked(_read(folder / name, manifest["files"][name])) for name in ARRAYS
        )
        # JSON has no tuples, and settings must be immutable.
        settings = {
            name: tuple(it) if isinstance(it, list) else it
            for name, it in manifest.get("settings", {}).items()
        }
        head = head_with(manifest["head"], settings)
        answerability, correctness = (
            _restore_part(
                arrays, part, partial(head.restore, files=_head_files(folder, manifest, part))
            )
            for part in _PARTS
        )
        estimators = Estimators(
            head=head,
            answerability=answerability,
            correctness=correctness,
            delivery=_restore_delivery(arrays, manifest["delivery"]),
            **{name: _restore_part(arrays, name, CalibrationMap.restore) for name in _MAPS},
            schema=None if manifest["schema"] is None else Schema.from_json(manifest["schema"]),
            clock=manifest["clock"],
            commit_on_error=manifest["commit_on_error"],
            max_steps=manifest["max_steps"],
            dialect=manifest.get("dialect"),
            time_zone=manifest.get("time_zone"),
        )
        return Monitor(
            estimators=estimators,
            agent=manifest["agent"],
            thresholds=Thresholds.from_json(manifest["thresholds"]),
            calibration=PrefixScores.from_columns(columns),
            facts=manifest["facts"],
        )
    except MissingExtraError:
        raise
    except (BundleError, InputError, *DAMAGES) as error:
        if isinstance(error, BundleError) and str(folder) in str(error):
            raise
        what = " ".join(str(error).split())[:200]
        raise BundleError(f"the monitor in {folder} is damaged ({what}): {_AGAIN}") from error


def _restore_part(arrays: Arrays, part: str, restore: Callable[[Arrays], _Made]) -> _Made:
    """Restore one part of a monitor. Errors name the part.

    Raises:
        ValueError: the arrays don't describe such a part.
    """
    try:
        return restore(under(arrays, f"{part}/"))
    except DAMAGES as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{part}: {what}") from error


def _restore_delivery(arrays: Arrays, chosen: Mapping[str, Any]) -> Delivery:
    name, aurocs = chosen["estimator"], (chosen["auroc_head"], chosen["auroc_hybrid"])
    # None is a hybrid that was never fitted.
    known = aurocs[:1] if name == "head" and aurocs[1] is None else aurocs
    if name not in ("head", "hybrid") or not all(type(it) in (int, float) for it in known):
        raise ValueError("delivery: no estimator with its two AUROCs")
    return Delivery(
        hybrid=_restore_part(arrays, "hybrid", FittedHybrid.restore) if name == "hybrid" else None,
        auroc_head=aurocs[0],
        auroc_hybrid=aurocs[1],
    )


def _manifest(monitor: Monitor) -> dict[str, Any]:
    its = monitor.estimators
    return {
        "format": FORMAT,
        "agent": monitor.agent,
        "commit_on_error": its.commit_on_error,
        "max_steps": its.max_steps,
        "clock": its.clock,
        "dialect": its.dialect,
        "time_zone": its.time_zone,
        "head": its.head.name,
        "settings": settings_of(its.head),
        "delivery": {
            "estimator": its.delivery.name,
            "auroc_head": its.delivery.auroc_head,
            "auroc_hybrid": its.delivery.auroc_hybrid,
        },
        "thresholds": monitor.thresholds.to_json(),
        "facts": dict(monitor.facts),
        "feature_defaults": {name: feature.default for name, feature in FEATURES.items()},
        "schema": None if its.schema is None else its.schema.to_json(),
        "schema_sha256": None if its.schema is None else its.schema.sha256,
    }


def settings_of(head: Head[Any]) -> dict[str, Any]:
    """Return the settings of a kind of head, JSON-ready, without those used only in fitting."""
    if not is_dataclass(head):
        return {}
    kept = [field.name for field in fields(head) if field.metadata.get("saved", True)]
    return {name: getattr(head, name) for name in kept if name != "name"}


def head_with(name: str, settings: Mapping[str, Any]) -> Head[Any]:
    """Return a kind of head with some settings replaced.

    Raises:
        InputError: there is no such kind, or it has no such setting.
    """
    if name not in HEADS:
        raise InputError(f"there is no head called {name!r}: choose one of {', '.join(HEADS)}")
    kind: Any = HEADS[name]
    known = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    for setting in settings:
        if setting not in known:
            raise InputError(f"the head {name} has no setting {setting.replace('_', ' ')}")
    head: Head[Any] = replace(kind, **settings)
    return head


def _place_files(monitor: Monitor) -> tuple[dict[Path, str], dict[str, dict[str, str]]]:
    """Return the stored name of each file, and for each head the stored names of its files."""
    placed: dict[Path, str] = {}
    brought: dict[str, dict[str, str]] = {part: {} for part in _PARTS}
    for part in _PARTS:
        for name, path in getattr(monitor.estimators, part).files().items():
            brought[part][name] = placed.setdefault(path, f"{part}/{name}")
    return placed, brought


def _head_files(folder: Path, manifest: Mapping[str, Any], part: str) -> dict[str, Path]:
    names: Mapping[str, str] = manifest.get("brought", {}).get(part, {})
    for stored in names.values():
        parts = Path(stored).parts
        if len(parts) != 2 or parts[0] not in _PARTS or parts[1] == "..":
            raise BundleError(
                f"{folder / MANIFEST} names a file outside of its monitor's folder: {_AGAIN}"
            )
        _check(folder / stored, manifest["files"][stored])
    return {name: folder / stored for name, stored in names.items()}


def _arrays(monitor: Monitor) -> Arrays:
    its = monitor.estimators
    parts: dict[str, Arrays] = {
        "answerability": its.answerability.arrays(),
        "correctness": its.correctness.arrays(),
        "hybrid": {} if its.delivery.hybrid is None else its.delivery.hybrid.arrays(),
    }
    for name in _MAPS:
        parts[name] = getattr(its, name).arrays()
    return {f"{part}/{key}": it for part, arrays in parts.items() for key, it in arrays.items()}


def _write(path: Path, data: bytes) -> str:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as sink:
        sink.write(data)
        sink.flush()
        os.fsync(sink.fileno())
    return hashlib.sha256(data).hexdigest()


def _copy(source: Path, path: Path) -> str:
    """Copy a file piece by piece, because weights may be larger than the free memory."""
    digest = hashlib.sha256()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as sink:
        for piece in _pieces(source):
            digest.update(piece)
            sink.write(piece)
        sink.flush()
        os.fsync(sink.fileno())
    return digest.hexdigest()


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        while piece := source.read(1 << 20):
            yield piece


def _read(path: Path, sha256: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BundleError(f"can't read {path}: {error.strerror}; {_AGAIN}") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise BundleError(f"{path} is damaged: its content isn't what was saved; {_AGAIN}")
    return data


def _check(path: Path, sha256: str) -> None:
    digest = hashlib.sha256()
    try:
        for piece in _pieces(path):
            digest.update(piece)
    except OSError as error:
        raise BundleError(f"can't read {path}: {error.strerror}; {_AGAIN}") from error
    if digest.hexdigest() != sha256:
        raise BundleError(f"{path} is damaged: its content isn't what was saved; {_AGAIN}")


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    manifest = read_document(path, kind="monitor", stated=FORMAT, again=_AGAIN, refusal=BundleError)
    if manifest.get("sha256") != _with_hash(manifest)["sha256"]:
        raise BundleError(f"{path} is damaged: its content isn't what was saved; {_AGAIN}")
    cap = manifest.get("max_steps")
    texts = [manifest.get(name) for name in ("clock", "dialect", "time_zone")]
    if not (
        isinstance(manifest.get("agent"), str)
        and isinstance(manifest.get("commit_on_error"), bool)
        and isinstance(manifest.get("facts"), dict)
        and isinstance(manifest["facts"].get("probed", False), bool)
        and isinstance(manifest["facts"].get("covered", False), bool)
        and (cap is None or (type(cap) is int and cap > 0))
        and all(isinstance(text, str | None) for text in texts)
    ):
        raise BundleError(
            f"{path} is damaged: agent, clock, dialect or step cap isn't one; {_AGAIN}"
        )
    return manifest


def _with_hash(manifest: Mapping[str, Any]) -> dict[str, Any]:
    content = {key: it for key, it in manifest.items() if key != "sha256"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return content | {"sha256": hashlib.sha256(canonical.encode()).hexdigest()}
