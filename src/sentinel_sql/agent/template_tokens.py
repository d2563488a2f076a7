"""Removes tokens of chat templates and the thinking before the answer from a reply."""

from __future__ import annotations

import re

# A closing tag stands in no query. A word in angle brackets could compare columns, and one in
# square brackets name them, so they count where no query goes on, or by their names.
MARKER_PATTERN = (
    r"(?:[<\[][|｜][^\s|｜<>]{1,60}[|｜][>\]]|</[A-Za-z][\w:.\-]{0,60}>|<think(?:ing)?>"
    r"|\[(?:INST|THINK|/[A-Z_]{1,20}|EOS|EOT|BOS|PAD|UNK)\]|<</?SYS>>"
    r"|<(?:start|end)_of_(?:turn|utterance|text)>|<tool_call>|<[|｜]\w{0,40}[|｜]?\Z"
    r"|<(?i:s|eos|eot|eom|bos|pad|unk|eod|sep)>(?![ \t]*[\w'\"(])"
    r"|<[A-Za-z_][\w:.|｜\-]{0,60}>(?=\s*+(?:\Z|<[|｜/A-Za-z])))"
)
MARKER = re.compile(MARKER_PATTERN)

_LEAD = re.compile(
    r"(?:\s|<\w{1,30}>|" + MARKER_PATTERN + r"|(?<=[>\]])(?:assistant|model|final)\b[ \t]*+:?+"
    r"(?=\s|<))*+"
)
_THINK = re.compile(
    r"^[ \t]*(?:<(think(?:ing)?)>.*?(?:</\1>|\Z)|\[THINK\].*?(?:\[/THINK\]|\Z))",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_THINK_END = re.compile(r"</think(?:ing)?>|\[/THINK\]", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<\n]*(?:<\|constrain\|>[^<\n]*)?<\|message\|>")


def strip_template(text: str) -> str:
    """Return a reply without thinking and without the template's tokens at its beginning.

    Later tokens are left to the readers of query and thought, which know what is quoted.
    """
    text = _final_channel(text)
    text = _THINK.sub("", text[_end_of_lead(text) :])
    closing = _THINK_END.search(text)
    # If the template itself opens the thinking, the reply only closes it.
    if closing is not None and not _is_quoted(text, closing.start(), closing.end()):
        text = text[closing.end() :]
    return text[_end_of_lead(text) :]


def _end_of_lead(text: str) -> int:
    lead = _LEAD.match(text)
    end = lead.end() if lead else 0
    # An opening tag of thinking belongs to its block, so the lead ends before it.
    opened = re.search(r"<think(?:ing)?>|\[THINK\]", text[:end], re.IGNORECASE)
    return opened.start() if opened else end


def _final_channel(text: str) -> str:
    """Return the final message of a reply in Harmony's channels; other replies unchanged."""
    if not text.lstrip().startswith(("<|channel|>", "<|start|>")):
        return text
    channels = list(_CHANNEL.finditer(text))
    final = next((one for one in channels if one[1] == "final"), None)
    if final is not None:
        return text[final.end() :]
    if channels and channels[-1][1] == "analysis":
        return ""
    return text[channels[-1].end() :] if channels else text


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Return whether a place is within a pair of quotes on its line."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    return any(
        text.count(quote, line_start, start) % 2 == 1 and text.find(quote, end, line_end) >= 0
        for quote in "'\""
    )
