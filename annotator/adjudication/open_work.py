"""Whether an annotator still has something to answer of a query: asked before they are shown what others said of it, or
what was decided on it.

Theirs is what they hold, what may still come to them (also once the leases of others have run out), what they put off and
is still open, their own answers that are outdated, what quality control drew for them, and what was asked of them again.
One home of the rule. It goes by whole queries: what is said of one document of a query hints at the others.
"""

from collections.abc import Collection
from datetime import timedelta

from sqlalchemy.orm import Session

from annotator.domain.clock import CLOCK_SLACK
from annotator.storage.eligibility import find_eligibility
from annotator.storage.lookup import key_of
from annotator.storage.open_pairs import MAY_COME, Worklist
from annotator.storage.outdated import STILL_THEIRS
from annotator.storage.quality_pairs import CAN_JUDGE
from annotator.storage.sql import prepare, run
from annotator.storage.tables import DatasetRow

CHUNK = 500
_JUDGED = prepare("""
SELECT count(*) FROM (SELECT 1 FROM current_judgment
WHERE dataset_pk = :dataset_pk AND annotator_pk = :annotator_pk LIMIT :most) x""")
_BUSY = f"""
SELECT p.query_pk FROM pair p LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
WHERE p.query_pk IN :chosen AND {MAY_COME}
UNION SELECT p.query_pk FROM lease h CROSS JOIN pair p
WHERE h.annotator_pk = :annotator_pk AND h.expires_at > :now AND h.expires_at <= :latest AND p.pk = h.pair_pk AND p.query_pk IN :chosen
  AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND (EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk)
    OR NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk))
  AND NOT EXISTS (SELECT 1 FROM current_judgment c
    WHERE c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk AND c.outcome <> 'later')
  AND NOT EXISTS (SELECT 1 FROM check_pair k CROSS JOIN judgment j WHERE k.pair_pk = p.pk AND j.pair_pk = p.pk
    AND j.annotator_pk = :annotator_pk AND j.purpose = k.kind AND j.outcome <> 'later')
UNION SELECT p.query_pk FROM pair p JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
WHERE p.query_pk IN :chosen AND EXISTS (SELECT 1 FROM current_judgment o
    WHERE o.dataset_pk = :dataset_pk AND o.annotator_pk = :annotator_pk AND o.stale > 0) AND {STILL_THEIRS}
UNION SELECT p.query_pk FROM quality_draw w CROSS JOIN quality_pair x CROSS JOIN pair p
WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :annotator_pk AND x.draw_pk = w.pk AND p.pk = x.pair_pk
  AND p.query_pk IN :chosen AND x.outcome IS NULL
  AND w.round = (SELECT max(l.round) FROM quality_draw l WHERE l.dataset_pk = :dataset_pk) AND {CAN_JUDGE}
UNION SELECT p.query_pk FROM repeated_pair r CROSS JOIN pair p
WHERE r.annotator_pk = :annotator_pk AND r.answered_at IS NULL AND r.handed_at > :handed_since AND r.handed_at <= :handed_until
  AND p.pk = r.pair_pk AND p.query_pk IN :chosen AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk)"""


def list_busy_queries(
    session: Session, worklist: Worklist, dataset: DatasetRow, query_pks: Collection[int]
) -> set[int]:
    """Those of the queries (query_pk) of which the annotator still has something to answer."""
    found: set[int] = set()
    if not query_pks:
        return found
    session.flush()
    eligibility = find_eligibility(session, key_of(dataset.pk), worklist.annotator_pk)
    statement = eligibility.prepare(_BUSY, query="p.query_pk")
    since = worklist.now - timedelta(minutes=dataset.lease_minutes)
    values = {
        **worklist.values,
        **eligibility.values,
        "handed_since": since,
        "handed_until": worklist.now + CLOCK_SLACK,
    }
    ordered = sorted(set(query_pks))
    for start in range(0, len(ordered), CHUNK):
        chosen = ordered[start : start + CHUNK]
        found.update(run(session, statement, {**values, "chosen": chosen}).scalars())
    return found


def count_judged(session: Session, worklist: Worklist, *, most: int) -> int:
    """Of how many pairs there is an answer of the annotator, at most so many."""
    return int(run(session, _JUDGED, {**worklist.values, "most": most}).scalar_one())
