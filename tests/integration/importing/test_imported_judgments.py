"""Of an imported judgment nothing is claimed that nobody knows: when it was made, and by which guideline."""

import csv
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.domain.people import OPERATOR
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.labeling.service import list_judgments
from annotator.releases.gates_service import check_release
from annotator.releases.published_service import trace_qrel
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.logs.import_records import list_import_records
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW.replace(day=20)
LINES = """query_id,doc_id,annotator,grade,judged_at
Q1,甲,花子,2,
Q1,乙,花子,1,2019-05-06T07:08:09Z
"""


class Imported(JudgedWorld):
    """甲 and 乙 were judged elsewhere, 丙 in the program."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database)
        self.lead = self.person("editor", "lead")
        self.query("Q1", "検索")
        for doc_id in ("甲", "乙", "丙"):
            self.pair("Q1", doc_id)
        self.path = folder / "金.csv"
        self.path.write_text(LINES, encoding="utf-8")
        import_judgments(database, OPERATOR, "d", self.path, now=NOW)
        self.judge(self.person("민준"), "Q1", "丙", 3)

    def publish(self, folder: Path) -> Path:
        gates = check_release(self.database, self.lead, "d").gates
        overrides = {gate.name: "x" for gate in gates if not gate.met}
        made = publish_release(
            self.database, self.lead, "d", "1.0.0", exports_dir=folder, now=LATER, overrides=overrides
        )
        return made.path

    def forget_record(self) -> None:
        """As if imports had not been recorded yet."""
        postgresql = self.database.engine.dialect.name == "postgresql"
        with self.database.write() as session:
            name = (
                "ALTER TABLE judgment DISABLE TRIGGER USER"
                if postgresql
                else "DROP TRIGGER judgment_no_update"
            )
            session.execute(text(name))
            session.execute(text("UPDATE judgment SET import_record_pk = NULL"))


@pytest.fixture
def world(copy_world: CopyWorld) -> Imported:
    return copy_world(Imported)


def find_known(world: Imported) -> dict[str, tuple[datetime | None, int | None]]:
    judgments = list_judgments(world.database, OPERATOR, "d")
    return {judgment.doc_id: (judgment.judged_at, judgment.guideline_version) for judgment in judgments}


STATED = datetime(2019, 5, 6, 7, 8, 9, tzinfo=UTC)


def test_what_a_file_does_not_say_is_not_claimed(world: Imported) -> None:
    times = find_known(world)
    assert (times["甲"], times["乙"]) == ((None, None), (STATED, None))
    assert times["丙"][0] is not None
    assert times["丙"][1] == 1


def test_judgments_that_were_imported_before_there_were_records_are_told_by_their_line(
    world: Imported,
) -> None:
    before = find_known(world)
    world.forget_record()
    assert find_known(world) == before


def test_the_release_leaves_empty_what_is_not_known(world: Imported, tmp_path: Path) -> None:
    folder = world.publish(tmp_path / "exports")
    with (folder / "judgments.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["doc_id"]: row for row in csv.DictReader(file)}
    assert (rows["甲"]["judged_at"], rows["甲"]["guideline_version"]) == ("", "")
    assert (rows["乙"]["judged_at"], rows["乙"]["guideline_version"]) == ("2019-05-06T07:08:09Z", "")
    assert rows["丙"]["guideline_version"] == "1"
    assert rows["丙"]["judged_at"]
    report = import_judgments(
        world.database, OPERATOR, "d", folder / "judgments.csv", now=LATER, dry_run=True
    )
    assert report.read == 3


def test_the_history_of_a_published_grade_says_so_too(world: Imported, tmp_path: Path) -> None:
    world.publish(tmp_path / "exports")
    for doc_id, when in (("甲", None), ("乙", STATED)):
        trace = trace_qrel(world.database, world.lead, "d", "1.0.0", "Q1", doc_id, now=NOW)
        (judgment,) = trace.judgments
        assert (judgment.judged_at, judgment.guideline_version) == (when, None)


def test_the_command_writes_null(world: Imported) -> None:
    done = CliRunner().invoke(app, ["judgments", "d", "--json", "--database", world.url])
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    rows_by_document = {row["doc_id"]: (row["judged_at"], row["guideline_version"]) for row in rows}
    assert (rows_by_document["甲"], rows_by_document["乙"]) == ((None, None), ("2019-05-06T07:08:09Z", None))


def test_what_is_declared_is_kept_and_told_in_the_datasheet(world: Imported, tmp_path: Path) -> None:
    provenance = tmp_path / "由来.yaml"
    provenance.write_text("who: 司書 2名\nblind: true\n", encoding="utf-8")
    qrels = tmp_path / "旧.txt"
    qrels.write_text("Q1 0 丁 3\n", encoding="utf-8")
    done = CliRunner().invoke(
        app, ["import", "qrels", "d", str(qrels), "--provenance", str(provenance), "--database", world.url]
    )
    assert done.exit_code == 0, done.output
    more = tmp_path / "more.csv"
    more.write_text("query_id,doc_id,annotator,grade\nQ1,丙,花子,3\n", encoding="utf-8")
    done = CliRunner().invoke(
        app,
        ["import", "judgments", "d", str(more), "--provenance", str(provenance), "--database", world.url],
    )
    assert done.exit_code == 0, done.output
    with world.database.read() as session:
        declared = [record.declared for record in list_import_records(session, world.dataset_pk)]
    assert declared == [None, {"who": "司書 2名", "blind": True}, {"who": "司書 2名", "blind": True}]
    sheet = (world.publish(tmp_path / "exports") / "DATASHEET.md").read_text("utf-8")
    assert '- 2 judgments from "金.csv"' in sheet
    assert '- 1 qrel from "旧.txt", trec; imported: ' in sheet
    assert "    - Who judged: 司書 2名\n    - When: not known\n" in sheet
    assert "1 judgment made in this program. Each annotator judged alone" in sheet


def test_a_provenance_file_that_is_wrong_stops_the_import(world: Imported, tmp_path: Path) -> None:
    provenance = tmp_path / "p.yaml"
    provenance.write_text("whom: x\n", encoding="utf-8")
    words = [
        "import",
        "judgments",
        "d",
        str(world.path),
        "--provenance",
        str(provenance),
        "--database",
        world.url,
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code != 0
    assert "whom" in str(done.exception)


HEAD = "query_id,doc_id,annotator,grade"


@pytest.mark.parametrize(
    ("files", "holds", "history"),
    [
        (["2", "0 2"], 2, [2, 0, 2]),
        (["2 0", "1 2"], 2, [2, 0, 1, 2]),
        (["2 0 2", "1 2"], 2, [2, 0, 2, 1, 2]),
        (["2", "0 2 1"], 1, [2, 0, 1]),
        (["2", "2 0"], 0, [2, 0]),
        (["2 0", "0 2"], 0, [2, 0]),
    ],
)
def test_the_last_line_holds_also_where_an_earlier_file_said_it(
    world: Imported, files: list[str], holds: int, history: list[int]
) -> None:
    path = world.path.with_name("further.csv")
    for day, grades in enumerate(files, 11):
        path.write_text("\n".join((HEAD, *(f"Q1,丙,花子,{grade}" for grade in grades.split()))), "utf-8")
        for _ in range(2):  # the second time changes nothing
            import_judgments(world.database, OPERATOR, "d", path, now=NOW.replace(day=day))
    judgments = list_judgments(world.database, OPERATOR, "d")
    assert [
        judgment.grade for judgment in judgments if (judgment.doc_id, judgment.annotator) == ("丙", "花子")
    ] == [holds]
    judgments = list_judgments(world.database, OPERATOR, "d", history=True)
    assert [
        judgment.grade for judgment in judgments if (judgment.doc_id, judgment.annotator) == ("丙", "花子")
    ] == history


def test_which_of_contradicting_lines_holds_is_said(world: Imported) -> None:
    path = world.path.with_name("timed.csv")
    path.write_text(f"{HEAD},judged_at\nQ1,丙,花子,2,2019-05-06\nQ1,丙,花子,0,2019-05-05\n", "utf-8")
    report = import_judgments(world.database, OPERATOR, "d", path, now=LATER)
    assert report.notes[-1].endswith("the latest by its time (judged_at) counts, or else the last line")
    judgments = list_judgments(world.database, OPERATOR, "d")
    assert [
        judgment.grade for judgment in judgments if (judgment.doc_id, judgment.annotator) == ("丙", "花子")
    ] == [2]


def test_what_is_declared_of_a_file_that_is_imported_already_is_kept_with_that_import(
    world: Imported, tmp_path: Path
) -> None:
    def again(path: Path, who: str, **options: Any) -> str:
        done = import_judgments(
            world.database, OPERATOR, "d", path, now=LATER, declared={"who": who}, **options
        )
        return " ".join(note for note in done.notes if "declaration" in note)

    kept = "your declaration is kept with the earlier import of this file: later releases show it"
    assert again(world.path, "a", dry_run=True) == kept
    assert again(world.path, "two") == kept
    assert again(world.path, "two") == ""
    assert again(world.path, "two lawyers") == kept
    other = tmp_path / "same lines.csv"
    other.write_text(LINES + "\n", encoding="utf-8")
    assert "your declaration is not kept" in again(other, "nobody")
    sheet = (world.publish(tmp_path) / "DATASHEET.md").read_text(encoding="utf-8")
    assert "Who judged: two lawyers\n" in sheet
