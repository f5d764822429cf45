"""In which order a release lists the relevant documents of a query, above all where grades do not tell them apart."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from annotator.adjudication.bulk.bulk_service import order_documents
from annotator.domain.errors import BadInput, NotAllowed
from annotator.domain.people import OPERATOR, Actor
from annotator.formats.registry import read_truth
from annotator.formats.syntax.source import InputSource
from annotator.importing.judgments.judgments_service import import_qrels
from annotator.releases.files_service import verify_release
from annotator.releases.gates_service import check_release
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.adjudication import AuditEventRow, DocumentOrderRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.written_formats import write_files

TEXT = "検索 🔎"
SOURCE = ["z", "a", "문서_9", "m", "b", "y", "c", "x", "d", "w"]


def make_world(database: Database) -> JudgedWorld:
    made = JudgedWorld(database)
    made.query("Q1", TEXT)
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)


@pytest.fixture
def lead(world: JudgedWorld) -> Actor:
    return world.person("editor", "lead")


def publish(world: JudgedWorld, lead: Actor, exports: Path, version: str = "1.0.0") -> Path:
    gates = check_release(world.database, lead, "d").gates
    made = publish_release(
        world.database, lead, "d", version, exports_dir=exports, now=NOW,
        overrides={gate.name: "test" for gate in gates if not gate.met},
    )  # fmt: skip
    assert verify_release(made.path).faults == ()
    return made.path


def read_ranked(folder: Path) -> dict[str, list[str]]:
    ranked: list[dict[str, Any]] = json.loads((folder / "ranked.json").read_bytes())
    return {item["query"]: item["relevant_documents"] for item in ranked}


def read_order(folder: Path) -> dict[str, int]:
    order: dict[str, int] = json.loads((folder / "manifest.json").read_bytes())["order"]
    return order


def write_ranked(folder: Path, documents: list[str], text: str = TEXT) -> Path:
    path = folder / "ranked.json"
    path.write_text(json.dumps([{"query": text, "relevant_documents": documents}], ensure_ascii=False))
    return path


def bring(
    world: JudgedWorld, path: Path, grades_by: str | None = "all=2", **options: Any
) -> tuple[int, int, int]:
    done = import_qrels(world.database, OPERATOR, "d", path, now=NOW, grades_by=grades_by, **options)
    return done.added, done.changed, done.unchanged


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_ranked(tmp_path, SOURCE)


@pytest.mark.parametrize("grades_by", ["all=2", "places=3:3,6:2,10:1"])
def test_an_imported_list_is_published_in_its_own_order(
    world: JudgedWorld, lead: Actor, source: Path, tmp_path: Path, grades_by: str
) -> None:
    bring(world, source, grades_by)
    folder = publish(world, lead, tmp_path)
    assert read_ranked(folder) == {TEXT: SOURCE}
    assert read_order(folder)["undecided"] == 0


def test_the_place_holds_although_the_pairs_are_judged_again(
    world: JudgedWorld, lead: Actor, tmp_path: Path
) -> None:
    bring(world, write_ranked(tmp_path, ["z", "a", "m", "b"]), rejudge=True)
    for person in (world.person("one"), world.person("two")):
        for doc_id, grade in (("z", 1), ("a", 2), ("m", 2), ("b", 1)):
            world.judge(person, "Q1", doc_id, grade)
    assert read_ranked(publish(world, lead, tmp_path)) == {TEXT: ["a", "m", "z", "b"]}


def test_another_order_of_the_same_documents_is_a_change_and_the_latest_holds(
    world: JudgedWorld, lead: Actor, tmp_path: Path
) -> None:
    assert bring(world, write_ranked(tmp_path, ["z", "a", "m"])) == (3, 0, 0)
    assert bring(world, write_ranked(tmp_path, ["z", "a", "m"])) == (0, 0, 3)
    assert bring(world, write_ranked(tmp_path, ["m", "a", "z"])) == (0, 2, 1)
    assert read_ranked(publish(world, lead, tmp_path)) == {TEXT: ["m", "a", "z"]}


def test_the_lines_of_a_table_are_no_order(world: JudgedWorld, lead: Actor, tmp_path: Path) -> None:
    path = tmp_path / "old.qrels"
    path.write_text("".join(f"Q1 0 {doc_id} 2\n" for doc_id in ("z", "a", "m")))
    bring(world, path, None)
    folder = publish(world, lead, tmp_path)
    assert read_order(folder) == {
        "tied": 3, "by_lead": 0, "by_earlier": 0, "undecided": 3, "queries_undecided": 1, "queries_without_relevant": 0,
    }  # fmt: skip
    assert "Ordered by the hash alone: 3, in 1 query." in (folder / "DATASHEET.md").read_text()


def test_the_rank_of_a_system_decides_nothing(database: Database, tmp_path: Path) -> None:
    other = Database(f"sqlite:///{tmp_path / 'other.db'}")
    upgrade_schema(other)
    orders = []
    for index, opened in enumerate((database, other)):
        made = JudgedWorld(opened)
        made.query("Q1", TEXT)
        people = [made.person("one"), made.person("two")]
        for number in range(1, 21):
            made.pair("Q1", f"d{number:02}", rank=21 - number if index else number)
            for person in people:
                made.judge(person, "Q1", f"d{number:02}", 2)
        orders.append(read_ranked(publish(made, made.person("lead", "lead"), tmp_path / str(index)))[TEXT])
    other.dispose()
    assert orders[0] == orders[1]
    assert orders[0] not in (sorted(orders[0]), sorted(orders[0], reverse=True))


def test_a_query_without_a_relevant_document_is_left_out_of_ranked_and_counted(
    world: JudgedWorld, lead: Actor, tmp_path: Path
) -> None:
    people = [world.person("one"), world.person("two")]
    for query_id, grade in (("Q0", 0), ("Q2", 1), ("Q3", 0)):
        world.query(query_id, f"text of {query_id}")
        world.pair(query_id, "d")
        for person in people:
            world.judge(person, query_id, "d", grade)
    folder = publish(world, lead, tmp_path)
    assert read_ranked(folder) == {"text of Q2": ["d"]}
    assert read_order(folder)["queries_without_relevant"] == 2
    assert "leaves out 2 queries that have no relevant document" in (folder / "DATASHEET.md").read_text()
    assert len(json.loads((folder / "law.json").read_bytes())["queries"]) == 3


def test_a_release_written_as_another_ranked_file_keeps_the_order(
    world: JudgedWorld, lead: Actor, source: Path, tmp_path: Path
) -> None:
    bring(world, source)
    folder = publish(world, lead, tmp_path)
    file_format, truth = read_truth(InputSource(str(folder / "ranked.json")), grades_by="all=1")
    assert write_files(file_format, truth)[""] == (folder / "ranked.json").read_bytes()


# --- a lead's order


def put_in_order(world: JudgedWorld, lead: Actor, *lines: str, **options: Any) -> tuple[int, int, int]:
    data = "\n".join(["query_id,doc_id", *lines]).encode()
    done = order_documents(world.database, lead, "d", data, "order.csv", now=NOW, **options)
    return done.queries, done.unchanged, done.documents


def test_a_lead_orders_documents_of_one_grade_before_an_imported_place(
    world: JudgedWorld, lead: Actor, tmp_path: Path
) -> None:
    bring(world, write_ranked(tmp_path, ["z", "a", "m", "b"]), "places=3:3,4:2")
    assert put_in_order(world, lead, "Q1,b", "Q1,m", "Q1,a") == (1, 0, 3)
    folder = publish(world, lead, tmp_path)
    assert read_ranked(folder) == {TEXT: ["m", "a", "z", "b"]}
    order = read_order(folder)
    assert (order["tied"], order["by_lead"], order["by_earlier"], order["undecided"]) == (3, 2, 1, 0)
    assert "Ordered by a lead: 2." in (folder / "DATASHEET.md").read_text()


def test_the_latest_order_holds_and_the_same_again_stores_nothing(
    world: JudgedWorld, lead: Actor, tmp_path: Path
) -> None:
    bring(world, write_ranked(tmp_path, ["z", "a", "m"]))
    assert put_in_order(world, lead, "Q1,m", "Q1,a", "Q1,z", dry_run=True) == (1, 0, 3)
    assert put_in_order(world, lead, "Q1,a", "Q1,m") == (1, 0, 2)
    assert put_in_order(world, lead, "Q1,m", "Q1,a", "Q1,z") == (1, 0, 3)
    assert put_in_order(world, lead, "Q1,m", "Q1,a", "Q1,z") == (0, 1, 3)
    assert read_ranked(publish(world, lead, tmp_path)) == {TEXT: ["m", "a", "z"]}
    with world.database.read() as session:
        assert len(session.scalars(select(DocumentOrderRow)).all()) == 2
        events = session.scalars(
            select(AuditEventRow).where(AuditEventRow.action == "ordered documents")
        ).all()
    assert [event.after for event in events] == [
        {"queries": 1, "documents": 2},
        {"queries": 1, "documents": 3},
    ]


def test_a_bad_line_stores_nothing_and_every_one_is_named(
    world: JudgedWorld, lead: Actor, tmp_path: Path
) -> None:
    bring(world, write_ranked(tmp_path, ["z", "a"]))
    with pytest.raises(BadInput) as raised:
        put_in_order(world, lead, "Q1,z", "Q1,missing", "Q9,a", "Q1,z")
    assert [problem.line for problem in raised.value.problems] == [3, 4, 5]
    with pytest.raises(BadInput):
        order_documents(world.database, lead, "d", b"query_id,doc_id,grade\nQ1,z,3\n", "o.csv", now=NOW)
    with world.database.read() as session:
        assert session.scalars(select(DocumentOrderRow)).all() == []


def test_only_a_lead_orders_documents(world: JudgedWorld, lead: Actor, tmp_path: Path) -> None:
    bring(world, write_ranked(tmp_path, ["z", "a"]))
    with pytest.raises(NotAllowed):
        put_in_order(world, world.person("hana"), "Q1,z")
