"""What the page Queries and documents does, by commands: look at a file, read other columns, say what a dataset holds."""

import json
from pathlib import Path

from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from tests.integration.judged_world import NOW


def run(database: Database, *arguments: object, code: int = 0) -> str:
    url = database.url.render_as_string(hide_password=False)
    result = CliRunner().invoke(app, ["--database", url, *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stdout


def test_a_table_of_other_columns_is_looked_at_imported_and_counted(
    database: Database, tmp_path: Path
) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    path = tmp_path / "질의.csv"
    path.write_bytes("번호,질의\nQ1,로그 출력 위치를 바꾸는 방법\n".encode("cp949"))
    (item,) = json.loads(run(database, "import", "look", path, "--json"))
    assert (item["kind"], item["encoding"], item["is_certain"]) == ("queries", "cp949", False)
    assert item["preview"]["rows"] == [["Q1", "로그 출력 위치를 바꾸는 방법"]]
    assert "--encoding cp949 --column query_id=번호 --column text=질의" in run(
        database, "import", "look", path
    )
    command = ("import", "queries", "d", path, "--encoding", "cp949", "--column", "query_id=번호")
    run(database, *command, "--column", "text", code=2)
    counts = json.loads(run(database, *command, "--column", "text=질의", "--json"))
    assert (counts["added"], counts["unchanged"]) == (1, 0)
    held = json.loads(run(database, "import", "contents", "d", "--json"))
    assert [(item["kind"], item["count"]) for item in held["counts"] if item["count"]] == [("queries", 1)]
    assert held["counts"][0]["last"]["path"] == str(path)
    assert "queries" in run(database, "import", "contents", "d")


def test_judgments_and_documents_are_counted_with_what_has_no_text(
    database: Database, tmp_path: Path
) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    for kind, text in (
        ("queries", "query_id,text\nQ1,x\n"),
        ("documents", "doc_id,title,text\na,t,x\n"),
        ("judgments", "query_id,doc_id,annotator,grade\nQ1,a,花子,2\nQ1,b,花子,0\n"),
    ):
        path = tmp_path / f"{kind}.csv"
        path.write_text(text, encoding="utf-8")
        run(database, "import", kind, "d", path)
    held = json.loads(run(database, "import", "contents", "d", "--json"))
    counts = {item["kind"]: item["count"] for item in held["counts"]}
    assert counts == {"queries": 1, "documents": 2, "run": 0, "pairs": 2, "judgments": 2, "qrels": 0}
    assert held["without_text"] == 1
