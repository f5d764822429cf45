"""Compute measures with trec_eval itself: its C code, through pytrec_eval.

ir_measures only provides the names: its evaluator calls the same code but takes 2.3 times as long
(docs/decisions.md). A run is passed in its final order, with falling scores instead of its own.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.records import Grades, Kind, Measure, RankedRun

_NAMES: Mapping[Kind, str] = {
    "nDCG": "ndcg",
    "P": "P",
    "R": "recall",
    "AP": "map",
    "RR": "recip_rank",
    "Success": "success",
    "Bpref": "bpref",
}
_CUT = {"nDCG": "ndcg_cut", "AP": "map_cut"}


def is_computed_by_trec_eval(measure: Measure) -> bool:
    """Return whether trec_eval has the measure. F1 counts: it is computed from precision and recall."""
    if measure.kind == "nDCG":
        return measure.gain == "grade" and measure.ideal == "truth"
    if measure.kind == "P" and measure.over_returned:
        return False
    return measure.kind in _NAMES or measure.kind in ("F1", "FirstRank")


@dataclass(slots=True)
class TrecEval:
    """trec_eval prepared for one truth and one set of measures.

    `lowest_listed`: 0 or 1, the lowest relevant grade for measures that count every listed document.
    """

    measures: Sequence[Measure]
    lowest_listed: int
    evaluators: dict[int, Any]  # by the lowest relevant grade

    @classmethod
    def prepare(
        cls, grades: Grades, measures: Iterable[Measure], *, lowest_listed: int = 1, condensed: bool = False
    ) -> "TrecEval":
        """Prepare an evaluator for each lowest relevant grade.

        `condensed`: leave unjudged documents out of every list (trec_eval's -J).
        """
        import pytrec_eval

        computed = [measure for measure in measures if is_computed_by_trec_eval(measure)]
        names: dict[int, set[str]] = {}
        for measure in computed:
            names.setdefault(_choose_level(measure, lowest_listed), set()).update(_name_parts(measure))
        judged = {query_id: documents for query_id, documents in grades.items() if documents}
        evaluators = {
            level: pytrec_eval.RelevanceEvaluator(
                judged if level else _raise_grades(judged),
                asked,
                relevance_level=level or 1,
                judged_docs_only_flag=condensed,
            )
            for level, asked in names.items()
        }
        return cls(computed, lowest_listed, evaluators)

    def score(
        self, run: Mapping[str, Mapping[str, float]], query_ids: Sequence[str]
    ) -> dict[str, NDArray[np.float64]]:
        """Return each measure's values, aligned with `query_ids`; 0 for a query without results.

        `run`: as `prepare_run` returns it.
        """
        results = {level: evaluator.evaluate(run) for level, evaluator in self.evaluators.items()}
        scores = {}
        for measure in self.measures:
            by_query = results[_choose_level(measure, self.lowest_listed)]
            parts = [
                np.array(
                    [by_query[query_id][name] if query_id in by_query else 0.0 for query_id in query_ids]
                )
                for name in _name_parts(measure)
            ]
            scores[measure.name] = _finish(measure, parts)
        return scores


def _finish(measure: Measure, parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    first = parts[0]
    if measure.kind == "F1":
        precision, recall = parts
        total = precision + recall
        return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    if measure.kind == "FirstRank":
        return np.divide(1, first, out=np.full_like(first, np.nan), where=first > 0).round()
    if measure.kind == "Success" and measure.cutoff is None:
        return np.where(first > 0, 1.0, 0.0)
    if measure.kind == "RR" and measure.cutoff is not None:
        return np.where(first * measure.cutoff >= 1 - 1e-9, first, 0.0)  # trec_eval's has no cutoff
    return first


def _name_parts(measure: Measure) -> list[str]:
    """Return trec_eval's names of the values that the measure is computed from."""
    if measure.kind == "F1":
        return [f"P_{measure.cutoff}", f"recall_{measure.cutoff}"]
    if measure.kind in ("RR", "FirstRank") or (measure.kind == "Success" and measure.cutoff is None):
        return ["recip_rank"]
    if measure.cutoff is None:
        return [_NAMES[measure.kind]]
    return [f"{_CUT.get(measure.kind, _NAMES[measure.kind])}_{measure.cutoff}"]


def _choose_level(measure: Measure, lowest_listed: int) -> int:
    """Return the lowest relevant grade; 1 for nDCG, which does not use it."""
    if measure.kind == "nDCG":
        return 1
    return lowest_listed if measure.relevant_from is None else measure.relevant_from


def _raise_grades(grades: Grades) -> dict[str, dict[str, int]]:
    """Add 1 to every grade, because trec_eval never counts grade 0 as relevant."""
    return {
        query_id: {doc_id: grade + 1 for doc_id, grade in documents.items()}
        for query_id, documents in grades.items()
    }


def prepare_run(run: RankedRun, query_ids: Container[str]) -> dict[str, dict[str, float]]:
    """Return {query_id: {doc_id: falling score}} for these queries, as trec_eval expects a run.

    The scores are whole numbers, which 32-bit floats represent exactly up to 16 million.
    """
    longest = int(np.diff(run.starts).max(initial=0))
    falling = [float(score) for score in range(longest, 0, -1)]
    return {
        query_id: dict(zip(run.list_documents(index), falling, strict=False))
        for index, query_id in enumerate(run.query_ids)
        if query_id in query_ids
    }
