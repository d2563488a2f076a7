"""The site builds strictly and offline, loads nothing from elsewhere, and has no dead link."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
_LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
_LINKED_AS_METADATA = {"canonical"}


@dataclass
class Page(HTMLParser):
    """What a page of the site links to, loads, and can be linked at."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        for name, value in given.items():
            if (tag, name) in _LOADS and given.get("rel") not in _LINKED_AS_METADATA:
                self.loads.append(value)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The site, and what the build said."""
    folder = tmp_path_factory.mktemp("site")
    nowhere = {f"{name}_proxy": "http://127.0.0.1:9" for name in ("http", "https", "all")}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stderr


@pytest.fixture(scope="module")
def pages(built: tuple[Path, str]) -> dict[Path, Page]:
    found = {}
    for file in built[0].rglob("*.html"):
        page = Page()
        page.feed(file.read_text(encoding="utf-8"))
        found[file.resolve()] = page
    return found


def test_the_site_builds_with_no_warning(built: tuple[Path, str]) -> None:
    assert "WARNING" not in built[1]


def test_a_page_of_the_site_loads_nothing_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert len(pages) > 60
    for file, page in pages.items():
        for load in page.loads:
            assert not urlsplit(load).netloc, (file.name, load)
            if file.name != "404.html":
                assert (file.parent / unquote(urlsplit(load).path)).exists(), (file.name, load)


def test_every_link_of_the_site_leads_to_a_page_and_a_place_in_it(pages: dict[Path, Page]) -> None:
    for file, page in pages.items():
        for link in page.links if file.name != "404.html" else ():
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme == "https", (file.name, link)
                assert "." in parts.netloc, (file.name, link)
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            assert target.exists(), (file.name, link)
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, (file.name, link)


def test_every_public_name_has_its_place_in_the_reference(pages: dict[Path, Page]) -> None:
    import sentinel_sql

    (file,) = (file for file in pages if file.as_posix().endswith("reference/api.html"))
    anchors = pages[file].anchors
    assert [name for name in sentinel_sql.__all__ if f"sentinel_sql.{name}" not in anchors] == []
