"""One command leads from a file of questions to a report, and says first what they can show."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ward
from sentinel_sql.cli.main import app
from sentinel_sql.database.coverage.cover import open_grounder
from sentinel_sql.database.opening import open_database
from sentinel_sql.errors import InputError
from sentinel_sql.pipeline.learning.made_questions import MADE, make_unanswerable
from sentinel_sql.pipeline.learning.sample_size import what_can_be_shown
from sentinel_sql.questions.pools import FRACTIONS, PoolName, Pools, make_pools
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question
from sentinel_sql.testing import ScriptedEndpoint
from sentinel_sql.trajectory.store import read_trajectories

CLOCK = "2100-12-31 23:59:00"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ward")
    ward.write(folder)
    return folder


def start(place: Path, folder: Path, *more: str) -> tuple[int, str]:
    done = CliRunner().invoke(
        app,
        [
            *("start", str(place / "questions.csv"), "--database", str(place / "ward.sqlite")),
            *("--clock", CLOCK, "--folder", str(folder), *more),
        ],
    )
    return done.exit_code, done.output


def test_a_project_ends_in_a_report_and_goes_on_where_it_stopped(
    place: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib absent: install the extra report")
    folder = tmp_path / "project"
    with ScriptedEndpoint(ward.chat) as endpoint:
        asks = ("--base-url", endpoint.url, "--model", "ward-model")
        code, said = start(place, folder, *asks)
        assert code == 0, said[-2000:]
        assert "to learn from" in said
        html = (folder / "report" / "report.html").read_text()
        assert "Deploy at" in html or "Not yet:" in html or "Don&#39;t deploy:" in html
        assert "Would something simpler do?" in html
        runs = list(read_trajectories(folder / "runs"))
        assert all(run.question.coverage is not None for run in runs)
        (folder / "report" / "report.html").unlink()
        again, _ = start(place, folder, *asks)
    assert again == 0
    assert len(list(read_trajectories(folder / "runs"))) == len(runs)
    assert (folder / "report" / "report.html").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "give --base-url and --model of an endpoint, or --runs"),
        (("--base-url", "http://127.0.0.1:9/v1"), "give --base-url and --model"),
        (("--runs", "none", "--make-unanswerable", "3"), "holds no run of a made question"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    place: Path, tmp_path: Path, more: tuple[str, ...], words: str
) -> None:
    arguments = [
        *("start", str(place / "questions.csv"), "--database", str(place / "ward.sqlite")),
        *("--folder", str(tmp_path / "p"), *more),
    ]
    with pytest.raises(InputError, match=words):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert not (tmp_path / "p").exists()


def test_a_file_in_the_place_of_the_folder_is_named(place: Path, tmp_path: Path) -> None:
    (tmp_path / "p").write_text("mine")
    arguments = [
        *("start", str(place / "questions.csv"), "--database", str(place / "ward.sqlite")),
        *("--folder", str(tmp_path / "p"), "--dry-run", "--make-unanswerable", "1"),
    ]
    with pytest.raises(InputError, match="is no folder: name another one"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert (tmp_path / "p").read_text() == "mine"


def test_made_questions_ask_for_what_nothing_holds_and_are_marked(place: Path) -> None:
    asked = read_questions([place / "questions.csv"])
    with (
        open_database(place / "ward.sqlite", clock=CLOCK) as database,
        open_grounder(database) as grounder,
    ):
        made = make_unanswerable(asked, grounder, count=12)
        assert made == make_unanswerable(asked, grounder, count=12)
        assert len(made) == len({it.text for it in made}) == 12
        for question in made:
            thing = str(question.template).removeprefix(f"{MADE}: ")
            assert thing in question.text
            unheld = [phrase.text for phrase in grounder.ground(question.text).unheld]
            assert any(word in thing for word in unheld)
    assert not any(it.answerable or it.gold_sql for it in made)
    pools = make_pools([*asked, *made])
    of_thing: dict[str, set[str]] = {}
    for it in made:
        of_thing.setdefault(str(it.template), set()).add(pools.pool_of(it.id))
    assert all(len(where) == 1 for where in of_thing.values())


def test_a_dry_run_with_made_questions_writes_them_and_asks_nobody(
    place: Path, tmp_path: Path
) -> None:
    code, _ = start(place, tmp_path / "p", "--make-unanswerable", "5", "--dry-run")
    assert code == 0
    with (tmp_path / "p" / "made-questions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["answerable"] for row in rows] == ["0"] * 5
    assert all(row["template"].startswith(MADE) for row in rows)
    assert not (tmp_path / "p" / "runs").exists()


def some(kinds: int, *, unanswerable: int = 0) -> tuple[list[Question], Pools]:
    asked = [
        Question(
            id=f"q{number}-{again}",
            text="how many?",
            answerable=number >= unanswerable,
            gold_sql="SELECT 1" if number >= unanswerable else None,
        )
        for number in range(kinds)
        for again in range(4)
    ]
    order: tuple[PoolName, ...] = ("train", "calibration", "train", "heldout")
    pools = Pools(
        seed=1,
        fractions=FRACTIONS,
        pools={f"t{number}": order[number % 4] for number in range(kinds)},
        templates={it.id: f"t{it.id[1:].partition('-')[0]}" for it in asked},
    )
    return asked, pools


def test_what_can_be_shown_grows_with_the_kinds_of_question() -> None:
    few, many = some(12, unanswerable=3), some(400, unanswerable=80)
    said, more = (" ".join(what_can_be_shown(*it)) for it in (few, many))
    assert "carry no gate" in said
    assert "carry no gate" not in more
    assert "refusing can't be learned" in " ".join(what_can_be_shown(*some(40)))
    limits = [float(text.partition("up to λ = ")[2].split(".")[0]) for text in (said, more)]
    assert limits[0] < limits[1]


def test_a_small_clinic_gets_a_verdict_and_loses_no_good_question(tmp_path: Path) -> None:
    shared = os.environ.get("SENTINEL_SHARED")
    if not shared or not (clinic := Path(shared) / "cases" / "small_clinic").is_dir():
        pytest.skip("no small clinic here")
    pytest.importorskip("matplotlib", reason="matplotlib absent: install the extra report")
    import lzma

    database = tmp_path / "clinic.sqlite"
    database.write_bytes(lzma.decompress((clinic / "clinic.sqlite.xz").read_bytes()))
    done = CliRunner().invoke(
        app,
        [
            *("start", str(clinic / "questions.csv"), "--database", str(database)),
            *("--runs", str(clinic / "runs.jsonl.gz"), "--folder", str(tmp_path / "p")),
        ],
    )
    assert done.exit_code == 0, done.output[-2000:]
    assert "Not yet:" in (tmp_path / "p" / "report" / "report.html").read_text()
    with (tmp_path / "p" / "evaluation" / "tables" / "ladder.csv").open() as file:
        rows = {(row["system"], row["stakes"]): row for row in csv.DictReader(file)}
    assert rows["gate", "1.0"]["coverage"] == rows["vanilla", "1.0"]["coverage"]
