"""What the outermost SELECT of a gold query says of the form of its answer."""

from __future__ import annotations

import pytest

from sentinel_sql.labels.answer_form import SelectForm, select_form


@pytest.mark.parametrize(
    ("sql", "form"),
    [
        ("SELECT a FROM t", SelectForm()),
        ("SELECT DISTINCT a FROM t", SelectForm(distinct=True)),
        ("SELECT a FROM (SELECT DISTINCT a FROM t)", SelectForm()),
        ("SELECT a FROM t UNION SELECT b FROM u", SelectForm(distinct=True)),
        ("SELECT a FROM t UNION ALL SELECT b FROM u", SelectForm()),
        ("SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY 1", SelectForm(ordered=True)),
        ("SELECT a FROM t ORDER BY a", SelectForm(ordered=True)),
        ("SELECT COUNT(*) > 0 FROM t", SelectForm(truth_value=True)),
        ("SELECT (a = 1 AND b = 2) AS it FROM t", SelectForm(truth_value=True)),
        ("SELECT NOT EXISTS (SELECT 1 FROM t)", SelectForm(truth_value=True)),
        ("SELECT a > 1, b FROM t", SelectForm()),
        ("SELECT ROUND(AVG(a), 2) FROM t", SelectForm(digits=2)),
        ("SELECT ROUND(a, 1), ROUND(b, 3) AS c FROM t", SelectForm(digits=3)),
        ("SELECT a, ROUND(b, 0) FROM t", SelectForm(digits=0)),
        ("DELETE FROM t", SelectForm()),
        ("SELECT a FROM", SelectForm()),
        ("not a query (", SelectForm()),
    ],
)
def test_form_is_that_of_the_outermost_select(sql: str, form: SelectForm) -> None:
    assert select_form(sql) == form
