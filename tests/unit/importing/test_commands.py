"""`annotator convert` and `annotator check`, as a user runs them."""

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from annotator.cli.main import app
from annotator.domain.errors import AnnotatorError, BadInput, ConflictError, GateNotMet, ValidationError
from annotator.formats.registry import FORMATS, find_format, read_truth
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files

LAW = {
    "version": "1.0",
    "queries": [
        {
            "query_id": "Q 1",
            "query_text": "17조 검색 🔎",
            "query_type": "specific_article",
            "ground_truth": {
                "법률 제17조": {"relevance": 3, "annotator_1": 3, "annotator_2": 2, "notes": "직접"},
                "無": {"relevance": 0},
            },
        }
    ],
}
RANKED = [{"query": "顧客満足度", "relevant_documents": ["가", "나", "다", "라"]}]


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), catch_exceptions=True)


def refused(*words: str) -> AnnotatorError:
    done = run(*words)
    assert isinstance(done.exception, AnnotatorError), done.exception
    return done.exception


@pytest.fixture
def law(tmp_path: Path) -> Path:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(LAW, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def ranked(tmp_path: Path) -> Path:
    path = tmp_path / "in-ranked.json"
    path.write_text(json.dumps(RANKED, ensure_ascii=False), encoding="utf-8")
    return path


def test_each_loss_is_said_before_the_file_is(law: Path, tmp_path: Path) -> None:
    done = run("convert", str(law), str(tmp_path / "nablarch.yaml"))
    lines = done.stdout.splitlines()
    assert lines[0] == f"What nablarch cannot hold of {law}:"
    assert any("1 note left out" in line for line in lines)
    assert any("grade 0 left out" in line for line in lines)
    assert lines[-1].startswith(f"{tmp_path / 'nablarch.yaml'}: nablarch, ")
    _, truth = read_truth(InputSource(str(tmp_path / "nablarch.yaml")))
    assert [(qrel.doc_id, qrel.grade) for qrel in truth.qrels] == [("법률 제17조", 3)]


def test_grade_0_is_listed_when_asked_for(law: Path, tmp_path: Path) -> None:
    run("convert", str(law), str(tmp_path / "nablarch.yaml"), "--list-grade-0")
    _, truth = read_truth(InputSource(str(tmp_path / "nablarch.yaml")))
    assert [qrel.grade for qrel in truth.qrels] == [3, 0]


def test_the_bytes_are_those_that_the_format_writes(law: Path, tmp_path: Path) -> None:
    for file_format in FORMATS:
        target = tmp_path / f"out-{file_format.name}"
        done = run("convert", str(law), str(target), "--to", file_format.name)
        if file_format.name == "trec":
            continue
        assert done.exit_code == 0, done.exception
        _, truth = read_truth(InputSource(str(law)))
        for path, data in write_files(file_format, truth).items():
            assert (target / path if path else target).read_bytes() == data


def test_a_file_that_would_be_wrong_is_not_written(law: Path, tmp_path: Path) -> None:
    error = refused("convert", str(law), str(tmp_path / "x.qrels"))
    assert isinstance(error, ValidationError)
    assert "nothing was written" in str(error)
    assert "'Q 1'" in str(error)
    assert not (tmp_path / "x.qrels").exists()
    done = run("convert", str(law), str(tmp_path / "x.qrels"), "--json")
    assert json.loads(done.stdout)["written"] is False
    assert {loss["wrong"] for loss in json.loads(done.stdout)["losses"]} == {True, False}


def test_as_json_there_is_one_document_and_the_losses_are_on_stderr_first(law: Path, tmp_path: Path) -> None:
    done = run("convert", str(law), str(tmp_path / "x.jsonl"), "--json")
    shown = json.loads(done.stdout)
    assert (shown["from"], shown["to"], shown["queries"], shown["qrels"], shown["written"]) == (
        "law",
        "jsonl",
        1,
        2,
        True,
    )
    assert shown["files"][0]["bytes"] == (tmp_path / "x.jsonl").stat().st_size
    assert shown["losses"][0]["what"] in done.stderr


def test_a_target_that_is_there_stays_unless_it_may_be_overwritten(law: Path, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("mine")
    assert isinstance(refused("convert", str(law), str(tmp_path / "x.jsonl")), ConflictError)
    assert (tmp_path / "x.jsonl").read_text() == "mine"
    assert run("convert", str(law), str(tmp_path / "x.jsonl"), "--overwrite").exit_code == 0
    assert (tmp_path / "x.jsonl").read_text() != "mine"


def test_a_file_may_be_written_over_itself(law: Path) -> None:
    assert run("convert", str(law), str(law), "--to", "law", "--overwrite").exit_code == 0
    assert read_truth(InputSource(str(law)))[1].queries[0].query_id == "Q 1"


def test_a_ranked_file_needs_a_rule_for_its_grades(ranked: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "x.qrels")
    assert "--grades-by" in str(refused("convert", str(ranked), target))
    assert run("convert", str(ranked), target, "--grades-by", "position").exit_code == 0
    assert Path(target).read_text(encoding="utf-8").split()[3::4] == ["4", "3", "2", "1"]
    wrong = refused("convert", str(ranked), str(tmp_path / "law.json"), "--grades-by", "position")
    assert "outside of 0 to 3" in str(wrong)
    assert run("convert", str(ranked), str(tmp_path / "law.json"), "--grades-by", "all=2").exit_code == 0


def test_queries_of_another_file_give_texts_and_for_ranked_ids(ranked: Path, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("query_id,text,language\nS-7,顧客満足度,ja\n", encoding="utf-8")
    queries = ("--queries", str(tmp_path / "q.csv"))
    assert (
        run("convert", str(ranked), str(tmp_path / "x.qrels"), "--grades-by", "all=1", *queries).exit_code
        == 0
    )
    assert (tmp_path / "x.qrels").read_text(encoding="utf-8").startswith("S-7 ")
    assert run("convert", str(tmp_path / "x.qrels"), str(tmp_path / "law.json"), *queries).exit_code == 0
    (query,) = read_truth(InputSource(str(tmp_path / "law.json")))[1].queries
    assert (query.query_id, query.text, query.language) == ("S-7", "顧客満足度", "ja")


def test_another_encoding_is_read_when_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes("検索 0 文書 3\n".encode("cp932"))
    assert isinstance(refused("check", str(tmp_path / "x.txt"), "--format", "trec"), BadInput)
    assert (
        run("convert", str(tmp_path / "x.txt"), str(tmp_path / "y.txt"), "--encoding", "cp932").exit_code == 0
    )
    assert (tmp_path / "y.txt").read_text(encoding="utf-8") == "検索 0 文書 3\n"


def test_neither_needs_a_database(law: Path, tmp_path: Path) -> None:
    """As a process, in an empty folder, with an address that leads nowhere."""
    folder = tmp_path / "empty"
    folder.mkdir()
    for words in (["check", str(law)], ["convert", str(law), "law.json"]):
        done = subprocess.run(
            [Path(sys.executable).with_name("annotator"), *words],
            cwd=folder, env={"ANNOTATOR_DATABASE_URL": "postgresql+psycopg://nowhere.invalid/x", "PATH": ""},
            capture_output=True, text=True, check=False, encoding="utf-8",
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in folder.iterdir()] == ["law.json"]


def test_check_says_what_a_file_holds_and_covers(law: Path) -> None:
    done = run("check", str(law))
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{law}: valid law: 1 query, 2 qrels\nBy grade: 0: 1, 1: 0, 2: 0, 3: 1\n")
    assert "--requirements" in done.stdout
    shown = json.loads(run("check", str(law), "--json").stdout)
    assert shown["valid"] is True
    assert shown["by_grade"] == {"0": 1, "1": 0, "2": 0, "3": 1}
    assert shown["problems"] == []
    assert shown["coverage"]["figures"]["queries_with_one_relevant"] == {"count": 1, "query_ids": ["Q 1"]}


def test_missing_requirements_are_exit_3_with_the_table(law: Path, tmp_path: Path) -> None:
    done = run("check", str(law), "--requirements", "law")
    assert isinstance(done.exception, GateNotMet)
    assert "NOT MET  size" in done.stdout
    assert (
        json.loads(run("check", str(law), "--requirements", "law", "--json").stdout)["coverage"]["met"] == 1
    )
    (tmp_path / "r.yaml").write_text("queries: 1\n")
    assert run("check", str(law), "--requirements", str(tmp_path / "r.yaml")).exit_code == 0


def test_an_invalid_file_is_named_with_all_its_problems_also_as_json(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(
        'queries:\n  - id: ""\n    query: [1]\n  - id: Q\n    query: "x"\n    expected_docs:\n      - {doc_id: d, relevance: 4}\n'
    )
    error = refused("check", str(path))
    assert isinstance(error, BadInput)
    assert [problem.line for problem in error.problems] == [2, 3, 7]
    done = run("check", str(path), "--json")
    shown = json.loads(done.stdout)
    assert isinstance(done.exception, BadInput)
    assert (shown["valid"], shown["coverage"]) == (False, None)
    assert shown["problems"][2] == {
        "path": str(path), "line": 7, "place": "queries[1].expected_docs[0].relevance",
        "expected": "a grade 0, 1, 2 or 3", "found": "'4'",
    }  # fmt: skip


def test_a_ranked_file_is_checked_without_a_rule(ranked: Path) -> None:
    done = run("check", str(ranked))
    assert "The file has no grades; these counts use all=1." in done.stdout
    assert json.loads(run("check", str(ranked), "--json").stdout)["grades_by"] == "all=1"


@pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
def test_every_format_can_be_checked(file_format: object, law: Path, tmp_path: Path) -> None:
    truth = read_truth(InputSource(str(law)))[1]
    name = file_format.name  # type: ignore[attr-defined]
    if name == "trec":
        return
    for path, data in write_files(find_format(name), truth).items():
        target = tmp_path / "f" / path if path else tmp_path / "f"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    done = run("check", str(tmp_path / "f"), "--format", name)
    assert done.exit_code == 0, done.exception


@pytest.mark.parametrize(
    "command", ["check SOURCE", "convert SOURCE TARGET", "import queries nowhere SOURCE"]
)
@pytest.mark.parametrize("is_good", [True, False])
def test_python_collects_cycles_again_when_a_command_on_a_file_has_ended(
    law: Path, tmp_path: Path, command: str, is_good: bool
) -> None:
    if not is_good:
        law.write_text("[", encoding="utf-8")
    words = {"SOURCE": str(law), "TARGET": str(tmp_path / "out.yaml")}
    run("--database", f"sqlite:///{tmp_path / 'a.db'}", *(words.get(word, word) for word in command.split()))
    was_on = gc.isenabled()
    gc.enable()
    assert was_on
