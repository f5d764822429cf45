"""`GET /api/search`, `GET /api/document`, `POST /api/proposals`, `POST /api/questions`: what they answer and refuse."""

from typing import Any
from uuid import UUID

import pytest

from annotator.domain.people import OPERATOR
from annotator.labeling.questions_service import list_questions
from annotator.labeling.service import list_judgments
from annotator.pooling.proposals.search_service import SEARCHES
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, QueryRow
from tests.unit.web.conftest import NOW, Visitor


@pytest.fixture(scope="module", autouse=True)
def _pool(database: Database) -> None:
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "demo").pk)
        query = QueryRow(dataset_pk=dataset_pk, position=0, query_id="Q 1/ㄱ", text="検索")
        session.add(query)
        session.flush()
        for number in range(3):
            document = DocumentRow(dataset_pk=dataset_pk, doc_id=f"d/{number}", title="題", text_sha256="aa")
            session.add(document)
            session.flush()
            text = DocumentTextRow(
                document_pk=key_of(document.pk), sha256="aa", text=f"本文 <b> {number}", imported_at=NOW
            )
            session.add(text)
            if number == 0:
                pooled = PoolCandidate(
                    key_of(query.pk), query.query_id, key_of(document.pk), "d/0", "secret", 1, 7.5
                )
        add_candidates(session, dataset_pk, "demo", [pooled], now=NOW)


def search(visitor: Visitor, database: Database, **changes: str) -> Any:
    parameters = {"dataset": "demo", "query": "Q 1/ㄱ", "q": "本文", **changes}
    answer = visitor.http.get("/api/search", params=parameters)
    if answer.status_code == 200 and answer.json()["preparing"] is not None:
        with database.read() as session:
            dataset_pk = key_of(find_dataset(session, "demo").pk)
        SEARCHES.wait((database.url.render_as_string(hide_password=True), dataset_pk))
        return visitor.http.get("/api/search", params=parameters)
    return answer


def propose(visitor: Visitor, **changes: Any) -> Any:
    parameters = {
        "dataset": "demo", "query_id": "Q 1/ㄱ", "doc_id": "d/1", "grade": 2, "note": "메모", "id": str(UUID(int=1, version=4)),
    }  # fmt: skip
    return visitor.http.post("/api/proposals", json={**parameters, **changes})


def test_a_search_answers_what_the_contract_names_and_nothing_of_others(
    visitor: Visitor, database: Database
) -> None:
    visitor.sign_in("hanako")
    answer = search(visitor, database)
    assert set(answer.json()) == {"documents", "preparing", "most_characters"}
    documents = {document["doc_id"]: document for document in answer.json()["documents"]}
    assert set(documents["d/1"]) == {"doc_id", "title", "snippet", "pair", "state"}
    assert (documents["d/1"]["state"], documents["d/1"]["pair"], documents["d/1"]["snippet"]) == (
        "new",
        None,
        "本文 <b> 1",
    )
    assert (documents["d/0"]["state"], documents["d/0"]["pair"]) == ("in pool", None)
    for word in ("secret", "7.5", "rank", "score", "grade"):
        assert word not in answer.text


def test_a_document_is_read_with_the_version_of_the_guideline(visitor: Visitor) -> None:
    visitor.sign_in("hanako")
    answer = visitor.http.get("/api/document", params={"dataset": "demo", "doc_id": "d/2"})
    assert set(answer.json()) == {
        "doc_id", "title", "url", "media_type", "text", "length", "sha256", "guideline_version",
    }  # fmt: skip
    assert visitor.http.get("/api/document", params={"dataset": "demo", "doc_id": "x"}).status_code == 404


def test_a_proposal_is_stored_once_by_whom_the_cookie_names(visitor: Visitor, database: Database) -> None:
    visitor.sign_in("hanako")
    first = propose(visitor, annotator="lea", pair="x")
    assert (first.status_code, set(first.json())) == (200, {"pair"})
    assert propose(visitor).json() == first.json()
    judgments = [j for j in list_judgments(database, OPERATOR, "demo") if j.doc_id == "d/1"]
    assert [(j.annotator, j.grade, j.note) for j in judgments] == [("hanako", 2, "메모")]
    assert propose(visitor, id=str(UUID(int=2, version=4))).status_code == 409


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"doc_id": "x"}, 404), ({"query_id": "x"}, 404), ({"dataset": "x"}, 403), ({"dataset": "law"}, 403),
        ({"grade": 7}, 400), ({"grade": "2"}, 400), ({"id": "x"}, 400), ({"doc_id": None}, 400),
        ({"doc_id": "\x00"}, 400), ({"note": "x" * 99_000}, 400), ({"note": "x" * 200_000}, 413),
    ],
)  # fmt: skip
def test_a_proposal_of_the_wrong_shape_is_refused_with_a_reason(
    visitor: Visitor, changes: dict[str, Any], status: int
) -> None:
    visitor.sign_in("hanako")
    answer = propose(visitor, **changes)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])


def test_a_question_is_stored_once_on_a_pair_that_was_shown(visitor: Visitor, database: Database) -> None:
    visitor.sign_in("hanako")
    handed = visitor.http.post(
        "/api/judgments", json={"dataset": "demo", "events": [], "have": [], "want": 5}
    )
    parameters = {
        "dataset": "demo", "pair": handed.json()["pairs"][0]["pair"], "text": "질문 <b>", "id": str(UUID(int=5, version=4)),
    }  # fmt: skip
    first = visitor.http.post("/api/questions", json=parameters)
    assert first.status_code == 200
    assert visitor.http.post("/api/questions", json=parameters).json() == first.json()
    assert [item.text for item in list_questions(database, OPERATOR, "demo")] == ["질문 <b>"]
    for changes, status in (
        ({"pair": "0" * 24}, 403),
        ({"text": " "}, 400),
        ({"text": 3}, 400),
        ({"id": "x"}, 400),
    ):
        assert visitor.http.post("/api/questions", json={**parameters, **changes}).status_code == status


@pytest.mark.parametrize("route", ["/api/proposals", "/api/questions"])
def test_another_origin_content_type_or_no_session_is_refused(visitor: Visitor, route: str) -> None:
    assert visitor.http.post(route, json={}).status_code == 401
    visitor.sign_in("hanako")
    assert visitor.http.post(route, json={}, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    plain = visitor.http.post(route, content="{}", headers={"content-type": "text/plain"})
    assert plain.status_code == 400
