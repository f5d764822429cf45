"""Read from the database what an evaluation needs: truths, imported runs, grades by annotator."""

import json
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.domain.messages import join_first, say
from annotator.evaluation.dataset_analysis.robustness import PairGrades
from annotator.evaluation.records import Order, RankedRun
from annotator.evaluation.scores.ranking import ResultColumns, note_ties, order_columns
from annotator.storage.judgments.current_judgments import LATEST
from annotator.storage.logs.disclosures import is_listed
from annotator.storage.pairs.document_text import TEXT_IS_PRESENT
from annotator.storage.pairs.pair_settlements import read_settlements
from annotator.storage.pairs.pair_states import iterate_pair_states, list_queries
from annotator.storage.sql import fetch, fetch_tuples, prepare_sql, read_json
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, PairRow, QueryRow
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseRow


class ImportedRun(NamedTuple):
    """An imported run. `query_signals`: by query_id, the fields of its file that belong to a whole answer.

    `import_figures`: the figures of its import record, None without a record.
    """

    pk: int
    system: str
    query_signals: Mapping[str, Mapping[str, object]]
    import_figures: Mapping[str, Any] | None


_PEOPLE = prepare_sql("SELECT pk, username FROM person")
_RUNS = prepare_sql(
    "SELECT r.pk, r.system, r.query_signals, i.figures AS import_figures FROM run r LEFT JOIN import_record i ON i.pk = r.import_record_pk "
    "WHERE r.dataset_pk = :dataset_pk ORDER BY r.pk"
)
_ENTRIES = prepare_sql(
    "SELECT e.query_pk, e.document_pk, e.rank, e.score FROM run_entry e WHERE e.run_pk = :run_pk ORDER BY e.query_pk, e.rank"
)
_HAS_SIGNALS = prepare_sql(
    "SELECT 1 FROM run_entry e WHERE e.run_pk = :run_pk AND CAST(e.signals AS TEXT) NOT IN ('{}', 'null') LIMIT 1"
)
_SIGNALS = prepare_sql(
    "SELECT e.signals FROM run_entry e WHERE e.run_pk = :run_pk ORDER BY e.query_pk, e.rank"
)
_DOCUMENT_FIELDS = prepare_sql(
    "SELECT doc_id, extra FROM document WHERE dataset_pk = :dataset_pk AND CAST(extra AS TEXT) LIKE :pattern"
)
_DOC_IDS = prepare_sql(
    "SELECT DISTINCT d.pk, d.doc_id FROM run_entry e JOIN document d ON d.pk = e.document_pk WHERE e.run_pk = :run_pk"
)


_STAMP = prepare_sql(f"""
SELECT {LATEST}, (SELECT coalesce(max(pk), 0) FROM adjudication),
  (SELECT coalesce(max(pk), 0) FROM imported_qrel), (SELECT coalesce(max(pk), 0) FROM remap),
  (SELECT coalesce(max(pk), 0) FROM import_record), (SELECT coalesce(max(pk), 0) FROM "release"),
  (SELECT coalesce(max(pk), 0) FROM query), (SELECT coalesce(max(pk), 0) FROM run), d.name
FROM dataset d WHERE d.pk = :dataset_pk
""")
_RESULTS_OF_QUERY = prepare_sql("""
SELECT r.system, e.document_pk, d.doc_id, d.title, e.rank, e.score FROM run r
JOIN run_entry e ON e.run_pk = r.pk JOIN document d ON d.pk = e.document_pk
WHERE r.dataset_pk = :dataset_pk AND e.query_pk = :query_pk ORDER BY r.pk, e.rank""")


def read_evaluation_stamp(session: Session, dataset_pk: int) -> Hashable:
    """Return a value that changes with the grades, the runs, the queries and the releases."""
    session.flush()
    (stamp,) = fetch_tuples(session, _STAMP, {"dataset_pk": dataset_pk})
    return (*stamp, tuple(tuple(row) for row in fetch_tuples(session, _PEOPLE, {})))


def list_versions(session: Session, dataset_pk: int) -> list[str]:
    """Return the versions of the releases, oldest first."""
    statement = select(col(ReleaseRow.version)).where(col(ReleaseRow.dataset_pk) == dataset_pk)
    return list(session.scalars(statement.order_by(col(ReleaseRow.pk))))


class ListedResult(NamedTuple):
    """A result of a system for one query, with the rank and score of its file."""

    system: str
    document_pk: int
    doc_id: str
    title: str
    rank: int
    score: float | None


def list_results_of_query(
    session: Session, dataset_pk: int, query_pk: int, order: Order
) -> dict[str, list[ListedResult]]:
    """Return {system: results for the query, best first}, systems in the order of their import."""
    by_system: dict[str, list[ListedResult]] = {}
    values = {"dataset_pk": dataset_pk, "query_pk": query_pk}
    for result in fetch(session, _RESULTS_OF_QUERY, ListedResult, values):
        by_system.setdefault(result.system, []).append(result)
    return {system: _order_results(results, order) for system, results in by_system.items()}


def _order_results(results: list[ListedResult], order: Order) -> list[ListedResult]:
    columns = ResultColumns(
        query_ids=("",),
        queries=np.zeros(len(results), dtype=np.int64),
        doc_ids=[result.doc_id for result in results],
        documents=np.arange(len(results), dtype=np.int64),
        scores=np.array(
            [np.nan if result.score is None else result.score for result in results], dtype=np.float64
        ),
        ranks=np.array([result.rank for result in results], dtype=np.int64),
    )
    return [results[row] for row in order_columns(columns, order).rows.tolist()]


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of the dataset with the beginning of its text. `text` None: only the id is known."""

    doc_id: str
    title: str
    url: str | None
    media_type: str
    text: str | None


def find_ranked_document(
    session: Session, dataset_pk: int, doc_id: str, *, characters: int
) -> RankedDocument | None:
    """Return the document with the first `characters` of its text, or None."""
    statement = (
        select(
            col(DocumentRow.doc_id),
            col(DocumentRow.title),
            col(DocumentRow.url),
            col(DocumentRow.media_type),
            func.substr(col(DocumentTextRow.text), 1, characters),
        )
        .outerjoin(DocumentTextRow, TEXT_IS_PRESENT)
        .where(col(DocumentRow.dataset_pk) == dataset_pk, col(DocumentRow.doc_id) == doc_id)
    )
    row = session.execute(statement).first()
    return None if row is None else RankedDocument(*row)


def list_imported_runs(session: Session, dataset_pk: int) -> list[ImportedRun]:
    """Return the imported runs in the order of their import."""
    return fetch(session, _RUNS, ImportedRun, {"dataset_pk": dataset_pk})


def choose_imported_runs(
    session: Session, dataset_pk: int, dataset: str, systems: Sequence[str]
) -> list[ImportedRun]:
    """Return the imported runs of these systems; empty `systems`: all.

    Raises ValidationError if no run is imported, and NotFound for a system without a run.
    """
    stored = {run.system: run for run in list_imported_runs(session, dataset_pk)}
    if not stored:
        raise ValidationError(say("{dataset} has no runs yet. Import a run first.", dataset=dataset))
    missing = [system for system in systems if system not in stored]
    if missing:
        raise NotFound(
            say(
                "There is no system {system!r}. Choose one of: {names}",
                system=missing[0],
                names=join_first(list(stored)),
            )
        )
    return [stored[system] for system in systems or stored]


def read_imported_run(
    session: Session,
    run: ImportedRun,
    query_ids: Mapping[int, str],
    order: Order,
    *,
    with_signals: bool = False,
) -> RankedRun:
    """Return an imported run, results in order, with the document ids of today.

    `query_ids`: by query_pk. `with_signals`: also read the fields that results carry in the file.
    """
    rows = fetch_tuples(session, _ENTRIES, {"run_pk": run.pk})
    names: dict[int, str] = dict(fetch_tuples(session, _DOC_IDS, {"run_pk": run.pk}))
    query_codes: dict[int, int] = {}
    document_codes: dict[int, int] = {}
    queries = [query_codes.setdefault(row[0], len(query_codes)) for row in rows]
    documents = [document_codes.setdefault(row[1], len(document_codes)) for row in rows]
    columns = ResultColumns(
        [query_ids[pk] for pk in query_codes],
        np.array(queries, dtype=np.int64),
        [names[pk] for pk in document_codes],
        np.array(documents, dtype=np.int64),
        np.array([np.nan if row[3] is None else row[3] for row in rows], dtype=np.float64),
        np.array([row[2] for row in rows], dtype=np.int64),
    )
    ordered = order_columns(columns, order)
    signals = _read_signals(session, run) if with_signals else []
    latencies = {
        query_id: float(latency)
        for query_id, signals in run.query_signals.items()
        if isinstance(latency := signals.get("latency_ms"), int | float)
    }
    return RankedRun(
        run.system,
        tuple(columns.query_ids[code] for code in ordered.queries.tolist()),
        ordered.starts,
        columns.doc_ids,
        columns.documents[ordered.rows].astype(np.int32),
        scores=columns.scores[ordered.rows],
        latency_ms=latencies,
        signals=[signals[row] for row in ordered.rows.tolist()] if signals else (),
        query_signals=run.query_signals,
        contradictions=ordered.contradictions,
        notes=tuple(note_ties((run.import_figures or {}).get("reordered_ties", 0))),
    )


def _read_signals(session: Session, run: ImportedRun) -> list[Mapping[str, Any]]:
    """Return the signals of each result in the order of `_ENTRIES`; [] if no result has any."""
    if not fetch_tuples(session, _HAS_SIGNALS, {"run_pk": run.pk}):
        return []
    return [read_json(signals) or {} for (signals,) in fetch_tuples(session, _SIGNALS, {"run_pk": run.pk})]


def read_document_fields(session: Session, dataset_pk: int, name: str) -> dict[str, Mapping[str, Any]]:
    """Return {doc_id: fields} of the documents that have the field `name`."""
    pattern = f"%{json.dumps(name)}%"
    rows = fetch_tuples(session, _DOCUMENT_FIELDS, {"dataset_pk": dataset_pk, "pattern": pattern})
    return {doc_id: read_json(extra) for doc_id, extra in rows}


def read_present_truth(session: Session, dataset_pk: int) -> tuple[GroundTruth, list[PairGrades]]:
    """Return the settled grades of today, and for each settled pair the annotators' grades by username."""
    names: dict[int, str] = dict(fetch_tuples(session, _PEOPLE, {}))
    qrels: list[Qrel] = []
    pairs: list[PairGrades] = []
    for state in iterate_pair_states(session, dataset_pk):
        grade = state.settlement.grade
        if grade is not None:
            qrels.append(Qrel(state.query_id, state.doc_id, grade))
            given = {names[pk]: value for pk, value in state.grades.items()}
            pairs.append(PairGrades(state.query_id, state.doc_id, grade, given))
    return GroundTruth(queries=tuple(list_queries(session, dataset_pk).values()), qrels=tuple(qrels)), pairs


def list_query_ids_of_pairs(session: Session, pair_pks: Collection[int]) -> frozenset[str]:
    """Return the query_ids of these pairs."""
    statement = select(col(QueryRow.query_id)).join(PairRow, col(PairRow.query_pk) == col(QueryRow.pk))
    return frozenset(
        session.scalars(statement.where(is_listed(session, col(PairRow.pk), pair_pks)).distinct())
    )


def list_pairs_of_other_queries(
    session: Session, dataset_pk: int, pair_pks: Collection[int], query_ids: Collection[str]
) -> list[int]:
    """Return the pairs that do not belong to any of these queries."""
    statement = (
        select(col(PairRow.pk), col(QueryRow.query_id))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk)
    )
    kept = set(pair_pks)
    return [pk for pk, query_id in session.execute(statement) if pk in kept and query_id not in query_ids]


_NAMES = prepare_sql("""
SELECT p.pk, q.query_id, d.doc_id FROM pair p JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
WHERE p.dataset_pk = :dataset_pk AND p.retired_at IS NULL""")


def read_settled_truth(session: Session, dataset_pk: int) -> GroundTruth:
    """Return the settled grades of today. The pairs have no particular order."""
    settled = read_settlements(session, dataset_pk)
    grades: dict[int, int] = dict(zip(settled.pair.tolist(), settled.map_settled().tolist(), strict=True))
    qrels = tuple(
        Qrel(query_id, doc_id, grades[pk])
        for pk, query_id, doc_id in fetch_tuples(session, _NAMES, {"dataset_pk": dataset_pk})
        if grades[pk] >= 0
    )
    return GroundTruth(queries=tuple(list_queries(session, dataset_pk).values()), qrels=qrels)


def read_published_truth(
    session: Session, dataset_pk: int, release_pk: int, texts: Mapping[str, str | None]
) -> GroundTruth:
    """Return the grades of a release. `texts`: published texts by query_id; other fields are of today."""
    by_id = {query.query_id: query for query in list_queries(session, dataset_pk).values()}
    rows = session.execute(
        select(col(ReleaseQrelRow.query_id), col(ReleaseQrelRow.doc_id), col(ReleaseQrelRow.grade))
        .where(col(ReleaseQrelRow.release_pk) == release_pk)
        .order_by(col(ReleaseQrelRow.position))
    )
    queries = tuple(by_id.get(query_id) or Query(query_id, text or "") for query_id, text in texts.items())
    return GroundTruth(queries=queries, qrels=tuple(Qrel(*row) for row in rows))
