"""What a statement's tree may hold, as tables, and the walk that checks a whole tree by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sqlglot import exp

from sentinel_sql.database.statements.statement import RefusedError, Statement

Check: TypeAlias = Callable[[exp.Expr], str | None]
"""Called with (node); returns what may not be done there, or None."""

ONLY_READING: Final = "only statements that read may run"

ROOTS: Final = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)
"""What a statement that reads can be as a whole."""

_QUERY_NODES: Final = """
    Select Union Except Intersect Subquery Values With CTE RecursiveWithSearch From Join Lateral
    Table TableAlias TableSample Where Group GroupingSets Cube Rollup Having Order Ordered Limit
    LimitOptions Offset Fetch Distinct Window WindowSpec WithinGroup Filter IgnoreNulls RespectNulls
    Alias Aliases Column ColumnDef Identifier Star Dot Paren Tuple Literal Null Boolean National
    HexString BitString ByteString UnicodeString RawString Heredoc Interval IntervalSpan Var
    DataType DataTypeParam
    Bracket Slice Kwarg PropertyEQ Lambda Add Sub Mul Div Mod IntDiv Pow Neg And Or Not Xor EQ NEQ
    GT GTE LT LTE NullSafeEQ NullSafeNEQ Is In Between Like ILike SimilarTo Escape RegexpLike
    RegexpILike Any All Exists Overlaps DPipe BitwiseAnd BitwiseOr BitwiseXor BitwiseNot
    BitwiseLeftShift BitwiseRightShift Collate AtTimeZone Case If Cast Extract Unnest
    JSONPath JSONPathFilter JSONPathKey JSONPathRecursive JSONPathRoot JSONPathScript
    JSONPathSelector JSONPathSlice JSONPathSubscript JSONPathUnion JSONPathWildcard
"""


def node_kinds(names: str) -> frozenset[type[exp.Expr]]:
    """Return sqlglot's classes of these names, as far as this version has them."""
    kinds = (getattr(exp, name, None) for name in names.split())
    return frozenset(kind for kind in kinds if kind is not None)


QUERY_NODES: Final = node_kinds(_QUERY_NODES)
"""Kinds of nodes of which queries are made in every dialect."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a statement may hold in one dialect.

    Attributes:
        nodes: kinds of nodes, and kinds of calls that are written without a function's name before
            a parenthesis, such as operators, `CAST` and `CURRENT_DATE`.
        functions: names of functions, in lower case.
        function_schemas: schemas that a function's name may be qualified with.
        checks: kind of node → a further check.
    """

    nodes: Set[type[exp.Expr]]
    functions: Set[str]
    function_schemas: Set[str] = frozenset()
    checks: Mapping[type[exp.Expr], Check] = field(default_factory=dict)


def check_tree(statement: Statement, rules: Rules) -> None:
    """Check every node of a statement.

    Raises:
        RefusedError: a node, a function, a table or a type isn't allowed.
    """
    tree = statement.tree
    if not isinstance(tree, ROOTS):
        first = statement.sql.split(None, 1)[0].upper()
        raise RefusedError(f"not allowed: {first}; {ONLY_READING}")
    nodes, checks = rules.nodes, rules.checks
    for node in tree.walk():
        kind = type(node)
        if isinstance(node, exp.Func):
            _check_call(statement, node, rules)
        elif kind not in nodes:
            raise RefusedError(f"not allowed: {_kind_of(node)}; {ONLY_READING}")
        if kind in checks and (reason := checks[kind](node)) is not None:
            raise RefusedError(f"not allowed: {reason}")


def _check_call(statement: Statement, call: exp.Func, rules: Rules) -> None:
    written = statement.written_name(call)
    if written is None and isinstance(call, exp.Anonymous):
        quoted = isinstance(call.this, exp.Identifier) and call.this.quoted
        written = f'"{call.name}"' if quoted else call.name
    if written is None:
        if type(call) not in rules.nodes:
            raise RefusedError(f"not allowed: {type(call).__name__.upper()} may not be called")
        return
    name = _looked_up(written)
    schema = _schema_of(call)
    if name not in rules.functions or (schema and schema not in rules.function_schemas):
        shown = f"{schema}.{name}" if schema else name
        raise RefusedError(f"not allowed: function {' '.join(shown.split())} may not be called")


def name_of(identifier: exp.Expr | None) -> str:
    """Return an identifier as the database looks it up: in lower case unless it is quoted."""
    if not isinstance(identifier, exp.Identifier):
        return ""
    return identifier.name if identifier.quoted else identifier.name.lower()


def _looked_up(written: str) -> str:
    if written.startswith('"'):
        return written[1:-1].replace('""', '"')
    return written.lower()


def _schema_of(call: exp.Func) -> str:
    """Return what a function's name is qualified with, "" for nothing."""
    parent = call.parent
    if isinstance(parent, exp.Table) and parent.this is call:
        parts = [parent.args.get("catalog"), parent.args.get("db")]
        return ".".join(name_of(part) for part in parts if part is not None)
    if isinstance(parent, exp.Dot) and parent.expression is call:
        return name_of(parent.this) or "?"  # two names or more, or a value: never on a list
    return ""


def _kind_of(node: exp.Expr) -> str:
    if isinstance(node, exp.Lock):
        return "FOR UPDATE and the like"
    if isinstance(node, exp.Into):
        return "SELECT INTO"
    return node.key.upper()
