"""The checks that labeling mixes in: training pairs, gold pairs and repeats, read and noted for the hand-out.

Called by `labeling/service.py` only; what leads do with checks is in `calibration/service.py`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.domain.labeling import TrainingState
from annotator.storage.tables import DatasetRow
from annotator.storage.worklist import Worklist


@dataclass(frozen=True, slots=True)
class Handout:
    """A pair to hand out, under the key that the browser shall use for it; `training`: it will be explained."""

    pair_pk: int
    key: str | None = None
    training: bool = False


@dataclass(frozen=True, slots=True)
class RepeatTarget:
    """What the key of a repeat stands for."""

    repeat_pk: int
    pair_pk: int
    document_pk: int


def find_training(session: Session, worklist: Worklist, dataset: DatasetRow) -> TrainingState | None:
    """How far the annotator's training is; None when there is none: no pair is marked, or real pairs were judged before."""
    return None


def list_training(session: Session, worklist: Worklist, *, limit: int) -> list[int]:
    """The training pairs to be answered next, in the annotator's own order: those never answered, then the wrong ones."""
    return []


def find_check_kinds(session: Session, pair_pks: Collection[int]) -> Mapping[int, str]:
    """ "training" or "gold" by pair_pk, for those that are marked."""
    return {}


def find_repeats(session: Session, worklist: Worklist, keys: Collection[str]) -> Mapping[str, RepeatTarget]:
    """What those keys stand for that are repeats of this annotator."""
    return {}


def note_repeats_answered(session: Session, worklist: Worklist, repeat_pks: Collection[int]) -> None:
    """These repeats have been answered."""


def read_explanations(session: Session, pair_pks: Collection[int]) -> Mapping[int, tuple[int, str]]:
    """(right grade, explanation) by pair_pk of training pairs."""
    return {}


def mix_in(
    session: Session,
    worklist: Worklist,
    dataset: DatasetRow,
    *,
    annotator: str,
    ordinary: Sequence[int],
    held: Collection[int],
) -> list[Handout]:
    """The ordinary pairs (pair_pk) to hand out, with gold pairs and repeats among them at the dataset's rates."""
    return [Handout(pair_pk) for pair_pk in ordinary]
