"""Hold pairs for annotators: who asks for pairs, in which tab, and the end of leases.

A lease reserves a pair for an annotator in one browser tab, so no two people or tabs do the same work. It is
valid until it expires (`domain/clock.py` has the longest time). An expired lease stays until its pair is
answered: it proves that the pair was handed out (`storage/lookup.py`, HANDED_OUT). A lead frees a lease by
setting its end to FREED.

`labeling/open_pairs_sql.py` hands out leases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.clock import find_latest_end
from annotator.domain.shuffling import Seed, mix_secret
from annotator.storage.lookup import key_of
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables.central import DatasetRow

FREED = datetime(1970, 1, 1, tzinfo=UTC)
"""The end of a lease that a lead took from its holder: showing the pair does not begin it again."""
IS_FREED = "l.expires_at < '1970-01-02'"
LEASED_BEFORE = "EXISTS (SELECT 1 FROM lease h WHERE h.pair_pk = p.pk AND h.annotator_pk = :annotator_pk)"
_END_LEASES = (
    "UPDATE lease SET expires_at = :{end} WHERE annotator_pk = :annotator_pk AND expires_at > :{after}"
)
_OF_DATASET = " AND EXISTS (SELECT 1 FROM pair p WHERE p.pk = lease.pair_pk AND p.dataset_pk = :dataset_pk)"
_FREE_EVERYWHERE = prepare_sql(_END_LEASES.format(end="freed", after="now"))
_FREE_IN_DATASET = prepare_sql(_END_LEASES.format(end="freed", after="now") + _OF_DATASET)
_END_AHEAD = prepare_sql(_END_LEASES.format(end="now", after="latest") + _OF_DATASET)


@dataclass(frozen=True, slots=True)
class OpenPairsRequest:
    """The annotator, dataset, browser tab and time of a search for open pairs."""

    dataset_pk: int
    annotator_pk: int
    overlap: int
    now: datetime
    tab: str = ""  # empty where the browser did not say
    lease: timedelta = timedelta(hours=1)  # for how long a pair is handed out in this dataset

    @property
    def values(self) -> dict[str, object]:
        annotator_values = {"dataset_pk": self.dataset_pk, "annotator_pk": self.annotator_pk}
        return {**annotator_values, "now": self.now, "latest": find_latest_end(self.now, self.lease)}


class LabelingSettings(NamedTuple):
    """The columns of a dataset that a submission of judgments reads (`labeling/exchange_sql.py`)."""

    pk: int
    name: str
    seed: int
    check_secret: str
    order_secret: str
    overlap: int
    overlap_rules: Mapping[str, Any] | None
    lease_minutes: int
    training_score: float
    gold_rate: float
    repeat_rate: float
    repeat_after: int
    shown_metadata: Sequence[str] | None

    @property
    def check_seed(self) -> Seed:
        """Return the seed of what checks annotators."""
        return mix_secret(self.seed, self.check_secret)

    @property
    def order_seed(self) -> Seed:
        """Return the seed of orders."""
        return mix_secret(self.seed, self.order_secret)


LabeledDataset = DatasetRow | LabelingSettings


def make_open_pairs_request(
    dataset: LabeledDataset, annotator_pk: int, now: datetime, tab: str = ""
) -> OpenPairsRequest:
    """Return the request of this annotator in this dataset, as of now."""
    lease = timedelta(minutes=dataset.lease_minutes)
    return OpenPairsRequest(key_of(dataset.pk), annotator_pk, dataset.overlap, now, tab, lease)


def end_leases(session: Session, person_pk: int, dataset_pk: int | None, *, now: datetime) -> int:
    """End the leases of this person in the dataset (None: in all datasets); return their number."""
    values = {"annotator_pk": person_pk, "dataset_pk": dataset_pk, "now": now, "freed": FREED}
    statement = _FREE_EVERYWHERE if dataset_pk is None else _FREE_IN_DATASET
    return execute_sql(session, statement, values)


def end_leases_ahead(session: Session, request: OpenPairsRequest) -> None:
    """End the annotator's leases of this dataset that were made while the clock was ahead of the present."""
    execute_sql(session, _END_AHEAD, request.values)
