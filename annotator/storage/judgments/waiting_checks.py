"""SQL for the gold pairs and repeats that an annotator was handed and has not answered.

A handed-out check waits like any pair of its query: until it is answered, whether its lease runs or not, and
again after its answer was put off. The valid answer is the last one that is not late, as in
`storage/judgments/current_judgments.py`.
"""

from annotator.storage.lookup import HANDED_OUT

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
_ANSWERED = """coalesce((SELECT j.outcome FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk
    AND j.purpose <> 'repeat' AND NOT j.late ORDER BY j.pk DESC LIMIT 1), 'later') <> 'later'"""
WAITING_CHECKS = (
    """
SELECT p.pk, p.key, p.query_pk, p.judged > 0 AS begun, EXISTS (SELECT 1 FROM judgment n WHERE n.pair_pk = p.pk
  AND n.annotator_pk = :annotator_pk) AS put_off, false AS is_repeat"""
    + GOLD.replace("{handed}", f"{HANDED_OUT} AND NOT {_ANSWERED}")
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
