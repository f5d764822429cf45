"""The HTML report: one page that loads nothing, well-formed, with numbers for every chart, and safe with hostile texts."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from annotator.evaluation.dataset_analysis.robustness import measure_robustness
from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import Truth
from annotator.evaluation.reports.html_charts import choose_step
from annotator.evaluation.reports.html_report import render_html
from annotator.evaluation.scores.formulas import RECALL_LEVELS, measure_precision_curve
from annotator.evaluation.scores.ranking import GradeLookup
from annotator.evaluation.targets import check_targets
from annotator.web.kit.messages import tr, use_language
from tests.unit.evaluation.reported_runs import make_hostile_evaluation, make_reported_evaluation
from tests.unit.evaluation.small_runs import make_run

MADE_AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
VOID = {"meta", "br"}


class PageReader(HTMLParser):
    """Collects elements and attributes, and fails where tags do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def render(evaluation: Evaluation, language: str = "en", **options: object) -> str:
    use_language(language)
    try:
        return render_html(
            evaluation,
            tr=tr,
            language=language,
            made_at=MADE_AT,
            program="annotator 1.0",
            **options,  # type: ignore[arg-type]
        )
    finally:
        use_language("en")


def read(page: str) -> PageReader:
    reader = PageReader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    return reader


@pytest.mark.parametrize("language", ["en", "ja", "ko"])
def test_the_page_loads_nothing_and_runs_nothing(language: str) -> None:
    evaluation, pairs = make_reported_evaluation()
    page = render(
        evaluation,
        language,
        robustness=measure_robustness(evaluation, pairs),
        checks=check_targets(evaluation.table, evaluation.profile.targets),
    )
    reader = read(page)
    assert not {"script", "link", "img", "iframe", "object"} & set(reader.tags)
    assert not [name for name, _ in reader.attributes if name in ("src", "href") or name.startswith("on")]
    assert "url(" not in page
    assert "@import" not in page
    assert f'<html lang="{language}">' in page


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_translated_page_holds_no_english_sentence(language: str) -> None:
    evaluation, pairs = make_reported_evaluation()
    page = render(evaluation, language, robustness=measure_robustness(evaluation, pairs))
    text = re.sub(r"<style>.*?</style>|<[^>]*>", "|", page, flags=re.DOTALL)
    assert re.findall(r"(?:\b[a-z]{2,}\b[ ,]+){3,}", text) == []


def test_the_same_evaluation_gives_the_same_page() -> None:
    assert render(make_reported_evaluation()[0]) == render(make_reported_evaluation()[0])


def test_every_chart_is_well_formed_and_described() -> None:
    page = render(make_reported_evaluation()[0])
    charts = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert (
        len(charts) == 4 + 2 + 1 + 1 + 1 + 1
    )  # differences, curves, queries, saturation, power, unjudged documents
    for chart in charts:
        root = ElementTree.fromstring(chart)
        assert root[0].text
        assert root[1].text


def test_every_chart_has_its_numbers_in_a_table() -> None:
    evaluation, _ = make_reported_evaluation()
    page = render(evaluation)
    for system, curve in evaluation.precision_curves.items():
        assert curve is not None
        cells = "".join(f'<td class="n">{value:.3f}</td>' for value in curve)
        assert f"<bdi>{system}</bdi></th>{cells}</tr>" in page
    for comparison in evaluation.comparisons:
        assert f"{comparison.difference:+.3f}".replace("-", "−") in page
    assert page.count("<summary>Numbers</summary>") == 5


SWEPT = Truth("swept", {f"q{number}": {"a": 3, "b": 1} for number in range(4)})


def make_sweep(*names: str) -> Evaluation:
    """Systems whose good document stands one rank lower for each step of k."""
    runs = [
        make_run(name, {query_id: [*(f"n{at}" for at in range(number)), "a"] for query_id in SWEPT.grades})
        for number, name in enumerate(names)
    ]
    return evaluate_runs(SWEPT, runs, find_profile("nablarch"), options=EvaluationOptions(resamples=10))


def test_a_sweep_has_a_chart_for_each_parameter_with_its_numbers_and_the_best_combination() -> None:
    page = render(
        make_sweep("rrf;k=10;alpha=0.1", "rrf;k=60;alpha=0.1", "rrf;k=10;alpha=0.3", "rrf;k=60;alpha=0.3")
    )
    read(page)
    section = page.split("<h2>Parameter sweeps</h2>")[1].split("</section>")[0]
    titles = re.findall(r"<title[^>]*>(.*?)</title>", section)
    assert titles == ["The measures by alpha", "The measures by k"]
    described = re.findall(r"<desc[^>]*>(.*?)</desc>", section)
    assert described[0].startswith("MRR: 0.229, -0.229; ")  # 1 and 1/2 against 1/3 and 1/4
    assert '<bdi>0.1</bdi></th><td class="n">2</td><td class="n">0.750</td>' in section
    assert '<th scope="row">MRR</th><td><bdi>rrf;k=10;alpha=0.1</bdi></td><td class="n">1.000</td>' in section
    assert "Not all combinations" not in section


def test_a_sweep_with_a_missing_combination_says_so_and_one_with_many_values_is_listed_only() -> None:
    page = render(make_sweep("rrf;k=10;a=1", "rrf;k=60;a=1", "rrf;k=10;a=2"))
    assert "Not all combinations of the parameters were run" in page
    many = render(make_sweep(*(f"rrf;k={number}" for number in range(13))))
    section = many.split("<h2>Parameter sweeps</h2>")[1].split("</section>")[0]
    assert "<svg" not in section
    assert section.count('<tr><th scope="row"><bdi>') == 13


def test_without_families_there_is_no_section_of_sweeps() -> None:
    assert "Parameter sweeps" not in render(make_reported_evaluation()[0])


def test_scores_stand_with_their_intervals_and_below_each_other_when_there_are_many_measures() -> None:
    evaluation, _ = make_reported_evaluation()
    low, high = evaluation.systems[0].measures["MRR"].ci95 or (0.0, 0.0)
    interval = f'<span class="within">{low:.3f} – {high:.3f}</span>'
    assert interval in render(evaluation)
    trec = evaluate_runs(SWEPT, [make_run("only", {"q1": ["a"]})], find_profile("trec"))
    assert '<tr><th scope="row">nDCG@10</th><td class="n">' in render(trec)


def test_the_stability_of_the_order_names_the_neighbours_that_swap_and_what_other_grades_change() -> None:
    evaluation, pairs = make_reported_evaluation()
    page = render(evaluation, robustness=measure_robustness(evaluation, pairs))
    order = evaluation.dataset.order["MRR"]
    swap = max(order.neighbours, key=lambda neighbours: neighbours.share)
    assert (
        f"<bdi>{swap.lower}</bdi> &gt; <bdi>{swap.higher}</bdi> {swap.share:.0%}".replace("%", " %") in page
    )
    assert "<bdi>the lowest grade for every disagreement</bdi>" in page
    assert "<bdi>花子</bdi></th>" in page


@pytest.mark.parametrize(
    ("language", "figure", "over"),
    [
        ("en", "fusion precision", "1 query"),
        ("ja", "fusionの適合率", "1件のクエリ"),
        ("ko", "fusion 정밀도", "질의 1개"),
    ],
)
def test_where_results_come_from_is_said_when_the_run_tells_it(language: str, figure: str, over: str) -> None:
    run = replace(
        make_run("hybrid", {"q1": ["a", "x"]}), signals=[{"stages": "fusion"}, {"stages": "fusion"}]
    )
    evaluation = evaluate_runs(SWEPT, [run], find_profile("trec"))
    row = f'<td><bdi>{figure}</bdi></td><td class="n">0.500</td><td>{over}</td>'
    assert f'<tr><th scope="row"><bdi>hybrid</bdi></th>{row}' in render(evaluation, language)
    assert "<h2>Where results come from</h2>" not in render(make_reported_evaluation()[0])


def test_the_queries_that_each_system_wins_are_counted() -> None:
    evaluation, _ = make_reported_evaluation()
    cells = "".join(f'<td class="n">{wins.get("bm25", 0)}</td>' for wins in evaluation.dataset.wins.values())
    assert f"<bdi>bm25</bdi></th>{cells}</tr>" in render(evaluation)
    better = {query_id: ["a", "b"] for query_id in SWEPT.grades}
    trec = evaluate_runs(
        SWEPT, [make_run("best", better), make_run("none", {"q1": ["x"]})], find_profile("trec")
    )
    assert '<tr><th scope="row">P@5</th><td class="n">4</td><td class="n">0</td></tr>' in render(trec)


def test_hostile_names_and_texts_stay_text() -> None:
    page = render(make_hostile_evaluation())
    reader = read(page)
    assert not {"script", "img"} & set(reader.tags)
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert "&lt;script&gt;" in page
    assert "49" not in re.findall(r"\{\{ ?7\*7|>49<", page)
    assert "\u202e" not in page
    assert "\x07" not in page


@pytest.mark.parametrize("profile", ["trec", "nablarch", "law", "survey", "code", "document"])
def test_one_system_and_one_query_have_a_page_under_every_profile(profile: str) -> None:
    truth = Truth("tiny", {"q": {"a": 2, "b": 1}})
    evaluation = evaluate_runs(truth, [make_run("only", {"q": ["a"]})], find_profile(profile))
    page = render(evaluation, robustness=measure_robustness(evaluation))
    read(page)
    assert "Only one system is evaluated" in page
    assert not re.search(r"\b(nan|None)\b", page)


def test_of_many_systems_the_best_are_drawn_and_all_are_listed() -> None:
    truth = Truth("many", {f"q{number}": {"a": 2, "b": 1} for number in range(5)})
    runs = [
        make_run(
            f"s{number};k={number}",
            {query_id: [*(f"n{at}" for at in range(number % 7)), "a"] for query_id in truth.grades},
        )
        for number in range(63)
    ]
    evaluation = evaluate_runs(
        truth, runs, find_profile("nablarch"), options=EvaluationOptions(resamples=10, baseline="s0;k=0")
    )
    page = render(evaluation)
    read(page)
    assert "Drawn: the 8 best systems by MRR." in page
    assert "Drawn: 40 of 62 comparisons." in page
    assert page.count("<bdi>s62;k=62</bdi>") > 3


def test_precision_at_each_recall_is_the_highest_from_there_on() -> None:
    """Relevant at ranks 1, 3 and 6 of four relevant: 1, 2/3 and 1/2; recall 1 is never reached."""
    truth = {"q": {"a": 1, "b": 1, "c": 1, "d": 1}}
    lookup = GradeLookup.build(truth, ["q"])
    curve = measure_precision_curve(lookup, make_run("s", {"q": ["a", "x", "b", "y", "z", "c"]}), 1)
    assert curve == pytest.approx([1.0] * 3 + [2 / 3] * 3 + [0.5] * 2 + [0.0] * 3)
    assert len(RECALL_LEVELS) == 11


def test_a_truth_without_relevant_documents_has_no_curve() -> None:
    lookup = GradeLookup.build({"q": {"a": 0}}, ["q"])
    assert measure_precision_curve(lookup, make_run("s", {"q": ["a"]}), 1) is None


@pytest.mark.parametrize(("reach", "step"), [(0.02, 0.005), (0.5, 0.1), (2.0, 0.5), (1.0, 0.2)])
def test_an_axis_has_at_most_six_round_steps(reach: float, step: float) -> None:
    assert choose_step(reach, 6) == pytest.approx(step)
