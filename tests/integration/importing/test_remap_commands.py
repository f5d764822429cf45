"""`annotator import qrels` and `annotator remap`, as a user types them."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.domain.errors import AnnotatorError
from annotator.storage.database import Database
from tests.integration.judged_world import JudgedWorld


def run(database: Database, *words: str) -> Result:
    url = database.url.render_as_string(hide_password=False)
    return CliRunner().invoke(app, ["--database", url, *words])


def read(database: Database, *words: str) -> Any:
    done = run(database, *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    made = JudgedWorld(database)
    made.query("Q1", "検索 🔎")
    made.pair("Q1", "법/1")
    made.pair("Q1", "남은 것")
    made.judge(made.person("ann"), "Q1", "법/1", 3)
    return made


def test_an_earlier_ground_truth_is_imported_and_reported(world: JudgedWorld, tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("Q1 0 مادة/١ 2\nQ1 0 법/1 0\n", encoding="utf-8")
    body = read(world.database, "import", "qrels", "d", str(path), "--dry-run")
    assert (body["kind"], body["read"], body["added"], body["dry_run"]) == ("qrels", 2, 2, True)
    output = run(world.database, "import", "qrels", "d", str(path)).stdout
    assert "qrels: 2 read, 2 new" in output
    assert "- 1 pair was judged here already: the judgments count" in output
    assert "Next: annotator release check d" in output
    assert {pair["doc_id"]: pair["status"] for pair in read(world.database, "pairs", "d")} == {
        "법/1": "single", "남은 것": "unjudged", "مادة/١": "imported",
    }  # fmt: skip
    assert read(world.database, "import", "qrels", "d", str(path), "--rejudge")["changed"] == 1
    assert {pair["doc_id"]: pair["status"] for pair in read(world.database, "pairs", "d")}[
        "مادة/١"
    ] == "unjudged"


def test_an_import_prints_each_step_on_a_terminal(
    world: JudgedWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "queries.csv"
    path.write_text("query_id,text\nQ2,검색\n", encoding="utf-8")
    assert "reading" not in run(world.database, "import", "queries", "d", str(path)).stderr
    terminal = SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("annotator.cli.importing.sys", terminal)
    done = run(world.database, "import", "queries", "d", str(path))
    assert done.exit_code == 0, done.output
    assert f"reading {path} …" in done.stderr


def test_grades_by_is_for_files_without_grades(world: JudgedWorld, tmp_path: Path) -> None:
    path = tmp_path / "ranked.json"
    path.write_text('[{"query": "検索 🔎", "relevant_documents": ["a", "b"]}]', encoding="utf-8")
    words = ("import", "qrels", "d", str(path), "--format", "ranked")
    refused = run(world.database, *words)
    assert isinstance(refused.exception, AnnotatorError) and "--grades-by" in str(refused.exception)
    assert read(world.database, *words, "--grades-by", "all=2")["added"] == 2


def test_a_remap_says_what_it_did_and_what_it_did_not_find(world: JudgedWorld, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("old_doc_id,new_doc_id\n법/1,مادة/١\nない,x\n", encoding="utf-8")
    body = read(world.database, "remap", "d", str(path), "--dry-run")
    assert {key: body[key] for key in ("renamed", "split", "merged", "unknown", "left_over", "dry_run")} == {
        "renamed": {"법/1": "مادة/١"}, "split": {}, "merged": {},
        "unknown": ["ない"], "left_over": ["남은 것"], "dry_run": True,
    }  # fmt: skip
    output = run(world.database, "remap", "d", str(path)).stdout
    assert "2 links: 1 document renamed, 0 split, 0 made of several" in output
    assert "- 1 pair keeps its judgments" in output
    assert "- 1 old id is not in the dataset: ない" in output
    assert "- 1 document with pairs is not in the file: 남은 것" in output
    assert "Next: annotator import documents d PATH" in output
    assert {row["doc_id"] for row in read(world.database, "judgments", "d")} == {"مادة/١"}
    assert "Nothing changed." in run(world.database, "remap", "d", str(path)).stdout


def test_an_annotator_cannot_remap(world: JudgedWorld, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("old_doc_id,new_doc_id\n법/1,x\n", encoding="utf-8")
    done = run(world.database, "remap", "d", str(path), "--as", "ann")
    assert isinstance(done.exception, AnnotatorError)
    assert {row["doc_id"] for row in read(world.database, "judgments", "d")} == {"법/1"}
