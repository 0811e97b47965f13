"""Files that callers give and get: links, devices, permissions, and names that are none."""

import io
import os
import stat
import threading

import pytest

from mfbai.errors import InvalidInput
from mfbai.textfiles import read_text, write_text


def test_a_link_stays_one(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_text(["new"], tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_who_may_read_a_file_stays_as_it_was(tmp_path, mode):
    path = tmp_path / "a.csv"
    path.touch()
    path.chmod(mode)
    write_text(["new"], path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_text(["a", "b"], str(tmp_path / "pipe"))
    reader.join()
    assert read == ["ab"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("path", ["-", ".", "", "a\0b", "none/a.csv"])
def test_a_place_where_nothing_can_be_written_is_told(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=r"give|check the path"):
        write_text(["a"], path)
    assert list(tmp_path.iterdir()) == []


def test_open_files_are_read_and_marks_left_out(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa\r\n")
    assert read_text(tmp_path / "a") == "a\r\n"
    assert read_text(io.StringIO("b")) == "b"
    assert read_text(io.BytesIO("\ufeff\u00e9\r\n".encode())) == "\u00e9\r\n"
    with open(tmp_path / "a", encoding="ascii") as file, pytest.raises(InvalidInput, match="a is not text: give a CSV"):
        read_text(file, "give a CSV file")


def test_a_text_in_the_place_of_a_path_is_not_repeated_whole():
    with pytest.raises(InvalidInput) as caught:
        read_text("<!doctype html>" + "x" * 100_000)
    assert len(str(caught.value)) < 300
