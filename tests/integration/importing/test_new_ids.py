"""An import names ids that nearly match, ids that a format cannot hold, and a file in which there is nothing to read."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.errors import BadInput
from annotator.importing.judgments.judgments_service import import_judgments, import_qrels
from annotator.importing.runs.runs_service import import_run
from annotator.importing.texts.texts_service import import_documents, import_pairs, import_queries
from annotator.storage.database import Database
from annotator.storage.tables.central import DocumentRow, ImportRecordRow
from tests.integration.importing.test_importing import Desk, Import


@pytest.fixture
def desk(database: Database, tmp_path: Path) -> Desk:
    made = Desk(database, tmp_path)
    made.bring(import_queries, "q.csv", "query_id,text\nq1,x\n007,y\n")
    made.bring(import_documents, "d.csv", "doc_id,text\nd1,a\n007,b\n1234567890123456,c\n")
    return made


def find_warning(notes: tuple[str, ...], words: str) -> str:
    (note,) = [note for note in notes if words in note]
    return note


NEAR = {
    "d1 ": "d1",
    "7": "007",
    "1.23457E+15": "1234567890123456",
    "D1": "d1",
    "d1\u200b": "d1",
}


@pytest.mark.parametrize(
    ("use_case", "name", "head", "row"),
    [
        (import_qrels, "t.csv", "query_id,doc_id,grade\n", "q1,{},2\n"),
        (import_judgments, "j.csv", "query_id,doc_id,annotator,grade\n", "q1,{},a,2\n"),
        (import_pairs, "p.csv", "query_id,doc_id\n", "q1,{}\n"),
        (import_documents, "e.csv", "doc_id,text\n", "{},x\n"),
        (import_run, "r.jsonl", "", '{{"query_id": "q1", "doc_id": "{}", "rank": 1}}\n'),
    ],
)
def test_ids_that_nearly_match_are_named_with_the_existing_id_and_stay_as_given(
    desk: Desk, use_case: Import, name: str, head: str, row: str
) -> None:
    options = {"system": "s"} if use_case is import_run else {}
    ids = list(NEAR)[:1] if use_case is import_run else list(NEAR)
    report = desk.bring(use_case, name, head + "".join(map(row.format, ids)), **options)
    note = find_warning(report.notes, "nearly equal")
    for new_id in ids:
        assert f"{new_id!r} ({NEAR[new_id]!r})" in note
    assert {doc_id for (doc_id,) in desk.rows(DocumentRow.doc_id)} >= set(ids)


def test_the_first_documents_known_by_id_only_are_named(desk: Desk) -> None:
    rows = "".join(f"q1,x{number},2\n" for number in range(7))
    report = desk.bring(import_qrels, "t.csv", "query_id,doc_id,grade\n" + rows)
    note = find_warning(report.notes, "by their id only")
    assert note.startswith("7 documents are known by their id only ('x0', 'x1', 'x2', 'x3', 'x4', …)")


def test_a_query_that_is_not_there_is_refused_with_the_one_that_nearly_matches(desk: Desk) -> None:
    for use_case, name, text in (
        (import_judgments, "j.csv", "query_id,doc_id,annotator,grade\nQ1 ,d1,a,2\n"),
        (import_pairs, "p.csv", "query_id,doc_id\nQ1 ,d1\n"),
        (import_run, "r.jsonl", '{"query_id": "Q1 ", "doc_id": "d1", "rank": 1}\n'),
        (import_qrels, "t.jsonl", '{"query_id": "Q1 ", "doc_id": "d1", "grade": 1}\n'),
    ):
        options = {"system": "s"} if use_case is import_run else {}
        with pytest.raises(BadInput, match=r"a query_id of this dataset, such as 'q1'.* found 'Q1 '"):
            desk.bring(use_case, name, text, **options)


def test_ids_with_white_space_are_named_at_the_import_all_of_them(desk: Desk) -> None:
    rows = "".join(f"a {number},x\n" for number in range(30))
    report = desk.bring(import_documents, "e.csv", "doc_id,text\n" + rows)
    note = find_warning(report.notes, "white space")
    assert note.startswith(
        "warning: 30 new ids contain white space, which the format trec cannot hold: 'a 0', 'a 1'"
    )
    assert all(f"'a {number}'" in note for number in range(30))
    report = desk.bring(import_queries, "q.csv", "query_id,text\nq 2,x\n")
    assert "'q 2'" in find_warning(report.notes, "white space")
    assert desk.bring(import_queries, "q.csv", "query_id,text\nq 2,x\n").notes == ()


@pytest.mark.parametrize(
    ("use_case", "text", "expected"),
    [
        (import_queries, "query_id,text\n", "queries"),
        (import_documents, "doc_id,text\n", "documents"),
        (import_pairs, "query_id,doc_id\n", "pairs"),
        (import_judgments, "query_id,doc_id,annotator,grade\n", "judgments"),
        (import_judgments, "query_id,doc_id,annotator,grade\nq1,d1,a,\n", "judgments"),
        (import_qrels, "query_id,doc_id,grade\n", "grades"),
    ],
)
def test_a_file_from_which_nothing_is_read_is_refused(
    desk: Desk, use_case: Import, text: str, expected: str
) -> None:
    with pytest.raises(BadInput, match=rf"empty\.csv: expected {expected}, found none"):
        desk.bring(use_case, "empty.csv", text)


@pytest.mark.parametrize(
    ("use_case", "name", "text"),
    [
        (import_queries, "e.csv", "query_id,text\nq9,x\n"),
        (import_documents, "e.csv", "doc_id,text\nd9,x\n"),
        (import_pairs, "e.csv", "query_id,doc_id\nq1,d9\n"),
        (import_judgments, "e.csv", "query_id,doc_id,annotator,grade\nq1,d1,a,2\n"),
        (import_qrels, "e.csv", "query_id,doc_id,grade\nq1,d1,2\n"),
        (import_run, "e.txt", "q1 Q0 d1 1 2.0 bm25\n"),
    ],
)
def test_a_file_that_changes_after_it_was_parsed_is_recorded_with_the_hash_of_what_was_parsed(
    desk: Desk, use_case: Import, name: str, text: str
) -> None:
    path, stored = desk.folder / name, "other bytes"

    def change(message: object) -> None:
        if str(message).startswith(("checking", "storing")):  # it has been parsed
            path.write_text(stored, encoding="utf-8")

    options: dict[str, Any] = {"system": "s"} if use_case is import_run else {}
    before = set(desk.rows(ImportRecordRow.pk, ImportRecordRow.sha256))
    desk.bring(use_case, name, text, report_progress=change, **options)
    assert path.read_text(encoding="utf-8") == stored
    ((_, sha256),) = set(desk.rows(ImportRecordRow.pk, ImportRecordRow.sha256)) - before
    assert sha256 == hashlib.sha256(text.encode()).hexdigest()
