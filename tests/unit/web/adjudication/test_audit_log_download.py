"""The audit log as a file: for leads only, as filtered, in both formats, to its end."""

import csv
import io
import json
from datetime import timedelta

import pytest

from annotator.adjudication.history.history import AuditLogFilter
from annotator.domain.people import OPERATOR
from annotator.people.roles_service import find_actor
from annotator.people.service import change_person
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.web.adjudication.downloads import make_audit_log_url
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.conftest import Visitor

MANY = 1_003


@pytest.fixture(scope="module")
def world(database: Database) -> JudgedWorld:
    """lea put off some thousand cases, a second apart; the operator exported the queue."""
    made = JudgedWorld(database)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    with database.write() as session:
        lea = find_actor(session, "lea").person_id
        events = [
            AuditEvent("put off", made.dataset_pk, lea, NOW + timedelta(seconds=number))
            for number in range(MANY)
        ]
        last = AuditEvent(
            "exported queue", made.dataset_pk, None, NOW + timedelta(days=1), after={"pairs": "=1,\n題"}
        )
        add_events(session, [*events, last])
    return made


def test_a_lead_keeps_every_record_in_either_format(world: JudgedWorld, visitor: Visitor) -> None:
    visitor.sign_in("lea")
    answer = visitor.http.get(make_audit_log_url("d", "csv", AuditLogFilter()))
    assert "d-trail.csv" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))
    assert len(rows) == MANY + 1
    assert json.loads(rows[-1]["after"]) == {"pairs": "=1,\n題"}
    lines = visitor.http.get(make_audit_log_url("d", "jsonl", AuditLogFilter())).text.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [int(row["number"]) for row in rows]


def test_the_file_holds_what_its_address_asks_for(world: JudgedWorld, visitor: Visitor) -> None:
    visitor.sign_in("lea")

    def count(wanted: AuditLogFilter) -> int:
        return len(visitor.http.get(make_audit_log_url("d", "jsonl", wanted)).text.splitlines())

    assert count(AuditLogFilter(action="exported queue")) == 1
    assert count(AuditLogFilter(person="operator")) == 1
    assert count(AuditLogFilter(since=NOW + timedelta(seconds=1000))) == 4
    assert count(AuditLogFilter(until=NOW + timedelta(seconds=1))) == 2
    assert (
        visitor.http.get("/api/trail?dataset=d&since=2026-03-05&until=2026-03-05").text.count("exported") == 1
    )


def test_others_and_what_cannot_be_read_are_refused(world: JudgedWorld, visitor: Visitor) -> None:
    assert visitor.http.get("/api/trail?dataset=d").status_code == 401
    visitor.sign_in("hanako")
    assert visitor.http.get("/api/trail?dataset=demo").status_code == 403
    visitor.sign_in("lea")
    assert visitor.http.get("/api/trail?dataset=none").status_code == 403
    assert visitor.http.get("/api/trail?dataset=d&format=xml").status_code == 404
    for wrong in ("since=soon", "until=99", "action=deleted"):
        assert visitor.http.get(f"/api/trail?dataset=d&{wrong}").status_code == 400
