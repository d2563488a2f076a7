"""A file appears whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import stat
import threading
from pathlib import Path

import pytest

from sentinel_sql.storage.whole_file import OccupiedError, check_writable, whole_folder, write_whole


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


def test_a_folder_that_also_holds_something_else_is_never_replaced(tmp_path: Path) -> None:
    parts = ("scores.npz", "tables/*.csv")

    def write() -> None:
        with whole_folder(tmp_path / "f", known_by="mark", parts=parts) as draft:
            (draft / "tables").mkdir()
            for name in ("mark", "scores.npz", "tables/a.csv"):
                (draft / name).write_text("ours")

    write()
    for ours in ("tables/old.csv", ".DS_Store", ".mark.ab12_xyz", "tables/.a.csv.ab12_xyz"):
        (tmp_path / "f" / ours).write_text("ours, or left by a killed writer")
    write()
    for foreign in ("paper.tex", "tables/notes.xlsx", "confidences/confidences.jsonl", ".git/HEAD"):
        path = tmp_path / "f" / foreign
        path.parent.mkdir(exist_ok=True)
        path.write_text("dear to somebody")
        with pytest.raises(OccupiedError, match=re.escape(f"also holds {foreign}")):
            write()
        assert path.read_text() == "dear to somebody"
        path.unlink()
    write()


def test_whether_a_place_can_be_written_is_known_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "a" / "b", Path("/proc/a/b")):
        with pytest.raises(OSError, match=r"directory|ermi|upported"):
            check_writable(place)
    check_writable(tmp_path / "new" / "newer")
    assert os.listdir(tmp_path) == ["file"]
    with pytest.raises(FileNotFoundError):
        check_writable(tmp_path / "new", make=False)


def test_litter_of_killed_writers_goes_and_drafts_of_living_ones_stay(tmp_path: Path) -> None:
    for dead in ("f", "g"):
        (tmp_path / f".{dead}.sentinel-abcd1234").mkdir()
        (tmp_path / f".{dead}.sentinel-abcd1234" / "mark").write_text("half")
    (tmp_path / ".f.sentinel-00000000").write_text("half a file")
    (tmp_path / ".sentinel-zzzzzzzz").mkdir()
    for dear in (".f.settings", ".f.sentinel-backup-of-mine", ".f.abcd1234"):
        (tmp_path / dear).write_text("somebody's own")
    with whole_folder(tmp_path / "f", known_by="mark") as living:
        with whole_folder(tmp_path / "f", known_by="mark") as draft:
            (draft / "mark").write_text("first")
        assert living.is_dir()
        (living / "mark").write_text("second")
    assert (tmp_path / "f" / "mark").read_text() == "second"
    assert sorted(os.listdir(tmp_path)) == [
        *(".f.abcd1234", ".f.sentinel-backup-of-mine", ".f.settings", ".g.sentinel-abcd1234", "f"),
    ]


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_without_an_exchange_gets_the_new_folder_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    class Without:
        def renameat2(self, *_: object) -> int:
            ctypes.set_errno(number)
            return -1

        renamex_np = renameat2

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Without())
    for text in ("first", "second"):
        with whole_folder(tmp_path / "f", known_by="mark") as draft:
            (draft / "mark").write_text(text)
    assert (tmp_path / "f" / "mark").read_text() == "second"
    assert os.listdir(tmp_path) == ["f"]


def test_an_exchange_that_fails_leaves_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with whole_folder(tmp_path / "f", known_by="mark") as draft:
        (draft / "mark").write_text("old")

    class Failing:
        def renameat2(self, *_: object) -> int:
            ctypes.set_errno(errno.EIO)
            return -1

        renamex_np = renameat2

    def save() -> None:
        with whole_folder(tmp_path / "f", known_by="mark") as draft:
            (draft / "mark").write_text("new")

    with monkeypatch.context() as patch:
        patch.setattr(ctypes, "CDLL", lambda *_, **__: Failing())
        with pytest.raises(OSError, match="Input/output"):
            save()
    assert (tmp_path / "f" / "mark").read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]
