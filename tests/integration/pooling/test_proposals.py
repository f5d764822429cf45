"""Documents that the pool missed: searched, proposed with a first grade, judged blind by the others, counted for leads."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from annotator.domain.errors import (
    AnnotatorError,
    ConflictError,
    NotAllowed,
    NotFound,
    StateError,
    ValidationError,
)
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.open_pairs_sql import Eligibility, list_open_pairs
from annotator.labeling.service import list_judgments
from annotator.pooling.proposals import proposals_service
from annotator.pooling.proposals.proposals_service import (
    PROPOSED,
    SearchResults,
    list_proposals,
    propose,
    read_document,
    search_documents,
)
from annotator.pooling.proposals.search_service import SEARCHES
from annotator.pooling.service import list_pairs
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import find_pair_pks, has_seen
from annotator.storage.lookup import OpenPairsRequest, find_dataset, key_of, make_open_pairs_request
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, MembershipRow, PairRow, QueryRow
from annotator.storage.tables.labeling import AssignmentRow, CheckRow, ProposalRow, QueryWorkRow
from tests.databases import CopyWorld
from tests.integration.labeling_world import NOW, World

MISSED = (
    ("missed/1", "見落とされた文書", "リトライハンドラの設定は retryCount で行う。"),
    ("missed/2", "놓친 문서", "토지거래허가구역의 지정 기간은 5년이다."),
    ("missed/3", "RetryHandler", "class nablarch.fw.handler.RetryHandler { /* 🙂 */ }"),
)


def make_world(database: Database) -> World:
    """Two queries with two pooled documents each, and three documents that no system found."""
    made = World(database, queries=2, documents=2)
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        for doc_id, title, text in MISSED:
            document = DocumentRow(dataset_pk=dataset_pk, doc_id=doc_id, title=title, text_sha256="bb")
            session.add(document)
            session.flush()
            session.add(
                DocumentTextRow(document_pk=key_of(document.pk), sha256="bb", text=text, imported_at=NOW)
            )
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    return copy_world(make_world)


def search(world: World, actor: Actor, text: str, query_id: str = "Q0") -> SearchResults:
    """What is found once the search is ready."""
    request: dict[str, Any] = {"query_id": query_id, "limit": 10, "now": world.now}
    for _ in range(3):
        documents = search_documents(world.database, actor, "d", text, **request)
        if documents.preparing is None:
            return documents
        with world.database.read() as session:
            dataset_pk = key_of(find_dataset(session, "d").pk)
        SEARCHES.wait((world.database.url.render_as_string(hide_password=True), dataset_pk))
    raise AssertionError("the search was not prepared")


def suggest(
    world: World, actor: Actor, doc_id: str = "missed/1", grade: Any = 3, query_id: str = "Q0", **changes: Any
) -> str:
    event = {"id": str(UUID(int=900, version=4)), "grade": grade, "note": "メモ", **changes}
    return propose(world.database, actor, "d", query_id=query_id, doc_id=doc_id, event=event, now=world.now)


def states(results: SearchResults) -> dict[str, tuple[str, bool]]:
    return {item.doc_id: (item.state, item.pair is not None) for item in results.documents}


def count_rows(world: World) -> tuple[int, int, int]:
    with world.database.read() as session:
        return (
            session.query(PairRow).count(),
            session.query(ProposalRow).count(),
            len(list_judgments(world.database, OPERATOR, "d", history=True)),
        )


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("リトライ", "missed/1"), ("ﾘﾄﾗｲﾊﾝﾄﾞﾗ", "missed/1"), ("토지거래", "missed/2"), ("RETRYHAND", "missed/3"),
        ("missed/2", "missed/2"), ("nablarch.fw.handler", "missed/3"), ("見落", "missed/1"),
    ],
)  # fmt: skip
def test_documents_are_found_as_one_types_in_any_language_and_the_best_match_is_shown(
    world: World, typed: str, expected: str
) -> None:
    match = search(world, world.person("hanako"), typed)
    assert match.documents[0].doc_id == expected
    assert (match.documents[0].state, match.documents[0].pair) == ("new", None)
    assert match.documents[0].snippet == {doc_id: text for doc_id, _, text in MISSED}[expected]


def test_a_search_says_what_is_new_what_is_in_the_pool_and_what_one_has_judged(world: World) -> None:
    hanako, minjun = world.person("hanako"), world.person("minjun")
    own_pair = world.send(hanako, want=1).pairs[0]
    world.send(hanako, world.event(own_pair.pair, 2))
    mine_again = search(world, hanako, "text of 문서", own_pair.query_id)
    assert states(mine_again)[own_pair.doc_id] == ("judged by you", True)
    assert list(states(mine_again).values()).count(("in pool", False)) == 1
    assert states(mine_again)["missed/2"] == ("new", False)
    others = search(world, minjun, "text of 문서", own_pair.query_id)
    assert states(others)[own_pair.doc_id] == ("in pool", False)
    world.send(minjun, want=50)
    handed = search(world, minjun, "text of 문서", own_pair.query_id)
    assert states(handed)[own_pair.doc_id] == ("in pool", True), "handed out"


def test_a_person_proposes_only_so_many_documents_a_day(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposals_service, "MOST_PROPOSED", 2)
    hanako, minjun = world.person("hanako"), world.person("minjun")
    for number in (1, 2):
        suggest(world, hanako, f"missed/{number}", id=str(UUID(int=number, version=4)))
    before = count_rows(world)
    with pytest.raises(StateError, match="proposed 2 documents in the last 24 hours"):
        suggest(world, hanako, "missed/3")
    assert count_rows(world) == before
    suggest(world, hanako, "missed/2", id=str(UUID(int=2, version=4)))  # delivered again
    suggest(world, minjun, "missed/3")
    world.later(hours=24)
    suggest(world, hanako, "missed/3", query_id="Q1", id=str(UUID(int=4, version=4)))


def test_a_proposed_document_comes_no_earlier_than_others(world: World) -> None:
    hanako, minjun = world.person("hanako"), world.person("minjun")
    key = suggest(world, hanako)
    with world.database.read() as session:
        queries = {row.query_pk: (row.open_pairs, row.begun_pairs) for row in session.query(QueryWorkRow)}
        assert sorted(queries.values()) == [(2, 0), (3, 0)]
        pairs = list_open_pairs(session, make_request(session, minjun, world), Eligibility(), list(queries))
        assert {pair.key for pair in pairs if pair.begun} == set()
    world.send(minjun, *(world.event(pair.pair) for pair in world.send(minjun, want=50).pairs))
    sora = world.person("sora")
    assert key not in {pair.pair for pair in world.send(sora, want=50).pairs}, "it has both judgments"
    with world.database.read() as session:
        assert {row.begun_pairs for row in session.query(QueryWorkRow)} == {2}
        assert len(list_open_pairs(session, make_request(session, sora, world), Eligibility(), [1, 2])) == 4


def make_request(session: Session, actor: Actor, world: World) -> OpenPairsRequest:
    return make_open_pairs_request(
        find_dataset(session, "d"), key_of(actor.person_id), world.now + timedelta(hours=2)
    )


def test_a_pair_that_was_not_handed_out_is_in_the_pool_without_a_key(world: World) -> None:
    hanako = world.person("hanako")
    for username in ("minjun", "sora"):
        other = world.person(username)
        world.send(other, *(world.event(pair.pair, 1) for pair in world.send(other, want=4).pairs))
    assert set(states(search(world, hanako, "text of 문서/0")).values()) == {
        ("in pool", False),
        ("new", False),
    }


def test_a_search_finds_a_document_that_was_imported_meanwhile(world: World) -> None:
    hanako = world.person("hanako")
    assert search(world, hanako, "제주도청").documents == ()
    with world.database.write() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        session.add(DocumentRow(dataset_pk=dataset_pk, doc_id="late", title="제주도청"))
    world.later(minutes=1)
    search(world, hanako, "제주도청")
    with world.database.read() as session:
        name = world.database.url.render_as_string(hide_password=True), dataset_pk
    SEARCHES.wait(name)
    assert [item.doc_id for item in search(world, hanako, "제주도청").documents] == ["late"]


def test_a_proposal_is_a_pair_with_its_provenance_and_an_ordinary_judgment(world: World) -> None:
    key = suggest(world, world.person("hanako"), document_sha256="bb", seconds=4.5)
    pair = next(pair for pair in list_pairs(world.database, OPERATOR, "d") if pair.pair == key)
    assert (pair.query_id, pair.doc_id, pair.status) == ("Q0", "missed/1", "single")
    assert [(by.system, by.rank, by.score) for by in pair.provenance] == [(PROPOSED, None, None)]
    judgment = next(j for j in list_judgments(world.database, OPERATOR, "d") if j.pair_key == key)
    assert (judgment.annotator, judgment.grade, judgment.note, judgment.purpose, judgment.seconds) == (
        "hanako", 3, "メモ", "independent", 4.5,
    )  # fmt: skip
    assert judgment.judged_at == world.now


def test_the_others_are_handed_a_proposal_like_any_other_pair(world: World) -> None:
    hanako, minjun = world.person("hanako"), world.person("minjun")
    key = suggest(world, hanako)
    handed = world.send(minjun, want=10).pairs
    proposed = next(pair for pair in handed if pair.pair == key)
    other = next(pair for pair in handed if pair.pair != key)
    assert (proposed.doc_id, proposed.answer) == ("missed/1", None)
    assert {type(getattr(proposed, name)) for name in ("metadata", "training")} == {
        type(getattr(other, name)) for name in ("metadata", "training")
    }
    assert PROPOSED not in repr(proposed)
    assert "hanako" not in repr(proposed)
    assert key not in [pair.pair for pair in world.send(hanako, want=10).pairs]


def test_the_same_event_again_changes_nothing_and_names_the_same_pair(world: World) -> None:
    hanako = world.person("hanako")
    first = suggest(world, hanako)
    before = count_rows(world)
    assert suggest(world, hanako) == first
    assert count_rows(world) == before


def test_an_event_id_that_stands_for_another_judgment_is_refused(world: World) -> None:
    hanako, minjun = world.person("hanako"), world.person("minjun")
    suggest(world, hanako)
    for actor, changes in ((hanako, {"grade": 2}), (hanako, {"doc_id": "missed/2"}), (minjun, {})):
        with pytest.raises(ConflictError):
            suggest(world, actor, **changes)


def test_a_document_of_the_pool_is_not_proposed_again(world: World) -> None:
    hanako, minjun = world.person("hanako"), world.person("minjun")
    with pytest.raises(ConflictError, match="in the pool"):
        suggest(world, hanako, "문서/0-1")
    suggest(world, hanako)
    with pytest.raises(ConflictError, match="in the pool"):
        suggest(world, minjun, id=str(UUID(int=901, version=4)))
    assert suggest(world, minjun, query_id="Q1", id=str(UUID(int=902, version=4)))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"doc_id": "nowhere"}, NotFound), ({"query_id": "Q9"}, NotFound), ({"grade": 4}, ValidationError),
        ({"grade": None}, ValidationError), ({"grade": True}, ValidationError), ({"id": "7"}, ValidationError),
        ({"note": 3}, ValidationError), ({"note": "x" * 10_001}, ValidationError), ({"id": "0" * 32}, ValidationError),
        ({"pressed_at": "yesterday"}, ValidationError), ({"seconds": -1}, ValidationError),
    ],
)  # fmt: skip
def test_what_no_press_could_have_produced_is_refused_and_nothing_is_stored(
    world: World, changes: dict[str, Any], error: type[AnnotatorError]
) -> None:
    before = count_rows(world)
    with pytest.raises(error):
        suggest(world, world.person("hanako"), **changes)
    assert count_rows(world) == before


def test_only_annotators_of_the_dataset_search_read_and_propose(world: World) -> None:
    stranger = world.person("stranger")
    with world.database.write() as session:
        session.query(MembershipRow).delete()
    for act in (
        lambda: suggest(world, stranger),
        lambda: search(world, stranger, "リトライ"),
        lambda: read_document(world.database, stranger, "d", doc_id="missed/1"),
    ):
        with pytest.raises(NotAllowed):
            act()


def test_a_query_that_was_given_to_others_is_refused(world: World) -> None:
    hanako, minjun = world.person("hanako"), world.person("minjun")
    with world.database.write() as session:
        query = session.query(QueryRow).filter_by(query_id="Q0").one()
        session.add(
            AssignmentRow(query_pk=key_of(query.pk), person_pk=minjun.person_id or 0, assigned_at=NOW)
        )
    with pytest.raises(NotAllowed, match="judged by others"):
        suggest(world, hanako)
    with pytest.raises(NotAllowed, match="judged by others"):
        search(world, hanako, "リトライ")
    assert suggest(world, minjun)


def test_a_query_of_another_category_or_language_is_refused(world: World) -> None:
    hanako = world.person("hanako")
    with world.database.write() as session:
        membership = session.query(MembershipRow).filter_by(person_pk=hanako.person_id).one()
        membership.categories, membership.languages = ["law"], ["ja"]
        query = session.query(QueryRow).filter_by(query_id="Q1").one()
        query.category, query.language = "law", "ja"
    with pytest.raises(NotAllowed):
        suggest(world, hanako)
    assert suggest(world, hanako, query_id="Q1")


def test_nothing_is_proposed_before_training_is_passed(world: World) -> None:
    hanako = world.person("hanako")
    with world.database.write() as session:
        pair = session.query(PairRow).first()
        assert pair is not None
        session.add(
            CheckRow(pair_pk=key_of(pair.pk), kind="training", grade=1, explanation="x", marked_at=NOW)
        )
    with pytest.raises(AnnotatorError, match="training"):
        suggest(world, hanako)


def test_a_document_is_read_before_it_is_proposed(world: World) -> None:
    document = read_document(world.database, world.person("hanako"), "d", doc_id="missed/2")
    assert (document.title, document.text, document.length, document.sha256) == (
        MISSED[1][1],
        MISSED[1][2],
        len(MISSED[1][2]),
        "bb",
    )


def test_leads_see_who_proposed_and_what_it_adds_once_all_is_judged(world: World) -> None:
    hanako, minjun, lead = world.person("hanako"), world.person("minjun"), world.person("lead", "lead")
    key = suggest(world, hanako)
    suggest(world, hanako, "missed/2", 1, id=str(UUID(int=901, version=4)))
    begun = list_proposals(world.database, lead, "d", now=world.now)
    assert [(item.doc_id, item.proposer, item.others, item.relevant) for item in begun.proposals] == [
        ("missed/2", "hanako", 0, None), ("missed/1", "hanako", 0, None),
    ]  # fmt: skip
    handed = {pair.pair: pair for pair in world.send(minjun, want=20).pairs}
    world.send(minjun, *(world.event(pair, 3 if pair == key else 0) for pair in handed))
    done = list_proposals(world.database, lead, "d", now=world.now)
    assert [(item.doc_id, item.status, item.relevant) for item in done.proposals] == [
        ("missed/2", "disagreement", False), ("missed/1", "unanimous", True),
    ]  # fmt: skip
    assert (done.total.proposed, done.total.relevant, done.total.only_proposed) == (2, 1, 1)
    assert [(query.query_id, query.relevant, query.only_proposed) for query in done.queries] == [("Q0", 1, 1)]
    with world.database.read() as session:
        assert has_seen(session, find_pair_pks(session, [key])[key], lead.person_id or 0)


def test_what_others_found_is_not_told_while_a_pair_still_lacks_judgments(database: Database) -> None:
    world = World(database, queries=1, documents=2, overlap=3)
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        session.add(DocumentRow(dataset_pk=dataset_pk, doc_id="missed/1", title="x"))
    lead, minjun = world.person("lead", "lead"), world.person("minjun")
    key = suggest(world, world.person("hanako"))
    world.send(minjun, want=9)
    world.send(minjun, world.event(key, 2))
    shown = [list_proposals(database, reader, "d", now=world.now).proposals for reader in (lead, OPERATOR)]
    assert [[(item.others, item.relevant) for item in items] for items in shown] == [[(0, None)], [(1, None)]]


def test_only_leads_see_the_proposals(world: World) -> None:
    with pytest.raises(NotAllowed):
        list_proposals(world.database, world.person("hanako"), "d", now=world.now)
    assert list_proposals(world.database, world.person("lead", "lead"), "d", now=world.now).proposals == ()
