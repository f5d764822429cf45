"""The JSON and CSV of an evaluation: what scripts rely on."""

import csv
import io
import json
import math

import jsonschema
import numpy as np
import pytest

from annotator.evaluation.dataset_analysis.robustness import describe_robustness, measure_robustness
from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles import TREC
from annotator.evaluation.records import Truth
from annotator.evaluation.reports.json_and_csv import COLUMNS, SCHEMA, build_json, write_csv
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.targets import check_targets, make_target
from tests.unit.evaluation.reported_runs import make_reported_evaluation
from tests.unit.evaluation.small_runs import make_run

TRUTH = Truth(
    "law",
    {f"Q{number}": {"a": 3, "b": 1, "c": 0} for number in range(1, 7)} | {"Q9": {}},
    fields={f"Q{number}": {"category": "法令" if number < 4 else "=세금"} for number in range(1, 7)},
    version="v2",
    sha256="ab" * 32,
)


def evaluate(**options: object) -> Evaluation:
    random = np.random.default_rng(1)
    first = make_run("a", {query: ["a", "b", "new"] for query in TRUTH.grades if query != "Q9"})
    second = make_run(
        "=b", {query: list(random.permutation(["a", "b", "c"])) for query in list(TRUTH.grades)[:5]}
    )
    scoring = ScoringOptions(measures=("nDCG@10", "P@2", "RR", "Bpref", "Judged@10"))
    return evaluate_runs(
        TRUTH,
        [first, second],
        TREC,
        scoring=scoring,
        options=EvaluationOptions(group_by=("category",), **options),  # type: ignore[arg-type]
    )


def describe(**options: object) -> dict[str, object]:
    return build_json(evaluate(), truth_source={"path": "release"}, **options)  # type: ignore[arg-type]


def test_the_json_follows_the_schema_that_ships() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    evaluation = evaluate()
    targets = check_targets(
        evaluation.table, [make_target("RR", 0.9, TREC), make_target("latency P50", 200, TREC)]
    )
    described = build_json(evaluation, truth_source={"dataset": "law"}, targets=targets, by_query=True)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(described)
    for key in schema["required"]:
        assert not validator.is_valid({name: value for name, value in described.items() if name != key}), key


def test_no_figure_is_nan_in_the_json() -> None:
    text = json.dumps(describe(by_query=True), allow_nan=False)
    assert "NaN" not in text
    assert json.loads(text) == describe(by_query=True)


def test_every_score_has_its_interval_its_share_of_judged_and_its_readings() -> None:
    described = describe()
    score = described["systems"][0]["measures"]["nDCG@10"]  # type: ignore[index]
    assert score["value"] == pytest.approx(1.0)
    assert score["judged"] == pytest.approx(2 / 3)
    assert score["condensed"] == pytest.approx(1.0)
    low, high = score["bounds"]
    assert low < score["value"] <= high + 1e-12
    assert score["ci95"] is not None


def test_the_truth_is_named_with_its_version_and_hash() -> None:
    assert describe()["truth"] == {"path": "release", "version": "v2", "content_sha256": "ab" * 32}


def test_queries_in_no_mean_are_named_with_the_reason() -> None:
    assert describe()["left_out"] == {"Q9": "no document of this query is judged"}


def test_scores_by_query_come_only_when_asked_for() -> None:
    assert "by_query" not in describe()["systems"][0]  # type: ignore[index]
    by_query = describe(by_query=True)["systems"][0]["by_query"]  # type: ignore[index]
    assert by_query["Q1"]["RR"] == 1.0
    assert list(by_query) == ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"]


def test_a_hole_is_listed_once_for_each_system_that_has_it() -> None:
    dataset = describe()["dataset"]
    holes = dataset["holes"]  # type: ignore[index]
    assert {(hole["system"], hole["doc_id"], hole["rank"]) for hole in holes} == {("a", "new", 3)}
    assert len(holes) == 6
    assert dataset["holes_by_system"] == {"a": 6, "=b": 0}  # type: ignore[index]


def test_the_csv_has_a_row_for_every_system_measure_and_group() -> None:
    text = "".join(write_csv(evaluate()))
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 3 * 2 * (5 + 1)
    first = rows[0]
    assert (first["by"], first["system"], first["measure"]) == ("", "a", "nDCG@10")
    assert math.isclose(float(first["score"]), 1.0)
    assert {row["value"] for row in rows} == {"", "法令", "'=세금"}


def test_a_system_named_like_a_formula_stays_a_text_in_a_spreadsheet() -> None:
    assert "'=b" in "".join(write_csv(evaluate()))
    assert ',"=b"' not in "".join(write_csv(evaluate()))


def test_the_order_of_the_main_measure_stands_beside_that_of_every_measure() -> None:
    evaluation, pairs = make_reported_evaluation()
    robustness = describe_robustness(measure_robustness(evaluation, pairs))
    order = build_json(evaluation, truth_source={"path": "t"}, extra=robustness)["dataset"]["order"]
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate(order, schema["properties"]["dataset"]["properties"]["order"])
    assert order["measure"] == "NDCG@5"
    assert order["systems"] == ["hybrid", "bm25", "old baseline"]  # best first
    assert {key: order[key] for key in ("tau", "tau_ap", "systems")} == {
        key: order["by_measure"]["NDCG@5"][key] for key in ("tau", "tau_ap", "systems")
    }
    assert {"MRR", "NDCG@5"} <= order["by_measure"].keys()
    assert [variant["variant"] for variant in order["by_annotator"]] == sorted(
        variant["variant"] for variant in order["by_annotator"]
    )
    assert order["by_annotator"]
