"""The leases that keep two people from overshooting what a pair wants, and two tabs of one person from showing the same.

A lease counts until it expires, unless it would last longer than leases do (domain/clock.py); it belongs to an annotator, and knows which browser tab holds it.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.storage.open_pairs import Worklist
from annotator.storage.sql import prepare, run

_TAKE = prepare(
    "INSERT INTO lease (pair_pk, annotator_pk, expires_at, tab) "
    "SELECT pk, :annotator_pk, :until, :tab FROM pair WHERE pk IN :pairs "
    "ON CONFLICT (pair_pk, annotator_pk) DO UPDATE SET expires_at = excluded.expires_at, tab = excluded.tab",
    lists=["pairs"],
)
_ELSEWHERE = prepare(
    "SELECT pair_pk FROM lease WHERE annotator_pk = :annotator_pk AND tab NOT IN ('', :tab) "
    "AND expires_at > :now AND expires_at <= :latest",
)
_DROP = prepare("DELETE FROM lease WHERE annotator_pk = :annotator_pk AND pair_pk IN :pairs", lists=["pairs"])
_DROP_ALL = prepare("DELETE FROM lease WHERE annotator_pk = :annotator_pk")
_DROP_EXPIRED = prepare(
    "DELETE FROM lease WHERE annotator_pk = :annotator_pk AND (expires_at <= :now OR expires_at > :latest)"
)


def take_leases(session: Session, worklist: Worklist, pair_pks: Collection[int], *, until: datetime) -> None:
    """Lease these pairs to the annotator until then; leases the annotator has already are prolonged."""
    if pair_pks:
        mine = {"annotator_pk": worklist.annotator_pk, "tab": worklist.tab, "until": until}
        run(session, _TAKE, {**mine, "pairs": list(pair_pks)})


def list_leased_elsewhere(session: Session, worklist: Worklist) -> set[int]:
    """The pairs (pair_pk) that another tab of this annotator holds, on this device or another."""
    return set(run(session, _ELSEWHERE, {**worklist.values, "tab": worklist.tab}).scalars())


def drop_leases(session: Session, worklist: Worklist, pair_pks: Sequence[int]) -> None:
    """End the annotator's leases of these pairs."""
    run(session, _DROP, {"annotator_pk": worklist.annotator_pk, "pairs": list(pair_pks)})


def drop_every_lease(session: Session, person_pk: int) -> None:
    """End all leases of this person, on every dataset: what they hold goes to others at once."""
    run(session, _DROP_ALL, {"annotator_pk": person_pk})


def drop_expired_leases(session: Session, worklist: Worklist) -> None:
    """Clear away the annotator's own leases that have run out, and those that a clock ahead of the present one made."""
    run(session, _DROP_EXPIRED, worklist.values)
