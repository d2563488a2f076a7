"""Packs a collected store into the bundled recordings: the same runs give the same bytes.

Example:
    tools/pack_recordings.py runs/guided --name guided --model-file model.gguf
        --quantization Q4_K_M --server "llama.cpp b6900" --days 2026-11-30/2026-12-02
        --confidences confidences/guided
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sentinel_sql.database.sqlite.database import SqliteDatabase
from sentinel_sql.errors import SentinelError, StoreError
from sentinel_sql.hospital.benchmark import benchmark_questions, build_hospital
from sentinel_sql.hospital.recordings import (
    CONFIDENCES,
    ENDING,
    FOLDER,
    PROVENANCE,
    provenance,
)
from sentinel_sql.hospital.schema import DATABASE
from sentinel_sql.questions.record import question_id_of
from sentinel_sql.rivals.confidences import MANIFEST, RECORDS, answer_hash, read_confidences
from sentinel_sql.trajectory.codec import encode
from sentinel_sql.trajectory.manifest import read_manifest
from sentinel_sql.trajectory.record import Trajectory
from sentinel_sql.trajectory.store import read_trajectories


def pack(
    store: Path, folder: Path, *, name: str, known: dict[str, str], confidences: Path | None = None
) -> dict[str, Any]:
    """Write `NAME.jsonl.gz`, and what is known of it into `provenance.json`.

    Runs stand in the order of their ids, whole, whatever the order in which they were collected.

    Args:
        store: a store's folder or a recordings file; it is only read.
        folder: where the recordings lie; made if absent.
        name: of the recording; an older one of that name is replaced.
        known: what the runs themselves don't tell.
        confidences: what the agent's model said of these runs' answers, packed beside them.

    Raises:
        StoreError: no run, runs of several agents, or runs that aren't over the default
            benchmark; confidences of other answers.
    """
    runs = sorted(read_trajectories(store), key=lambda run: run.question.id)
    if not runs:
        raise StoreError(f"{store} holds no run: collect some first")
    agents = {run.agent.fingerprint: run.agent for run in runs}
    if len(agents) > 1:
        raise StoreError(f"{store} holds runs of {len(agents)} agents: pack one at a time")
    asked = _require_benchmark(store, runs)
    said = {} if confidences is None else _require_of(runs, confidences)
    content = b"".join(encode(run) for run in runs)
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as sink:
        sink.write(content)
    (agent,) = agents.values()
    entry = {
        "agent": agent.model_dump(),
        "fingerprint": agent.fingerprint,
        **known,
        "questions": asked,
        "runs": len(runs),
        "outcomes": dict(sorted(Counter(run.outcome.kind for run in runs).items())),
        "steps": sum(len(run.steps) for run in runs),
        "completion_tokens": sum(
            step.usage.completion_tokens or 0 for run in runs for step in run.steps if step.usage
        ),
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": {"plain": len(content), "packed": len(packed.getvalue())},
    }
    folder.mkdir(parents=True, exist_ok=True)
    if said:
        place = folder / CONFIDENCES / name
        place.mkdir(parents=True, exist_ok=True)
        for file, lines in said.items():
            (place / file).write_bytes(lines)
        entry["confidences_sha256"] = hashlib.sha256(said[RECORDS]).hexdigest()
    told = {**provenance(folder), name: entry}
    (folder / f"{name}{ENDING}").write_bytes(packed.getvalue())
    (folder / PROVENANCE).write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")
    return entry


def _require_of(runs: Sequence[Trajectory], confidences: Path) -> dict[str, bytes]:
    """Return the files of a store of confidences in the order of runs and methods."""
    manifest, records = read_confidences(confidences)
    answers = {run.question.id: answer_hash(run) for run in runs}
    strange = [one.run for one in records if answers.get(one.run) != one.answer]
    if manifest.agent != runs[0].agent or strange:
        raise StoreError(
            f"{confidences}: its confidences are of other answers than these runs' "
            f"({', '.join(strange[:3]) or 'of another agent'}): name those of this recording"
        )
    records.sort(key=lambda one: (one.run, one.method))
    lines = "".join(f"{one.model_dump_json()}\n" for one in records)
    return {MANIFEST: f"{manifest.model_dump_json()}\n".encode(), RECORDS: lines.encode()}


def _require_benchmark(store: Path, runs: Sequence[Trajectory]) -> dict[str, Any]:
    """Refuse runs of other questions, or over another hospital, than the default ones."""
    with tempfile.TemporaryDirectory() as scratch:
        path = build_hospital(Path(scratch) / f"{DATABASE}.sqlite")
        texts = {question.id: question.text for question in benchmark_questions(path)}
        with SqliteDatabase.open(path) as database:
            schema, clock = database.schema.sha256, database.clock
    for run in runs:
        identity = run.question.id
        known = question_id_of(identity, texts)
        if known is None or texts[known] != run.question.text or run.question.clock != clock:
            raise StoreError(
                f"{store}: run {identity} isn't of the default benchmark: collect over the "
                "hospital that this version builds"
            )
    manifest = read_manifest(store)
    if manifest is not None and manifest.schema_sha256 not in (None, schema):
        raise StoreError(f"{store}: its runs are over a database with another schema")
    return {"database": DATABASE, "patients": 100, "seed": 42, "size": len(texts)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--into", type=Path, default=FOLDER)
    parser.add_argument("--model-file", type=Path, required=True, help="it is hashed")
    parser.add_argument("--quantization", required=True)
    parser.add_argument("--server", required=True, help="name and version")
    parser.add_argument("--days", required=True, help="FIRST/LAST day of collection")
    parser.add_argument("--note", default="", help="anything else, such as --max-tokens")
    parser.add_argument("--confidences", type=Path, help="what `rivals collect` wrote of them")
    given = parser.parse_args(arguments)
    with given.model_file.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    known = {
        "model_file": given.model_file.name,
        "model_sha256": digest,
        "quantization": given.quantization,
        "server": given.server,
        "days": given.days,
        "note": given.note,
    }
    try:
        entry = pack(
            given.store,
            given.into,
            name=given.name,
            known=known,
            confidences=given.confidences,
        )
    except SentinelError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(json.dumps(entry, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
