"""What a lead may read of the pairs behind a figure of agreement. Only a page of pairs is read in full.

Which pairs they are finds `storage/behind_search.py`.
"""

import json
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.behind import PairBehind
from annotator.domain.messages import Message
from annotator.storage.behind_search import LISTED, Found
from annotator.storage.bulk import split
from annotator.storage.pairs import PairState, list_pair_states
from annotator.storage.tables import DocumentRow, PersonRow, QueryRow

DETAILED_AT_ONCE = 400
CASES = ("disagreement", "adjudicated", "reopened")
_GRADES = """
SELECT c.pair_pk, c.annotator_pk, c.grade FROM current_judgment c
WHERE c.pair_pk IN {pairs} AND c.purpose = 'independent' AND c.outcome = 'graded'"""
_TO_JUDGE = """
SELECT p.pk FROM pair p WHERE p.pk IN {pairs}
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :person_pk)
  AND (p.lacking > 0 AND NOT EXISTS (SELECT 1 FROM current_judgment c
      WHERE c.pair_pk = p.pk AND c.annotator_pk = :person_pk AND c.outcome <> 'later')
    OR EXISTS (SELECT 1 FROM quality_pair x JOIN quality_draw w ON w.pk = x.draw_pk
      WHERE x.pair_pk = p.pk AND w.annotator_pk = :person_pk AND x.outcome IS NULL))"""


def sort_found(session: Session, dataset_pk: int, found: Collection[Found]) -> list[Found]:
    """The same order for pairs that were found otherwise; those that have left the pool are left out."""
    states = list_pair_states(session, dataset_pk, [one.pair_pk for one in found])
    places = {state.pair_pk: place for place, state in enumerate(states)}
    return sorted(
        (one for one in found if one.pair_pk in places), key=lambda one: (-one.distance, places[one.pair_pk])
    )


def show_behind(
    session: Session,
    dataset_pk: int,
    person_pk: int | None,
    found: Sequence[Found],
    notes: Mapping[int, Message],
) -> list[PairBehind]:
    """These pairs in full, in their order. Of those that the person has still to judge nothing is told."""
    shown: list[PairBehind] = []
    for some in split(found, DETAILED_AT_ONCE):
        pks = [one.pair_pk for one in some]
        states = {state.pair_pk: state for state in list_pair_states(session, dataset_pk, pks)}
        grades, hidden = _list_grades(session, pks), list_to_judge(session, person_pk, pks)
        texts = _list_texts(session, states.values())
        shown += [
            _hide(one)
            if one.pair_pk in hidden
            else _show(states[one.pair_pk], one, grades.get(one.pair_pk, ()), texts, notes.get(one.pair_pk))
            for one in some
            if one.pair_pk in states
        ]
    return shown


def _show(
    state: PairState,
    found: Found,
    grades: Sequence[tuple[str, int]],
    texts: Mapping[tuple[str, int], str],
    note: Message | None,
) -> PairBehind:
    status = state.settlement.status
    return PairBehind(
        state.key, state.query_id, texts["query", state.query_pk], state.doc_id, texts["document", state.document_pk],
        tuple(sorted(grades)), found.distance, status, status in CASES, note,
    )  # fmt: skip


def _hide(found: Found) -> PairBehind:
    return PairBehind("", "", "", "", "", (), found.distance, "", False, hidden=True)


def _list_grades(session: Session, pks: Sequence[int]) -> dict[int, list[tuple[str, int]]]:
    """(username, grade) by pair_pk."""
    rows = session.execute(
        text(_GRADES.format(pairs=_listed(session))), {"pairs": json.dumps(list(pks))}
    ).all()
    people = {person for _, person, _ in rows}
    names = dict(
        session.execute(
            select(col(PersonRow.pk), col(PersonRow.username)).where(col(PersonRow.pk).in_(people))
        ).all()
    )
    found: dict[int, list[tuple[str, int]]] = {}
    for pair_pk, person, grade in rows:
        found.setdefault(pair_pk, []).append((names[person], grade))
    return found


def list_to_judge(session: Session, person_pk: int | None, pks: Sequence[int]) -> set[int]:
    """Those of the pairs that the person may still be handed, or was drawn to check, and has not answered."""
    if person_pk is None:
        return set()
    statement = text(_TO_JUDGE.format(pairs=_listed(session)))
    found = session.scalars(statement, {"pairs": json.dumps(list(pks)), "person_pk": person_pk})
    return set(found)


def _list_texts(session: Session, states: Collection[PairState]) -> dict[tuple[str, int], str]:
    """The texts of queries and the titles of documents."""
    found: dict[tuple[str, int], str] = {}
    queries = select(col(QueryRow.pk), col(QueryRow.text)).where(
        col(QueryRow.pk).in_({state.query_pk for state in states})
    )
    documents = select(col(DocumentRow.pk), col(DocumentRow.title)).where(
        col(DocumentRow.pk).in_({state.document_pk for state in states})
    )
    for kind, statement in (("query", queries), ("document", documents)):
        found.update(((kind, pk), told) for pk, told in session.execute(statement) if pk is not None)
    return found


def _listed(session: Session) -> str:
    return LISTED[session.get_bind().dialect.name].format(name="pairs")
