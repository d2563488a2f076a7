"""The gate's options of `fit` and `ask`, and heads that are named twice."""

from __future__ import annotations
