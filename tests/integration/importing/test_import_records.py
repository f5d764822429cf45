"""Every import that stores something leaves a record: which file, when, by whom, and how much of it was new."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.dataset.service import create_dataset
from annotator.domain.errors import BadInput
from annotator.domain.people import OPERATOR
from annotator.importing.judgments.judgments_service import import_judgments, import_qrels
from annotator.importing.runs.runs_service import import_run
from annotator.importing.texts.texts_service import import_queries
from annotator.storage.database import Database
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import ImportedQrelRow, JudgmentRow, RunRow

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = datetime(2026, 1, 3, tzinfo=UTC)
QUERIES = "query_id,text\nQ1,検索\nQ2,질의\n"
JUDGMENTS = "query_id,doc_id,annotator,grade\nQ1,d1,花子,2\nQ1,d1,준,1\n"


@pytest.fixture
def dataset(database: Database, tmp_path: Path) -> Database:
    create_dataset(database, OPERATOR, "d", now=NOW)
    import_queries(database, OPERATOR, "d", put(tmp_path, "検索.csv", QUERIES), now=NOW)
    return database


def put(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_an_import_is_recorded_with_its_file_and_its_counts(dataset: Database, tmp_path: Path) -> None:
    import_judgments(dataset, OPERATOR, "d", put(tmp_path, "judgments.csv", JUDGMENTS), now=LATER)
    with dataset.read() as session:
        queries, judgments = list_import_records(session, key_of(find_dataset(session, "d").pk))
    assert (queries.kind, queries.path, queries.imported_at) == ("queries", str(tmp_path / "検索.csv"), NOW)
    assert queries.sha256 == hashlib.sha256(QUERIES.encode()).hexdigest()
    assert (judgments.kind, judgments.imported_by, judgments.imported_at) == ("judgments", None, LATER)
    assert judgments.figures == {"read": 2, "added": 2, "changed": 0, "unchanged": 0}
    assert judgments.declared is None


def test_what_came_with_an_import_points_to_its_record(dataset: Database, tmp_path: Path) -> None:
    import_judgments(dataset, OPERATOR, "d", put(tmp_path, "judgments.csv", JUDGMENTS), now=NOW)
    import_run(dataset, OPERATOR, "d", put(tmp_path, "run.txt", "Q1 Q0 d1 1 2.5 bm25\n"), now=NOW)
    import_qrels(dataset, OPERATOR, "d", put(tmp_path, "qrels.txt", "Q2 0 d2 3\n"), now=NOW)
    with dataset.read() as session:
        records = {
            record.kind: record.pk
            for record in list_import_records(session, key_of(find_dataset(session, "d").pk))
        }
        assert set(session.scalars(select(col(JudgmentRow.import_record_pk)))) == {records["judgments"]}
        assert set(session.scalars(select(col(RunRow.import_record_pk)))) == {records["run"]}
        assert set(session.scalars(select(col(ImportedQrelRow.import_record_pk)))) == {records["qrels"]}


def test_a_file_that_changes_nothing_leaves_no_record(dataset: Database, tmp_path: Path) -> None:
    judgments = put(tmp_path, "judgments.csv", JUDGMENTS)
    run = put(tmp_path, "run.txt", "Q1 Q0 d1 1 2.5 bm25\n")
    qrels = put(tmp_path, "qrels.txt", "Q2 0 d2 3\n")
    for _ in range(2):
        import_queries(dataset, OPERATOR, "d", tmp_path / "検索.csv", now=LATER)
        import_judgments(dataset, OPERATOR, "d", judgments, now=LATER)
        import_run(dataset, OPERATOR, "d", run, now=LATER)
        import_qrels(dataset, OPERATOR, "d", qrels, now=LATER)
    import_qrels(dataset, OPERATOR, "d", put(tmp_path, "more.txt", "Q2 0 d3 3\n"), now=LATER, dry_run=True)
    with pytest.raises(BadInput):
        import_qrels(dataset, OPERATOR, "d", put(tmp_path, "bad.txt", "Q9 0 d3 3\n"), now=LATER)
    with dataset.read() as session:
        records = list_import_records(session, key_of(find_dataset(session, "d").pk))
    assert [record.kind for record in records] == ["queries", "judgments", "run", "qrels"]
