"""Unjudged documents: which could still change the order of systems, and when judging can stop."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.evaluation.dataset_analysis.holes import (
    choose_order_measure,
    find_holes,
    find_unique_contributions,
    leave_out_documents,
)
from annotator.evaluation.profiles import PROFILES
from annotator.evaluation.records import Measure, RankedRun, Truth
from annotator.evaluation.scores.measures import parse_measure_name

P3, NDCG3, EXPONENTIAL = map(parse_measure_name, ("P@3", "nDCG@3", "nDCG(dcg='exp-log2')@3"))


def make_run(system: str, results: dict[str, str]) -> RankedRun:
    doc_ids = sorted({doc for listed in results.values() for doc in listed})
    codes = [doc_ids.index(doc) for listed in results.values() for doc in listed]
    starts = np.cumsum([0, *(len(listed) for listed in results.values())])
    return RankedRun(system, tuple(results), starts, doc_ids, np.array(codes, dtype=np.int32))


def score(results: str, grades: dict[str, int], measure: Measure) -> float:
    """An independent P@3 or nDCG@3."""
    found = [grades.get(doc, 0) for doc in results[:3]]
    if measure.kind == "P":
        return sum(grade >= 1 for grade in found) / 3

    def give_gain(grade: int) -> int:
        return 2**grade - 1 if measure.gain == "exponential" else grade

    gains = [give_gain(grade) for grade in found]
    ideal = sorted((give_gain(grade) for grade in grades.values()), reverse=True)[:3]
    best = sum(gain / np.log2(rank + 2) for rank, gain in enumerate(ideal))
    return sum(gain / np.log2(rank + 2) for rank, gain in enumerate(gains)) / best if best else 0.0


rankings = st.permutations("abcd").map(lambda docs: "".join(docs[:3]))


@settings(deadline=None)
@given(
    st.sampled_from([P3, NDCG3, EXPONENTIAL]),
    st.lists(
        st.tuples(rankings, rankings, st.dictionaries(st.sampled_from("abcde"), st.integers(0, 3))),
        min_size=1,
        max_size=2,
    ),
)
def test_no_assignment_of_grades_leaves_the_bounds(
    measure: Measure, queries: list[tuple[str, str, dict[str, int]]]
) -> None:
    """Brute force: every grade for every hole of both runs."""
    truth = Truth("t", {f"q{i}": judged for i, (_, _, judged) in enumerate(queries)})
    runs = [
        make_run("A", {f"q{i}": first for i, (first, _, _) in enumerate(queries)}),
        make_run("B", {f"q{i}": second for i, (_, second, _) in enumerate(queries)}),
    ]
    need = find_holes(runs, truth.grades, measure, list(truth.grades))
    lows, highs, now = [], [], []
    for first, second, judged in queries:
        holes = [doc for doc in dict.fromkeys(first + second) if doc not in judged]
        differences = []
        for grades in product(range(4), repeat=len(holes)):
            told = {**judged, **dict(zip(holes, grades, strict=True))}
            differences.append(score(second, told, measure) - score(first, told, measure))
        lows.append(min(differences))
        highs.append(max(differences))
        now.append(score(second, judged, measure) - score(first, judged, measure))
    low, high = np.mean(lows), np.mean(highs)
    (order,) = need.orders
    sign = 1 if order.a == "A" else -1
    bounds = sorted((sign * order.lowest, sign * order.highest))
    assert bounds[0] <= low + 1e-9
    assert bounds[1] >= high - 1e-9
    assert sign * order.difference == pytest.approx(float(np.mean(now)))
    signs = {0 if abs(end) < 1e-9 else end > 0 for end in (low, high)}
    assert order.is_open or len(signs) == 1


@given(
    st.lists(
        st.tuples(rankings, rankings, st.dictionaries(st.sampled_from("abcde"), st.integers(0, 3))),
        min_size=1,
        max_size=3,
    )
)
def test_the_bounds_of_precision_are_exact(queries: list[tuple[str, str, dict[str, int]]]) -> None:
    truth = Truth("t", {f"q{i}": judged for i, (_, _, judged) in enumerate(queries)})
    runs = [
        make_run("A", {f"q{i}": first for i, (first, _, _) in enumerate(queries)}),
        make_run("B", {f"q{i}": second for i, (_, second, _) in enumerate(queries)}),
    ]
    low = np.mean(
        [
            sum(doc not in judged or judged[doc] > 0 for doc in second if doc in judged or doc in first) / 3
            - sum(doc not in judged or judged[doc] > 0 for doc in first) / 3
            for first, second, judged in queries
        ]
    )
    need = find_holes(runs, truth.grades, P3, list(truth.grades))
    for order in need.orders:
        assert (order.lowest if order.a == "A" else -order.highest) == pytest.approx(float(low))


def test_judging_can_stop_when_every_document_is_judged() -> None:
    truth = Truth("t", {"q": {"a": 3, "b": 0, "c": 1}})
    need = find_holes([make_run("A", {"q": "ab"}), make_run("B", {"q": "ca"})], truth.grades, NDCG3, ["q"])
    assert need.holes == ()
    assert need.sentence == "Every document in the systems' top 3 is judged: judging can stop."


def test_a_relevant_document_below_the_cutoff_can_still_change_the_order_by_the_ideal() -> None:
    """q1: A leads by 1 - 0.5, or by half of that if u, fourth in both lists, has grade 3. q2: B leads by 1 - 0.63."""
    grades = {"q1": {"a": 3, "x": 0, "y": 0}, "q2": {"a": 3, "x": 0, "y": 0}}
    runs = [make_run("A", {"q1": "axyu", "q2": "xay"}), make_run("B", {"q1": "xyau", "q2": "axy"})]

    def score_both(grades: dict[str, dict[str, int]]) -> list[float]:
        both = [("axy", "xay"), ("xya", "axy")]
        return [
            sum(score(listed, grades[query], NDCG3) for query, listed in zip(grades, lists, strict=True))
            for lists in both
        ]

    first, second = score_both(grades)
    assert first > second
    first, second = score_both({**grades, "q1": {**grades["q1"], "u": 3}})
    assert first < second
    need = find_holes(runs, grades, NDCG3, ["q1", "q2"], unjudged={"q1": 1, "q2": 0})
    assert need.holes == () and need.open_orders == ()
    assert need.sentence == (
        "No unjudged document in the top 3 can change the systems' order on nDCG@3, but relevant ones further down could: "
        "they raise the ideal that scores are divided by."
    )
    need = find_holes(runs, grades, P3, ["q1", "q2"], unjudged={"q1": 1, "q2": 0})
    assert need.sentence == "Every document in the systems' top 3 is judged: judging can stop."


def test_judging_can_stop_when_no_hole_can_change_the_order() -> None:
    """A finds three relevant documents, B one and two unjudged ones at the same ranks as A finds relevant ones."""
    truth = Truth(
        "t", {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 1, "b": 1, "c": 1, "x": 0, "y": 0, "z": 0}}
    )
    runs = [make_run("A", {"q1": "abc", "q2": "abc"}), make_run("B", {"q1": "hab", "q2": "xyz"})]
    need = find_holes(runs, truth.grades, P3, ["q1", "q2"])
    assert [(hole.query_id, hole.doc_id, hole.influence) for hole in need.holes] == [("q1", "h", 0.0)]
    assert need.open_orders == ()
    assert need.sentence == (
        "No unjudged document in the top 3 can change the systems' order on P@3: judging can stop."
    )


def test_the_most_influential_hole_stands_first() -> None:
    truth = Truth("t", {"q": {"a": 3, "x": 0}})
    need = find_holes([make_run("A", {"q": "axy"}), make_run("B", {"q": "hxa"})], truth.grades, NDCG3, ["q"])
    assert [hole.doc_id for hole in need.holes] == ["h", "y"]
    assert need.holes[0].ranks == {"B": 1}
    assert need.by_system == {"A": 1, "B": 1}
    assert need.by_query == {"q": 2}
    assert need.sentence.startswith(
        "2 unjudged documents in the top 3 could change the order of systems on nDCG@3."
    )


def test_a_hole_that_both_systems_rank_alike_moves_neither() -> None:
    truth = Truth("t", {"q": {"a": 1, "b": 2}})
    need = find_holes([make_run("A", {"q": "hab"}), make_run("B", {"q": "hba"})], truth.grades, P3, ["q"])
    assert [hole.influence for hole in need.holes] == [0.0]


def test_a_tie_that_an_unjudged_document_could_break_is_open() -> None:
    """Both find a. Only B has h, so B can only win: the bounds are [0, 1/3]."""
    truth = Truth("t", {"q": {"a": 1, "x": 0}})
    need = find_holes([make_run("A", {"q": "ax"}), make_run("B", {"q": "ah"})], truth.grades, P3, ["q"])
    (order,) = need.orders
    assert (order.difference, order.lowest, order.highest) == (0.0, 0.0, pytest.approx(1 / 3))
    assert order.is_open
    assert [hole.influence for hole in need.holes] == [pytest.approx(1 / 3)]
    assert need.sentence == (
        "1 unjudged document in the top 3 could change the order of systems on P@3. Judge it next."
    )


def test_a_lead_that_could_become_a_tie_is_open() -> None:
    truth = Truth("t", {"q": {"a": 1, "x": 0}})
    need = find_holes([make_run("A", {"q": "a"}), make_run("B", {"q": "h"})], truth.grades, P3, ["q"])
    (order,) = need.orders
    assert (order.a, order.highest, order.is_open) == ("A", 0.0, True)


def test_a_tie_of_equal_lists_stays_whatever_their_unjudged_documents_are() -> None:
    truth = Truth("t", {"q": {"a": 1}})
    need = find_holes([make_run("A", {"q": "ah"}), make_run("B", {"q": "ah"})], truth.grades, NDCG3, ["q"])
    assert not need.open_orders
    assert "judging can stop" in need.sentence


def test_a_hole_that_both_rank_alike_has_influence_where_it_changes_the_ideal_of_one_query_of_two() -> None:
    """q1: A leads by 1.0, or by 3 / (3 + 3 / log2(3)) = 0.613 if h, third in both lists, has grade 3. q2: B leads by 0.8."""
    truth = Truth("t", {"q1": {"a": 3, "x": 0, "y": 0}, "q2": {"a": 3, "b": 2, "x": 0}})
    runs = [make_run("A", {"q1": "axh", "q2": "x"}), make_run("B", {"q1": "yxh", "q2": "xab"})]
    need = find_holes(runs, truth.grades, NDCG3, ["q1", "q2"])
    assert [order.is_open for order in need.orders] == [True]
    assert [hole.influence for hole in need.holes] == [pytest.approx((1 - 3 / (3 + 3 / np.log2(3))) / 2)]


def test_one_system_alone_has_no_order_that_would_let_judging_stop() -> None:
    need = find_holes([make_run("A", {"q": "ah"})], {"q": {"a": 1}}, P3, ["q"])
    assert need.sentence == "1 document in the top 3 of the only system is unjudged: its score is uncertain."


def test_a_query_without_a_relevant_document_counts_where_its_unjudged_ones_could_bring_it_into_the_mean() -> (
    None
):
    grades = {"q1": {"a": 1}, "q2": {"x": 0}}
    runs = [make_run("A", {"q1": "a", "q2": "x"}), make_run("B", {"q1": "a", "q2": "h"})]
    law = next(profile for profile in PROFILES if profile.name == "law").parse("P@1", None, "truth")
    assert not find_holes(runs, grades, law, ["q1"]).open_orders
    assert find_holes(runs, grades, law, ["q1"], may_join=["q2"]).open_orders


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("trec", "nDCG@10"),
        ("nablarch", "NDCG@5"),
        ("law", "NDCG@10"),
        ("survey", "NDCG@5"),
        ("code", "NDCG@5"),
        ("document", "InTop@3"),
    ],
)
def test_every_profile_has_a_measure_that_orders_systems(profile: str, expected: str) -> None:
    found = next(known for known in PROFILES if known.name == profile)
    measure = choose_order_measure([found.parse(name, None, "truth") for name in found.measures])
    assert measure is not None and measure.name == expected


def test_an_ideal_from_the_results_orders_no_systems() -> None:
    trec = PROFILES[0]
    assert choose_order_measure([trec.parse("nDCG@10", None, "retrieved")]) is None
    assert choose_order_measure([parse_measure_name("nDCG"), parse_measure_name("AP")]) is None


def test_a_query_without_results_is_not_an_error() -> None:
    truth = Truth("t", {"q1": {"a": 1}, "q2": {"b": 1}})
    need = find_holes(
        [make_run("A", {"q1": "a"}), make_run("B", {"q2": "h"})], truth.grades, NDCG3, ["q1", "q2"]
    )
    assert need.by_query == {"q2": 1}


def test_what_one_system_alone_found_is_taken_from_the_truth() -> None:
    runs = [make_run("A", {"q": "abc"}), make_run("B", {"q": "bcd"})]
    unique = find_unique_contributions(runs, 3)
    assert unique == {"A": {"q": {"a"}}, "B": {"q": {"d"}}}
    assert find_unique_contributions(runs, 1) == {"A": {"q": {"a"}}, "B": {"q": {"b"}}}
    assert leave_out_documents({"q": {"a": 3, "b": 1}, "r": {"a": 2}}, unique["A"]) == {
        "q": {"b": 1},
        "r": {"a": 2},
    }
