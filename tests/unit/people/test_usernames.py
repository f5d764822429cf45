"""What may be a username, and what a person's name."""

import unicodedata

import pytest

from annotator.domain.errors import ValidationError
from annotator.people.credentials import check_name, check_username


@pytest.mark.parametrize("username", ["hanako", "花子", "민준", "a", "o'neil@example.org", "🌱", "x" * 100])
def test_a_username_is_kept_as_typed(username: str) -> None:
    assert check_username(username) == username


def test_a_username_is_brought_into_nfc() -> None:
    assert check_username(unicodedata.normalize("NFD", "José-민준-ガ")) == "José-민준-ガ"


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
