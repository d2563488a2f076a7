"""Every page is of one of four kinds, and every link leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from markdown.extensions.toc import slugify

from sentinel_sql.cli.settings import SETTINGS, variable_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
KINDS = {
    "Tutorials": "tutorials",
    "How-to": "how-to",
    "Reference": "reference",
    "Explanation": "explanation",
}
"""The sections of the site, and the folder of each."""
EXPLANATIONS_ELSEWHERE = ("architecture.md", "decisions/")
"""Explanations that keep the paths by which people know them."""
LOOSE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
README_WORDS = 900
SITE: Any = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in LOOSE)])


def in_nav(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        for inner in entry.values():
            yield from in_nav(inner)
    else:
        for inner in entry:
            yield from in_nav(inner)


def kind_of(page: str) -> str:
    if page.startswith(EXPLANATIONS_ELSEWHERE):
        return "explanation"
    return page.partition("/")[0]


def without_code(text: str) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#{1,6} (.+)$", without_code(page.read_text()), re.MULTILINE)
    return {slugify(re.sub(r"[`*]", "", heading), "-") for heading in headings}


def test_each_section_of_the_site_holds_pages_of_its_own_kind_only() -> None:
    start, *sections = SITE["nav"]
    assert start == {"Start": "index.md"}
    assert [name for section in sections for name in section] == list(KINDS)
    for section in sections:
        ((name, entries),) = section.items()
        assert {kind_of(page) for page in in_nav(entries)} == {KINDS[name]}, name


def test_each_page_is_of_one_kind_and_in_the_site() -> None:
    there = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    listed = list(in_nav(SITE["nav"]))
    assert len(listed) == len(set(listed))
    unlisted = {page for page in there if not page.startswith("decisions/")} - set(listed)
    assert unlisted == set()
    assert {kind_of(page) for page in there} - {"index.md"} == set(KINDS.values())


def test_a_how_to_asks_one_question_in_its_title() -> None:
    for page in (DOCS / "how-to").glob("*.md"):
        title = page.read_text().splitlines()[0]
        assert re.match(r"# (How do I|What (can|do) I) .*\?$", title), page.name


def test_every_decision_is_listed_under_explanation() -> None:
    index = (DOCS / "explanation" / "decisions.md").read_text()
    pages = sorted(page.name for page in (DOCS / "decisions").glob("*.md"))
    assert re.findall(r"\(\.\./decisions/([^)]+)\)", index) == pages


def test_the_reference_of_columns_is_what_the_code_says_today() -> None:
    written = (DOCS / "reference" / "columns.md").read_text(encoding="utf-8")
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "column_reference.py"],
        capture_output=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"},
    )
    assert written == made.stdout.decode(), "run `make docs`"


def test_the_reference_of_settings_names_each_with_its_variable() -> None:
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| [^|]+ \| `([^`]+)` \|$", page, re.MULTILINE)
    assert dict(rows) == {name: variable_of(name) for name in SETTINGS}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", without_code(page.read_text(encoding="utf-8")))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        parts = urlsplit(target)
        if parts.scheme:
            assert parts.scheme == "https", target
            assert "." in parts.netloc, target
            continue
        file = (page.parent / parts.path).resolve() if parts.path else page
        assert file.exists(), target
        if parts.fragment:
            assert parts.fragment in anchors(file), target


def test_the_readme_is_short() -> None:
    words = without_code((ROOT / "README.md").read_text(encoding="utf-8")).split()
    assert len(words) <= README_WORDS


def test_the_citation_names_the_version_of_the_project() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])


def test_no_file_of_the_source_points_at_a_page_that_is_gone() -> None:
    for source in (ROOT / "src").rglob("*.py"):
        for page in re.findall(r"\bdocs/[\w/-]+\.md", source.read_text(encoding="utf-8")):
            assert (ROOT / page).is_file(), (source.name, page)
