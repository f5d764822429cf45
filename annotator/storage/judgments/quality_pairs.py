"""Find the drawn pairs that wait for an expert of quality control, and store the answers; find handed-out checks.

In labeling they look like any other pair. A drawn pair waits while its expert can judge it: not if it left
the pool or is a check, or if the expert proposed it, judged it as ordinary work, or saw others' judgments of
it. Only the latest round waits; answers to earlier rounds stay. An answer can be changed until a lead has
decided on it.

`WAITING_CHECKS` selects the gold pairs and repeats that an annotator was handed and has not answered. They wait
like any pair of their query: until they are answered, whether the lease runs or not, and again after the answer was
put off. The valid answer is the last one that is not late, as in `storage/judgments/current_judgments.py`.
"""

from collections.abc import Collection

from sqlalchemy.orm import Session

from annotator.domain.judgments import OpenPair
from annotator.storage.lookup import HANDED_OUT, LEASED_BEFORE, OpenPairsRequest
from annotator.storage.sql import execute_sql, fetch, fetch_tuples, prepare_sql

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


def list_waiting(session: Session, request: OpenPairsRequest) -> list[OpenPair]:
    """Return the drawn pairs that wait for this annotator, in no particular order."""
    return fetch(session, _WAITING, OpenPair, request.values)


def list_changeable(session: Session, request: OpenPairsRequest, query_pk: int) -> dict[int, str]:
    """Return {pair_pk: key} of the query's drawn pairs that this annotator answered and may still change."""
    return dict(fetch_tuples(session, _ANSWERED, {**request.values, "query_pk": query_pk}))


def follow_answers(session: Session, annotator_pk: int, pair_pks: Collection[int]) -> None:
    """Store the annotator's present answers to these drawn pairs.

    Which answer holds is decided as in `storage/judgments/current_judgments.py`; "later" is no answer.
    """
    if pair_pks:
        execute_sql(session, _FOLLOW, {"annotator_pk": annotator_pk, "pairs": sorted(pair_pks)})


OPEN_TO_PERSON = """
  p.dataset_pk = :dataset_pk AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = p.pk AND o.annotator_pk = :annotator_pk)
"""
NOT_PUT_OFF = """j.outcome <> 'later' AND NOT j.late AND NOT EXISTS (SELECT 1 FROM judgment n
    WHERE n.pair_pk = j.pair_pk AND n.annotator_pk = j.annotator_pk AND n.purpose = 'gold' AND n.pk > j.pk
      AND n.outcome = 'later' AND NOT n.late)"""
"""The condition that the answer `j` on a gold pair was not put off later: such a pair comes again, like any
other."""
GOLD = f"""
 FROM check_pair g CROSS JOIN pair p  -- in this order: from the few marks, not from the pool
WHERE p.pk = g.pair_pk AND g.kind = 'gold' AND (g.marked_by_pk IS NULL OR g.marked_by_pk <> :annotator_pk) AND {OPEN_TO_PERSON}
  AND {{handed}} AND {{eligible}}
"""
_IS_ANSWERED = """coalesce((SELECT j.outcome FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk
    AND j.purpose <> 'repeat' AND NOT j.late ORDER BY j.pk DESC LIMIT 1), 'later') <> 'later'"""
WAITING_CHECKS = (
    """
SELECT p.pk, p.key, p.query_pk, p.judged > 0 AS begun, EXISTS (SELECT 1 FROM judgment n WHERE n.pair_pk = p.pk
  AND n.annotator_pk = :annotator_pk) AS put_off, false AS is_repeat"""
    + GOLD.replace("{handed}", f"{HANDED_OUT} AND NOT {_IS_ANSWERED}")
    + f"""
UNION ALL SELECT p.pk, r.key, p.query_pk, p.judged > 0, EXISTS (SELECT 1 FROM judgment n WHERE n.pair_pk = p.pk
  AND n.annotator_pk = :annotator_pk AND n.purpose = 'repeat'), true
FROM repeated_pair r CROSS JOIN pair p
JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk AND c.outcome <> 'later'
WHERE r.annotator_pk = :annotator_pk AND r.answered_at IS NULL AND p.pk = r.pair_pk AND {OPEN_TO_PERSON}
  AND (EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk)
    OR NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk))
  AND {{eligible}}"""
)
"""Prepare it by `Eligibility.prepare` with "p.query_pk"."""
