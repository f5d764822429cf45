"""Let annotators search the documents and propose one that the pool lacks, with a first grade.

The pair joins the pool with the provenance PROPOSED. The grade is an ordinary judgment, and others judge the
pair like any other pair. Refused: a document that is in the pool, a query that is not the annotator's,
proposals before training is passed, and more than MOST_PROPOSED in 24 hours, because each is work for others.
Annotators get no rank, score or grade. Leads see how many relevant documents only proposals found.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy.orm import Session

from annotator.domain.errors import ConflictError, NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.excerpts import read_words
from annotator.domain.grades import RELEVANT_FROM, check_grade
from annotator.domain.judgments import read_event_id, read_pressed_at, read_seconds
from annotator.domain.messages import say_n
from annotator.domain.people import Actor
from annotator.domain.texts import holds_no_text, read_note
from annotator.labeling.next_pairs_sql import find_training
from annotator.labeling.submission_sql import find_stored, list_rubric_versions, list_text_hashes
from annotator.people.roles_service import enter_dataset, open_dataset, require_person
from annotator.pooling.proposals.proposals_sql import (
    ExistingPair,
    add_first_judgment,
    count_proposed_since,
    find_document,
    find_proposed,
    find_query,
    list_only_proposed,
    list_pooled_pairs,
    list_stored_proposals,
    may_judge,
    read_excerpts,
)
from annotator.pooling.proposals.snippets import cut_snippet
from annotator.storage.database import Database, lock_dataset
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.logs.disclosures import list_blind_pairs, note_seen
from annotator.storage.lookup import find_rubric, key_of, make_open_pairs_request
from annotator.storage.pairs.pair_states import iterate_pair_states
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import DatasetRow, DocumentRow, QueryRow


@dataclass(frozen=True, slots=True)
class FirstGrade:
    """The annotator's grade for the proposed document. `event_id` makes a second delivery harmless."""

    event_id: str
    grade: int
    note: str | None
    pressed_at: datetime | None
    seconds: float | None
    document_sha256: str | None
    guideline_version: int | None


def read_first_grade(event: Mapping[str, Any]) -> FirstGrade:
    """Return the grade of a request. Raises ValidationError with the expected and the found value."""
    version, pressed_at = event.get("guideline_version"), event.get("pressed_at")
    return FirstGrade(
        event_id=read_event_id(event.get("id")),
        grade=check_grade(event.get("grade")),
        note=read_note(event.get("note")),
        pressed_at=None if pressed_at is None else read_pressed_at(pressed_at),
        seconds=read_seconds(event.get("seconds")),
        document_sha256=_read_sha256(event.get("document_sha256")),
        guideline_version=version if type(version) is int else None,
    )


def _read_sha256(value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or holds_no_text(value)):
        raise ValidationError(f"document_sha256: expected a text, found {value!r:.80}")
    return value


@dataclass(frozen=True, slots=True)
class QueryGain:
    """The settled relevant documents of a query (None: of all queries), and those that no system found."""

    query_id: str | None
    proposed: int
    relevant: int
    only_proposed: int


def count_gains(
    settled: Iterable[tuple[str, int | None, bool]], proposed: Mapping[str, int]
) -> tuple[tuple[QueryGain, ...], QueryGain]:
    """Return the gain of each query with a proposal, and the total.

    `settled`: (query_id, grade or None, whether only a proposal put it into the pool) of every pair.
    `proposed`: {query_id: number of proposals}.
    """
    relevant: dict[str, int] = {}
    alone: dict[str, int] = {}
    for query_id, grade, only_proposed in settled:
        if grade is not None and grade >= RELEVANT_FROM:
            relevant[query_id] = relevant.get(query_id, 0) + 1
            alone[query_id] = alone.get(query_id, 0) + only_proposed
    queries = tuple(
        QueryGain(query_id, number, relevant.get(query_id, 0), alone.get(query_id, 0))
        for query_id, number in proposed.items()
    )
    return queries, QueryGain(None, sum(proposed.values()), sum(relevant.values()), sum(alone.values()))


PROPOSED = "proposed by an annotator"
MOST_PROPOSED = 50
MOST_FOUND, SNIPPET_OF, SHOWN_CHARACTERS = 50, 30_000, 200_000
State = Literal["new", "in pool", "judged by you"]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A found document, for one query and one annotator.

    `pair`: the key of its pair, if that was handed out to the annotator. Other pairs of the pool have the
    same state, whether they are checks or finished.
    """

    doc_id: str
    title: str
    snippet: str
    pair: str | None
    state: State


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of a search, best first.

    `preparing`: the progress of the index (0 to 1); None once it is ready. `most_characters`: the searched
    part of each document; None: all of it.
    """

    documents: tuple[SearchResult, ...]
    preparing: float | None
    most_characters: int | None


@dataclass(frozen=True, slots=True)
class DocumentPreview:
    """A document to read before it is proposed. `text`: cut. `length`: of the whole text."""

    doc_id: str
    title: str
    url: str | None
    media_type: str
    text: str | None
    length: int
    sha256: str | None
    guideline_version: int


@dataclass(frozen=True, slots=True)
class DocumentProposal:
    """A proposal as leads see it.

    `status`: of the pair. `others`: judgments of other people. `relevant`: whether another person found it
    relevant; None until the pair lacks no judgment, because it would reveal a grade to people who may still
    judge it.
    """

    query_id: str
    query: str
    doc_id: str
    title: str
    proposer: str
    proposed_at: datetime
    status: str
    others: int
    relevant: bool | None


@dataclass(frozen=True, slots=True)
class DocumentProposals:
    """Every proposal, the latest first, with the gains by query and in total."""

    proposals: tuple[DocumentProposal, ...]
    queries: tuple[QueryGain, ...]
    total: QueryGain


def search_documents(
    database: Database, actor: Actor, dataset: str, text: str, *, query_id: str, limit: int, now: datetime
) -> SearchResults:
    """Search the dataset's documents while the annotator types, for one of their queries."""
    from annotator.pooling.proposals.search_service import search_texts  # brings numpy

    limit = max(1, min(limit, MOST_FOUND))
    matches = search_texts(database, actor, dataset, text, limit=limit, now=now)
    with database.read() as session:
        _, query = _require_query(session, actor, dataset, query_id)
        if matches.document_pks is None:
            return SearchResults((), matches.share, None)
        existing = list_pooled_pairs(session, key_of(query.pk), require_person(actor), matches.document_pks)
        documents = {
            document.document_pk: _describe(
                document.doc_id,
                document.title,
                cut_snippet(read_words(document.text or "", document.media_type), text),
                existing.get(document.document_pk),
            )
            for document in read_excerpts(session, matches.document_pks, characters=SNIPPET_OF)
        }
    order = [pk for pk in matches.document_pks if pk in documents]
    return SearchResults(tuple(documents[pk] for pk in order), None, matches.most_characters)


def read_document(database: Database, actor: Actor, dataset: str, *, doc_id: str) -> DocumentPreview:
    """Return a document of the dataset to read before it is proposed. For annotators."""
    with open_dataset(database, actor, dataset, "annotator") as (session, row, dataset_pk):
        document = _require_document(session, row, doc_id)
        read = read_excerpts(session, [key_of(document.pk)], characters=SHOWN_CHARACTERS)[0]
        return DocumentPreview(
            document.doc_id,
            document.title,
            document.url,
            document.media_type,
            read.text,
            read.length,
            document.text_sha256,
            find_rubric(session, dataset_pk).version,
        )


def propose(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    query_id: str,
    doc_id: str,
    event: Mapping[str, Any],
    now: datetime,
) -> str:
    """Add a document to the pool of a query with the annotator's first grade; return the key of the pair.

    `event`: {id, grade, note, pressed_at, seconds, document_sha256, guideline_version}; only the first two
    are required. All or nothing; repeating the event changes nothing.
    """
    first = read_first_grade(event)
    with database.write() as session:
        row, query = _require_query(session, actor, dataset, query_id)
        lock_dataset(session, key_of(row.pk))
        person_pk = require_person(actor)
        document = _require_document(session, row, doc_id)
        pair_pk = find_proposed(session, key_of(query.pk), key_of(document.pk))
        stored = find_stored(session, [first.event_id]).get(first.event_id)
        if stored is not None:
            same = (stored.pair_pk, stored.annotator_pk, stored.grade) == (pair_pk, person_pk, first.grade)
            if not same:
                raise ConflictError("this event id belongs to another judgment")
        else:
            _require_trained(session, row, person_pk, now)
            if (
                count_proposed_since(session, key_of(row.pk), person_pk, now - timedelta(days=1))
                >= MOST_PROPOSED
            ):
                raise StateError(
                    say_n(
                        "You have proposed {n:,} document in the last 24 hours. You can propose more later.",
                        "You have proposed {n:,} documents in the last 24 hours. You can propose more later.",
                        MOST_PROPOSED,
                    )
                )
            if pair_pk is not None:
                raise ConflictError("this document is in the pool of this query already")
            _add_pair(session, row, query, document, person_pk, first, now)
        proposed = list_pooled_pairs(session, key_of(query.pk), person_pk, [key_of(document.pk)])
        return proposed[key_of(document.pk)].key or ""


def list_proposals(database: Database, actor: Actor, dataset: str, *, now: datetime) -> DocumentProposals:
    """Return the annotators' proposals and their gains. For leads.

    Pairs that the lead may still judge count as not judged. A shown answer to "others relevant" is recorded as
    seen: the lead no longer judges that pair.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        stored = list_stored_proposals(session, dataset_pk)
        if not stored:
            return DocumentProposals((), (), QueryGain(None, 0, 0, 0))
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        states = list(iterate_pair_states(session, dataset_pk, blind))
        alone = list_only_proposed(session, dataset_pk, PROPOSED)
    by_pair = {state.pair_pk: state for state in states}
    proposals, shown = [], set()
    for item in stored:
        state = by_pair[item.pair_pk]
        others = [grade for person, grade in state.grades.items() if person != item.proposer_pk]
        if others and not item.lacking:
            shown.add(item.pair_pk)
        proposals.append(
            DocumentProposal(
                item.query_id,
                item.query,
                item.doc_id,
                item.title,
                item.proposer,
                item.proposed_at,
                state.settlement.status,
                len(others),
                any(grade >= RELEVANT_FROM for grade in others) if item.pair_pk in shown else None,
            )
        )
    note_seen(database, shown, actor.person_id, now=now)
    settled = ((state.query_id, state.settlement.grade, state.pair_pk in alone) for state in states)
    queries, total = count_gains(settled, Counter(item.query_id for item in stored))
    return DocumentProposals(tuple(proposals), queries, total)


def _describe(doc_id: str, title: str, snippet: str, pair: ExistingPair | None) -> SearchResult:
    if pair is None:
        return SearchResult(doc_id, title, snippet, None, "new")
    return SearchResult(doc_id, title, snippet, pair.key, "judged by you" if pair.answered else "in pool")


def _require_query(
    session: Session, actor: Actor, dataset: str, query_id: str
) -> tuple[DatasetRow, QueryRow]:
    row = enter_dataset(session, actor, dataset, "annotator")
    query = find_query(session, key_of(row.pk), query_id)
    if query is None:
        raise NotFound(f"there is no query {query_id!r:.80} in this dataset")
    if not may_judge(session, key_of(row.pk), require_person(actor), key_of(query.pk)):
        raise NotAllowed("this query is judged by others")
    return row, query


def _require_document(session: Session, dataset: DatasetRow, doc_id: str) -> DocumentRow:
    document = find_document(session, key_of(dataset.pk), doc_id)
    if document is None:
        raise NotFound(f"there is no document {doc_id!r:.80} in this dataset")
    return document


def _require_trained(session: Session, dataset: DatasetRow, person_pk: int, now: datetime) -> None:
    training = find_training(session, make_open_pairs_request(dataset, person_pk, now), dataset)
    if training is not None and not training.passed:
        raise StateError("finish training first: real pairs come after it")


def _add_pair(
    session: Session,
    dataset: DatasetRow,
    query: QueryRow,
    document: DocumentRow,
    person_pk: int,
    first: FirstGrade,
    now: datetime,
) -> None:
    dataset_pk, document_pk = key_of(dataset.pk), key_of(document.pk)
    candidate = PoolCandidate(key_of(query.pk), query.query_id, document_pk, document.doc_id, PROPOSED)
    add_candidates(session, dataset_pk, dataset.name, [candidate], now=now)
    pair_pk = key_of(find_proposed(session, key_of(query.pk), document_pk))
    versions = list_rubric_versions(session, dataset_pk)
    present, texts = list_text_hashes(session, [document_pk])[document_pk]
    values = {
        "event_id": first.event_id,
        "rubric_pk": versions.get(first.guideline_version or 0) or versions[max(versions)],
        "grade": first.grade,
        "note": first.note,
        "document_sha256": first.document_sha256 if first.document_sha256 in texts else present,
        "judged_at": min(first.pressed_at or now, now),
        "received_at": now,
        "seconds": first.seconds,
    }
    add_first_judgment(session, pair_pk, person_pk, values)
    derive_current(session, dataset_pk, [pair_pk])
