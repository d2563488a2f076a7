"""One function opens every kind of database, and says what it can't open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sentinel_sql.database import opening
from sentinel_sql.database.executor import Database, Limits
from sentinel_sql.database.opening import open_database, register_database
from sentinel_sql.errors import DatabaseError, InputError


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "sqlite+pysqlite:///{}"])
def test_a_path_and_an_address_open_the_same_file(form: str, ward_file: Path) -> None:
    with open_database(form.format(ward_file), clock="2100-01-01 00:00:00") as database:
        assert database.execute("SELECT count(*) FROM patients").rows == ((2,),)
        assert (database.name, database.dialect) == (ward_file.stem, "sqlite")
        assert database.clock == "2100-01-01 00:00:00"


@pytest.mark.parametrize("address", ["mysql://a:secret@h/d", "oracle+cx://a:secret@h/d", "x9://h"])
def test_another_kind_is_named_without_its_password(address: str) -> None:
    with pytest.raises(DatabaseError, match=address.partition("+")[0].partition(":")[0]) as caught:
        open_database(address)
    assert "secret" not in str(caught.value)
    assert "register_database" in str(caught.value)


@pytest.mark.parametrize("address", [None, 5, b"x", ["x"], object()])
def test_what_is_no_address_is_an_input_error(address: Any) -> None:
    with pytest.raises(InputError, match=r"address= can.t be .*: give a text or a path"):
        open_database(address)


def test_an_own_kind_opens_through_its_own_opener(
    ward_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_registered", {})
    asked: list[tuple[str, str | None]] = []

    def open_ward(address: str, *, name: str | None, clock: str | None, limits: Limits) -> Database:
        asked.append((address, name))
        return open_database(ward_file, name=name, clock=clock, limits=limits)

    register_database("ward", open_ward)
    with open_database("ward://h/d", name="w", limits=Limits(rows=1)) as database:
        assert len(database.execute("SELECT id FROM patients").rows) == 1
    assert asked == [("ward://h/d", "w")]


@pytest.mark.parametrize("kind", ["sqlite", "A", "", "a b", "a:"])
def test_a_kind_that_is_taken_or_no_scheme_isnt_registered(kind: str) -> None:
    with pytest.raises(InputError, match="register"):
        register_database(kind, open_database)
