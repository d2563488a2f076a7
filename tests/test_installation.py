"""The command that brings an extra fits where the project came from."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from sentinel_sql.installation import install_command


class Installed:
    def __init__(self, origin: Mapping[str, object] | str | None, tool: str = "pip\n") -> None:
        self.files = {"INSTALLER": tool}
        if origin is not None:
            self.files["direct_url.json"] = (
                origin if isinstance(origin, str) else json.dumps(origin)
            )

    def read_text(self, filename: str) -> str | None:
        return self.files.get(filename)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'sentinel-sql[report]'"),
        (
            {"url": "file:///home/a%20b/clone", "dir_info": {"editable": True}},
            "pip install --editable '/home/a b/clone[report]'",
        ),
        ({"url": "file:///src/clone", "dir_info": {}}, "pip install '/src/clone[report]'"),
        (
            {"url": "file:///tmp/s-1.whl", "archive_info": {"hash": "sha256=0"}},
            "pip install '/tmp/s-1.whl[report]'",
        ),
        (
            {
                "url": "https://me:s3cret@example.org/r.git",
                "vcs_info": {"vcs": "git", "commit_id": "abc"},
            },
            "pip install 'sentinel-sql[report] @ git+https://example.org/r.git@abc'",
        ),
        (
            {"url": "https://k:s3cret@example.org/s.whl", "archive_info": {}},
            "pip install 'sentinel-sql[report] @ https://example.org/s.whl'",
        ),
        (
            {"url": "ssh://git@example.org/r.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pip install 'sentinel-sql[report] @ git+ssh://git@example.org/r.git@abc'",
        ),
        (
            {"url": "ssh://git:s3cret@example.org/r.git", "vcs_info": {"vcs": "git"}},
            "pip install 'sentinel-sql[report] @ git+ssh://git@example.org/r.git'",
        ),
        (
            {"url": "https://s3cret@example.org/r.git", "vcs_info": {}, "subdirectory": "py"},
            "pip install 'sentinel-sql[report] @ git+https://example.org/r.git#subdirectory=py'",
        ),
        (
            {"url": "https://example.org/s.zip?sig=s3cret#subdirectory=py", "archive_info": {}},
            "pip install 'sentinel-sql[report] @ https://example.org/s.zip#subdirectory=py'",
        ),
        (
            {"url": "file:///a/s.zip", "archive_info": {}, "subdirectory": "py"},
            "pip install 'sentinel-sql[report] @ file:///a/s.zip#subdirectory=py'",
        ),
        (
            {"url": "file:///a/mono", "dir_info": {"editable": True}, "subdirectory": "py"},
            "pip install --editable '/a/mono/py[report]'",
        ),
        ({"url": "http://[::1/x", "archive_info": {}}, "pip install 'sentinel-sql[report]'"),
        ({"url": 5}, "pip install 'sentinel-sql[report]'"),
        ({"url": None, "dir_info": {}}, "pip install 'sentinel-sql[report]'"),
        ("no JSON", "pip install 'sentinel-sql[report]'"),
        ("[]", "pip install 'sentinel-sql[report]'"),
    ],
)
def test_an_extra_comes_from_where_the_project_came(
    origin: Mapping[str, object] | str | None, command: str
) -> None:
    assert install_command("report", distribution=Installed(origin)) == command


def test_uv_is_named_where_uv_installed_it() -> None:
    assert install_command(distribution=Installed(None, "uv")) == "uv pip install sentinel-sql"
