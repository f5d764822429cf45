"""What may be a username, and what a person's name."""

import re
import unicodedata

import pytest

from annotator.domain.errors import ValidationError
from annotator.domain.usernames import list_looks
from annotator.people.credentials import check_name, check_username, read_username


@pytest.mark.parametrize("username", ["hanako", "花子", "민준", "a", "o'neil@example.org", "🌱", "x" * 100])
def test_a_username_is_kept_as_typed(username: str) -> None:
    assert check_username(username) == username


def test_a_username_is_brought_into_nfc() -> None:
    assert check_username(unicodedata.normalize("NFD", "José-민준")) == "José-민준"
    assert check_username(unicodedata.normalize("NFD", "ガ-漢-x")) == "ガ-漢-x"


@pytest.mark.parametrize(
    "username", ["", " ", "a b", "a\tb", "a\n", "a\x00b", "-x", "a/b", "x" * 101, "　", "\ud800"]
)
def test_what_could_not_be_typed_or_stored_is_refused(username: str) -> None:
    with pytest.raises(ValidationError):
        check_username(username)


def test_a_name_is_one_line_of_any_text() -> None:
    assert check_name("  مريم الجزري 🌱 ") == "مريم الجزري 🌱"
    for bad in ("two\nlines", "nul\x00", "x" * 201):
        with pytest.raises(ValidationError):
            check_name(bad)


@pytest.mark.parametrize(
    "character",
    [
        "\u200b", "\u200d", "\u202e", "\u2066", "\u00ad", "\u2060", "\ufeff", "\ufe0f", "\U000e0100", "\U000e0061",
        "\u115f", "\u3164", "\uffa0", "\u034f", "\u180b", "\u2800", "\ue000", "\U0010fffd", "\u0378",
    ],
)  # fmt: skip
def test_a_new_username_has_no_invisible_character_and_the_message_names_it(character: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(f"U+{ord(character):04X}")):
        check_username(f"ana{character}")
    assert read_username(f"ana{character}") == f"ana{character}"  # an older account signs in with it


@pytest.mark.parametrize(
    "username",
    [
        "佐藤ハナこx",
        "김minji漢",
        "ㄅㄆ王li",
        "иван",
        "μαρία",
        "מרים",
        "مریم",
        "สมชาย",
        "नमस्ते",
        "josé-2",
        "ana@example.org",
    ],
)
def test_names_of_one_script_or_of_scripts_that_are_written_together_are_kept(username: str) -> None:
    assert check_username(username) == username


@pytest.mark.parametrize("username", ["аna", "paυl", "ガ민", "иван-x", "user٣", "ㄅガ"])
def test_a_username_of_scripts_that_are_not_written_together_is_refused(username: str) -> None:
    with pytest.raises(ValidationError, match="mixes letters of"):
        check_username(username)


@pytest.mark.parametrize(
    ("username", "other", "alike"),
    [
        ("ana", "Ana", True),
        ("ana", "ａｎａ", True),
        ("ana", "𝐚𝐧𝐚", True),
        ("ana", "ana\u200b", True),
        ("сосо", "coco", True),
        ("PauI", "paul", True),
        ("MauI", "maul", True),
        ("user0", "usero", True),
        ("burn", "bum", True),
        ("二", "ニ", True),
        ("ﻩ", "o", True),
        ("strauß", "STRAUSS", True),
        ("josé", "jose", False),
        ("a-1", "a-2", False),
        ("rater1", "rater11", False),
        ("佐藤", "加藤", False),
        ("민준", "민중", False),
    ],
)
def test_usernames_look_alike_by_unicode_and_in_any_case(username: str, other: str, alike: bool) -> None:
    assert bool(list_looks(username) & list_looks(other)) is alike


def test_names_lose_what_turns_or_hides_the_text_around_them_and_keep_what_languages_need() -> None:
    assert check_name("Ana\u202e \u2066x\u2069\u200b\u00ad") == "Ana x"
    for kept in ("سی\u200cاوش", "ශ්\u200dරී", "渡邉\U000e0102", "👩\u200d💻"):
        assert check_name(kept) == kept
    for empty in ("\u200b", "\u3164 \u2800", "\u200d"):
        assert check_name(empty) == ""
