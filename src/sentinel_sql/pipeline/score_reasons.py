"""Finds the words and features with the most weight in both scores of a prefix (linear head)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from sentinel_sql.monitor.heads.contributions import Term, contributions
from sentinel_sql.monitor.heads.linear import FittedLinearHead, LinearHead
from sentinel_sql.monitor.heads.ngrams import name_ngrams
from sentinel_sql.monitor.session import Monitor
from sentinel_sql.trajectory.record import Prefix, commitment
from sentinel_sql.trajectory.render import TOKEN, render_question, render_step

STRONGEST: Final = 8
"""Terms that are listed one by one (our choice); the others are summed."""

_SIGNS: Final = {"answerability": -1.0, "correctness": 1.0}
"""The answerability head's positive class is "unanswerable"; here + always speaks for the run."""


def weights(monitor: Monitor, prefix: Prefix) -> Mapping[str, list[dict[str, Any]]]:
    """Return the terms with the most weight in both heads' log-odds.

    An n-gram is a word, a part of a word or a pair of words. Parts are hard to read, so the weight
    of an n-gram is divided evenly among the words that it comes from.

    Args:
        monitor: the frozen monitor.
        prefix: the prefix to explain.

    Returns:
        `answerability` and `correctness`, each a list of `name` and `value`. A value is what a
        word or a feature adds to the log-odds that the question is answerable, or the answer
        right. The last two are the sum of all others, and the constant of a typical prefix; so
        the values sum to the log-odds. Empty if the head isn't linear.
    """
    estimators = monitor.estimators
    if not isinstance(estimators.head, LinearHead):
        return {}
    surroundings = estimators.surroundings.of(prefix.question)
    fitted = [getattr(estimators, head) for head in _SIGNS]
    if not all(isinstance(head, FittedLinearHead) for head in fitted):
        return {}
    words = _Words(prefix)
    weights_by_head = {}
    found = contributions(fitted, estimators.head, prefix, surroundings)
    for (head, sign), parts in zip(_SIGNS.items(), found, strict=True):
        added = words.share_out(parts.terms)
        strongest = sorted(added, key=lambda name: -abs(added[name]))[:STRONGEST]
        rest = parts.margin - parts.bias - sum(added[name] for name in strongest)
        weights_by_head[head] = [
            *({"name": name, "value": sign * added[name]} for name in strongest),
            {
                "name": f"{len(added) - len(strongest)} other words and features",
                "value": sign * rest,
            },
            {"name": "before any of these", "value": sign * parts.bias},
        ]
    return weights_by_head


class _Words:
    """The words of a prefix, with their places and n-grams."""

    def __init__(self, prefix: Prefix) -> None:
        self._places: dict[str, list[str]] = {}
        texts = [("question", render_question(prefix.question))]
        for step in prefix.steps:
            committed = commitment(step, commit_on_error=prefix.commit_on_error)
            texts.append((f"step {step.index}", render_step(step, committed)))
        for place, text in texts:
            for word in dict.fromkeys(match.group() for match in TOKEN.finditer(text.lower())):
                self._places.setdefault(word, []).append(place)
        self._shown = {word: _with_places(word, at) for word, at in self._places.items()}
        self._owners: dict[str, list[str]] = {}
        self._found: dict[tuple[str, ...], dict[str, None]] = {}
        for word in self._places:
            for names in name_ngrams(word).values():
                for name in names:
                    self._owners.setdefault(name, []).append(word)

    def share_out(self, terms: Iterable[Term]) -> dict[str, float]:
        """Return what every word and feature adds, by its readable name."""
        added: dict[str, float] = {}
        for term in terms:
            if term.kind == "feature":
                added[f"{term.names[0]} = {term.value:.3g}"] = term.log_odds
                continue
            owners = self._owners_of(term.names)
            for word in owners:
                name = self._shown[word]
                added[name] = added.get(name, 0.0) + term.log_odds / len(owners)
        return added

    def _owners_of(self, names: tuple[str, ...]) -> Collection[str]:
        if names not in self._found:  # both heads read the same n-grams
            self._found[names] = dict.fromkeys(
                word
                for name in names
                for word in self._owners.get(name, name.split() if " " in name else ())
                if word in self._places
            )
        return self._found[names]


def _with_places(word: str, places: Sequence[str]) -> str:
    return f"“{word}” ({', '.join(places[:3])}{', …' if len(places) > 3 else ''})"
