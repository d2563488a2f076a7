"""Checks arguments of public functions and records against their annotations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from numbers import Integral, Real
from os import PathLike
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from sentinel_sql.errors import InputError

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Record = TypeVar("_Record", bound=type)

_WORDS: Final[Mapping[Any, str]] = MappingProxyType(
    {
        str: "a text",
        int: "a whole number",
        float: "a number",
        bool: "True or False",
        PathLike: "a path",
        NoneType: "None",
        Callable: "a function",
    }
)
_MOST_NAMED: Final = 3
"""Most types that a message names of what a list holds (our choice)."""


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that refuses an argument of a wrong type with an `InputError`.

    Elements of lists and other containers are checked too, but not those of iterators, which can
    be read only once. A wrong number or name of arguments stays Python's `TypeError`.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        hints = _hints(function)
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if name in hints and not _fits(value, hints[name]):
                raise InputError(
                    f"{name}= can't be {_kind(value)}: give {' or '.join(_words(hints[name]))}"
                )
        return function(*args, **kwargs)

    return call


def checked_fields(record: _Record) -> _Record:
    """Return a dataclass whose constructor refuses a field of a wrong type, as `checked` does."""
    record.__init__ = checked(record.__init__)  # type: ignore[misc]
    return record


@cache
def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    hints = get_type_hints(function)
    hints.pop("return", None)
    return hints


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of a type; unknown kinds of types fit every value."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Annotated:
        return _fits(value, parts[0])
    if origin is Literal:  # which of them is allowed is said by the function itself
        return any(isinstance(value, type(part)) for part in parts)
    if is_typeddict(hint):
        return isinstance(value, Mapping)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real)
    kind = origin or hint
    if kind is Callable:
        return callable(value)
    if not isinstance(kind, type) or kind is object:
        return True
    if getattr(kind, "_is_protocol", False):
        return all(hasattr(value, name) for name in _members(kind))
    if kind in (tuple, Sequence, Iterable, Collection):
        return _is_series(value, kind) and _elements_fit(value, parts)
    if isinstance(value, kind) and isinstance(value, Mapping) and len(parts) == len(("key", "it")):
        return all(_fits(key, parts[0]) and _fits(it, parts[1]) for key, it in value.items())
    return isinstance(value, kind)


def _is_series(value: Any, kind: type) -> bool:
    if isinstance(value, str | bytes):  # a text is no list of texts
        return False
    if kind in (Iterable, Collection):
        return isinstance(value, kind)
    return (
        hasattr(value, "__len__")
        and hasattr(value, "__getitem__")
        and not isinstance(value, Mapping)
    )


def _elements_fit(value: Any, parts: Sequence[Any]) -> bool:
    if not parts or not isinstance(value, list | tuple | set | frozenset):
        return True
    if len(parts) > 1 and parts[-1] is not ...:  # a tuple of one length
        return len(value) == len(parts) and all(map(_fits, value, parts))
    return all(_fits(element, parts[0]) for element in value)


@cache
def _members(protocol: type) -> tuple[str, ...]:
    names = {
        name
        for base in protocol.__mro__
        if getattr(base, "_is_protocol", False)
        for name in (*vars(base), *getattr(base, "__annotations__", ()))
    }
    return tuple(name for name in names if name == "__call__" or not name.startswith("_"))


def _kind(value: Any) -> str:
    """Return a value's type in words, never the value."""
    if isinstance(value, list | tuple | set | frozenset) and value:
        held = sorted({type(element).__name__ for element in value})
        return f"a {type(value).__name__} of {', '.join(held[:_MOST_NAMED])}"
    return "None" if value is None else f"of type {type(value).__name__}"


def _words(hint: Any) -> list[str]:
    """Return the types that a parameter takes, in words."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return list(dict.fromkeys(word for part in parts for word in _words(part)))
    if origin is Annotated:
        return _words(parts[0])
    if origin is Literal:
        return [repr(part) for part in parts]
    kind = origin or hint
    if kind in _WORDS:
        return [_WORDS[kind]]
    if kind in (tuple, Sequence, Iterable, Collection):
        inner = dict.fromkeys(word for part in parts if part is not ... for word in _words(part))
        return [f"a list of {' or '.join(inner).replace('a ', '', 1) or 'them'}"]
    return [f"{'an' if kind.__name__[:1] in 'AEIOU' else 'a'} {kind.__name__}"]
