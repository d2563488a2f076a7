"""A file appears whole or not at all."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from sentinel_sql.whole_file import whole_folder, write_whole


def test_a_file_is_what_was_written_and_its_owners_only(tmp_path: Path) -> None:
    for content, stored in (("é\r\n", "é\r\n".encode()), (b"\x00\xff", b"\x00\xff"), ("", b"")):
        write_whole(tmp_path / "f", content)
        assert (tmp_path / "f").read_bytes() == stored
        assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["f"]


def test_a_failure_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole(tmp_path / "f", "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            write_whole(tmp_path / "f", "new")
    assert (tmp_path / "f").read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "absent" / "f", "x")


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "f")
    write_whole(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "f").read_text() == "x"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, "x")
    reader.join(10)
    assert got == [b"x"]
    assert pipe.is_fifo()


def test_a_folder_is_replaced_only_by_its_own_kind_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    link.symlink_to(real)
    for text in ("first", "second"):
        with whole_folder(link, known_by="mark") as draft:
            (draft / "mark").write_text(text)
    assert link.is_symlink()
    assert (real / "mark").read_text() == "second"
    with pytest.raises(FileExistsError), whole_folder(real, known_by="other"):
        pass

    def fail() -> None:
        with whole_folder(real, known_by="mark") as draft:
            (draft / "mark").write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (real / "mark").read_text() == "second"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]
