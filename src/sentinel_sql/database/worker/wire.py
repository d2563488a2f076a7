"""The messages between a database and its worker process: JSON in frames, never pickle (ours).

A frame is its length (four bytes, big-endian) and a JSON list. A blob is `{"blob": base64}`.
Infinite floats are written as Python's `json` writes them.
"""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from json import JSONDecoder, JSONEncoder
from typing import Any

HEAD = struct.Struct(">I")
"""The length at the start of each frame."""


def frame_of(message: list[Any]) -> bytes:
    """Return a message as a frame; it may hold lists, texts, numbers, booleans, bytes and None."""
    body = _ENCODER.encode(message).encode("utf-8", "surrogatepass")
    return HEAD.pack(len(body)) + body


def message_of(body: bytes) -> list[Any]:
    """Return the message of a frame's body.

    Raises:
        ValueError: the body is no message.
    """
    message, _ = _DECODER.raw_decode(body.decode("utf-8", "surrogatepass"))
    if not isinstance(message, list):
        raise ValueError("a message is a list")
    return message


def _tagged(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"blob": b64encode(value).decode("ascii")}
    raise TypeError(f"{type(value).__name__} has no form on the wire")


def _untagged(value: dict[str, Any]) -> Any:
    return b64decode(value["blob"]) if set(value) == {"blob"} else value


_ENCODER = JSONEncoder(default=_tagged, ensure_ascii=False, separators=(",", ":"))
_DECODER = JSONDecoder(object_hook=_untagged)
