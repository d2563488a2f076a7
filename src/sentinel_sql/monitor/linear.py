"""The `linear` head: logistic regression over hashed n-grams of the rendered prefix."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_sql.monitor.ngram_head import NgramHead


@dataclass(frozen=True, kw_only=True, slots=True)
class LinearHead(NgramHead):
    """Settings of the linear head."""

    name: str = "linear"
