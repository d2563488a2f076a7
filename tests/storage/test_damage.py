"""Whatever is stored, one damaged bit is found: it is refused, or what is read is as it was."""

from __future__ import annotations

import gzip
import json
import random
import re
import subprocess
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from sentinel_sql.errors import BundleError, SentinelError, StoreError, UncheckedWarning
from sentinel_sql.evaluation_store import folder as evaluations
from sentinel_sql.evaluation_store.record import Evaluation
from sentinel_sql.evaluation_store.spending import record_spending, spending_log
from sentinel_sql.evaluation_store.views import read_views
from sentinel_sql.labels.file import read_labels, write_labels
from sentinel_sql.labels.verdicts import StoredVerdict, VerdictLog, read_verdicts
from sentinel_sql.monitor import bundle
from sentinel_sql.pipeline.evaluate import evaluate
from sentinel_sql.pipeline.run_views import sample
from sentinel_sql.questions.pools import Pools
from sentinel_sql.rivals.confidences import (
    Confidence,
    ConfidencesManifest,
    ConfidenceStore,
    read_confidences,
)
from sentinel_sql.storage.append_log import AppendLog, read_count
from sentinel_sql.storage.checksums import read_lines, with_checksum
from sentinel_sql.trajectory.codec import encode
from sentinel_sql.trajectory.store import (
    StoreManifest,
    TrajectoryStore,
    read_manifest,
    read_trajectories,
)
from small_runs import AGENT, fitted, header

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"


@dataclass(frozen=True)
class Kind:
    """Something stored: how it is made at a place, and how all of it is read back."""

    write: Callable[[Path], object]
    read: Callable[[Path], object]


def write_store(place: Path) -> None:
    with TrajectoryStore.open(place, manifest=StoreManifest(agent=AGENT, clock="now")) as store:
        for run in fitted()[1][:12]:
            store.append(run)


def write_confidences(place: Path) -> None:
    with ConfidenceStore.open(place, manifest=ConfidencesManifest(agent=AGENT)) as store:
        for number in range(12):
            store.append(
                Confidence(
                    run=f"q{number}", answer="x", method="p-true", score=0.5, calls=1, seconds=0.1
                )
            )


def write_verdicts(place: Path) -> None:
    place.mkdir()
    with VerdictLog.open(place / "verdicts") as log:
        for number in range(12):
            log.add(
                StoredVerdict(
                    question_id=f"q{number}",
                    case_sha256="ab" * 32,
                    model="judge",
                    prompt_sha256="cd" * 32,
                    correct=True,
                    tries=1,
                )
            )


@cache
def evaluated() -> Evaluation:
    monitor, runs, pools, labels = fitted()
    made = evaluate(monitor, runs, pools, labels, stakes=(1.0,))
    return replace(made, views=tuple(sample(made, monitor, runs, labels, most=6)))


def write_evaluation(place: Path) -> None:
    evaluations.save(evaluated(), place)


def read_evaluation(place: Path) -> object:
    found = evaluations.read(place)
    columns = evaluations.columns_of(found.evidence)
    views = read_views(place, most=10, size=10**7)
    return (
        found.document,
        found.tables,
        found.rows,
        views,
        [v.tobytes() for v in columns.values()],
    )


def write_labels_file(place: Path) -> None:
    place.mkdir()
    write_labels(place / "labels.jsonl", header(), list(fitted()[3].values())[:12])


def read_bundle(place: Path) -> object:
    its = bundle.load(place)
    columns = its.calibration.to_columns().values()
    return its.agent, its.facts, its.thresholds, [v.tobytes() for v in columns]


def write_pools(place: Path) -> None:
    place.mkdir()
    fitted()[2].write(place / "pools.json")


KINDS = {
    "store": Kind(write_store, lambda at: (read_manifest(at), list(read_trajectories(at)))),
    "labels": Kind(write_labels_file, lambda at: read_labels(at / "labels.jsonl")),
    "confidences": Kind(write_confidences, read_confidences),
    "verdicts": Kind(write_verdicts, lambda at: read_verdicts(at / "verdicts")),
    "pools": Kind(write_pools, lambda at: Pools.read(at / "pools.json")),
    "evaluation": Kind(write_evaluation, read_evaluation),
    "bundle": Kind(lambda at: bundle.save(fitted()[0], at), read_bundle),
}


@pytest.mark.parametrize("flips", [12, pytest.param(80, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_no_flipped_bit_is_silent(tmp_path: Path, kind: str, flips: int) -> None:
    its, place = KINDS[kind], tmp_path / "stored"
    its.write(place)
    whole = its.read(place)
    files = sorted(
        path for path in place.rglob("*") if path.is_file() and not path.name.endswith("lock")
    )
    moments = random.Random(7)
    refused: list[tuple[str, str]] = []
    for number in range(flips):
        path = files[number % len(files)]
        data = path.read_bytes()
        at, bit = moments.randrange(len(data)), 1 << moments.randrange(8)
        path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
        try:
            found = its.read(place)
        except SentinelError as error:
            refused.append((path.name, str(error)))
        else:
            assert found == whole, f"{path.name}, byte {at}, bit {bit}"
        path.write_bytes(data)
    assert len(refused) > flips * 0.9
    for name, said in refused:
        assert name in said or str(place) in said
        assert "\n" not in said
    assert its.read(place) == whole


@pytest.mark.parametrize("kind", ["store", "labels", "confidences", "verdicts"])
def test_every_flip_in_a_line_is_refused_and_names_file_and_remedy(
    tmp_path: Path, kind: str
) -> None:
    its, place = KINDS[kind], tmp_path / "stored"
    its.write(place)
    (path,) = [
        path
        for path in place.iterdir()
        if path.suffix in (".jsonl", "") and path.stat().st_size > 900
    ]
    data = path.read_bytes()
    moments = random.Random(3)
    seals = [match.start() for match in re.finditer(rb',"line":', data)]
    # Every byte of the first and the last checksum, and some bytes elsewhere.
    places = {*range(seals[0], seals[0] + 30), *range(seals[-1], len(data))}
    for at in sorted(places | {moments.randrange(len(data)) for _ in range(60)}):
        if at >= len(data):
            continue
        bit = 1 << moments.randrange(8)
        path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
        with pytest.raises(SentinelError) as caught:
            its.read(place)
        assert path.name in str(caught.value)
        assert re.search("restore|make it again|--verdicts", str(caught.value))


def test_no_flipped_bit_in_the_spending_record_is_silent(tmp_path: Path) -> None:
    look = dict.fromkeys(("pools", "runs", "monitor", "labels", "settings"), "ab" * 32)
    for number in range(3):
        assert record_spending(tmp_path / "m", look | {"runs": str(number)}) == number + 1
    log = spending_log(tmp_path / "m")
    data = log.read_bytes()
    moments = random.Random(5)
    for at in (moments.randrange(len(data)) for _ in range(40)):
        log.write_bytes(data[:at] + bytes([data[at] ^ 1 << moments.randrange(8)]) + data[at + 1 :])
        with pytest.raises(BundleError, match=r"spent\.jsonl.* move it away"):
            record_spending(tmp_path / "m", look)
    log.write_bytes(data)
    assert record_spending(tmp_path / "m", look) == 4


# --- lines that are missing, doubled or moved ----------------------------------------------------


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0, 1, 3], "line 3: 1 line is missing before it"),
        ([3], "line 1: 3 lines are missing before it"),
        ([0, 2, 1, 3], "line 2: 1 line is missing before it"),
        ([0, 1, 1, 2, 3], "line 3: out of place, it was written as line 2"),
        ([0, 1, 2], "cut short, 1 line is missing at its end"),
        ([], "cut short, 4 lines are missing at its end"),
    ],
)
def test_lines_that_are_missing_or_moved_are_counted(
    tmp_path: Path, order: list[int], said: str
) -> None:
    lines = [with_checksum(b'{"a":1}', line=number) for number in range(1, 5)]
    with pytest.raises(StoreError, match=f"log, ?.*{said}|log: {said}"):
        list(read_lines([lines[number] for number in order], file=Path("log"), expected=4))


def test_lines_of_an_older_version_may_stand_before_those_with_checksums(tmp_path: Path) -> None:
    runs = fitted()[1][:6]
    place = tmp_path / "store"
    write = KINDS["store"].write
    write(place)
    (place / "trajectories.jsonl").write_bytes(b"".join(map(encode, runs[:4])))
    (place / "trajectories.jsonl.count").unlink()
    with TrajectoryStore.open(place) as store:
        for run in runs[4:]:
            store.append(run)
    assert list(read_trajectories(place)) == runs
    lines = (place / "trajectories.jsonl").read_bytes().splitlines(keepends=True)
    assert [b'"crc32"' in line for line in lines] == [False] * 4 + [True] * 2
    (place / "trajectories.jsonl").write_bytes(b"".join(lines[1:]))
    with pytest.raises(StoreError, match="line 4: 1 line is missing before it"):
        list(read_trajectories(place))
    (place / "trajectories.jsonl").write_bytes(b"".join(lines[:4]))
    with pytest.raises(StoreError, match="2 lines are missing at its end"):
        list(read_trajectories(place))


def test_a_reader_beside_a_writer_sees_only_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with AppendLog.open(
        file, lock=tmp_path / "lock", torn=tmp_path / "torn", is_whole=lambda _: False
    ) as log:
        for number in range(30):
            log.append(b'{"a":%d}' % number)
            assert read_count(file) == number + 1
            with file.open("rb") as lines:
                found = list(read_lines(lines, file=file, expected=read_count(file)))
            assert [line.content for line in found] == [b'{"a":%d}' % n for n in range(number + 1)]


def test_the_page_shows_how_to_go_on_without_what_is_lost(tmp_path: Path) -> None:
    place = tmp_path / "store"
    write_store(place)
    file = place / "trajectories.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3] + lines[4:]))
    with pytest.raises(StoreError, match=r"docs/reference/formats\.md"):
        list(read_trajectories(place))
    (command,) = re.findall(r"```sh\n(sed .*?)```", DOCS.read_text(), re.DOTALL)
    subprocess.run(["/bin/sh", "-ec", command.replace("runs/qwen", str(place))], check=True)
    runs = fitted()[1][:12]
    assert list(read_trajectories(place)) == runs[:3] + runs[4:]
    with TrajectoryStore.open(place) as store:
        store.append(runs[3])
    assert list(read_trajectories(place)) == runs[:3] + runs[4:] + [runs[3]]


@pytest.mark.parametrize("kind", ["store", "confidences", "verdicts"])
def test_a_log_without_its_count_says_how_many_lines_are_read(tmp_path: Path, kind: str) -> None:
    its, place = KINDS[kind], tmp_path / "stored"
    its.write(place)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UncheckedWarning)
        whole = its.read(place)  # says nothing
    (count,) = place.glob("*.count")
    log = place / count.name.removesuffix(".count")
    count.unlink()
    with pytest.warns(UncheckedWarning, match=rf"12 lines are read, but {count.name} is missing"):
        assert its.read(place) == whole
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:7]))
    with pytest.warns(UncheckedWarning, match="7 lines are read"):
        its.read(place)


def test_a_copied_file_of_runs_without_its_count_says_so(tmp_path: Path) -> None:
    write_store(tmp_path / "store")
    lines = (tmp_path / "store" / "trajectories.jsonl").read_bytes()
    (tmp_path / "copy.jsonl").write_bytes(lines)
    with pytest.warns(UncheckedWarning, match=r"12 lines are read, but copy\.jsonl\.count"):
        assert len(list(read_trajectories(tmp_path / "copy.jsonl"))) == 12
    with gzip.open(tmp_path / "packed.jsonl.gz", "wb") as packed:
        packed.write(lines)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UncheckedWarning)
        assert len(list(read_trajectories(tmp_path / "packed.jsonl.gz"))) == 12


@pytest.mark.parametrize(("kind", "lines"), [("store", 12), ("confidences", 12), ("labels", 13)])
def test_lines_without_a_checksum_are_counted(tmp_path: Path, kind: str, lines: int) -> None:
    its, place = KINDS[kind], tmp_path / "stored"
    its.write(place)
    whole = its.read(place)
    (log,) = place.glob("*.jsonl")
    seal = rb',"line":[0-9]+,"crc32":"[0-9a-f]{8}"\}$'
    log.write_bytes(re.sub(seal, b"}", log.read_bytes(), flags=re.MULTILINE))
    for count in place.glob("*.count"):
        count.unlink()
    with pytest.warns(UncheckedWarning, match=rf"{lines} of {lines} lines have no checksum"):
        assert its.read(place) == whole


@pytest.mark.parametrize("score", [0.5, 1.0, 0.66, None])
def test_sampled_confidence_that_is_not_the_share_of_its_samples_is_refused(
    tmp_path: Path, score: float | None
) -> None:
    record = Confidence(
        run="q", answer="x", method="self-consistency", score=2 / 3,
        verdicts=("same", "same", "other"), calls=3, seconds=0.1,
    )  # fmt: skip
    with ConfidenceStore.open(tmp_path / "c", manifest=ConfidencesManifest(agent=AGENT)):
        pass
    older = record.model_dump(mode="json")
    (tmp_path / "c" / "confidences.jsonl").write_text(json.dumps(older) + "\n")
    assert read_confidences(tmp_path / "c")[1] == [record]
    (tmp_path / "c" / "confidences.jsonl").write_text(json.dumps(older | {"score": score}) + "\n")
    with pytest.raises(StoreError, match="line 1: no record of a confidence"):
        read_confidences(tmp_path / "c")


@pytest.mark.parametrize(
    "foreign",
    [
        {"score": "0.5"},
        {"score": True},
        {"score": 1.5},
        {"verdicts": ["same"]},
        {"temperature": -1.0},
        {"calls": 1.5},
        {"seconds": -0.1},
        {"run": 5},
        {"method": "guess"},
    ],
)
def test_foreign_confidence_is_refused_by_its_line(
    tmp_path: Path, foreign: dict[str, object]
) -> None:
    write_confidences(tmp_path / "c")
    file = tmp_path / "c" / "confidences.jsonl"
    record = {"run": "q", "answer": "x", "method": "verbalized", "score": 0.5, "calls": 1}
    file.write_text(json.dumps(record | {"seconds": 0.1} | foreign) + "\n")
    (tmp_path / "c" / "confidences.jsonl.count").unlink()
    with pytest.raises(StoreError, match="line 1: no record of a confidence"):
        read_confidences(tmp_path / "c")


@pytest.mark.slow
def test_reading_with_checksums_takes_about_as_long_as_without(tmp_path: Path) -> None:
    runs = [
        run.model_copy(update={"question": run.question.model_copy(update={"id": f"{n}-{at}"})})
        for n in range(5)
        for at, run in enumerate(fitted()[1][:200])
    ]
    lines = [encode(run) for run in runs]
    (tmp_path / "without").write_bytes(b"".join(lines))
    (tmp_path / "with").write_bytes(
        b"".join(with_checksum(line, line=number) for number, line in enumerate(lines, 1))
    )
    seconds = {"with": float("inf"), "without": float("inf")}
    for _ in range(7):
        for name in seconds:
            started = time.process_time()
            assert sum(1 for _ in read_trajectories(tmp_path / name)) == 1_000
            seconds[name] = min(seconds[name], time.process_time() - started)
    assert seconds["with"] < 1.2 * seconds["without"]
