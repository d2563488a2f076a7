from __future__ import annotations

import re
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from sentinel_sql.questions.record import Question
from sentinel_sql.questions.templates import mask_sql, template_of, templates_of

literals = st.one_of(
    st.integers(0, 10**12).map(str),
    st.decimals(0, 10**6, places=3).map(str),
    st.text(max_size=20).map(lambda s: "'" + s.replace("'", "''") + "'"),
)

QUERIES = (
    "SELECT DISTINCT prescriptions.route FROM prescriptions WHERE prescriptions.drug = {a}",
    "SELECT COUNT(*)>{a} FROM (SELECT x FROM t WHERE y BETWEEN {b} AND {c}) AS T1 LIMIT {b}",
    "WITH w AS (SELECT a AS b FROM t WHERE c LIKE {c}) SELECT * FROM w ORDER BY {a} DESC",
    "SELECT datetime(current_time, {a}) FROM t WHERE x IN ({b}, {c}) -- it's a comment",
    "this isn't SQL {a} at all ((( {b}",
)


@given(st.sampled_from(QUERIES), st.lists(literals, min_size=6, max_size=6))
def test_masking_is_blind_to_the_values_of_literals(query: str, six: list[str]) -> None:
    if query.startswith("this"):
        query = query.replace("isn't", "is no")
    one = query.format(a=six[0], b=six[1], c=six[2])
    other = query.format(a=six[3], b=six[4], c=six[5])
    assert mask_sql(one) == mask_sql(other)


@given(st.sampled_from(QUERIES[:4]), literals)
def test_no_literal_survives_masking(query: str, literal: str) -> None:
    masked = mask_sql(query.format(a=literal, b=literal, c=literal))
    assert "'" not in masked
    assert re.search(r"(?<![A-Za-z])\d", masked) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM t WHERE x = -5", "SELECT a FROM t WHERE x = 5"),
        ("select A from T where X = 'y'", "SELECT a\n  FROM t WHERE x='z'"),
        ("SELECT a FROM t WHERE x IN (1, 2, 3)", "SELECT a FROM t WHERE x IN ('k')"),
        ('SELECT a FROM t WHERE x = "aspirin"', "SELECT a FROM t WHERE x = 'heparin'"),
        ("SELECT `a` FROM t -- why", "SELECT a FROM t /* it's so */"),
        ("SELECT a FROM t WHERE x = 'csf;spinal fluid'", "SELECT a FROM t WHERE x = 'it''s'"),
        ("SELECT a FROM t WHERE x = 1.5e-3", "SELECT a FROM t WHERE x = 0x1F"),
    ],
)
def test_queries_of_one_shape_share_a_mask(one: str, other: str) -> None:
    assert mask_sql(one) == mask_sql(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM t WHERE x = 1", "SELECT a FROM t WHERE y = 1"),
        ("SELECT a FROM t WHERE x = 1", "SELECT a FROM t WHERE x > 1"),
        ("SELECT a FROM t1", "SELECT a FROM t2"),
        ("SELECT MIN(a) FROM t", "SELECT MAX(a) FROM t"),
        ("SELECT a FROM t WHERE x IN (1)", "SELECT a FROM t WHERE x IN (SELECT 1)"),
    ],
)
def test_queries_of_two_shapes_do_not(one: str, other: str) -> None:
    assert mask_sql(one) != mask_sql(other)


def test_a_query_too_deep_to_parse_is_masked_by_its_tokens() -> None:
    deep = "SELECT " + "(" * 20_000 + "{}" + ")" * 20_000
    assert mask_sql(deep.format(1)) == mask_sql(deep.format(22))


def q(name: str, **fields: object) -> Question:
    base = {"id": name, "text": f"question {name}", "answerable": "gold_sql" in fields}
    return Question(**(base | fields))  # type: ignore[arg-type]


def test_the_data_sets_own_template_wins() -> None:
    assert template_of(q("a", gold_sql="SELECT 1", template="own")) == "own"
    assert template_of(q("a", gold_sql="SELECT 1")) == "SELECT ?"
    assert template_of(q("a", text="Is Patient 12 in room 3-B?")) == "is patient # in room #"


def test_questions_with_and_without_own_templates_are_joined_by_their_gold() -> None:
    named = q("named", gold_sql="SELECT a FROM t WHERE x = 1", template="Find {x}")
    bare = q("bare", gold_sql="SELECT a FROM t WHERE x = 2")
    sibling = q("sibling", gold_sql="SELECT b FROM u", template="find  {X}")
    stranger = q("stranger", gold_sql="SELECT c FROM v")
    template = templates_of([named, bare, sibling, stranger])
    assert template["named"] == template["bare"] == template["sibling"] == "Find {x}"
    assert template["stranger"] == "SELECT c FROM v"


questions = st.lists(
    st.builds(
        lambda number, shape, own, gold: (number, shape, own, gold),
        st.integers(0, 99),
        st.integers(0, 5),
        st.sampled_from([None, None, "own a", "own b", "own c"]),
        st.booleans(),
    ),
    max_size=25,
).map(
    lambda drawn: [
        q(f"q{i}", text=f"what about {'abcdef'[shape] * 12} {number}", template=own)
        if not gold
        else q(f"q{i}", gold_sql=f"SELECT c{shape} FROM t WHERE x = {number}", template=own)
        for i, (number, shape, own, gold) in enumerate(drawn)
    ]
)


@given(questions, st.randoms())
def test_templates_do_not_depend_on_the_order_of_questions(
    asked: list[Question], random: object
) -> None:
    shuffled = list(asked)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert templates_of(asked) == templates_of(shuffled)


@given(questions)
@settings(max_examples=50)
def test_joined_templates_equal_the_closure_found_by_brute_force(asked: list[Question]) -> None:
    found = templates_of(asked)
    group = {question.id: {question.id} for question in asked}

    def alike(a: Question, b: Question) -> bool:
        bare_a, bare_b = replace(a, template=None), replace(b, template=None)
        own = a.template is not None and a.template == b.template
        return own or template_of(bare_a) == template_of(bare_b)

    for a in asked:
        for b in asked:
            if alike(a, b) and group[a.id] is not group[b.id]:
                joined = group[a.id] | group[b.id]
                for name in joined:
                    group[name] = joined
    for a in asked:
        assert group[a.id] == {b.id for b in asked if found[b.id] == found[a.id]}
