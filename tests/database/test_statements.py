"""The walk over a statement's tree, by itself: no database is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.database.statements.postgres_rules import ALLOWED_FUNCTIONS, POSTGRES_RULES
from sentinel_sql.database.statements.rules import check_tree
from sentinel_sql.database.statements.statement import (
    LONGEST_SQL,
    RefusedError,
    Statement,
    read_statement,
)
from sql_suites import queries

HOSTILE = queries("postgres_hostile.toml")
HONEST = queries("postgres_honest.toml")

PLACES = {
    "a column": "SELECT {} FROM patients",
    "a condition": "SELECT 1 FROM patients WHERE {} IS NULL",
    "a join": "SELECT 1 FROM patients JOIN visits ON {} IS NULL",
    "a group": "SELECT count(*) FROM patients GROUP BY {}",
    "a group's condition": "SELECT 1 FROM patients GROUP BY id HAVING {} IS NULL",
    "an order": "SELECT 1 FROM patients ORDER BY {}",
    "a limit": "SELECT 1 FROM patients LIMIT (SELECT {})",
    "an offset": "SELECT 1 FROM patients OFFSET {}",
    "a window": "SELECT sum(id) OVER (PARTITION BY {}) FROM patients",
    "a named window": "SELECT sum(id) OVER w FROM patients WINDOW w AS (ORDER BY {})",
    "a filter": "SELECT count(*) FILTER (WHERE {} IS NULL) FROM patients",
    "an ordered set": "SELECT mode() WITHIN GROUP (ORDER BY {}) FROM patients",
    "an ordered aggregate": "SELECT array_agg(id ORDER BY {}) FROM patients",
    "a common table expression": "WITH a AS (SELECT {}) SELECT * FROM a",
    "one that nobody reads": "WITH a AS (SELECT {}) SELECT 1",
    "the second part of a union": "SELECT 1 UNION ALL SELECT {}",
    "a derived table": "SELECT * FROM (SELECT {}) AS t",
    "a lateral table": "SELECT * FROM patients, LATERAL (SELECT {}) AS t",
    "a function table": "SELECT * FROM {} AS t",
    "an argument": "SELECT lower({}::text)",
    "a named argument": "SELECT make_interval(days => {})",
    "an array": "SELECT ARRAY[{}]",
    "a subscript": "SELECT (ARRAY[1])[{}]",
    "a row": "SELECT ROW(1, {})",
    "a case": "SELECT CASE WHEN true THEN {} END",
    "a cast": "SELECT ({})::text",
    "values": "VALUES (1), ({})",
    "EXISTS": "SELECT EXISTS (SELECT {})",
    "IN": "SELECT 1 IN (SELECT {})",
    "ANY": "SELECT 1 = ANY (ARRAY[{}])",
    "BETWEEN": "SELECT 1 BETWEEN 0 AND {}",
    "LIKE": "SELECT 'a' LIKE {}",
    "a zone": "SELECT now() AT TIME ZONE {}",
    "distinct on": "SELECT DISTINCT ON ({}) id FROM patients",
    "a sample": "SELECT 1 FROM patients TABLESAMPLE SYSTEM ({})",
    "a frame": "SELECT sum(1) OVER (ORDER BY 1 ROWS {} PRECEDING)",
    "grouping sets": "SELECT 1 FROM patients GROUP BY GROUPING SETS (({}))",
    "a JSON path": "SELECT '{{}}'::jsonb -> {}",
}


def refusal(sql: str) -> str | None:
    try:
        check_tree(read_statement(sql, "postgres"), POSTGRES_RULES)
    except RefusedError as refused:
        return str(refused)
    return None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "call", ["pg_sleep(9)", "pg_catalog.set_config('a', 'b', false)", "mine()"]
)
def test_a_function_is_seen_wherever_it_stands(place: str, call: str) -> None:
    assert refusal(PLACES[place].format(call)) is not None


@pytest.mark.parametrize("place", PLACES)
def test_each_of_these_places_takes_a_function_that_only_computes(place: str) -> None:
    reason = refusal(PLACES[place].format("abs(1)"))
    # sqlglot reads only numbers in a frame and a sample
    assert reason is None or (place in ("a frame", "a sample") and "can't be parsed" in reason)


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM patients RETURNING id",
        "INSERT INTO wards VALUES ('x') RETURNING ward",
        "UPDATE patients SET id = 1 RETURNING id",
    ],
)
@pytest.mark.parametrize(
    "around",
    [
        "WITH a AS ({}) SELECT 1",
        "WITH a AS (SELECT 1), b AS ({}) SELECT * FROM a",
        "SELECT * FROM (WITH a AS ({}) SELECT * FROM a) t",
        "SELECT (WITH a AS ({}) SELECT id FROM a)",
        "SELECT 1 UNION (WITH a AS ({}) SELECT 1)",
        "WITH RECURSIVE a AS ({}) SELECT 1",
    ],
)
def test_a_write_is_seen_wherever_it_stands(query: str, around: str) -> None:
    assert refusal(around.format(query)) is not None


@pytest.mark.parametrize("name", sorted(ALLOWED_FUNCTIONS))
def test_a_function_on_the_list_may_be_called(name: str) -> None:
    reasons = [refusal(f"SELECT {name}({args})") for args in ("1", "1, 2", "", "a, b, c", "'x'")]
    assert None in reasons, reasons


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT 1; SELECT 2", "only one statement"),
        ("", "no SQL statement"),
        ("SELECT pg_sleep(1)", "function pg_sleep may not be called"),
        ("SELECT * FROM pg_shadow", "table pg_shadow may not be read"),
        ("DROP TABLE x", "DROP; only statements that read may run"),
        ("VACUUM", "VACUUM; only statements that read may run"),
        ("SELECT 1 FROM x FOR UPDATE", "FOR UPDATE"),
        ("SELECT * INTO x FROM y", "SELECT INTO"),
        ("SELECT 'a", "has no end"),
        ("SELECT (", "can't be parsed as postgres"),
        (" " * (LONGEST_SQL + 1), "longer than"),
        ("SELECT " + "(" * 1000 + "1" + ")" * 1000, "nested too deeply"),
        ("SELECT " + "NOT " * 9000 + "true", "nested too deeply"),
        ("SELECT 'x'::regclass", "type regclass may not be used"),
        ("SELECT \ud800", "character"),
        ("SELECT public.lower('x')", "function public.lower may not be called"),
        ("SELECT (a).lower('x') FROM a", "may not be called"),
        ("SELECT \"Lower\"('x')", "function Lower may not be called"),
    ],
)
def test_a_refusal_says_why_in_one_line(sql: str, said: str) -> None:
    reason = refusal(sql)
    assert reason is not None
    assert said in reason
    assert len(reason) < 300
    assert "\n" not in reason


def test_what_may_run_has_no_comments_and_no_semicolon() -> None:
    sql = "-- one\nSELECT 'a -- b', /* c /* d */ ; */ \"e /* f\", $$-- g$$ ; -- h\n ;"
    statement = read_statement(sql, "postgres")
    assert isinstance(statement, Statement)
    assert " ".join(statement.sql.split()) == "SELECT 'a -- b', \"e /* f\", $$-- g$$"


PIECES = ["'", '"', "$$", "$a$", "--", "/*", "*/", "\\", "E", "U&", "\n", "a", " ", ";", ",", "1"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_no_text_hides_a_function_and_no_text_is_an_exception(noise: str) -> None:
    reason = refusal(f"SELECT {noise}")
    assert reason is None or reason
    hidden = refusal(f"SELECT 'x', {noise} , pg_sleep(9)")
    if hidden is None:  # then the call itself must stand in a text or a comment
        sql = read_statement(f"SELECT 'x', {noise} , pg_sleep(9)", "postgres").sql
        quoted = any(mark in noise for mark in ("'", '"', "$"))
        assert "pg_sleep" not in sql or quoted


def test_the_suites_hostile_queries_are_refused_by_their_tree_alone() -> None:
    missed = [sql[:80] for sql, ends in HOSTILE if ends == "refused" and refusal(sql) is None]
    refused = [sql[:80] for sql, _ in HONEST if refusal(sql) is not None]
    assert (missed, refused) == ([], [])


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ("repeat('*', (count(*) * 100 / 500)::int)", True),
        ("lpad(to_char(id, '9999999999'), 12)", True),
        ("format('In %s: %s of %s', 2100, 30000, 100000)", True),
        ("format('%10s|%-20s', 'a', 'b')", True),
        ("repeat('x', 1000000)", True),
        ("lpad((id * 1000000)::text, 20, '0')", True),
        ("array_fill(0, ARRAY[100, 100])", True),
        ("repeat('x', 100000000)", False),
        ("repeat(repeat('x', 100000), 100000)", False),
        ("pg_catalog.repeat('x', 100000000)", False),
        ("lpad(repeat('x', 10000), 10000)", False),
        ("rpad('x', 5000 * 5000)", False),
        ("format('%100000000s', 'x')", False),
        ("format('%*s', 100000000, 'x')", False),
        ("format('%2$-100000000s', 'x', 'y')", False),
        ("array_fill(0, ARRAY[10000, 10000])", False),
        ("repeat('x', 10 ^ 9)", False),
    ],
)
def test_only_constants_that_ask_for_much_text_are_refused(call: str, allowed: bool) -> None:
    assert (refusal(f"SELECT {call} FROM patients") is None) is allowed
