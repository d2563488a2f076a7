"""The words of the questions of a fit, by class: which words of a new question nobody used there.

A word counts for a question only if a question of another template used it. So the columns of the
fit are made as for a question that nobody has seen. Words are kept as hashes.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sentinel_sql.coverage import Coverage
from sentinel_sql.monitor.array_checks import indices
from sentinel_sql.monitor.families.step_view import UNSEEN
from sentinel_sql.monitor.head import Arrays, Bools, Floats, Ints

FEATURES = MappingProxyType(
    {
        "unheld_new_to_negatives": "words that nothing holds and no question of the fit's negative "
        "class uses",
        "any_unheld_new": "1 if there is one",
        "unheld_new_to_positives": "words that nothing holds and no question of its positive class "
        "uses",
        "weak_new_to_negatives": "words that are only parts of stored texts, or spelled like one, "
        "and that no question of its negative class uses",
        "new_to_negatives": "words that no question of its negative class uses",
    }
)
"""Meanings by name; unknown without a readable coverage record."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionWords:
    """Hashes of a question's words of meaning.

    Attributes:
        words: all of them.
        unheld: those that nothing in the database holds.
        weak: those that are only parts of stored texts, or spelled like a stored word.
    """

    words: tuple[int, ...]
    unheld: tuple[int, ...]
    weak: tuple[int, ...]


def words_of_question(coverage: Coverage | None) -> QuestionWords | None:
    """Return the words of a question; None without a readable coverage record."""
    if coverage is None or not coverage.readable:
        return None
    phrases = [
        ([zlib.crc32(word.encode()) for word in phrase.words if not word[:1].isdigit()], phrase)
        for phrase in coverage.phrases
    ]
    return QuestionWords(
        words=tuple(word for words, _ in phrases for word in words),
        unheld=tuple(word for words, phrase in phrases if not phrase.matches for word in words),
        weak=tuple(
            word
            for words, phrase in phrases
            if phrase.matches and phrase.matches[0].how in ("partly", "alike")
            for word in words
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """The words of both classes, as hashes.

    Attributes:
        negatives: words in questions of the negative class.
        positives: words in questions of the positive class.
    """

    negatives: frozenset[int]
    positives: frozenset[int]

    def columns(self, asked: QuestionWords | None) -> list[float]:
        """Return the features of one question, in the order of `FEATURES`."""
        return _columns(asked, self.negatives, self.positives)

    def arrays(self) -> Arrays:
        """Return the words as arrays."""
        return {
            "negatives": np.array(sorted(self.negatives), np.int64),
            "positives": np.array(sorted(self.positives), np.int64),
        }

    @classmethod
    def restore(cls, arrays: Arrays, prefix: str) -> Vocabulary:
        """Make a vocabulary of what `arrays` gave.

        Raises:
            KeyError, ValueError: the arrays aren't of a vocabulary.
        """
        negatives, positives = (
            frozenset(indices(arrays, f"{prefix}{name}", below=2**32).tolist())
            for name in ("negatives", "positives")
        )
        return cls(negatives=negatives, positives=positives)


def fit_vocabulary(
    asked: Sequence[QuestionWords | None], targets: Bools, groups: Ints
) -> tuple[Vocabulary, Floats]:
    """Return the vocabulary, and the columns of each row made from the other templates alone.

    Args:
        asked: words of n rows.
        targets: shape (n,).
        groups: shape (n,), the template of each row.

    Returns:
        Columns of shape (n, 5), in the order of `FEATURES`.
    """
    users: tuple[dict[int, set[int]], ...] = (defaultdict(set), defaultdict(set))
    for words, target, group in zip(asked, targets.tolist(), groups.tolist(), strict=True):
        for word in () if words is None else words.words:
            users[int(target)][word].add(group)
    made: dict[tuple[int, QuestionWords | None], list[float]] = {}
    for words, group in zip(asked, groups.tolist(), strict=True):
        if (group, words) not in made:
            negatives, positives = (_Others(by, group) for by in users)
            made[group, words] = _columns(words, negatives, positives)
    columns = [made[key] for key in zip(groups.tolist(), asked, strict=True)]
    vocabulary = Vocabulary(negatives=frozenset(users[0]), positives=frozenset(users[1]))
    return vocabulary, np.array(columns).reshape(len(columns), len(FEATURES))


@dataclass(frozen=True, slots=True)
class _Others:
    """The words of all templates but one."""

    users: Mapping[int, set[int]]
    own: int

    def __contains__(self, word: object) -> bool:
        users = self.users.get(word, frozenset())  # type: ignore[call-overload]
        return bool(users - {self.own})


def _columns(
    asked: QuestionWords | None, negatives: Container[int], positives: Container[int]
) -> list[float]:
    if asked is None:
        return [UNSEEN] * len(FEATURES)
    new = sum(word not in negatives for word in asked.unheld)
    return [
        float(new),
        float(new > 0),
        float(sum(word not in positives for word in asked.unheld)),
        float(sum(word not in negatives for word in asked.weak)),
        float(sum(word not in negatives for word in asked.words)),
    ]
