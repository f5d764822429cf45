"""What each pair still lacks, and how much of that there is in each query: the one home of these rules.

Stands between whatever changes a pair (a judgment, a decision, a mark, the overlap) and the hand-out, which reads
what is derived here and never counts the pool.
"""

from collections.abc import Iterable

from sqlalchemy.orm import Session


def derive_work(session: Session, dataset_pk: int, pair_pks: Iterable[int] | None = None) -> None:
    """Bring `pair.wanted`, `pair.lacking`, `query_work` and `query_answers` in line for these pairs (None: all)."""
