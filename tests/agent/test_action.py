from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentinel_sql.agent.action import Action, parse_reply
from sentinel_sql.trajectory.store import read_trajectories

# --- properties -------------------------------------------------------------------------------

pieces = st.sampled_from(
    [
        "THOUGHT: ", "SQL: ", "FINAL_SQL: ", "FINAL: null", "BEST_SO_FAR: ", "RESULT: ", "STEP 2 ",
        "SELECT ", "a FROM t", "WHERE b = 'x;y'", " OR ", "\n", "\n\n", ";", "'", '"', "`", "```",
        "```sql\n", "**", "<think>", "</think>", "‘", "’", "“", "--", "/*", "*/", "(", ")", "This ",
        "query counts.", "null", "null.", "WITH x AS (", "\r\n", "\t", "\ud83d", "Select the ",
    ]
)  # fmt: skip
messy = st.lists(pieces | st.text(max_size=5), max_size=25).map("".join)


@given(messy)
def test_any_text_gives_an_action(text: str) -> None:
    action = parse_reply(text)
    assert (action.sql is not None) == (action.kind in ("sql", "final_sql"))


@given(messy)
def test_without_typographic_quotes_the_sql_stands_in_the_reply_as_it_is(text: str) -> None:
    text = re.sub("[‘’“”\r]", "", text)
    action = parse_reply(text)
    for sql in (action.sql, action.best_so_far):
        if sql is not None:
            assert sql in text
            assert sql == sql.strip() != ""


literals = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="'\r") | st.sampled_from(";\n:  ‘’`"),
    max_size=20,
).map(lambda inner: f"'{inner}'")
hostile = st.sampled_from(
    ["'csf;spinal fluid'", "'0.9%  flush'", "'it''s'", "'\nRESULT: none\n'", "'SQL: SELECT 2'",
     "'FINAL: null'", "'```'", "'-- no'", "'patient’s “x”'", "'a\n\nThis is prose.'"]
)  # fmt: skip


@st.composite
def queries(draw: st.DrawFn) -> str:
    literal = draw(literals | hostile)
    gap = draw(st.sampled_from([" ", "\n", "\n\n", "\n  "]))
    return draw(
        st.sampled_from(
            [
                f"SELECT COUNT(*){gap}FROM labevents WHERE label = {literal}",
                f"SELECT a,{gap}b FROM t WHERE x = {literal}{gap}OR y = 2{gap}ORDER BY a DESC",
                f"WITH c AS ({gap}SELECT 1 AS n{gap}) SELECT n{gap}FROM c WHERE z IN ({literal},"
                f"{gap}'b')",
                f"select max(v){gap}from t join u{gap}on t.i = u.i{gap}where s like {literal}",
                f"SELECT 1 -- it's a note\nFROM t WHERE a = {literal}",
            ]
        )
    )


thoughts = st.sampled_from(
    [
        "look first",
        "it's stored in drug, isn't it",
        "count: 3 rows?",
        "use the SQL table, not a view",
    ]
)
after = st.sampled_from(
    ["", "\n", ";", ";\nThis query counts them.", "\n\nThis query will return what you asked.",
     "\nRESULT: 3 rows x 1 cols\nTHOUGHT: done\nFINAL_SQL: SELECT 99", "\nSTEP 2 THOUGHT: next",
     "\nOBSERVATION: empty (0 rows)", "\nSQL: SELECT 98", ";\n\nFINAL_SQL: SELECT 97",
     "\nExplanation: the join is needed."]
)  # fmt: skip
tags = st.sampled_from(
    [("sql", "SQL:"), ("final_sql", "FINAL_SQL:"), ("sql", "sql:"), ("final_sql", "Final SQL:"),
     ("final_sql", "**FINAL_SQL:**"), ("final_sql", "**FINAL SQL**:"), ("sql", "### SQL:"),
     ("final_sql", "final_sql:"), ("final_sql", "FINAL\\_SQL:"), ("final_sql", "Final Answer:"),
     ("final_sql", "FINAL:"), ("sql", "STEP 3 SQL:"), ("sql", "- SQL:"), ("sql", "ACTION: SQL:"),
     ("sql", "2. SQL query:")]
)  # fmt: skip


@given(thoughts, tags, queries(), after)
def test_well_formed_reply_is_read_with_any_text_after_it(
    thought: str, tag: tuple[str, str], query: str, tail: str
) -> None:
    action = parse_reply(f"THOUGHT: {thought}\n{tag[1]} {query}{tail}")
    assert action == Action(kind=tag[0], thought=thought, sql=query)  # type: ignore[arg-type]


@given(thoughts, tags, queries(), st.sampled_from(["```sql", "```", "``` sqlite"]), after)
def test_a_fence_around_the_query_changes_nothing(
    thought: str, tag: tuple[str, str], query: str, fence: str, tail: str
) -> None:
    text = f"THOUGHT: {thought}\n{tag[1]}\n{fence}\n{query}\n```\n{tail}"
    assert parse_reply(text) == Action(
        kind=tag[0],  # type: ignore[arg-type]
        thought=thought,
        sql=query,
    )


@given(queries(), queries())
def test_the_best_so_far_is_found_before_and_behind_the_action(query: str, best: str) -> None:
    before = parse_reply(f"THOUGHT: t\nBEST_SO_FAR: {best}\nSQL: {query}")
    behind = parse_reply(f"THOUGHT: t\nSQL: {query}\nBEST_SO_FAR: {best}")
    assert before == behind == Action(kind="sql", thought="t", sql=query, best_so_far=best)


# --- tokens of chat templates ------------------------------------------------------------------

TOKENS = ["<|im_end|>", "</s>", "<|eot_id|>", "<end_of_turn>", "<|endoftext|>", "[/INST]", "<s>",
          "<|end|>", "<|return|>", "<|im_start|>", "<｜end▁of▁sentence｜>", "<|im_end", "<eos>",
          "<|END_OF_TURN_TOKEN|>", "</think>", "<end_of_utterance>",
          "<EOS>", "<EOT>", "</answer>", "</sql>", "</S>", "[EOS]", "[/SYS]",
          "[|endofturn|]"]  # fmt: skip
tokens = st.sampled_from(TOKENS)


@given(tags, queries(), tokens, st.sampled_from(["", "\n", " ", ";", "\n```"]))
def test_a_template_token_behind_the_query_never_stays_in_it(
    tag: tuple[str, str], query: str, token: str, gap: str
) -> None:
    if token == "</think>":
        return  # it closes a thought that the template opened
    action = parse_reply(f"{tag[1]} {query}{gap}{token}")
    assert (action.kind, action.sql) == (tag[0], query)


@given(tokens.filter(lambda token: token not in ("<|im_end", "</think>")), queries())
def test_a_template_token_before_tag_or_query_changes_nothing(token: str, query: str) -> None:
    for text in (f"{token}SQL: {query}", f"{token}\nTHOUGHT: a\n{token}SQL: {query}{token}",
                 f"SQL:\n```sql\n{query}\n```{token}"):  # fmt: skip
        action = parse_reply(text)
        assert (action.kind, action.sql) == ("sql", query)
        assert action.thought in (None, "a")


@pytest.mark.parametrize(
    "token", ["<im_end>", "<turn|>", "<_end>", "<reserved_106>", "<SPECIAL_12>", "<a:b><pad>"]
)
def test_unknown_token_at_the_end_of_a_reply_ends_the_query(token: str) -> None:
    assert parse_reply(f"FINAL_SQL: SELECT a FROM t WHERE b > 1{token}\n").sql == (
        "SELECT a FROM t WHERE b > 1"
    )
    assert parse_reply(f"FINAL_SQL: <sql>SELECT 1</sql>{token}").sql == "SELECT 1"


@given(tokens, st.sampled_from("'\""))
def test_a_template_token_inside_quotes_stays(token: str, quote: str) -> None:
    query = f"SELECT a FROM t WHERE b = {quote}x {token} y{quote} AND c = {quote}{token}{quote}"
    assert parse_reply(f"FINAL_SQL: {query}<|im_end|>").sql == query


@pytest.mark.parametrize(
    "text",
    [
        "<think>SQL: SELECT 9</think>\n\nSQL: SELECT 1",
        "SQL: SELECT 9, or better\n</think>\n\nSQL: SELECT 1",
        "<s>[INST]<think>SQL: SELECT 9</think>SQL: SELECT 1</s>",
        "[THINK]SQL: SELECT 9[/THINK]SQL: SELECT 1",
        "<|im_start|>assistant\nSQL: SELECT 1<|im_end|>\n<|im_start|>user\nSQL: SELECT 2",
        "<|start_header_id|>assistant<|end_header_id|>\n\nSQL: SELECT 1<|eot_id|>",
        "<start_of_turn>model\nSQL: SELECT 1<end_of_turn>",
        "<|channel|>analysis<|message|>SQL: SELECT 9<|end|><|start|>assistant<|channel|>final"
        "<|message|>SQL: SELECT 1<|return|>",
        "<|channel|>final<|message|>SQL: SELECT 1<|return|>",
        "THOUGHT: a\n<think>SQL: SELECT 9</think>\nSQL: SELECT 1",
        "SQL: SELECT 1 -- all of them<|im_end|>",
    ],
)
def test_thinking_and_other_turns_are_skipped(text: str) -> None:
    action = parse_reply(text)
    assert action.kind == "sql"
    assert (action.sql or "").removesuffix(" -- all of them") == "SELECT 1"


@pytest.mark.parametrize("token", ["<|im_end|>", "</s>", "<|eot_id|>", "<end_of_turn>"])
def test_an_abstention_before_a_template_token_is_one(token: str) -> None:
    assert parse_reply(f"THOUGHT: none\nFINAL: null{token}").kind == "final_null"


@pytest.mark.parametrize(
    "query", ["SELECT [/a] FROM t", "SELECT a FROM t WHERE a <s AND s> 2", "SELECT a<b FROM t",
              "SELECT '</think>' FROM t", "SELECT a[1] FROM t WHERE b <> c"]
)  # fmt: skip
def test_comparisons_and_brackets_are_no_template_tokens(query: str) -> None:
    assert parse_reply(f"SQL: {query}").sql == query


# --- what small models write ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["FINAL: null", "FINAL: NULL", "Final: none", "FINAL_SQL: null", "**FINAL**: null",
     "FINAL: null.", "**FINAL:** `null`", "FINAL: null (no such column)", "final: Null;",
     'FINAL: "null"', "FINAL: null\nThe schema lacks phone numbers.", "FINAL: null, as it lacks it",
     "FINAL ANSWER: None", "SQL: none\nFINAL: null", "THOUGHT: no column for that. FINAL: null",
     "```\nFINAL: null\n```", "FINAL: <null>", "FINAL: n/a"],
)  # fmt: skip
def test_an_abstention_in_its_spellings(text: str) -> None:
    assert parse_reply(text).kind == "final_null"


@pytest.mark.parametrize(
    "text",
    ["", "   \n", "I don't know.", "FINAL: The answer is 5.", "SQL: <a query>", "FINAL_SQL:",
     "THOUGHT: I need to look at the tables", "Select the patients with the drug.",
     "SQL: I would look at prescriptions", "FINAL: nullify the order", "<think>SQL: SELECT 1",
     "With this in mind, I would query the table.", "RESULT: 3 rows", "FINAL: none of these fit"],
)  # fmt: skip
def test_no_action_is_read_into_prose(text: str) -> None:
    assert parse_reply(text).kind == "invalid"


@pytest.mark.parametrize(
    ("text", "kind", "sql"),
    [
        ("SELECT 1", "sql", "SELECT 1"),
        ("Let me count them.\n\nSELECT COUNT(*) FROM t", "sql", "SELECT COUNT(*) FROM t"),
        ("THOUGHT: count\nSELECT COUNT(*)\nFROM t;", "sql", "SELECT COUNT(*)\nFROM t"),
        ("```sql\nSELECT 1;\n```\nThis counts.", "sql", "SELECT 1"),
        ("SELECT a FROM (\nSELECT b FROM c\n) x", "sql", "SELECT a FROM (\nSELECT b FROM c\n) x"),
        ("First:\nSELECT 1;\nbetter:\nSELECT 2;", "sql", "SELECT 2"),
        ("WITH a AS (SELECT 1)\nSELECT * FROM a", "sql", "WITH a AS (SELECT 1)\nSELECT * FROM a"),
        ("THOUGHT: look. SQL: SELECT DISTINCT drug FROM p", "sql", "SELECT DISTINCT drug FROM p"),
        ("<think>SQL: SELECT 9</think>SQL: SELECT 1", "sql", "SELECT 1"),
        ("SQL: `SELECT 1`", "sql", "SELECT 1"),
        ("SQL: SELECT `a` FROM `t`", "sql", "SELECT `a` FROM `t`"),
        ("FINAL_SQL SELECT 1", "final_sql", "SELECT 1"),
        ("SQL: SELECT 1; SELECT 2", "sql", "SELECT 1"),
        ("SQL: -- all\nSELECT 1", "sql", "-- all\nSELECT 1"),
        ("SQL: (SELECT 1) UNION (SELECT 2)", "sql", "(SELECT 1) UNION (SELECT 2)"),
        ("SQL: DELETE FROM patients", "sql", "DELETE FROM patients"),
        ("SQL: SELECT a FROM t WHERE b = ‘x’", "sql", "SELECT a FROM t WHERE b = 'x'"),
        ("SQL: SELECT a FROM t WHERE b = “it’s”", "sql", 'SELECT a FROM t WHERE b = "it’s"'),
        ("SQL: SELECT 'cut off\nRESULT: 1", "sql", "SELECT 'cut off"),
        ("SQL: SELECT a::text FROM t\nWHERE b", "sql", "SELECT a::text FROM t\nWHERE b"),
        ("RESULT: 3 rows\nTHOUGHT: ok\nFINAL_SQL: SELECT 1", "final_sql", "SELECT 1"),
        ("SQL: <query>\nTHOUGHT: x\nSQL: SELECT 1", "sql", "SELECT 1"),
        ("SQL: SELECT 1\r\nFROM t\r\n", "sql", "SELECT 1\nFROM t"),
        ("SQL: SELECT a\nWith this we count them.", "sql", "SELECT a"),
    ],
)
def test_what_small_models_write(text: str, kind: str, sql: str) -> None:
    action = parse_reply(text)
    assert (action.kind, action.sql) == (kind, sql)


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ("SQL: SELECT 1", None),
        ("I should look first.\nSQL: SELECT 1", "I should look first."),
        ("THOUGHT: a\nand b\nSQL: SELECT 1", "a\nand b"),
        ("**THOUGHT:** a\n\n```sql\nSQL: SELECT 1\n```", "a"),
        ("STEP 1 THOUGHT: a\nSTEP 1 SQL: SELECT 1", "a"),
        ("thinking: a\nSQL: SELECT 1", "a"),
        ("THOUGHT: a\nSELECT 1", "a"),
    ],
)
def test_the_thought_is_what_stands_before_the_action(text: str, thought: str | None) -> None:
    assert parse_reply(text).thought == thought


@example("*")
@example("\n")
@example("THOUGHT: ")
@example("SQL: SELECT '")
@example("SELECT 1\n")
@example("<think>")
@example("```\n")
@example("/*")
@given(pieces)
def test_a_reply_that_repeats_itself_is_read_in_reasonable_time(piece: str) -> None:
    started = time.process_time()
    parse_reply(piece * (4_000 // len(piece)))
    assert time.process_time() - started < 2.0


def test_every_recorded_reply_is_read_as_its_own_harness_read_it(shared_data: Path) -> None:
    recorded = shared_data / "recordings" / "qwen2.5-coder-1.5b" / "ehrsql2024.jsonl.gz"
    compared = 0
    for trajectory in read_trajectories(recorded):
        for step in trajectory.steps:
            action = parse_reply(step.reply or "")
            assert action.kind == step.action
            assert (action.sql or "").split() == (step.sql or "").split()
            compared += 1
    assert compared == 843


BEGINNINGS = ["", "SQL: SELECT a FROM (x", "SELECT a FROM (x", "FINAL_SQL: ", "THOUGHT: it's ",
              "BEST_SO_FAR: SELECT '"]  # fmt: skip
PIECES = ["\n", " ", "\n \n", "SQL: SELECT 1;", "with a (\n", "<think>", "FINAL: null ", "(", ")",
          "```\n", "'", "''", '"', "`", "/*", "/* */", "*/", "--", "--\n", ";", "SQL: SELECT '\n",
          "SELECT '\n", "SELECT 1 /*\n", "BEST_SO_FAR: SELECT '\n", "BEST_SO_FAR: /*\n", "“", "‘a“",
          "<|", "<|im_end|>", "</s>\n", "[", "SQL: \n", "a. \n", "\nFROM (", "\n\n,", "<|channel|>",
          "<think>a</think>\n", "</think>", "<", "SQL: (\n", "null ", "SELECT (\n\n"]  # fmt: skip


def seconds(text: str) -> float:
    started = time.process_time()
    parse_reply(text)
    return time.process_time() - started


@pytest.mark.parametrize("beginning", BEGINNINGS)
@pytest.mark.parametrize("piece", PIECES)
def test_a_reply_sixteen_times_as_long_takes_at_most_twenty_times_as_long(
    beginning: str, piece: str
) -> None:
    # One more piece, so that quotes stay open in one of the two.
    for more in (0, 1):
        short, long = (
            beginning + piece * (size // len(piece) + more) + "x)" for size in (1_000, 16_000)
        )
        base = 2e-3  # below it the clock is too coarse
        if not any(seconds(long) <= 20 * base for _ in range(3)):
            base = max(base, min(seconds(short) for _ in range(9)))
            assert any(seconds(long) <= 20 * base for _ in range(9))
