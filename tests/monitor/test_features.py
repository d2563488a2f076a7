"""Ten features at every prefix: by hand, incrementally, and neutral where nothing is known."""

from __future__ import annotations

import math

from hypothesis import given

from run_cases import QUERIES, SCHEMA, runs
from sentinel_sql.monitor.features.keys import keys_of
from sentinel_sql.monitor.features.ten_features import FEATURES, FeatureState, features
from sentinel_sql.monitor.surroundings import Surroundings
from sentinel_sql.testing import CLOCK, make_step, make_trajectory
from sentinel_sql.trajectory.record import Observation, Telemetry, Trajectory, commitment

KEYS = keys_of(SCHEMA)
AROUND = Surroundings(keys=KEYS, clock=CLOCK)


def test_features_of_a_run_equal_values_computed_by_hand() -> None:
    run = make_trajectory(
        text="how many women?",
        steps=[
            make_step(
                1,
                sql=QUERIES[4],
                observation=Observation(kind="error", text="ERROR: no such table: nowhere"),
                telemetry=Telemetry(logprobs=(-1.0, -3.0), entropies=(0.5, 1.5)),
            ),
            make_step(2, action="invalid", telemetry=Telemetry()),
            make_step(3, sql=QUERIES[3], observation=Observation(kind="empty")),
            make_step(
                4,
                action="final_sql",
                sql="SELECT COUNT(*) FROM patients WHERE gender = 'f' AND dob = 'never'",
                telemetry=Telemetry(logprobs=(-0.5,), entropies=(0.1,)),
            ),
        ],
    )
    told = features(run.prefix(4), AROUND)
    # Steps 3 and 4 have the default telemetry and their own; step 2 has none.
    assert told == {
        "lp_mean": (-2.0 - 0.15 - 0.5) / 3,
        "lp_min": -3.0,
        "ent_mean": math.fsum([1.0, 0.35, 0.1]) / 3,
        "ent_max": 1.5,
        "empty_rate": 1 / 3,
        "error_rate": 1 / 3,
        "n_steps": 4.0,
        "failed_refs": 1.0,
        "bad_joins": 1.0,
        # 'f' stands in no word of the question, 'never' neither.
        "ungrounded_frac": 1.0,
    }


@given(runs())
def test_a_growing_state_equals_a_fresh_start_at_every_prefix(run: Trajectory) -> None:
    state = FeatureState(run.question, AROUND)
    for prefix in run.prefixes():
        if prefix.steps:
            last = prefix.steps[-1]
            state.observe(last, commitment(last, commit_on_error=False))
        grown = dict(zip(FEATURES, state.vector().tolist(), strict=True))
        assert grown == features(prefix, AROUND)
        assert all(math.isfinite(value) for value in grown.values())


def test_before_the_first_step_every_feature_is_neutral() -> None:
    told = features(make_trajectory().prefix(0), AROUND)
    assert told == {name: feature.default for name, feature in FEATURES.items()}


def test_without_a_schema_the_schema_features_stay_neutral() -> None:
    run = make_trajectory(steps=[make_step(1, sql="SELECT nothing FROM nowhere")])
    told = features(run.prefix(1), Surroundings(clock=CLOCK))
    assert (told["failed_refs"], told["bad_joins"]) == (0.0, 0.0)


def test_repeated_query_counts_again() -> None:
    again = [make_step(index, sql="SELECT x FROM patients") for index in (1, 2, 3)]
    assert features(make_trajectory(steps=again).prefix(3), AROUND)["failed_refs"] == 3.0


def test_telemetry_of_any_size_gives_finite_features() -> None:
    odd = Telemetry(logprobs=(-1e308, -1e308, 1e308), entropies=(1e308, 1e308, -1e308))
    never = Telemetry(logprobs=(-9999.0,), entropies=(0.0,))
    told = [
        features(make_trajectory(steps=[step]).prefix(1), AROUND)
        for step in (
            make_step(1).model_copy(update={"telemetry": odd}),
            make_step(1).model_copy(update={"telemetry": never}),
        )
    ]
    assert all(math.isfinite(value) for values in told for value in values.values())
    assert told[1]["lp_min"] == -100.0
