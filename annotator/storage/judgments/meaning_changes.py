"""Mark the judgments and disagreements that a new meaning of the grades makes outdated, part by part.

A million pairs take about ten seconds. One transaction would block labeling, so each part is a separate
transaction, and `guideline_marking` stores the last marked pair; `finish_marking` continues after a crash.
Judgments made during the marking are treated correctly: only judgments under an older meaning are marked.
Until all are marked, counts of outdated judgments compare each judgment's version with the guideline's
(`write_stale`), so the counts are right at once.
"""

from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.settling import QueueReason
from annotator.storage.database import Database, lock_dataset
from annotator.storage.long_writes import LongWrite
from annotator.storage.sql import execute_sql, fetch, fetch_tuples, prepare_sql
from annotator.storage.tables.central import GuidelineMarkingRow

PART = 1_000
"""Pairs that are marked in one transaction: some 0.02 s."""
_NEXT = prepare_sql(
    "SELECT max(pk) FROM (SELECT pk FROM pair WHERE dataset_pk + 0 = :dataset_pk AND pk > :after ORDER BY pk LIMIT :part) AS part"
)
_OLDER = f"""EXISTS (SELECT 1 FROM current_judgment c WHERE c.pair_pk = {{pair}} AND c.purpose = '{COUNTED_PURPOSE}'
  AND c.outcome <> 'later' AND coalesce(c.rubric_pk, 0) < :rubric_pk)"""
_IS_STALE = f"""CASE WHEN EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = {{pair}})
  THEN EXISTS (SELECT 1 FROM current_adjudication a JOIN adjudication d ON d.pk = a.adjudication_pk
    WHERE a.pair_pk = {{pair}} AND d.rubric_pk < :rubric_pk)
  ELSE {_OLDER} END"""
_PART = (
    prepare_sql("""
UPDATE current_judgment SET stale = stale + 1
WHERE pair_pk > :after AND pair_pk <= :last AND dataset_pk + 0 = :dataset_pk AND stale IN (0, 2)
  AND coalesce(rubric_pk, 0) < :rubric_pk"""),
    prepare_sql(f"""
UPDATE dispute SET reasons = reasons | :stale, waiting = waiting | :stale, open = true, taste = false,
  since = CASE WHEN open THEN since ELSE :since END
WHERE pair_pk > :after AND pair_pk <= :last AND dataset_pk + 0 = :dataset_pk AND {_IS_STALE.format(pair="dispute.pair_pk")}"""),
    prepare_sql(f"""
INSERT INTO dispute (pair_pk, dataset_pk, query_pk, open, reasons, waiting, distance, since, impact, taste)
SELECT p.pk, p.dataset_pk, p.query_pk, true, :stale, :stale, 0, :since, 0, false FROM pair p
WHERE p.pk > :after AND p.pk <= :last AND p.dataset_pk + 0 = :dataset_pk AND p.retired_at IS NULL AND p.judged > 0
  AND NOT EXISTS (SELECT 1 FROM dispute x WHERE x.pair_pk = p.pk) AND {_IS_STALE.format(pair="p.pk")}"""),
)
_MARKING = prepare_sql("""
SELECT m.rubric_pk, m.after_pair_pk AS after, r.created_at AS since
FROM guideline_marking m JOIN rubric r ON r.pk = m.rubric_pk WHERE m.dataset_pk = :dataset_pk""")
_GO_ON = prepare_sql("UPDATE guideline_marking SET after_pair_pk = :last WHERE dataset_pk = :dataset_pk")
_END = prepare_sql("DELETE FROM guideline_marking WHERE dataset_pk = :dataset_pk")


class _Marking(NamedTuple):
    """`rubric_pk`: the version that changed the meaning. `since`: when, as the driver gives it."""

    rubric_pk: int
    after: int
    since: object


def begin_marking(session: Session, dataset_pk: int, rubric_pk: int) -> None:
    """Note that everything made before this version of the guideline is outdated.

    `finish_marking` marks it.
    """
    session.flush()
    execute_sql(session, _END, {"dataset_pk": dataset_pk})
    values = {"dataset_pk": dataset_pk, "rubric_pk": rubric_pk, "after_pair_pk": 0}
    session.add(GuidelineMarkingRow.model_validate(values))
    session.flush()


def finish_marking(database: Database) -> None:
    """Finish the pending markings of every dataset, part by part. Others can write between two parts.

    Safe for several processes at once: each continues after the last marked pair.
    """
    with database.read() as session:
        dataset_pks = list(session.scalars(select(col(GuidelineMarkingRow.dataset_pk))))
    marking = LongWrite(database)
    for dataset_pk in dataset_pks:
        unfinished = True
        while unfinished:
            with marking.part() as session:
                lock_dataset(session, dataset_pk, archived_too=True)
                unfinished = _mark_part(session, dataset_pk)


def _mark_part(session: Session, dataset_pk: int) -> bool:
    """Mark the next pairs; return whether there may be more."""
    for marking in fetch(session, _MARKING, _Marking, {"dataset_pk": dataset_pk}):
        values = {
            **marking._asdict(),
            "dataset_pk": dataset_pk,
            "stale": int(QueueReason.STALE),
            "part": PART,
        }
        ((last,),) = fetch_tuples(session, _NEXT, values)
        if last is None:
            execute_sql(session, _END, values)
            return False
        for statement in (*_PART, _GO_ON):
            execute_sql(session, statement, {**values, "last": last})
        return True
    return False


def write_stale(session: Session, dataset_pk: int, table: str) -> str:
    """Return `stale` of the current judgments in `table` (a name in the statement) as SQL.

    It is right also while a marking is unfinished.
    """
    marking = session.get(GuidelineMarkingRow, dataset_pk)
    if marking is None:
        return f"{table}.stale"
    older = f"coalesce({table}.rubric_pk, 0) < {int(marking.rubric_pk)}"
    return f"({table}.stale + CASE WHEN {table}.stale IN (0, 2) AND {older} THEN 1 ELSE 0 END)"
