"""How values of PostgreSQL arrive, where psycopg's own objects can't hold each of them."""

from __future__ import annotations

from typing import Final

from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.types.string import TextLoader

_AS_TEXT: Final = (
    *("date", "time", "timetz", "interval", "uuid", "inet", "cidr"),
    *("int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange"),
    *("int4multirange", "int8multirange", "nummultirange"),
    *("datemultirange", "tsmultirange", "tstzmultirange"),
)
"""PostgreSQL's text of these is kept: Python's objects have no infinite date and no month in an
interval, and its text is the form that cells have anyway."""

PLAIN_TYPES: Final = frozenset(
    {
        *(20, 21, 23, 26),  # int8, int2, int4, oid
        *(700, 701),  # float4, float8
        *(17, 18, 19, 25, 1042, 1043),  # bytea, "char", name, text, bpchar, varchar
        *(1082, 1083, 1114, 1184, 1186, 1266, 2950),  # dates, times, interval, uuid
    }
)
"""Types, by their oid, whose values arrive as cells."""


class TimestampLoader(Loader):
    """Loads a timestamp as `YYYY-MM-DD HH:MM:SS[.ffffff]`."""

    def load(self, data: Buffer) -> str:
        """Return the text of a timestamp."""
        return _with_six_digits(bytes(data).decode())


class TimestampWithZoneLoader(Loader):
    """Loads a timestamp of a session in UTC as `YYYY-MM-DD HH:MM:SS[.ffffff]+00:00`."""

    def load(self, data: Buffer) -> str:
        """Return the text of a timestamp with its zone."""
        text = bytes(data).decode()
        if not text.endswith("+00"):
            return text  # infinite, or before Christ
        return f"{_with_six_digits(text[:-3])}+00:00"


def _with_six_digits(text: str) -> str:
    whole, point, fraction = text.partition(".")
    return f"{whole}.{fraction:0<6}" if point and fraction.isdigit() else text


def register_loaders(context: AdaptContext) -> None:
    """Make a connection load values as described here."""
    adapters = context.adapters
    assert adapters is not None  # noqa: S101  (a connection has them)
    for name in _AS_TEXT:
        adapters.register_loader(name, TextLoader)
    adapters.register_loader("timestamp", TimestampLoader)
    adapters.register_loader("timestamptz", TimestampWithZoneLoader)
