from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from sentinel_sql.questions.wordings import NEARLY_EQUAL, cluster_wordings, mask_wording


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Does patient 64983 have a test today?", "does patient # have a test today"),
        ("Was it on 2100-12-31 23:59:00, or 12/2100?", "was it on # or #"),
        ("Give me 'aspirin' or “heparin”!", "give me # or #"),
        ("the patient's and the doctor's", "the patient s and the doctor s"),
        ("COVID19  TEST", "# test"),
        ("???", "#"),
    ],
)
def test_numbers_ids_dates_and_quotes_are_masked(text: str, masked: str) -> None:
    assert mask_wording(text) == masked


@given(st.text(max_size=60))
def test_masking_a_masked_wording_changes_nothing(text: str) -> None:
    assert mask_wording(mask_wording(text)) == mask_wording(text)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_two_patients_share_a_wording(one: int, other: int) -> None:
    text = "what is the phone number of patient {}, admitted in {}?"
    assert mask_wording(text.format(one, other)) == mask_wording(text.format(other, one))


def _grams(wording: str) -> set[str]:
    padded = f"^^{wording}$$"
    return {padded[i : i + 4] for i in range(len(padded) - 3)}


def _by_brute_force(wordings: set[str]) -> dict[str, str]:
    cluster = {wording: {wording} for wording in wordings}
    for a in wordings:
        for b in wordings:
            left, right = _grams(a), _grams(b)
            if len(left & right) >= NEARLY_EQUAL * len(left | right):
                joined = cluster[a] | cluster[b]
                for wording in joined:
                    cluster[wording] = joined
    return {wording: min(cluster[wording]) for wording in wordings}


words = st.sampled_from(
    ("what", "is", "the", "dose", "of", "an", "opioid", "given", "to", "#", "dr")
)
wordings = st.sets(st.lists(words, min_size=1, max_size=9).map(" ".join), max_size=30)


@given(wordings)
@settings(max_examples=100)
def test_clusters_equal_the_brute_force_ones(drawn: set[str]) -> None:
    assert cluster_wordings(drawn) == _by_brute_force(drawn)


def test_paraphrases_are_joined_and_other_wishes_are_not() -> None:
    dose = "what is the dose of the prescribed opioid for patient #"
    reworded = "tell me the dose of the prescribed opioid for patient #"
    phone = "what is the phone number of the doctor who treats patient #"
    cluster = cluster_wordings({dose, reworded, phone})
    assert cluster[dose] == cluster[reworded] != cluster[phone]
