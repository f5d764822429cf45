"""Which pairs are open to an annotator, and the leases that keep two people from overshooting an overlap.

A pair is open to an annotator who has no current judgment of it (or put it off), while its judgments and the
running leases of others together are fewer than the dataset's overlap, and no lead has settled it. Never open:
a pair that has left the pool, and one whose grade is kept from an earlier ground truth, until somebody judges it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, bindparam, delete, exists, func, insert, select, text, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.labeling_tables import LeaseRow
from annotator.storage.tables import AdjudicationRow, CurrentJudgmentRow, PairRow, UtcDateTime

_ROOM = """
  p.judged < :overlap AND p.retired_at IS NULL AND (p.judged > 0 OR NOT p.kept)
  AND p.judged + (SELECT count(*) FROM lease l
    WHERE l.pair_pk = p.pk AND l.annotator_pk <> :annotator_pk AND l.expires_at > :now) < :overlap
  AND NOT EXISTS (SELECT 1 FROM adjudication a WHERE a.pair_pk = p.pk)
"""
_MINE = (
    "EXISTS (SELECT 1 FROM current_judgment c WHERE c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk{})"
)
_OPEN = {
    False: _ROOM + "AND NOT " + _MINE.format(""),
    True: _ROOM + "AND " + _MINE.format(" AND c.outcome = 'later'"),
}
_NOW = bindparam("now", type_=UtcDateTime)
_OPEN_PAIRS = {
    put_off: text(
        f"SELECT p.pk, p.key, p.judged > 0 FROM pair p WHERE p.query_pk = :query_pk AND {condition}"
    ).bindparams(_NOW)
    for put_off, condition in _OPEN.items()
}
_OPEN_QUERIES = {
    put_off: text(
        "SELECT q.pk, q.query_id FROM query q WHERE q.dataset_pk = :dataset_pk AND EXISTS (SELECT 1 FROM pair p "
        f"WHERE p.query_pk = q.pk AND p.judged BETWEEN :least AND :most AND {condition})"
    ).bindparams(_NOW)
    for put_off, condition in _OPEN.items()
}
_LAST_QUERY = text(
    "SELECT p.query_pk FROM judgment j JOIN pair p ON p.pk = j.pair_pk "
    "WHERE j.annotator_pk = :annotator_pk AND p.dataset_pk = :dataset_pk "
    "ORDER BY j.pk DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class Worklist:
    """Whose open pairs are meant, when, and in which browser tab (empty where nobody said)."""

    dataset_pk: int
    annotator_pk: int
    overlap: int
    now: datetime
    tab: str = ""

    @property
    def values(self) -> dict[str, object]:
        return {
            "dataset_pk": self.dataset_pk,
            "annotator_pk": self.annotator_pk,
            "overlap": self.overlap,
            "now": self.now,
        }


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A pair open to the annotator; `begun`: somebody has judged it."""

    pair_pk: int
    key: str
    begun: bool


def list_open_pairs(session: Session, worklist: Worklist, query_pk: int, *, put_off: bool) -> list[OpenPair]:
    """The open pairs of one query, in no particular order: the ones never met, or the ones put off."""
    rows = session.execute(_OPEN_PAIRS[put_off], {**worklist.values, "query_pk": query_pk})
    return [OpenPair(pk, key, bool(begun)) for pk, key, begun in rows]


def list_open_queries(
    session: Session, worklist: Worklist, *, begun: bool, put_off: bool
) -> list[tuple[int, str]]:
    """The queries with an open pair that somebody has begun (or that nobody has): (query_pk, query_id)."""
    least, most = (1, worklist.overlap - 1) if begun else (0, 0)
    if least > most:
        return []
    rows = session.execute(_OPEN_QUERIES[put_off], {**worklist.values, "least": least, "most": most})
    return [(pk, query_id) for pk, query_id in rows]


def find_last_query(session: Session, worklist: Worklist) -> int | None:
    """The query of the annotator's latest judgment in this dataset."""
    found: int | None = session.execute(_LAST_QUERY, worklist.values).scalar()
    return found


def count_open_pairs(session: Session, worklist: Worklist) -> int:
    """How many pairs the annotator could still be given, leases of others aside."""
    wanting = select(func.count()).select_from(PairRow)
    wanting = wanting.where(
        col(PairRow.dataset_pk) == worklist.dataset_pk,
        *_wanting(worklist.overlap),
    )
    mine = (
        select(func.count())
        .select_from(CurrentJudgmentRow)
        .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
        .where(
            col(CurrentJudgmentRow.dataset_pk) == worklist.dataset_pk,
            col(CurrentJudgmentRow.annotator_pk) == worklist.annotator_pk,
            col(CurrentJudgmentRow.outcome) != "later",
            *_wanting(worklist.overlap),
        )
    )
    return (session.scalar(wanting) or 0) - (session.scalar(mine) or 0)


def _wanting(overlap: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions under which a pair still wants judgments, leases aside."""
    return (
        col(PairRow.judged) < overlap,
        col(PairRow.retired_at).is_(None),
        (col(PairRow.judged) > 0) | ~col(PairRow.kept),
        ~exists().where(col(AdjudicationRow.pair_pk) == col(PairRow.pk)),
    )


def count_done(session: Session, worklist: Worklist) -> int:
    """How many pairs of the dataset the annotator has a current judgment of."""
    statement = select(func.count()).select_from(CurrentJudgmentRow)
    statement = statement.where(
        col(CurrentJudgmentRow.dataset_pk) == worklist.dataset_pk,
        col(CurrentJudgmentRow.annotator_pk) == worklist.annotator_pk,
        col(CurrentJudgmentRow.outcome) != "later",
    )
    return session.scalar(statement) or 0


def take_leases(session: Session, worklist: Worklist, pair_pks: Collection[int], *, until: datetime) -> None:
    """Lease these pairs to the annotator until then; leases the annotator has already are prolonged."""
    mine = col(LeaseRow.annotator_pk) == worklist.annotator_pk
    held = set(
        session.scalars(select(col(LeaseRow.pair_pk)).where(mine, col(LeaseRow.pair_pk).in_(pair_pks))).all()
    )
    if held:
        prolong = update(LeaseRow).where(mine, col(LeaseRow.pair_pk).in_(held))
        prolong = prolong.values(expires_at=until, tab=worklist.tab)
        session.execute(prolong.execution_options(synchronize_session=False))
    new = [pk for pk in pair_pks if pk not in held]
    if new:
        mine_until = {"annotator_pk": worklist.annotator_pk, "expires_at": until, "tab": worklist.tab}
        session.execute(insert(LeaseRow), [{"pair_pk": pk, **mine_until} for pk in new])


def list_leased_elsewhere(session: Session, worklist: Worklist) -> set[int]:
    """The pairs (pair_pk) that another tab of this annotator holds, on this device or another."""
    mine = select(col(LeaseRow.pair_pk)).where(
        col(LeaseRow.annotator_pk) == worklist.annotator_pk,
        col(LeaseRow.tab).not_in(["", worklist.tab]),
        col(LeaseRow.expires_at) > worklist.now,
    )
    return set(session.scalars(mine))


def drop_leases(session: Session, worklist: Worklist, pair_pks: Sequence[int]) -> None:
    """End the annotator's leases of these pairs."""
    mine = col(LeaseRow.annotator_pk) == worklist.annotator_pk
    ended = delete(LeaseRow).where(mine, col(LeaseRow.pair_pk).in_(pair_pks))
    session.execute(ended.execution_options(synchronize_session=False))


def drop_expired_leases(session: Session, worklist: Worklist) -> None:
    """Clear away the annotator's own leases that have run out."""
    mine = col(LeaseRow.annotator_pk) == worklist.annotator_pk
    ended = delete(LeaseRow).where(mine, col(LeaseRow.expires_at) <= worklist.now)
    session.execute(ended.execution_options(synchronize_session=False))
