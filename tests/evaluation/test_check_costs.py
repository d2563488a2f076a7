"""A check that costs more than it earns is told in one line, with what to do."""

from __future__ import annotations

from sentinel_sql.evaluation.check_costs import costly_checks, stakes_note


def ladder(**earned: float) -> list[tuple[str, float, float]]:
    scores = {"vanilla": 0.1, "chow": 0.4, "full": 0.4, "early-stop": 0.4}
    scores |= {name.replace("_", "-"): score for name, score in earned.items()}
    return [(system, 1.0, score) for system, score in scores.items()]


def test_checks_that_earn_or_cost_nothing_are_not_spoken_of() -> None:
    assert costly_checks(ladder()) == ()
    assert costly_checks(ladder(full=0.5, early_stop=0.6)) == ()
    assert costly_checks([]) == ()


def test_each_check_that_costs_is_named_with_the_loss_and_the_remedy() -> None:
    (gate,) = costly_checks(ladder(full=0.17, early_stop=0.17))
    assert "full earns 0.230 less than chow at λ = 1" in gate
    assert "--no-gate" in gate
    (stop,) = costly_checks(ladder(early_stop=0.3))
    assert stop.startswith("the early stop costs")
    bar, _ = costly_checks(ladder(chow=0.0, full=-0.1, early_stop=0.0))
    assert bar.startswith("the delivery bar costs")
    assert all("\n" not in line for line in (gate, stop, bar))


def test_the_worst_stakes_stand_for_a_check() -> None:
    rows = [("chow", 1.0, 0.4), ("full", 1.0, 0.3), ("chow", 4.0, 0.2), ("full", 4.0, -0.3)]
    others = [(name, level, 0.0) for name in ("vanilla", "early-stop") for level in (1.0, 4.0)]
    (gate, *_) = [line for line in costly_checks(rows + others) if "gate" in line]
    assert "at λ = 4" in gate


def test_stakes_that_a_monitor_cannot_serve_are_listed() -> None:
    served = {"served": {"limit": 2.567}}
    note = stakes_note(served, [1.0, 4.0, 9.0])
    assert note is not None
    assert "up to λ = 2.57: at 4, 9 " in note
    assert stakes_note(served, [1.0, 2.0]) is None
    assert stakes_note({"served": None}, [9.0]) is None
    assert stakes_note({}, [9.0]) is None
