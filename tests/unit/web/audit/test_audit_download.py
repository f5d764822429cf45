"""The audit log as a file: for admins of every dataset only, as filtered, whole, and itself entered."""

import json
from itertools import pairwise

import pytest

from annotator.audit.records import AuditFilter
from annotator.audit.service import AUDIT_LOG_FILE, iterate_audit_log
from annotator.domain.audit import AuditAction
from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_act
from annotator.web.audit.downloads import ADDRESS, list_address
from tests.unit.web.conftest import NOW, PASSWORD, Visitor

MANY = 1_203


@pytest.fixture(scope="module", autouse=True)
def _full_log(database: Database) -> None:
    """More entries than are read at once, and an admin of one dataset."""
    add_person(database, OPERATOR, "dora", role="admin", dataset="demo", password=PASSWORD, now=NOW)
    with database.write() as session:
        for number in range(MANY):
            note_act(
                session,
                AuditAction.imported,
                "program",
                at=NOW,
                dataset="demo",
                target=f"題 {number}\n",
                details={"added": number},
            )


def list_downloads(database: Database) -> list[tuple[str | None, str]]:
    wanted = AuditFilter(action="file_downloaded")
    return [
        (entry.name("actor"), entry.chained.object) for entry in iterate_audit_log(database, OPERATOR, wanted)
    ]


def test_nobody_but_an_admin_of_every_dataset_is_sent_the_log(database: Database, visitor: Visitor) -> None:
    assert visitor.http.get(ADDRESS).status_code == 401
    for username in ("hanako", "lea", "dora"):
        visitor.sign_in(username)
        answer = visitor.http.get(ADDRESS)
        assert answer.status_code == 403
        assert "sequence" not in answer.text
    assert list_downloads(database) == []


def test_an_admin_is_sent_every_entry_with_what_it_takes_to_verify_them_and_the_download_is_entered(
    database: Database, visitor: Visitor
) -> None:
    visitor.sign_in("ada")
    before = len(list_downloads(database))
    assert visitor.http.head(ADDRESS).status_code == 200
    other_site = visitor.http.get(ADDRESS, headers={"sec-fetch-site": "cross-site"})
    assert (other_site.status_code, len(list_downloads(database))) == (403, before)
    answer = visitor.http.get(ADDRESS)
    assert answer.headers["content-type"].startswith("application/jsonl")
    assert AUDIT_LOG_FILE in answer.headers["content-disposition"]
    assert answer.headers["cache-control"] == "no-store"
    entries = [json.loads(line) for line in answer.text.splitlines()]
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    assert len(entries) > MANY
    assert entries[-1] == {
        **entries[-1],
        "action": "file_downloaded",
        "actor": "ada",
        "object": AUDIT_LOG_FILE,
    }
    assert all(entry["previous"] == last["sha256"] for last, entry in pairwise(entries))
    assert list_downloads(database)[before:] == [("ada", AUDIT_LOG_FILE)]
    assert PASSWORD not in answer.text and "argon2" not in answer.text


def test_the_file_holds_what_its_address_asks_for(visitor: Visitor) -> None:
    visitor.sign_in("ada")

    def count(wanted: AuditFilter) -> int:
        return len(visitor.http.get(list_address(wanted)).text.splitlines())

    assert count(AuditFilter(dataset="demo", action="imported")) == MANY
    assert count(AuditFilter(dataset="law", action="imported")) == 0
    assert count(AuditFilter(person="hanako", action="account_made")) == 1
    assert count(AuditFilter(action="imported", since=NOW, until=NOW)) == MANY
    assert visitor.http.get(f"{ADDRESS}?action=imported&until=2026-01-01").text == ""
    assert visitor.http.get(f"{ADDRESS}?action=imported&since=2026-01-03").text == ""


@pytest.mark.parametrize("wrong", ["since=soon", "until=99", "action=deleted", "person=%00"])
def test_what_cannot_be_read_is_refused_and_not_entered(
    database: Database, visitor: Visitor, wrong: str
) -> None:
    visitor.sign_in("ada")
    before = list_downloads(database)
    assert visitor.http.get(f"{ADDRESS}?{wrong}").status_code == 400
    assert list_downloads(database) == before
