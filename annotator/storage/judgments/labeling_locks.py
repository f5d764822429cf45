"""Take the locks of an annotator's submission on PostgreSQL, in one statement.

SQLite runs one write transaction at a time and needs no locks. docs/architecture.md ("Who waits for whom")
lists the order of all locks, and what each excludes.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.storage.sql import fetch_tuples, prepare_sql

# The locks of the dataset and of the person are kept in memory: a lock of the dataset's row would write to it, and submissions of
# everybody would write to the one row. The dataset comes first: whoever has it alone waits for no pair.
_SHARE = prepare_sql(
    """
WITH shared AS MATERIALIZED (
  SELECT d.pk, set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true), pg_advisory_xact_lock_shared(d.pk),
    pg_advisory_xact_lock(CAST(-d.pk AS INTEGER), CAST(:person_pk AS INTEGER))
  FROM dataset d WHERE d.name = :dataset AND EXISTS (
    SELECT 1 FROM membership m WHERE m.person_pk = :person_pk AND (m.dataset_pk = d.pk OR m.dataset_pk IS NULL))
), locked AS MATERIALIZED (
  SELECT p.pk FROM shared s JOIN pair p ON p.dataset_pk + 0 = s.pk WHERE p.key IN :named ORDER BY p.pk FOR NO KEY UPDATE OF p
)
SELECT (SELECT s.pk FROM shared s), (SELECT array_agg(pk) FROM locked)""",
    lists=["named"],
)


@dataclass(frozen=True, slots=True)
class SharedLocks:
    """What a submission has locked."""

    dataset: bool  # False: this person has no such dataset, and nothing is locked
    pair_pks: frozenset[int]

    def cover(self, pair_pks: Collection[int]) -> bool:
        """Return whether the dataset and all these pairs are locked."""
        return self.dataset and self.pair_pks.issuperset(pair_pks)


def share_dataset(
    session: Session, dataset: str, person_pk: int, pair_keys: Collection[str] = ()
) -> SharedLocks | None:
    """Lock the dataset (shared), the person and these pairs until this transaction ends. None on SQLite.

    Transactions of different people share a dataset; transactions of one person run one after the other. The
    pairs are locked in the order of their keys in the database, so two transactions never wait for each
    other. Read the pairs after this statement: it sees the database as it was before it waited.

    The statements that follow look up rows by their keys: PostgreSQL plans each of them once, for any values,
    and by index. With plans for particular values, its old statistics would show no judgments for an
    annotator who has just begun, and it would read all their judgments for each pair.
    """
    if session.get_bind().dialect.name != "postgresql":
        return None
    values = {"dataset": dataset, "person_pk": person_pk, "named": list(pair_keys)}
    ((dataset_pk, pair_pks),) = fetch_tuples(session, _SHARE, values)
    return SharedLocks(dataset_pk is not None, frozenset(pair_pks or ()))
