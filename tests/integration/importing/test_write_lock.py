"""While files are read and compared, others can write; what they change meanwhile is taken into account."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from annotator.domain.errors import BadInput
from annotator.domain.people import OPERATOR
from annotator.importing.judgments import judgments_sql
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.importing.runs import runs_service
from annotator.importing.runs.runs_service import import_run, import_runs
from annotator.importing.texts.texts_service import import_queries
from annotator.storage.database import Database, lock_dataset
from annotator.storage.judgments import answers
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import JudgmentRow, RunRow
from tests.integration.importing.test_importing import NOW, Desk


@pytest.fixture
def desk(database: Database, tmp_path: Path) -> Desk:
    desk = Desk(database, tmp_path)
    desk.bring(import_queries, "q.csv", "query_id,text\nQ1,検索\n")
    desk.put("runs/a.txt", "Q1 Q0 a 1 2.0 bm25\n")
    desk.put("runs/b.txt", "Q1 Q0 b 1 2.0 dense\n")
    return desk


@pytest.fixture
def other(database: Database) -> Iterator[Database]:
    """Somebody else on the same database, who does not wait for a lock."""
    other = Database(database.url, patience=0.1)
    yield other
    other.dispose()


def while_reading(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Call `act` whenever a run file is read or planned."""
    for name in ("read_run_file", "plan_run", "plan_folder"):
        original = getattr(runs_service, name)

        def acting(*args: Any, original: Any = original, **options: Any) -> Any:
            act()
            return original(*args, **options)

        monkeypatch.setattr(runs_service, name, acting)


def test_nobody_waits_for_a_lock_while_run_files_are_read_and_planned(
    desk: Desk, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = []

    def write() -> None:
        with other.write() as session:
            lock_dataset(session, key_of(find_dataset(session, "d").pk))
        writes.append(True)

    while_reading(monkeypatch, write)
    import_runs(desk.database, OPERATOR, "d", desk.folder / "runs", now=NOW)
    assert len(writes) == 3
    desk.bring(import_run, "c.txt", "Q1 Q0 c 1 2.0 other\n")
    assert len(writes) == 5
    assert len(desk.rows(RunRow.system)) == 3


def test_a_query_that_came_while_the_files_were_read_gets_its_results(
    desk: Desk, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = desk.put("more.csv", "query_id,text\nQ2,질의\n")
    desk.put("runs/a.txt", "Q1 Q0 a 1 2.0 bm25\nQ2 Q0 a 1 2.0 bm25\n")
    while_reading(monkeypatch, lambda: import_queries(other, OPERATOR, "d", queries, now=NOW))
    report = import_runs(
        desk.database, OPERATOR, "d", desk.folder / "runs", now=NOW, skip_unknown_queries=True
    )
    assert report.added == 3


def test_a_bad_file_stores_nothing_of_the_folder(desk: Desk) -> None:
    desk.put("runs/b.txt", "Q1 Q0 b 1 2.0 dense\nunknown Q0 b 1 2.0 dense\n")
    before = desk.dump()
    with pytest.raises(BadInput, match=r"b\.txt:2: expected a query_id"):
        import_runs(desk.database, OPERATOR, "d", desk.folder / "runs", now=NOW)
    assert desk.dump() == before


JUDGMENTS = "query_id,doc_id,annotator,grade\nQ1,a,anna,2\nQ1,b,anna,0\n"


def test_nobody_waits_while_a_file_of_judgments_is_compared_with_the_stored_ones(
    desk: Desk, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.bring(import_judgments, "j.csv", JUDGMENTS)
    look_up, compared = judgments_sql.list_stored_lines, []

    def acting(session: Session, dataset_pk: int, line_ids: Sequence[str]) -> Any:
        if line_ids:
            with other.write() as writing:
                lock_dataset(writing, key_of(find_dataset(writing, "d").pk))
            compared.append(len(line_ids))
        return look_up(session, dataset_pk, line_ids)

    monkeypatch.setattr(judgments_sql, "list_stored_lines", acting)
    report = desk.bring(import_judgments, "j.csv", JUDGMENTS)
    assert (report.unchanged, report.changes_something, compared) == (2, False, [2])


def test_a_line_that_was_stored_while_the_file_was_compared_is_not_stored_twice(
    desk: Desk, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up, path, done = judgments_sql.list_stored_lines, desk.put("j.csv", JUDGMENTS), []

    def acting(session: Session, dataset_pk: int, line_ids: Sequence[str]) -> Any:
        stored = look_up(session, dataset_pk, line_ids)
        if not done:
            done.append(True)
            import_judgments(other, OPERATOR, "d", path, now=NOW)
        return stored

    monkeypatch.setattr(judgments_sql, "list_stored_lines", acting)
    report = import_judgments(desk.database, OPERATOR, "d", path, now=NOW)
    assert (report.added, report.unchanged) == (0, 2)
    assert len(desk.rows(JudgmentRow.pk)) == 2


def test_earlier_judgments_are_not_read_for_lines_without_a_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often a file is imported with other grades, the next import does not read them all."""
    read, asked = answers._read_receipts, []

    def reading(session: Session, pair_pks: Sequence[int], annotator_pks: Sequence[int]) -> Any:
        asked.append(len(pair_pks))
        return read(session, pair_pks, annotator_pks)

    monkeypatch.setattr(answers, "_read_receipts", reading)
    desk.bring(import_judgments, "j.csv", JUDGMENTS)
    timed = "query_id,doc_id,annotator,grade,judged_at\nQ1,a,anna,2,2025-01-02T03:04:05Z\n"
    desk.bring(import_judgments, "timed.csv", timed)
    assert asked == [0, 1]


def test_stored_lines_are_looked_up_by_their_names(desk: Desk) -> None:
    """Not by reading every judgment of the dataset once for each thousand lines."""
    if not desk.database.is_sqlite:
        return
    executed: list[tuple[str, Any]] = []
    event.listen(
        desk.database.engine,
        "before_cursor_execute",
        lambda *arguments: executed.append((arguments[2], arguments[3])),
    )
    with desk.database.read() as session:
        judgments_sql.list_stored_lines(session, 1, [f"line {number}" for number in range(1_000)])
        statement, values = executed[-1]
        plan = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
    assert "(line_id=?)" in str(plan[0])
