"""The meanings of an exhibit's columns, as annotations of its row type.

A row of an exhibit is a frozen dataclass whose fields are `Annotated[type, Column("meaning")]`.
The tables on disk, their types and the data dictionary all come from these annotations, so that
no column lacks a meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from sentinel_sql.evaluation.bootstrap import Interval

Kind = Literal["text", "integer", "number", "truth"]
"""What a cell holds; `truth` is true or false. A cell is empty if its value is unknown."""

_DESCRIBED: MutableMapping[type, tuple[tuple[str, Any, Column], ...]] = WeakKeyDictionary()
"""What `describe_fields` returned; to evaluate the annotations anew for each row is slow."""

_KINDS: Mapping[Any, Kind] = {str: "text", int: "integer", float: "number", bool: "truth"}


@dataclass(frozen=True)
class Column:
    """What a field of a row means.

    Attributes:
        meaning: a phrase, without a full stop.
        unit: such as `share`, `payoff a question`, `steps`; empty for names and counts.
        within: the range of its values.
    """

    meaning: str
    _: KW_ONLY
    unit: str = ""
    within: str = ""


@dataclass(frozen=True, kw_only=True)
class FlatColumn:
    """One column of a table on disk; `optional` if its cells may be empty."""

    name: str
    kind: Kind
    column: Column
    optional: bool = False


def columns_of(row: type) -> tuple[FlatColumn, ...]:
    """Return the flat columns of a row type, in order.

    An `Interval` named x becomes `x`, `x_low` and `x_high`; a field that is another dataclass
    becomes one column for each of its own fields, `field_inner`.

    Raises:
        TypeError: a field has no meaning, or a type that no cell can hold.
    """
    return tuple(_flat(row, prefix=""))


def cells_of(row: Any) -> Iterator[tuple[str, Any]]:
    """Yield (column, value) of one row, under the names of `columns_of`."""
    for name, base, _ in describe_fields(type(row)):
        value = getattr(row, name)
        if base is Interval:
            parts = (None, None, None) if value is None else (value.estimate, value.low, value.high)
            yield from zip((name, f"{name}_low", f"{name}_high"), parts, strict=True)
        elif is_dataclass(base):
            for inner in fields(base):
                yield (
                    f"{name}_{inner.name}",
                    None if value is None else getattr(value, inner.name),
                )
        else:
            yield name, value


def _flat(row: Any, *, prefix: str, optional: bool = False) -> Iterator[FlatColumn]:
    empty = _may_be_none(row)
    for name, base, column in describe_fields(row):
        free = optional or name in empty
        if base is Interval:
            yield FlatColumn(name=prefix + name, kind="number", column=column, optional=free)
            for end, side in (("low", "lower"), ("high", "upper")):
                yield FlatColumn(
                    name=f"{prefix}{name}_{end}",
                    kind="number",
                    column=replace(
                        column, meaning=f"{side} end of the 95 % interval of {prefix}{name}"
                    ),
                    optional=free,
                )
        elif is_dataclass(base):
            yield from _flat(base, prefix=f"{prefix}{name}_", optional=free)
        elif base in _KINDS:
            yield FlatColumn(name=prefix + name, kind=_KINDS[base], column=column, optional=free)
        else:
            raise TypeError(f"{row.__name__}.{name} is of a type that no cell can hold")


def describe_fields(row: type) -> tuple[tuple[str, Any, Column], ...]:
    """Return name, type without None, and meaning of each field of a row type.

    Raises:
        TypeError: a field has no meaning.
    """
    if row in _DESCRIBED:
        return _DESCRIBED[row]
    hints = get_type_hints(row, include_extras=True)
    described = []
    for field in fields(row):
        hint = hints[field.name]
        column = None
        if get_origin(hint) is Annotated:
            column = next((it for it in hint.__metadata__ if isinstance(it, Column)), None)
            hint = hint.__origin__
        base = _without_none(hint)
        if column is None and not (is_dataclass(base) and base is not Interval):
            raise TypeError(f"{row.__name__}.{field.name} has no Column that says what it means")
        described.append((field.name, base, column or Column("")))
    _DESCRIBED[row] = tuple(described)
    return _DESCRIBED[row]


def _may_be_none(row: Any) -> set[str]:
    return {name for name, hint in get_type_hints(row).items() if NoneType in get_args(hint)}


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        left = [part for part in get_args(hint) if part is not NoneType]
        return left[0] if len(left) == 1 else hint
    if get_origin(hint) is Literal:
        return str
    return hint


SYSTEM = Column(
    "which checks are on: none (vanilla), gate, bar (chow), both (full), also the early stop "
    "(early-stop), the gate and a certified bar (certified), or no answer at all (always-abstain)"
)
STAKES = Column("stakes λ, what a wrong answer costs", unit="right answers", within="[0, ∞)")
SHARE = "[0, 1]"
RS_RANGE = "[−λ, 1]"
RS_UNIT = "payoff a question"
RS_VANILLA = Column("RS(λ) of the agent alone", unit=RS_UNIT, within=RS_RANGE)
RS_FULL = Column("RS(λ) of gate and delivery bar", unit=RS_UNIT, within=RS_RANGE)
RS_ABSTAIN = Column("RS(λ) of refusing every question", unit=RS_UNIT, within=SHARE)
GAIN_OF_FULL = Column("rs_full minus rs_abstain, on the same resamples", unit=RS_UNIT)
