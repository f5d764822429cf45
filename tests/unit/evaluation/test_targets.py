"""Targets: a profile's own, those of a file, and what is measured against them."""

from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.evaluation.profiles import PROFILES, Target, find_profile
from annotator.evaluation.records import RankedRun, ScoreTable, Truth
from annotator.evaluation.scores.scoring import ScoringOptions, score_runs
from annotator.evaluation.targets import check_targets, list_measures_to_score, read_targets
from tests.unit.evaluation.small_runs import make_run

TRUTH = Truth("t", {f"q{number}": {"a": 3} for number in range(10)})


def score(
    profile: str, found: int, latency: float | None = None, measures: tuple[str, ...] = ()
) -> ScoreTable:
    """A system that puts the relevant document first for so many of ten queries."""
    ranked = {query_id: ["a" if at < found else "x"] for at, query_id in enumerate(TRUTH.grades)}
    run = make_run("s", ranked)
    if latency is not None:
        run = RankedRun(
            "s",
            run.query_ids,
            run.starts,
            run.doc_ids,
            run.codes,
            latency_ms=dict.fromkeys(TRUTH.grades, latency),
        )
    return score_runs(TRUTH, [run], find_profile(profile), ScoringOptions(measures=measures))


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_the_teams_own_targets() -> None:
    limits = {
        profile.name: {target.measure: target.minimum or target.maximum for target in profile.targets}
        for profile in PROFILES
    }
    assert limits["nablarch"] == {
        "MRR": 0.7,
        "Recall@5": 0.8,
        "NDCG@5": 0.7,
        "latency P50": 200,
        "latency P95": 300,
    }
    assert limits["law"] == {"P@5": 0.8, "Recall@10": 0.75, "MAP": 0.7, "NDCG@10": 0.85, "MRR": 0.8}
    assert [name for name, targets in limits.items() if not targets] == ["trec", "survey", "code", "document"]


def test_the_measures_of_a_profiles_targets_are_its_own() -> None:
    for profile in PROFILES:
        names = list_measures_to_score((), profile.targets)
        assert [profile.parse(name, None, "truth").name for name in names] == list(names)


def test_a_target_is_met_when_it_is_reached() -> None:
    checks = {
        check.measure: check
        for check in check_targets(score("nablarch", 7, 250.0), find_profile("nablarch").targets)
    }
    assert (checks["MRR"].measured, checks["MRR"].met) == (
        pytest.approx(0.7),
        True,
    )  # 0.7 whatever the last digit is
    assert not checks["Recall@5"].met
    assert (checks["latency P50"].measured, checks["latency P50"].met, checks["latency P50"].is_maximum) == (
        250,
        False,
        True,
    )
    assert checks["latency P95"].met


def test_a_mean_that_is_short_of_its_target_by_a_rounding_reaches_it() -> None:
    table = score("nablarch", 7)
    assert check_targets(table, [Target("MRR", minimum=0.7 + 1e-12)])[0].met
    assert not check_targets(table, [Target("MRR", minimum=0.7 + 1e-6)])[0].met


def test_a_figure_that_is_undefined_misses_its_target_and_says_why() -> None:
    check = check_targets(score("nablarch", 10), [Target("latency P50", maximum=200)])[0]
    assert (check.measured, check.met, check.why) == (None, False, "the run has no latency_ms")


def test_a_file_names_measures_by_the_profiles_names(tmp_path: Path) -> None:
    path = write(tmp_path / "targets.yaml", "nDCG@10: 0.5\nMRR: 0.8\nlatency p95: 300\ncoverage: 1\n")
    targets = read_targets(path, find_profile("trec"))
    assert targets == (
        Target("nDCG@10", minimum=0.5),
        Target("RR", minimum=0.8),
        Target("latency P95", maximum=300),
        Target("coverage", minimum=1),
    )
    assert list_measures_to_score(("AP", "RR"), targets) == ("AP", "RR", "nDCG@10")
    checks = check_targets(score("trec", 8, measures=("nDCG@10", "RR")), targets[:2] + targets[3:])
    assert [check.met for check in checks] == [True, True, True]
    as_json = write(tmp_path / "targets.json", '{"P@5": 0.1}')
    assert read_targets(as_json, find_profile("law")) == (Target("P@5", minimum=0.1),)


def test_bad_targets_are_named_with_their_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "t.yaml", "MRR: high\nAccuracy: 0.5\nP@5: -1\n")
    with pytest.raises(BadInput) as refused:
        read_targets(path, find_profile("trec"))
    lines = str(refused.value).splitlines()
    assert [line.split(":")[1] for line in lines] == ["1", "2", "3"]
    assert lines[0].endswith("expected MRR to be a number from 0, found 'high'")
    assert "There is no measure 'Accuracy'" in lines[1]
    with pytest.raises(BadInput, match="a mapping of measures"):
        read_targets(write(tmp_path / "l.yaml", "- MRR\n"), find_profile("trec"))


def test_a_target_whose_measure_was_not_computed_is_refused() -> None:
    with pytest.raises(ValidationError, match="the target of AP needs a measure that was not computed"):
        check_targets(score("trec", 8, measures=("RR",)), [Target("AP", minimum=0.1)])
