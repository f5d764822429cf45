"""Derive which judgment of an annotator on a pair is current, for many pairs.

The answer received last is current, unless it is late (`storage/judgments/answers.py`).
`later` (put off) is an answer too: it reopens the pair for its annotator. Answers for different purposes do
not replace each other. Checks (training, gold, repeats) are never current, and a pair that left the pool
(`retired_at`) has no current judgment. All answers stay stored. `stale`: made under an older guideline (1),
on an older document text (2), or both (3).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE, CURRENT_PURPOSES
from annotator.storage.judgments.answers import order_answers
from annotator.storage.judgments.missing_judgments import derive_lacking
from annotator.storage.logs.import_records import IMPORTED
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.sql import (
    execute_sql,
    fetch,
    prepare_sql,
    quote_texts,
    split_into_chunks,
)
from annotator.storage.tables.central import (
    JudgmentRow,
    PairRow,
)

_CHUNK = 500
LATEST = """(SELECT coalesce(max(pk), 0) FROM judgment) AS last_judgment_pk,
  (SELECT count(*) FROM judgment WHERE pk > (SELECT max(pk) FROM judgment) - 10000) AS latest_judgments"""
"""Two columns that change when a judgment is stored, for the stamps of cached figures.

The highest key alone is not enough: of two judgments stored at the same time, the one with the lower key may
become visible later.
"""


STALE = """
  CASE WHEN EXISTS (SELECT 1 FROM rubric made JOIN rubric since ON since.dataset_pk = made.dataset_pk
    AND since.version > made.version AND since.change = 'semantic' WHERE made.pk = j.rubric_pk) THEN 1 ELSE 0 END
  + CASE WHEN EXISTS (SELECT 1 FROM document d WHERE d.pk = p.document_pk
    AND d.text_sha256 <> j.document_sha256) THEN 2 ELSE 0 END"""
_DERIVE = (
    """
INSERT INTO current_judgment
  (pair_pk, annotator_pk, judgment_pk, dataset_pk, outcome, grade, purpose, rubric_pk, seconds, made_at, imported, stale)
SELECT j.pair_pk, j.annotator_pk, j.pk, :dataset_pk, j.outcome, j.grade, j.purpose, j.rubric_pk, j.seconds, {made_at}, """
    + IMPORTED
    + ", "
    + STALE
    + f"""
FROM judgment j JOIN pair p ON p.pk = j.pair_pk AND p.retired_at IS NULL
WHERE j.pair_pk IN {{pairs}} AND j.purpose IN {quote_texts(CURRENT_PURPOSES)} AND NOT j.late
  AND NOT EXISTS (
    SELECT 1 FROM judgment newer
    WHERE newer.pair_pk = j.pair_pk AND newer.annotator_pk = j.annotator_pk
      AND newer.purpose IN {quote_texts(CURRENT_PURPOSES)} AND NOT newer.late AND newer.pk > j.pk)
ON CONFLICT (pair_pk, annotator_pk) DO UPDATE
SET judgment_pk = excluded.judgment_pk, outcome = excluded.outcome,
    grade = excluded.grade, purpose = excluded.purpose, rubric_pk = excluded.rubric_pk, seconds = excluded.seconds,
    made_at = excluded.made_at, imported = excluded.imported, stale = excluded.stale
WHERE current_judgment.judgment_pk <> excluded.judgment_pk
"""
)
_COUNT = f"""
UPDATE pair SET judged = (
  SELECT count(*) FROM current_judgment c
  WHERE c.pair_pk = pair.pk AND c.outcome <> 'later' AND c.purpose = '{COUNTED_PURPOSE}')
WHERE pk IN {{pairs}}
"""
_ALL_PAIRS = "(SELECT pk FROM pair WHERE dataset_pk = :dataset_pk)"
_MADE_AT = {
    "sqlite": "CAST(strftime('%s', substr(j.judged_at, 1, 19)) AS INTEGER)",
    "postgresql": "CAST(floor(extract(epoch FROM j.judged_at)) AS BIGINT)",
}
_OF_ALL = {
    dialect: [prepare_sql(item.format(pairs=_ALL_PAIRS, made_at=made_at)) for item in (_DERIVE, _COUNT)]
    for dialect, made_at in _MADE_AT.items()
}
_OF_SOME = {
    dialect: [
        prepare_sql(item.format(pairs=":pairs", made_at=made_at), lists=["pairs"])
        for item in (_DERIVE, _COUNT)
    ]
    for dialect, made_at in _MADE_AT.items()
}
_FORGET_SOME = [
    prepare_sql("DELETE FROM current_judgment WHERE pair_pk IN :pairs", lists=["pairs"]),
    prepare_sql("UPDATE pair SET judged = 0 WHERE pk IN :pairs", lists=["pairs"]),
]


def derive_current(session: Session, dataset_pk: int, pair_pks: Iterable[int] | None = None) -> None:
    """Update `current_judgment`, `pair.judged` and what the pairs lack for these pairs (None: all)."""
    session.flush()
    dialect = session.connection().dialect.name
    if pair_pks is None:
        for statement in _OF_ALL[dialect]:
            execute_sql(session, statement, {"dataset_pk": dataset_pk})
        derive_lacking(session, dataset_pk)
        derive_disagreements(session, dataset_pk)
        return
    pks = sorted(set(pair_pks))
    for chunk in split_into_chunks(pks, _CHUNK):
        for statement in _OF_SOME[dialect]:
            execute_sql(session, statement, {"dataset_pk": dataset_pk, "pairs": chunk})
    derive_lacking(session, dataset_pk, pks)
    derive_disagreements(session, dataset_pk, pks)


def forget_current(session: Session, dataset_pk: int, pair_pks: Sequence[int]) -> None:
    """Delete the current judgments of pairs that have just been retired. The judgments themselves stay."""
    session.flush()
    for chunk in split_into_chunks(pair_pks, _CHUNK):
        for statement in _FORGET_SOME:
            execute_sql(session, statement, {"pairs": chunk})
    derive_lacking(session, dataset_pk, pair_pks)
    derive_disagreements(session, dataset_pk, pair_pks)


@dataclass(frozen=True, slots=True)
class CurrentJudgment:
    """The current judgment of one annotator on one pair, under the outside world's ids."""

    event_id: str
    pair_key: str
    query_id: str
    doc_id: str
    annotator: str
    annotator_pk: int
    outcome: str
    grade: int | None
    note: str | None
    reason: str | None
    purpose: str
    judged_at: datetime | None  # None: it came with a file that does not say when
    seconds: float | None
    guideline_version: int | None  # None: it came with a file
    simulated: bool


_LISTED = """
SELECT j.event_id, p.key AS pair_key, q.query_id, d.doc_id, a.username AS annotator, j.annotator_pk, j.outcome, j.grade,
  j.note, j.reason, j.purpose, CASE WHEN j.line_id IS NULL OR j.judged_at <> j.received_at THEN j.judged_at END AS judged_at,
  j.seconds, CASE WHEN j.line_id IS NULL THEN r.version END AS guideline_version, a.simulated
FROM judgment j JOIN pair p ON p.pk = j.pair_pk JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
JOIN person a ON a.pk = j.annotator_pk JOIN rubric r ON r.pk = j.rubric_pk
WHERE p.dataset_pk = :dataset_pk {chosen} ORDER BY q.position, d.doc_id, a.username, j.pk"""
_ALL_LISTED = prepare_sql(_LISTED.format(chosen=""))
_CURRENT_LISTED = prepare_sql(
    _LISTED.format(
        chosen="AND EXISTS (SELECT 1 FROM current_judgment c WHERE c.judgment_pk = j.pk AND c.outcome <> 'later')"
    )
)


def list_current_judgments(
    session: Session, dataset_pk: int, *, history: bool = False
) -> list[CurrentJudgment]:
    """Return every current judgment of a dataset, by query position, doc_id and annotator.

    With `history`: every judgment ever given, also "later"; for each annotator and pair the current one comes
    last.
    """
    values = {"dataset_pk": dataset_pk}
    listed = fetch(session, _ALL_LISTED if history else _CURRENT_LISTED, CurrentJudgment, values)
    if not history:
        return listed
    statement = select(JudgmentRow).join(PairRow, col(PairRow.pk) == JudgmentRow.pair_pk)
    rows = session.scalars(statement.where(col(PairRow.dataset_pk) == dataset_pk))
    row_by_event = {row.event_id: row for row in rows}
    ordered = []
    for _, group in groupby(listed, key=lambda judgment: (judgment.pair_key, judgment.annotator_pk)):
        by_event = {judgment.event_id: judgment for judgment in group}
        answers = order_answers([row_by_event[event_id] for event_id in by_event])
        ordered += [by_event[row.event_id] for row in answers]
    return ordered


_REPLACE_DECIDED = [
    prepare_sql("DELETE FROM current_adjudication WHERE pair_pk IN :pairs", lists=["pairs"]),
    prepare_sql(
        """
INSERT INTO current_adjudication (pair_pk, dataset_pk, adjudication_pk, lead_pk, outcome, grade, decided_at)
SELECT a.pair_pk, p.dataset_pk, a.pk, a.lead_pk, a.outcome, a.grade, a.decided_at
FROM adjudication a JOIN pair p ON p.pk = a.pair_pk
WHERE a.pair_pk IN :pairs AND a.outcome <> 'withdrawn'
  AND NOT EXISTS (SELECT 1 FROM adjudication n WHERE n.pair_pk = a.pair_pk AND n.revision > a.revision)""",
        lists=["pairs"],
    ),
]


def derive_decided(session: Session, pair_pks: Iterable[int]) -> None:
    """Derive `current_adjudication` of these pairs from their decisions."""
    session.flush()
    for chunk in split_into_chunks(sorted(set(pair_pks)), _CHUNK):
        for statement in _REPLACE_DECIDED:
            execute_sql(session, statement, {"pairs": chunk})
