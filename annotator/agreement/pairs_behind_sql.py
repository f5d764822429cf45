"""What a lead may read of the pairs behind a figure of agreement. Only a page of pairs is read in full.

Which pairs they are finds `agreement/behind_search.py`. Annotators stand here under the letters that they have on the pair's
case, but for those whom the reader asked for by name. Whoever calls this notes what was shown (`storage/disclosures.py`).
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.agreement.behind import PairBehind
from annotator.agreement.behind_search import Found
from annotator.domain.messages import Message
from annotator.domain.shuffling import give_letters, name_checker
from annotator.storage.bulk import split
from annotator.storage.disclosures import LISTED
from annotator.storage.lookup import key_of
from annotator.storage.pair_states import PairState, list_pair_states
from annotator.storage.tables import DocumentRow, PersonRow, QueryRow

DETAILED_AT_ONCE = 400
CASES = ("disagreement", "adjudicated", "reopened")
_GRADES = """
SELECT c.pair_pk, c.annotator_pk, c.grade FROM current_judgment c
WHERE c.pair_pk IN {pairs} AND c.purpose = 'independent' AND c.outcome <> 'later'"""
_CHECKED = """
SELECT x.pair_pk, j.annotator_pk FROM quality_pair x JOIN judgment j ON j.pk = x.judgment_pk
WHERE x.pair_pk IN {pairs} AND x.outcome IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class Reader:
    """For whom pairs are described. `person_pk` None: the operator, who sees every name. `named`: the usernames that the
    reader asked for; `hidden`: pairs of which nothing is told; `seed`: the dataset's, by which letters are given."""

    person_pk: int | None
    named: Collection[str]
    hidden: Collection[int]
    seed: int


def sort_found(session: Session, dataset_pk: int, found: Collection[Found]) -> list[Found]:
    """The same order for pairs that were found otherwise; those that have left the pool are left out."""
    states = list_pair_states(session, dataset_pk, [one.pair_pk for one in found])
    places = {state.pair_pk: place for place, state in enumerate(states)}
    return sorted(
        (one for one in found if one.pair_pk in places), key=lambda one: (-one.distance, places[one.pair_pk])
    )


def show_behind(
    session: Session, dataset_pk: int, reader: Reader, found: Sequence[Found], notes: Mapping[int, Message]
) -> list[PairBehind]:
    """These pairs in full, in their order; of the hidden ones nothing."""
    shown: list[PairBehind] = []
    for some in split(found, DETAILED_AT_ONCE):
        pks = [one.pair_pk for one in some if one.pair_pk not in reader.hidden]
        states = {state.pair_pk: state for state in list_pair_states(session, dataset_pk, pks)}
        grades = _list_grades(session, reader, {state.pair_pk: state.key for state in states.values()})
        texts = _list_texts(session, states.values())
        shown += [
            _hide(one)
            if one.pair_pk in reader.hidden
            else _show(states[one.pair_pk], one, grades.get(one.pair_pk, ()), texts, notes.get(one.pair_pk))
            for one in some
            if one.pair_pk in states or one.pair_pk in reader.hidden
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


def _list_grades(
    session: Session, reader: Reader, keys: Mapping[int, str]
) -> dict[int, list[tuple[str, int]]]:
    """By pair_pk who gave which grade. `keys`: of the pairs, by pair_pk."""
    rows = _run(session, _GRADES, keys)
    checked = [] if reader.person_pk is None else _run(session, _CHECKED, keys)
    people = {row[1] for row in (*rows, *checked)}
    named = select(col(PersonRow.pk), col(PersonRow.username)).where(col(PersonRow.pk).in_(people))
    names = {key_of(pk): username for pk, username in session.execute(named)}
    letters = {} if reader.person_pk is None else _give_letters(reader, keys, rows, checked, names)
    found: dict[int, list[tuple[str, int]]] = {}
    for pair_pk, person, grade in rows:
        name = names[person]
        if grade is not None:
            told = name if pair_pk not in letters or name in reader.named else letters[pair_pk][name]
            found.setdefault(pair_pk, []).append((told, grade))
    return found


def _give_letters(
    reader: Reader,
    keys: Mapping[int, str],
    judged: Sequence[Any],
    checked: Sequence[Any],
    names: Mapping[int, str],
) -> dict[int, dict[str, str]]:
    """By pair_pk the letters of its case (`adjudication/case.py`)."""
    people: dict[int, set[str]] = {pair_pk: set() for pair_pk in keys}
    for pair_pk, person, _ in judged:
        people[pair_pk].add(names[person])
    for pair_pk, person in checked:
        people[pair_pk].add(name_checker(names[person]))
    return {pk: give_letters(found, seed=reader.seed, pair=keys[pk]) for pk, found in people.items()}


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


def _run(session: Session, statement: str, pair_pks: Collection[int]) -> Sequence[Any]:
    listed = LISTED[session.get_bind().dialect.name].format(name="pairs")
    return session.execute(
        text(statement.format(pairs=listed)), {"pairs": json.dumps(sorted(pair_pks))}
    ).all()
