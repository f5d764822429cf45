"""Score runs against a truth by the conventions of a profile, one run at a time.

trec_eval computes the measures that it has (`TrecEval`). Other measures, the share of judged documents and
the bounds are computed on a matrix of grades (`formulas.py`). Refused: a truth without grades if the profile
needs them, a truth without a query to score, a run that shares no query with the truth, and a repeated
system.

Compute measures with trec_eval itself: its C code, through pytrec_eval. ir_measures only provides the names:
its evaluator calls the same code but takes 2.3 times as long (docs/decisions.md). A run is passed in its
final order, with falling scores instead of its own.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say, say_n
from annotator.evaluation.profiles import WHY_LEFT_OUT, Profile
from annotator.evaluation.records import (
    Grades,
    Ideal,
    Kind,
    Measure,
    RankedRun,
    ScoreTable,
    SystemScores,
    Truth,
)
from annotator.evaluation.scores.formulas import (
    bound_scores,
    compute_err,
    compute_judged,
    compute_ndcg,
    compute_precision_of_returned,
    compute_rbp,
    round_scores,
)
from annotator.evaluation.scores.ranking import (
    Codes,
    GradeGrid,
    GradeLookup,
    RunGrades,
    UnjudgedResults,
    list_blocks,
)
from annotator.formats.runs import FAILED

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


Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How to score, in addition to the profile."""

    measures: tuple[str, ...] = ()  # empty: the profile's
    relevant_from: int | None = (
        None  # profile `trec`: for measures without a threshold in their name; None: 1
    )
    ideal: Ideal = "truth"
    complete: bool = True  # False: a system's means leave out the queries without results
    readings: bool = True  # False: leave out the condensed list and the bounds


def score_runs(
    truth: Truth, runs: Iterable[RankedRun], profile: Profile, options: ScoringOptions | None = None
) -> ScoreTable:
    """Return the scores of every run. Runs are consumed one at a time, so they may be read lazily."""
    scorer = RunScorer.prepare(truth, profile, options or ScoringOptions())
    systems: dict[str, SystemScores] = {}
    for run in runs:
        if run.system in systems:
            raise ValidationError(f"expected every system once, found {run.system!r} again")
        systems[run.system] = scorer.score(run)
    return scorer.build_table(tuple(systems.values()))


@dataclass(frozen=True, slots=True)
class RunScorer:
    """A truth and measures prepared to score any number of runs. It keeps the grades of each scored run."""

    truth: Truth
    profile: Profile
    options: ScoringOptions
    measures: tuple[Measure, ...]
    grades: Grades  # as the profile converts them
    lowest_listed: int  # the lowest grade with which a document counts as listed
    query_ids: tuple[str, ...]
    left_out: Mapping[str, str]
    trec_eval: TrecEval = field(repr=False)
    condensed_eval: TrecEval = field(repr=False)  # on lists without unjudged documents
    lookup: GradeLookup = field(repr=False)
    unjudged: UnjudgedResults = field(repr=False)  # of the runs scored so far

    @classmethod
    def prepare(cls, truth: Truth, profile: Profile, options: ScoringOptions) -> "RunScorer":
        """Check the options against the truth and choose the queries. Raises ValidationError."""
        if profile.needs_grades and not truth.has_grades:
            raise ValidationError(
                f"{truth.name} holds an order of documents and no grades, which the profile {profile.name} needs; "
                "say which grades are meant (--grades-by), or use the profile survey"
            )
        names = dict.fromkeys(options.measures or profile.measures)
        parsed = [profile.parse(name, options.relevant_from, options.ideal) for name in names]
        measures = tuple({measure.name: measure for measure in parsed}.values())
        lowest_listed = 1 if truth.tells_grade_0 or not profile.needs_grades else 0
        grades = profile.choose_grades(truth)
        query_ids, left_out = _choose_queries(truth, grades, profile, lowest_listed)
        scored = {query_id: grades[query_id] for query_id in query_ids}
        prepared = TrecEval.prepare(scored, measures, lowest_listed=lowest_listed)
        condensed = TrecEval.prepare(
            scored, measures if options.readings else (), lowest_listed=lowest_listed, condensed=True
        )
        return cls(
            truth,
            profile,
            options,
            measures,
            scored,
            lowest_listed,
            query_ids,
            left_out,
            prepared,
            condensed,
            GradeLookup.build(scored, query_ids),
            UnjudgedResults(len(query_ids)),
        )

    def build_table(self, systems: Sequence[SystemScores]) -> ScoreTable:
        """Return a table of the scores, with bounds from the unjudged results of all scored runs."""
        unjudged = self.unjudged.count()
        return ScoreTable(
            self.truth,
            self.profile.name,
            self.measures,
            self.query_ids,
            self.left_out,
            tuple(self._add_bounds(system, unjudged) for system in systems),
            comparable=self.options.ideal == "truth",
            answerable={measure.name: self._find_answerable(measure) for measure in self.measures},
        )

    def _find_answerable(self, measure: Measure) -> NDArray[np.bool_]:
        """Return for each query whether it has a document that the measure counts as relevant."""
        threshold = 1 if measure.kind == "nDCG" else self.find_threshold(measure)
        return self.lookup.highest_grades >= threshold

    def _add_bounds(self, system: SystemScores, unjudged: Codes) -> SystemScores:
        """Return the scores with bounds. `unjudged`: by query, the number of unjudged documents of all runs."""
        lowest: dict[str, Values] = {}
        highest: dict[str, Values] = {}
        run_grades = self.unjudged.runs.get(system.system)
        bounded = [measure for measure in self.measures if self._find_answerable(measure).any()]
        if run_grades is None or not bounded:
            return system
        for first, last in list_blocks(np.maximum(run_grades.lengths, self.lookup.judged_counts).tolist()):
            grid = self.lookup.build_grid(run_grades, first, last)
            for measure in bounded:
                bounds = bound_scores(grid, measure, self.find_threshold(measure), unjudged[first:last])
                if bounds is None:
                    continue
                for reading, part in zip((lowest, highest), bounds, strict=True):
                    if measure.name not in reading:
                        reading[measure.name] = np.full(len(self.query_ids), np.nan)
                    rounded = part if measure.decimals is None else round_scores(part, measure.decimals)
                    reading[measure.name][first:last] = rounded
        for name in lowest:  # trec_eval adds up in another order, which changes the last digit
            lowest[name] = np.minimum(lowest[name], system.values[name])
            highest[name] = np.maximum(highest[name], system.values[name])
        return replace(system, lowest=lowest, highest=highest)

    def score(self, run: RankedRun) -> SystemScores:
        """Return the scores of one run."""
        ranked = self._prepare_run(run)
        count = len(self.query_ids)
        run_grades = self.lookup.find(run)
        results = run_grades.lengths
        values = self.trec_eval.score(ranked, self.query_ids)
        others = [measure for measure in self.measures if not is_computed_by_trec_eval(measure)]
        values |= {measure.name: np.full(count, np.nan) for measure in others}
        judged = {measure.name: np.full(count, np.nan) for measure in self.measures}
        condensed: dict[str, Values] = {}
        if self.options.readings:
            self.unjudged.add(run, run_grades)
            condensed = self.condensed_eval.score(ranked, self.query_ids)
            condensed |= {measure.name: np.full(count, np.nan) for measure in others}
        self._score_blocks(run_grades, others, values, judged, condensed)
        for measure in self.measures:
            if measure.kind == "TFFU":
                values[measure.name] = self._find_first_times(run, measure)
            is_defined = measure.kind == "Judged" or self._find_answerable(measure).any()
            for reading in (values, condensed):
                if measure.name not in reading:
                    continue
                if measure.decimals is not None:
                    reading[measure.name] = round_scores(reading[measure.name], measure.decimals)
                if not is_defined:
                    reading[measure.name] = np.full(count, np.nan)
                if not self.options.complete:
                    reading[measure.name] = np.where(results > 0, reading[measure.name], np.nan)
        ordered = {measure.name: values[measure.name] for measure in self.measures}
        return SystemScores(
            run.system,
            ordered,
            judged,
            condensed,
            {},
            {},
            results,
            self._list_latencies(run),
            (*run.notes, *self._note_queries(run, results)),
        )

    def _prepare_run(self, run: RankedRun) -> dict[str, dict[str, float]]:
        """Return the results of the scored queries for trec_eval. Raises ValidationError without any."""
        ranked = prepare_run(run, self.grades)
        if not ranked:
            raise ValidationError(
                say(
                    "{system}: expected results for a query of {truth}, found only others ({count:,}), such as {first!r}",
                    system=run.system,
                    truth=self.truth.name,
                    count=len(run.query_ids),
                    first=run.query_ids[0],
                )
                if run.query_ids
                else say(
                    "{system}: expected results for a query of {truth}, found none",
                    system=run.system,
                    truth=self.truth.name,
                )
            )
        return ranked

    def _score_blocks(
        self,
        run_grades: RunGrades,
        others: Sequence[Measure],
        values: dict[str, Values],
        judged: dict[str, Values],
        condensed: dict[str, Values],
    ) -> None:
        """Fill in the shares of judged documents and the measures `others`, which need the matrix of grades."""
        for first, last in list_blocks(np.maximum(run_grades.lengths, self.lookup.judged_counts).tolist()):
            grid = self.lookup.build_grid(run_grades, first, last)
            shares = {
                cutoff: compute_judged(grid, cutoff=cutoff)
                for cutoff in {measure.cutoff for measure in self.measures}
            }
            for measure in self.measures:
                judged[measure.name][first:last] = shares[measure.cutoff]
            for measure in others:
                values[measure.name][first:last] = self._compute(grid, measure)
            if not self.options.readings:
                continue
            condensed_grid = grid.condense()
            for measure in others:
                condensed[measure.name][first:last] = self._compute(condensed_grid, measure)

    def _compute(self, grid: GradeGrid, measure: Measure) -> Values:
        """Return the values of a measure that trec_eval lacks; NaN for a measure that needs more than grades."""
        threshold = self.find_threshold(measure)
        if measure.kind == "nDCG":
            from_results = measure.ideal == "retrieved"
            return compute_ndcg(grid, cutoff=measure.cutoff, gain=measure.gain, from_results=from_results)
        if measure.kind == "ERR":
            return compute_err(grid, cutoff=measure.cutoff)
        if measure.kind == "RBP":
            return compute_rbp(
                grid, cutoff=measure.cutoff, persistence=measure.persistence, relevant_from=threshold
            )
        if measure.kind == "Judged":
            return compute_judged(grid, cutoff=measure.cutoff)
        if measure.kind == "P":
            return compute_precision_of_returned(grid, cutoff=measure.cutoff, relevant_from=threshold)
        return np.full(len(grid.grades), np.nan)

    def find_threshold(self, measure: Measure) -> int:
        """Return the lowest grade that the measure counts as relevant."""
        return self.lowest_listed if measure.relevant_from is None else measure.relevant_from

    def _find_first_times(self, run: RankedRun, measure: Measure) -> Values:
        """Return for each query when the earliest relevant result arrived; NaN if unknown."""
        times = dict.fromkeys(self.query_ids, np.nan)
        if run.times_ms is not None:
            threshold = self.find_threshold(measure)
            for index, query_id in enumerate(run.query_ids):
                if query_id not in times:
                    continue
                arrivals = run.times_ms[run.starts[index] : run.starts[index + 1]].tolist()
                documents = self.grades[query_id]
                useful = [
                    arrival
                    for doc_id, arrival in zip(run.list_documents(index), arrivals, strict=True)
                    if documents.get(doc_id, -1) >= threshold and arrival == arrival
                ]
                times[query_id] = min(useful, default=np.nan)
        return np.array(list(times.values()), dtype=np.float64)

    def _list_latencies(self, run: RankedRun) -> Values | None:
        if not run.latency_ms:
            return None
        return np.array([run.latency_ms.get(query_id, np.nan) for query_id in self.query_ids])

    def _note_queries(self, run: RankedRun, results: NDArray[np.int64]) -> list[str]:
        """Return notes on unknown queries of the run, queries without results, and failed queries."""
        notes: list[str] = []
        unknown = [query_id for query_id in run.query_ids if query_id not in self.truth.grades]
        if unknown:
            notes.append(
                say_n(
                    "{n} query of the run is not in the truth, first {query}; its results are ignored",
                    "{n:,} queries of the run are not in the truth, first {query}; their results are ignored",
                    len(unknown),
                    query=repr(unknown[0]),
                )
            )
        missing = int((results == 0).sum())
        if missing:
            values = {"missing": missing, "queries": len(self.query_ids)}
            notes.append(
                say("queries without results: {missing:,} of {queries:,}; they count as 0", **values)
                if self.options.complete
                else say(
                    "queries without results: {missing:,} of {queries:,}; they are left out of the means",
                    **values,
                )
            )
        failed = [
            query_id
            for query_id in self.query_ids
            if isinstance(run.query_signals.get(query_id, {}).get(FAILED), str)
        ]
        if failed:
            notes.append(
                say_n(
                    "{n} query failed when the run was fetched, first {query}: the system gave no answer (not an "
                    "empty result)",
                    "{n:,} queries failed when the run was fetched, first {query}: the system gave no answer "
                    "(not an empty result)",
                    len(failed),
                    query=repr(failed[0]),
                )
            )
        return notes


def _choose_queries(
    truth: Truth, grades: Grades, profile: Profile, lowest_listed: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the queries that the profile takes means over, and {other query: why it is left out}."""
    if profile.mean_over == "all":
        kept = list(grades)
    elif profile.mean_over == "judged":
        kept = [query_id for query_id, documents in grades.items() if documents]
    else:
        kept = [
            query_id
            for query_id, documents in grades.items()
            if any(grade >= lowest_listed for grade in documents.values())
        ]
    if not kept and any(grades.values()):
        raise ValidationError(
            say("{truth}: expected a query to score, found none with a relevant document", truth=truth.name)
        )
    if not kept:
        raise ValidationError(
            say("{truth}: expected a query to score, found none with a judged document", truth=truth.name)
        )
    chosen = frozenset(kept)
    left_out = {query_id: WHY_LEFT_OUT[profile.mean_over] for query_id in grades if query_id not in chosen}
    return tuple(kept), left_out
