"""Sum up what a ground truth can tell about runs, for the datasheet of a release.

The profile, seed and resamples are the defaults of `annotator evaluate DATASET@VERSION`, so the figures are
the same.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_runs
from annotator.evaluation.profiles.registry import find_profile
from annotator.evaluation.records import RankedRun, RunFindings, SystemMean, Truth
from annotator.evaluation.scores.scoring import ScoringOptions

PROFILE = "trec"
MEASURES = ("nDCG@10", "nDCG(dcg='exp-log2')@10", "RR", "R@10")


def sum_up_runs(truth: Truth, runs: Iterable[RankedRun]) -> RunFindings:
    """Return what the truth can tell about these runs. The truth needs at least one judged document.

    A run without a result for any judged query is listed in `unrelated` and not scored.
    """
    unrelated: list[str] = []
    kept = _keep_related(truth, runs, unrelated)
    first = next(kept, None)
    if first is None:
        return RunFindings(unrelated=tuple(unrelated))
    evaluation = evaluate_runs(
        truth,
        chain((first,), kept),
        find_profile(PROFILE),
        scoring=ScoringOptions(measures=MEASURES),
        options=EvaluationOptions(describe_runs=False),
    )
    measure = MEASURES[0]
    means = [
        SystemMean(system.system, summary.score.value or 0.0, summary.ci95)
        for system in evaluation.systems
        for summary in (system.measures[measure],)
    ]
    order = evaluation.dataset.order.get(measure)
    return RunFindings(
        systems=tuple(sorted(means, key=lambda system: -system.mean)),
        unrelated=tuple(unrelated),
        measure=measure,
        queries=len(evaluation.table.query_ids),
        same_winner=None if order is None else order.same_winner,
        resamples=evaluation.options.resamples,
        seed=evaluation.options.seed,
        sentences=tuple(
            dict.fromkeys((*map(str, evaluation.sentences), *_describe_power(evaluation, measure)))
        ),
    )


def _keep_related(truth: Truth, runs: Iterable[RankedRun], unrelated: list[str]) -> Iterator[RankedRun]:
    judged = {query_id for query_id, grades in truth.grades.items() if grades}
    for run in runs:
        if judged.isdisjoint(run.query_ids):
            unrelated.append(run.system)
        else:
            yield run


def _describe_power(evaluation: Evaluation, measure: str) -> Iterator[str]:
    """Yield the sentence on the power of the queries to tell the two best systems apart."""
    order = evaluation.dataset.order.get(measure)
    best = set() if order is None else set(order.systems[:2])
    for power in evaluation.dataset.power:
        if power.measure == measure and {power.a, power.b} == best:
            yield str(power.sentence)
