"""Evaluations for the tests of reports: one with everything that a report shows, one of hostile names and texts."""

from dataclasses import replace

from annotator.evaluation.dataset_analysis.robustness import PairGrades
from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import RankedRun, Truth
from tests.unit.evaluation.small_runs import make_run

HOSTILE = "<script>alert(1)</script>|[x](javascript:alert(1))`</td>{{ 7*7 }}\n# h\u202e\x07&amp;\"'"
_QUERIES = tuple(f"q{number}" for number in range(1, 9))


def make_reported_evaluation() -> tuple[Evaluation, list[PairGrades]]:
    """Three systems on eight queries of two categories, with latencies, a failed query, holes and a disputed pair."""
    truth = Truth(
        "web-search",
        {
            query_id: {f"{query_id}-good": 3, f"{query_id}-fair": 2, f"{query_id}-poor": 1}
            for query_id in _QUERIES
        },
        texts={query_id: f"ハンドラ構成 {query_id}" for query_id in _QUERIES},
        fields={
            query_id: {"category": "handler" if number < 4 else "データベース"}
            for number, query_id in enumerate(_QUERIES)
        },
        version="v2",
        sha256="ab" * 32,
    )
    runs = [
        _with_latencies(make_run("bm25", {query_id: _rank(query_id, 2) for query_id in _QUERIES}), 90),
        _with_latencies(make_run("hybrid", {query_id: _rank(query_id, 1) for query_id in _QUERIES}), 260),
        make_run("old baseline", {query_id: _rank(query_id, 4) for query_id in _QUERIES if query_id != "q3"}),
    ]
    evaluation = evaluate_runs(
        truth,
        runs,
        find_profile("nablarch"),
        options=EvaluationOptions(group_by=("category",), seed=7, resamples=200),
    )
    pairs = [
        PairGrades(query_id, f"{query_id}-good", 3, {"花子": 3, "민준": 0}) for query_id in ("q1", "q2", "q5")
    ]
    return evaluation, pairs


def _rank(query_id: str, step: int) -> list[str]:
    """A ranked list in which the good document stands lower the higher `step` is; q3 has it on rank 12."""
    noise = [f"{query_id}-noise{number}" for number in range(11)]
    if query_id == "q3":
        return [*noise, f"{query_id}-good"]
    above = (int(query_id[1:]) * step) % 5
    return [*noise[:above], f"{query_id}-good", *noise[above : above + step], f"{query_id}-fair"]


def _with_latencies(run: RankedRun, milliseconds: int) -> RankedRun:
    return replace(
        run,
        latency_ms={query_id: milliseconds + 10 * number for number, query_id in enumerate(run.query_ids)},
    )


def make_hostile_evaluation() -> Evaluation:
    """Two systems, queries, categories and documents whose names try to become markup."""
    queries = (HOSTILE, "q|2", "- q3")
    truth = Truth(
        HOSTILE,
        {query_id: {HOSTILE: 3, "**d**": 1} for query_id in queries},
        texts=dict.fromkeys(queries, HOSTILE),
        fields={query_id: {HOSTILE: HOSTILE} for query_id in queries},
        version="v1|",
    )
    runs = [
        make_run(HOSTILE, {query_id: ["<img src=x onerror=alert(1)>", "**d**"] for query_id in queries}),
        make_run("a\nb", {query_id: ["![x](http://x.y)", HOSTILE] for query_id in queries[:2]}),
    ]
    return evaluate_runs(
        truth,
        runs,
        find_profile("nablarch"),
        options=EvaluationOptions(group_by=(HOSTILE,), resamples=50),
    )
