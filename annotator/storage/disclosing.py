"""Who has seen what others said of a pair: noted once, and for ever, since whoever has seen it no longer judges it."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import bindparam, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.columns import UtcDateTime
from annotator.storage.database import Database
from annotator.storage.labeling_tables import DisclosureRow

_NOTE = text(
    "INSERT INTO disclosure (pair_pk, person_pk, disclosed_at) VALUES (:pair_pk, :person_pk, :now) "
    "ON CONFLICT (pair_pk, person_pk) DO NOTHING"
).bindparams(bindparam("now", type_=UtcDateTime))


def note_seen(database: Database, pair_pk: int, person_pk: int | None, *, now: datetime) -> None:
    """Note that the person has seen the others' judgments. The operator (None) judges nothing, so nothing is noted."""
    if person_pk is None:
        return
    mine = (col(DisclosureRow.pair_pk) == pair_pk, col(DisclosureRow.person_pk) == person_pk)
    with database.read() as session:
        if session.scalar(select(col(DisclosureRow.pair_pk)).where(*mine)) is not None:
            return
    with database.write() as session:
        session.execute(_NOTE, {"pair_pk": pair_pk, "person_pk": person_pk, "now": now})


def add_seen(session: Session, pair_pks: Collection[int], person_pk: int, *, now: datetime) -> None:
    """Note in this transaction that the person has seen what others said of these pairs."""
    rows = [{"pair_pk": pair_pk, "person_pk": person_pk, "now": now} for pair_pk in sorted(pair_pks)]
    if rows:
        session.execute(_NOTE, rows)


def has_seen(session: Session, pair_pk: int, person_pk: int) -> bool:
    """Whether that is noted."""
    return session.get(DisclosureRow, (pair_pk, person_pk)) is not None
