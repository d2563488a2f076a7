"""Queries are prepared as the official scorers prepare them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_sql.database.ehrsql_sql import VITAL_RANGES, postprocess_2024, postprocess_v1

NOW_V1 = "'2105-12-31 23:59:00'"
NOW_2024 = "'2100-12-31 23:59:00'"


@pytest.mark.parametrize(
    ("sql", "prepared"),
    [
        ("SELECT  a\n FROM   t ", "SELECT a FROM t"),
        ("a > = 1 and b < = 2 and c ! = 3", "a >= 1 and b <= 2 and c != 3"),
        ("date(current_time)", f"date({NOW_2024})"),
        ("CURRENT_TIME", "CURRENT_TIME"),
        ("current_timestamp", f"{NOW_2024}stamp"),
        ("current_date", "'2100-12-31'"),
        ("drug = 'now'", f"drug = {NOW_2024}"),
        ("'NOW'", "'NOW'"),
        ("NOW() CURDATE() CURTIME()", f"{NOW_2024} '2100-12-31' '23:59:00'"),
        ("DATE_SUB(NOW(), INTERVAL 1 YEAR)", f"datetime({NOW_2024}, '-1 year')"),
        ("DATE_ADD('2100-01-01', INTERVAL 12 MONTH)", "datetime('2100-01-01', '+12 months')"),
        ("DATE_ADD(x, INTERVAL 2 DAY)", "DATE_ADD(x, INTERVAL 2 DAY)"),
        ("date_sub(NOW(), INTERVAL 2 DAY)", f"date_sub({NOW_2024}, INTERVAL 2 DAY)"),
        ("strftime('%y-%m', x)", "strftime('%Y-%m', x)"),
        ("strftime('%j', x)", "strftime('%J', x)"),
        (
            "x BETWEEN heart_rate_lower AND heart_rate_upper",
            "x BETWEEN 60.0 AND 100.0",
        ),
        ("sao2_lower AND sao2_upper", "sao2_lower AND sao2_upper"),  # no blank before the first
        ("x sao2_lower y temperature_upper", "x sao2_lower y temperature_upper"),
        ("x pulse_lower y pulse_upper", "x pulse_lower y pulse_upper"),
        ("'double  blank'", "'double blank'"),
        ("null", "null"),
    ],
)
def test_2024(sql: str, prepared: str) -> None:
    assert postprocess_2024(sql) == prepared


@pytest.mark.parametrize(
    ("sql", "prepared"),
    [
        ("SELECT Name FROM T WHERE x = 'ABC'", "select name from t where x = 'abc'"),
        ("CURRENT_TIME", NOW_V1),
        ("date('NOW')", f"date({NOW_V1})"),
        ("x = 'it''s'", "x = 'it's'"),
        ("x = ''now''", f"x = {NOW_V1}"),
        ("a < = 1 and b > = 2", "a <= 1 and b > = 2"),
        ("strftime('%Y %j', x)", "strftime('%Y %J', x)"),
        ("x between SysTolic_BP_lower and systolic_bp_upper", "x between 90.0 and 120.0"),
        ("a  b\nc", "a  b\nc"),
    ],
)
def test_v1(sql: str, prepared: str) -> None:
    assert postprocess_v1(sql) == prepared


@pytest.mark.parametrize("vital", VITAL_RANGES)
def test_each_vital_sign_has_its_range_filled_in_everywhere(vital: str) -> None:
    name = vital.replace(" ", "_")
    low, high = VITAL_RANGES[vital]
    sql = f"select 1 where v > {name}_lower and v < {name}_upper or w > {name}_lower"
    prepared = f"select 1 where v > {low} and v < {high} or w > {low}"
    assert postprocess_2024(sql) == postprocess_v1(sql) == prepared


@given(st.text(max_size=40))
def test_preparing_never_fails(text: str) -> None:
    assert isinstance(postprocess_2024(text), str)
    assert isinstance(postprocess_v1(text), str)
