"""Find the drawn pairs that wait for an expert of quality control, and store the expert's answers.

In labeling they look like any other pair. A drawn pair waits while its expert can judge it: not if it left
the pool or is a check, or if the expert proposed it, judged it as ordinary work, or saw others' judgments of
it. Only the latest round waits; answers to earlier rounds stay. An answer can be changed until a lead has
decided on it.
"""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.judgments import OpenPair
from annotator.storage.judgments.leases import LEASED_BEFORE, OpenPairsRequest
from annotator.storage.sql import execute_sql, fetch, prepare_sql

CAN_JUDGE = """p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk)
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = w.annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = p.pk AND o.annotator_pk = w.annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM current_judgment c
    WHERE c.pair_pk = p.pk AND c.annotator_pk = w.annotator_pk AND c.outcome <> 'later')"""
DECIDED_SINCE = "EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = x.pair_pk AND a.decided_at >= x.answered_at)"
_WAITING = prepare_sql(f"""
SELECT p.pk AS pair_pk, p.key, p.query_pk, true AS begun, x.judgment_pk IS NOT NULL AS put_off, {LEASED_BEFORE} AS handed,
  false AS repeat
FROM quality_draw w CROSS JOIN quality_pair x CROSS JOIN pair p  -- in this order: from the few draws, not from the pool
WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :annotator_pk AND x.draw_pk = w.pk AND p.pk = x.pair_pk
  AND w.round = (SELECT max(l.round) FROM quality_draw l WHERE l.dataset_pk = :dataset_pk)
  AND x.outcome IS NULL AND {CAN_JUDGE}""")
_ANSWERED = prepare_sql(f"""
SELECT DISTINCT p.pk AS pair_pk, p.key FROM quality_draw w CROSS JOIN quality_pair x CROSS JOIN pair p
WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :annotator_pk AND x.draw_pk = w.pk AND p.pk = x.pair_pk
  AND p.query_pk = :query_pk AND x.outcome IS NOT NULL AND {CAN_JUDGE} AND NOT {DECIDED_SINCE}""")
_FOLLOW = prepare_sql(
    """
UPDATE quality_pair SET judgment_pk = j.pk, grade = j.grade,
  outcome = CASE WHEN j.outcome = 'later' THEN NULL ELSE j.outcome END,
  answered_at = CASE WHEN j.outcome = 'later' THEN NULL ELSE j.received_at END
FROM judgment j, quality_draw w
WHERE quality_pair.pair_pk IN :pairs AND w.pk = quality_pair.draw_pk AND w.annotator_pk = :annotator_pk
  AND j.pair_pk = quality_pair.pair_pk AND j.annotator_pk = w.annotator_pk AND j.purpose = 'quality'
  AND NOT j.late AND NOT EXISTS (
    SELECT 1 FROM judgment newer
    WHERE newer.pair_pk = j.pair_pk AND newer.annotator_pk = j.annotator_pk AND newer.purpose = 'quality'
      AND NOT newer.late AND newer.pk > j.pk)
  AND (quality_pair.judgment_pk IS NULL OR quality_pair.judgment_pk <> j.pk)""",
    lists=["pairs"],
)


class _AnsweredPair(NamedTuple):
    """A drawn pair whose answer the expert may change."""

    pair_pk: int
    key: str


def list_waiting(session: Session, request: OpenPairsRequest) -> list[OpenPair]:
    """Return the drawn pairs that wait for this annotator, in no particular order."""
    return fetch(session, _WAITING, OpenPair, request.values)


def list_changeable(session: Session, request: OpenPairsRequest, query_pk: int) -> dict[int, str]:
    """Return {pair_pk: key} of the query's drawn pairs that this annotator answered and may still change."""
    pairs = fetch(session, _ANSWERED, _AnsweredPair, {**request.values, "query_pk": query_pk})
    return {pair.pair_pk: pair.key for pair in pairs}


def follow_answers(session: Session, annotator_pk: int, pair_pks: Collection[int]) -> None:
    """Store the annotator's present answers to these drawn pairs.

    Which answer holds is decided as in `storage/judgments/current_judgments.py`; "later" is no answer.
    """
    if pair_pks:
        execute_sql(session, _FOLLOW, {"annotator_pk": annotator_pk, "pairs": sorted(pair_pks)})
