"""Copies of the hospital in PostgreSQL and DuckDB, and the gold SQL there."""
