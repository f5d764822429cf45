"""The program ships with libraries under licences that somebody has looked at."""

from email.message import Message

import pytest

from tests import licences
from tests.licences import EXCEPTIONS, Library, is_allowed, list_faults, list_libraries, read_licence


def test_every_library_has_a_licence_that_is_allowed_or_an_exception_with_its_reason() -> None:
    assert len(list(list_libraries())) > 50
    assert list_faults() == []
    assert all(len(reason) > 20 for _licence, reason in EXCEPTIONS.values())


def test_another_licence_and_an_exception_that_is_needed_no_more_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [
        Library("a", "AGPL-3.0-only"),
        Library("b", ""),
        Library("psycopg", "MIT AND AGPL-3.0-only"),
        Library("c", None),
    ]
    monkeypatch.setattr(licences, "list_libraries", lambda: found)
    faults = list_faults()
    assert faults[:3] == ["a: AGPL-3.0-only", "b: no licence named", "psycopg: MIT AND AGPL-3.0-only"]
    assert "certifi: not in the lock any more" in faults


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT AND ISC) OR GPL-3.0-only", True),
        ("", False),
    ],
)
def test_of_alternatives_one_is_enough_and_of_parts_none_may_be_missing(licence: str, allowed: bool) -> None:
    assert is_allowed(licence) is allowed


def test_an_expression_counts_before_classifiers_and_these_before_free_text() -> None:
    said = Message()
    said["License"] = "3-Clause BSD License"
    assert read_licence(said) == "BSD-3-Clause"
    said["Classifier"] = "License :: OSI Approved :: MIT License"
    assert read_licence(said) == "MIT"
    said["License-Expression"] = "ISC"
    assert read_licence(said) == "ISC"
