"""Replaces halves of characters, which JSON can bring and no encoder can write."""

from __future__ import annotations


def whole_characters(text: str) -> str:
    r"""Return the text with two halves joined to their character, and a lone half as U+FFFD.

    JSON may escape a character above U+FFFF as two halves (`"\ud83d\ude00"`). A text that was cut
    between them holds one half alone, which UTF-8 can't encode.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
