"""Checksums of stored lines and documents, to find and report damage.

A line is a JSON object whose last two members are `line`, its number in the file, and `crc32`, the
checksum of all bytes before that member. A document has `sha256`, the hash of its other members.
Files of older versions have no checksums and are read without them.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from sentinel_sql.errors import SentinelError, StoreError, UncheckedWarning

_SEAL: Final = re.compile(rb',"line":([1-9][0-9]{0,15}),"crc32":"([0-9a-f]{8})"\}\Z')
_LONGEST_SEAL: Final = 48
"""Bytes at the end of a line that are searched, to keep reading fast."""
_PART_OF_A_SEAL: Final = re.compile(rb',"line":[0-9]|"crc32":"')
"""One half of a seal. A line with only one half is damaged, since one byte can't destroy both."""
_CHECKSUM_STARTS_AT: Final = len(b',"crc32":"00000000"}')

REMEDY: Final = (
    "restore the file from a copy, or remove its checksums as docs/reference/formats.md shows, "
    "to continue without what is lost"
)


class Line(NamedTuple):
    """One line of a file.

    Attributes:
        number: number in the file, from 1, counting empty lines.
        content: the record, without number, checksum and newline.
        ended: True if it is complete: it ends in a newline, or its checksum fits.
    """

    number: int
    content: bytes
    ended: bool


def with_checksum(record: bytes, *, line: int) -> bytes:
    """Return a record as a line with number, checksum and newline.

    Args:
        record: a JSON object with at least one member, in one line.
        line: number of the line in the file, ≥ 1.
    """
    checked = record.rstrip()[:-1] + b',"line":%d' % line
    return checked + b',"crc32":"%08x"}\n' % zlib.crc32(checked)


def read_lines(
    lines: Iterable[bytes],
    *,
    file: Path,
    expected: int | None = None,
    remedy: str = REMEDY,
    refusal: type[SentinelError] = StoreError,
    warn_by: str | None = None,
) -> Iterator[Line]:
    """Check and yield the lines of a file; empty lines are skipped.

    Lines of older versions, without a checksum, may come before those with one. A last line without
    a newline is yielded too: the caller decides about the rest of a killed process.

    Args:
        lines: lines of the file, with their newlines.
        file: path for errors.
        expected: smallest number of lines; None if unknown.
        remedy: what to do about damage.
        refusal: the error to raise.
        warn_by: name of the file that holds the number of lines, or "" if the lines themselves do:
            warn if damage could go unseen; None: don't.

    Raises:
        SentinelError: `refusal`, if a line isn't what was written, or lines are missing.
    """
    count, bare, sealed = 0, 0, False
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        ended = line.endswith(b"\n")
        text = line[:-1] if ended else line
        start = max(0, len(text) - _LONGEST_SEAL)
        seal = _SEAL.search(text, start)
        if seal is None:
            if ended and (sealed or _PART_OF_A_SEAL.search(text, start)):
                raise refusal(f"{file}, line {number}: damaged, it has no checksum; {remedy}")
            count += ended
            bare += ended
            yield Line(number, text, ended)
            continue
        if zlib.crc32(text[:-_CHECKSUM_STARTS_AT]) != int(seal[2], 16):
            raise refusal(f"{file}, line {number}: damaged, its checksum doesn't fit; {remedy}")
        stated = int(seal[1])
        if stated > count + 1:
            raise refusal(
                f"{file}, line {number}: {_lines(stated - count - 1)} missing before it; {remedy}"
            )
        if stated <= count:
            raise refusal(
                f"{file}, line {number}: out of place, it was written as line {stated}; {remedy}"
            )
        count, sealed = stated, True
        yield Line(number, text[: seal.start()] + b"}", True)
    if warn_by is not None and bare:
        _warn(
            f"{file}: {bare:,} of {count:,} lines have no checksum, so damage in them goes unseen; "
            "`sentinel migrate` gives a store, labels or confidences checksums, gzip any file one"
        )
    if warn_by and sealed and expected is None:
        _warn(
            f"{file}: {count:,} lines are read, but {warn_by} is missing beside it, so lines that "
            "are cut off at the end go unseen; copy it from where the file came from"
        )
    if expected is not None and count < expected:
        raise refusal(f"{file}: cut short, {_lines(expected - count)} missing at its end; {remedy}")


def _warn(message: str) -> None:
    warnings.warn(message, UncheckedWarning, stacklevel=3)


def carries_checksum(text: bytes) -> bool:
    """Return whether a line without its newline ends in a number and a checksum."""
    return _SEAL.search(text, max(0, len(text) - _LONGEST_SEAL)) is not None


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON-ready document with the hash of its content as its last member."""
    content = {key: value for key, value in document.items() if key != "sha256"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return content | {"sha256": hashlib.sha256(canonical.encode()).hexdigest()}


def unsealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without its hash, after checking it; older documents have no hash.

    Raises:
        ValueError: the content isn't what was written.
    """
    content = dict(document)
    key, value = content.popitem() if content else ("", None)
    if key == "sha256":
        if value != sealed(content)["sha256"]:
            raise ValueError("the hash doesn't fit the content")
        return content
    # The name of the hash is damaged; an older document has no such last member.
    if len(key) == len("sha256") and re.fullmatch("[0-9a-f]{64}", str(value)):
        raise ValueError("the hash has lost its name")
    return dict(document)


def _lines(count: int) -> str:
    return "1 line is" if count == 1 else f"{count:,} lines are"
