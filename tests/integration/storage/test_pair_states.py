"""The state of a pair, read from the database: what the queue, the gates and the releases share."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.domain.settling import Settlement
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current, derive_decided
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.pairs.pair_states import PairState, list_pair_states
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import DocumentRow, JudgmentRow, PersonRow, QueryRow

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DOCS = ("Ä", "a", "b", "文書", "z", "판례🔎", "ä")


@pytest.fixture
def dataset_pk(database: Database) -> int:
    """A dataset `d` of one query and seven pairs, and the people 1, 2 and 3."""
    create_dataset(database, OPERATOR, "d", now=NOW)
    with database.write() as session:
        pk = key_of(find_dataset(session, "d").pk)
        query = QueryRow.model_validate(
            {"dataset_pk": pk, "position": 1, "query_id": "q", "category": "法令"}
        )
        documents = [DocumentRow.model_validate({"dataset_pk": pk, "doc_id": doc_id}) for doc_id in DOCS]
        people = [PersonRow.model_validate({"username": f"p{n}", "created_at": NOW}) for n in (1, 2, 3)]
        session.add_all([query, *documents, *people])
        session.flush()
        pool = [
            PoolCandidate(key_of(query.pk), "q", key_of(document.pk), document.doc_id, "s")
            for document in documents
        ]
        add_candidates(session, pk, "d", pool, now=NOW)
    return pk


def _judge(session: Session, dataset_pk: int, doc_id: str, annotator: int, answer: Any, **more: Any) -> None:
    pair = {state.doc_id: state.pair_pk for state in list_pair_states(session, dataset_pk)}[doc_id]
    person = session.scalars(select(PersonRow).where(col(PersonRow.username) == f"p{annotator}")).one()
    graded = isinstance(answer, int)
    values = {
        "event_id": f"{doc_id}-{annotator}-{more.get('judged_at')}", "pair_pk": pair, "annotator_pk": person.pk,
        "rubric_pk": find_rubric(session, dataset_pk).pk, "outcome": "graded" if graded else answer,
        "grade": answer if graded else None, "judged_at": NOW, "received_at": NOW,
    }  # fmt: skip
    session.add(JudgmentRow.model_validate({**values, **more}))
    derive_current(session, dataset_pk, [pair])


def _decide(session: Session, dataset_pk: int, doc_id: str, *grades: int) -> None:
    pair = {state.doc_id: state.pair_pk for state in list_pair_states(session, dataset_pk)}[doc_id]
    for revision, grade in enumerate(grades, start=1):
        values = {
            "pair_pk": pair, "revision": revision, "lead_pk": session.scalars(select(col(PersonRow.pk))).first(),
            "rubric_pk": find_rubric(session, dataset_pk).pk, "grade": grade, "rationale": "근거",
            "decided_at": NOW,
        }  # fmt: skip
        session.add(AdjudicationRow.model_validate(values))
    derive_decided(session, [pair])


def _states(database: Database, dataset_pk: int) -> dict[str, PairState]:
    with database.read() as session:
        return {state.doc_id: state for state in list_pair_states(session, dataset_pk)}


def test_each_way_of_judging_leads_to_its_status(database: Database, dataset_pk: int) -> None:
    with database.write() as session:
        _judge(session, dataset_pk, "a", 1, 2)
        _judge(session, dataset_pk, "b", 1, 2)
        _judge(session, dataset_pk, "b", 2, 2)
        _judge(session, dataset_pk, "文書", 1, 0)
        _judge(session, dataset_pk, "文書", 2, 3)
        _judge(session, dataset_pk, "z", 1, "unrateable")
        _judge(session, dataset_pk, "판례🔎", 1, 1)
        _judge(session, dataset_pk, "판례🔎", 2, 3)
        _decide(session, dataset_pk, "판례🔎", 3, 2)
    states = _states(database, dataset_pk)
    assert {doc_id: state.settlement for doc_id, state in states.items()} == {
        "Ä": Settlement("unjudged", None),
        "ä": Settlement("unjudged", None),
        "a": Settlement("single", 2),
        "b": Settlement("unanimous", 2),
        "文書": Settlement("disagreement", None),
        "z": Settlement("unrateable", None),
        "판례🔎": Settlement("adjudicated", 2),
    }
    assert list(states["文書"].grades.values()) == [0, 3]
    assert (states["z"].unrateable, states["판례🔎"].adjudicated, states["a"].category) == (1, 2, "法令")


def test_only_the_current_independent_judgment_counts(database: Database, dataset_pk: int) -> None:
    later = NOW + timedelta(minutes=1)
    with database.write() as session:
        _judge(session, dataset_pk, "a", 1, 0)
        _judge(session, dataset_pk, "a", 1, 3, judged_at=later)
        _judge(session, dataset_pk, "b", 1, 2)
        _judge(session, dataset_pk, "b", 1, "later", judged_at=later)
        _judge(session, dataset_pk, "z", 1, 1)
        _judge(session, dataset_pk, "z", 2, 2, purpose="quality")
    states = _states(database, dataset_pk)
    assert list(states["a"].grades.values()) == [3]
    assert states["b"].settlement == Settlement("unjudged", None)
    assert states["z"].settlement == Settlement("single", 1)


def test_pairs_come_in_code_point_order_whatever_the_database_collates(
    database: Database, dataset_pk: int
) -> None:
    assert list(_states(database, dataset_pk)) == sorted(DOCS)


@pytest.mark.parametrize("few", [500, 0])
def test_some_pairs_alone_have_the_state_they_have_among_all(
    database: Database, dataset_pk: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.storage.pairs.pair_states.FEW", few)
    with database.write() as session:
        _judge(session, dataset_pk, "a", 1, 2)
        _decide(session, dataset_pk, "b", 1)
        states = {state.doc_id: state for state in list_pair_states(session, dataset_pk)}
        wanted = [states["b"].pair_pk, states["a"].pair_pk]
        assert list_pair_states(session, dataset_pk, wanted) == [states["a"], states["b"]]
        assert list_pair_states(session, dataset_pk, []) == []
