"""Read and store releases, and read what a release says of the whole dataset. Pairs are read by `judged_sql.py`.

Orders do not depend on a database's collation.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, TextClause, exists, func, insert, select, text
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.releases.records import Participant, PoolSystem, PublishedQrel
from annotator.storage.judgments.outdated import OLDER_GUIDELINE, OLDER_TEXT, write_stale
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_states import list_open_errors
from annotator.storage.sql import add_tuples, fetch_tuples, holds_any, prepare_sql
from annotator.storage.tables.adjudication import AdjudicationRow, CurrentAdjudicationRow, QualityDrawRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    ProvenanceRow,
    RubricRow,
)
from annotator.storage.tables.releases import PseudonymRow, ReleaseQrelRow, ReleaseQueryRow, ReleaseRow

if TYPE_CHECKING:
    from annotator.storage.pairs.pair_settlements import Ints

QUERY_COLUMNS = ("position", "query_id", "text")
QREL_COLUMNS = ("position", *PublishedQrel._fields)


class RecordedFolder(NamedTuple):
    """A release as its folder is known: `exports/<dataset>/<version>` with this text of SHA256SUMS."""

    dataset: str
    version: str
    sums: str


def list_participants(session: Session, person_pks: Collection[int]) -> list[Participant]:
    """Return these people."""
    statement = select(col(PersonRow.pk), col(PersonRow.username), col(PersonRow.simulated))
    rows = session.execute(statement.where(col(PersonRow.pk).in_(sorted(person_pks))))
    return [Participant(key_of(pk), username, simulated) for pk, username, simulated in rows]


def list_secrets(session: Session, dataset_pk: int) -> dict[int, str]:
    """Return the smallest event id, in code point order, of everybody who has a current judgment, by person_pk.

    Event ids are never published.
    """
    postgresql = session.get_bind().dialect.name == "postgresql"
    smallest = func.min(col(JudgmentRow.event_id).collate("C" if postgresql else "BINARY"))
    statement = (
        select(col(JudgmentRow.annotator_pk), smallest)
        .join(CurrentJudgmentRow, col(CurrentJudgmentRow.judgment_pk) == col(JudgmentRow.pk))
        .where(col(CurrentJudgmentRow.dataset_pk) == dataset_pk, col(CurrentJudgmentRow.outcome) != "later")
        .group_by(col(JudgmentRow.annotator_pk))
    )
    rows: Any = session.execute(statement)
    return dict(rows.all())


def list_checkers(session: Session, dataset_pk: int) -> set[int]:
    """Return the person_pks of everybody who drew pairs for quality control or got some."""
    statement = select(col(QualityDrawRow.annotator_pk), col(QualityDrawRow.drawn_by_pk))
    rows = session.execute(statement.where(col(QualityDrawRow.dataset_pk) == dataset_pk))
    return {pk for row in rows for pk in row if pk is not None}


def count_decisions(session: Session, dataset_pk: int) -> dict[int, int]:
    """Count the decisions that hold, by the lead's person_pk. A pair that quality control reopened has none."""
    lead_pk = col(CurrentAdjudicationRow.lead_pk)
    statement = (
        select(lead_pk, func.count())
        .join(PairRow, col(PairRow.pk) == col(CurrentAdjudicationRow.pair_pk))
        .where(col(CurrentAdjudicationRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
    )
    rows: Any = session.execute(statement.group_by(lead_pk))
    decisions = Counter(dict(rows.all()))
    errors = list_open_errors(session, dataset_pk)
    for pair_pk, last in list_current_adjudications(session, dataset_pk, list(errors)).items():
        decisions[last.lead_pk] -= any(error.grade != last.grade for error in errors[pair_pk])
    return dict(+decisions)


def list_systems(session: Session, dataset_pk: int) -> list[PoolSystem]:
    """Return the systems that put pairs into the pool, by name in code point order."""
    rank = col(ProvenanceRow.rank)
    statement = (
        select(col(ProvenanceRow.system), func.count(), func.min(rank), func.max(rank))
        .join(PairRow, col(PairRow.pk) == col(ProvenanceRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
        .group_by(col(ProvenanceRow.system))
    )
    return sorted(PoolSystem(*row) for row in session.execute(statement))


def list_rubric_versions(session: Session, dataset_pk: int) -> list[tuple[int, str]]:
    """Return version and change ("minor", "semantic") of every rubric, oldest first."""
    statement = select(col(RubricRow.version), col(RubricRow.change))
    rows: Any = session.execute(statement.where(col(RubricRow.dataset_pk) == dataset_pk))
    return sorted((version, change) for version, change in rows)


def list_old_judgments(session: Session, dataset_pk: int) -> dict[int, int]:
    """Return, by pair_pk, the lowest guideline version under which an independent grade was given, where it is outdated.

    Outdated: a later version has changed what a grade means.
    """
    version = func.min(col(RubricRow.version))
    statement = (
        select(col(CurrentJudgmentRow.pair_pk), version)
        .join(JudgmentRow, col(JudgmentRow.pk) == col(CurrentJudgmentRow.judgment_pk))
        .join(RubricRow, col(RubricRow.pk) == col(JudgmentRow.rubric_pk))
        .where(*_counted(session, dataset_pk, OLDER_GUIDELINE))
        .group_by(col(CurrentJudgmentRow.pair_pk))
    )
    rows: Any = session.execute(statement)
    return dict(rows.all())


def list_judged_on_older_text(session: Session, dataset_pk: int) -> set[int]:
    """Return the pairs (pair_pk) with an independent grade that was given on an older text of the document."""
    statement = select(col(CurrentJudgmentRow.pair_pk)).where(*_counted(session, dataset_pk, OLDER_TEXT))
    return set(session.scalars(statement))


def list_decided_on_older_text(session: Session, dataset_pk: int) -> set[int]:
    """Return the pair_pks with a latest decision on an older text of the document."""
    present, before = aliased(DocumentTextRow), aliased(DocumentTextRow)
    decided_at = col(CurrentAdjudicationRow.decided_at)
    had_another = exists().where(
        col(before.document_pk) == col(present.document_pk), col(before.imported_at) <= decided_at
    )
    changed = (
        select(col(DocumentTextRow.document_pk))
        .group_by(col(DocumentTextRow.document_pk))
        .having(func.count() > 1)  # nearly none: looking at these alone is much faster than at every decision
    )
    statement = (
        select(col(PairRow.pk))
        .join(CurrentAdjudicationRow, col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .join(
            present,
            (col(present.document_pk) == col(DocumentRow.pk))
            & (col(present.sha256) == col(DocumentRow.text_sha256)),
        )
        .where(
            col(PairRow.dataset_pk) + 0 == dataset_pk,
            col(PairRow.document_pk).in_(changed),
            col(present.imported_at) > decided_at,
            had_another,
        )
    )
    return {key_of(pk) for pk in session.scalars(statement)}


def _counted(session: Session, dataset_pk: int, flag: int) -> tuple[ColumnElement[bool] | TextClause, ...]:
    """Return the conditions for current grades that settle pairs and have this flag of `current_judgment.stale`."""
    stale = write_stale(session, dataset_pk, "current_judgment")
    return (
        col(CurrentJudgmentRow.dataset_pk) == dataset_pk,
        text(f"{stale} IN ({flag}, {OLDER_GUIDELINE | OLDER_TEXT}) AND {stale} > 0"),
        col(CurrentJudgmentRow.purpose) == COUNTED_PURPOSE,
        col(CurrentJudgmentRow.outcome) == "graded",
    )


def list_decision_versions(session: Session, dataset_pk: int) -> dict[int, int]:
    """Return the guideline version of the decision that holds, by pair_pk."""
    statement = (
        select(col(AdjudicationRow.pair_pk), col(RubricRow.version))
        .join(CurrentAdjudicationRow, col(CurrentAdjudicationRow.adjudication_pk) == col(AdjudicationRow.pk))
        .join(RubricRow, col(RubricRow.pk) == col(AdjudicationRow.rubric_pk))
        .where(col(CurrentAdjudicationRow.dataset_pk) == dataset_pk)
    )
    rows: Any = session.execute(statement)
    return dict(rows.all())


def list_pseudonyms(session: Session, dataset_pk: int) -> dict[int, int]:
    """Return the pseudonym numbers given so far, by person_pk."""
    statement = select(col(PseudonymRow.person_pk), col(PseudonymRow.number))
    rows: Any = session.execute(statement.where(col(PseudonymRow.dataset_pk) == dataset_pk))
    return dict(rows.all())


def list_releases_of_dataset(session: Session, dataset_pk: int) -> list[ReleaseRow]:
    """Return the releases in the order in which they were published."""
    statement = select(ReleaseRow).where(col(ReleaseRow.dataset_pk) == dataset_pk)
    return list(session.scalars(statement.order_by(col(ReleaseRow.pk))))


def find_latest_release(session: Session, dataset_pk: int) -> ReleaseRow | None:
    """Return the release that was published last, None before the first."""
    statement = select(ReleaseRow).where(col(ReleaseRow.dataset_pk) == dataset_pk)
    return session.scalars(statement.order_by(col(ReleaseRow.pk).desc()).limit(1)).first()


def list_versions(session: Session, dataset_pk: int) -> list[str]:
    """Return the published versions in the order of publishing, without the manifests."""
    statement = select(col(ReleaseRow.version)).where(col(ReleaseRow.dataset_pk) == dataset_pk)
    return list(session.scalars(statement.order_by(col(ReleaseRow.pk))))


def find_sums(session: Session, dataset_pk: int, version: str) -> str | None:
    """Return the text of a release's SHA256SUMS, None if the version is not published."""
    return session.scalar(
        select(col(ReleaseRow.sums)).where(
            col(ReleaseRow.dataset_pk) == dataset_pk, col(ReleaseRow.version) == version
        )
    )


def list_recorded_folders(session: Session) -> list[RecordedFolder]:
    """Return the names and checksums that identify the folder of every release."""
    rows = session.execute(
        select(col(DatasetRow.name), col(ReleaseRow.version), col(ReleaseRow.sums))
        .join(DatasetRow, col(DatasetRow.pk) == col(ReleaseRow.dataset_pk))
        .order_by(col(ReleaseRow.pk))
    )
    return [RecordedFolder(dataset, version, sums) for dataset, version, sums in rows]


def list_dataset_names(session: Session) -> list[str]:
    """Return the names of all datasets, oldest first."""
    return list(session.scalars(select(col(DatasetRow.name)).order_by(col(DatasetRow.pk))))


_PUBLISHED_PAIRS = prepare_sql("""
SELECT p.pk, r.grade FROM release_qrel r
JOIN query q ON q.dataset_pk = :dataset_pk AND q.query_id = r.query_id
JOIN document d ON d.dataset_pk = :dataset_pk AND d.doc_id = r.doc_id
JOIN pair p ON p.query_pk = q.pk AND p.document_pk = d.pk
WHERE r.release_pk = :release_pk""")


def is_published(session: Session, dataset_pk: int, release_pk: int, pair: "Ints", grade: "Ints") -> bool:
    """Return whether a release contains exactly these grades. `pair`: ascending pair_pks; `grade`: -1 for no grade.

    Compares the count of each grade first, which nearly always shows a difference, and every pair only if these agree.
    """
    import numpy as np

    statement = select(col(ReleaseQrelRow.grade), func.count()).where(
        col(ReleaseQrelRow.release_pk) == release_pk
    )
    rows: Any = session.execute(statement.group_by(col(ReleaseQrelRow.grade)))
    settled = grade >= 0
    grades, counts = np.unique(grade[settled], return_counts=True)
    if dict(rows.all()) != dict(zip(grades.tolist(), counts.tolist(), strict=True)):
        return False
    values = {"dataset_pk": dataset_pk, "release_pk": release_pk}
    published = np.array(fetch_tuples(session, _PUBLISHED_PAIRS, values), dtype=np.int64).reshape(-1, 2)
    published = published[np.argsort(published[:, 0])]
    return bool(
        np.array_equal(published[:, 0], pair[settled]) and np.array_equal(published[:, 1], grade[settled])
    )


def add_pseudonyms(session: Session, dataset_pk: int, numbers: Mapping[int, int]) -> None:
    """Store pseudonym numbers. They are never changed."""
    rows = [
        {"dataset_pk": dataset_pk, "person_pk": person_pk, "number": number}
        for person_pk, number in numbers.items()
    ]
    if rows:
        session.execute(insert(PseudonymRow), rows)


def add_release(
    session: Session,
    release: ReleaseRow,
    queries: Iterable[Sequence[Sequence[Any]]],
    qrels: Iterable[Sequence[Sequence[Any]]],
) -> None:
    """Store a release with its queries and qrels, in the order in which they were published.

    Both come in chunks of rows: QUERY_COLUMNS and QREL_COLUMNS.
    """
    session.add(release)
    session.flush()
    release_pk = key_of(release.pk)
    for chunk in queries:
        add_rows_of_release(session, ReleaseQueryRow, release_pk, chunk)
    for chunk in qrels:
        add_rows_of_release(session, ReleaseQrelRow, release_pk, chunk)


def add_rows_of_release(
    session: Session,
    row_class: type[ReleaseQueryRow] | type[ReleaseQrelRow],
    release_pk: int,
    rows: Sequence[Sequence[Any]],
) -> None:
    """Insert queries or qrels of a release: QUERY_COLUMNS or QREL_COLUMNS, numbers and texts that need no preparing."""
    columns = QUERY_COLUMNS if row_class is ReleaseQueryRow else QREL_COLUMNS
    add_tuples(session, row_class, ("release_pk", *columns), [(release_pk, *row) for row in rows])


def list_unwritable_documents(session: Session, dataset_pk: int) -> dict[int, str]:
    """Return, by pair_pk, the doc_ids in the pool that some format may not hold (see `trec.SEPARATORS`)."""
    from annotator.formats.trec import SEPARATORS

    statement = (
        select(col(PairRow.pk), col(DocumentRow.doc_id))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
        .where(holds_any(session, col(DocumentRow.doc_id), SEPARATORS))
        .order_by(col(DocumentRow.doc_id))
    )
    return {key_of(pk): doc_id for pk, doc_id in session.execute(statement)}


def list_current_adjudications(
    session: Session, dataset_pk: int, pair_pks: Sequence[int] | None = None
) -> Mapping[int, AdjudicationRow]:
    """Return the current adjudication of each pair that has one, by pair_pk."""
    statement = (
        select(AdjudicationRow)
        .join(CurrentAdjudicationRow, col(CurrentAdjudicationRow.adjudication_pk) == col(AdjudicationRow.pk))
        .where(col(CurrentAdjudicationRow.dataset_pk) == dataset_pk)
        .order_by(col(AdjudicationRow.pair_pk))
    )
    if pair_pks is not None:
        statement = statement.where(col(AdjudicationRow.pair_pk).in_(pair_pks))
    return {row.pair_pk: row for row in session.scalars(statement)}
