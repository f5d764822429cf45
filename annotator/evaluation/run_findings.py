"""Sum up what a ground truth can tell about runs: for the datasheet of a release, and which system leads.

For a datasheet the profile, seed and resamples are the defaults of `annotator evaluate DATASET@VERSION`, so
the figures are the same. Two systems can be told apart if their difference is significant after Holm's
correction (`differences/comparison.py`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from annotator.domain.messages import Message, say
from annotator.evaluation.evaluate import (
    NOT_COMPARED,
    Evaluation,
    EvaluationOptions,
    SystemRanking,
    choose_main_measure,
    evaluate_runs,
)
from annotator.evaluation.profiles import Profile, find_profile
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


NO_RUNS = say("No run is imported: there is no system to compare.")
NO_GRADES = say("No pair has a settled grade yet.")


@dataclass(frozen=True, slots=True)
class LeadingSystem:
    """The system with the highest mean of `measure`; None if there is none, and `why`.

    `close`: the systems that cannot be told apart from it, best first. `systems`: the number of systems
    compared.
    """

    system: str | None
    measure: str = ""
    score: float | None = None
    ci95: tuple[float, float] | None = None
    queries: int = 0
    systems: int = 0
    close: tuple[str, ...] = ()
    why: Message | None = None


def choose_ranking_measure(profile: Profile) -> str:
    """Return the profile's measure to rank systems: its first nDCG, or else its first measure of quality."""
    measures = [profile.parse(name, None, "truth") for name in profile.measures]
    names = [measure.name for measure in measures if measure.kind not in NOT_COMPARED]
    return choose_main_measure(names) or measures[0].name


def find_leading_system(ranking: SystemRanking, measure: str) -> LeadingSystem:
    """Return the system with the highest mean, and the systems that cannot be told apart from it."""
    scored = [
        (summary.score.value, system.system, summary)
        for system in ranking.systems
        if (summary := system.measures[measure]).score.value is not None
    ]
    if not scored:
        reasons = [system.measures[measure].score.why for system in ranking.systems]
        why = next((reason for reason in reasons if reason), None)
        return LeadingSystem(None, measure, why=say("No system has a score: {why}.", why=why or "–"))
    ranked = sorted(scored, key=lambda entry: -(entry[0] or 0.0))
    _, leader, summary = ranked[0]
    others = [system for _, system, _ in ranked[1:]]
    return LeadingSystem(
        leader,
        measure,
        summary.score.value,
        summary.ci95,
        summary.score.queries,
        len(ranked),
        _list_close(ranking, measure, leader, others),
    )


def _list_close(ranking: SystemRanking, measure: str, leader: str, others: Sequence[str]) -> tuple[str, ...]:
    """Return the other systems without those that differ significantly from the leader."""
    apart = {
        system
        for comparison in ranking.comparisons
        if comparison.measure == measure and comparison.significant
        for system in (comparison.a, comparison.b)
        if leader in (comparison.a, comparison.b)
    }
    return tuple(system for system in others if system not in apart)
