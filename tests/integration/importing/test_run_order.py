"""A run stands by score as trec_eval orders it, from the import to the pool and the scores; ranks that say otherwise are
reported and kept."""

from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlmodel import col

from annotator.adjudication.impact.impact_service import bring_up_to_date
from annotator.domain.errors import BadInput, ConflictError, ValidationError
from annotator.domain.people import OPERATOR
from annotator.importing.remapping.remapping_service import remap_documents
from annotator.importing.runs.runs_service import import_run
from annotator.importing.texts.texts_service import import_queries
from annotator.pooling.rounds.pool_records import PoolRequest
from annotator.pooling.rounds.rounds_service import make_round
from annotator.pooling.service import list_pairs
from annotator.storage.database import Database
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import DocumentRow, RunEntryRow, RunRow
from tests.integration.importing.test_importing import NOW, QUERIES, Desk, counts
from tests.integration.scored_world import ScoredWorld

CONTRADICTORY = "Q1 Q0 a 1 0.1 s\nQ1 Q0 b 2 0.3 s\nQ1 Q0 c 3 0.2 s\nQ2 Q0 a 1 2.0 s\nQ2 Q0 b 2 1.0 s\n"


@pytest.fixture
def desk(database: Database, tmp_path: Path) -> Desk:
    desk = Desk(database, tmp_path)
    desk.bring(import_queries, "q.csv", QUERIES)
    return desk


def stored(desk: Desk) -> dict[str, list[tuple[int, dict[str, object]]]]:
    """The ranks and signals of the results of query Q1 and then Q2, by doc_id."""
    statement = select(col(DocumentRow.doc_id), col(RunEntryRow.rank), RunEntryRow.__table__.c.signals)  # type: ignore[attr-defined]
    statement = statement.join(DocumentRow, col(DocumentRow.pk) == col(RunEntryRow.document_pk))
    with desk.database.read() as session:
        rows = session.execute(statement.order_by(col(RunEntryRow.query_pk))).all()
    results: dict[str, list[tuple[int, dict[str, object]]]] = {}
    for doc_id, rank, signals in rows:
        results.setdefault(doc_id, []).append((rank, signals))
    return results


def test_a_run_whose_ranks_contradict_its_scores_is_stored_by_score_and_says_so(desk: Desk) -> None:
    report = desk.bring(import_run, "r.txt", CONTRADICTORY)
    assert report.notes[1] == (
        "warning: the ranks contradict the scores in 1 query (3 results): ordered by score, as trec_eval does; "
        "--order rank goes by the ranks"
    )
    assert stored(desk) == {
        "a": [(3, {"file_rank": 1}), (1, {})],
        "b": [(1, {"file_rank": 2}), (2, {})],
        "c": [(2, {"file_rank": 3})],
    }
    with desk.database.read() as session:
        *_, record = list_import_records(session, key_of(find_dataset(session, "d").pk))
    assert record.options["order"] == "score"
    assert record.figures["rank_contradictions"] == {"queries": 1, "results": 3}


@pytest.mark.parametrize(("order", "pooled"), [("score", {"b"}), ("rank", {"a"})])
def test_the_pool_takes_the_first_results_by_that_order(desk: Desk, order: str, pooled: set[str]) -> None:
    desk.bring(import_run, "r.txt", CONTRADICTORY, order=order)
    make_round(desk.database, OPERATOR, "d", PoolRequest(depth=1), now=NOW)
    pairs = {pair.doc_id: pair for pair in list_pairs(desk.database, OPERATOR, "d") if pair.query_id == "Q1"}
    assert pairs.keys() == pooled
    assert [line.rank for pair in pairs.values() for line in pair.provenance] == [1]


def test_ranks_that_are_there_twice_are_refused_only_where_they_decide(desk: Desk) -> None:
    twice = "Q1 Q0 a 0 1.0 s\nQ1 Q0 b 0 2.0 s\n"
    with pytest.raises(BadInput, match=r"r\.txt:2: expected each rank of a query once"):
        desk.bring(import_run, "r.txt", twice, order="rank")
    assert len(desk.bring(import_run, "r.txt", twice).notes) == 2
    assert stored(desk) == {"a": [(1, {"file_rank": 0})], "b": [(0, {})]}
    with pytest.raises(ValidationError, match="--order: expected one of score, rank"):
        desk.bring(import_run, "r.txt", twice, order="tag")


def test_nothing_is_counted_as_left_out_of_a_run_that_is_stored_whole(desk: Desk) -> None:
    desk.bring(import_run, "r.txt", "Q1 Q0 a 1 2.0 s\nQ1 Q0 b 2 1.0 s\n")
    with desk.database.read() as session:
        *_, record = list_import_records(session, key_of(find_dataset(session, "d").pk))
    assert not {
        "skipped_unknown_queries",
        "skipped_unknown_results",
        "duplicates",
        "rank_contradictions",
    } & set(record.figures)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "Q1 Q0 a 1 2.0 s\nQ1 Q0 c 2 0.5 s\nQ1 Q0 d 3 0.5 s\n",
            "2 results of equal score stand in another place",
        ),
        ("Q1 Q0 a 1 2.0 s\nQ1 Q0 b 2 1.0 s\n", ""),
    ],
)
def test_results_of_equal_score_that_trec_eval_orders_otherwise_are_counted(
    desk: Desk, lines: str, message: str
) -> None:
    notes = "; ".join(desk.bring(import_run, "r.txt", lines).notes)
    assert message in notes
    assert ("of equal score" in notes) is bool(message)


def test_the_same_file_again_changes_the_order_that_it_is_stored_in_and_nothing_else(desk: Desk) -> None:
    desk.bring(import_run, "r.txt", CONTRADICTORY, order="rank")
    before = desk.dump()
    assert counts(desk.bring(import_run, "r.txt", CONTRADICTORY, order="rank")) == (5, 0, 0, 5)
    tried = desk.bring(import_run, "r.txt", CONTRADICTORY, dry_run=True)
    assert desk.dump() == before
    done = desk.bring(import_run, "r.txt", CONTRADICTORY)
    assert counts(tried) == counts(done) == (5, 0, 3, 2)
    assert "3 results have another rank now; pooled pairs keep theirs" in done.notes
    assert stored(desk)["b"] == [(1, {"file_rank": 2}), (2, {})]
    assert desk.rows(RunRow.system) == [("s",)]


def test_a_run_stored_before_scores_decided_keeps_its_order_until_its_file_is_imported_again(
    desk: Desk,
) -> None:
    desk.bring(import_run, "r.txt", CONTRADICTORY, order="rank")
    with desk.database.write() as session:
        session.connection().execute(text("UPDATE run SET import_record_pk = NULL"))
    make_round(desk.database, OPERATOR, "d", PoolRequest(depth=1), now=NOW)
    assert counts(desk.bring(import_run, "r.txt", CONTRADICTORY)) == (5, 0, 3, 2)
    make_round(desk.database, OPERATOR, "d", PoolRequest(depth=1), now=NOW)
    by_id = {pair.doc_id: pair for pair in list_pairs(desk.database, OPERATOR, "d") if pair.query_id == "Q1"}
    assert {doc_id: [line.rank for line in pair.provenance] for doc_id, pair in by_id.items()} == {
        "a": [1],
        "b": [1],
    }


def test_a_run_whose_documents_got_other_ids_keeps_its_order(desk: Desk) -> None:
    desk.bring(import_run, "r.txt", CONTRADICTORY, order="rank")
    mapping = desk.put("m.csv", "old_doc_id,new_doc_id\na,a2\nb,b\nc,c\n")
    remap_documents(desk.database, OPERATOR, "d", mapping, now=NOW)
    before = desk.dump()
    report = desk.bring(import_run, "r.txt", CONTRADICTORY)
    assert counts(report) == (5, 0, 0, 5)
    assert "documents of this run have new ids since it was stored: it keeps its order" in report.notes
    assert desk.dump() == before


SOME = CONTRADICTORY + "Q9 Q0 a 1 3.0 s\nQ9 Q0 z 2 1.0 s\n"


def test_the_same_file_again_adds_the_results_of_queries_that_came_since(desk: Desk) -> None:
    desk.bring(import_run, "r.txt", SOME, skip_unknown_queries=True)
    desk.bring(import_queries, "q9.csv", "query_id,text\nQ9,nine\n")
    tried = desk.bring(import_run, "r.txt", SOME, dry_run=True)
    done = desk.bring(import_run, "r.txt", SOME)
    assert counts(tried) == counts(done) == (7, 2, 0, 5)
    assert "the same file as before: 2 results of queries that are new in the dataset added" in done.notes
    assert stored(desk)["z"] == [(2, {})]
    assert desk.rows(RunRow.system) == [("s",)]
    before = desk.dump()
    assert counts(desk.bring(import_run, "r.txt", SOME)) == (7, 0, 0, 7)
    assert desk.dump() == before
    assert counts(desk.bring(import_run, "r.txt", SOME, order="rank")) == (7, 0, 3, 4)


def test_the_same_file_with_a_document_twice_is_read_in_either_order(desk: Desk) -> None:
    twice = "Q1 Q0 a 1 0.1 s\nQ1 Q0 b 2 0.5 s\nQ1 Q0 a 3 0.9 s\n"
    desk.bring(import_run, "r.txt", twice, duplicates="first")
    by_score = desk.rows(RunEntryRow.rank, RunEntryRow.score)
    assert counts(desk.bring(import_run, "r.txt", twice, duplicates="first", order="rank"))[1:] == (0, 0, 2)
    assert desk.rows(RunEntryRow.rank, RunEntryRow.score) != by_score
    desk.bring(import_run, "r.txt", twice, duplicates="first")
    assert desk.rows(RunEntryRow.rank, RunEntryRow.score) == by_score


def test_the_same_file_read_as_other_documents_is_refused_as_that(desk: Desk) -> None:
    answers = '{"query_id": "Q1", "results": [{"id": "a", "path": "x", "score": 1}]}'
    desk.bring(import_run, "r.json", answers, system="s")
    with pytest.raises(
        ConflictError, match="this file is the run of 's' already, but its documents are others now"
    ):
        desk.bring(import_run, "r.json", answers, system="s", id_field="path")
    with pytest.raises(ConflictError, match="the system 's' has another run in this dataset already"):
        desk.bring(import_run, "other.txt", SOME, skip_unknown_queries=True)


def test_what_a_run_scores_follows_its_order(database: Database, tmp_path: Path) -> None:
    world = ScoredWorld(database, tmp_path)
    world.both("Q1", "b", 3, 3)
    path = tmp_path / "r.txt"
    path.write_text(CONTRADICTORY)
    reciprocal_ranks = []
    for order in ("rank", "score"):
        import_run(database, OPERATOR, "d", path, now=NOW, order=order)
        bring_up_to_date(database, "d")
        reciprocal_ranks.append(world.scores()[0]["Q1"]["s"][2])
    assert reciprocal_ranks == [0.5, 1.0]
