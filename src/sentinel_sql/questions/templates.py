"""Finds the template of a question: the data set's own, the masked gold SQL, or the wording.

Two questions have the same template if they share the data set's template or the gold SQL with its
literals masked. Unanswerable questions share a template if their masked wordings are equal or very
similar. The relation is transitive, so that files with and without templates can be pooled together
without a leak.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sentinel_sql.questions.record import Question
from sentinel_sql.questions.wordings import cluster_wordings, mask_wording
from sentinel_sql.sql_tree import parse_one

LONGEST_PARSED = 50_000
"""Longest SQL that is parsed, in characters (our choice); longer SQL is masked by its tokens."""

_TOKEN = re.compile(
    r"""
      (?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<name>    "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\] )
    | (?P<text>    \b[xX]?'(?:[^']|'')*' | '(?:[^']|'')*' )
    | (?P<number>  (?<![\w.$@:?]) (?:0[xX][0-9a-fA-F]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?) )
    | (?P<word>    [\w$]+ )
    """,
    re.VERBOSE | re.DOTALL,
)


def template_of(question: Question) -> str:
    """Return the template of one question by itself.

    It is the data set's own, if there is one. Otherwise it is the gold SQL with its literals masked
    or, for an unanswerable question, its masked wording (paper section 4, "template"; the masking
    is ours). `templates_of` joins the templates of many questions.
    """
    if question.template is not None:
        return question.template
    if question.gold_sql is not None:
        return mask_sql(question.gold_sql)
    return mask_wording(question.text)


def templates_of(questions: Sequence[Question]) -> dict[str, str]:
    """Return each question's template, equal for all questions that must share a pool.

    Args:
        questions: any number, with distinct ids, in any order; the result doesn't depend on it.

    Returns:
        question id → name of its template: the data set's own name if any question of the
        template has one, else the masked SQL or wording that is first in alphabetical order.
    """
    groups = _KeyGroups()
    wordings = {q.id: mask_wording(q.text) for q in questions if q.gold_sql is None}
    cluster_of = cluster_wordings(set(wordings.values()))
    keys: dict[str, tuple[str, str]] = {}
    names: dict[tuple[str, str], str] = {}
    for question in questions:
        if question.gold_sql is not None:
            key = ("sql", mask_sql(question.gold_sql))
        else:
            key = ("wording", cluster_of[wordings[question.id]])
        keys[question.id] = key
        if question.template is not None:
            own = ("own", " ".join(question.template.casefold().split()))
            names[own] = min(names.get(own, question.template), question.template)
            groups.join(key, own)
    best: dict[tuple[str, str], tuple[str, str]] = {}
    for key in {*keys.values(), *names}:
        root = groups.root(key)
        best[root] = min(best.get(root, key), key)  # "own" sorts before "sql" and "wording"
    named = {root: names.get(key, key[1]) for root, key in best.items()}
    return {question_id: named[groups.root(key)] for question_id, key in keys.items()}


def mask_sql(sql: str) -> str:
    """Return the SQL in a normal form, with every literal masked as `?`.

    The query is parsed by sqlglot. Keywords and names lose their case, and aliases are kept. A
    negative number is one literal, and so is a list of literals after IN. SQL that doesn't parse is
    masked token by token.
    """
    return _mask_skeleton(_skeleton(sql))


def _skeleton(sql: str) -> str:
    # Literals are made equal before the parse. A data set has few shapes and many literals, so
    # each shape is parsed once, and no literal can influence the parser.
    def mask_token(match: re.Match[str]) -> str:
        if match.lastgroup == "comment":
            return " "
        if match.lastgroup == "text":
            return "'?'"
        return "0" if match.lastgroup == "number" else match.group()

    return _TOKEN.sub(mask_token, sql)


@lru_cache(maxsize=100_000)
def _mask_skeleton(skeleton: str) -> str:
    if len(skeleton) <= LONGEST_PARSED:
        try:
            tree = parse_one(skeleton)
            if not isinstance(tree, exp.Command):
                masked: str = tree.transform(_mask_node, copy=False).sql("sqlite", comments=False)
                return masked
        except (SqlglotError, RecursionError, ValueError, AttributeError):
            pass  # masked by tokens below
    bare = skeleton.replace("'?'", "?")
    return " ".join(
        "?" if piece == "0" else piece.lower() for piece in re.findall(r"[\w$]+|[^\w\s]", bare)
    )


def _mask_node(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.In) and _literals(node.expressions):
        node.set("expressions", [exp.Placeholder()])
    elif isinstance(node, exp.Literal) or (isinstance(node, exp.Neg) and _literals([node.this])):
        return exp.Placeholder()
    elif isinstance(node, exp.Binary) and _quoted_text(node.expression):
        node.set("expression", exp.Placeholder())
    elif isinstance(node, exp.Identifier):
        plain = re.fullmatch(r"\w+", node.name) is not None
        return exp.Identifier(this=node.name.lower(), quoted=not plain)
    return node


def _literals(nodes: Iterable[exp.Expr]) -> bool:
    found = [
        isinstance(node, exp.Literal | exp.Placeholder)
        or (isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal | exp.Placeholder))
        or _quoted_text(node)
        for node in nodes
    ]
    return bool(found) and all(found)


def _quoted_text(node: object) -> bool:
    # SQLite reads "aspirin" as text if no column has that name. On the right of a comparison it is
    # nearly always a text.
    return (
        isinstance(node, exp.Column)
        and not node.table
        and isinstance(node.this, exp.Identifier)
        and bool(node.this.args.get("quoted"))
    )


class _KeyGroups:
    """Groups of keys that belong together (union-find)."""

    def __init__(self) -> None:
        self._parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(self, key: tuple[str, str]) -> tuple[str, str]:
        while (parent := self._parent.get(key, key)) != key:
            self._parent[key] = key = self._parent.get(parent, parent)
        return key

    def join(self, a: tuple[str, str], b: tuple[str, str]) -> None:
        self._parent[self.root(a)] = self.root(b)
