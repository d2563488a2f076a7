from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from sentinel_sql.errors import InputError, PoolsError
from sentinel_sql.questions.pools import FRACTIONS, POOLS, Pools, make_pools
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question


def many(sizes: list[int], answerable: bool = True) -> list[Question]:
    kind = "a" if answerable else "u"
    return [
        Question(
            id=f"{kind}{template}-{number}",
            text=kind + chr(ord("a") + template) * 12,  # no two alike in wording
            answerable=answerable,
            gold_sql=f"SELECT c{template} FROM t WHERE x = {number}" if answerable else None,
            template=None if answerable else f"topic {template}",
        )
        for template, size in enumerate(sizes)
        for number in range(size)
    ]


mixed = st.builds(
    lambda a, u: many(a) + many(u, answerable=False),
    st.lists(st.integers(1, 12), min_size=3, max_size=25),
    st.lists(st.integers(1, 12), max_size=15),
)


@given(mixed, st.integers(), st.randoms())
@settings(max_examples=60)
def test_pools_depend_on_the_set_of_questions_only(
    asked: list[Question], seed: int, random: object
) -> None:
    shuffled = list(asked)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = make_pools(asked, seed=seed), make_pools(shuffled, seed=seed)
    assert one == other
    assert one.sha256 == other.sha256


@given(mixed, st.integers(0, 99))
@settings(max_examples=60)
def test_no_template_is_in_two_pools(asked: list[Question], seed: int) -> None:
    pools = make_pools(asked, seed=seed)
    pool_of_text: dict[str, set[str]] = {}
    for question in asked:
        pool_of_text.setdefault(question.text, set()).add(pools.pool_of(question.id))
    assert all(len(found) == 1 for found in pool_of_text.values())


@given(mixed, st.integers(0, 99))
@settings(max_examples=60)
def test_each_pool_is_within_one_template_of_its_share_of_either_kind(
    asked: list[Question], seed: int
) -> None:
    pools = make_pools(asked, seed=seed)
    for kind in (True, False):
        of_kind = [question for question in asked if question.answerable is kind]
        if not of_kind:
            continue
        largest = max(Counter(question.text for question in of_kind).values())
        count = Counter(pools.pool_of(question.id) for question in of_kind)
        for pool in POOLS:
            assert abs(count[pool] - FRACTIONS[pool] * len(of_kind)) <= largest


def test_another_seed_deals_otherwise() -> None:
    asked = many([5] * 40)
    assert make_pools(asked, seed=1).pools != make_pools(asked, seed=2).pools


def test_a_manifest_is_read_back_as_written(tmp_path: Path) -> None:
    pools = make_pools(many([3, 4, 5, 6]), seed=7)
    pools.write(tmp_path / "pools.json")
    assert Pools.read(tmp_path / "pools.json") == pools
    assert [file.name for file in tmp_path.iterdir()] == ["pools.json"]


def _edits(data: dict[str, object]) -> list[tuple[str, dict[str, object]]]:
    def with_(**changed: object) -> dict[str, object]:
        return {**json.loads(json.dumps(data)), **changed}

    questions = dict(data["questions"])  # type: ignore[call-overload]
    moved = questions | {"a0-0": 1}
    templates = [dict(entry) for entry in data["templates"]]  # type: ignore[attr-defined]
    templates[0]["pool"] = "heldout" if templates[0]["pool"] != "heldout" else "train"
    return [
        ("seed", with_(seed=8)),
        ("moved question", with_(questions=moved)),
        ("dropped question", with_(questions={k: v for k, v in questions.items() if k != "a0-0"})),
        ("moved template", with_(templates=templates)),
        ("doubled template", with_(templates=[*templates, templates[0]])),
        ("unknown pool", with_(templates=[{"template": "x", "pool": "spare"}])),
        ("fractions", with_(fractions={"train": 1.0})),
        ("hash", with_(sha256="0" * 64)),
        ("extra key", with_(note="hello")),
        ("no questions", {k: v for k, v in data.items() if k != "questions"}),
        ("questions a list", with_(questions=[1])),
        ("negative number", with_(questions=questions | {"a0-0": -1})),
    ]


def test_a_changed_manifest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pools.json"
    make_pools(many([3, 4, 5, 6]), seed=7).write(path)
    for _, edited in _edits(json.loads(path.read_text())):
        path.write_text(json.dumps(edited))
        with pytest.raises(PoolsError, match="was changed after it was made"):
            Pools.read(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"format": "sentinel-pools/2"}', b"\xff\xfe", b"[" * 100_000],
)
def test_what_is_no_manifest_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pools.json"
    path.write_bytes(content)
    with pytest.raises(PoolsError, match=r"pools\.json.*make it again") as caught:
        Pools.read(path)
    assert "\n" not in str(caught.value)


def test_a_missing_manifest_or_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(PoolsError, match=r"none\.json can't be read"):
        Pools.read(tmp_path / "none.json")
    with pytest.raises(PoolsError, match="can't be written"):
        make_pools(many([1, 1, 1]), seed=0).write(tmp_path / "none" / "pools.json")


def test_a_trial_belongs_to_its_question() -> None:
    asked = [
        *many([2, 2, 2]),
        Question(id="task#7", text="t", answerable=True, gold_sql="SELECT 1"),
    ]
    pools = make_pools(asked, seed=0)
    assert pools.pool_of("a0-0#3") == pools.pool_of("a0-0")
    assert pools.template_of("task#7") == "SELECT ?"
    assert pools.pool_of("task#7#2") == pools.pool_of("task#7")
    assert "a0-0#x" not in pools
    with pytest.raises(PoolsError, match="'a9-9' isn't in the pool manifest"):
        pools.pool_of("a9-9")
    pools.require(["a0-0", "a0-0#1"])
    with pytest.raises(PoolsError, match=r"2 runs .* such as 'b'"):
        pools.require(["a0-0", "b", "c#1"])


@pytest.mark.parametrize(
    "fractions",
    [
        {"train": 0.5, "calibration": 0.5},
        {"train": 0.5, "calibration": 0.5, "heldout": 0.0},
        {"train": 0.5, "calibration": 0.5, "heldout": 0.5},
        {"train": float("nan"), "calibration": 0.5, "heldout": 0.5},
    ],
)
def test_fractions_that_do_not_fit_are_refused(fractions: dict[str, float]) -> None:
    with pytest.raises(PoolsError, match="sum to 1"):
        make_pools(many([1, 1, 1]), seed=0, fractions=fractions)  # type: ignore[arg-type]


def test_too_few_templates_are_refused() -> None:
    with pytest.raises(PoolsError, match="2 templates"):
        make_pools(many([5, 5]), seed=0)


def test_the_real_questions_fall_into_small_groups_and_even_pools(shared_data: Path) -> None:
    folder = shared_data / "ehrsql2024"
    asked = read_questions([folder / "tasks_train.jsonl.gz", folder / "tasks_valid.jsonl.gz"])
    pools = make_pools(asked, seed=42)
    sizes = Counter(pools.templates.values())
    assert max(sizes.values()) < 0.02 * len(asked)
    for kind in (True, False):
        count = Counter(pools.pool_of(q.id) for q in asked if q.answerable is kind)
        for pool in POOLS:
            share = count[pool] / count.total()
            assert share == pytest.approx(FRACTIONS[pool], abs=0.01)
    own = {}
    for question in asked:
        if question.template is not None:
            own.setdefault(question.template, set()).add(pools.pool_of(question.id))
    assert len(own) == 134
    assert all(len(found) == 1 for found in own.values())


@given(mixed, mixed, st.integers(0, 99), st.integers(0, 99))
@settings(max_examples=60)
def test_known_templates_keep_their_pool_and_new_ones_are_dealt(
    old: list[Question], new: list[Question], seed: int, other: int
) -> None:
    known = make_pools(old, seed=seed)
    made = make_pools(new, seed=other, like=known)
    assert set(made.templates) == {question.id for question in new}
    for question in new:
        template = made.template_of(question.id)
        if template in known.pools:
            assert made.pools[template] == known.pools[template]


def test_a_template_is_known_by_its_masked_query_when_its_name_has_changed() -> None:
    old = many([3, 3, 3, 3])
    known = make_pools(old, seed=1)
    renamed = [replace(question, template=f"Z {question.gold_sql[:9]}") for question in old]
    made = make_pools(renamed, seed=7, like=known)
    assert all(made.pool_of(question.id) == known.pool_of(question.id) for question in old)


def test_named_templates_of_different_pools_stay_apart_however_they_are_worded() -> None:
    def asked(number: int, template: str, text: str) -> Question:
        return Question(id=f"u{number}", text=text, answerable=False, template=template)

    known = make_pools([*many([2] * 6), *many([2] * 6, answerable=False)], seed=1)
    first, *others = [name for name in known.pools if known.pools[name] != "train"]
    other = next(name for name in others if known.pools[name] != known.pools[first])
    alike = [
        asked(1, first, "what covers admission 7?"),
        asked(2, other, "what covers admission 9?"),
    ]
    made = make_pools([*many([1, 1, 1]), *alike], seed=3, like=known)
    assert made.pool_of("u1") == known.pools[first]
    assert made.pool_of("u2") == known.pools[other]


def test_a_template_that_joins_two_pools_is_refused_by_name() -> None:
    old = many([2, 2, 2, 2, 2, 2])
    known = make_pools(old, seed=1)
    joined = [replace(question, template="all alike") for question in old]
    with pytest.raises(PoolsError, match="'all alike' joins questions of the"):
        make_pools([*joined, *many([1, 1], answerable=False)], seed=1, like=known)


@pytest.mark.parametrize("seed", ["42", 4.2, None, [42]])
def test_a_seed_that_is_no_whole_number_is_refused(seed: object) -> None:
    with pytest.raises(InputError, match=r"seed= can't be .*: give a whole number"):
        make_pools(many([1, 1, 1]), seed=seed)  # type: ignore[arg-type]
