"""Changes a query's text as the official EHRSQL scorers do before they run it.

Each function returns exactly what the scorer of that data set returns, including its faults: the
replacements also change strings and names. The facts are from EHRSQL 1.5.1 (`evaluate.py`) and
EHRSQL-2024 1.1.1 (`scoring_program/postprocessing.py`); the code is our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sentinel_sql.database.clock import KNOWN_CLOCKS

VITAL_RANGES: Mapping[str, tuple[float, float]] = {
    "temperature": (35.5, 38.1),
    "sao2": (95.0, 100.0),
    "heart rate": (60.0, 100.0),
    "respiration": (12.0, 18.0),
    "systolic bp": (90.0, 120.0),
    "diastolic bp": (60.0, 90.0),
    "mean bp": (60.0, 110.0),
}
"""Normal range of each vital sign that a gold query may name (`heart_rate_lower`, …)."""

_NAME = "[a-zA-Z0-9_]+"
_FIRST_LOWER = re.compile(rf"[ \n]({_NAME}_lower)")
_FIRST_UPPER = re.compile(rf"[ \n]({_NAME}_upper)")
_DATE_ARITHMETIC = re.compile(
    r"DATE_(?P<way>SUB|ADD)\((?P<date>\w+\(\)|'[^']+')[, ]+ INTERVAL "
    r"(?P<count>\d+) (?P<unit>MONTH|YEAR|DAY)\)"
)


def postprocess_v1(sql: str) -> str:
    """Return a query as EHRSQL's scorer runs it on MIMIC-III or eICU.

    It is put in lower case, doubled quotes become single, and clock and vital ranges are filled in.
    """
    clock = KNOWN_CLOCKS["mimic_iii"]
    sql = sql.lower().replace("current_time", f"'{clock}'")
    sql = _with_vital_range(sql)
    sql = sql.replace("''", "'").replace("< =", "<=")
    return _with_capital_formats(sql).replace("'now'", f"'{clock}'")


def postprocess_2024(sql: str) -> str:
    """Return a query as EHRSQL-2024's scorer runs it on MIMIC-IV.

    Lines are joined, runs of blanks become one blank (also in strings), split comparison signs are
    joined, MySQL's date arithmetic becomes SQLite's, and clock and vital ranges are filled in.
    """
    clock = KNOWN_CLOCKS["mimic_iv"]
    sql = re.sub(" +", " ", sql.replace("\n", " ")).strip()
    for split, whole in (("> =", ">="), ("< =", "<="), ("! =", "!=")):
        sql = sql.replace(split, whole)
    sql = _DATE_ARITHMETIC.sub(_sqlite_date_arithmetic, sql)
    for text, time in (
        ("current_time", clock),
        ("current_date", clock[:10]),
        ("'now'", clock),
        ("NOW()", clock),
        ("CURDATE()", clock[:10]),
        ("CURTIME()", clock[11:]),
    ):
        sql = sql.replace(text, f"'{time}'")
    return _with_capital_formats(_with_vital_range(sql))


def unchanged(sql: str) -> str:
    """Return the query unchanged."""
    return sql


def _with_vital_range(sql: str) -> str:
    lower, upper = _FIRST_LOWER.search(sql), _FIRST_UPPER.search(sql)
    if not (lower and upper):
        return sql
    vital = lower[1].removesuffix("_lower")
    if vital != upper[1].removesuffix("_upper"):
        return sql
    low, high = VITAL_RANGES.get(vital.replace("_", " "), (None, None))
    if low is None:
        return sql
    return sql.replace(lower[1], str(low)).replace(upper[1], str(high))


def _with_capital_formats(sql: str) -> str:
    return sql.replace("%y", "%Y").replace("%j", "%J")


def _sqlite_date_arithmetic(match: re.Match[str]) -> str:
    sign = "-" if match["way"] == "SUB" else "+"
    plural = "" if match["count"] == "1" else "s"
    return f"datetime({match['date']}, '{sign}{match['count']} {match['unit'].lower()}{plural}')"
