"""Regressions against an earlier evaluation."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import ScoreTable, Truth
from annotator.evaluation.scores.scoring import ScoringOptions, score_runs
from annotator.evaluation.targets import QueryChange, find_regressions, read_earlier_evaluation
from tests.unit.evaluation.small_runs import make_run

TRUTH = Truth("t", {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 1}}, sha256="now")
RANKED = {"q1": ["x", "y", "a"], "q2": ["x", "a"], "q3": ["a"], "q4": ["x"]}


def score(*measures: str, profile: str = "trec") -> ScoreTable:
    return score_runs(
        TRUTH, [make_run("s", RANKED)], find_profile(profile), ScoringOptions(measures=measures)
    )


def write_earlier(
    folder: Path, measures: dict[str, float | None], by_query: Any = None, **others: Any
) -> Path:
    system = {
        "system": "s",
        "measures": {name: {"value": value} for name, value in measures.items()},
        "by_query": by_query,
    }
    content = {"truth": {"content_sha256": "now"}, "profile": "trec", "systems": [system], **others}
    path = folder / "old.json"
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_a_fall_beyond_the_tolerance_is_a_regression_and_its_queries_are_named_worst_first(
    tmp_path: Path,
) -> None:
    by_query = {"q1": {"RR": 1.0}, "q2": {"RR": 1.0}, "q3": {"RR": 0.5}, "q4": {"RR": 0.0}}
    earlier = read_earlier_evaluation(write_earlier(tmp_path, {"RR": 0.625, "AP": 0.1}, by_query))
    report = find_regressions(score("RR", "AP"), earlier)
    assert report.compared == 2
    assert [(found.system, found.measure, found.before) for found in report.regressions] == [
        ("s", "RR", 0.625)
    ]
    assert report.regressions[0].after == pytest.approx((1 / 3 + 1 / 2 + 1) / 4)
    assert report.regressions[0].queries == (QueryChange("q1", 1.0, 1 / 3), QueryChange("q2", 1.0, 0.5))
    assert report.notes == ()


def test_a_fall_within_the_tolerance_is_none(tmp_path: Path) -> None:
    now = (1 / 3 + 1 / 2 + 1) / 4
    earlier = read_earlier_evaluation(write_earlier(tmp_path, {"RR": now + 0.01}))
    assert find_regressions(score("RR"), earlier).regressions == ()
    assert find_regressions(score("RR"), earlier, tolerance=0.009).regressions[0].queries is None


def test_ranks_are_better_when_lower(tmp_path: Path) -> None:
    better = read_earlier_evaluation(write_earlier(tmp_path, {"FirstRank": 1.9}, profile="document"))
    assert [
        found.after for found in find_regressions(score("FirstRank", profile="document"), better).regressions
    ] == [2.0]
    worse = read_earlier_evaluation(write_earlier(tmp_path, {"FirstRank": 3.0}, profile="document"))
    assert find_regressions(score("FirstRank", profile="document"), worse).regressions == ()


def test_what_was_undefined_is_not_compared(tmp_path: Path) -> None:
    earlier = read_earlier_evaluation(write_earlier(tmp_path, {"RR": None, "AP": 0.2}))
    assert find_regressions(score("RR", "AP"), earlier).compared == 1


def test_differences_between_the_evaluations_are_said(tmp_path: Path) -> None:
    others = [{"system": name, "measures": {"RR": {"value": 0.1}}} for name in ("s", "gone")]
    path = write_earlier(tmp_path, {}, systems=others, truth={"content_sha256": "then"})
    assert find_regressions(score("RR"), read_earlier_evaluation(path)).notes == (
        "the ground truth changed since: a score may differ because a grade does",
        "not compared, since not in this evaluation: gone",
    )


def test_another_profile_or_nothing_in_common_is_refused(tmp_path: Path) -> None:
    law = read_earlier_evaluation(write_earlier(tmp_path, {"RR": 0.5}, profile="law"))
    with pytest.raises(ValidationError, match="made with the profile law"):
        find_regressions(score("RR"), law)
    other = read_earlier_evaluation(write_earlier(tmp_path, {"P@5": 0.5}))
    with pytest.raises(ValidationError, match="found none in common"):
        find_regressions(score("RR"), other)
    with pytest.raises(ValidationError, match="a tolerance from 0, found -1"):
        find_regressions(score("RR"), other, tolerance=-1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{}", "no 'truth'"),
        ("[]", "another shape"),
        (
            '{"truth": {}, "profile": "trec", "systems": [{"system": "s", "measures": {"RR": {"value": "x"}}}]}',
            "another shape",
        ),
        ("{", "expected JSON"),
    ],
)
def test_a_file_that_is_no_evaluation_is_refused(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "old.json"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInput, match=found):
        read_earlier_evaluation(path)
