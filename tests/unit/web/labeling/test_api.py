"""`POST /api/judgments` and `GET /api/text` to the letter: what they answer, and what they refuse."""

import json
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from annotator.domain.people import OPERATOR
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, QueryRow
from annotator.web import labeling
from annotator.web.labeling.api import EXCHANGE_VERSION, OLDEST_EXCHANGE
from tests.unit.web.conftest import NOW, Visitor

TEXT = "本文 <b>& 텍스트</b> 🙂 שלום"


@pytest.fixture(scope="module", autouse=True)
def _pool(database: Database) -> None:
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "demo").pk)
        query = QueryRow(
            dataset_pk=dataset_pk, position=0, query_id="Q1", text="検索", narrative="何を", language="ja"
        )
        session.add(query)
        session.flush()
        candidates = []
        for number in range(5):
            document = DocumentRow(dataset_pk=dataset_pk, doc_id=f"d/{number}", title="題", text_sha256="aa")
            session.add(document)
            session.flush()
            session.add(
                DocumentTextRow(document_pk=key_of(document.pk), sha256="aa", text=TEXT, imported_at=NOW)
            )
            candidates.append(
                PoolCandidate(
                    key_of(query.pk), "Q1", key_of(document.pk), document.doc_id, "bm25", number + 1, 7.5
                )
            )
        add_candidates(session, dataset_pk, "demo", candidates, now=NOW)


def ask(visitor: Visitor, **changes: Any) -> Any:
    request = {"dataset": "demo", "events": [], "have": [], "want": 0, **changes}
    return visitor.http.post("/api/judgments", json=request)


def test_a_submission_is_answered_with_everything_the_contract_names(
    visitor: Visitor, database: Database
) -> None:
    visitor.sign_in("hanako")
    first = ask(visitor, want=2).json()
    assert set(first) == {
        "acknowledged", "refused", "pairs", "judged", "progress", "feedback", "surplus", "training",
    }  # fmt: skip
    assert first["progress"] == {"done": 0, "total": 5, "added": 0, "answered": 0}
    pair = first["pairs"][0]
    assert pair["query"] == {"query_id": "Q1", "text": "検索", "narrative": "何を", "language": "ja"}
    assert (pair["document"]["text"], pair["document"]["length"]) == (TEXT, len(TEXT))
    good, bad = str(UUID(int=1, version=4)), str(UUID(int=2, version=4))
    event = {"pair": pair["pair"], "outcome": "graded", "note": "메모", "pressed_at": "2026-01-03T00:00:00Z"}
    answer = ask(visitor, events=[{**event, "id": good, "grade": 3}, {**event, "id": bad, "grade": 4}])
    assert answer.status_code == 200
    assert answer.json()["acknowledged"] == [good]
    assert [refused["id"] for refused in answer.json()["refused"]] == [bad]
    assert answer.json()["progress"] == {"done": 1, "total": 5, "added": 0, "answered": 1}
    assert [(j.annotator, j.grade) for j in list_judgments(database, OPERATOR, "demo")] == [("hanako", 3)]


@pytest.mark.parametrize("version", [0, "1", None, True, -1, 1.0])
def test_a_version_of_the_exchange_that_is_none_is_refused(visitor: Visitor, version: object) -> None:
    visitor.sign_in("hanako")
    assert ask(visitor, version=version).status_code == 400


def test_a_page_of_a_newer_version_is_told_so_and_nothing_is_stored(
    visitor: Visitor, database: Database
) -> None:
    visitor.sign_in("hanako")
    before = list_judgments(database, OPERATOR, "demo")
    pair = ask(visitor, want=1, version=EXCHANGE_VERSION).json()["pairs"][0]["pair"]
    event = {
        "id": str(UUID(int=8, version=4)),
        "pair": pair,
        "outcome": "graded",
        "grade": 1,
        "pressed_at": "2026-01-03T00:00:00Z",
    }
    answer = ask(visitor, events=[event], version=EXCHANGE_VERSION + 1)
    assert (answer.status_code, list(answer.json())) == (426, ["error"])
    assert list_judgments(database, OPERATOR, "demo") == before


def test_panel_and_server_say_the_same_version_and_the_first_request_is_of_the_oldest() -> None:
    folder = Path(labeling.__file__).parent / "panel"
    (said,) = re.findall(
        r"^const EXCHANGE_VERSION = (\d+);", (folder / "exchange.js").read_text(), re.MULTILINE
    )
    assert int(said) == EXCHANGE_VERSION
    assert "version" not in (folder / "first_pairs.js").read_text() and OLDEST_EXCHANGE == 1


def test_who_judged_is_told_by_the_cookie_alone(visitor: Visitor, database: Database) -> None:
    visitor.sign_in("lea")
    pair = ask(visitor, want=1).json()["pairs"][0]["pair"]
    event = {
        "id": str(UUID(int=9, version=4)), "pair": pair, "outcome": "graded", "grade": 1, "pressed_at": "2026-01-03T00:00:00Z",
        "annotator": "hanako", "username": "hanako", "annotator_pk": 1,
    }  # fmt: skip
    assert ask(visitor, events=[event], annotator="hanako").status_code == 409, "pressed by somebody else"
    assert ask(visitor, events=[event]).json()["acknowledged"] == [event["id"]]
    assert [j.annotator for j in list_judgments(database, OPERATOR, "demo") if j.event_id == event["id"]] == [
        "lea"
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset": None}, {"dataset": 7}, {"events": {}}, {"events": [1]}, {"events": "x"}, {"have": "x"},
        {"tab": 1}, {"tab": "x" * 65}, {"have": [1]}, {"have": ["x"] * 201}, {"want": -1}, {"want": "3"}, {"want": True}, {"want": 1.5},
    ],
)  # fmt: skip
def test_a_request_of_the_wrong_shape_is_refused_with_a_reason(
    visitor: Visitor, changes: dict[str, Any]
) -> None:
    visitor.sign_in("hanako")
    answer = ask(visitor, **changes)
    assert answer.status_code == 400
    assert "expected" in answer.json()["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'"x"', b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(visitor: Visitor, body: bytes) -> None:
    visitor.sign_in("hanako")
    answer = visitor.http.post("/api/judgments", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400


def test_another_content_type_and_a_huge_body_are_refused(visitor: Visitor) -> None:
    visitor.sign_in("hanako")
    request = json.dumps({"dataset": "demo", "events": [], "have": [], "want": 0})
    assert (
        visitor.http.post(
            "/api/judgments", content=request, headers={"content-type": "text/plain"}
        ).status_code
        == 400
    )
    huge = json.dumps({"dataset": "demo", "x": "x" * 2_000_000})
    answer = visitor.http.post("/api/judgments", content=huge, headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_another_dataset_than_ones_own_is_refused(visitor: Visitor) -> None:
    visitor.sign_in("other")
    assert ask(visitor, want=5).status_code == 403
    assert visitor.http.get("/api/text", params={"dataset": "demo", "pair": "x"}).status_code == 403
    assert ask(visitor, dataset="nothing of that name").status_code == 403


def test_the_whole_text_of_a_pair_comes_as_plain_text(visitor: Visitor) -> None:
    visitor.sign_in("hanako")
    pair = ask(visitor, want=1).json()["pairs"][0]["pair"]
    answer = visitor.http.get("/api/text", params={"dataset": "demo", "pair": pair})
    assert (answer.text, answer.headers["content-type"]) == (TEXT, "text/plain; charset=utf-8")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert visitor.http.get("/api/text", params={"dataset": "demo", "pair": "0" * 24}).status_code == 404


def test_what_is_refused_is_told_in_the_readers_language(visitor: Visitor) -> None:
    visitor.sign_in("hanako")
    answers = {}
    for language in ("en", "ja", "ko"):
        visitor.http.headers["accept-language"] = language
        answer = ask(visitor, dataset="nowhere")
        answers[language] = (answer.status_code, answer.json()["error"])
    assert answers["en"] == (403, "there is no dataset named 'nowhere', or you have no role on it")
    assert len(set(answers.values())) == 3
    assert all(
        "nowhere" in error and "no dataset" not in error for _, error in (answers["ja"], answers["ko"])
    )
