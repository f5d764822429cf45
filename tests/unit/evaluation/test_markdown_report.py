"""The Markdown report: its form in three languages, what it leaves out, and that nothing in it can become markup."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from annotator.evaluation.dataset_analysis.robustness import measure_robustness
from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import RankedRun, Truth
from annotator.evaluation.reports.report_values import MOST_FAILED, render_markdown
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.targets import check_targets
from annotator.web.kit.messages import tr, use_language
from tests.unit.evaluation.reported_runs import HOSTILE, make_hostile_evaluation, make_reported_evaluation
from tests.unit.evaluation.small_runs import make_run

GOLDEN = Path(__file__).parents[2] / "golden" / "evaluation"
MADE_AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def render(evaluation: Evaluation, language: str = "en", **options: object) -> str:
    use_language(language)
    try:
        return render_markdown(evaluation, tr=tr, made_at=MADE_AT, program="annotator 1.0", **options)  # type: ignore[arg-type]
    finally:
        use_language("en")


@pytest.mark.parametrize("language", ["en", "ja", "ko"])
def test_the_report_in_each_language_is_the_golden_one(language: str) -> None:
    evaluation, pairs = make_reported_evaluation()
    text = render(
        evaluation,
        language,
        robustness=measure_robustness(evaluation, pairs),
        checks=check_targets(evaluation.table, evaluation.profile.targets),
    )
    assert text == (GOLDEN / f"report.{language}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_translated_report_holds_no_english_sentence(language: str) -> None:
    evaluation, pairs = make_reported_evaluation()
    text = render(evaluation, language, robustness=measure_robustness(evaluation, pairs))
    assert re.findall(r"(?:\b[a-z]{2,}\b[ ,]+){3,}", text) == []


def test_the_targets_of_the_profile_are_shown_without_being_checked() -> None:
    evaluation, _ = make_reported_evaluation()
    text = render(evaluation)
    assert "| **Target** | ≥ 0.70 | ≥ 0.80 | ≥ 0.70 |  |  | ≤ 200 | ≤ 300 |" in text


def test_a_failed_query_says_where_its_expected_documents_stand() -> None:
    evaluation, _ = make_reported_evaluation()
    failed = render(evaluation).split("## Failed queries")[1].split("## Recommendations")[0]
    assert "q3-good (3): rank 12; q3-fair (2): not found" in failed
    assert "no results" in failed  # old baseline has none for q3


def test_more_failed_queries_than_are_listed_are_counted() -> None:
    truth = Truth("many", {f"q{number}": {"a": 2} for number in range(50)})
    run = make_run_of_noise(truth)
    evaluation = evaluate_runs(truth, [run], find_profile("nablarch"))
    text = render(evaluation)
    assert f"Listed: {MOST_FAILED} of 50 failed queries" in text
    assert text.count("### q") == MOST_FAILED


def make_run_of_noise(truth: Truth) -> RankedRun:
    return make_run("noise", {query_id: ["x", "y"] for query_id in truth.grades})


@pytest.mark.parametrize("profile", ["trec", "nablarch", "law", "survey", "code", "document"])
def test_every_profile_has_a_report_also_of_one_system_and_one_query(profile: str) -> None:
    truth = Truth("tiny", {"q": {"a": 2, "b": 1}})
    evaluation = evaluate_runs(truth, [make_run("only", {"q": ["a"]})], find_profile(profile))
    text = render(evaluation, robustness=measure_robustness(evaluation))
    assert "Only one system is evaluated" in text
    assert "nan" not in text.lower().split()
    assert "None" not in text


def test_an_ideal_from_the_results_is_said_to_be_not_comparable() -> None:
    truth = Truth("tiny", {"q": {"a": 2, "b": 1}})
    scoring = ScoringOptions(measures=("NDCG@5",), ideal="retrieved")
    evaluation = evaluate_runs(
        truth, [make_run("only", {"q": ["a"]})], find_profile("nablarch"), scoring=scoring
    )
    assert "cannot be compared between systems" in render(evaluation)


def test_names_and_texts_of_others_never_become_markup() -> None:
    """Rendered, the report has no link, image, HTML or code, and every table has rows of one length."""
    text = render(make_hostile_evaluation())
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    kinds = {child.type for token in tokens for child in (token.children or [])} | {t.type for t in tokens}
    assert not kinds & {
        "link_open",
        "image",
        "html_inline",
        "html_block",
        "code_inline",
        "code_block",
        "fence",
        "blockquote_open",
    }
    shown = "".join(child.content for token in tokens for child in (token.children or []))
    assert HOSTILE.split("|")[0] in shown
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lengths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(lengths) == 1, table


def test_groups_of_many_systems_list_the_best() -> None:
    truth = Truth(
        "many",
        {f"q{number}": {"a": 2} for number in range(4)},
        fields={f"q{number}": {"category": "x"} for number in range(4)},
    )
    runs = [
        make_run(
            f"s{number}",
            {query_id: [f"n{i}" for i in range(number)] + ["a"] for query_id in truth.grades},
        )
        for number in range(14)
    ]
    evaluation = evaluate_runs(
        truth,
        runs,
        find_profile("nablarch"),
        options=EvaluationOptions(group_by=("category",), resamples=20),
    )
    text = render(evaluation)
    assert "Listed: the 10 best systems of each group by MRR." in text
    assert "Listed: 30 of " in text
