"""Settings of a project: flag before environment before file, for every verb alike."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer

from command_project import Project, Sentinel
from sentinel_sql.cli.main import app
from sentinel_sql.cli.settings import (
    OPTIONS,
    SETTINGS,
    UNTOUCHED,
    Settings,
    read_settings,
    variable_of,
)
from sentinel_sql.errors import InputError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def whole_project(project: Project) -> str:
    return f"""
questions = "{project.questions}"
database = "{project.database}"
store = "{project.store}"
pools = "{project.pools}"
labels = "{project.labels}"
monitor = "{project.monitor}"
"""


def test_verbs_need_no_option_that_the_file_gives(
    fitted: Project, sentinel: Sentinel, here: Path
) -> None:
    (here / "sentinel.toml").write_text(
        whole_project(fitted).replace(fitted.pools, "p.json").replace(fitted.labels, "l.jsonl")
    )
    for verb in (("questions", "pools"), ("label",), ("questions", "check")):
        call = sentinel(*verb)
        assert call.code == 0, call.err
    assert (here / "p.json").is_file()
    assert (here / "l.jsonl").is_file()


def test_a_flag_wins_over_the_environment_and_that_over_the_file(
    fitted: Project, sentinel: Sentinel, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "sentinel.toml").write_text(whole_project(fitted) + "stakes = [2]\n")

    def shown_stakes(*words: str) -> object:
        run = next(iter(json.loads(Path(fitted.questions).read_text().splitlines()[0]).values()))
        call = sentinel("show", fitted.store, run, "--json", *words)
        assert call.code == 0, call.err
        return call.document["stakes"]

    assert shown_stakes() == 2
    monkeypatch.setenv("SENTINEL_STAKES", "3")
    assert shown_stakes() == 3
    assert shown_stakes("--stakes", "5") == 5


def test_paths_are_relative_to_the_file_and_addresses_stay(here: Path) -> None:
    (here / "inner").mkdir()
    file = here / "inner" / "mine.toml"
    file.write_text('database = "postgresql://h/d"\nstore = "runs"\nquestions = ["a", "b"]\n')
    values = read_settings(file, {}).values
    assert values["database"] == "postgresql://h/d"
    assert values["store"] == str(here / "inner" / "runs")
    assert values["questions"] == [str(here / "inner" / "a"), str(here / "inner" / "b")]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ('databse = "x"', "'databse': did you mean database?"),
        ('[endpoint]\nmodle = "x"', "'endpoint.modle': did you mean endpoint.model?"),
        ("stakes = true", "stakes must be a number, or a list of numbers"),
        ("stakes = []", "stakes must be"),
        ("database = 3", "database must be a path in quotes"),
        ('[endpoint]\ntimeout = "x"', "endpoint.timeout must be a number"),
        ("[endpoint]\nworkers = 1.5", "endpoint.workers must be a whole number"),
        ("endpoint = 3", "there is no setting 'endpoint'"),
        ("database = ", "isn't TOML"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_the_setting(
    sentinel: Sentinel, here: Path, text: str, remedy: str
) -> None:
    (here / "sentinel.toml").write_text(text)
    call = sentinel("doctor")
    assert call.code == 2
    assert remedy in call.err
    assert call.err.count("\n") == 1


def test_bytes_that_are_no_text_are_refused(sentinel: Sentinel, here: Path) -> None:
    (here / "sentinel.toml").write_bytes(b"\xff\xfe")
    assert "isn't UTF-8" in sentinel("doctor").err
    assert "can't be read" in sentinel("--settings", "absent.toml", "doctor").err


def test_help_needs_no_settings(sentinel: Sentinel, here: Path) -> None:
    (here / "sentinel.toml").write_text("nonsense")
    assert sentinel("fit", "--help").code == 0


def test_an_environment_variable_of_the_wrong_kind_is_named_and_its_value_isnt(here: Path) -> None:
    for name, text in (("SENTINEL_STAKES", "s3cret"), ("SENTINEL_WORKERS", "s3cret")):
        with pytest.raises(InputError, match=name) as caught:
            read_settings(None, {name: text})
        assert "s3cret" not in str(caught.value)


def test_doctor_names_settings_and_shows_no_value(
    sentinel: Sentinel, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "sentinel.toml").write_text('clock = "2100-01-01 00:00:00"\nlabels = "s3cret"\n')
    monkeypatch.setenv("SENTINEL_REPORT", "elsewhere")
    call = sentinel("doctor", "--json")
    found = {finding["name"]: finding for finding in call.document["findings"]}["settings"]
    assert found["detail"] == "sentinel.toml: clock, labels, report (SENTINEL_REPORT)"


def verbs(group: typer.core.TyperGroup, path: str = "") -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, verb in group.commands.items():
        full = f"{path} {name}".strip()
        if isinstance(verb, typer.core.TyperGroup):
            found |= verbs(verb, full)
        else:
            found[full] = {parameter.name or "" for parameter in verb.params}
    return found


def test_every_setting_fills_an_option_and_every_row_of_the_table_is_one() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    there = verbs(group)
    used: set[str] = set()
    for verb, parameters in there.items():
        if verb.split()[0] in UNTOUCHED:
            continue
        table = {**OPTIONS["*"], **OPTIONS.get(verb, {})}
        used |= {table[name] for name in parameters if table.get(name)}
    assert sorted(set(SETTINGS) - used) == []
    for verb, table in OPTIONS.items():
        if verb != "*":
            assert set(table) <= there[verb], verb


def test_two_settings_never_share_an_environment_variable() -> None:
    assert len({variable_of(name) for name in SETTINGS}) == len(SETTINGS)
    assert all(re.fullmatch(r"SENTINEL_[A-Z_]+", variable_of(name)) for name in SETTINGS)


def test_no_file_and_no_variable_are_no_settings(here: Path) -> None:
    assert read_settings(None, {}) == Settings(file=None, values={}, sources={})
