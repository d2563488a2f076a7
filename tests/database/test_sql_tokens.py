"""Tokens are cut where SQLite cuts them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.database.sqlite.safety import only_statement
from sentinel_sql.database.sqlite.sql_tokens import tokenize

# no NUL and no lone surrogates: SQLite itself can't be handed those
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20)
PIECES = st.lists(
    st.sampled_from(
        [
            "'",
            '"',
            "`",
            "[",
            "]",
            ";",
            "--",
            "/*",
            "*/",
            "\n",
            " ",
            "a",
            "x'00'",
            "''",
            "now",
            "1.5",
            "é",
            "select",
            "(",
            ")",
            ",",
        ]
    ),
    max_size=25,
)


@given(TEXTS)
def test_a_quoted_text_is_one_token_with_the_value_that_sqlite_reads(text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    (token,) = tokenize(quoted)
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(f"SELECT {quoted}").fetchone() == (text,)
    assert (token.kind, token.value) == ("string", text)


@given(TEXTS.filter(bool), st.sampled_from(['"', "`", "["]))
def test_a_quoted_name_is_one_token_with_the_name_that_sqlite_reads(name: str, mark: str) -> None:
    name = name.replace("]", "") or "x"
    quoted = f"[{name}]" if mark == "[" else mark + name.replace(mark, mark * 2) + mark
    (token,) = tokenize(quoted)
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(f"SELECT 1 AS {quoted}").description[0][0] == name
    assert (token.kind, token.value) == ("quoted", name)


@given(PIECES.map("".join))
def test_tokens_stand_in_order_and_leave_out_only_blanks_and_comments(sql: str) -> None:
    position = 0
    for token in tokenize(sql):
        between = sql[position : token.start]
        assert not between.strip() or between.lstrip()[:2] in ("--", "/*")
        assert token.text == sql[token.start : token.end] != ""
        position = token.end


@given(PIECES.map("".join))
def test_sqlite_agrees_on_whether_a_text_holds_several_statements(pieces: str) -> None:
    # the second statement is counted by SQLite only where the text before it is a whole one
    sql = f"SELECT 1 WHERE {pieces}"
    statement = only_statement(sql)
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(sql)
        except sqlite3.Error as error:
            several = "one statement at a time" in str(error)
        except sqlite3.Warning:
            several = True
        else:
            several = False
    if several:
        # Python counts a semicolon after the first as a statement, and we don't
        rest = [token for token in tokenize(sql) if token.text != ";"]
        assert statement is None or rest[-1].end == len(statement)
    elif statement is None:
        # SQLite stopped at an error before it came to the second
        with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.Error):
            connection.execute(sql)


@pytest.mark.parametrize(
    ("sql", "statement"),
    [
        ("SELECT 1;", "SELECT 1"),
        ("SELECT 1 ; -- done; really\n ;;", "SELECT 1"),
        (";; SELECT 1", "SELECT 1"),
        ("SELECT 'a;b' /* ; */ FROM t", "SELECT 'a;b' /* ; */ FROM t"),
        ("SELECT ';'; SELECT 2", None),
        ("SELECT 1; garbage '", None),
        ("SELECT ';", "SELECT ';"),
        ("SELECT 'it''s; fine'", "SELECT 'it''s; fine'"),
        ('SELECT ";" FROM [a;b], `c;d`;', 'SELECT ";" FROM [a;b], `c;d`'),
        (";", ""),
    ],
)
def test_only_a_semicolon_between_two_statements_counts(sql: str, statement: str | None) -> None:
    assert only_statement(sql) == statement
