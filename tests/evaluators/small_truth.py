"""The ground truth and the run that every evaluator is handed, small enough to work each figure out by hand.

Q1: 가 3, 나 2, 다 1, 라 0 (judged, not relevant); the run finds X (unjudged), 나, 가, 라, 다.
Q2: あ 1, い 0;                                    the run finds い, あ.
"""

from math import log2

from annotator.domain.ground_truth import Document, GroundTruth, Qrel, Query
from annotator.formats.registry import find_format
from tests.written_formats import write_files

TRUTH = GroundTruth(
    (
        Query(
            "Q1",
            '17조 "검색" 🔎',
            category="법률",
            primary_domain="도시계획",
            metadata={"needs_a2a": False, "needs_rne": True},
        ),
        Query("Q2", "ハンドラキュー: 構成", language="ja"),
    ),
    (
        Qrel(
            "Q1",
            "가",
            3,
            annotator_grades=(("annotator_1", 3), ("annotator_2", 2)),
            metadata={"law_type": "법률"},
        ),
        Qrel("Q1", "나", 2),
        Qrel("Q1", "다", 1),
        Qrel("Q1", "라", 0),
        Qrel("Q2", "あ", 1),
        Qrel("Q2", "い", 0),
    ),
    {"version": "1.0"},
    (Document("가", "제17조", "본문"),),
)
RUN = {"Q1": ["X", "나", "가", "라", "다"], "Q2": ["い", "あ"]}


def written(name: str, *, list_grade_0: bool = False, truth: GroundTruth = TRUTH) -> dict[str, bytes]:
    """The files of a format, as a release has them."""
    return write_files(find_format(name), truth, list_grade_0=list_grade_0)


def dcg(gains: list[float]) -> float:
    """The sum of gain / log2(rank + 1) over ranks from 1."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def mean(values: list[float]) -> float:
    return sum(values) / len(values)
