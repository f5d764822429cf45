"""`GET /api/rendering`: what it answers, and to whom."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, find_person, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, PairRow, QueryRow
from annotator.storage.tables.labeling import LeaseRow
from annotator.web.rendering import api
from annotator.web.rendering.documents import PLAIN, RenderedDocument
from tests.unit.web.conftest import NOW, Visitor


@pytest.fixture(scope="module")
def pairs(database: Database) -> dict[str, str]:
    """Keys of pairs in demo, by media type; under "" one whose document has no text."""
    keys = {}
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "demo").pk)
        query = QueryRow(dataset_pk=dataset_pk, position=0, query_id="Q1", text="検索")
        session.add(query)
        session.flush()
        for media_type in ("text/markdown", "text/plain", ""):
            row = DocumentRow(
                dataset_pk=dataset_pk, doc_id=f"d-{media_type}", media_type=media_type or "text/plain",
                text_sha256="aa" if media_type else None,
            )  # fmt: skip
            session.add(row)
            session.flush()
            pk = key_of(row.pk)
            if media_type:
                text = "# 題\n\n![図](https://x.example/a.png)<script>x</script>"
                session.add(DocumentTextRow(document_pk=pk, sha256="aa", text=text, imported_at=NOW))
                session.add(DocumentTextRow(document_pk=pk, sha256="bb", text="older", imported_at=NOW))
            candidate = PoolCandidate(key_of(query.pk), "Q1", pk, row.doc_id, "bm25", 1, 7.5)
            add_candidates(session, dataset_pk, "demo", [candidate], now=NOW)
            session.flush()
            pair = session.query(PairRow).filter_by(document_pk=pk).one()
            person_pk = key_of(find_person(session, "hanako").pk)
            session.add(LeaseRow(pair_pk=key_of(pair.pk), annotator_pk=person_pk, expires_at=NOW))
            keys[media_type] = pair.key
    return keys


def ask(visitor: Visitor, pair: str, dataset: str = "demo") -> tuple[int, object]:
    answer = visitor.http.get("/api/rendering", params={"dataset": dataset, "pair": pair})
    return answer.status_code, answer.json()


def test_a_document_comes_as_safe_html_with_what_was_taken_out(
    visitor: Visitor, pairs: dict[str, str]
) -> None:
    visitor.sign_in("hanako")
    status, body = ask(visitor, pairs["text/markdown"])
    html = '<h3>題</h3>\n<p><span class="dx-image">図</span></p>\n'
    assert (status, body) == (200, {"html": html, "kind": "markdown", "blocked": 1, "cut": False})


def test_plain_text_is_said_to_be_text(visitor: Visitor, pairs: dict[str, str]) -> None:
    visitor.sign_in("hanako")
    assert ask(visitor, pairs["text/plain"]) == (
        200,
        {"html": "", "kind": "text", "blocked": 0, "cut": False},
    )


def test_one_document_of_a_person_is_rendered_at_a_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_time, most = 0, []

    def render(*_: object) -> RenderedDocument:
        nonlocal at_a_time
        at_a_time += 1
        time.sleep(0.1)
        most.append(at_a_time)
        at_a_time -= 1
        return PLAIN

    monkeypatch.setattr(api, "_render_pair", render)
    monkeypatch.setattr(api, "require_signed_in", lambda _: SimpleNamespace(actor=Actor(1, "somebody")))
    (route,) = api.routes(database)

    async def render_all() -> None:
        requests = [Request({"type": "http", "query_string": b"", "headers": []}) for _ in range(3)]
        answers = await asyncio.gather(*map(route.endpoint, requests))
        assert {answer.status_code for answer in answers} == {200}

    with ThreadPoolExecutor(1) as own_thread:  # a browser's test may leave a loop running in this one
        own_thread.submit(asyncio.run, render_all()).result()
    assert most == [1] * 3


def test_what_is_not_there_or_not_ones_own_is_refused(visitor: Visitor, pairs: dict[str, str]) -> None:
    assert visitor.http.get("/api/rendering", params={"dataset": "demo", "pair": "x"}).status_code == 401
    visitor.sign_in("hanako")
    assert ask(visitor, "no such key")[0] == 404
    assert ask(visitor, pairs[""])[0] == 404
    assert ask(visitor, pairs["text/markdown"], "law")[0] == 403
    visitor.sign_in("ada")
    assert ask(visitor, pairs["text/markdown"], "law")[0] == 404
    visitor.sign_in("other")
    assert ask(visitor, pairs["text/markdown"])[0] == 403
