"""A value that differs when what agreement is measured from differs: for keeping a report until something changes.

Answered from the ends of indexes and small tables, however many judgments there are. Judgments, decisions and guidelines are
only ever appended to. A query or document that is imported anew with another category is not seen: keep no report for long.
"""

from collections.abc import Hashable

from sqlalchemy.orm import Session

from annotator.storage.sql import prepare, run

_STAMP = prepare("""
SELECT (SELECT coalesce(max(pk), 0) FROM judgment), (SELECT coalesce(max(pk), 0) FROM remap),
  (SELECT coalesce(max(pk), 0) FROM rubric), (SELECT coalesce(max(pk), 0) FROM query), d.kappa_target, d.seed, d.name,
  (SELECT count(*) FROM check_pair), (SELECT max(marked_at) FROM check_pair)
FROM dataset d WHERE d.pk = :dataset_pk
""")
_PEOPLE = prepare("SELECT pk, username, simulated FROM person ORDER BY pk")


def read_agreement_stamp(session: Session, dataset_pk: int) -> Hashable:
    """See the module."""
    session.flush()
    stamp = run(session, _STAMP, {"dataset_pk": dataset_pk}).one()
    return (*stamp, tuple(tuple(row) for row in run(session, _PEOPLE, {})))
