"""Bounds the texts that a single call can make, such as `repeat('x', 1000000000)`.

A database can't interrupt some functions within one call, and they take seconds over a text of
hundreds of megabytes. So the constants that say how long a text becomes are bounded. What a query
takes from its data isn't; the deadline bounds that.
"""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

MOST_PARTS: Final = 10_000_000
"""Most characters or elements that constants may ask for, over all calls within a call."""

_NUMBER: Final = re.compile(r"\d{1,18}(?:\.\d+)?(?:[eE]\d{1,2})?")
_WIDTH: Final = re.compile(r"%(?:\d+\$)?-?(\d{1,18}|\*)")


def may_grow_huge(call: exp.Expr) -> str | None:
    """Return why a call that makes a text or an array longer may not run, or None if it may."""
    parts = 1.0
    for node in call.walk():
        for size in _sizes(node):
            if any(size.find_all(exp.Pow, exp.BitwiseLeftShift)):
                return "the length of a text may not be a power"
            for literal in size.find_all(exp.Literal):
                for number in _NUMBER.findall(literal.name[:100]):
                    parts *= max(1.0, float(number))
        if isinstance(node, exp.Format) and isinstance(node.this, exp.Literal):
            for width in _WIDTH.findall(node.this.name):
                parts *= max(1.0, float(width) if width != "*" else _largest(node))
    return f"a call may make at most {MOST_PARTS:,} parts of a text" if parts > MOST_PARTS else None


def _sizes(node: exp.Expr) -> list[exp.Expr]:
    """Return the arguments that say how long the result of a call becomes."""
    if isinstance(node, exp.Repeat):
        return [node.args["times"]]
    if isinstance(node, exp.Pad):
        return [node.expression]
    if isinstance(node, exp.Format) and not isinstance(node.this, exp.Literal):
        return [node.this]
    if isinstance(node, exp.Anonymous) and node.name.lower() in ("array_fill", "repeat"):
        return node.expressions[1:2]
    return []


def _largest(call: exp.Expr) -> float:
    numbers = [literal for literal in call.find_all(exp.Literal) if not literal.is_string]
    return max((float(literal.name) for literal in numbers), default=1.0)
