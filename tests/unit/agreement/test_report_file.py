"""A report's file: all of it or what was there before; a target that can be none is refused with what is wrong."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.agreement.report_files import check_target, write_file
from annotator.domain.errors import ValidationError


def test_a_file_is_written_and_written_over_whole(tmp_path: Path) -> None:
    target = tmp_path / "報告 🐈.html"
    for text in ("long" * 1000, "줄\r\n"):
        write_file(target, [text[:2], text[2:]])
        assert target.read_bytes() == text.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["報告 🐈.html"]
    assert stat.S_IMODE(target.stat().st_mode) & 0o600 == 0o600


def test_a_failure_on_the_way_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("before")

    def break_off() -> Iterator[str]:
        yield "half"
        raise OSError(28, "No space left on device")

    with pytest.raises(ValidationError, match=r"report\.html: No space left on device"):
        write_file(target, break_off())
    assert target.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("-", "give a file name instead of '-'"),
        ("there", "it is a folder"),
        ("nowhere/report.html", "the folder .*nowhere"),
        ("file/report.html", "the folder .*file"),
        ("x" * 300 + ".html", "File name too long"),
    ],
)
def test_a_target_that_can_be_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    Path("file").write_text("")
    with pytest.raises(ValidationError, match=message):
        write_file(Path(name), ["x"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "there"]


def test_a_target_is_checked_without_being_touched(tmp_path: Path) -> None:
    check_target(tmp_path / "new.csv")
    assert list(tmp_path.iterdir()) == []
