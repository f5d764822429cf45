"""Codes of an authenticator app: the vectors of RFC 6238, the clock's drift, and what is stored of them."""

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyotp
import pytest

from annotator.domain.errors import ValidationError
from annotator.domain.people import requires_second_factor
from annotator.people.second_factor.codes import (
    derive_secret,
    digest_recovery_code,
    find_step,
    is_app_code,
    make_provisioning_uri,
    make_recovery_codes,
    normalize_code,
    read_sealing_key,
    seal_secret,
    unseal_secret,
)
from annotator.people.second_factor.records import UnreadableSecret
from annotator.settings import Settings

SECRET = base64.b32encode(b"12345678901234567890").decode()  # RFC 6238, appendix B
VECTORS = (
    (59, "94287082"),
    (1111111109, "07081804"),
    (1111111111, "14050471"),
    (1234567890, "89005924"),
    (2000000000, "69279037"),
    (20000000000, "65353130"),
)


@pytest.mark.parametrize(("seconds", "code"), VECTORS)
def test_the_vectors_of_rfc_6238_are_right_codes(seconds: int, code: str) -> None:
    now = datetime.fromtimestamp(seconds, UTC)
    assert (
        find_step(SECRET, code[-6:], now=now) == seconds // 30
    )  # apps show the last six of the eight digits


def test_a_code_is_right_in_its_step_and_the_ones_beside_it() -> None:
    at = datetime.fromtimestamp(1111111110, UTC)  # a step begins
    code = pyotp.TOTP(SECRET).at(at)
    for seconds, right in ((-31, False), (-30, True), (0, True), (59, True), (60, False)):
        found = find_step(SECRET, code, now=at + timedelta(seconds=seconds))
        assert found == (1111111110 // 30 if right else None), seconds


@pytest.mark.parametrize("code", ["", "00000", "0000000", "abcdef", "½½½½½½", "９４２８７０", "\udc80" * 6])
def test_what_is_no_code_is_wrong(code: str) -> None:
    assert find_step(SECRET, code, now=datetime.fromtimestamp(59, UTC)) is None


def test_codes_are_read_however_they_are_typed() -> None:
    assert normalize_code(" ２８７ 082\t") == "287082"
    assert is_app_code("287082")
    assert not any(map(is_app_code, ("28708", "2870822", "28708a", "²87082")))
    assert digest_recovery_code("ABCD EFGH-jkmn pqrs") == digest_recovery_code("abcd-efgh-jkmn-pqrs")


def test_recovery_codes_are_ten_different_ones_every_time() -> None:
    made = [*make_recovery_codes(), *make_recovery_codes()]
    assert len(set(made)) == 20
    assert not any(is_app_code(normalize_code(code)) for code in made)


def test_the_key_follows_from_the_browsers_token_alone() -> None:
    assert derive_secret("a") == derive_secret("a") != derive_secret("b")
    assert len(base64.b32decode(derive_secret("a"))) == 20
    uri = make_provisioning_uri(derive_secret("a"), "花子@b c")
    parsed = pyotp.parse_uri(uri)
    assert (parsed.name, parsed.issuer, parsed.secret) == ("花子@b c", "Annotator", derive_secret("a"))  # type: ignore[union-attr]


def test_keys_are_sealed_with_the_operators_key(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one", "other", "short")]
    for path, content in zip(paths, (b"1" * 32 + b"\n", b"2" * 32, b"3" * 31), strict=True):
        path.write_bytes(content)
    one, other = read_sealing_key(paths[0]), read_sealing_key(paths[1])
    sealed = seal_secret(SECRET, one)
    assert SECRET not in sealed
    assert sealed != seal_secret(SECRET, one)
    assert unseal_secret(sealed, one) == SECRET
    for key in (None, other):
        with pytest.raises(UnreadableSecret):
            unseal_secret(sealed, key)
    assert unseal_secret(seal_secret(SECRET, None), one) == SECRET
    assert read_sealing_key(None) is None
    for path in (paths[2], tmp_path / "missing"):
        with pytest.raises(ValidationError, match="ANNOTATOR_SECOND_FACTOR_KEY_FILE"):
            read_sealing_key(path)


def test_of_whom_a_second_factor_is_required() -> None:
    assert not requires_second_factor("optional", ["admin"])
    assert [requires_second_factor("leads", [role]) for role in ("annotator", "lead", "admin")] == [
        False,
        True,
        True,
    ]
    assert not requires_second_factor("leads", [])
    assert requires_second_factor("leads", ["annotator", "lead"])
    assert requires_second_factor("all", [])


def test_the_setting_says_of_whom_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().second_factor == "optional"
    monkeypatch.setenv("ANNOTATOR_SECOND_FACTOR", " Leads ")
    assert Settings().second_factor == "leads"
    monkeypatch.setenv("ANNOTATOR_SECOND_FACTOR", "admins")
    with pytest.raises(ValidationError, match="optional, leads or all"):
        Settings()
