from __future__ import annotations

import io
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings

from score_cases import prefix_scores, random_scores
from sentinel_sql.decision.policy import Policy
from sentinel_sql.decision.ragged_columns import first_where, terminal
from sentinel_sql.errors import BundleError
from sentinel_sql.monitor.prefix_scores import PrefixScores


@given(prefix_scores(min_runs=0))
@settings(max_examples=60, deadline=None)
def test_columns_survive_a_file_of_plain_arrays_to_the_last_bit(scores: PrefixScores) -> None:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **scores.to_columns())
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        back = PrefixScores.from_columns({name: archive[name] for name in archive.files})
    for field in fields(PrefixScores):
        before, after = getattr(scores, field.name), getattr(back, field.name)
        assert type(before) is type(after)
        np.testing.assert_array_equal(before, after)


def test_columns_that_are_missing_or_do_not_fit_are_refused() -> None:
    columns = random_scores(1, 9).to_columns()
    with pytest.raises(BundleError, match="lack 'clean'"):
        PrefixScores.from_columns({k: v for k, v in columns.items() if k != "clean"})
    for name in columns:
        with pytest.raises(BundleError, match="fit together"):
            PrefixScores.from_columns(columns | {name: columns[name][:-1]})


def test_no_runs_have_no_time_and_no_decision() -> None:
    none = random_scores(1, 0)
    for times in (first_where(none, np.zeros(0, np.bool_)), terminal(none)):
        assert times.tolist() == []
        assert times.dtype == np.int64
    verdicts = Policy(stakes=1.0, theta=0.5, early=0.5, bar="chow").replay(none)
    assert (len(verdicts.t), int(verdicts.delivered.sum())) == (0, 0)
