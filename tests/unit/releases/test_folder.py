"""The folder: whole or not there, read-only, and found again after a death."""

import errno
import hashlib
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from annotator.domain.errors import ConflictError, StateError
from annotator.releases.writing import files as room
from annotator.releases.writing.files import SUMS
from annotator.releases.writing.folder import (
    check_free,
    discard,
    find_whole_partial,
    hold_folder,
    open_partial,
    put_in_place,
    sweep,
)

CONTENT = {"law.json": "{}\n", "beir/corpus.jsonl": "문서\n"}
TEXT = "".join(
    f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(CONTENT.items())
)
FILES = {**CONTENT, SUMS: TEXT}


def write_partial(target: Path, files: dict[str, str]) -> Path:
    with open_partial(target) as partial:
        for name, text in files.items():
            partial.write(name, text)
    return partial.path


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_files_are_hidden_until_the_rename_and_read_only_after(tmp_path: Path) -> None:
    target = tmp_path / "d" / "1.0.0"
    partial = write_partial(target, FILES)
    assert visible(target.parent) == []
    put_in_place(partial, target)
    assert visible(target.parent) == ["1.0.0"]
    assert {name: (target / name).read_text() for name in FILES} == FILES
    assert {stat.S_IMODE((target / name).stat().st_mode) for name in FILES} == {0o400}
    assert not partial.exists()


def test_a_disk_that_refuses_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StateError, match="No space left on device"):
        write_partial(tmp_path / "d" / "1.0.0", FILES)
    assert list((tmp_path / "d").iterdir()) == []


@pytest.mark.parametrize("moment", [1, 2, 5])
def test_a_disk_that_fills_up_while_files_grow_side_by_side_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    write, left = os.write, [moment]

    def fill(descriptor: int, data: bytes) -> int:
        left[0] -= 1
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr("os.write", fill)
    monkeypatch.setattr(room, "BUFFER", 1)
    with (
        pytest.raises(StateError, match="No space left on device"),
        open_partial(tmp_path / "d" / "1.0.0") as partial,
    ):
        files = [partial.open(name) for name in ("law.json", "beir/qrels/test.tsv")]
        for text in ("検索", "문서", "🙂"):
            for file in files:
                file.write(text)
    assert list((tmp_path / "d").iterdir()) == []


def test_a_failure_that_has_nothing_to_do_with_the_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), open_partial(tmp_path / "d" / "1.0.0") as partial:
        partial.open("law.json").write("x")
        raise KeyboardInterrupt
    assert list((tmp_path / "d").iterdir()) == []


def test_a_file_knows_its_size_and_checksum_however_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "BUFFER", 3)
    with open_partial(tmp_path / "d" / "1.0.0") as partial:
        file = partial.open("a.txt")
        for text in ("検", "索 법령", "", "🙂\n"):
            file.write(text)
        file.close()
        file.close()
    data = (partial.path / "a.txt").read_bytes()
    assert data.decode() == "検索 법령🙂\n"
    assert (file.bytes, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_whatever_stands_in_the_way_is_refused(tmp_path: Path) -> None:
    check_free(tmp_path / "free")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    for name in ("dangling", "empty"):
        with pytest.raises(ConflictError, match="a published folder is never overwritten"):
            check_free(tmp_path / name)


def test_a_partial_is_found_by_its_checksums_and_only_when_whole(tmp_path: Path) -> None:
    target = tmp_path / "d" / "1.0.0"
    assert find_whole_partial(target, TEXT) is None
    partial = write_partial(target, FILES)
    assert find_whole_partial(target, TEXT) == partial
    assert find_whole_partial(target, TEXT + "x") is None
    assert find_whole_partial(tmp_path / "d" / "2.0.0", TEXT) is None
    (partial / "law.json").unlink()
    assert find_whole_partial(target, TEXT) is None


def test_somebody_elses_rename_is_as_good(tmp_path: Path) -> None:
    target = tmp_path / "d" / "1.0.0"
    partial = write_partial(target, FILES)
    put_in_place(partial, target)
    put_in_place(partial, target)
    discard(target)
    with pytest.raises(StateError, match="are missing"):
        put_in_place(partial, target)


def test_a_place_that_was_taken_meanwhile_is_said_and_keeps_the_files(tmp_path: Path) -> None:
    target = tmp_path / "d" / "1.0.0"
    partial = write_partial(target, FILES)
    (target / "foreign").mkdir(parents=True)
    with pytest.raises(StateError, match="then open the page Releases"):
        put_in_place(partial, target)
    assert find_whole_partial(target, TEXT) == partial


def test_what_nobody_is_writing_is_swept(tmp_path: Path) -> None:
    target = tmp_path / "d" / "1.0.0"
    with hold_folder(target.parent):
        partial = write_partial(target, CONTENT)
        sweep(target.parent, now=datetime.now(UTC) + timedelta(days=2))
        assert partial.exists()
    sweep(target.parent, now=datetime.now(UTC))
    assert not partial.exists()


def test_what_is_recorded_is_never_swept_and_what_another_database_may_know_only_after_a_day(
    tmp_path: Path,
) -> None:
    target = tmp_path / "d" / "1.0.0"
    recorded, whole = write_partial(target, FILES), write_partial(target, {**FILES, SUMS: TEXT + "x"})
    now = datetime.now(UTC)
    sweep(target.parent, now=now, recorded={TEXT})
    assert (recorded.exists(), whole.exists()) == (True, True)
    sweep(target.parent, now=now + timedelta(days=2), recorded={TEXT})
    assert (recorded.exists(), whole.exists()) == (True, False)


def test_without_locks_only_what_is_older_than_a_day_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    target = tmp_path / "d" / "1.0.0"
    with hold_folder(target.parent):
        old, new = write_partial(target, FILES), write_partial(target, FILES)
    now = datetime.now(UTC)
    os.utime(old, (now.timestamp() - 90_000,) * 2)
    sweep(target.parent, now=now)
    assert (old.exists(), new.exists()) == (False, True)
    sweep(target.parent, now=now + timedelta(days=2))
    assert not new.exists()
    sweep(tmp_path / "absent", now=now)
