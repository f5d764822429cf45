"""Read grades of an earlier ground truth, and suggestions for documents that got new ids.

For leads and releases only; never for an annotator. The same table holds grades suggested by rules of
relations, and grades copied from near duplicates. A grade is kept while `pair.kept` is set and the pair has
no judgment (`domain/settling.py`); all others are suggestions.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.judgments.missing_judgments import derive_lacking
from annotator.storage.lookup import key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.pairs.impact_scores import note_due
from annotator.storage.sql import add_rows, fetch_tuples, split_into_chunks
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import ImportedQrelRow, PairRow

CHUNK = 500
RELATION = "relation"
IS_BY_RELATION: ColumnElement[bool] = (
    func.coalesce(col(ImportedQrelRow.source)["kind"].as_string(), "") == RELATION
)
"""Whether a rule of relations suggested the grade."""
_KEPT = (col(PairRow.kept), col(PairRow.retired_at).is_(None), col(ImportedQrelRow.keep))


@dataclass(frozen=True, slots=True)
class ImportedQrel:
    """An imported grade (0-3), with its primary key and its pair's.

    `source`: {"kind": "qrels", path, format, sha256, origin[, place]}, {"kind": "remap", old_doc_id, …},
    {"kind": "relation", rule, relation, from, pairs} or {"kind": "near_duplicate", of, of_pair, rule, round,
    accepted_by}. `annotator_grades`: [name, grade] of each annotator that the file names.
    """

    pk: int
    pair_pk: int
    grade: int
    keep: bool
    source: Mapping[str, Any]
    description: str | None
    note: str | None
    annotator_grades: tuple[tuple[str, int], ...]
    extra: Mapping[str, Any]
    imported_at: datetime
    import_record_pk: int | None = None

    @property
    def place(self) -> int | None:
        """The document's position in the file's list, from 1; None if the order has no meaning."""
        return self.source.get("place")


_COLUMNS = [ImportedQrelRow.__table__.c[field.name] for field in fields(ImportedQrel)]  # type: ignore[attr-defined]


def list_imported_ranks(session: Session, dataset_pk: int, query_pks: Sequence[int]) -> dict[int, int]:
    """Return, by pair_pk, the rank that an earlier ground truth gave each pair in its query's list, from 1.

    The latest import counts, whether or not its grade holds. Pairs without a rank are absent.
    """
    list_place = col(ImportedQrelRow.source)["place"].as_integer()
    statement = (
        select(col(ImportedQrelRow.pair_pk), list_place)
        .join(PairRow, col(PairRow.pk) == col(ImportedQrelRow.pair_pk))
        .where(_is_of(dataset_pk, whole=False), col(PairRow.query_pk).in_(query_pks), list_place.is_not(None))
        .order_by(col(ImportedQrelRow.pk))
    )
    rows: Any = session.execute(statement)
    return dict(rows.all())


def list_kept_imports(
    session: Session, dataset_pk: int, query_pks: Sequence[int] | None = None
) -> dict[int, ImportedQrel]:
    """Return {pair_pk: kept grade}, the latest kept import of each pair. Excludes retired pairs.

    `query_pks`: only of these queries. Includes pairs that have a judgment since: `settle` decides which one
    holds.
    """
    return _list_latest(
        session, _select_imported(dataset_pk, whole=query_pks is None).where(*_KEPT), query_pks
    )


def list_kept_grades(
    session: Session, dataset_pk: int, which: str | None = None, chosen: Sequence[int] = ()
) -> dict[int, int]:
    """Return {pair_pk: kept grade}. `which`: only where this column ("pk" or "query_pk") is in `chosen`."""
    statement = (
        select(col(ImportedQrelRow.pair_pk), col(ImportedQrelRow.grade))
        .join(PairRow, col(PairRow.pk) == col(ImportedQrelRow.pair_pk))
        .where(_is_of(dataset_pk, whole=which is None), *_KEPT)
        .order_by(col(ImportedQrelRow.pk))
    )
    if which is not None:
        statement = statement.where(PairRow.__table__.c[which].in_(chosen))  # type: ignore[attr-defined]
    return dict(fetch_tuples(session, statement))


def list_suggestions(
    session: Session, dataset_pk: int, query_pks: Sequence[int] | None = None
) -> dict[int, ImportedQrel]:
    """Return {pair_pk: latest imported grade} of the pairs without a kept grade. For leads only.

    Excludes the suggestions of rules of relations (`pooling/suggestions/suggestions_service.py`): no person gave
    these.
    """
    statement = _select_imported(dataset_pk, whole=query_pks is None).where(
        ~col(PairRow.kept), col(PairRow.retired_at).is_(None), ~IS_BY_RELATION
    )
    return _list_latest(session, statement, query_pks)


def list_known_qrels(session: Session, dataset_pk: int) -> dict[int, ImportedQrel]:
    """Return {pair_pk: latest grade from `import qrels`}, kept or not."""
    qrels_by_pair: dict[int, ImportedQrel] = {}
    for row in session.execute(_select_imported(dataset_pk)):
        if row.source.get("kind") == "qrels":
            qrels_by_pair[row.pair_pk] = _record(row)
    return qrels_by_pair


def list_judged(session: Session, dataset_pk: int) -> set[int]:
    """Return the pairs with a judgment or a decision. An imported grade does not settle these."""
    pairs = select(col(PairRow.pk)).where(col(PairRow.dataset_pk) == dataset_pk)
    decided = pairs.join(AdjudicationRow, col(AdjudicationRow.pair_pk) == col(PairRow.pk))
    judged = pairs.where(col(PairRow.judged) > 0)
    return {key_of(pk) for statement in (judged, decided) for pk in session.scalars(statement)}


def bring_in(
    session: Session,
    dataset_pk: int,
    rows: Sequence[Mapping[str, Any]],
    *,
    new: Collection[int] = (),
    query_pks: Collection[int] = (),
) -> None:
    """Append the rows of `import qrels`, and keep the pairs' grades or open the pairs, as each row says.

    `new`: pairs that were added for these grades and are kept already. They have no judgments, so nothing
    else changes. `query_pks`: their queries.
    """
    add_suggestions(session, rows)
    for keep in (True, False):
        pairs = [row["pair_pk"] for row in rows if row["keep"] is keep and row["pair_pk"] not in new]
        for chunk in split_into_chunks(pairs, CHUNK):
            change = update(PairRow).where(col(PairRow.pk).in_(chunk)).values(kept=keep)
            session.execute(change.execution_options(synchronize_session=False))
    pair_pks = [row["pair_pk"] for row in rows if row["pair_pk"] not in new]
    derive_lacking(session, dataset_pk, pair_pks)
    derive_disagreements(session, dataset_pk, pair_pks)
    note_due(session, query_pks)


def add_suggestions(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append grades without a change to their pairs; each row holds pair_pk, grade, keep, source,
    description, note, annotator_grades, extra, imported_at."""
    add_rows(session, ImportedQrelRow, rows)


def _is_of(dataset_pk: int, *, whole: bool) -> ColumnElement[bool]:
    """Return the condition that a pair belongs to the dataset.

    For a part of the dataset it uses no index: SQLite would read the whole dataset to find the part.
    """
    return (col(PairRow.dataset_pk) if whole else col(PairRow.dataset_pk) + 0) == dataset_pk


def _select_imported(dataset_pk: int, *, whole: bool = True) -> Select[Any]:
    return (
        select(*_COLUMNS)
        .join(PairRow, col(PairRow.pk) == col(ImportedQrelRow.pair_pk))
        .where(_is_of(dataset_pk, whole=whole))
        .order_by(col(ImportedQrelRow.pk))
    )


def _list_latest(
    session: Session, statement: Select[Any], query_pks: Sequence[int] | None
) -> dict[int, ImportedQrel]:
    qrels_by_pair: dict[int, ImportedQrel] = {}
    if query_pks is None:
        chunks = [statement]
    else:
        chunks = [
            statement.where(col(PairRow.query_pk).in_(some)) for some in split_into_chunks(query_pks, CHUNK)
        ]
    for chunk in chunks:
        qrels_by_pair.update((row.pair_pk, _record(row)) for row in session.execute(chunk))
    return qrels_by_pair


def _record(row: Row[Any]) -> ImportedQrel:
    grades = tuple((name, grade) for name, grade in row.annotator_grades)
    return ImportedQrel(**{**row._mapping, "annotator_grades": grades})
