"""Runs as teams have them: answers of search APIs, queries by their text, more queries than the dataset, documents twice,
whole folders."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.errors import AnnotatorError, BadInput
from annotator.domain.people import OPERATOR
from annotator.importing.report import FolderReport
from annotator.importing.runs.runs_service import import_run, import_runs
from annotator.importing.texts.texts_service import import_queries
from annotator.storage.database import Database
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import DocumentRow, QueryRow, RunEntryRow, RunRow
from tests.integration.importing.test_importing import NOW, Desk, counts

QUERIES = "query_id,text\nQ1,検索 が\nQ2,질의\nQ3,same\nQ4,same\n"


@pytest.fixture
def desk(database: Database, tmp_path: Path) -> Desk:
    desk = Desk(database, tmp_path)
    desk.bring(import_queries, "q.csv", QUERIES)
    return desk


def results(desk: Desk, system: str = "s") -> dict[str, list[tuple[str, int]]]:
    """The stored results of a run: by query_id, doc_id and rank."""
    statement = (
        select(col(QueryRow.query_id), col(DocumentRow.doc_id), col(RunEntryRow.rank))
        .join(RunRow, col(RunRow.pk) == col(RunEntryRow.run_pk))
        .join(QueryRow, col(QueryRow.pk) == col(RunEntryRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(RunEntryRow.document_pk))
        .where(col(RunRow.system) == system)
        .order_by(col(QueryRow.position), col(RunEntryRow.rank))
    )
    results: dict[str, list[tuple[str, int]]] = {}
    with desk.database.read() as session:
        for query_id, doc_id, rank in session.execute(statement):
            results.setdefault(query_id, []).append((doc_id, rank))
    return results


def answer(query: dict[str, Any], *doc_ids: str, **further: Any) -> str:
    return json.dumps({**query, "results": [{"id": doc_id} for doc_id in doc_ids], **further}) + "\n"


def last_record(desk: Desk) -> Any:
    with desk.database.read() as session:
        return list_import_records(session, key_of(find_dataset(session, "d").pk))[-1]


# Queries and latency -----------------------------------------------------------------------------------


def test_a_query_without_an_id_is_found_by_its_text_in_nfc_without_the_space_around(desk: Desk) -> None:
    text = answer({"query": " 検索 \u304b\u3099\n"}, "a", "b") + answer(
        {"query_id": "Q2", "query": "other"}, "c"
    )
    assert counts(desk.bring(import_run, "r.jsonl", text, system="s")) == (3, 3, 0, 0)
    assert results(desk) == {"Q1": [("a", 1), ("b", 2)], "Q2": [("c", 1)]}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"query": "nobody asked"}, r"r\.jsonl:2: expected the text of a query of this dataset, found 'nobody asked'"),
        ({"query": "same"}, r"r\.jsonl:2: expected a query_id, or a text that one query has, found 'same', which Q3, Q4"),
        ({"query_id": "Q1"}, r"r\.jsonl:2: expected one answer to each query \(first on line 1\), found 'Q1' again"),
    ],
)  # fmt: skip
def test_a_query_that_is_not_exactly_one_of_the_dataset_is_refused_with_its_line(
    desk: Desk, query: dict[str, Any], message: str
) -> None:
    before = desk.dump()
    with pytest.raises(BadInput, match=message):
        desk.bring(import_run, "r.jsonl", answer({"query_id": "Q1"}, "a") + answer(query, "b"), system="s")
    assert desk.dump() == before


def test_how_long_a_system_took_is_kept_for_every_query_also_without_results(desk: Desk) -> None:
    text = answer({"query_id": "Q1"}, "a", response_time=0.25, mode="fast") + answer(
        {"query_id": "Q2"}, latency_ms=7
    )
    desk.bring(import_run, "r.jsonl", text, system="s", response_time_unit="s")
    with desk.database.read() as session:
        assert session.scalars(select(RunRow)).one().query_signals == {
            "Q1": {"latency_ms": 250.0, "response_time": 0.25, "mode": "fast"},
            "Q2": {"latency_ms": 7.0},
        }


# More queries, and documents twice ---------------------------------------------------------------------

MORE = "Q1 Q0 a 1 2.0 s\nX1 Q0 a 1 2.0 s\nX1 Q0 b 2 1.0 s\nX2 Q0 a 1 2.0 s\n"


def test_a_run_with_more_queries_is_refused_with_how_many_and_the_way_to_leave_them_out(desk: Desk) -> None:
    with pytest.raises(BadInput) as caught:
        desk.bring(import_run, "r.txt", MORE)
    path = desk.folder / "r.txt"
    expected = "queries of this dataset only (--skip-unknown-queries leaves the others out)"
    assert str(caught.value).splitlines() == [
        f"{path}: expected {expected}, found 2 queries more (3 results)",
        f"{path}:2: expected a query_id of this dataset, found 'X1'",
        f"{path}:4: expected a query_id of this dataset, found 'X2'",
    ]


def test_queries_that_the_dataset_does_not_have_are_left_out_if_wished_and_counted(desk: Desk) -> None:
    report = desk.bring(import_run, "r.txt", MORE, skip_unknown_queries=True)
    assert counts(report) == (4, 1, 0, 0)
    assert "2 queries (3 results) left out: not in the dataset" in report.notes
    assert results(desk) == {"Q1": [("a", 1)]}
    assert desk.rows(DocumentRow.doc_id) == [("a",)]
    record = last_record(desk)
    assert (record.figures["skipped_unknown_queries"], record.figures["skipped_unknown_results"]) == (2, 3)
    assert record.options == {"order": "score", "skip_unknown_queries": True}
    assert counts(desk.bring(import_run, "r.txt", MORE, skip_unknown_queries=True)) == (4, 0, 0, 1)


def test_a_run_of_which_nothing_is_left_and_an_ambiguous_text_are_refused_all_the_same(desk: Desk) -> None:
    with pytest.raises(BadInput, match="expected results for a query of this dataset, found none"):
        desk.bring(import_run, "r.txt", "X1 Q0 a 1 2.0 s\n", skip_unknown_queries=True)
    text = answer({"query_id": "Q1"}, "a") + answer({"query": "same"}, "b")
    with pytest.raises(BadInput, match="a text that one query has"):
        desk.bring(import_run, "r.jsonl", text, system="s", skip_unknown_queries=True)


TWICE = "Q1 Q0 a 1 1.0 s\nQ1 Q0 b 2 2.0 s\nQ1 Q0 a 3 3.0 s\nQ1 Q0 c 4 0.5 s\n"


def test_a_document_twice_in_a_query_is_refused(desk: Desk) -> None:
    with pytest.raises(
        BadInput, match=r"r\.txt:3: expected each document of a query once \(first on line 1; --dup"
    ):
        desk.bring(import_run, "r.txt", TWICE)
    with pytest.raises(AnnotatorError, match="--duplicates: expected one of refuse, first, found 'last'"):
        desk.bring(import_run, "r.txt", TWICE, duplicates="last")


@pytest.mark.parametrize(("order", "left"), [("score", "abc"), ("rank", "abc")])
def test_of_a_document_twice_in_a_query_the_best_place_is_kept_if_wished_and_the_rest_counted(
    desk: Desk, order: str, left: str
) -> None:
    report = desk.bring(import_run, "r.txt", TWICE, duplicates="first", order=order)
    assert counts(report) == (4, 3, 0, 0)
    assert "1 result left out: the same query lists the document at a better rank" in report.notes
    assert results(desk) == {"Q1": [(doc_id, rank) for rank, doc_id in enumerate(left, 1)]}
    scores = {3.0} if order == "score" else {1.0}
    assert {score for rank, score in desk.rows(RunEntryRow.rank, RunEntryRow.score) if rank == 1} == scores
    record = last_record(desk)
    assert (record.figures["duplicates"], record.options["duplicates"]) == (1, "first")


def test_results_without_rank_and_score_stand_as_in_the_file(desk: Desk) -> None:
    rows = [{"query_id": "Q1", "doc_id": doc_id, "system": "s"} for doc_id in "cab"]
    desk.bring(import_run, "r.jsonl", "\n".join(map(json.dumps, rows)))
    assert results(desk) == {"Q1": [("c", 1), ("a", 2), ("b", 3)]}
    mixed = [{**rows[0], "rank": 1}, rows[1]]
    with pytest.raises(
        BadInput, match=r"r\.jsonl:2: expected a score, or a rank for each result of the query"
    ):
        desk.bring(import_run, "r.jsonl", "\n".join(map(json.dumps, mixed)))


def test_a_list_that_stands_otherwise_than_its_scores_is_reported(desk: Desk) -> None:
    """A list sorted by distance, or reranked: its scores would turn it round without a word."""
    text = json.dumps({"query_id": "Q1", "results": [{"id": "a", "score": 0.1}, {"id": "b", "score": 0.7}]})
    report = desk.bring(import_run, "r.json", text, system="s")
    assert report.notes[2].startswith("warning: the ranks contradict the scores in 1 query (2 results)")
    assert results(desk) == {"Q1": [("b", 1), ("a", 2)]}


# Folders -----------------------------------------------------------------------------------------------


def bring_folder(desk: Desk, files: dict[str, str], **options: Any) -> FolderReport:
    for name, content in files.items():
        desk.put(f"runs/{name}", content)
    return import_runs(desk.database, OPERATOR, "d", desk.folder / "runs", now=NOW, **options)


RUNS = {
    "one.txt": "Q1 Q0 a 1 2.0 bm25\n",
    "two.v1.jsonl": answer({"query_id": "Q1"}, "b", "c"),
    ".DS_Store": "x",
}


def test_a_folder_of_runs_comes_in_at_once_each_file_named_by_its_tag_or_its_name(desk: Desk) -> None:
    report = bring_folder(desk, RUNS)
    assert [(Path(file.path).name, file.notes[0], file.added) for file in report.files] == [
        ("one.txt", "system bm25", 1),
        ("two.v1.jsonl", "system two.v1", 2),
    ]
    assert (report.read, report.added, report.notes) == (3, 3, ("1 hidden file or folder skipped",))
    assert desk.rows(RunRow.system) == [("bm25",), ("two.v1",)]
    again = bring_folder(desk, RUNS)
    assert (again.added, again.unchanged) == (0, 3)
    assert last_record(desk).path.endswith("two.v1.jsonl")


@pytest.mark.parametrize(
    ("files", "messages"),
    [
        (
            {"a.txt": "Q1 Q0 a 1 x s\n", "b.txt": "Q1 Q0 a 1\n"},
            [r"a\.txt:1: expected score", r"b\.txt:1: expected 6 fields"],
        ),
        (
            {"a.txt": "X1 Q0 a 1 1 s\n", "b.txt": "X2 Q0 a 1 1 t\n"},
            [r"a\.txt:1: expected a query_id", r"b\.txt:1: expected a query_id"],
        ),
        (
            {"a.txt": "Q1 Q0 a 1 1 s\n", "b.txt": "Q2 Q0 a 1 1 s\n"},
            [r"b\.txt: expected a system of its own in each file .*; a\.txt has it\), found 's'"],
        ),
        ({".hidden": ""}, ["expected at least one run file, found none"]),
        ({"z.txt": "Q1 Q0 other 1 1 taken\n", "a.txt": "Q1 Q0 a 1 1 s\n"}, [r"z\.txt: the system 'taken' has another"]),
    ],
)  # fmt: skip
def test_of_a_folder_everything_is_stored_or_nothing_and_every_bad_file_is_named(
    desk: Desk, files: dict[str, str], messages: list[str]
) -> None:
    desk.bring(import_run, "r.txt", "Q1 Q0 a 1 1 taken\n")
    before = desk.dump()
    for message in messages:
        with pytest.raises(AnnotatorError, match=message):
            bring_folder(desk, files)
    assert desk.dump() == before


def test_a_dry_run_of_a_folder_changes_nothing(desk: Desk) -> None:
    before = desk.dump()
    report = bring_folder(desk, RUNS, dry_run=True)
    assert (report.dry_run, report.added) == (True, 3)
    assert desk.dump() == before


# Signals -----------------------------------------------------------------------------------------------


def test_a_signal_that_was_lost_between_stages_is_in_the_report_and_in_the_record(desk: Desk) -> None:
    listed = [{"id": f"d{n}", "stages": {"bm25": {"rank": n, "score": 9 - n}}} for n in range(1, 5)]
    del listed[3]["stages"]["bm25"]["score"]
    listed[3]["stages"]["bm25"]["rank"] = 1
    listed[0]["note"] = "x"
    text = json.dumps({"query_id": "Q1", "results": listed}) + "\n"
    report = desk.bring(import_run, "r.jsonl", text, system="s")
    assert report.notes[-2] == (
        "warning: the signal stages.bm25.score is missing in 1 result of 1 query that bm25 lists "
        "(query Q1, document d4: 3 ranks lost, rank 1 in bm25 and 4 in the run)"
    )
    figures = last_record(desk).figures
    assert figures["partial_signals"] == {"note": {"carrying": 1, "lacking": 3}}
    (lost,) = figures["lost_signals"]
    assert (lost["signal"], lost["stage"], lost["results"], lost["ranks_lost"]) == (
        "stages.bm25.score",
        "bm25",
        1,
        3,
    )
