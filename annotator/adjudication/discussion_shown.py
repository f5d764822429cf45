"""A discussion as one of its annotators is shown it: the pair, the own judgment, and what the others said once they looked.

Others' turns are shown to those only who have taken their own. People stand as letters, the same as before leads.
"""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.discussion import OwnDiscussion, Said
from annotator.adjudication.discussion_sql import list_turns
from annotator.adjudication.records import Answer
from annotator.adjudication.seen import digest_seen
from annotator.adjudication.storage_cases import list_answers
from annotator.domain.shuffling import give_letters
from annotator.storage.disclosures import has_seen
from annotator.storage.tables import (
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    PairRow,
    QueryRow,
)


def show_discussion(
    session: Session, dataset: DatasetRow, person: tuple[int, str], pair_pk: int, *, busy: bool
) -> OwnDiscussion:
    """For the person (person_pk, username), who judged the pair. `busy`: something of its query is theirs to answer."""
    pair, query, document, length = _read_pair(session, pair_pk)
    answers = list_answers(session, [pair_pk]).get(pair_pk, [])
    letters = give_letters([_name(one) for one in answers], seed=dataset.seed, pair=pair.key)
    turns = list_turns(session, [pair_pk]).get(pair_pk, {})
    person_pk, username = person
    mine = turns.get(username)
    looked = not busy and has_seen(session, pair_pk, person_pk)

    def show(one: Answer, *, with_turn: bool) -> Said:
        turn = turns.get(one.annotator) if with_turn else None
        return Said(letters[_name(one)], one.outcome, one.grade, one.note, turn)

    judged = [one for one in answers if not one.quality]
    own = next(one for one in judged if one.annotator == username)
    others = [show(one, with_turn=mine is not None) for one in judged if one is not own] if looked else []
    return OwnDiscussion(
        pair=pair.key, query_id=query.query_id, query=query.text, narrative=query.narrative, doc_id=document.doc_id,
        title=document.title, text_length=length,
        stage="own_work" if busy else "waiting" if not looked else "open" if mine is None else "said",
        own=show(own, with_turn=True), others=tuple(sorted(others, key=lambda said: (len(said.letter), said.letter))),
        seen=digest_answers(answers) if looked else "",
    )  # fmt: skip


def digest_answers(answers: Sequence[Answer]) -> str:
    """What the annotators of a pair have judged, as a short text."""
    return digest_seen([one.event_id for one in answers if not one.quality], 0)


def _name(one: Answer) -> str:
    return f"quality {one.annotator}" if one.quality else one.annotator


def _read_pair(session: Session, pair_pk: int) -> tuple[PairRow, QueryRow, DocumentRow, int]:
    present = (col(DocumentTextRow.document_pk) == col(DocumentRow.pk)) & (
        col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256)
    )
    statement = (
        select(PairRow, QueryRow, DocumentRow, func.length(col(DocumentTextRow.text)))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(DocumentTextRow, present)
        .where(col(PairRow.pk) == pair_pk)
    )
    pair, query, document, length = session.execute(statement).one()
    return pair, query, document, length or 0
