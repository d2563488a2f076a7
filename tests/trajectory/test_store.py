from __future__ import annotations

import errno
import gzip
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_sql.errors import InputError, StoreError
from sentinel_sql.testing import make_step, make_trajectory
from sentinel_sql.trajectory.codec import decode, encode
from sentinel_sql.trajectory.record import AgentInfo, Trajectory
from sentinel_sql.trajectory.store import (
    StoreManifest,
    TrajectoryStore,
    read_manifest,
    read_trajectories,
)

AGENT = make_trajectory().agent
MANIFEST = StoreManifest(agent=AGENT, database="tiny", clock="2100-12-31 23:59:00")


def write(folder: Path, *trajectories: Trajectory) -> None:
    with TrajectoryStore.open(folder, manifest=MANIFEST) as store:
        for trajectory in trajectories:
            store.append(trajectory)


def ids(path: Path) -> list[str]:
    return [trajectory.question.id for trajectory in read_trajectories(path)]


# --- what is written comes back -------------------------------------------------------------

words = st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
unknown = st.dictionaries(st.from_regex(r"x_[a-z]{1,6}", fullmatch=True), json_values, max_size=2)
logprob = st.floats(-100, 0)


@st.composite
def raw_trajectories(draw: st.DrawFn) -> dict[str, Any]:
    steps = []
    for index in range(1, draw(st.integers(0, 3)) + 1):
        logprobs = draw(st.lists(logprob, max_size=4))
        steps.append(
            {
                "index": index,
                "thought": draw(st.none() | words),
                "action": draw(st.sampled_from(["sql", "final_sql", "final_null", "invalid"])),
                "sql": draw(st.none() | words),
                "observation": {
                    "kind": draw(st.sampled_from(["rows", "empty", "error", "refused", "none"])),
                    "text": draw(st.none() | words),
                    **draw(unknown),
                },
                "telemetry": {"logprobs": logprobs, "entropies": logprobs, **draw(unknown)},
                **draw(unknown),
            }
        )
    return {
        "format": "sentinel-trajectory/1",
        "question": {"id": draw(words), "text": draw(words), **draw(unknown)},
        "agent": {"name": "someone", "temperature": draw(st.floats(0, 2)), **draw(unknown)},
        "steps": steps,
        "outcome": {"kind": draw(st.sampled_from(["abstained", "cap"])), **draw(unknown)},
        **draw(unknown),
    }


def within(part: Any, whole: Any) -> bool:
    """Whether everything in `part` stands in `whole`, which may hold defaults besides."""
    if isinstance(part, dict):
        return all(key in whole and within(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return len(part) == len(whole) and all(map(within, part, whole))
    return bool(part == whole)


@given(raw_trajectories())
def test_every_key_comes_back_also_those_that_this_version_does_not_know(
    raw: dict[str, Any],
) -> None:
    line = encode(decode(json.dumps(raw).encode(), where="here"))
    assert line.count(b"\n") == 1
    assert within(raw, json.loads(line))


@given(raw_trajectories())
def test_reading_what_was_written_gives_the_same_record(raw: dict[str, Any]) -> None:
    trajectory = Trajectory.model_validate(raw)
    assert decode(encode(trajectory), where="here") == trajectory


def test_half_a_surrogate_pair_is_written_and_read() -> None:
    line = encode(make_trajectory(text="cut \ud83d here"))
    assert decode(line, where="here").question.text == "cut ? here"


def test_infinite_numbers_are_refused_before_they_make_a_line_unreadable() -> None:
    with pytest.raises(InputError, match=r"AgentInfo: temperature .*finite"):
        AgentInfo(name="a", temperature=float("nan"))


def test_real_recordings_read_plain_gzip_and_as_a_store(shared_data: Path, tmp_path: Path) -> None:
    recorded = shared_data / "recordings" / "qwen2.5-coder-1.5b" / "ehrsql2024.jsonl.gz"
    runs = list(read_trajectories(recorded))
    assert len(runs) == 281
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(gzip.decompress(recorded.read_bytes()))
    assert list(read_trajectories(plain)) == runs
    with TrajectoryStore.open(
        tmp_path / "store", manifest=StoreManifest(agent=runs[0].agent)
    ) as store:
        for run in runs:
            store.append(run)
    assert list(read_trajectories(tmp_path / "store")) == runs


# --- crashes ----------------------------------------------------------------------------------


CUTS = pytest.mark.parametrize("stride", [23, pytest.param(1, marks=pytest.mark.slow)])


def small_runs(count: int) -> list[Trajectory]:
    step = make_step(action="final_sql", thought=None)
    return [make_trajectory(f"q{number}", "n?", steps=[step]) for number in range(count)]


def cuts(data: bytes, stride: int) -> Iterator[tuple[int, list[str], bool]]:
    """Yield places to cut at, which runs are whole before them, and whether a line is torn."""
    ends = [position for position, byte in enumerate(data) if byte == ord("\n")]
    for cut in range(len(data) + 1):
        if cut % stride == 0 or min(abs(cut - end) for end in (0, *ends)) <= 3:
            # A record that lacks its newline only is whole.
            whole = [f"q{number}" for number, end in enumerate(ends) if cut >= end]
            yield cut, whole, cut not in (0, *ends, *(end + 1 for end in ends))


@CUTS
@pytest.mark.parametrize("of_older_version", [False, True])
def test_a_writer_that_dies_at_any_byte_loses_no_whole_record_and_the_store_goes_on(
    tmp_path: Path, stride: int, of_older_version: bool
) -> None:
    runs = small_runs(3)
    folder = tmp_path / "store"
    file, count = folder / "trajectories.jsonl", folder / "trajectories.jsonl.count"
    counts = []
    for number in range(3):
        write(folder, *runs[:number][-1:])
        counts.append(count.read_bytes())
    data = b"".join(map(encode, runs[:2])) if of_older_version else file.read_bytes()
    for cut, whole, torn in cuts(data, stride):
        file.write_bytes(data[:cut])
        if of_older_version:
            count.unlink()
        else:
            count.write_bytes(counts[data[:cut].count(b"\n")])  # only what was acknowledged
        assert ids(folder) == whole
        with TrajectoryStore.open(folder) as store:
            assert store.ids == set(whole)
            assert (store.set_aside > 0) == torn
            store.append(runs[2])
        assert ids(folder) == [*whole, "q2"]


@CUTS
def test_a_store_cut_anywhere_says_how_many_runs_are_missing_and_stays_as_it_is(
    tmp_path: Path, stride: int
) -> None:
    folder = tmp_path / "store"
    write(folder, *small_runs(3))
    file = folder / "trajectories.jsonl"
    data = file.read_bytes()
    for cut, whole, _ in cuts(data, stride):
        if len(whole) == 3:
            continue
        file.write_bytes(data[:cut])
        lost = 3 - len(whole)
        told = "1 line is missing" if lost == 1 else f"{lost} lines are missing"
        for read in (lambda: ids(folder), lambda: TrajectoryStore.open(folder)):
            with pytest.raises(StoreError, match=rf"trajectories\.jsonl: cut short, {told}"):
                read()
        assert file.read_bytes() == data[:cut]


def test_incomplete_line_is_moved_aside_and_kept(tmp_path: Path) -> None:
    write(tmp_path / "s", make_trajectory("q1"))
    with (tmp_path / "s" / "trajectories.jsonl").open("ab") as records:
        records.write(b'{"format": "sentinel-tra')
    with TrajectoryStore.open(tmp_path / "s") as store:
        assert store.set_aside == 24
    assert (tmp_path / "s" / "trajectories.torn").read_bytes() == b'{"format": "sentinel-tra\n'


def test_a_store_without_records_or_with_a_torn_one_only_is_empty(tmp_path: Path) -> None:
    write(tmp_path / "s")
    assert ids(tmp_path / "s") == []
    (tmp_path / "s" / "trajectories.jsonl").unlink()
    with TrajectoryStore.open(tmp_path / "s") as store:
        assert store.ids == set()


@pytest.mark.parametrize("broken", ["write", "fsync"])
def test_a_full_disk_loses_nothing_acknowledged_and_leaves_no_half_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with TrajectoryStore.open(tmp_path / "s", manifest=MANIFEST) as store:
        store.append(make_trajectory("q1"))
        monkeypatch.setattr(f"sentinel_sql.storage.append_log.os.{broken}", full)
        with pytest.raises(StoreError, match=r"No space left.*free the disk"):
            store.append(make_trajectory("q2"))
        monkeypatch.undo()
        assert "q2" not in store.ids
        with pytest.raises(StoreError):  # only opening anew tells what is on the disk
            store.append(make_trajectory("q3"))
    assert ids(tmp_path / "s") == ["q1"]
    write(tmp_path / "s", make_trajectory("q2"))
    assert ids(tmp_path / "s") == ["q1", "q2"]


# --- several writers --------------------------------------------------------------------------


def test_many_threads_write_through_one_store_and_each_run_is_there_once(tmp_path: Path) -> None:
    seen_late: list[str] = []
    with TrajectoryStore.open(tmp_path / "s", manifest=MANIFEST) as store:

        def work(worker: int) -> None:
            for number in range(15):
                name = f"{worker}-{number}"
                store.append(make_trajectory(name))
                if number % 5 == 0 and name not in ids(tmp_path / "s"):
                    seen_late.append(name)

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen_late == []
    assert sorted(ids(tmp_path / "s")) == sorted(f"{w}-{n}" for w in range(8) for n in range(15))


def test_a_run_is_acknowledged_after_its_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = 0
    real = os.fsync

    def slow_sync(descriptor: int) -> None:
        nonlocal synced
        time.sleep(0.05)
        real(descriptor)
        synced = os.fstat(descriptor).st_size

    with TrajectoryStore.open(tmp_path / "s", manifest=MANIFEST) as store:
        monkeypatch.setattr("sentinel_sql.storage.append_log.os.fsync", slow_sync)
        store.append(make_trajectory("q1"))
        assert synced == (tmp_path / "s" / "trajectories.jsonl").stat().st_size > 0


def test_second_process_learns_who_writes(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from sentinel_sql.trajectory.store import TrajectoryStore\n"
        "with TrajectoryStore.open(sys.argv[1]): print('open', flush=True); sys.stdin.read()\n"
    )
    write(tmp_path / "s", make_trajectory("q1"))
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "s")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(StoreError, match=f"process {holder.pid} on"):
            TrajectoryStore.open(tmp_path / "s")
        assert ids(tmp_path / "s") == ["q1"]  # reading needs no lock
        holder.stdin.close()
    with TrajectoryStore.open(tmp_path / "s") as store:
        assert store.ids == {"q1"}


# --- refusals ---------------------------------------------------------------------------------


def test_no_question_twice(tmp_path: Path) -> None:
    with TrajectoryStore.open(tmp_path / "s", manifest=MANIFEST) as store:
        store.append(make_trajectory("q1"))
        with pytest.raises(StoreError, match="q1 is in the store already"):
            store.append(make_trajectory("q1"))
    assert ids(tmp_path / "s") == ["q1"]


def test_another_agents_run_is_refused_with_both_fingerprints(tmp_path: Path) -> None:
    other = AgentInfo(name="react", model="other", max_steps=8, temperature=0.0)
    write(tmp_path / "s")
    both = r"react \| scripted.*react \| other.*another store"
    with pytest.raises(StoreError, match=both):
        TrajectoryStore.open(tmp_path / "s", manifest=StoreManifest(agent=other))
    with (
        TrajectoryStore.open(tmp_path / "s") as store,
        pytest.raises(StoreError, match=both),
    ):
        store.append(make_trajectory("q1", agent=other))


def test_another_database_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "s")
    with pytest.raises(StoreError, match="database is tiny, but these have other"):
        TrajectoryStore.open(tmp_path / "s", manifest=StoreManifest(agent=AGENT, database="other"))


def test_a_closed_store_takes_nothing(tmp_path: Path) -> None:
    store = TrajectoryStore.open(tmp_path / "s", manifest=MANIFEST)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.append(make_trajectory("q1"))


def test_files_are_private(tmp_path: Path) -> None:
    write(tmp_path / "s", make_trajectory("q1"))
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o700
    for file in (tmp_path / "s").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name


def test_reading_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "s", make_trajectory("q1"))
    with (tmp_path / "s" / "trajectories.jsonl").open("ab") as records:
        records.write(b'{"torn')
    (tmp_path / "s" / "store.lock").unlink()
    before = {file.name: file.read_bytes() for file in (tmp_path / "s").iterdir()}
    assert ids(tmp_path / "s") == ["q1"]
    assert before == {file.name: file.read_bytes() for file in (tmp_path / "s").iterdir()}


GOOD = encode(make_trajectory("q1"))
SECRET = b'{"format": "sentinel-trajectory/1", "question": {"id": "q2", "text": "heparin 7"}}\n'


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (GOOD + SECRET, r"line 2: .*field agent: Field required"),
        (GOOD + b"\n" + b"heparin 7\n", "line 3: not JSON"),
        (GOOD + b'["heparin 7"]\n', "line 2: not a sentinel-trajectory/1 record"),
        (
            GOOD.replace(b"sentinel-trajectory/1", b"sentinel-trajectory/2"),
            "line 1: format sentinel-trajectory/2.*reads sentinel-trajectory/1 only; upgrade",
        ),
        (GOOD + GOOD, "line 2: question q1 is in it twice"),
        (GOOD + GOOD[:-40], "line 2: the last line is cut off"),
        (gzip.compress(GOOD * 1, mtime=0)[:-12], "gzip data are damaged"),
        (gzip.compress(GOOD, mtime=0)[:40] + b"heparin 7 heparin 7", "gzip data are damaged"),
    ],
)
def test_a_bad_file_is_named_with_its_line_and_never_quoted(
    tmp_path: Path, data: bytes, told: str
) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_bytes(data)
    with pytest.raises(StoreError, match=told) as caught:
        list(read_trajectories(file))
    assert "runs.jsonl" in str(caught.value)
    assert "heparin" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_line_within_a_store_is_not_taken_for_a_torn_tail(tmp_path: Path) -> None:
    write(tmp_path / "s", make_trajectory("q1"))
    file = tmp_path / "s" / "trajectories.jsonl"
    file.write_bytes(b"damaged\n" + file.read_bytes())
    with pytest.raises(StoreError, match="line 1"):
        TrajectoryStore.open(tmp_path / "s")
    with pytest.raises(StoreError, match="line 1"):
        ids(tmp_path / "s")
    file.write_bytes(b"mended\n"[:0] + GOOD)
    with TrajectoryStore.open(tmp_path / "s") as store:  # the failed opening freed the lock
        assert store.ids == {"q1"}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda at: None, "no such file"),
        (lambda at: at.mkdir(), "no store here"),
    ],
)
def test_where_nothing_is_the_path_is_named(tmp_path: Path, make: Any, told: str) -> None:
    make(tmp_path / "nowhere")
    with pytest.raises(StoreError, match=told):
        list(read_trajectories(tmp_path / "nowhere"))
    with pytest.raises(StoreError, match="no store here"):
        TrajectoryStore.open(tmp_path / "nowhere")


def test_a_store_is_not_made_of_a_file_nor_of_records_without_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="can't be written"):
        TrajectoryStore.open(tmp_path / "file", manifest=MANIFEST)
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose" / "trajectories.jsonl").write_bytes(GOOD)
    with pytest.raises(StoreError, match="so the agent of these runs is unknown"):
        TrajectoryStore.open(tmp_path / "loose", manifest=MANIFEST)
    assert (tmp_path / "loose" / "trajectories.jsonl").read_bytes() == GOOD


def test_a_gzip_file_in_a_stores_place_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "s")
    file = tmp_path / "s" / "trajectories.jsonl"
    file.write_bytes(gzip.compress(GOOD))
    with pytest.raises(StoreError, match="unpack it"):
        TrajectoryStore.open(tmp_path / "s")
    assert ids(tmp_path / "s") == ["q1"]


def test_the_manifest_tells_whose_runs_these_are(tmp_path: Path) -> None:
    write(tmp_path / "s")
    assert read_manifest(tmp_path / "s") == MANIFEST
    assert read_manifest(tmp_path / "none") is None
    (tmp_path / "s" / "store.json").write_text("{}")
    with pytest.raises(StoreError, match=r"store\.json"):
        TrajectoryStore.open(tmp_path / "s", manifest=MANIFEST)


@settings(deadline=None, max_examples=30)
@given(st.binary(max_size=60))
def test_bytes_that_are_no_trajectories_give_a_store_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.mktemp("any") / "runs.jsonl"
    file.write_bytes(data)
    if data.strip():
        with pytest.raises(StoreError, match=r"runs\.jsonl"):
            list(read_trajectories(file))
    else:
        assert ids(file) == []


@pytest.mark.slow
def test_three_thousand_runs_are_read_in_a_second_of_processor_time(
    shared_data: Path, tmp_path: Path
) -> None:
    recorded = shared_data / "recordings" / "qwen2.5-coder-1.5b" / "ehrsql2024.jsonl.gz"
    data = gzip.decompress(recorded.read_bytes())
    (tmp_path / "runs.jsonl").write_bytes(data)
    started = time.process_time()
    for _ in range(5):
        assert sum(1 for _ in read_trajectories(tmp_path / "runs.jsonl")) == 281
    assert 5 * 281 / (time.process_time() - started) > 3_000


DEEP = b'{"x":' + b"[" * 100_000


def test_a_line_that_nests_too_deep_is_damaged_in_a_file_and_torn_in_a_store(
    tmp_path: Path,
) -> None:
    write(tmp_path / "store", make_trajectory("a"))
    records = tmp_path / "store" / "trajectories.jsonl"
    (tmp_path / "file.jsonl").write_bytes(records.read_bytes() + DEEP + b"\n")
    with pytest.raises(StoreError, match="line 2"):
        ids(tmp_path / "file.jsonl")
    with records.open("ab") as file:
        file.write(DEEP)
    assert ids(tmp_path / "store") == ["a"]
    with TrajectoryStore.open(tmp_path / "store") as store:
        assert store.set_aside == len(DEEP)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_like_a_file(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = pack(b"".join(map(encode, (make_trajectory("a"), make_trajectory("b")))))
    feeder = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    feeder.start()
    assert ids(pipe) == ["a", "b"]
    feeder.join(10)


def test_an_id_that_could_not_be_written_as_it_is_is_refused(tmp_path: Path) -> None:
    with TrajectoryStore.open(tmp_path, manifest=MANIFEST) as store:
        for name in ("a\ud800", "a\ud801"):
            with pytest.raises(StoreError, match="surrogate"):
                store.append(make_trajectory(name))
        store.append(make_trajectory("b"))
    assert ids(tmp_path) == ["b"]


@pytest.mark.parametrize("count", [-1, 2**53 + 1, 10**400])
def test_a_count_that_no_float_holds_is_refused_by_its_field(count: int) -> None:
    line = json.loads(encode(make_trajectory(steps=[make_step(1)])))
    line["steps"][0]["usage"] = {"completion_tokens": count}
    with pytest.raises(StoreError, match=r"usage\.completion_tokens"):
        decode(json.dumps(line).encode(), where="here")
