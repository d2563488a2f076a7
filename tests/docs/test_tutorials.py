"""Each tutorial works as it stands: its files, its commands, and what they are said to print."""

from __future__ import annotations

from pathlib import Path

import pytest
from tutorial_page import ROOT, Printed, run_page, without_figures

import ward
from sentinel_sql.testing import ScriptedEndpoint

PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
ADDRESS = "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_works_as_it_stands(page: Path, tmp_path: Path) -> None:
    with ScriptedEndpoint(ward.chat) as endpoint:
        said = list(run_page(page, tmp_path, replaced={ADDRESS: endpoint.url}))
    assert len(said) > 4
    for printed in said:
        _is_as_on_the_page(printed)


def _is_as_on_the_page(said: Printed) -> None:
    if said.on_page is not None:
        assert without_figures(said.printed) == without_figures(said.on_page), said.commands
