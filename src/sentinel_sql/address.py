"""Addresses as they may be shown: without user, password, key and query."""

from __future__ import annotations

import re
from typing import Final

_ADDRESS: Final = re.compile(r"([a-z][a-z0-9+.-]*):/{1,3}([^\s'\"<>]+)", re.IGNORECASE)
"""A path library makes one slash of two, so one is enough to know an address by."""
_SETTING: Final = re.compile(
    r"\b(\w*(?:password|passwd|pwd|secret|token|key|sig|signature|credentials?))"
    r"(\s*=\s*)(?:'[^']*'|\"[^\"]*\"|[^\s;&,'\")]+)",
    re.IGNORECASE,
)
"""A secret among the settings of a connection, as in `host=h password=p` or `Server=h;Pwd=p`."""
_USER: Final = re.compile(r"(?<![\w/])[\w.+\-]+:[^\s@'\"<>]+@(?=[\w\[])")
"""User and password before a host, without a scheme."""
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
    return _SETTING.sub(r"\1\2…", f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}")


def without_password(address: str) -> str:
    """Return an address that still opens the database, where the password is found elsewhere."""
    plain, mark, query = re.sub(r"(://[^:/@]*):[^@]*@", r"\1@", address).partition("?")
    kept = [part for part in query.split("&") if part and not _SETTING.search(part)]
    return plain + (f"{mark}{'&'.join(kept)}" if kept else "")


def without_secrets(text: str) -> str:
    """Return a message with every address in it shortened by `shown_address`.

    Addresses without a user, a password or a query stay as they are. Outside of addresses the
    secrets among a connection's settings and before a host's `@` are left out.
    """
    shown = _ADDRESS.sub(
        lambda found: shown_address(found[0]) if re.search("[@?]", found[2]) else found[0], text
    )
    return _USER.sub("…@", _SETTING.sub(r"\1\2…", shown))


def kind_of_address(text: str) -> str | None:
    """Return the kind of an address, such as `postgresql`; None for a path."""
    found = _KIND.match(text)
    return None if found is None else found[1].lower().partition("+")[0]
