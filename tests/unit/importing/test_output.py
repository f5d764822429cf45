"""A target is written whole or not at all, and what was there before stays until then."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.domain.errors import ValidationError
from annotator.importing.conversion_service import WrittenFile, write_target

TEXT = "検索 🔎\n"


def write(target: Path, pieces: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> tuple[WrittenFile, ...]:
    return write_target(target, pieces, report_progress=lambda _: None)


def fail_after(*pieces: tuple[str, str], error: Exception) -> Iterator[tuple[str, str]]:
    yield from pieces
    raise error


def test_a_file_is_its_pieces_in_their_order(tmp_path: Path) -> None:
    (file,) = write(tmp_path / "x.txt", [("", TEXT), ("", ""), ("", "끝")])
    data = f"{TEXT}끝".encode()
    assert (tmp_path / "x.txt").read_bytes() == data
    assert file == WrittenFile("", len(data), hashlib.sha256(data).hexdigest())
    assert [path.name for path in tmp_path.iterdir()] == ["x.txt"]


def test_a_folder_is_its_files(tmp_path: Path) -> None:
    written = write(tmp_path / "f", [("a.txt", "1"), ("q/b.txt", "2"), ("q/b.txt", "3"), ("empty", "")])
    assert [(file.path, file.bytes) for file in written] == [("a.txt", 1), ("q/b.txt", 2), ("empty", 0)]
    assert (tmp_path / "f" / "q" / "b.txt").read_text() == "23"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_a_folder_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    write(tmp_path / "f", [("old.txt", "1")])
    write(tmp_path / "f", [("new.txt", "2")])
    assert [path.name for path in (tmp_path / "f").iterdir()] == ["new.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize(
    "error", [ValidationError("an id"), OSError(28, "No space left on device"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("path", ["", "in.txt"])
def test_a_failure_on_the_way_leaves_what_was_there(tmp_path: Path, error: Exception, path: str) -> None:
    write(tmp_path / "x", [(path, "before")])
    with pytest.raises((ValidationError, KeyboardInterrupt)):
        write(tmp_path / "x", fail_after((path, TEXT), error=error))
    assert (tmp_path / "x" / path if path else tmp_path / "x").read_text() == "before"
    assert [path_left.name for path_left in tmp_path.iterdir()] == ["x"]


def test_a_full_disk_is_an_error_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"cannot write .*: No space left on device"):
        write(tmp_path / "x", fail_after(("", TEXT), error=OSError(28, "No space left on device")))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_take_its_place_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "f", [("old.txt", "1")])
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "content":
            raise OSError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(ValidationError, match="Permission denied"):
        write(tmp_path / "f", [("new.txt", "2")])
    assert (tmp_path / "f" / "old.txt").read_text() == "1"


def test_what_is_written_may_be_read_by_others(tmp_path: Path) -> None:
    """Not with the rights of a temporary file."""
    (tmp_path / "plain").write_text("x")
    write(tmp_path / "x", [("", "x")])
    write(tmp_path / "f", [("a", "x")])
    usual = (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "x").stat().st_mode == usual
    assert (tmp_path / "f" / "a").stat().st_mode == usual
