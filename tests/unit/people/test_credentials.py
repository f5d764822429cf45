"""Passwords: what is accepted, that no plain one is kept, and that Unicode spelling does not matter."""

import re
import unicodedata

import pytest

from annotator.domain.errors import ValidationError
from annotator.people import credentials
from annotator.people.credentials import (
    KNOWN_PASSWORDS,
    NOBODYS_HASH,
    SHORTEST,
    check_new_password,
    hash_password,
    is_common,
    is_outdated,
    is_password,
    make_one_time_password,
)

MAKE_HASHER = credentials._make_hasher


@pytest.fixture(autouse=True)
def _slow_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's own hasher: other tests use a quicker one (tests/conftest.py)."""
    monkeypatch.setattr(credentials, "_make_hasher", MAKE_HASHER)


@pytest.mark.parametrize("password", ["", "short", "x" * 9, "a" * 20, "Hanako-Sato", "q" + "w" * 1_000])
def test_a_weak_or_endless_password_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        check_new_password(password, username="hanako-sato")


@pytest.mark.parametrize("password", ["1q2w3e4r5t", "PassWord123", "ｑｗｅｒｔｙｕｉｏｐ", "Manchester"])
def test_one_of_the_commonest_is_refused_in_any_case_and_width(password: str) -> None:
    with pytest.raises(ValidationError, match="one of the commonest"):
        check_new_password(password, username="hanako")


def test_the_list_holds_ten_thousand_passwords_that_nothing_else_refuses_and_names_its_licence() -> None:
    head, _, body = KNOWN_PASSWORDS.read_text(encoding="utf-8").partition("\n\n")
    passwords = body.splitlines()
    assert "licence" in head
    assert len(set(passwords)) == len(passwords) >= 10_000
    for password in passwords:
        assert len(password) >= SHORTEST
        assert len(set(password)) > 1
        assert "@" not in password, "it may be somebody's address"
        assert is_common(password)


@pytest.mark.parametrize(
    "password",
    [
        "ten chars!",
        "バッテリー正しい馬ホチキス",
        "올바른 말 배터리 스테이플",
        "🔑🗝️🔐🔒🔓🚪🏠🐎🔋📎",
        "w" * 999 + "q",
    ],
)
def test_any_long_enough_text_is_a_password(password: str) -> None:
    check_new_password(password, username="hanako")


def test_the_same_password_from_another_keyboard_is_right() -> None:
    typed = "パスワード-é-비밀번호"
    kept = hash_password(unicodedata.normalize("NFD", typed))
    assert is_password(unicodedata.normalize("NFC", typed), kept)
    assert not is_password(typed + " ", kept)


def test_nothing_of_the_password_is_in_the_hash_and_no_two_hashes_are_alike() -> None:
    first, other = hash_password("correct horse"), hash_password("correct horse")
    assert first != other
    assert "horse" not in first
    assert first.startswith("$argon2id$")


@pytest.mark.parametrize("kept", ["", "not a hash", "$argon2id$v=19$m=8,t=1,p=1$broken"])
def test_a_broken_hash_is_never_right(kept: str) -> None:
    assert not is_password("correct horse", kept)


def test_an_endless_password_is_wrong_without_being_hashed() -> None:
    assert not is_password("x" * 1_001, hash_password("x" * 1_001))


def test_a_lone_surrogate_is_a_wrong_password_and_no_crash() -> None:
    assert not is_password("\ud800" * 12, NOBODYS_HASH)


def test_checking_nobodys_password_costs_what_checking_somebodys_does() -> None:
    assert not is_outdated(NOBODYS_HASH)
    parameters = re.compile(r"\$argon2id\$v=\d+\$[^$]+\$")
    assert parameters.match(NOBODYS_HASH)[0] == parameters.match(hash_password("correct horse"))[0]  # type: ignore[index]


def test_a_hash_with_weaker_parameters_is_outdated() -> None:
    assert is_outdated(
        "$argon2id$v=19$m=8192,t=1,p=1$c29tZXNhbHRzb21l$Zm9yIHRlc3RzIG9ubHkgLi4uIC4uLiAuLi4gLi4"
    )


def test_one_time_passwords_differ_and_may_be_used() -> None:
    made = {make_one_time_password() for _ in range(200)}
    assert len(made) == 200
    for password in made:
        assert re.fullmatch(r"([a-km-np-z2-9]{4}-){3}[a-km-np-z2-9]{4}", password)
        check_new_password(password, username="hanako")
