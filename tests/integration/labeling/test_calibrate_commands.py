"""`annotator calibrate …`, as a user types it."""

import json
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.storage.database import Database
from tests.integration.judged_world import JudgedWorld


def run(database: Database, *words: str) -> Result:
    url = database.url.render_as_string(hide_password=False)
    return CliRunner().invoke(app, ["--database", url, "calibrate", *words])


def test_pairs_are_marked_listed_answered_shown_and_unmarked(database: Database, tmp_path: Path) -> None:
    world = JudgedWorld(database)
    world.query("Q1", "検索")
    world.pair("Q1", "문서/1")
    world.pair("Q1", "문서/2")
    ann = world.person("ann")
    path = tmp_path / "marks.csv"
    path.write_text("query_id,doc_id,kind,grade,explanation\nQ1,문서/1,training,3,答え\nQ1,문서/2,gold,1,\n")
    assert "No pairs are marked." in run(database, "list", "d").stdout
    assert "Would mark 2 new pairs" in run(database, "mark", "d", str(path), "--dry-run").stdout
    done = run(database, "mark", "d", str(path), "--json")
    assert json.loads(done.stdout) == {"added": 2, "changed": 0, "unchanged": 0, "dry_run": False}
    assert "答え" in run(database, "list", "d").stdout
    world.judge(ann, "Q1", "문서/2", 3, purpose="gold")
    (result,) = json.loads(run(database, "results", "d", "--json").stdout)
    assert result["annotator"] == "ann"
    assert result["gold"]["misses"] == [{"query_id": "Q1", "doc_id": "문서/2", "right": 1, "given": 3}]
    assert result["repeats"]["why"] == "no pair has been judged a second time"
    assert "+2.00" in run(database, "results", "d").stdout
    assert "back in normal labeling" in run(database, "unmark", "d", "Q1", "문서/2").stdout
    assert [check["doc_id"] for check in json.loads(run(database, "list", "d", "--json").stdout)] == [
        "문서/1"
    ]
    refused = run(database, "unmark", "d", "Q1", "문서/2")
    assert "annotator calibrate list d" in str(refused.exception)
