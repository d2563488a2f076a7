"""What a database holds of a question's words: made before a run, stored with it as plain data."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from sentinel_sql.plain_record import Count, Record, Share

COVERAGE_FORMAT: Final = "sentinel-coverage/1"

MatchKind = Literal["table", "column", "comment", "value", "id", "number", "date", "after-clock"]
MatchHow = Literal["exact", "inflected", "abbreviated", "partly", "alike"]


class PhraseMatch(Record):
    """One thing in the database that a phrase of the question may mean.

    Attributes:
        kind: what it is: the name or comment of a table or column, a stored text (`value`), an
            identifier that a key column holds (`id`), another number, a date within the span of the
            data, or one after the database's clock.
        table: folded name of its table, or None.
        column: folded name of its column, or None.
        how: how the phrase has it; `partly` means that a stored text has more words.
        likeness: how much, in [0, 1].
        value: the stored text; only if stored texts were to be kept.
    """

    kind: MatchKind
    table: str | None = None
    column: str | None = None
    how: MatchHow = "exact"
    likeness: Share = 1.0
    value: Annotated[str | None, Field(exclude_if=lambda it: it is None)] = None


class CoveredPhrase(Record):
    """A phrase of meaning in the question.

    Attributes:
        text: as it is written in the question.
        start: its first character's place in the question.
        words: its words, folded and without plural endings.
        matches: what it may mean, the surest first; none if nothing in the database holds it.
        earlier: whether it stands in an earlier turn of the chat; `start` is then a place there.
    """

    text: str
    start: Count
    words: tuple[str, ...]
    matches: tuple[PhraseMatch, ...] = ()
    earlier: Annotated[bool, Field(exclude_if=lambda it: not it)] = False


class Coverage(Record):
    """The phrases of a question, each with what the database holds of it.

    Attributes:
        readable: whether the question could be read. One in another language than English, full of
            typing errors, or one that leans on an earlier turn that isn't known can't.
        why_unread: the reason, in words for people; None if it is readable.
        phrases: in the order of the question, then those of earlier turns; stop words are left out.
    """

    format: Literal["sentinel-coverage/1"] = COVERAGE_FORMAT
    readable: bool = True
    why_unread: str | None = None
    phrases: tuple[CoveredPhrase, ...] = ()

    @property
    def unheld(self) -> tuple[CoveredPhrase, ...]:
        """The phrases that nothing in the database holds."""
        return tuple(phrase for phrase in self.phrases if not phrase.matches)
