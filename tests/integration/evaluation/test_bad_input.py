"""Whatever is wrong with a run or does not fit the truth is said in a clear sentence, by the command."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.evaluation.scores.measures import OFFERED

QRELS = "q1 0 a 3\nq1 0 b 0\nq2 0 a 1\nq2 0 b 2\n"
GOOD = "q1 Q0 a 1 9 good\nq2 Q0 b 1 9 good\n"


def evaluate(folder: Path, run: str, *options: str, second: str | None = None) -> tuple[int, str]:
    """Return the exit code and everything that was said."""
    (folder / "qrels.txt").write_text(QRELS)
    paths = [folder / "run.trec"]
    paths[0].write_text(run)
    if second is not None:
        paths.append(folder / "second.trec")
        paths[1].write_text(second)
    done = CliRunner().invoke(app, ["evaluate", str(folder / "qrels.txt"), *map(str, paths), *options])
    return done.exit_code, " ".join((done.output + str(done.exception or "")).split())


@pytest.mark.parametrize(
    ("run", "options", "said"),
    [
        pytest.param(
            "q1 Q0 a 1 9 s\nq1 Q0 a 2 8 s\n",
            [],
            "{run}:2: expected each document of a query once (first on line 1; --keep-first keeps one), found 'a' again",
            id="a document twice",
        ),
        pytest.param(
            "q1 Q0 a 1 nan s\n",
            [],
            "{run}:1: expected score to be a finite number, found nan",
            id="a NaN score",
        ),
        pytest.param(
            "",
            [],
            "{run}: expected lines of query_id Q0 doc_id rank score tag, found an empty file",
            id="an empty run",
        ),
        pytest.param(
            "q8 Q0 a 1 9 s\nq9 Q0 a 1 9 s\n",
            [],
            "s: expected results for a query of {truth}, found only others (2), such as 'q8'",
            id="no common query",
        ),
        pytest.param(
            GOOD,
            ["--measures", "MAGIC@10"],
            f"There is no measure 'MAGIC@10'. Choose one of: {OFFERED}",
            id="a measure that does not exist",
        ),
        pytest.param(
            GOOD,
            ["--measures", "ERR@10", "--profile", "law"],
            "The profile law has no measure 'ERR@10'. Choose one of: P@k, Recall@k, F1@k, MAP, NDCG@k, MRR",
            id="a measure that a team does not have",
        ),
        pytest.param(
            GOOD,
            ["--profile", "magic"],
            "There is no profile 'magic'. Choose one of: trec, nablarch, law, survey, code, document",
            id="a profile that does not exist",
        ),
        pytest.param(
            GOOD,
            ["--baseline", "other"],
            "There is no system 'other'. Choose one of: good",
            id="a baseline that does not exist",
        ),
        pytest.param(
            GOOD,
            ["--by", "category"],
            "No query has the field 'category'. Choose one of: no fields",
            id="a field that no query has",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(tmp_path: Path, run: str, options: list[str], said: str) -> None:
    code, output = evaluate(tmp_path, run, *options)
    assert code != 0
    assert said.format(run=tmp_path / "run.trec", truth=tmp_path / "qrels.txt") == output


def test_ranks_that_contradict_scores_are_named_with_the_order_taken(tmp_path: Path) -> None:
    code, output = evaluate(tmp_path, "q1 Q0 a 2 9 s\nq1 Q0 b 1 8 s\nq2 Q0 b 1 9 s\n")
    assert code == 0
    assert "- s: ranks and scores disagree in 1 query: ordered by score, as trec_eval does" in output


def test_a_query_that_the_truth_does_not_know_changes_no_score_and_is_named(tmp_path: Path) -> None:
    code, output = evaluate(tmp_path, GOOD + "q9 Q0 a 1 9 good\n", "--measures", "P@1")
    assert code == 0
    assert "P@1 good 1.0000" in output
    assert "- good: 1 query of the run is not in the truth, first 'q9'; its results are ignored" in output


def test_one_query_allows_no_test_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("q1 0 a 3\nq1 0 b 0\n")
    for name, doc_id in (("good", "a"), ("poor", "b")):
        (tmp_path / f"{name}.trec").write_text(f"q1 Q0 {doc_id} 1 9 {name}\n")
    paths = [str(tmp_path / name) for name in ("one.txt", "good.trec", "poor.trec")]
    done = CliRunner().invoke(app, ["evaluate", *paths, "--measures", "P@1", "--json"])
    assert done.exit_code == 0
    (comparison,) = json.loads(done.output)["comparisons"]
    assert comparison["verdict"] == "good and poor cannot be compared on P@1: one query allows no test."
    assert comparison["t"]["p"] is None


def test_identical_systems_have_no_difference_and_it_is_said(tmp_path: Path) -> None:
    code, output = evaluate(
        tmp_path, GOOD, "--measures", "P@1", "--json", second=GOOD.replace("good", "same")
    )
    assert code == 0
    (comparison,) = json.loads(output)["comparisons"]
    assert comparison["verdict"] == "good and same have the same P@1 on every query."


def test_a_profile_that_needs_grades_refuses_a_list_without_any(tmp_path: Path) -> None:
    truth = tmp_path / "ranked.json"
    truth.write_text('[{"query": "q1", "relevant_documents": ["a", "b"]}]')
    (tmp_path / "run.trec").write_text(GOOD)
    done = CliRunner().invoke(
        app, ["evaluate", str(truth), str(tmp_path / "run.trec"), "--from", "ranked", "--profile", "law"]
    )
    assert done.exit_code != 0
    assert str(done.exception) == (
        f"{truth} holds an order of documents and no grades, which the profile law needs; "
        "say which grades are meant (--grades-by), or use the profile survey"
    )


def test_two_runs_of_one_name_are_told_apart_by_their_files_and_a_third_is_refused(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 3\nq1 0 b 0\n")
    (tmp_path / "first.trec").write_text("q1 Q0 a 1 9 STANDARD\n")
    (tmp_path / "second.trec").write_text("q1 Q0 b 1 9 STANDARD\n")
    paths = [str(tmp_path / name) for name in ("qrels.txt", "first.trec", "second.trec")]
    done = CliRunner().invoke(app, ["evaluate", *paths, "--measures", "P@1"])
    assert "- second: named after its file, because another run is also called STANDARD" in done.output
    assert "P@1      STANDARD  1.0000" in done.output
    assert "P@1      second    0.0000" in done.output
    refused = CliRunner().invoke(app, ["evaluate", *paths, paths[-1]])
    assert "second.trec: expected every system once, found 'STANDARD' again" in str(refused.exception)
