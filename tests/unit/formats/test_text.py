"""Bytes become text, or the line of the offending byte is named."""

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.formats.syntax.text import read_text, to_utf8


def test_a_bom_is_not_part_of_the_text() -> None:
    assert read_text("\ufeff検索".encode(), "q") == "検索"
    assert read_text("検索".encode("utf-16"), "q", encoding="utf-16") == "検索"


def test_another_encoding_is_refused_with_the_line_unless_it_is_named() -> None:
    data = "ascii\n検索\n".encode("cp932")
    with pytest.raises(
        BadInput, match=r"q\.csv:2: expected UTF-8 text .*the file's encoding.*, found byte 0x8c"
    ):
        read_text(data, "q.csv")
    assert read_text(data, "q.csv", encoding="cp932") == "ascii\n検索\n"
    assert to_utf8(data, "q.csv", "cp932") == "ascii\n検索\n".encode()


def test_bytes_outside_the_named_encoding_are_refused_with_their_line() -> None:
    with pytest.raises(BadInput, match=r"q:3: expected text in euc-kr, found byte 0xff"):
        read_text("가\n나\n".encode("euc-kr") + b"\xff\xff", "q", encoding="euc-kr")


@pytest.mark.parametrize("name", ["shift-jiss", "base64", "rot13", ""])
def test_an_encoding_that_is_none_is_refused(name: str) -> None:
    if name:
        with pytest.raises(ValidationError, match="--encoding"):
            read_text(b"x", "q", encoding=name)
    else:
        assert read_text(b"x", "q", encoding=name) == "x"


def test_nul_and_encoded_surrogates_are_refused_with_their_line() -> None:
    with pytest.raises(BadInput, match="q:2: expected text without NUL"):
        read_text(b"a\nb\x00c", "q")
    with pytest.raises(BadInput, match="q:1: expected UTF-8"):
        read_text("\ud800".encode("utf-8", "surrogatepass"), "q")


def test_text_is_neither_normalised_nor_trimmed() -> None:
    text = "  か\u3099　が \u2028 \r\n"
    assert read_text(text.encode(), "q") == text
