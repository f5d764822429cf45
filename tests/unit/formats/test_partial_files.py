"""Temporary files go when their block ends, and with the next run if their maker was killed. Nobody's work is removed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from annotator.formats.syntax.partial_files import (
    KEPT,
    SUFFIX,
    hold_partial,
    hold_temporary_folder,
    name_partial,
    remove_abandoned,
    replace_file,
)

MAKER = """
import sys, time
from pathlib import Path
from annotator.formats.syntax.partial_files import hold_partial, name_partial
target = Path(sys.argv[1])
with hold_partial(name_partial(target)) as file, hold_partial(name_partial(target), is_folder=True) as folder:
    file.with_name(file.name + "-journal").write_text("x")
    (folder / "inner").write_text("x")
    print("held", flush=True)
    time.sleep(600)
"""


def start_maker(target: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen((sys.executable, "-c", MAKER, str(target)), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def list_partials(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if SUFFIX in path.name]


def test_what_a_killed_process_leaves_is_removed_and_what_a_living_one_holds_is_not(tmp_path: Path) -> None:
    process = start_maker(tmp_path / "a")
    try:
        remove_abandoned(tmp_path)
        assert len(list_partials(tmp_path)) == 3
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert len(list_partials(tmp_path)) == 3, "nothing removes them at once"
    (tmp_path / ".a.partial").write_text("of another program")
    replace_file(tmp_path / "b", [b"1", b"2"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.partial", "b"]
    assert (tmp_path / "b").read_bytes() == b"12"


def test_a_journal_without_its_file_is_removed(tmp_path: Path) -> None:
    partial = name_partial(tmp_path / "a")
    partial.with_name(f"{partial.name}-wal").write_text("x")
    remove_abandoned(tmp_path)
    assert not list_partials(tmp_path)


def test_what_somebody_else_left_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = name_partial(tmp_path / "a.db")
    left.write_text("of another user of the machine")
    with monkeypatch.context() as other:
        other.setattr(os, "geteuid", lambda: left.stat().st_uid + 1)
        remove_abandoned(tmp_path)
    assert left.exists()
    remove_abandoned(tmp_path)
    assert not left.exists()


def test_a_failure_leaves_the_target_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / ("검색" * 40)
    target.write_bytes(b"earlier")

    def fail() -> bytes:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        replace_file(target, (fail() for _ in range(1)))
    assert target.read_bytes() == b"earlier" and not list_partials(tmp_path)


def test_a_folder_with_what_was_there_before_is_never_removed(tmp_path: Path) -> None:
    partial = name_partial(tmp_path / "a")
    (partial / KEPT).mkdir(parents=True)
    remove_abandoned(tmp_path)
    assert partial.is_dir()


def test_partial_files_are_readable_by_their_owner_only_and_no_link_is_followed(tmp_path: Path) -> None:
    with hold_partial(name_partial(tmp_path / "a")) as file, hold_temporary_folder("b", tmp_path) as folder:
        assert (file.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    name_partial(tmp_path / "c").symlink_to(outside)
    remove_abandoned(tmp_path)
    assert (outside / "kept").exists()


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_file(pipe, [b"a", b"b"])
    assert (os.read(reader, 10), pipe.is_fifo()) == (b"ab", True)
    os.close(reader)


def test_a_pipe_with_the_name_of_a_partial_file_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f".x.000000000000{SUFFIX}")
    remove_abandoned(tmp_path)
    assert list_partials(tmp_path) == []
