"""A `ranked` file with an empty list stops its evaluator: `check` names the query and its line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.formats.content_warnings import EmptyList, describe_empty_lists

FILE = """[
  {"query": "検索", "relevant_documents": ["a"]},
  {"query": "민법",
   "relevant_documents": []},
  {"query": "b", "relevant_documents": []}
]
"""


@pytest.mark.parametrize("grades_by", [(), ("--grades-by", "places=1:3")])
def test_check_warns_of_every_query_without_a_relevant_document(
    tmp_path: Path, grades_by: tuple[str, ...]
) -> None:
    path = tmp_path / "ranked.json"
    path.write_text(FILE, encoding="utf-8")
    done = CliRunner().invoke(app, ["check", str(path), *grades_by])
    assert done.exit_code == 0
    assert f"Warning: {path}:3: q2 '민법' lists no relevant document" in done.stderr
    assert f"Warning: {path}:5: q3 'b' lists no relevant document" in done.stderr
    assert "q1" not in done.stderr
    report = json.loads(CliRunner().invoke(app, ["check", str(path), "--json"]).stdout)
    assert report["empty_lists"] == [
        {"query_id": "q2", "line": 3, "text": "민법"},
        {"query_id": "q3", "line": 5, "text": "b"},
    ]


def test_a_format_that_holds_such_queries_is_not_warned_about(tmp_path: Path) -> None:
    path = tmp_path / "law.json"
    path.write_text(
        '{"queries": [{"query_id": "Q", "query_text": "t", "ground_truth": {}}]}', encoding="utf-8"
    )
    done = CliRunner().invoke(app, ["check", str(path), "--format", "law"])
    assert (done.exit_code, "lists no relevant document" in done.stderr) == (0, False)


def test_the_first_are_named_and_the_others_counted() -> None:
    sentences = list(describe_empty_lists("f", tuple(EmptyList(f"q{n}", None, "t") for n in range(7))))
    assert len(sentences) == 6
    assert sentences[-1] == "f: 2 more queries list no relevant document (--json lists all)"
