"""The grade that comes with a proposal: what a press may say, and every limit of it."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from annotator.domain.errors import ValidationError
from annotator.pooling.proposals.proposals_service import FirstGrade, read_first_grade

ID = str(UUID(int=7, version=4))


def test_all_fields_of_a_press_are_read_and_the_time_is_in_utc() -> None:
    first_grade = read_first_grade(
        {
            "id": ID.upper(), "grade": 0, "note": "메모\n二行", "pressed_at": "2025-10-26T02:10:00+01:00",
            "seconds": 0, "document_sha256": "aa", "guideline_version": 3,
        }
    )  # fmt: skip
    assert first_grade == FirstGrade(
        ID, 0, "메모\n二行", datetime(2025, 10, 26, 1, 10, tzinfo=UTC), 0.0, "aa", 3
    )
    assert type(first_grade.seconds) is float


@pytest.mark.parametrize("note", [None, "", "  \n "])
def test_fields_that_the_browser_does_not_send_are_none(note: str | None) -> None:
    bare = read_first_grade({"id": ID, "grade": 3, "note": note})
    assert bare == FirstGrade(ID, 3, None, None, None, None, None)


@pytest.mark.parametrize("note", ["a\x00b", "a\ud800b"])
def test_an_unstorable_note_is_cleaned_and_the_grade_is_kept(note: str) -> None:
    first_grade = read_first_grade({"id": ID, "grade": 3, "note": note})
    assert (first_grade.grade, first_grade.note) == (3, "a\ufffdb")


@pytest.mark.parametrize("version", [True, "2", 2.0, None])
def test_a_version_that_is_no_whole_number_is_left_to_the_server(version: object) -> None:
    assert read_first_grade({"id": ID, "grade": 3, "guideline_version": version}).guideline_version is None


@pytest.mark.parametrize("changes", [{"note": "x" * 10_000}, {"seconds": 86_400}, {"seconds": 0}], ids=len)
def test_values_at_the_limits_are_accepted(changes: dict[str, Any]) -> None:
    assert read_first_grade({"id": ID, "grade": 1, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "1"}, "id: expected a UUID of version 4, found '1'"),
        ({"id": None}, "id: expected a UUID of version 4"),
        ({"id": "00000000-0000-5000-8000-000000000001"}, "id: expected a UUID of version 4"),
        ({"id": "00000000-0000-4000-c000-000000000001"}, "id: expected a UUID of version 4"),
        ({"grade": 4}, "expected a grade 0, 1, 2 or 3, found 4"),
        ({"grade": None}, "expected a grade 0, 1, 2 or 3, found None"),
        ({"note": 7}, "note: expected a text, found 7"),
        ({"note": "x" * 10_001}, "note: expected at most 10,000 characters, found 10,001"),
        ({"pressed_at": "yesterday"}, "pressed_at: expected an ISO 8601 time with its zone, found 'yesterday'"),
        ({"pressed_at": "2026-01-01T00:00:00"}, "pressed_at: expected an ISO 8601 time with its zone"),
        ({"pressed_at": "0001-01-01T00:00:00+14:00"}, "pressed_at: expected an ISO 8601 time with its zone"),
        ({"pressed_at": "9999-12-31T23:59:59-12:00"}, "pressed_at: expected an ISO 8601 time with its zone"),
        ({"pressed_at": 0}, "pressed_at: expected an ISO 8601 time with its zone"),
        ({"seconds": "1"}, "seconds: expected a number, found '1'"),
        ({"seconds": True}, "seconds: expected a number, found True"),
        ({"seconds": -0.001}, "seconds: expected 0 to 86400, found -0.001"),
        ({"seconds": 86_401}, "seconds: expected 0 to 86400, found 86401"),
        ({"seconds": 10**400}, "seconds: expected 0 to 86400, found 1000"),
        ({"seconds": float("inf")}, "seconds: expected 0 to 86400, found inf"),
        ({"seconds": float("nan")}, "seconds: expected 0 to 86400, found nan"),
        ({"document_sha256": 7}, "document_sha256: expected a text, found 7"),
        ({"document_sha256": "\ud800"}, "document_sha256: expected a text, found"),
    ],
    ids=lambda part: str(part)[:30].encode("ascii", "replace").decode(),
)  # fmt: skip
def test_impossible_values_are_refused_with_the_name_of_the_field(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        read_first_grade({"id": ID, "grade": 1, **changes})
    assert str(refused.value).startswith(message)
    assert len(str(refused.value)) < 200
