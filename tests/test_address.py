"""No address is shown with its password, key or query."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sentinel_sql.address import kind_of_address, shown_address, without_secrets

SECRETS = [
    "postgresql://me:s3cret@host:5432/ward",
    "postgresql+psycopg://me:s3cret@host/ward",
    "postgresql:/me:s3cret@host/ward",
    "duckdb:///s3cret@folder?password=s3cret",
    "https://host/v1?key=s3cret",
    "https://me:s3/cret@host/v1#s3cret",
    "mysql://s3cret@host",
]

BARE_SECRETS = [
    "host=h user=me password=s3cret",
    "host=h password = 's3 cret' user=me",
    "Server=h;User Id=me;Pwd=s3cret;Database=ward",
    "me:s3cret@host/ward",
    "PG:me:s3/cret@host",
    "file:ward.sqlite?mode=ro&key=s3cret",
    "http://host/v1;api_key=s3cret",
    "http://host/v1 with access_token=s3cret",
]


@pytest.mark.parametrize("address", BARE_SECRETS)
def test_secrets_in_other_forms_are_left_out_of_a_message(address: str) -> None:
    assert "cret" not in without_secrets(f"database {address} isn't there; give a path")


@pytest.mark.parametrize("address", SECRETS)
def test_secrets_are_left_out_alone_and_in_a_message(address: str) -> None:
    assert "cret" not in shown_address(address).replace("folder", "")
    assert "cret" not in without_secrets(f"database {address} isn't there; ('{address}')")


@pytest.mark.parametrize(
    "text",
    [
        "https://host:8080/v1/models is down",
        "see docs/reference/formats.md",
        "runs/mine: 3 runs",
        "write to me@example.org",
        "C:/data",
        "ratio 3:/4",
        "q1: me@example.org asked, at 12:30 @ward",
        "the keys of patients are id = 3",
        "monkeys = 3",
    ],
)
def test_messages_without_secrets_stay_as_they_are(text: str) -> None:
    assert without_secrets(text) == text


@given(
    st.sampled_from(["postgresql://", "postgresql:/", "http://", "mysql+pymysql://"]),
    st.text("abc:/.%", min_size=1),
)
def test_no_password_comes_through(kind: str, noise: str) -> None:
    assert "S3CRET" not in without_secrets(f"{kind}{noise}S3CRET@host/ward can't be opened")


def test_a_path_is_no_address() -> None:
    assert kind_of_address("runs/mine.sqlite") is None
    assert kind_of_address("C:/ward.sqlite") is None
    assert kind_of_address(str(Path("postgresql://h/d"))) == "postgresql"
    assert kind_of_address("postgresql+psycopg://h/d") == "postgresql"
