"""Read the state of every pair of a dataset, and which pairs quality control has reopened.

Reads a few hundred queries at a time. The list of pairs, the queue, the gates and releases all use this file,
so they cannot differ. The rules are in `domain/settling.py`, `storage/judgments/current_judgments.py`
(current) and this file (kept grades). Pairs that a remap retired have left the pool and are excluded. A
pair is reopened if a third expert's grade contradicts the settled one and no lead has decided at that time or
later. An answer that the expert takes back is no longer an error. Read once per dataset, since `quality_pair`
holds a small sample.

Read grades of an earlier ground truth, and suggestions for documents that got new ids. For leads and releases
only; never for an annotator. The same table holds grades suggested by rules of relations, and grades copied
from near duplicates. A grade is kept while `pair.kept` is set and the pair has no judgment
(`domain/settling.py`); all others are suggestions.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Select, func, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.ground_truth import Query
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.settling import Decided, Settlement, settle
from annotator.storage.judgments.missing_judgments import derive_lacking
from annotator.storage.lookup import key_of
from annotator.storage.pairs.disagreements import derive_disagreements, note_due
from annotator.storage.sql import (
    PreparedSql,
    add_rows,
    fetch_tuples,
    prepare_sql,
    read_json,
    read_time,
    split_into_chunks,
)
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import ImportedQrelRow, PairRow, QueryRow

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


class ExpertGrade(NamedTuple):
    """The grade of an expert of quality control, and when it was received."""

    grade: int
    answered_at: datetime


_ERRORS = """
SELECT x.pair_pk, x.grade, x.answered_at FROM quality_pair x JOIN quality_draw w ON w.pk = x.draw_pk
WHERE w.dataset_pk = :dataset_pk AND x.grade <> x.settled_grade {chosen} AND NOT EXISTS (
  SELECT 1 FROM current_adjudication a WHERE a.pair_pk = x.pair_pk AND a.decided_at >= x.answered_at)
ORDER BY x.answered_at, x.draw_pk"""
_OPEN_ERRORS = prepare_sql(_ERRORS.format(chosen=""))
_OPEN_ERRORS_OF = prepare_sql(_ERRORS.format(chosen="AND x.pair_pk IN :chosen"), lists=["chosen"])


def list_open_errors(
    session: Session, dataset_pk: int, pair_pks: Collection[int] | None = None
) -> dict[int, tuple[ExpertGrade, ...]]:
    """Return, by pair_pk, the errors that no lead has decided on since, the first one first.

    `pair_pks`: only of these few.
    """
    session.flush()
    statement = _OPEN_ERRORS if pair_pks is None else _OPEN_ERRORS_OF
    values = {"dataset_pk": dataset_pk, "chosen": sorted(pair_pks or ())}
    errors: dict[int, tuple[ExpertGrade, ...]] = {}
    for pair_pk, grade, answered_at in fetch_tuples(session, statement, values):
        errors[pair_pk] = (*errors.get(pair_pk, ()), ExpertGrade(grade, read_time(answered_at)))
    return errors


FEW = 500
QUERIES_AT_ONCE = 200
settle_again = lru_cache(4096)(settle)  # a million pairs have a few hundred different answers
_UNJUDGED: Mapping[int, int] = {}


def _by_pair_or_query(statement: str) -> dict[str, PreparedSql]:
    """Return {"pk" or "query_pk": the statement that selects pairs by this column}.

    `dataset_pk + 0` keeps SQLite from reading the whole dataset.
    """
    return {
        which: prepare_sql(statement.format(which=f"p.{which}"), lists=["chosen"])
        for which in ("pk", "query_pk")
    }


_PAIRS = _by_pair_or_query("""
SELECT q.position, p.query_pk, d.doc_id, p.pk, p.key, p.document_pk, q.query_id, q.category, p.lacking
FROM pair p CROSS JOIN query q CROSS JOIN document d
WHERE {which} IN :chosen AND p.dataset_pk + 0 = :dataset_pk AND p.retired_at IS NULL
  AND q.pk = p.query_pk AND d.pk = p.document_pk""")
_JUDGMENTS = _by_pair_or_query(f"""
SELECT c.pair_pk, c.annotator_pk, c.grade FROM pair p CROSS JOIN current_judgment c
WHERE {{which}} IN :chosen AND c.pair_pk = p.pk AND c.purpose = '{COUNTED_PURPOSE}' AND c.outcome <> 'later'""")
_DECISIONS = _by_pair_or_query("""
SELECT a.pair_pk, a.grade FROM pair p CROSS JOIN current_adjudication a
WHERE {which} IN :chosen AND a.pair_pk = p.pk""")


class PairState(NamedTuple):
    """A pair with its current independent judgments, the lead's decision, and the settlement.

    `grades`: grade by annotator_pk, in the order of annotator_pk. `unrateable`: the number of judgments
    "cannot be rated". `adjudicated`: the lead's valid decision. `imported`: the kept grade of an earlier
    ground truth. Quality-control judgments and put-off answers ("later") are excluded. `lacking`: the missing
    judgments, by `storage/judgments/missing_judgments.py`. `errors`: undecided errors that quality control
    found.
    """

    pair_pk: int
    key: str
    query_pk: int
    query_id: str
    document_pk: int
    doc_id: str
    category: str | None
    grades: Mapping[int, int]
    unrateable: int
    adjudicated: Decided | None
    settlement: Settlement
    imported: int | None = None
    lacking: int = 0
    errors: tuple[ExpertGrade, ...] = ()

    @property
    def contested_grade(self) -> int | None:
        """Return the grade from judgments and decisions, even if quality control has reopened the pair."""
        return settle_again(
            tuple(self.grades.values()), self.unrateable, self.adjudicated, self.imported
        ).grade


def iterate_pair_states(
    session: Session, dataset_pk: int, blind: Collection[int] = frozenset()
) -> Iterator[PairState]:
    """Yield the state of every pair, by query position, then doc_id in code point order.

    `blind`: pairs that the reader may still judge (`list_blind_pairs`); they are yielded as not judged.

    The order is the same on every database, whatever its collation. A chunk of queries is in memory at a
    time.
    """
    errors = list_open_errors(session, dataset_pk)
    for query_pks in split_into_chunks(list_query_pks(session, dataset_pk), QUERIES_AT_ONCE):
        states = _read_states(session, dataset_pk, "query_pk", query_pks, errors)
        yield from [_forget(state, blind) for state in states] if blind else states


def _forget(state: PairState, blind: Collection[int]) -> PairState:
    if state.pair_pk not in blind:
        return state
    return state._replace(
        grades=_UNJUDGED,
        unrateable=0,
        adjudicated=None,
        settlement=settle((), 0, None),
        imported=None,
        errors=(),
    )


def list_pair_states(
    session: Session, dataset_pk: int, pair_pks: Sequence[int] | None = None
) -> list[PairState]:
    """Return the state of every pair (or of these ones), in the order of `iterate_pair_states`."""
    if pair_pks is None:
        return list(iterate_pair_states(session, dataset_pk))
    some = set(pair_pks)
    if len(some) > FEW:
        return [state for state in iterate_pair_states(session, dataset_pk) if state.pair_pk in some]
    if not some:
        return []
    errors = list_open_errors(session, dataset_pk, some)
    return _read_states(session, dataset_pk, "pk", sorted(some), errors)


def list_query_pks(session: Session, dataset_pk: int) -> list[int]:
    """Return the keys of the dataset's queries, in the queries' order."""
    statement = select(col(QueryRow.pk)).where(col(QueryRow.dataset_pk) == dataset_pk)
    return [
        key_of(pk) for pk in session.scalars(statement.order_by(col(QueryRow.position), col(QueryRow.pk)))
    ]


def _read_states(
    session: Session,
    dataset_pk: int,
    which: str,
    chosen: Sequence[int],
    errors: Mapping[int, tuple[ExpertGrade, ...]],
) -> list[PairState]:
    """Return the states of the dataset's pairs with the column `which` in `chosen`, in order.

    `errors`: {pair_pk: errors}; it may include other pairs.
    """
    session.flush()
    values = {"dataset_pk": dataset_pk, "chosen": chosen}
    rows = fetch_tuples(session, _PAIRS[which], values)
    grades, unrateable = _gather(sorted(fetch_tuples(session, _JUDGMENTS[which], values)))
    decided = fetch_tuples(session, _DECISIONS[which], values)
    decisions: dict[int, Decided] = {pk: "unrateable" if grade is None else grade for pk, grade in decided}
    imports = list_kept_grades(session, dataset_pk, which, chosen)
    states = []
    make = tuple.__new__  # what the class's own call comes to, without its keywords
    for _, query_pk, doc_id, pk, key, document_pk, query_id, category, lacking in sorted(rows):
        given = grades.get(pk, _UNJUDGED)
        other, adjudicated, imported = unrateable.get(pk, 0), decisions.get(pk), imports.get(pk)
        open_errors = errors.get(pk, ())
        contrary = tuple([error.grade for error in open_errors]) if open_errors else ()
        settlement = settle_again(tuple(given.values()), other, adjudicated, imported, contrary)
        state = (
            pk,
            key,
            query_pk,
            query_id,
            document_pk,
            doc_id,
            category,
            given,
            other,
            adjudicated,
            settlement,
            imported,
            lacking,
            open_errors,
        )
        states.append(make(PairState, state))
    return states


def _gather(rows: Iterable[Any]) -> tuple[dict[int, dict[int, int]], dict[int, int]]:
    """Return ({pair_pk: {annotator_pk: grade}}, {pair_pk: number of "cannot be rated", if any}).

    `rows`: (pair_pk, annotator_pk, grade).
    """
    grades: dict[int, dict[int, int]] = {}
    unrateable: dict[int, int] = {}
    last, given = 0, dict[int, int]()
    for pair_pk, annotator_pk, grade in rows:
        if grade is None:
            unrateable[pair_pk] = unrateable.get(pair_pk, 0) + 1
        elif pair_pk == last:
            given[annotator_pk] = grade
        else:
            last, given = pair_pk, {annotator_pk: grade}
            grades[pair_pk] = given
    return grades, unrateable


def list_queries(session: Session, dataset_pk: int) -> dict[int, Query]:
    """Return the dataset's queries in their order, by query_pk."""
    session.flush()
    rows = fetch_tuples(session, _QUERIES, {"dataset_pk": dataset_pk})
    return {
        row[1]: Query(*(*row[2:10], {} if row[10] == "{}" else read_json(row[10])))
        for row in sorted(rows, key=itemgetter(0, 1))  # by position, then pk
    }


_QUERIES = prepare_sql("""
SELECT position, pk, query_id, text, category, language, query_type, difficulty, primary_domain, narrative, extra
FROM query WHERE dataset_pk = :dataset_pk""")


def read_queries(session: Session, query_pks: Sequence[int]) -> dict[int, Query]:
    columns = (
        col(QueryRow.pk),
        col(QueryRow.query_id),
        col(QueryRow.text),
        col(QueryRow.category),
        col(QueryRow.language),
        col(QueryRow.query_type),
        col(QueryRow.difficulty),
        col(QueryRow.primary_domain),
        col(QueryRow.narrative),
        col(QueryRow.extra),
    )
    rows: Any = session.execute(select(*columns).where(col(QueryRow.pk).in_(query_pks)))
    return {pk: Query(*values) for pk, *values in rows}
