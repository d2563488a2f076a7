"""Verbs that are given an address of a database answer in one line, without its password."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_project import Project, Sentinel

ADDRESSES = [
    "postgresql://me:s3cret@host/ward",
    "duckdb:///data/ward.duckdb?password=s3cret",
    "mysql+pymysql://me:s3cret@host:3306/ward",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_verb_repeats_the_password(
    fitted: Project, sentinel: Sentinel, tmp_path: Path, address: str
) -> None:
    store, asked = fitted.store, fitted.questions
    for words in (
        ("label", store, "--questions", asked, "--database", address, "--out", tmp_path / "l"),
        ("questions", "check", asked, "--database", address),
        ("probe", store, "--database", address, "--out", tmp_path / "p"),
        ("doctor", "--database", address),
        ("report", address, "--out", tmp_path / "r"),
        ("fit", store, "--pools", address, "--labels", address, "--out", tmp_path / "m"),
    ):
        call = sentinel(*words)
        assert call.code != 0
        assert "s3cret" not in call.out + call.err, words
        assert call.err.count("\n") <= 1 or "Usage" in call.err, words
