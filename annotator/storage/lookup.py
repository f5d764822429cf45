"""Find single rows by their public names, and hold pairs for annotators. For services; rows do not leave them.

A lease reserves a pair for an annotator in one browser tab, so no two people or tabs do the same work. It is
valid until it expires (`find_latest_end` has the longest time). An expired lease stays until its pair is
answered: it proves that the pair was handed out (HANDED_OUT). A lead frees a lease by setting its end to
FREED. `labeling/open_pairs_sql.py` hands out leases.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Select, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import DatasetArchived, DatasetNotOpen, NotFound
from annotator.domain.grades import GradeDefinition, Rubric
from annotator.domain.messages import say
from annotator.domain.people import describe_unknown_dataset
from annotator.domain.shuffling import Seed, mix_secret
from annotator.storage.database import describe_archived, is_writing
from annotator.storage.sql import execute_sql, fetch_tuples, prepare_sql
from annotator.storage.tables.central import DatasetRow, DocumentRow, PairRow, PersonRow, QueryRow, RubricRow

CLOCK_SLACK = timedelta(minutes=5)
"""Bounds the effect of a server clock that jumps into the future and back.

A session, a lease, a hold, a known browser or a failed sign-in counts only from CLOCK_SLACK before its start
until its normal end. So it outlives its lifetime by at most CLOCK_SLACK.
"""


def find_latest_end(now: datetime, lifetime: timedelta) -> datetime:
    """Return the latest plausible end for something of this lifetime.

    A later end was set by a clock that was ahead.
    """
    return now + lifetime + CLOCK_SLACK


_LOCK_USERNAMES = text("SELECT pg_advisory_xact_lock(4, 0)")  # two numbers, the first of no other lock
HANDED_OUT = """(EXISTS (SELECT 1 FROM lease h WHERE h.pair_pk = p.pk AND h.annotator_pk = :annotator_pk)
  OR EXISTS (SELECT 1 FROM judgment h WHERE h.pair_pk = p.pk AND h.annotator_pk = :annotator_pk))"""
"""The condition that the pair `p` was handed to the person: a lease, running or expired, or an own answer of
any kind.

The only home of this rule. Pair keys follow from public names, so a key from a browser is no proof: every use
of such a key asks this first, and answers as for a key that does not exist. A repeat has a key of its own,
and its row is the proof.
"""
_FIND_HANDED_OUT = prepare_sql(f"""
SELECT p.pk FROM pair p WHERE p.key = :key AND p.dataset_pk = :dataset_pk AND {HANDED_OUT}
UNION ALL SELECT p.pk FROM repeated_pair r CROSS JOIN pair p
WHERE r.key = :key AND r.annotator_pk = :annotator_pk AND p.pk = r.pair_pk AND p.dataset_pk = :dataset_pk""")


def key_of(pk: int | None) -> int:
    """Return the primary key of a stored row. Raises NotFound for None."""
    if pk is None:
        raise NotFound("the row is not stored yet")
    return pk


def find_dataset(session: Session, name: str, *, archived_too: bool = False) -> DatasetRow:
    """Return the dataset of that name. Raises DatasetNotOpen, as for a person without a role on the dataset.

    Raises DatasetArchived in a session that writes if the dataset is archived, unless `archived_too`.
    """
    row = session.scalars(select(DatasetRow).where(col(DatasetRow.name) == name)).first()
    if row is None:
        raise DatasetNotOpen(describe_unknown_dataset(name))
    if row.archived_at is not None and not archived_too and is_writing(session):
        raise DatasetArchived(describe_archived(name), dataset=name)
    return row


def find_person(session: Session, username: str) -> PersonRow:
    """Return the person of that username, disabled or not."""
    row = session.scalars(select(PersonRow).where(col(PersonRow.username) == username)).first()
    if row is None:
        raise NotFound(say("there is no person named {username!r}", username=username))
    return row


def find_look_alikes(session: Session, usernames: Iterable[str]) -> dict[str, str]:
    """Return {new username: equal or similar other username}; usernames without one are absent.

    The other one exists already, or comes earlier in `usernames`. Other transactions that call this wait
    until this one ends: of two simultaneous similar usernames, only one is added.
    """
    from annotator.domain.usernames import pair_look_alikes

    if session.get_bind().dialect.name == "postgresql":
        session.connection().execute(_LOCK_USERNAMES)
    return pair_look_alikes(usernames, list_usernames(session))


def list_usernames(session: Session) -> list[str]:
    """Return every username, the oldest account first."""
    return list(session.scalars(select(col(PersonRow.username)).order_by(col(PersonRow.pk))))


def find_names(session: Session, person_pks: Iterable[int | None]) -> dict[int | None, str]:
    """Return the usernames of these people, by person_pk. None among them is left out."""
    return _find_texts(session, select(col(PersonRow.pk), col(PersonRow.username)), person_pks)


def find_dataset_names(session: Session, dataset_pks: Iterable[int | None]) -> dict[int | None, str]:
    """Return the names of these datasets, by dataset_pk. None among them is left out."""
    return _find_texts(session, select(col(DatasetRow.pk), col(DatasetRow.name)), dataset_pks)


def _find_texts(
    session: Session, statement: Select[int | None, str], pks: Iterable[int | None]
) -> dict[int | None, str]:
    wanted = {pk for pk in pks if pk is not None}
    if not wanted:
        return {}
    rows = session.execute(statement.where(statement.selected_columns[0].in_(wanted)))
    return {pk: text for pk, text in rows}  # noqa: C416 - for mypy, a row is no pair


def find_rubric(session: Session, dataset_pk: int) -> RubricRow:
    """Return the latest version of the rubric. Every dataset has one from its creation."""
    statement = (
        select(RubricRow)
        .where(col(RubricRow.dataset_pk) == dataset_pk)
        .order_by(col(RubricRow.version).desc())
        .limit(1)
    )
    return session.scalars(statement).one()


def find_pair_pk(session: Session, dataset_pk: int, key: str) -> int | None:
    """Return the pair of this dataset with the key, or None. For leads: see `find_handed_out`."""
    pair = select(col(PairRow.pk)).where(col(PairRow.key) == key, col(PairRow.dataset_pk) == dataset_pk)
    return session.scalar(pair)


def find_named_pair(session: Session, dataset_pk: int, query_id: str, doc_id: str) -> PairRow | None:
    """Return the pair of a query and a document, by the ids that they have now, retired or not."""
    return session.scalars(
        select(PairRow)
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(
            col(PairRow.dataset_pk) == dataset_pk,
            col(QueryRow.query_id) == query_id,
            col(DocumentRow.doc_id) == doc_id,
        )
    ).first()


def find_handed_out(session: Session, dataset_pk: int, person_pk: int | None, key: str) -> int | None:
    """Return the pair_pk for a key from an annotator's browser, or None if the pair was not handed to them.

    The key belongs to a pair of this dataset, or to a repeat for this person.
    """
    values = {"dataset_pk": dataset_pk, "annotator_pk": person_pk or 0, "key": key}
    rows = fetch_tuples(session, _FIND_HANDED_OUT, values)
    return int(rows[0][0]) if rows else None


def to_rubric(row: RubricRow) -> Rubric:
    """Return a stored rubric version as a domain record."""
    return Rubric(
        grades=_to_grades(row.grades),
        guideline=row.guideline,
        title=row.title,
        language=row.language or "",
        translations=tuple(
            Rubric(
                _to_grades(texts["grades"]), texts["guideline"], texts["title"], language=texts["language"]
            )
            for texts in row.translations
        ),
    )


def make_rubric_row(
    dataset_pk: int, rubric: Rubric, version: int, *, now: datetime, **columns: Any
) -> RubricRow:
    """Return a new row for a version of a rubric. `columns`: `change`, `why`, `author_pk`."""
    translations = [{"language": texts.language, **_describe_texts(texts)} for texts in rubric.translations]
    texts = {**_describe_texts(rubric), "language": rubric.language or None, "translations": translations}
    return RubricRow.model_validate(
        {"dataset_pk": dataset_pk, "version": version, "created_at": now, **texts, **columns}
    )


def _describe_texts(rubric: Rubric) -> dict[str, Any]:
    return {
        "title": rubric.title,
        "guideline": rubric.guideline,
        "grades": [asdict(definition) for definition in rubric.grades],
    }


def _to_grades(entries: Sequence[Mapping[str, Any]]) -> tuple[GradeDefinition, ...]:
    return tuple(
        GradeDefinition(
            grade=entry["grade"],
            name=entry["name"],
            definition=entry["definition"],
            positive_examples=tuple(entry["positive_examples"]),
            negative_examples=tuple(entry["negative_examples"]),
        )
        for entry in entries
    )


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
