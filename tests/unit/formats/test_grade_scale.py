"""Grades of other scales are read by a mapping, in every format; without one they are refused with the values found."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from annotator.cli.main import app
from annotator.domain.errors import BadInput, ValidationError
from annotator.formats.judgments import read_judgments
from annotator.formats.registry import read_truth
from annotator.formats.syntax.grade_scale import GradeScale, parse_mapping
from annotator.formats.syntax.source import InputSource

LAW: Any = {
    "queries": [
        {
            "query_id": "Q1",
            "query_text": "도로",
            "ground_truth": {
                "a": {"relevance": 4, "annotator_1": 4, "annotator_2": 3},
                "b": {"relevance": -1},
                "c": {"relevance": 2},
            },
        }
    ]
}
FILES = {
    "trec": "Q1 0 a 4\nQ1 0 b -1\nQ1 0 c 2\n",
    "csv": "query_id,doc_id,grade\nQ1,a, 4\nQ1,b,-1\nQ1,c,2\n",
    "jsonl": '{"query_id":"Q1","doc_id":"a","grade":4}\n{"query_id":"Q1","doc_id":"b","grade":-1}\n'
    '{"query_id":"Q1","doc_id":"c","grade":2}\n',
    "beir": "query-id\tcorpus-id\tscore\nQ1\ta\t4\nQ1\tb\t-1\nQ1\tc\t2\n",
    "law": json.dumps(LAW),
    "law-compact": '{"queries":[{"query_id":"Q1","query_text":"t","ground_truth":{"a":4,"b":-1,"c":2}}]}',
    "nablarch": "queries:\n- id: Q1\n  query: t\n  expected_docs:\n  - {doc_id: a, relevance: 4}\n"
    "  - {doc_id: b, relevance: -1}\n  - {doc_id: c, relevance: 2}\n",
    "assay": "expected:\n- id: Q1\n  reference:\n    paths:\n    - {path: a, relevance: 4}\n    - {path: b, relevance: -1}\n"
    "    - {path: c, relevance: 2}\n",
    "assay-queries": "- id: Q1\n  text: t\n  expected:\n  - {path: a, relevance: 4}\n  - {path: b, relevance: -1}\n"
    "  - {path: c, relevance: 2}\n",
}


def source(name: str, mapping: str | None = None) -> InputSource:
    return InputSource("f", FILES[name].encode(), scale=GradeScale(parse_mapping(mapping)))


@pytest.mark.parametrize("name", FILES)
def test_a_mapping_reads_another_scale_and_leaves_out_what_is_no_grade(name: str) -> None:
    file = source(name, " 4 = 3, -1=unrateable")
    _, truth = read_truth(file, format_name=name)
    assert [(qrel.doc_id, qrel.grade) for qrel in truth.qrels] == [("a", 3), ("c", 2)]
    assert [query.query_id for query in truth.queries] == ["Q1"]
    assert file.scale.figures["-1"] == 1
    assert file.scale.figures["4"] == (2 if name == "law" else 1), "an annotator's own grade is mapped too"


@pytest.mark.parametrize("name", FILES)
def test_unknown_grades_are_refused_with_the_values_their_counts_and_the_option(name: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_truth(source(name), format_name=name)
    line = str(caught.value).splitlines()[-1]
    assert ("'4' (2), '-1' (1)" if name == "law" else "'4' (1), '-1' (1)") in line
    assert '--map-grades "4=GRADE,-1=GRADE"' in line
    assert len(caught.value.problems) == (3 if name == "law" else 2), "each bad line is named as before"


def test_a_query_whose_only_document_is_no_grade_stays_a_query() -> None:
    file = InputSource("f", b"Q1 0 a -2\nQ2 0 a 1\n", scale=GradeScale(parse_mapping("-2=unrateable")))
    _, truth = read_truth(file, format_name="trec")
    assert ([query.query_id for query in truth.queries], len(truth.qrels)) == (["Q1", "Q2"], 1)


def test_judgments_are_mapped_as_texts_without_white_space_around_them() -> None:
    scale = GradeScale(parse_mapping("yes=2,no=0,n/a=unrateable,3=1"))
    data = b"query_id,doc_id,annotator,grade\nQ,a,x, yes \nQ,b,x,no\nQ,c,x,n/a\nQ,d,x,3\nQ,e,x,1\n"
    lines = read_judgments(data, "j.csv", scale=scale)
    assert [line.grade for line in lines] == [2, 0, None, 1, 1]
    assert lines[2].outcome == "unrateable"
    assert scale.figures == {"yes": 1, "no": 1, "n/a": 1, "3": 1}
    with pytest.raises(BadInput, match=r"'yes' \(1\), 'no' \(1\), 'n/a' \(1\).*--map-grades"):
        read_judgments(data, "j.csv")


@pytest.mark.parametrize(
    "text", ["", "4", "4=", "=3", "4=4", "4=-1", "4=3,4=2", "4=3,", "4=graded", "4:3", "4=3.0"]
)
def test_a_mapping_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="--map-grades"):
        parse_mapping(text)


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_check_and_convert_map_grades_and_say_how_often(tmp_path: Path) -> None:
    file, target = tmp_path / "law.json", tmp_path / "q.txt"
    file.write_text(FILES["law"], encoding="utf-8")
    refused = run("check", file)
    assert isinstance(refused.exception, BadInput)
    assert "--map-grades" in str(refused.exception)
    done = run("check", file, "--map-grades", "4=3,-1=unrateable", "--json")
    report = json.loads(done.stdout)
    assert (report["valid"], report["qrels"], report["mapped_grades"]) == (True, 2, {"4": 2, "-1": 1})
    done = run("convert", file, target, "--map-grades", "4=3,-1=unrateable", "--json")
    assert json.loads(done.stdout)["mapped_grades"] == {"4": 2, "-1": 1}
    assert target.read_text(encoding="utf-8") == "Q1 0 a 3\nQ1 0 c 2\n"
    shown = run("convert", file, target, "--map-grades", "4=3,-1=0", "--overwrite").stdout
    assert "grades of another scale: '4' read as 3 (2), '-1' read as 0 (1)" in shown


def test_check_takes_values_with_white_space_around_them_as_convert_does(tmp_path: Path) -> None:
    file = tmp_path / "law.json"
    file.write_text(FILES["law"].replace(": 4", ': " yes "'), encoding="utf-8")
    mapping = ("--map-grades", "yes=3,-1=unrateable")
    report = json.loads(run("check", file, *mapping, "--json").stdout)
    assert (report["valid"], report["mapped_grades"]) == (True, {"yes": 2, "-1": 1})
    assert run("convert", file, tmp_path / "q.txt", *mapping).exit_code == 0


def test_check_shows_how_well_the_annotators_in_a_file_agree_and_where_they_differ(tmp_path: Path) -> None:
    file = tmp_path / "law.json"
    graded = {
        f"d{index}": {"relevance": a, "annotator_1": a, "annotator_2": b}
        for index, (a, b) in enumerate([(3, 3), (2, 1), (0, 0), (1, 1)])
    }
    queries = [
        {"query_id": f"Q{number}", "query_text": f"t {number}", "ground_truth": graded} for number in (1, 2)
    ]
    file.write_text(json.dumps({"queries": queries}), encoding="utf-8")
    shown = run("check", file).stdout
    assert "annotator_1 and annotator_2: 8 pairs, 75.0 % equal, Cohen's kappa 0.667" in shown
    report = json.loads(run("check", file, "--json").stdout)["annotators"]
    assert report["pairs"] == 8
    assert report["cohen_kappa"]["unweighted"]["value"] == pytest.approx(2 / 3)
    assert report["differing"] == [
        {"query_id": name, "doc_id": "d1", "grades": {"annotator_1": 2, "annotator_2": 1}, "settled": 2}
        for name in ("Q1", "Q2")
    ]
    assert report["unrateable"] == {}
    graded["d4"] = {"relevance": 2, "annotator_1": 2, "annotator_2": "unrateable"}
    graded["d5"] = {"relevance": "?", "annotator_1": 3, "annotator_2": 0}
    file.write_text(json.dumps({"queries": queries}), encoding="utf-8")
    shown = run("check", file, "--map-grades", "?=unrateable").stdout
    assert "Documents that annotators could not rate (unrateable): annotator_2 2" in shown
    report = json.loads(run("check", file, "--map-grades", "?=unrateable", "--json").stdout)["annotators"]
    assert (report["pairs"], report["single_pairs"], report["unrateable"]) == (10, 2, {"annotator_2": 2})
    assert report["differing"][-1] == {
        "query_id": "Q2", "doc_id": "d5", "grades": {"annotator_1": 3, "annotator_2": 0}, "settled": None,
    }  # fmt: skip
    neither = {"a": {"relevance": 1, "annotator_1": "unrateable", "annotator_2": "unrateable"}}
    file.write_text(
        json.dumps({"queries": [{"query_id": "Q", "query_text": "t", "ground_truth": neither}]}),
        encoding="utf-8",
    )
    assert json.loads(run("check", file, "--json").stdout)["annotators"] == {
        "unrateable": {"annotator_1": 1, "annotator_2": 1}
    }
    same = {"a": {"relevance": 3, "annotator_1": 3, "annotator_2": 3}}
    file.write_text(
        json.dumps({"queries": [{"query_id": "Q", "query_text": "t", "ground_truth": same}]}),
        encoding="utf-8",
    )
    assert "undefined (everybody gave the same grade on all shared pairs" in run("check", file).stdout


def test_only_what_could_be_a_grade_on_some_scale_is_named_or_passed_over() -> None:
    lenient, strict = GradeScale(lenient=True), GradeScale()
    assert lenient.accepts("yes") and lenient.accepts(4) and lenient.accepts(True)
    for value in (None, [4], {"grade": 4}, "", "x" * 101):
        assert not lenient.accepts(value)
    assert dict(lenient.unknown) == {"yes": 1, "4": 1, "true": 1}
    assert not strict.accepts("yes")


def test_of_many_unknown_values_the_most_frequent_are_named() -> None:
    scale = GradeScale()
    assert scale.describe_unknown() == ""
    for value in [*range(10, 40), 39]:
        scale.accepts(value)
    message = scale.describe_unknown()
    assert message.partition("occur: ")[2].startswith("'39' (2), '10' (1)")
    assert "'28' (1), …." in message and "'29'" not in message
