"""Where results come from, by the command: from files and from imported runs, with the worked examples of the definitions."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.domain.people import OPERATOR
from annotator.evaluation.service import EvaluationRequest, evaluate_dataset
from annotator.importing.runs.runs_service import import_run
from annotator.storage.database import Database
from tests.integration.judged_world import NOW, JudgedWorld

QUERY = {"query_id": "Q1", "text": "17조", "primary_domain": "토지", "needs_a2a": True}
TYPES = {"a": "법률", "b": "법률", "c": "시행령", "d": "시행규칙", "e": "시행령", "f": "법률"}
RESULTS = [
    {"doc_id": "a", "source_domain": "토지"},
    {"doc_id": "b", "source_domain": "토지"},
    {"doc_id": "c", "source_domain": "토지"},
    {"doc_id": "d", "stages": ["rne_sibling"], "hops": 1, "source_domain": "도시"},
    {"doc_id": "f", "stages": ["rne_reference"], "hops": 2, "source_domain": "도시"},
    {"doc_id": "x", "stages": ["rne_reference"], "hops": 2, "source_domain": "도시"},
]
ANSWER = {
    "query_id": "Q1",
    "domains": ["도시", "토지"],
    "raw_results": ["a", "a", "b", {"doc_id": "b"}, "c", "d", "f", "x"],
    "results": RESULTS,
}


def write_truth(folder: Path) -> str:
    """A BEIR folder: six relevant documents, with their types in the corpus."""
    truth = folder / "beir"
    (truth / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": doc_id, "title": "", "text": "", "metadata": {"law_type": kind}}
        for doc_id, kind in TYPES.items()
    ]
    query = {
        "_id": "Q1",
        "text": QUERY["text"],
        "metadata": {name: QUERY[name] for name in ("primary_domain", "needs_a2a")},
    }
    for name, lines in (("corpus", corpus), ("queries", [query])):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (truth / f"{name}.jsonl").write_text(text, encoding="utf-8")
    qrels = "".join(f"Q1\t{doc_id}\t2\n" for doc_id in TYPES)
    (truth / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + qrels)
    return str(truth)


def write_run(folder: Path, answer: dict[str, Any] = ANSWER) -> str:
    path = folder / "laws.jsonl"
    path.write_text(json.dumps(answer, ensure_ascii=False) + "\n", encoding="utf-8")
    return str(path)


def evaluate(*arguments: str) -> Any:
    result = CliRunner().invoke(app, ["evaluate", *arguments])
    assert result.exit_code == 0, result.output + str(result.exception)
    return result


def test_every_figure_is_measured_from_the_fields_that_files_carry(tmp_path: Path) -> None:
    relations = tmp_path / "relations.csv"
    relations.write_text("from,to,relation\na,b,refers\nc,e,refers\nx,y,refers\n")
    output = evaluate(
        write_truth(tmp_path), write_run(tmp_path), "--relations", str(relations), "--order", "rank", "--json"
    ).stdout
    (structure,) = json.loads(output)["structure"]
    assert structure["system"] == "laws"
    rne, *stages = structure["stages"]
    assert rne["discovery"] == {"value": pytest.approx(2 / 6), "queries": 1}
    assert rne["precision"]["value"] == pytest.approx(2 / 3)
    assert rne["precision_gain"]["value"] == pytest.approx(5 / 6 - 1)
    assert rne["hops"] == {"1": 1, "2": 2}
    assert [stage["stage"] for stage in stages] == ["rne_reference", "rne_sibling"]
    assert structure["types"] == {
        "share": pytest.approx(2 / 3),
        "found": 2,
        "relevant": 3,
        "by_type": {
            "시행규칙": {"found": 1, "relevant": 1},
            "시행령": {"found": 1, "relevant": 2},
        },
    }
    assert structure["graph"]["nodes"]["value"] == pytest.approx(3 / 4)
    assert structure["graph"]["edges"]["value"] == pytest.approx(1 / 2)
    assert structure["routing"] == {"queries": 1, "accuracy": {"1": 0.0, "3": 1.0, "5": 1.0}, "mrr": 0.5}
    assert structure["collaboration"]["trigger_accuracy"]["value"] == 1.0
    assert structure["collaboration"]["contribution"]["value"] == pytest.approx(2 / 6)
    assert structure["collaboration"]["precision"]["value"] == pytest.approx(2 / 3)
    assert structure["collaboration"]["primary_precision"]["value"] == 1.0
    assert structure["duplicates"] == {"before": 0.25, "after": 0.0, "effectiveness": 1.0}


def test_the_screen_names_each_figure_and_over_what_it_is_taken(tmp_path: Path) -> None:
    output = evaluate(write_truth(tmp_path), write_run(tmp_path), "--order", "rank").output
    assert "Where results come from" in output
    assert "RNE discovery" in output
    assert "2 of 3 documents" in output


def test_another_document_field_and_its_primary_type_can_be_chosen(tmp_path: Path) -> None:
    arguments = (write_truth(tmp_path), write_run(tmp_path), "--order", "rank", "--json")
    structure = json.loads(evaluate(*arguments, "--types", "law_type=시행령").stdout)["structure"][0]
    assert (structure["types"]["found"], structure["types"]["relevant"]) == (4, 4)
    refused = CliRunner().invoke(app, ["evaluate", *arguments, "--types", "law_type"])
    assert "--types: expected FIELD=TYPE" in refused.output + str(refused.exception)


def test_plain_runs_and_truths_have_no_structure(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 3\n")
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 9 plain\n")
    report = json.loads(evaluate(str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt"), "--json").stdout)
    assert report["structure"] == []


def test_a_run_of_domains_is_measured_as_routing(tmp_path: Path) -> None:
    (tmp_path / "routes.txt").write_text("Q1 Q0 도시 1 9 router\nQ1 Q0 토지 2 8 router\n", encoding="utf-8")
    report = json.loads(evaluate(write_truth(tmp_path), str(tmp_path / "routes.txt"), "--json").stdout)
    assert report["structure"][0]["routing"]["mrr"] == 0.5


def test_a_document_listed_twice_counts_at_its_first_result_if_wanted(tmp_path: Path) -> None:
    truth = write_truth(tmp_path)
    answer = {"query_id": "Q1", "results": [{"doc_id": name} for name in ("x", "a", "a", "b")]}
    run = write_run(tmp_path, answer)
    refused = CliRunner().invoke(app, ["evaluate", truth, run])
    assert "each document of a query once" in str(refused.exception)
    arguments = (truth, run, "--keep-first", "--order", "rank", "--measures", "P@3,RR", "--json")
    report = json.loads(evaluate(*arguments).stdout)
    measures = report["systems"][0]["measures"]
    assert measures["P@3"]["value"] == pytest.approx(2 / 3)
    assert measures["RR"]["value"] == 0.5
    assert report["structure"][0]["duplicates"] == {"before": None, "after": 0.25, "effectiveness": None}


@pytest.mark.parametrize(
    ("content", "said"),
    [("from,till\na,b\n", "a column to"), ("from,to\na,\n", "to to be a text that is not empty")],
)
def test_a_bad_file_of_relations_is_refused_with_its_line(tmp_path: Path, content: str, said: str) -> None:
    relations = tmp_path / "relations.csv"
    relations.write_text(content)
    arguments = ["evaluate", write_truth(tmp_path), write_run(tmp_path), "--relations", str(relations)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code != 0
    assert said in str(result.exception)


def test_imported_runs_and_documents_keep_what_the_structure_needs(
    database: Database, tmp_path: Path
) -> None:
    world = JudgedWorld(database, overlap="1")
    annotator = world.person("花子")
    world.query("Q1", QUERY["text"], primary_domain="토지", extra={"needs_a2a": True})
    for doc_id, kind in TYPES.items():
        world.pair("Q1", doc_id, rank=1, law_type=kind)
        world.judge(annotator, "Q1", doc_id, 2)
    import_run(database, OPERATOR, world.name, Path(write_run(tmp_path)), system="laws", now=NOW)
    evaluation = evaluate_dataset(database, OPERATOR, world.name, EvaluationRequest()).evaluation
    (structure,) = evaluation.structure
    assert structure.stages[0].discovery.value == pytest.approx(2 / 6)
    assert structure.types is not None and structure.types.share == pytest.approx(2 / 3)
    assert structure.routing is not None and structure.routing.mrr == 0.5
    assert structure.collaboration is not None
    assert structure.collaboration.contribution.value == pytest.approx(2 / 6)
    assert structure.duplicates is not None and structure.duplicates.before == 0.25
