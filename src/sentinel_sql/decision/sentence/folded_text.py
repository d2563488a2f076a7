"""A text as names are looked for in it, and the words by which column names differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sentinel_sql.decision.sentence.contents import folded
from sentinel_sql.decision.sentence.vocabulary import ALIASES, stem


@dataclass(frozen=True, kw_only=True, slots=True)
class FoldedText:
    """A text as names are looked for in it: folded between blanks, and the stems of its words."""

    text: str
    stems: frozenset[str]

    @classmethod
    def of(cls, text: str) -> FoldedText:
        """Fold a text."""
        inside = f" {folded(text)} "
        return cls(text=inside, stems=frozenset(map(stem, inside.split())))

    def mentions(self, cell: str) -> bool:
        """Tell whether the text names a folded cell: by its words, an alias, or most words."""
        if any(f" {each} " in self.text for each in (cell, *ALIASES.get(cell, ()))):
            return True
        words = cell.split()
        if len(words) > 1 and f" {words[0][0]} {' '.join(words[1:])} " in self.text:
            return True  # E. coli
        long = [word for word in words if len(word) > 3]
        if len(cell) > 3 and f" {cell}s " in self.text:
            return True
        if len(long) < 2:
            return False
        return sum(stem(word) in self.stems for word in long) >= 0.6 * len(long)


def own_words(columns: Sequence[str]) -> list[set[str]]:
    """Return for each column the stems of its name that no other column's name holds or begins."""
    stems = [
        {stem(word) for word in re.findall(r"[^\W\d_]+", name) if len(word) > 2} for name in columns
    ]
    return [
        {
            word
            for word in its
            if not any(
                other.startswith(word) or word.startswith(other)
                for place, others in enumerate(stems)
                if place != at
                for other in others
            )
        }
        for at, its in enumerate(stems)
    ]
