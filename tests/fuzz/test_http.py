"""A short run of the fuzzer of requests, the same cases every time, on both databases; and what it must not pass over."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from annotator.storage.database import Database
from tests.fuzz.http import Account, Arena, Told, Walk

CASES = 12
NOW = datetime(2026, 3, 4, tzinfo=UTC)


@pytest.fixture
def arena(database: Database) -> Iterator[Arena]:
    with Arena(database).open() as opened:
        yield opened


def test_hostile_requests_neither_fail_nor_cost_a_label(arena: Arena) -> None:
    walks = [Walk(arena, 0, number) for number in range(CASES)]
    for walk in walks:
        walk.go()
    assert sum(walk.answers for walk in walks) > 12 * CASES - 1
    assert sum(walk.acknowledged for walk in walks) > CASES


@pytest.mark.parametrize(
    ("where", "what"),
    [
        pytest.param("annotator.labeling.submission_sql.mark_late", lambda _session, rows, **_more: [{**row, "late": False} for row in rows], id="late presses hold", marks=pytest.mark.long),
        pytest.param("annotator.labeling.submission_sql.mark_late", lambda _session, rows, **_more: [{**row, "late": False, "grade": row["grade"] and 1} for row in rows], id="another grade", marks=pytest.mark.long),
        pytest.param("annotator.labeling.submission_sql.mark_late", lambda _session, rows, **_more: [{**row, "late": False} for row in rows[1:]], id="a lost label"),
    ],
)  # fmt: skip
def test_it_notices(where: str, what: object, arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, what)
    with pytest.raises(AssertionError):
        for number in range(CASES):
            Walk(arena, 0, number).go()


def test_the_account_keeps_the_order_of_receipt() -> None:
    account = Account()
    for index, number in enumerate((1, 5, 3)):
        event = Told(f"e{number}", "p", "graded", 1, None, NOW, "b1", number)
        account.stored.append(("hanako", event, NOW + timedelta(seconds=index)))
    assert account.list_current() == {("p", "hanako"): "e5"}
