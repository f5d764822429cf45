"""Keeps what an annotator was told of how far they are, so that it never goes back. The rule is in `labeling/own_progress.py`."""

from sqlalchemy.orm import Session

from annotator.labeling.own_progress import OwnProgress, OwnWork, advance
from annotator.storage.open_pairs import Worklist
from annotator.storage.sql import prepare, run

_TOLD = prepare(
    "SELECT answered, done, total, reserve_until FROM told_progress WHERE dataset_pk = :dataset_pk AND annotator_pk = :annotator_pk"
)
_KEEP = prepare(
    "INSERT INTO told_progress (dataset_pk, annotator_pk, answered, done, total, reserve_until) "
    "VALUES (:dataset_pk, :annotator_pk, :answered, :done, :total, :reserve_until) "
    "ON CONFLICT (dataset_pk, annotator_pk) DO UPDATE SET answered = excluded.answered, done = excluded.done, "
    "total = excluded.total, reserve_until = excluded.reserve_until"
)


def tell_progress(session: Session, worklist: Worklist, work: OwnWork) -> OwnProgress:
    """How far the annotator is, kept as what they were told."""
    named = {"dataset_pk": worklist.dataset_pk, "annotator_pk": worklist.annotator_pk}
    row = run(session, _TOLD, named).first()
    before = OwnProgress(*row) if row else None
    told = advance(before, work)
    if told != before:
        kept = {
            "answered": told.answered, "done": told.done, "total": told.total, "reserve_until": told.reserve_until,
        }  # fmt: skip
        run(session, _KEEP, {**named, **kept})
    return told
