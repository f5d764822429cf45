"""The queue's file over HTTP: for leads, the part that the address names, from this site only."""

import csv
import io

import pytest

from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.storage.database import Database
from annotator.web.adjudication.downloads import make_queue_url
from annotator.web.adjudication.queue_url import QueueAddress
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.conftest import Visitor


@pytest.fixture(scope="module")
def world(database: Database) -> JudgedWorld:
    """Two disagreements, of which lea is the lead."""
    made = JudgedWorld(database)
    first, second = made.person("first"), made.person("second")
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    made.query("Q1", "検索")
    for doc_id, grade in (("遠い", 3), ("=近い", 1)):
        made.pair("Q1", doc_id)
        made.judge(first, "Q1", doc_id, 0)
        made.judge(second, "Q1", doc_id, grade)
    return made


def test_a_lead_takes_away_the_part_of_the_queue_that_the_address_names(
    world: JudgedWorld, visitor: Visitor
) -> None:
    visitor.sign_in("lea")
    address = make_queue_url("d", QueueAddress(QueueFilter(distance=1), "age"))
    assert address == "/api/queue?dataset=d&sort=age&distance=1"
    answer = visitor.http.get(address)
    assert answer.status_code == 200, answer.text
    assert "filename*=UTF-8''d-disagreements.csv" in answer.headers["content-disposition"]
    assert answer.content.startswith(b"\xef\xbb\xbf")
    (row,) = csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline=""))
    assert (row["doc_id"], row["grades"]) == ("'=近い", "0 1")
    assert row["link"].startswith("http://testserver/disagreements?dataset=d&pair=")


def test_others_and_other_sites_are_refused(world: JudgedWorld, visitor: Visitor) -> None:
    assert visitor.http.get("/api/queue?dataset=d").status_code == 401
    visitor.sign_in("hanako")
    assert visitor.http.get("/api/queue?dataset=d").status_code == 403
    assert visitor.http.get("/api/queue?dataset=demo").status_code == 403
    visitor.sign_in("lea")
    answer = visitor.http.get("/api/queue?dataset=d", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert visitor.http.head("/api/queue?dataset=d").content == b""
