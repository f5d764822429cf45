"""Read what leads see of pairs to be decided, and the other judged documents of their queries.

A dozen statements, however many pairs there are. Names are read here and leave the services as letters
(`domain/shuffling.py`); ranks, scores and systems are never read. Neighbours are limited to the MOST documents per
query of which most is known, each with the beginning of its text. Their grade is included only if the pair is settled
and the lead can no longer be given it to judge.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from annotator.adjudication.decisions_sql import list_answers, list_proposals
from annotator.adjudication.discussion_sql import read_discussions
from annotator.adjudication.lead_holds_sql import find_latest_hold
from annotator.adjudication.queue_sql import QueueReader
from annotator.adjudication.records import CaseFacts, JudgedNeighbour, PairStage
from annotator.domain.settling import QueueReason, find_stage
from annotator.storage.document_text import SHOWN_CHARACTERS, choose_metadata
from annotator.storage.pair_states import FEW, PairState, list_pair_states
from annotator.storage.sql import execute_sql, prepare_sql, read_json, split_into_chunks
from annotator.storage.tables import DatasetRow

_PAIRS = prepare_sql(
    """
SELECT p.pk, p.key, p.query_pk, p.document_pk, p.lacking, q.query_id, q.text AS query, q.narrative, q.language, q.category,
  d.doc_id, d.title, d.url, d.media_type, d.text_sha256, d.extra, substr(t.text, 1, :most) AS text, length(t.text) AS length,
  coalesce(x.waiting, 0) AS waiting, coalesce(x.distance, 0) AS distance, x.taste, x.since, x.impact, x.recall_impact,
  x.mrr_impact, x.flips, h.lead_pk AS holder_pk, g.username AS held_by, f.username AS assigned_to,
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
_DECISIONS = prepare_sql(
    """
SELECT a.pair_pk, a.revision, a.outcome, a.grade, a.rationale, a.reason, a.cause, a.in_guideline, a.seconds, a.decided_at,
  a.lead_pk, p.username AS by_name
FROM adjudication a JOIN person p ON p.pk = a.lead_pk WHERE a.pair_pk IN :pairs ORDER BY a.pair_pk, a.revision""",
    lists=["pairs"],
)
_OBJECTIONS = prepare_sql(
    """
SELECT o.pair_pk, o.text, o.objected_at, p.username AS by_name
FROM objection o JOIN person p ON p.pk = o.annotator_pk WHERE o.pair_pk IN :pairs ORDER BY o.objected_at""",
    lists=["pairs"],
)
_QUESTIONS = prepare_sql(
    """
SELECT u.pair_pk, u.pk, u.text, u.asked_at, u.answer, p.username AS by_name
FROM question u JOIN person p ON p.pk = u.annotator_pk WHERE u.pair_pk IN :pairs ORDER BY u.pk""",
    lists=["pairs"],
)


def find_case_pk(session: Session, dataset_pk: int, key: str) -> int | None:
    """The pair of the dataset's pool that has this key."""
    found: int | None = execute_sql(session, _KEYS, {"key": key, "dataset_pk": dataset_pk}).scalar()
    return found


def list_case_facts(
    session: Session,
    dataset: DatasetRow,
    reader: QueueReader,
    pair_pks: Collection[int],
    *,
    most: int = SHOWN_CHARACTERS,
) -> dict[int, CaseFacts]:
    """What is shown of these pairs, by pair_pk. `most`: how many characters of the documents."""
    if not pair_pks:
        return {}
    named = {
        "pairs": list(pair_pks),
        "lead_pk": reader.lead_pk or 0,
        "now": reader.now,
        "latest_hold": find_latest_hold(reader.now),
        "most": most,
    }
    answers, proposals = list_answers(session, pair_pks), list_proposals(session, pair_pks)
    discussions = read_discussions(session, dataset, pair_pks, now=reader.now)
    shown = dataset.shown_metadata or ()
    found = {}
    for row in execute_sql(session, _PAIRS, named):
        metadata = choose_metadata(read_json(row.extra), shown)
        given = answers.get(row.pk, []), proposals.get(row.pk, ())
        found[row.pk] = CaseFacts(row, metadata, *given, discussions.get(row.pk))
    for statement, name in (
        (_DECISIONS, "decisions"),
        (_OBJECTIONS, "objections"),
        (_QUESTIONS, "questions"),
    ):
        for row in execute_sql(session, statement, named):
            getattr(found[row.pair_pk], name).append(row)
    return found


MOST = 200
AT_ONCE = 100
_PLACE = prepare_sql(
    "SELECT p.pk, p.query_pk, p.document_pk, d.text_sha256 FROM pair p JOIN document d ON d.pk = p.document_pk WHERE p.pk = :pair_pk"
)
_KNOWN = prepare_sql(
    """
SELECT p.pk, p.query_pk, d.title, d.pk AS document_pk, d.text_sha256, coalesce(x.waiting, 0) AS waiting, a.pair_pk IS NOT NULL AS decided,
  EXISTS (SELECT 1 FROM quality_pair y JOIN quality_draw w ON w.pk = y.draw_pk
    WHERE y.pair_pk = p.pk AND y.outcome IS NULL AND w.annotator_pk = :lead_pk) AS to_check
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


def read_place(session: Session, pair_pk: int) -> Any:
    """Of which query a pair is, and which text its document has: `pk`, `query_pk`, `document_pk`, `text_sha256`."""
    return execute_sql(session, _PLACE, {"pair_pk": pair_pk}).one()


def list_documents(session: Session, lead_pk: int | None, query_pks: Collection[int]) -> list[Any]:
    """The judged documents of these queries, at most MOST of each: rows with the columns of `_KNOWN`."""
    rows, counted = [], dict[int, int]()
    for row in execute_sql(session, _KNOWN, {"queries": sorted(query_pks), "lead_pk": lead_pk or 0}):
        counted[row.query_pk] = counted.get(row.query_pk, 0) + 1
        if counted[row.query_pk] <= MOST:
            rows.append(row)
    return rows


def read_how_far(
    session: Session, dataset_pk: int, waiting: Mapping[int, int]
) -> dict[int, tuple[PairState, PairStage]]:
    """How far these pairs have come, by pair_pk. `waiting`: why each of them waits for a lead."""
    found = {}
    for some in split_into_chunks(sorted(waiting), FEW):
        for state in list_pair_states(session, dataset_pk, some):
            decided, reasons = state.adjudicated is not None, QueueReason(waiting[state.pair_pk])
            stage = find_stage(state.settlement, reasons, decided=decided, lacking=state.lacking)
            found[state.pair_pk] = state, PairStage(stage, state.settlement.grade, state.contested_grade)
    return found


def describe_documents(
    rows: Sequence[Any], far: Mapping[int, tuple[PairState, PairStage]]
) -> list[JudgedNeighbour]:
    """The rows of `list_documents` with how far each has come."""
    return [_describe(row, *far[row.pk]) for row in rows if row.pk in far]


def read_texts(session: Session, wanted: Iterable[tuple[int, str]], *, most: int) -> dict[str, str]:
    """The beginnings of texts, named by document and SHA-256, by SHA-256."""
    found: dict[str, str] = {}
    for some in split_into_chunks(sorted(set(wanted)), AT_ONCE):
        named = {"documents": [pk for pk, _ in some], "hashes": [sha256 for _, sha256 in some], "most": most}
        found.update((sha256, text) for sha256, text in execute_sql(session, _TEXTS, named))
    return found


def _describe(row: Any, state: PairState, far: PairStage) -> JudgedNeighbour:
    told = (
        far.stage in ("imported", "single", "agreed", "settled") and state.lacking == 0 and not row.to_check
    )
    return JudgedNeighbour(
        pair_pk=row.pk,
        pair=state.key,
        query_pk=row.query_pk,
        document_pk=row.document_pk,
        doc_id=state.doc_id,
        title=row.title,
        sha256=row.text_sha256,
        stage=far.stage,
        grade=far.grade if told else None,
    )
