"""Erasing from logs, stores and label files: whole after every kill, and nothing left behind."""

from __future__ import annotations

import gzip
import json
import os
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from sentinel_sql.cli.erasers import ERASERS
from sentinel_sql.errors import SentinelError, StoreError
from sentinel_sql.labels.file import read_labels, write_labels
from sentinel_sql.labels.ratings import read_ratings
from sentinel_sql.labels.record import Label, LabelsHeader
from sentinel_sql.labels.verdicts import StoredVerdict, VerdictLog, read_verdicts
from sentinel_sql.rivals.confidences import (
    Confidence,
    ConfidencesManifest,
    ConfidenceStore,
    read_confidences,
)
from sentinel_sql.schema import Schema
from sentinel_sql.storage.append_log import AppendLog
from sentinel_sql.storage.checksums import read_lines
from sentinel_sql.storage.line_count import read_count
from sentinel_sql.storage.run_id import ids_of_run
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.manifest import StoreManifest, read_manifest
from sentinel_sql.trajectory.record import AgentInfo, Observation, Trajectory
from sentinel_sql.trajectory.store import TORN, TrajectoryStore, read_trajectories

AGENT = AgentInfo(name="react", model="m")
RUNS = ("a", "q#1", "b", "q#2", "q", "c")
ERASED = {"q#1", "q#2", "q"}
SECRETS = (b"SECRETQUESTION", b"SECRETSQL", b"SECRETROW")


def run(name: str) -> Trajectory:
    secret = "SECRET" if name in ERASED else "open"
    observation = Observation(kind="rows", rows=1, columns=1, text=f"[['{secret}ROW']]")
    step = make_step(1, action="final_sql", sql=f"SELECT '{secret}SQL'", observation=observation)
    return make_trajectory(name, f"{secret}QUESTION", steps=[step], agent=AGENT)


class Files:
    """One file or folder of each kind that is cleaned, all with the same runs."""

    def __init__(self, folder: Path) -> None:
        self.paths = {
            "store": folder / "store",
            "labels": folder / "labels.jsonl",
            "verdicts": folder / "llm.verdicts",
            "ratings": folder / "ratings.csv",
            "confidences": folder / "confidences",
            "recordings": folder / "recordings.jsonl.gz",
        }

    def write(self) -> None:
        with TrajectoryStore.open(self.paths["store"], manifest=StoreManifest(agent=AGENT)) as made:
            for name in RUNS:
                made.append(run(name))
        log = self.paths["store"] / "trajectories.jsonl"
        self.paths["recordings"].write_bytes(gzip.compress(log.read_bytes()))
        header = LabelsHeader(
            judge="rules", mode="sentinel-1", database="d", clock="c", schema=Schema(tables={})
        )
        write_labels(
            self.paths["labels"],
            header,
            [
                Label(question_id=name, answerable=True, outcome="cap", reason="cap")
                for name in RUNS
            ],
        )
        with VerdictLog.open(self.paths["verdicts"]) as verdicts:
            for name in RUNS:
                verdicts.add(
                    StoredVerdict(
                        question_id=name, case_sha256="x", model="m", prompt_sha256="p",
                        correct=True, tries=1,
                    )
                )  # fmt: skip
        self.paths["ratings"].write_text(
            "run,rating,comment\n" + "".join(f'{name},1,"two\nlines"\n' for name in RUNS)
        )
        manifest = ConfidencesManifest(agent=AGENT)
        with ConfidenceStore.open(self.paths["confidences"], manifest=manifest) as confidences:
            for name in RUNS:
                confidences.append(
                    Confidence(
                        run=name, answer="h", method="p-true", score=0.5, calls=1, seconds=0.1
                    )
                )

    def ids(self, kind: str) -> list[str]:
        """Load a file, and return the ids that it holds."""
        path = self.paths[kind]
        return {
            "store": lambda: [x.question.id for x in read_trajectories(path)],
            "recordings": lambda: [x.question.id for x in read_trajectories(path)],
            "labels": lambda: list(read_labels(path).by_run),
            "verdicts": lambda: [x.question_id for x in read_verdicts(path)],
            "ratings": lambda: [x.id for x in read_ratings(path).ratings],
            "confidences": lambda: [x.run for x in read_confidences(path)[1]],
        }[kind]()

    def bytes_of(self, kind: str) -> bytes:
        path = self.paths[kind]
        files = sorted(path.rglob("*")) if path.is_dir() else [*path.parent.glob(f"*{path.name}*")]
        found = b"".join(file.read_bytes() for file in files if file.is_file())
        return found + (gzip.decompress(path.read_bytes()) if kind == "recordings" else b"")


def forget(files: Files, kind: str) -> None:
    ERASERS[kind][1](files.paths[kind], "q")


@pytest.mark.parametrize("kind", list(ERASERS))
def test_forgetting_erases_a_questions_runs_and_leaves_the_others(
    tmp_path: Path, kind: str
) -> None:
    files = Files(tmp_path)
    files.write()
    assert ERASERS[kind][0](files.paths[kind], "q") == 3
    forget(files, kind)
    assert files.ids(kind) == ["a", "b", "c"]
    assert ERASERS[kind][0](files.paths[kind], "q") == 0
    for secret in (*SECRETS, b'"q#1"', b'"q"', b"\nq,", b"q#2,"):
        assert secret not in files.bytes_of(kind)
    forget(files, kind)
    assert files.ids(kind) == ["a", "b", "c"]


@pytest.mark.parametrize("kind", list(ERASERS))
def test_one_run_of_a_question_can_be_forgotten_alone(tmp_path: Path, kind: str) -> None:
    files = Files(tmp_path)
    files.write()
    ERASERS[kind][1](files.paths[kind], "q#1")
    assert files.ids(kind) == ["a", "b", "q#2", "q", "c"]


def killed_at(moment: int, work: Callable[[], object]) -> bool:
    """Do the work in a child that kills itself at its n-th call that changes a file.

    Return whether it was killed.
    """
    child = os.fork()
    if child == 0:
        left = moment

        def counted(call: Callable[..., object]) -> Callable[..., object]:
            def counting(*given: object, **named: object) -> object:
                nonlocal left
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
                return call(*given, **named)

            return counting

        for name in ("replace", "fsync", "pwrite", "write", "unlink", "open", "ftruncate"):
            setattr(os, name, counted(getattr(os, name)))
        try:
            work()
        except BaseException:
            os._exit(9)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.parametrize("kind", list(ERASERS))
def test_a_kill_at_any_moment_leaves_the_old_or_the_new_content_and_the_next_call_completes_it(
    tmp_path: Path, kind: str
) -> None:
    kept, whole = ["a", "b", "c"], list(RUNS)
    seen = set()
    for moment in range(400):
        folder = tmp_path / str(moment)
        folder.mkdir()
        files = Files(folder)
        files.write()
        killed = killed_at(moment, lambda files=files: forget(files, kind))  # type: ignore[misc]
        found = files.ids(kind)
        assert found in (whole, kept)
        seen.add(len(found))
        forget(files, kind)
        assert files.ids(kind) == kept
        assert not any(secret in files.bytes_of(kind) for secret in SECRETS)
        if not killed:
            break
    else:
        pytest.fail("the work never ended")
    assert seen == {len(kept), len(whole)}, "some kills came before the change, some after"


def test_a_tombstone_holds_no_content_and_keeps_the_question_from_being_recorded(
    tmp_path: Path,
) -> None:
    files = Files(tmp_path)
    files.write()
    forget(files, "store")
    forget(files, "store")
    manifest = read_manifest(files.paths["store"])
    assert manifest is not None
    (stone,) = manifest.forgotten
    assert set(stone.model_dump()) == {"id_sha256", "time"}
    with TrajectoryStore.open(files.paths["store"]) as opened:
        for name in ("q", "q#1", "q#77"):
            assert opened.is_forgotten(name)
            with pytest.raises(StoreError, match="sentinel forget"):
                opened.append(run(name))
        opened.append(run("d"))
    assert files.ids("store") == ["a", "b", "c", "d"]


def test_a_store_without_tombstones_keeps_the_bytes_of_its_manifest(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write()
    stored = json.loads((files.paths["store"] / "store.json").read_bytes())
    assert "forgotten" not in stored


def test_what_killed_writers_left_behind_goes_too(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write()
    store = files.paths["store"]
    log = store / "trajectories.jsonl"
    (store / ".trajectories.jsonl.sentinel-abcdefgh").write_bytes(log.read_bytes())
    (store / TORN).write_bytes(b'{"question":{"id":"q","text":"SECRETQUESTION\n')
    with log.open("ab") as torn:
        torn.write(b'{"format":"sentinel-trajectory/1","question":{"id":"q#9","text":"SECRETQU')
    forget(files, "store")
    assert files.ids("store") == ["a", "b", "c"]
    assert b"SECRET" not in files.bytes_of("store")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=12), st.sets(st.integers(0, 9)))
def test_a_log_without_some_records_reads_as_if_they_had_never_been_written(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int], unwanted: set[int]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    file = folder / "log.jsonl"

    def opened() -> AppendLog:
        return AppendLog.open(
            file, lock=folder / "lock", torn=folder / "torn", is_whole=lambda _: False
        )

    with closing(opened()) as log:
        for number in numbers:
            log.append(b'{"n":%d}' % number)
    with closing(opened()) as log:
        dropped = log.drop(lambda record: json.loads(record)["n"] in unwanted)
        log.append(b'{"n":99}')
    kept = [number for number in numbers if number not in unwanted]
    assert dropped == len(numbers) - len(kept)
    with file.open("rb") as lines:
        found = [json.loads(x.content)["n"] for x in read_lines(lines, file=file)]
    assert found == [*kept, 99]
    assert read_count(file) == len(kept) + 1


def test_a_run_is_known_by_its_own_id_and_its_questions() -> None:
    assert ids_of_run("q#12") == ("q#12", "q")
    assert ids_of_run("q#x") == ("q#x",)
    assert ids_of_run("a#1#2") == ("a#1#2", "a#1")


@pytest.mark.parametrize("kind", ["store", "verdicts", "confidences"])
def test_nothing_is_erased_under_a_process_that_writes(tmp_path: Path, kind: str) -> None:
    files = Files(tmp_path)
    files.write()
    path = files.paths[kind]
    writer = {
        "store": lambda: TrajectoryStore.open(path),
        "verdicts": lambda: VerdictLog.open(path),
        "confidences": lambda: ConfidenceStore.open(
            path, manifest=ConfidencesManifest(agent=AGENT)
        ),
    }[kind]()
    with writer, pytest.raises(SentinelError, match="is writing to it"):  # type: ignore[attr-defined]
        forget(files, kind)
    assert files.ids(kind) == list(RUNS)


def test_the_other_lines_of_a_table_of_ratings_keep_their_bytes(tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    table.write_bytes(
        b'\xef\xbb\xbfsep=;\r\nid;rating;note\r\nq;1;"SECRET\r\nROW"\r\nb;0;"kept\r\nas it is"\r\n'
    )
    ERASERS["ratings"][1](table, "q")
    assert table.read_bytes() == (
        b'\xef\xbb\xbfsep=;\r\nid;rating;note\r\nb;0;"kept\r\nas it is"\r\n'
    )
