"""The page of numbers tells what each number means that the pages show as printed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tutorial_page import ROOT, fences

DOCS = ROOT / "docs"
NUMBERS = (DOCS / "reference" / "numbers.md").read_text(encoding="utf-8").lower()
LISTS = ("Imported", "Pools", "Labels", "Questions", "Collected", "Monitor")
"""First words of what is printed as a list of names and values."""
NO_NUMBERS = {"", "store", "bundle", "out", "head", "schema", "delivery by", "mode", "judge"}


def printed_tables() -> Iterator[str]:
    pages = [*(DOCS / "tutorials").glob("*.md"), DOCS / "explanation" / "what-was-measured.md"]
    for page in pages:
        for fence in fences(page):
            if fence.language == "text":
                yield from re.split(r"\n\s*\n", fence.text)


def names() -> Iterator[str]:
    for table in printed_tables():
        title, _, rest = table.partition("\n")
        if title.startswith(LISTS):
            for line in rest.splitlines():
                yield re.split(r"\s{2,}", line)[0].strip()
        elif re.search(r"\d", rest) and re.match(r"[A-Z]", title):
            yield from re.findall(r"[^\W\d]{2,}−?", rest.splitlines()[0])


@pytest.mark.parametrize("name", sorted(set(names()) - NO_NUMBERS))
def test_what_is_printed_is_explained(name: str) -> None:
    words = name.strip().lower().replace("_", " ")
    assert words in NUMBERS.replace("_", " ")
