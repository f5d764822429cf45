"""Bad luck and bad intent over `POST /api/judgments`: what is stored then, what is not, and what the browser is told.

What is not named as acknowledged or refused stays in the browser's outbox, so "nothing lost" is: nothing acknowledged
that was not stored, and the same event stored once as soon as it may be.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select, update
from sqlmodel import col
from starlette.testclient import TestClient
from streamlit.starlette import App

from annotator.dataset.service import create_dataset
from annotator.domain.grades import DEFAULT_RUBRIC
from annotator.domain.people import OPERATOR
from annotator.guideline.service import publish_version
from annotator.importing.remapping.remapping_sql import retire_pairs
from annotator.labeling.service import list_judgments
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person, disable_person, remove_role
from annotator.people.sign_in_service import revoke_sessions
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, JudgmentRow, PairRow, QueryRow
from annotator.storage.tables.labeling import LeaseRow, RepeatRow
from annotator.storage.tables.sign_in import LoginSessionRow
from tests.unit.web.conftest import NOW, PASSWORD, Visitor

NAMES = count()
AGO = datetime.now(UTC) - timedelta(days=30)


@dataclass
class Room:
    """A dataset of the test's own with three pairs, and one annotator's browser."""

    database: Database
    app: App
    name: str
    annotator: str
    browser: Visitor = field(init=False)

    def __post_init__(self) -> None:
        self.browser = self.open(self.annotator)

    def open(self, username: str) -> Visitor:
        """One more browser, signed in."""
        browser = Visitor(TestClient(self.app, follow_redirects=False))
        browser.sign_in(username)
        return browser

    def post(self, *events: dict[str, Any], browser: Visitor | None = None, **parameters: Any) -> Any:
        body = {"dataset": self.name, "events": list(events), "have": [], "want": 0, **parameters}
        return (browser or self.browser).http.post("/api/judgments", json=body)

    def hand_out(self, want: int = 1) -> list[dict[str, Any]]:
        pairs: list[dict[str, Any]] = self.post(want=want).json()["pairs"]
        return pairs

    def stored(self, *, history: bool = True) -> list[tuple[str, str, int | None]]:
        judgments = list_judgments(self.database, OPERATOR, self.name, history=history)
        return [(judgment.annotator, judgment.pair_key, judgment.grade) for judgment in judgments]

    def find_rows(self) -> list[JudgmentRow]:
        """What is stored, in the order in which it came."""
        with self.database.read() as session:
            own = select(JudgmentRow).join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
            dataset_pk = find_dataset(session, self.name).pk
            return list(
                session.scalars(
                    own.where(col(PairRow.dataset_pk) == dataset_pk).order_by(col(JudgmentRow.pk))
                )
            )

    def find_pair(self, key: str) -> int:
        with self.database.read() as session:
            return key_of(session.scalars(select(col(PairRow.pk)).where(col(PairRow.key) == key)).one())


def event(pair: str, grade: int = 2, **changes: Any) -> dict[str, Any]:
    return {
        "id": str(uuid4()), "pair": pair, "outcome": "graded", "grade": grade, "note": "", "seconds": 1.5,
        "pressed_at": AGO.isoformat(), **changes,
    }  # fmt: skip


def make_dataset(database: Database, name: str, *, pairs: int = 3) -> list[str]:
    """A dataset with one query and so many pairs; their keys."""
    create_dataset(database, OPERATOR, name, now=NOW, settings={"overlap": "1"})
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, name).pk)
        query = QueryRow(dataset_pk=dataset_pk, position=0, query_id="Q1", text="検索")
        session.add(query)
        session.flush()
        candidates = []
        for number in range(pairs):
            sha = f"{name}-{number}"
            document = DocumentRow(dataset_pk=dataset_pk, doc_id=f"d/{number}", title="題", text_sha256=sha)
            session.add(document)
            session.flush()
            document_pk = key_of(document.pk)
            session.add(DocumentTextRow(document_pk=document_pk, sha256=sha, text="본문", imported_at=NOW))
            candidates.append(PoolCandidate(key_of(query.pk), "Q1", document_pk, document.doc_id, "bm25"))
        add_candidates(session, dataset_pk, name, candidates, now=NOW)
        keys = select(col(PairRow.key)).where(col(PairRow.dataset_pk) == dataset_pk)
        return list(session.scalars(keys))


@pytest.fixture
def room(database: Database, app: App) -> Room:
    number = next(NAMES)
    name, annotator = f"room-{number}", f"ann-{number}"
    make_dataset(database, name)
    add_person(database, OPERATOR, annotator, role="annotator", dataset=name, password=PASSWORD, now=NOW)
    return Room(database, app, name, annotator)


def revoke(room: Room) -> None:
    with room.database.read() as session:
        actor = find_actor(session, room.annotator)
    assert revoke_sessions(room.database, actor, now=datetime.now(UTC)) == 1


def sign_out(room: Room) -> None:
    other = Visitor(TestClient(room.app, follow_redirects=False))
    other.http.cookies.set("annotator_session", room.browser.http.cookies["annotator_session"])
    assert other.http.post("/logout").status_code == 303


def expire(room: Room) -> None:
    with room.database.write() as session:
        own = col(LoginSessionRow.person_pk) == find_actor(session, room.annotator).person_id
        session.execute(update(LoginSessionRow).where(own).values(expires_at=NOW))


def disable(room: Room) -> None:
    disable_person(room.database, OPERATOR, room.annotator, now=datetime.now(UTC))


def enable(room: Room) -> None:
    change_person(room.database, OPERATOR, room.annotator, enable=True, now=datetime.now(UTC))


def take_role(room: Room) -> None:
    remove_role(room.database, OPERATOR, room.annotator, dataset=room.name, now=NOW)


def give_role(room: Room) -> None:
    change_person(
        room.database, OPERATOR, room.annotator, role="annotator", dataset=room.name, now=datetime.now(UTC)
    )


def give_one_time_password(room: Room) -> None:
    change_person(room.database, OPERATOR, room.annotator, new_password=True, now=datetime.now(UTC))


def give_password(room: Room) -> None:
    change_person(room.database, OPERATOR, room.annotator, password=PASSWORD, now=datetime.now(UTC))


def nothing(_room: Room) -> None:
    """Signing in again is all that it takes."""


@pytest.mark.parametrize(
    ("shut_out", "status", "mend"),
    [
        (revoke, 401, nothing),
        (sign_out, 401, nothing),
        (expire, 401, nothing),
        (disable, 401, enable),
        (give_one_time_password, 401, give_password),
        (take_role, 403, give_role),
    ],
    ids=lambda part: getattr(part, "__name__", str(part)),
)
def test_of_somebody_shut_out_while_labeling_nothing_is_stored_and_all_is_once_they_are_back(
    room: Room, shut_out: Callable[[Room], None], status: int, mend: Callable[[Room], None]
) -> None:
    first, two = (handed["pair"] for handed in room.hand_out(2))
    before, pressed = event(first, 1), event(two, 3, note="메모")
    assert room.post(before).json()["acknowledged"] == [before["id"]]
    shut_out(room)
    answer = room.post(pressed, have=[two], want=5)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"], "neither acknowledged nor refused: the browser keeps it"
    assert answer.json()["error"]
    assert room.stored() == [(room.annotator, first, 1)]
    mend(room)
    if status == 401:
        assert room.post(pressed).status_code == 401, "the old session stays closed"
        room.browser.sign_in(room.annotator)
    assert room.post(before, pressed).json()["acknowledged"] == [before["id"], pressed["id"]]
    assert sorted(room.stored()) == sorted([(room.annotator, first, 1), (room.annotator, two, 3)])


def test_with_a_one_time_password_nothing_is_stored_before_another_is_chosen(room: Room) -> None:
    pressed = event(room.hand_out()[0]["pair"])
    made = change_person(room.database, OPERATOR, room.annotator, new_password=True, now=datetime.now(UTC))
    room.browser.sign_in(room.annotator, made.one_time_password or "")
    answer = room.post(pressed)
    assert (answer.status_code, list(answer.json())) == (403, ["error"])
    assert room.stored() == []


@pytest.mark.parametrize(
    ("forged", "code"),
    [
        ({"pair": "0" * 24}, "not_in_pool"),
        ({"pair": ""}, "not_in_pool"),
        ({"pair": None}, "not_in_pool"),
        ({"pair": 1}, "bad_event"),
        ({"pair": ["x"]}, "bad_event"),
        ({"grade": 4}, "bad_event"),
        ({"grade": -1}, "bad_event"),
        ({"grade": None}, "bad_event"),
        ({"grade": True}, "bad_event"),
        ({"grade": "3"}, "bad_event"),
        ({"grade": [3]}, "bad_event"),
        ({"grade": 1e400}, "bad_event"),
        ({"outcome": "later"}, "bad_event"),
        ({"outcome": ["graded"]}, "bad_event"),
        ({"outcome": "adjudicated"}, "bad_event"),
        ({"pressed_at": None}, "bad_event"),
        ({"pressed_at": 1767225600}, "bad_event"),
        ({"pressed_at": "2026-01-01T00:00:00"}, "bad_event"),
        ({"pressed_at": "2026-02-30T00:00:00Z"}, "bad_event"),
        ({"pressed_at": "0001-01-01T00:00:00+14:00"}, "bad_event"),
        ({"pressed_at": "9999-12-31T23:59:59-12:00"}, "bad_event"),
        ({"pair": "\ud800"}, "bad_event"),
        ({"pair": "\x00"}, "bad_event"),
        ({"document_sha256": "\ud800"}, "bad_event"),
        ({"seconds": 10**400}, "bad_event"),
        ({"judged_at": "2020-01-01T00:00:00Z"}, "bad_event"),
        ({"received_at": "2020-01-01T00:00:00Z"}, "bad_event"),
        ({"purpose": "gold"}, "bad_event"),
        ({"stale": 0}, "bad_event"),
        ({"seconds": -0.1}, "bad_event"),
        ({"seconds": 86_401}, "bad_event"),
        ({"seconds": True}, "bad_event"),
        ({"reason": "unreadable"}, "bad_event"),
        ({"document_sha256": 7}, "bad_event"),
        ({"id": "1"}, "bad_event"),
        ({"id": "00000000-0000-5000-8000-000000000001"}, "bad_event"),
        ({"id": None}, "bad_event"),
    ],
    ids=ascii,
)  # fmt: skip
def test_a_forged_event_is_refused_with_its_kind_of_reason_and_the_one_beside_it_is_stored(
    shared: Room, forged: dict[str, Any], code: str
) -> None:
    before = shared.stored()
    (first, two) = (handed["pair"] for handed in shared.hand_out(2))
    bad, good = {**event(first), **forged}, event(two, 1)
    answer = shared.browser.http.post(
        "/api/judgments",
        content=json.dumps({"dataset": shared.name, "events": [bad, good], "have": [], "want": 0}),
        headers={"content-type": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["acknowledged"] == [good["id"]]
    assert [(refused["id"], refused["code"]) for refused in body["refused"]] == [(str(bad["id"]), code)]
    assert body["refused"][0]["why"]
    assert sorted(shared.stored()) == sorted([*before, (shared.annotator, two, 1)])


@pytest.fixture(scope="module")
def shared(database: Database, app: App) -> Room:
    """One dataset for all that is refused: of each test only a pair of it is judged."""
    make_dataset(database, "shared", pairs=60)
    add_person(database, OPERATOR, "sora", role="annotator", dataset="shared", password=PASSWORD, now=NOW)
    return Room(database, app, "shared", "sora")


@pytest.mark.parametrize(
    "parameters", [{"have": ["\ud800"]}, {"have": ["\x00"]}, {"tab": "\ud800"}, {"tab": "\x00"}, {"dataset": "\ud800"}], ids=ascii
)  # fmt: skip
def test_what_no_database_can_keep_is_refused_as_a_bad_request(
    room: Room, parameters: dict[str, Any]
) -> None:
    body = json.dumps({"dataset": room.name, "events": [], "have": [], "want": 1, **parameters})
    answer = room.browser.http.post(
        "/api/judgments", content=body, headers={"content-type": "application/json"}
    )
    assert (answer.status_code, list(answer.json())) == (400, ["error"])


def test_an_event_whose_id_is_no_text_is_named_as_far_as_it_can_be(room: Room) -> None:
    body = json.dumps({"dataset": room.name, "events": [event("x", id="\ud800")], "have": [], "want": 0})
    answer = room.browser.http.post(
        "/api/judgments", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 200
    assert [refused["code"] for refused in answer.json()["refused"]] == ["bad_event"]


def test_a_pair_of_another_dataset_is_neither_judged_nor_shown_nor_named(room: Room) -> None:
    foreign = make_dataset(room.database, f"{room.name}-other")[0]
    body = room.post(event(foreign), have=[foreign]).json()
    assert (body["acknowledged"], body["judged"]) == ([], [])
    assert [refused["code"] for refused in body["refused"]] == ["not_in_pool"]
    parameters = {"dataset": room.name, "pair": foreign}
    for path in ("text", "rendering", "changes", "pair"):
        answer = room.browser.http.get(
            f"/api/{path}", params=parameters, headers={"Referer": "http://testserver/"}
        )
        assert answer.status_code in (404, 409), path
        assert list(answer.json()) in (["error"], ["error", "code"]), path
    question = {**parameters, "text": "왜?", "id": str(uuid4())}
    assert room.browser.http.post("/api/questions", json=question).status_code in (403, 404)
    assert list_judgments(room.database, OPERATOR, f"{room.name}-other", history=True) == []


def test_the_key_of_somebody_elses_repeat_is_not_ones_own(room: Room) -> None:
    pair = room.hand_out()[0]["pair"]
    room.post(event(pair))
    with room.database.write() as session:
        own = key_of(find_actor(session, room.annotator).person_id)
        session.add(RepeatRow(key="r" * 24, pair_pk=room.find_pair(pair), annotator_pk=own, handed_at=NOW))
    other = f"other-{room.annotator}"
    add_person(
        room.database, OPERATOR, other, role="annotator", dataset=room.name, password=PASSWORD, now=NOW
    )
    body = room.post(event("r" * 24), browser=room.open(other)).json()
    assert [refused["code"] for refused in body["refused"]] == ["not_in_pool"]
    assert room.post(event("r" * 24)).json()["refused"] == []
    assert [row.purpose for row in room.find_rows()] == ["independent", "repeat"]


@pytest.mark.parametrize("version", [0, 2, 99, -1, True, "1", 1.0, None, 10**30], ids=str)
def test_a_forged_version_of_the_guideline_is_taken_for_the_present_one(room: Room, version: object) -> None:
    pair = room.hand_out()[0]["pair"]
    assert room.post(event(pair, guideline_version=version)).json()["refused"] == []
    assert [
        judgment.guideline_version for judgment in list_judgments(room.database, OPERATOR, room.name)
    ] == [1]


@pytest.mark.parametrize("other", ["", "aa", "of another document"], ids=repr)
def test_the_hash_of_a_text_that_the_document_never_had_is_taken_for_the_present_one(
    room: Room, other: str
) -> None:
    first, two = room.hand_out(2)
    forged = two["document"]["sha256"] if other == "of another document" else other
    assert room.post(event(first["pair"], document_sha256=forged)).json()["refused"] == []
    assert [row.document_sha256 for row in room.find_rows()] == [first["document"]["sha256"]]


@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(days=400), timedelta(days=365 * 7900)])
def test_a_press_of_a_clock_that_runs_ahead_was_made_when_it_came_and_can_be_changed(
    room: Room, ahead: timedelta
) -> None:
    pair = room.hand_out()[0]["pair"]
    room.post(event(pair, 1, pressed_at=(datetime.now(UTC) + ahead).isoformat()))
    room.post(event(pair, 2, pressed_at=datetime.now(UTC).isoformat()))
    rows = room.find_rows()
    assert all(row.judged_at <= row.received_at <= datetime.now(UTC) for row in rows)
    assert len(rows) == 2
    assert room.stored(history=False) == [(room.annotator, pair, 2)]


@pytest.mark.parametrize("behind", [timedelta(hours=9), timedelta(days=365 * 50)])
def test_a_clock_that_runs_behind_keeps_the_order_of_its_presses(room: Room, behind: timedelta) -> None:
    pair = room.hand_out()[0]["pair"]
    slow = datetime.now(UTC) - behind
    last, first = (
        event(pair, 3, pressed_at=(slow + timedelta(milliseconds=1)).isoformat()),
        event(pair, 0, pressed_at=slow.isoformat()),
    )
    assert len(room.post(last, first).json()["acknowledged"]) == 2, "whichever comes first"
    assert room.stored(history=False) == [(room.annotator, pair, 3)]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("2025-10-26T02:50:00+02:00", "2025-10-26T02:10:00+01:00"),  # the hour that comes twice
        ("2025-03-30T01:59:59.999+01:00", "2025-03-30T03:00:00+02:00"),  # the hour that there is not
        ("2025-06-01T23:00:00+09:00", "2025-06-01T07:30:00-07:00"),  # somebody who travels
        ("2025-06-01T12:00:00Z", "2025-06-01T21:00:00.001+09:00"),
    ],
)
def test_of_two_presses_the_later_instant_holds_whatever_the_wall_clock_said(
    room: Room, earlier: str, later: str
) -> None:
    pair = room.hand_out()[0]["pair"]
    room.post(event(pair, 3, pressed_at=later), event(pair, 0, pressed_at=earlier))
    assert room.stored(history=False) == [(room.annotator, pair, 3)]
    assert {row.judged_at.utcoffset() for row in room.find_rows()} == {timedelta(0)}


def test_a_pair_that_left_the_pool_while_on_the_screen_is_kept_on_record_and_said_so(room: Room) -> None:
    first, two = (handed["pair"] for handed in room.hand_out(2))
    with room.database.write() as session:
        dataset_pk = key_of(find_dataset(session, room.name).pk)
        retire_pairs(session, dataset_pk, [room.find_pair(first)], now=datetime.now(UTC))
    assert room.post(have=[first, two]).json()["judged"] == [first], "the browser takes it off the screen"
    pressed = event(first, 3)
    body = room.post(pressed, want=5).json()
    assert (body["acknowledged"], body["surplus"], body["refused"]) == ([pressed["id"]], [], [])
    assert (body["progress"], [handed["pair"] == first for handed in body["pairs"]]) == (
        {"done": 0, "total": 2, "added": 0, "answered": 0}, [False, False],
    )  # fmt: skip
    assert (room.stored(), room.stored(history=False)) == ([(room.annotator, first, 3)], [])


@pytest.mark.parametrize(("change", "asked_again"), [("semantic", 1), ("minor", 0)])
def test_a_judgment_counts_under_the_rubric_that_was_on_the_screen_when_it_changed(
    room: Room, change: str, asked_again: int
) -> None:
    (handed,) = room.hand_out()
    assert handed["guideline_version"] == 1
    new = replace(DEFAULT_RUBRIC, guideline="# 新しい")
    publish_version(
        room.database,
        OPERATOR,
        room.name,
        new,
        base_version=1,
        change=change,
        why="so",
        now=datetime.now(UTC),
    )
    pair, version = handed["pair"], {"guideline_version": 1}
    assert room.post(event(pair, 2, **version), have=[pair]).json()["refused"] == []
    assert [
        judgment.guideline_version for judgment in list_judgments(room.database, OPERATOR, room.name)
    ] == [1]
    again = [handed_pair for handed_pair in room.hand_out(3) if handed_pair["answer"]]
    assert [(handed_pair["pair"], handed_pair["outdated"]["version"]) for handed_pair in again] == [
        (pair, 1)
    ] * asked_again
    if again:
        confirmed = event(pair, 2, guideline_version=2, pressed_at=datetime.now(UTC).isoformat())
        room.post(confirmed)
        assert [
            judgment.guideline_version for judgment in list_judgments(room.database, OPERATOR, room.name)
        ] == [2]
        assert not [handed_pair for handed_pair in room.hand_out(3) if handed_pair["answer"]]


def test_a_lease_that_ran_out_while_offline_keeps_the_judgment(room: Room) -> None:
    pair = room.hand_out()[0]["pair"]
    other = f"other-{room.annotator}"
    add_person(
        room.database, OPERATOR, other, role="annotator", dataset=room.name, password=PASSWORD, now=NOW
    )
    browser = room.open(other)
    handed = room.post(want=5, browser=browser).json()["pairs"]
    assert pair not in {handed_pair["pair"] for handed_pair in handed}, "leased"
    with room.database.write() as session:
        session.execute(update(LeaseRow).values(expires_at=NOW))
    handed = room.post(want=5, browser=browser).json()["pairs"]
    assert pair in {handed_pair["pair"] for handed_pair in handed}
    assert room.post(event(pair, 0), browser=browser).json()["surplus"] == []
    late = event(pair, 3)
    body = room.post(late).json()
    assert (body["acknowledged"], body["surplus"]) == ([late["id"]], []), "a check would not be surplus"
    assert sorted(room.stored(history=False)) == sorted([(room.annotator, pair, 3), (other, pair, 0)])


def test_the_same_pair_answered_on_two_devices_has_one_answer_the_one_pressed_last(room: Room) -> None:
    phone = room.open(room.annotator)
    pair = room.post(want=1, tab="desk").json()["pairs"][0]["pair"]
    two = room.post(want=1, tab="phone", browser=phone).json()["pairs"][0]["pair"]
    assert pair != two, "while there is more"
    early = (AGO - timedelta(hours=1)).isoformat()
    room.post(event(pair, 3), tab="desk")
    body = room.post(event(pair, 1, pressed_at=early), have=[pair], tab="phone", browser=phone).json()
    assert (len(body["acknowledged"]), body["judged"], body["surplus"]) == (1, [pair], [])
    assert room.stored(history=False) == [(room.annotator, pair, 3)]
    assert len(room.stored()) == 2, "both are in the history"
    with room.database.read() as session:
        row = session.scalars(select(PairRow).where(col(PairRow.key) == pair)).one()
        assert (row.judged, row.lacking) == (1, 0)
