"""The files of quality control: for leads only, and nothing of a pair that is not answered."""

import csv
import io
from datetime import UTC, datetime

import pytest

from annotator.domain.people import OPERATOR
from annotator.overview.service import keep_answers
from annotator.people.roles_service import find_actor
from annotator.people.service import change_person
from annotator.quality.service import draw_sample
from annotator.storage.database import Database
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.conftest import Visitor

LATER = datetime(2026, 4, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def world(database: Database) -> JudgedWorld:
    """Two settled pairs drawn for lea, who has judged one of them otherwise."""
    made = JudgedWorld(database)
    first, second = made.person("first"), made.person("second")
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    with database.read() as session:
        lea = find_actor(session, "lea")
    made.query("Q1", 'ハンドラ, "キュー"')
    for doc_id in ("遠い", "待つ"):
        made.pair("Q1", doc_id)
        made.judge(first, "Q1", doc_id, 0)
        made.judge(second, "Q1", doc_id, 0)
    made.check_quality(lea, "Q1", "遠い", 3, settled=0, note='理由, "引用"\n二行目')
    draw_sample(database, OPERATOR, "d", annotator="lea", rate=1, now=LATER)
    keep_answers(database, lea, "d", now=LATER)  # as the page Quality control does
    return made


def read(visitor: Visitor, table: str) -> list[dict[str, str]]:
    answer = visitor.http.get(f"/api/quality?dataset=d&table={table}")
    assert answer.status_code == 200, answer.text
    assert "attachment" in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


def test_a_lead_keeps_the_errors_as_they_stand_and_no_pair_that_waits(
    world: JudgedWorld, visitor: Visitor
) -> None:
    visitor.sign_in("lea")
    (error,) = read(visitor, "errors")
    assert (error["doc_id"], error["settled_grade"], error["expert_grade"]) == ("遠い", "0", "3")
    assert (error["note"], error["state"]) == ('理由, "引用"\n二行目', "reopened")
    assert read(visitor, "curve") == []  # two pairs, one of them wrong: nothing would decide it
    assert [draw["annotator"] for draw in read(visitor, "draws")] == ["lea", "lea"]
    assert [(row["kind"], row["errors"]) for row in read(visitor, "kinds")] == [
        ("any", "1"), ("far", "1"), ("relevance", "1"),
    ]  # fmt: skip


def test_others_and_other_tables_are_refused(world: JudgedWorld, visitor: Visitor) -> None:
    assert visitor.http.get("/api/quality?dataset=d&table=errors").status_code == 401
    visitor.sign_in("hanako")
    assert visitor.http.get("/api/quality?dataset=demo&table=errors").status_code == 403
    visitor.sign_in("lea")
    assert visitor.http.get("/api/quality?dataset=d&table=pairs").status_code == 404
    assert visitor.http.get("/api/quality?dataset=none&table=errors").status_code == 403
