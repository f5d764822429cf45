"""Read what leads see of pairs to be decided, and the other judged documents of their queries.

Runs a dozen statements for any number of pairs. Returns usernames; the services replace them by letters
(`domain/shuffling.py`). Never reads ranks, scores or systems. Of each query, the MOST_NEIGHBOURS documents
with the most judgments are read, decided ones first. A neighbour has a grade only if its pair is settled and
it lacks no judgment. Documents that the lead may still judge are left out: their stage would tell whether
grades differ.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.adjudication.decisions_sql import (
    list_decisions,
    list_exported_proposals,
    list_judgments,
    list_proposals,
)
from annotator.adjudication.disagreement_records import (
    AnnotatorQuestion,
    DecisionImpact,
    DisagreementDocument,
    DisagreementFacts,
    DisagreementQuery,
    DisagreementStatus,
    NeighbourDocument,
    PairStage,
)
from annotator.adjudication.disagreement_view import TextSketches
from annotator.adjudication.discussion.discussion_sql import read_discussions
from annotator.adjudication.discussion.objections_sql import list_objections
from annotator.adjudication.queue.lead_holds_sql import find_latest_hold
from annotator.adjudication.queue.queue_sql import QueueReader
from annotator.domain.settling import QueueReason, find_stage
from annotator.domain.texts import choose_metadata
from annotator.storage.logs.disclosures import list_to_judge
from annotator.storage.pairs.document_text import SHOWN_CHARACTERS
from annotator.storage.pairs.pair_states import FEW, PairState, list_pair_states
from annotator.storage.sql import fetch, fetch_by_pair, fetch_tuples, prepare_sql, split_into_chunks
from annotator.storage.tables.central import DatasetRow


class _PairRow(NamedTuple):
    pk: int
    key: str
    query_pk: int
    document_pk: int
    lacking: int
    query_id: str
    query: str
    narrative: str | None
    language: str | None
    category: str | None
    doc_id: str
    title: str
    url: str | None
    media_type: str
    text_sha256: str | None
    extra: Mapping[str, Any] | None
    text: str | None
    length: int | None
    waiting: int
    distance: int
    taste: bool | None
    since: datetime | None
    impact: float | None
    recall_impact: float | None
    mrr_impact: float | None
    flips: int | None
    holder_pk: int | None
    held_by: str | None
    holder_name: str | None
    assigned_to: str | None
    assigned_name: str | None
    judged: bool


_PAIRS = prepare_sql(
    """
SELECT p.pk, p.key, p.query_pk, p.document_pk, p.lacking, q.query_id, q.text AS query, q.narrative, q.language, q.category,
  d.doc_id, d.title, d.url, d.media_type, d.text_sha256, d.extra, substr(t.text, 1, :most) AS text, length(t.text) AS length,
  coalesce(x.waiting, 0) AS waiting, coalesce(x.distance, 0) AS distance, x.taste, x.since, x.impact, x.recall_impact,
  x.mrr_impact, x.flips, h.lead_pk AS holder_pk, g.username AS held_by, coalesce(nullif(g.name, ''), g.username) AS holder_name,
  f.username AS assigned_to, coalesce(nullif(f.name, ''), f.username) AS assigned_name,
  EXISTS (SELECT 1 FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk = :lead_pk AND j.outcome <> 'later') AS judged
FROM pair p JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
LEFT JOIN document_text t ON t.document_pk = d.pk AND t.sha256 = d.text_sha256
LEFT JOIN dispute x ON x.pair_pk = p.pk
LEFT JOIN case_hold h ON h.pair_pk = p.pk AND h.expires_at > :now AND h.expires_at <= :latest_hold LEFT JOIN person g ON g.pk = h.lead_pk
LEFT JOIN case_assignment a ON a.pair_pk = p.pk LEFT JOIN person f ON f.pk = a.lead_pk
WHERE p.pk IN :pairs""",
    lists=["pairs"],
)
_KEYS = prepare_sql(
    "SELECT pk FROM pair WHERE key = :key AND dataset_pk = :dataset_pk AND retired_at IS NULL"
)
_QUESTIONS = prepare_sql(
    """
SELECT u.pair_pk, u.pk AS number, p.username AS annotator, u.text, u.asked_at, u.answer
FROM question u JOIN person p ON p.pk = u.annotator_pk WHERE u.pair_pk IN :pairs ORDER BY u.pk""",
    lists=["pairs"],
)


def find_pool_pair_pk(session: Session, dataset_pk: int, key: str) -> int | None:
    """Return the pair of the dataset's pool with this key; None if it is unknown or retired."""
    rows = fetch_tuples(session, _KEYS, {"key": key, "dataset_pk": dataset_pk})
    return rows[0][0] if rows else None


def list_disagreement_facts(
    session: Session,
    dataset: DatasetRow,
    reader: QueueReader,
    pair_pks: Collection[int],
    *,
    most: int = SHOWN_CHARACTERS,
) -> dict[int, DisagreementFacts]:
    """Return the facts about these pairs by pair_pk. `most`: characters of each document's text."""
    if not pair_pks:
        return {}
    values = {
        "pairs": list(pair_pks),
        "lead_pk": reader.lead_pk or 0,
        "now": reader.now,
        "latest_hold": find_latest_hold(reader.now),
        "most": most,
    }
    judgments, proposals = list_judgments(session, pair_pks), list_proposals(session, pair_pks)
    exported = list_exported_proposals(session, reader.lead_pk, proposals)
    discussions = read_discussions(session, dataset, pair_pks, now=reader.now)
    objections, decisions = list_objections(session, pair_pks), list_decisions(session, pair_pks)
    questions = fetch_by_pair(session, _QUESTIONS, AnnotatorQuestion, pair_pks)
    return {
        row.pk: DisagreementFacts(
            pair_pk=row.pk,
            pair=row.key,
            query_pk=row.query_pk,
            document_pk=row.document_pk,
            query=DisagreementQuery(row.query_id, row.query, row.narrative, row.language, row.category),
            document=_to_document(row, dataset),
            status=_to_status(row, reader),
            judged_by_reader=row.judged,
            judgments=tuple(judgments.get(row.pk, ())),
            decisions=tuple(decisions.get(row.pk, ())),
            proposals=tuple(proposals.get(row.pk, ())),
            proposal_exported=row.pk in exported,
            discussion=discussions.get(row.pk),
            objections=tuple(objections.get(row.pk, ())),
            questions=tuple(questions.get(row.pk, ())),
        )
        for row in fetch(session, _PAIRS, _PairRow, values)
    }


def _to_document(row: _PairRow, dataset: DatasetRow) -> DisagreementDocument:
    return DisagreementDocument(
        doc_id=row.doc_id,
        title=row.title,
        url=row.url,
        media_type=row.media_type,
        text=row.text,
        length=row.length or 0,
        sha256=row.text_sha256,
        metadata=choose_metadata(row.extra or {}, dataset.shown_metadata or ()),
    )


def _to_status(row: _PairRow, reader: QueueReader) -> DisagreementStatus:
    impact, lead_pk = None, reader.lead_pk
    shows_impact = not reader.without_impact  # it rests on all grades of the dataset
    if (
        shows_impact
        and row.impact is not None
        and row.recall_impact is not None
        and row.mrr_impact is not None
    ):
        impact = DecisionImpact(row.impact, row.recall_impact, row.mrr_impact, row.flips or 0)
    return DisagreementStatus(
        waiting=QueueReason(row.waiting),
        distance=row.distance,
        taste=bool(row.taste),
        since=row.since,
        impact=impact,
        held_by=row.held_by if row.holder_pk != lead_pk else None,
        assigned_to=row.assigned_to,
        holder_name=row.holder_name if row.holder_pk != lead_pk else None,
        assigned_name=row.assigned_name,
        lacking=row.lacking,
    )


MOST_NEIGHBOURS, MOST_SHOWN = 200, 100
AT_ONCE = 100
_DOCUMENT = prepare_sql("""
SELECT p.query_pk, p.document_pk, d.text_sha256 AS sha256
FROM pair p JOIN document d ON d.pk = p.document_pk WHERE p.pk = :pair_pk""")
_JUDGED_DOCUMENTS = prepare_sql(
    """
SELECT p.pk AS pair_pk, p.query_pk, d.title, d.pk AS document_pk, d.text_sha256 AS sha256, coalesce(x.waiting, 0) AS waiting
FROM pair p JOIN document d ON d.pk = p.document_pk
LEFT JOIN dispute x ON x.pair_pk = p.pk AND x.open LEFT JOIN current_adjudication a ON a.pair_pk = p.pk
WHERE p.query_pk IN :queries AND p.retired_at IS NULL AND (p.judged > 0 OR p.kept OR a.pair_pk IS NOT NULL)
ORDER BY p.query_pk, a.pair_pk IS NULL, p.judged DESC, p.pk""",
    lists=["queries"],
)
_TEXTS = prepare_sql(
    "SELECT sha256, substr(text, 1, :most) FROM document_text WHERE document_pk IN :documents AND sha256 IN :hashes",
    lists=["documents", "hashes"],
)


class PairDocument(NamedTuple):
    """The document of a pair, and the SHA-256 of its present text."""

    query_pk: int
    document_pk: int
    sha256: str | None


class JudgedDocument(NamedTuple):
    """A judged document of a query."""

    pair_pk: int
    query_pk: int
    title: str
    document_pk: int
    sha256: str | None
    waiting: int


def read_pair_document(session: Session, pair_pk: int) -> PairDocument:
    """Return the document of a pair."""
    (document,) = fetch(session, _DOCUMENT, PairDocument, {"pair_pk": pair_pk})
    return document


def list_judged_documents(
    session: Session, lead_pk: int | None, query_pks: Collection[int]
) -> list[JudgedDocument]:
    """Return the judged documents of these queries that the lead may not judge, at most MOST_NEIGHBOURS of each."""
    fetched = fetch(session, _JUDGED_DOCUMENTS, JudgedDocument, {"queries": sorted(query_pks)})
    to_judge = list_to_judge(session, lead_pk, {document.pair_pk for document in fetched})
    documents, by_query = list[JudgedDocument](), Counter[int]()
    for document in fetched:
        by_query[document.query_pk] += document.pair_pk not in to_judge
        if document.pair_pk not in to_judge and by_query[document.query_pk] <= MOST_NEIGHBOURS:
            documents.append(document)
    return documents


def list_stages(
    session: Session, dataset_pk: int, waiting: Mapping[int, int]
) -> dict[int, tuple[PairState, PairStage]]:
    """Return the state and the stage of these pairs by pair_pk.

    `waiting`: the pairs, with why each waits for a lead (`QueueReason` bits).
    """
    stages = {}
    for chunk in split_into_chunks(sorted(waiting), FEW):
        for state in list_pair_states(session, dataset_pk, chunk):
            decided, reasons = state.adjudicated is not None, QueueReason(waiting[state.pair_pk])
            stage = find_stage(state.settlement, reasons, decided=decided, lacking=state.lacking)
            stages[state.pair_pk] = state, PairStage(stage, state.settlement.grade, state.contested_grade)
    return stages


def list_neighbours(
    pair: PairDocument,
    documents: Iterable[JudgedDocument],
    stages: Mapping[int, tuple[PairState, PairStage]],
    sketches: TextSketches,
) -> list[NeighbourDocument]:
    """Return up to MOST_SHOWN other judged documents: near-duplicates first, then settled ones.

    `documents`: those of any queries. `stages`: of `list_stages`; documents without a stage are left out.
    """
    neighbours = [
        _describe(document, *stages[document.pair_pk], near=sketches.compare(pair.sha256, document.sha256))
        for document in documents
        if document.query_pk == pair.query_pk
        and document.document_pk != pair.document_pk
        and document.pair_pk in stages
    ]
    neighbours.sort(key=lambda neighbour: (-(neighbour.near or 0), neighbour.grade is None))
    return neighbours[:MOST_SHOWN]


def read_texts(session: Session, documents: Iterable[tuple[int, str]], *, most: int) -> dict[str, str]:
    """Return the begin of texts (`most` characters) by SHA-256. `documents`: document_pk, SHA-256."""
    texts: dict[str, str] = {}
    for chunk in split_into_chunks(sorted(set(documents)), AT_ONCE):
        values = {
            "documents": [document_pk for document_pk, _ in chunk],
            "hashes": [sha256 for _, sha256 in chunk],
            "most": most,
        }
        texts.update(fetch_tuples(session, _TEXTS, values))
    return texts


def _describe(
    document: JudgedDocument, state: PairState, progress: PairStage, *, near: float | None
) -> NeighbourDocument:
    settled = progress.stage in ("imported", "single", "agreed", "settled")
    may_see_grade = settled and state.lacking == 0
    return NeighbourDocument(
        state.key,
        state.doc_id,
        document.title,
        progress.grade if may_see_grade else None,
        progress.stage,
        near,
    )
