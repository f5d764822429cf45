"""Every grading of the unjudged results, by brute force: scores stay in their range, and no order changes that is called sure.

All gradings of a query become queries of one truth, with the same results, so that two calls score them all.
"""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotator.evaluation.evaluate import EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles import PROFILES, Profile, find_profile
from annotator.evaluation.records import RankedRun, ScoreTable, Truth
from annotator.evaluation.scores.scoring import ScoringOptions, score_runs
from tests.short_run import draw_few
from tests.unit.evaluation.small_runs import make_run

SYSTEMS = ("A", "B", "C")
MORE = {
    "trec": ("nDCG@2", "nDCG", "nDCG(dcg='exp-log2')", "R@2", "F1@2", "AP@2", "AP(rel=2)", "RR@2"),
    "nablarch": ("NDCG@2", "Recall@2"),
    "law": ("NDCG@2", "Recall@2", "F1@2"),
    "survey": ("Precision@3", "Recall@2"),
    "code": ("NDCG@2", "P_returned@3"),
    "document": ("InTop@2",),
}
ORDERED_BY = [
    ("trec", "nDCG@2"),
    ("trec", "P(rel=2)@2"),
    ("trec", "Success@2"),
    ("nablarch", "NDCG@2"),
    ("document", "InTop@2"),
    *(
        pytest.param(profile, measure, marks=pytest.mark.long)
        for profile, measure in (
            ("trec", "nDCG@20"),
            ("trec", "nDCG(dcg='exp-log2')@2"),
            ("law", "NDCG@2"),
            ("law", "P@2"),
            ("survey", "NDCG@2"),
            ("survey", "Precision@3"),
            ("code", "NDCG@2"),
        )
    ),
]
"""A measure of each kind in every run: with ideal lists of two profiles, of a share, of any, and of the top."""

LISTS = st.lists(st.sampled_from("abcdef"), unique=True, max_size=4)
GRADES = st.dictionaries(st.sampled_from("abcdefx"), st.integers(0, 3), max_size=6)
Query = tuple[dict[str, int], Sequence[Sequence[str]]]
QUERIES = st.tuples(GRADES, st.tuples(LISTS, LISTS, LISTS))


def list_unjudged(query: Query, cutoff: int | None = None) -> list[str]:
    """The unjudged documents in the systems' lists, at most three: 64 gradings."""
    grades, lists = query
    unjudged = dict.fromkeys(doc_id for listed in lists for doc_id in listed[:cutoff] if doc_id not in grades)
    assume(len(unjudged) <= 3)
    return list(unjudged)


def grade_all(query: Query, unjudged: Sequence[str]) -> list[dict[str, int]]:
    """The grades of the query for every grading of the unjudged documents; the first one gives none."""
    grades, _ = query
    return [
        grades,
        *(
            {**grades, **dict(zip(unjudged, given_grades, strict=True))}
            for given_grades in product(range(4), repeat=len(unjudged))
        ),
    ]


def make_runs(queries: dict[str, Query]) -> list[RankedRun]:
    return [
        make_run(
            system,
            {query_id: lists[at] for query_id, (_, lists) in queries.items() if lists[at]} | {"-": "-"},
        )
        for at, system in enumerate(SYSTEMS)
    ]


def score(queries: dict[str, Query], profile: Profile, measures: Sequence[str]) -> ScoreTable:
    """The scores on these queries and on one that every system answers."""
    truth = Truth("t", {**{query_id: grades for query_id, (grades, _) in queries.items()}, "-": {"-": 3}})
    return score_runs(truth, make_runs(queries), profile, ScoringOptions(measures=tuple(measures)))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
@draw_few()
@given(query=QUERIES)
def test_a_range_ends_at_the_lowest_and_the_highest_score_of_all_gradings(
    profile: Profile, query: Query
) -> None:
    gradings = grade_all(query, list_unjudged(query))
    measures = (*profile.measures, *MORE[profile.name])
    now = score({"q": query}, profile, measures)
    assume("q" in now.query_ids)
    graded = score({str(at): (grades, query[1]) for at, grades in enumerate(gradings)}, profile, measures)
    rows = [row for row, query_id in enumerate(graded.query_ids) if query_id != "-"]
    at = now.query_ids.index("q")
    for system, of_gradings in zip(now.systems, graded.systems, strict=True):
        for measure in now.measures:
            if measure.name not in system.lowest:
                assert measure.kind in ("Bpref", "Judged", "FirstRank", "TFFU") or measure.gain == "position"
                continue
            values = of_gradings.values[measure.name][rows]
            lowest, highest = system.lowest[measure.name][at], system.highest[measure.name][at]
            assert lowest <= system.values[measure.name][at] <= highest
            assert lowest == pytest.approx(values.min(), abs=1e-9), measure.name
            if measure.kind == "RBP":  # and whatever would follow the last result
                assert highest >= values.max() - 1e-9
            else:
                assert highest == pytest.approx(values.max(), abs=1e-9), measure.name


@pytest.mark.parametrize(("profile_name", "measure"), ORDERED_BY)
@draw_few()
@given(queries=st.lists(QUERIES, min_size=1, max_size=2))
def test_no_grading_changes_an_order_that_is_not_open(
    profile_name: str, measure: str, queries: list[Query]
) -> None:
    profile = find_profile(profile_name)
    assume(any(grades for grades, _ in queries))
    evaluation = evaluate_runs(
        Truth("t", {**{str(at): grades for at, (grades, _) in enumerate(queries)}, "-": {"-": 3}}),
        make_runs({str(at): query for at, query in enumerate(queries)}),
        profile,
        scoring=ScoringOptions(measures=(measure,)),
        options=EvaluationOptions(resamples=2),
    )
    need = evaluation.dataset.holes
    assert need is not None and need.measure == measure
    least, most = {}, {}
    for query in queries:
        if not query[0]:
            continue  # nobody judged anything there: it is in no mean
        gradings = grade_all(query, list_unjudged(query, need.cutoff))
        table = score(
            {str(at): (grades, query[1]) for at, grades in enumerate(gradings)}, profile, (measure,)
        )
        rows = [row for row, query_id in enumerate(table.query_ids) if query_id != "-"]
        values = {system.system: system.values[measure][rows] for system in table.systems}
        for order in need.orders:
            differences = [*(values[order.b] - values[order.a]).tolist()]
            differences += [0.0] * (len(rows) < len(gradings))  # with some of them the query is in no mean
            least[order] = least.get(order, 0.0) + min(differences)
            most[order] = most.get(order, 0.0) + max(differences)
    for order in need.orders:
        signs = {0 if abs(total) < 1e-9 else total > 0 for total in (least[order], most[order])}
        assert len(signs) == 1 or order.is_open
        assert min(order.lowest, 0.0) * need.queries <= least[order] + 1e-9
        assert max(order.highest, 0.0) * need.queries >= most[order] - 1e-9
    can_stop = any("judging can stop" in sentence for sentence in evaluation.sentences)
    assert not (can_stop and need.open_orders)


@pytest.mark.parametrize(("profile_name", "measure"), ORDERED_BY)
@draw_few(filters=True)
@given(queries=st.lists(QUERIES, min_size=1, max_size=2))
def test_where_judging_can_stop_no_unjudged_result_at_any_rank_changes_an_order(
    profile_name: str, measure: str, queries: list[Query]
) -> None:
    profile = find_profile(profile_name)
    assume(any(grades for grades, _ in queries))
    named = {str(at): query for at, query in enumerate(queries)}
    truth = {query_id: grades for query_id, (grades, _) in named.items()}
    evaluation = evaluate_runs(
        Truth("t", {**truth, "-": {"-": 3}}),
        make_runs(named),
        profile,
        scoring=ScoringOptions(measures=(measure,)),
        options=EvaluationOptions(resamples=2),
    )
    need = evaluation.dataset.holes
    assert need is not None
    assume("judging can stop" in need.sentence)
    differences: dict[tuple[str, str], list[float]] = {}
    for query in queries:
        if not query[0]:
            continue
        gradings = {
            str(at): (grades, query[1]) for at, grades in enumerate(grade_all(query, list_unjudged(query)))
        }
        table = score(gradings, profile, (measure,))
        rows = [row for row, query_id in enumerate(table.query_ids) if query_id != "-"]
        values = {system.system: system.values[measure][rows] for system in table.systems}
        for order in need.orders:
            found = (values[order.b] - values[order.a]).tolist() + [0.0] * (len(rows) < len(gradings))
            ends = differences.setdefault((order.a, order.b), [0.0, 0.0])
            ends[0], ends[1] = ends[0] + min(found), ends[1] + max(found)
    for lowest, highest in differences.values():
        assert (abs(lowest) < 1e-9 and abs(highest) < 1e-9) or lowest > 1e-9 or highest < -1e-9
