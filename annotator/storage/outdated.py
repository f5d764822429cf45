"""Own answers that rest on an older standard or an older text: found, described and marked.

`current_judgment.stale` says it of each; `storage/current.py` sets it for a new answer, this file when the
standard or a text changes.
"""

from collections.abc import Collection, Mapping

from sqlalchemy.orm import Session

from annotator.domain.labeling import Outdated
from annotator.storage.worklist import Worklist


def list_outdated(session: Session, worklist: Worklist, *, limit: int) -> list[int]:
    """The annotator's pairs (pair_pk) to be confirmed or changed; none that a lead has settled or that left the pool."""
    return []


def describe_outdated(
    session: Session, worklist: Worklist, pair_pks: Collection[int]
) -> Mapping[int, Outdated]:
    """Why each of these is asked for again, for those that are."""
    return {}


def mark_outdated(session: Session, dataset_pk: int, document_pks: Collection[int] | None = None) -> None:
    """Set `current_judgment.stale` anew, for the pairs of these documents (None: for the whole dataset)."""
