"""Where results come from: each figure equals the worked example of its definition."""

import numpy as np
import pytest

from annotator.evaluation.records import RankedRun, Truth
from annotator.evaluation.result_structure import (
    DuplicateRate,
    QueryResults,
    StructureOptions,
    list_query_results,
    measure_collaboration,
    measure_graph_coverage,
    measure_routing,
    measure_stage,
    measure_structure,
    measure_type_discovery,
)
from annotator.formats.runs import ID_FIELDS


def make_truth(*doc_ids: str, grade: int = 2, **fields: object) -> Truth:
    return Truth("law", {"Q1": dict.fromkeys(doc_ids, grade)}, fields={"Q1": fields})


def make_results(*results: tuple[str, dict[str, object]], **query_signals: object) -> QueryResults:
    return QueryResults(
        "Q1", tuple(doc for doc, _ in results), tuple(signals for _, signals in results), query_signals
    )


HYBRID = [("법률_제17조_제1항", {}), ("법률_제17조_제2항", {}), ("시행령_제17조", {})]
RNE_RESULTS = [
    ("법률_제18조_제1항", {"stages": ["rne_sibling"], "hops": 1}),
    ("법률_제19조_제1항", {"stages": ["rne_reference"], "hops": 2}),
    ("법률_제100조", {"stages": ["rne_reference"], "hops": 2}),
]
EXPANDED = make_results(*HYBRID, *RNE_RESULTS)
LAW_TRUTH = make_truth(
    "법률_제17조_제1항",
    "법률_제17조_제2항",
    "시행령_제17조",
    "법률_제18조_제1항",
    "법률_제19조_제1항",
    "법률_제20조_제1항",
)


def test_expansion_discovers_2_of_6_relevant_documents_with_precision_2_of_3() -> None:
    stage = measure_stage([EXPANDED], LAW_TRUTH)
    assert stage is not None
    assert stage.discovery.value == pytest.approx(2 / 6)
    assert stage.discovery.value == pytest.approx(5 / 6 - 3 / 6)
    assert stage.precision.value == pytest.approx(2 / 3)
    assert stage.precision_gain.value == pytest.approx(5 / 6 - 3 / 3)
    assert stage.hops == {1: 1, 2: 2}
    assert stage.results == 3


def test_a_run_without_the_stage_has_no_contribution_of_it() -> None:
    assert measure_stage([make_results(*HYBRID)], LAW_TRUTH) is None


def test_a_query_without_the_stage_is_in_no_mean_of_it() -> None:
    other = QueryResults("Q2", ("x",), ({},), {})
    stage = measure_stage([EXPANDED, other], LAW_TRUTH)
    assert stage is not None
    assert stage.discovery.queries == stage.precision.queries == 1


def test_a_document_below_the_threshold_is_not_discovered() -> None:
    stage = measure_stage([EXPANDED], LAW_TRUTH, relevant_from=3)
    assert stage is not None
    assert stage.discovery.value is None
    assert stage.precision.value == 0.0


def test_one_of_three_documents_of_other_laws_is_discovered() -> None:
    types = {
        "법률_제17조_제1항": "법률",
        "법률_제17조_제2항": "법률",
        "시행령_제17조": "시행령",
        "시행규칙_제17조": "시행규칙",
        "시행령_제18조": "시행령",
    }
    found = make_results(("법률_제17조_제1항", {}), ("시행령_제17조", {}))
    discovery = measure_type_discovery([found], make_truth(*types), types)
    assert discovery.share == pytest.approx(1 / 3)
    assert discovery.by_type == {"시행규칙": (0, 1), "시행령": (1, 2)}


def test_documents_of_a_query_without_results_count_as_not_found() -> None:
    truth = Truth("law", {"Q1": {"a": 3}, "Q2": {"b": 3}})
    discovery = measure_type_discovery([make_results(("a", {}))], truth, {"a": "시행령", "b": "시행령"})
    assert (discovery.found, discovery.relevant) == (1, 2)


def test_no_document_of_another_type_gives_no_share() -> None:
    assert measure_type_discovery([EXPANDED], LAW_TRUTH, {}).share is None


def test_coverage_counts_relevant_documents_and_the_relations_between_them() -> None:
    relations = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "x")]
    coverage = measure_graph_coverage(
        [make_results(("a", {}), ("b", {"hops": 2}), ("x", {}))],
        make_truth("a", "b", "c", "d", "alone"),
        relations,
    )
    assert coverage.nodes.value == pytest.approx(2 / 4)
    assert coverage.edges.value == pytest.approx(1 / 3)
    assert coverage.deepest == 2


def test_a_run_with_paths_covers_only_the_relations_it_walked() -> None:
    path = {"graph_path": [{"from": "a", "to": "b"}]}
    results = make_results(("a", {}), ("b", path), ("c", {}))
    coverage = measure_graph_coverage([results], make_truth("a", "b", "c"), [("a", "b"), ("b", "c")])
    assert coverage.edges.value == pytest.approx(1 / 2)


def test_routing_is_right_when_the_primary_domain_is_among_the_first() -> None:
    routed = {"Q1": ["토지", "도시", "환경"], "Q2": ["도시"], "Q3": ["a", "b", "c", "도시"]}
    accuracy = measure_routing(routed, {"Q1": "도시", "Q2": "도시", "Q3": "도시", "Q4": "도시"})
    assert accuracy.queries == 4
    assert accuracy.accuracy == {1: 1 / 4, 3: 2 / 4, 5: 3 / 4}
    assert accuracy.mrr == pytest.approx((1 / 2 + 1 + 1 / 4 + 0) / 4)


def test_no_primary_domain_gives_no_routing_accuracy() -> None:
    assert measure_routing({"Q1": ["도시"]}, {}).mrr is None


def test_collaboration_contributes_3_of_4_relevant_documents_with_full_precision() -> None:
    truth = make_truth(
        "법률_제17조_제1항",
        "법률_제17조_제2항",
        "시행령_제17조",
        "시행규칙_제17조",
        primary_domain="토지",
        needs_a2a=True,
    )
    other = {"source_domain": "도시"}
    results = make_results(
        ("법률_제17조_제1항", other), ("법률_제17조_제2항", other), ("시행령_제17조", other)
    )
    collaboration = measure_collaboration([results], truth)
    assert collaboration is not None
    assert collaboration.contribution.value == pytest.approx(3 / 4)
    assert collaboration.precision.value == 1.0
    assert collaboration.trigger_accuracy.value == 1.0
    assert collaboration.primary_precision.value is None


def test_precision_inside_the_primary_domain_is_apart_from_that_outside() -> None:
    truth = make_truth("a", "b", primary_domain="토지")
    home, other = {"source_domain": "토지"}, {"source_domain": "도시"}
    collaboration = measure_collaboration([make_results(("a", home), ("x", home), ("y", other))], truth)
    assert collaboration is not None
    assert collaboration.primary_precision.value == 0.5
    assert collaboration.precision.value == 0.0


def test_collaboration_where_it_was_not_needed_is_a_wrong_trigger() -> None:
    truth = make_truth("a", primary_domain="토지", needs_a2a=False)
    collaboration = measure_collaboration([make_results(("a", {"source_domain": "도시"}))], truth)
    assert collaboration is not None
    assert collaboration.trigger_accuracy.value == 0.0


def test_a_run_without_domains_has_no_collaboration() -> None:
    assert measure_collaboration([EXPANDED], LAW_TRUTH) is None


HOME, OTHER = {"source_domain": "토지"}, {"source_domain": "도시"}


def test_a_result_that_names_no_domain_counts_neither_as_primary_nor_as_foreign() -> None:
    truth = make_truth("a", "b", primary_domain="토지", needs_a2a=True)
    results = make_results(("a", HOME), ("x", {}), ("y", {"source_domain": None}), ("b", OTHER))
    collaboration = measure_collaboration([results], truth)
    assert collaboration is not None
    assert collaboration.primary_precision.value == 1.0
    assert collaboration.precision.value == 1.0
    assert collaboration.without_domain == 2


def test_a_query_whose_results_name_no_domain_says_nothing_about_the_trigger() -> None:
    truth = Truth(
        "law",
        {"Q1": {"a": 2}, "Q2": {"b": 2}},
        fields={key: {"primary_domain": "토지", "needs_a2a": False} for key in ("Q1", "Q2")},
    )
    collaboration = measure_collaboration(
        [make_results(("a", HOME)), QueryResults("Q2", ("b",), ({},), {})], truth
    )
    assert collaboration is not None
    assert (collaboration.trigger_accuracy.value, collaboration.trigger_accuracy.queries) == (1.0, 1)


def test_a_query_without_a_primary_domain_has_no_foreign_results() -> None:
    collaboration = measure_collaboration([make_results(("a", OTHER))], make_truth("a", needs_a2a=False))
    assert collaboration is not None
    assert collaboration.precision.queries == collaboration.primary_precision.queries == 0


@pytest.mark.parametrize("needed", [True, False])
def test_a_query_without_results_is_a_wrong_trigger_unless_its_answer_says_otherwise(needed: bool) -> None:
    fields = {"primary_domain": "토지", "needs_a2a": needed}
    truth = Truth(
        "law", {"Q1": {"a": 2}, "Q2": {"b": 2}, "Q3": {}}, fields=dict.fromkeys(("Q1", "Q2", "Q3"), fields)
    )
    named = make_results(("a", HOME), a2a_triggered=needed)
    silent = measure_collaboration([named], truth)
    assert silent is not None
    assert (silent.trigger_accuracy.value, silent.trigger_accuracy.queries) == (0.5, 2)
    assert silent.unanswered == 1
    said = measure_collaboration([named, QueryResults("Q2", (), (), {"a2a_triggered": needed})], truth)
    assert said is not None
    assert (said.trigger_accuracy.value, said.unanswered) == (1.0, 0)


def rate_raw(results: list[object], id_field: str | None = None) -> float | None:
    run = RankedRun(
        "s",
        ("Q1",),
        np.array([0, 1]),
        ("a",),
        np.array([0], dtype=np.int32),
        signals=({"stages": "x"},),
        query_signals={"Q1": {"raw_results": results}},
        id_field=id_field,
    )
    structure = measure_structure(run, make_truth("a"), StructureOptions(), {})
    assert structure.duplicates is not None
    return structure.duplicates.before


@pytest.mark.parametrize("name", ID_FIELDS)
def test_raw_results_are_told_apart_by_every_field_that_names_a_document(name: str) -> None:
    assert rate_raw([{name: f"d{number}", "score": 1} for number in range(20)]) == 0.0
    assert rate_raw([{name: "a"}, {name: "a"}, {name: "b"}, {name: "c"}]) == 0.25


def test_raw_results_are_told_apart_by_the_field_that_the_run_was_read_by() -> None:
    results: list[object] = [{"id": number, "chunk": "a"} for number in range(4)]
    assert rate_raw(results) == 0.0
    assert rate_raw(results, "chunk") == 0.75


def test_raw_results_without_an_id_have_no_duplicate_rate() -> None:
    assert rate_raw([{"score": 1.0}, {"score": 0.5}]) is None
    assert rate_raw([{"doc_id": "a"}, {"id": "b"}]) is None
    assert rate_raw(["a", "a", 7]) == pytest.approx(1 / 3)


def test_deduplication_that_halves_the_share_of_repeats_has_an_effectiveness_of_one_half() -> None:
    assert DuplicateRate(before=3 / 6, after=1 / 4).effectiveness == pytest.approx(0.5)


def test_without_duplicates_there_is_no_effectiveness() -> None:
    assert DuplicateRate(before=0.0, after=0.0).effectiveness is None
    assert DuplicateRate(before=None, after=0.0).effectiveness is None


def test_results_are_listed_with_their_own_signals() -> None:
    run = RankedRun(
        "s",
        ("Q1", "Q2"),
        np.array([0, 2, 3]),
        ("a", "b", "c"),
        np.array([2, 0, 1], dtype=np.int32),
        signals=({"stages": "x"}, {}, {"stages": "y"}),
        query_signals={"Q2": {"a2a_triggered": True}},
    )
    first, second = list_query_results(run)
    assert (first.doc_ids, first.signals) == (("c", "a"), ({"stages": "x"}, {}))
    assert (second.doc_ids, second.query_signals) == (("b",), {"a2a_triggered": True})
