"""A source is a file, a folder or bytes; its lines come with their numbers, whatever the encoding."""

from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.formats.syntax.source import InputSource

TEXT = "検索\r\n\n검색\u2028x\r\rend"


@pytest.mark.parametrize("encoding", [None, "utf-16", "utf-8"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_lines_end_at_lf_and_crlf_and_have_their_numbers(encoding: str | None, bom: str) -> None:
    data = (bom + TEXT).encode(encoding or "utf-8")
    assert list(InputSource("f", data, encoding).read_lines()) == [
        (1, "検索"),
        (2, ""),
        (3, "검색\u2028x\r\rend"),
    ]


def test_lines_can_keep_their_ends() -> None:
    assert [line for _, line in InputSource("f", TEXT.encode()).read_lines(keep_ends=True)] == [
        "検索\r\n",
        "\n",
        "검색\u2028x\r\rend",
    ]


def test_a_byte_that_is_no_text_is_told_with_its_line() -> None:
    for data, expected in ((b"a\nb\n\xe6x", "byte 0xe6"), (b"a\nb\n\0", "one")):
        with pytest.raises(BadInput) as caught:
            list(InputSource("f", data).read_lines())
        assert str(caught.value).startswith("f:3: expected ")
        assert str(caught.value).endswith(f"found {expected}")


def test_a_file_and_its_bytes_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "検索.txt"
    path.write_bytes(TEXT.encode("cp932", "ignore"))
    file, data = InputSource(str(path), encoding="cp932"), InputSource("f", path.read_bytes(), "cp932")
    assert file.read_bytes() == data.read_bytes()
    assert list(file.read_lines()) == list(data.read_lines())
    assert file.read_text() == data.read_text()


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "link/x"])
def test_a_folder_gives_no_file_outside_of_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    with pytest.raises(ValidationError, match="expected files within the folder"):
        InputSource(str(tmp_path / "in")).child(name)


def test_what_is_not_there_or_is_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="cannot read"):
        InputSource(str(tmp_path / "none")).read_bytes()
    with pytest.raises(ValidationError, match="expected a file, found a folder"):
        InputSource(str(tmp_path)).read_bytes()
    assert InputSource(str(tmp_path)).is_folder
