"""Everything that is shown of a few pairs that are to be decided, in a dozen statements however many pairs there are.

Names are read here and leave the services as letters (`domain/shuffling.py`); ranks, scores and systems are not read at all.
"""

from collections.abc import Collection

from sqlalchemy.orm import Session

from annotator.adjudication.cases import CaseFacts
from annotator.adjudication.decisions_sql import list_proposals
from annotator.adjudication.discussion_sql import read_discussions
from annotator.adjudication.lead_holds_sql import find_latest_hold
from annotator.adjudication.queue_sql import QueueReader
from annotator.adjudication.storage_cases import list_answers
from annotator.storage.document_text import SHOWN_CHARACTERS, choose_metadata
from annotator.storage.sql import prepare, read_json, run
from annotator.storage.tables import DatasetRow

_PAIRS = prepare(
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
_KEYS = prepare("SELECT pk FROM pair WHERE key = :key AND dataset_pk = :dataset_pk AND retired_at IS NULL")
_DECISIONS = prepare(
    """
SELECT a.pair_pk, a.revision, a.outcome, a.grade, a.rationale, a.reason, a.cause, a.in_guideline, a.seconds, a.decided_at,
  a.lead_pk, p.username AS by_name
FROM adjudication a JOIN person p ON p.pk = a.lead_pk WHERE a.pair_pk IN :pairs ORDER BY a.pair_pk, a.revision""",
    lists=["pairs"],
)
_OBJECTIONS = prepare(
    """
SELECT o.pair_pk, o.text, o.objected_at, p.username AS by_name
FROM objection o JOIN person p ON p.pk = o.annotator_pk WHERE o.pair_pk IN :pairs ORDER BY o.objected_at""",
    lists=["pairs"],
)
_QUESTIONS = prepare(
    """
SELECT u.pair_pk, u.pk, u.text, u.asked_at, u.answer, p.username AS by_name
FROM question u JOIN person p ON p.pk = u.annotator_pk WHERE u.pair_pk IN :pairs ORDER BY u.pk""",
    lists=["pairs"],
)


def find_case_pk(session: Session, dataset_pk: int, key: str) -> int | None:
    """The pair of the dataset's pool that has this key."""
    found: int | None = run(session, _KEYS, {"key": key, "dataset_pk": dataset_pk}).scalar()
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
    for row in run(session, _PAIRS, named):
        metadata = choose_metadata(read_json(row.extra), shown)
        given = answers.get(row.pk, []), proposals.get(row.pk, ())
        found[row.pk] = CaseFacts(row, metadata, *given, discussions.get(row.pk))
    for statement, name in (
        (_DECISIONS, "decisions"), (_OBJECTIONS, "objections"), (_QUESTIONS, "questions"),
    ):  # fmt: skip
        for row in run(session, statement, named):
            getattr(found[row.pair_pk], name).append(row)
    return found
