"""A dataset with a queue: 10,000 queries with 100 pairs each, two judgments of each pair, 50,000 disagreements, 50 runs.

For `disagreement_queue.py`. Each run has some 20 of a query's 100 documents, those of high grades first
more often than not, which makes ten million results. Written in bulk; a folder named by the user is used again.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.pairs.disagreements import note_all_due
from annotator.storage.schema import upgrade_schema
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, QueryRow, RunRow
from benchmarks.labeling_load import DATASET, NOW, TEXT, add_people, set_sequences, trust

DEPTH, PEOPLE, LEADS, AT_ONCE = 100, 40, 20, 100
DISAGREEING, RUNS, RETURNED = 5, 50, 20
CATEGORIES = ("howto", "reference", "troubleshooting", "概念", "설정")
GRADES = (0.6, 0.2, 0.12, 0.08)
JUDGMENT = ("pk", "event_id", "pair_pk", "annotator_pk", "rubric_pk", "outcome", "grade", "purpose", "document_sha256",
            "judged_at", "received_at", "seconds")  # fmt: skip
CURRENT = ("pair_pk", "annotator_pk", "judgment_pk", "dataset_pk", "outcome", "grade", "purpose", "stale", "rubric_pk",
           "seconds", "made_at")  # fmt: skip
PAIR = (
    "pk",
    "dataset_pk",
    "query_pk",
    "document_pk",
    "key",
    "judged",
    "kept",
    "wanted",
    "lacking",
    "created_at",
)
DISAGREEMENT = ("pair_pk", "dataset_pk", "query_pk", "open", "reasons", "waiting", "distance", "low", "high", "since",
           "impact", "taste")  # fmt: skip
ENTRY = ("run_pk", "query_pk", "document_pk", "rank", "score", "signals")


def fill(database: Database, *, queries: int) -> None:
    """The dataset of this size. The first PEOPLE - LEADS people have judged; the others lead."""
    upgrade_schema(database)
    create_dataset(database, OPERATOR, DATASET, now=NOW, settings={"overlap": "2", "seed": "7"})
    documents = queries * DEPTH // 10
    with database.write() as session:
        trust(session)
        dataset_pk = key_of(find_dataset(session, DATASET).pk)
        rubric_pk = key_of(find_rubric(session, dataset_pk).pk)
        add_people(session, dataset_pk, PEOPLE)
        session.execute(
            text(
                f"UPDATE membership SET role = 'lead' WHERE role = 'annotator' AND person_pk > {PEOPLE - LEADS}"
            )
        )
        _add_texts(session, dataset_pk, queries, documents)
    for first in range(0, queries, AT_ONCE):
        with database.write() as session:
            trust(session)
            _add_pairs(session, dataset_pk, rubric_pk, range(first, min(first + AT_ONCE, queries)), documents)
    grades = np.array([_draw_grades(query)[0] for query in range(queries)])
    for run in range(RUNS):  # as imports bring them: one run after the other
        with database.write() as session:
            trust(session)
            _write(session, "run_entry", ENTRY, _rank(run, grades, documents))
    with database.write() as session:
        derive_work(session, dataset_pk)
        note_all_due(session, dataset_pk)
        set_sequences(session)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def find_document(query: int, position: int, documents: int) -> int:
    """The document (document_pk) of this place of a query, both counted from 0."""
    return (query * 37 + position) % documents + 1


def _add_texts(session: Session, dataset_pk: int, queries: int, documents: int) -> None:
    add_rows(session, QueryRow, [
        {"pk": at + 1, "dataset_pk": dataset_pk, "position": at, "query_id": f"Q{at:05}", "text": f"検索 {at} 검색 handler queue",
         "category": CATEGORIES[at % len(CATEGORIES)], "extra": {}} for at in range(queries)
    ])  # fmt: skip
    add_rows(session, DocumentRow, [
        {"pk": at + 1, "dataset_pk": dataset_pk, "doc_id": f"guide/page-{at:06}", "title": f"第{at}章", "text_sha256": "aa",
         "extra": {}} for at in range(documents)
    ])  # fmt: skip
    add_rows(session, DocumentTextRow, [
        {"document_pk": at + 1, "sha256": "aa", "text": f"{at} {TEXT}", "imported_at": NOW} for at in range(documents)
    ])  # fmt: skip
    add_rows(session, RunRow, [
        {"pk": run + 1, "dataset_pk": dataset_pk, "system": f"system-{run:02}", "content_sha256": f"{run:064x}",
         "imported_at": NOW} for run in range(RUNS)
    ])  # fmt: skip


def _draw_grades(query: int) -> tuple[list[int], list[int]]:
    """What two annotators say of each pair of a query; they differ on DISAGREEING of the pairs."""
    drawn = np.random.default_rng(query)
    first = drawn.choice(4, DEPTH, p=GRADES)
    second = first.copy()
    positions = drawn.choice(DEPTH, DISAGREEING, replace=False)
    second[positions] = (first[positions] + drawn.integers(1, 4, DISAGREEING)) % 4
    return first.tolist(), second.tolist()


def _add_pairs(session: Session, dataset_pk: int, rubric_pk: int, queries: range, documents: int) -> None:
    """The pairs of these queries, their judgments and their disagreements, one of which is a minute older than the next."""
    pairs, judgments, current, disagreements = [], [], [], []
    for query in queries:
        both = _draw_grades(query)
        for position in range(DEPTH):
            pair = query * DEPTH + position + 1
            document, grades = (
                find_document(query, position, documents),
                (both[0][position], both[1][position]),
            )
            pairs.append((pair, dataset_pk, query + 1, document, f"{pair:024x}", 2, False, 2, 0, NOW))
            for number, grade in enumerate(grades):
                pk, person = pair * 2 + number - 1, (query + number) % (PEOPLE - LEADS) + 1
                judgments.append((pk, str(UUID(int=pk, version=4)), pair, person, rubric_pk, "graded", grade, "independent", "aa",
                                  NOW, NOW, 4.25))  # fmt: skip
                current.append((pair, person, pk, dataset_pk, "graded", grade, "independent", 0, rubric_pk, 4.25,
                                int(NOW.timestamp())))  # fmt: skip
            low, high = sorted(grades)
            if low != high:
                taste = high - low == 1 and low > 0
                since = NOW + timedelta(minutes=pair * 7919 % 50_000)
                disagreements.append(
                    (pair, dataset_pk, query + 1, True, 1, 1, high - low, low, high, since, 0.0, taste)
                )
    _write(session, "pair", PAIR, pairs)
    _write(session, "judgment", JUDGMENT, judgments)
    _write(session, "current_judgment", CURRENT, current)
    _write(session, "dispute", DISAGREEMENT, disagreements)


def _rank(run: int, grades: "np.ndarray[Any, Any]", documents: int) -> Iterator[tuple[Any, ...]]:
    """A run's results: each query's documents by a guess of their grades, which the first runs guess best."""
    felt = grades + np.random.default_rng(1_000_000 + run).normal(0, 0.8 + run / 20, grades.shape)
    best = np.argsort(-felt, axis=1)[:, :RETURNED]
    for query, positions in enumerate(best.tolist()):
        for rank, position in enumerate(positions, start=1):
            yield run + 1, query + 1, find_document(query, position, documents), rank, 1 / rank, "{}"


def _write(session: Session, table: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows as the driver takes them fastest."""
    connection: Any = session.connection().connection.driver_connection
    names = ", ".join(f'"{name}"' for name in columns)
    if session.get_bind().dialect.name != "postgresql":
        marks = ", ".join("?" for _ in columns)
        connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", map(_spell, rows))
        return
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _spell(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f") if isinstance(value, datetime) else value
        for value in row
    )
