"""Addresses as they may be shown: without user, password, key and query."""

from __future__ import annotations

import re
from typing import Final

_ADDRESS: Final = re.compile(r"([a-z][a-z0-9+.-]*):/{1,3}([^\s'\"<>]+)", re.IGNORECASE)
"""A path library makes one slash of two, so one is enough to know an address by."""
_KIND: Final = re.compile(r"([a-z][a-z0-9+.-]+):/", re.IGNORECASE)


def shown_address(address: str) -> str:
    """Return an address without user, password, query and fragment."""
    text = re.split(r"[?#]", address, maxsplit=1)[0]
    scheme, slashes, rest = text.rpartition("://")
    if not slashes and (kind := _KIND.match(text)):
        scheme, slashes, rest = kind[1], ":/", text[kind.end() :].lstrip("/")
    host, slash, path = rest.partition("/")
    if "@" in path:  # a password that holds a slash
        host, slash, path = rest.rpartition("@")[2].partition("/")
    return f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}"


def without_secrets(text: str) -> str:
    """Return a message with every address in it shortened by `shown_address`.

    Addresses without a user, a password or a query stay as they are.
    """
    return _ADDRESS.sub(
        lambda found: shown_address(found[0]) if re.search("[@?]", found[2]) else found[0], text
    )


def kind_of_address(text: str) -> str | None:
    """Return the kind of an address, such as `postgresql`; None for a path."""
    found = _KIND.match(text)
    return None if found is None else found[1].lower().partition("+")[0]
