"""Decides by a statement's whole tree whether it may run, for dialects that sqlglot parses."""
