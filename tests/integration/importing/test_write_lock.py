"""While run files are read, others can write; what they change meanwhile is taken into account."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.errors import BadInput
from annotator.domain.people import OPERATOR
from annotator.importing.runs import runs_service
from annotator.importing.runs.runs_service import import_run, import_runs
from annotator.importing.texts.texts_service import import_queries
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import RunRow
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
