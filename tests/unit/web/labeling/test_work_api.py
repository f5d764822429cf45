"""`GET /api/pair` to the letter: the own answer comes back, anything else is refused with a code."""

from uuid import UUID

import pytest

from annotator.domain.people import OPERATOR
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import DocumentRow, QueryRow
from annotator.storage.tables.labeling import DisclosureRow
from tests.unit.web.conftest import NOW, Visitor


@pytest.fixture(scope="module", autouse=True)
def _pool(database: Database) -> None:
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "demo").pk)
        query = QueryRow(dataset_pk=dataset_pk, position=0, query_id="Q1", text="検索")
        session.add(query)
        session.flush()
        candidates = []
        for number in range(3):
            document = DocumentRow(dataset_pk=dataset_pk, doc_id=f"d/{number}", title="題")
            session.add(document)
            session.flush()
            candidates.append(
                PoolCandidate(key_of(query.pk), "Q1", key_of(document.pk), document.doc_id, "bm25")
            )
        add_candidates(session, dataset_pk, "demo", candidates, now=NOW)


def test_an_answered_pair_comes_back_and_no_other(visitor: Visitor, database: Database) -> None:
    visitor.sign_in("hanako")
    first, second = visitor.http.post(
        "/api/judgments", json={"dataset": "demo", "events": [], "have": [], "want": 2}
    ).json()["pairs"]
    event = {
        "id": str(UUID(int=1, version=4)), "pair": first["pair"], "outcome": "unrateable", "grade": None, "note": "메모",
        "reason": "unreadable", "pressed_at": "2026-01-03T00:00:00Z",
    }  # fmt: skip
    visitor.http.post("/api/judgments", json={"dataset": "demo", "events": [event], "have": [], "want": 0})
    answer = visitor.http.get("/api/pair", params={"dataset": "demo", "pair": first["pair"]})
    own = {"outcome": "unrateable", "grade": None, "note": "메모", "reason": "unreadable"}
    assert answer.json() == {**first, "answer": own, "position": None}
    refused = visitor.http.get("/api/pair", params={"dataset": "demo", "pair": second["pair"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_yours")
    visitor.sign_in("lea")
    others = visitor.http.get("/api/pair", params={"dataset": "demo", "pair": first["pair"]})
    assert (others.status_code, others.json()["code"]) == (409, "not_yours")
    with database.write() as session:
        (judged,) = list_judgments(database, OPERATOR, "demo")
        pair_pk = int(judged.doc_id[-1]) + 1
        session.add(DisclosureRow(pair_pk=pair_pk, person_pk=judged.annotator_pk, disclosed_at=NOW))
    visitor.sign_in("hanako")
    disclosed = visitor.http.get("/api/pair", params={"dataset": "demo", "pair": first["pair"]})
    assert (disclosed.status_code, disclosed.json()["code"]) == (409, "disclosed")


def test_who_is_not_signed_in_or_may_not_label_there_is_refused(visitor: Visitor) -> None:
    parameters = {"dataset": "law", "pair": "x"}
    assert visitor.http.get("/api/pair", params=parameters).status_code == 401
    visitor.sign_in("hanako")
    assert visitor.http.get("/api/pair", params=parameters).status_code == 403
    assert visitor.http.get("/api/pair", params={**parameters, "dataset": "none"}).status_code == 403
