"""What leads do to check settled grades: draw a random sample for a third expert, and read what it proves.

Stands after adjudication: what is settled is drawn (`sampling.py`), judged once more in the labeling panel, blind, and
counted here. Refuses somebody who is not a lead, and an expert who cannot judge here.
"""

from datetime import datetime

from sqlalchemy.orm import Session

from annotator.accounts.service import require_role
from annotator.domain.errors import StateError
from annotator.domain.people import Actor
from annotator.domain.quality import (
    DEFAULT_RATE,
    ERROR_KINDS,
    RULES,
    ErrorRate,
    QualityDraw,
    QualityPreview,
    QualityStatus,
)
from annotator.storage.database import Database
from annotator.storage.find import find_dataset, key_of
from annotator.storage.tables import DatasetRow


def draw_sample(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    annotator: str,
    rate: float = DEFAULT_RATE,
    size: int | None = None,
    seed: int = 0,
    new_round: bool = False,
    now: datetime,
) -> QualityDraw:
    """Draw settled pairs for that person until the round's sample is `rate` of the population, rounded up (or `size`
    pairs). What the round holds already counts and is never drawn again. For leads."""
    raise StateError("quality control is not there yet")


def preview_sample(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    annotator: str,
    rate: float = DEFAULT_RATE,
    size: int | None = None,
    seed: int = 0,
    new_round: bool = False,
) -> QualityPreview:
    """What `draw_sample` would draw, by category and settled grade; nothing is written. For leads."""
    raise StateError("quality control is not there yet")


def show_quality(database: Database, actor: Actor, dataset: str) -> QualityStatus:
    """How the quality control of the dataset stands. For leads."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        return compute_quality(session, dataset_pk)


def compute_quality(session: Session, dataset_pk: int) -> QualityStatus:
    """`show_quality` within a transaction, for other stages."""
    dataset = session.get_one(DatasetRow, dataset_pk)
    nothing = ErrorRate(0, 0, None, None, None)
    return QualityStatus(
        dataset=dataset.name, rule="rate" if dataset.quality_rule == "rate" else "bound", round=0,
        population=0, outside=0, settled_since=0, drawn=0, checked=0, unrateable=0, barred=0, waiting=0,
        rates=dict.fromkeys(ERROR_KINDS, nothing), verdicts=dict.fromkeys(RULES, "undecided"), further=None,
        sentences=(), draws=(), errors=(),
    )  # fmt: skip
