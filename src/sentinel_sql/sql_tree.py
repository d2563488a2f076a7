"""Parse SQL into trees: the one door to sqlglot's parser, which else quotes queries in warnings."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token as Token

# What it doesn't know it logs with the query's text, which may hold a patient's name.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


def parse_one(sql: str, *, dialect: str = "sqlite") -> exp.Expr:
    """Return the tree of one statement.

    Raises:
        sqlglot.errors.SqlglotError: it can't be parsed.
    """
    return sqlglot.parse_one(sql, dialect=dialect)


def parse_all(sql: str, *, dialect: str = "sqlite") -> list[exp.Expr]:
    """Return the tree of each statement.

    Raises:
        sqlglot.errors.SqlglotError: one can't be parsed.
    """
    return [tree for tree in sqlglot.parse(sql, dialect=dialect) if tree is not None]


def tokens_of(sql: str, *, dialect: str) -> list[Token]:
    """Return the tokens of a text.

    Raises:
        sqlglot.errors.SqlglotError: it can't be read.
    """
    return list(Dialect.get_or_raise(dialect).tokenize(sql))


def trees_of(tokens: Sequence[Token], sql: str, *, dialect: str) -> list[exp.Expr]:
    """Return the tree of each statement in the tokens of a text.

    Raises:
        sqlglot.errors.SqlglotError: one can't be parsed.
    """
    trees = Dialect.get_or_raise(dialect).parser().parse(list(tokens), sql)
    return [tree for tree in trees if tree is not None]
