"""Recommend what to improve next, by rules that are printed with the recommendations.

A rule compares figures of systems, groups of queries or the dataset with limits. The limit of a measure is
its target, or else the usual limit below. A recommendation names the systems, groups or measures it applies
to, with their figures.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.figures import show_number, show_percent
from annotator.domain.messages import Message, say
from annotator.evaluation.evaluate import FEW_JUDGED, Evaluation, SystemSummary
from annotator.evaluation.profiles import Target
from annotator.evaluation.records import Kind, Measure
from annotator.evaluation.scores.summary import group_rows, summarize_answerable

LIMITS: dict[Kind, float] = {"RR": 0.70, "R": 0.80, "nDCG": 0.70}
"""The usual limits: the targets of the Nablarch team."""
CLOSE_BELOW = 0.10
"""If recall gains this much from the first cutoff to a deeper one, the order should be improved."""
WEAK_GROUP = 0.15
"""A group of queries is named if its mean is this far below that of all queries."""
FEWEST_IN_GROUP = 3


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition, and the advice if it holds."""

    condition: Message
    advice: Message


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A rule whose condition holds, with its number and the systems, groups or measures it holds for."""

    number: int
    rule: Rule
    applies_to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Limits:
    """The computed measures that rules use, and the limits from targets."""

    measures: dict[Kind, Measure]
    targets: dict[str, float]  # by measure

    def find(self, kind: Kind) -> tuple[Measure, float] | None:
        """Return the first computed measure of a kind with its limit, or None."""
        measure = self.measures.get(kind)
        return None if measure is None else (measure, self.targets.get(measure.name, LIMITS[kind]))


def recommend(
    evaluation: Evaluation, targets: Sequence[Target] = ()
) -> tuple[list[Recommendation], list[Rule]]:
    """Return the recommendations, most urgent first, and all rules in the order of their numbers."""
    measures: dict[Kind, Measure] = {}
    for measure in evaluation.table.measures:
        measures.setdefault(measure.kind, measure)
    limits = _Limits(
        measures,
        {
            target.measure: limit
            for target in targets
            if (limit := target.minimum if target.minimum is not None else target.maximum) is not None
        },
    )
    tried = [
        *_try_judged(evaluation),
        *_try_coverage(evaluation),
        *_try_scores(evaluation, limits),
        *_try_latency(evaluation, limits.targets),
        *_try_groups(evaluation),
        *_try_dataset(evaluation),
    ]
    recommendations = [
        Recommendation(number, rule, tuple(applies_to))
        for number, (rule, applies_to) in enumerate(tried, start=1)
        if applies_to
    ]
    return recommendations, [rule for rule, _ in tried]


Tried = Iterator[tuple[Rule, list[str]]]


def _try_judged(evaluation: Evaluation) -> Tried:
    few = {
        system.system: (system, lowest)
        for system in evaluation.systems
        if (lowest := _find_lowest_judged(system)) is not None and lowest < FEW_JUDGED
    }
    scores = [summary.score for system, _ in few.values() for summary in system.measures.values()]
    rise, fall = any(score.may_rise for score in scores), any(score.may_fall for score in scores)
    rule = Rule(
        say("Judged documents below {share:.0%}", share=FEW_JUDGED),
        say(
            "Judge the unjudged documents first. They count as not relevant here. These scores may be too low; none "
            "is too high."
        )
        if rise and not fall
        else say(
            "Judge the unjudged documents first. Relevant ones that a system does not rank high would lower its "
            "scores: these may be too high; none is too low."
        )
        if fall and not rise
        else say(
            "Judge the unjudged documents first. They count as not relevant here, so these scores are uncertain: "
            "some may be too low, some too high."
        ),
    )
    yield rule, [f"{system} ({show_percent(lowest, 0)})" for system, (_, lowest) in few.items()]


def _find_lowest_judged(system: SystemSummary) -> float | None:
    shares = [
        summary.score.judged for summary in system.measures.values() if summary.score.judged is not None
    ]
    return min(shares, default=None)


def _try_coverage(evaluation: Evaluation) -> Tried:
    rule = Rule(
        say("Queries without results"),
        say(
            "Look at these queries first: filters, query parsing and text analysis decide whether anything is found."
        ),
    )
    total = len(evaluation.table.query_ids)
    yield (
        rule,
        [
            f"{system.system} ({total - system.queries:,} / {total:,})"
            for system in evaluation.systems
            if system.queries < total
        ],
    )


def _try_scores(evaluation: Evaluation, limits: _Limits) -> Tried:
    first = limits.find("RR")
    if first is not None:
        yield (
            Rule(
                _say_below(first),
                say(
                    "The first relevant document is ranked too low. Improve the first ranks: reranking, fusion "
                    "weights, exact matches of titles and identifiers."
                ),
            ),
            [
                _show_figures(evaluation, system, [first[0]])
                for system in evaluation.systems
                if (value := _value(evaluation, system, first[0])) is not None and value < first[1]
            ],
        )
    recall, order = limits.find("R"), limits.find("nDCG")
    if recall is not None and order is not None:
        yield from _try_recall_and_order(evaluation, recall, order)
    if recall is not None:
        deeper = [
            measure
            for measure in evaluation.table.measures
            if measure.kind == "R"
            and (measure.cutoff or 0) > (recall[0].cutoff or 0)
            and measure.relevant_from == recall[0].relevant_from
        ]
        if deeper:
            yield _try_just_below(evaluation, recall[0], deeper[0])


def _say_below(limit: tuple[Measure, float]) -> Message:
    return say("{measure} below {limit}", measure=limit[0].name, limit=show_number(limit[1], 2))


def _try_recall_and_order(
    evaluation: Evaluation, recall: tuple[Measure, float], order: tuple[Measure, float]
) -> Tried:
    names = {
        "recall": recall[0].name,
        "ndcg": order[0].name,
        "recall_limit": show_number(recall[1], 2),
        "ndcg_limit": show_number(order[1], 2),
    }

    def choose(low_recall: bool, low_order: bool) -> list[str]:
        return [
            _show_figures(evaluation, system, [recall[0], order[0]])
            for system in evaluation.systems
            if (found := _value(evaluation, system, recall[0])) is not None
            and (ordered := _value(evaluation, system, order[0])) is not None
            and (found < recall[1]) == low_recall
            and (ordered < order[1]) == low_order
        ]

    yield (
        Rule(
            say("{recall} below {recall_limit}, {ndcg} at least {ndcg_limit}", **names),
            say(
                "The results are in good order, but relevant documents are missing. Add candidates: more per "
                "retriever, synonyms, a second retriever."
            ),
        ),
        choose(True, False),
    )
    yield (
        Rule(
            say("{recall} below {recall_limit}, {ndcg} below {ndcg_limit}", **names),
            say(
                "Relevant documents are missing, and the order is poor. Start with the candidates: reranking "
                "cannot add missing documents."
            ),
        ),
        choose(True, True),
    )
    yield (
        Rule(
            say("{recall} at least {recall_limit}, {ndcg} below {ndcg_limit}", **names),
            say("Relevant documents are found but ranked too low. Rerank the candidates."),
        ),
        choose(False, True),
    )


def _try_just_below(evaluation: Evaluation, near: Measure, far: Measure) -> tuple[Rule, list[str]]:
    rule = Rule(
        say(
            "{far} at least {gain} above {near}",
            far=far.name,
            near=near.name,
            gain=show_number(CLOSE_BELOW, 2),
        ),
        say(
            "Relevant documents are ranked just below {cutoff}. A better order of the same candidates "
            "raises {near}.",
            cutoff=near.cutoff,
            near=near.name,
        ),
    )
    return rule, [
        _show_figures(evaluation, system, [near, far])
        for system in evaluation.systems
        if (low := _value(evaluation, system, near)) is not None
        and (high := _value(evaluation, system, far)) is not None
        and high - low >= CLOSE_BELOW
    ]


def _try_latency(evaluation: Evaluation, targets: Mapping[str, float]) -> Tried:
    half, most = targets.get("latency P50"), targets.get("latency P95")
    timed = [
        (system.system, latency)
        for system in evaluation.systems
        if (latency := system.latency_ms) is not None
    ]
    if half is not None:
        yield (
            Rule(
                say("P50 above {limit:,.0f} ms", limit=half),
                say(
                    "Half of the queries are too slow. Check the whole pipeline: number of candidates, "
                    "reranking, index."
                ),
            ),
            [f"{system} ({latency.p50:,.0f} ms)" for system, latency in timed if latency.p50 > half],
        )
    if most is not None:
        yield (
            Rule(
                say("P95 above {limit:,.0f} ms", limit=most),
                say(
                    "Look at the slowest queries: long queries, many candidates, cold caches. Limit what is reranked."
                ),
            ),
            [f"{system} ({latency.p95:,.0f} ms)" for system, latency in timed if latency.p95 > most],
        )


def _try_groups(evaluation: Evaluation) -> Tried:
    """Compare each group of queries with all queries, by the best system's mean of the first measure."""
    table = evaluation.table
    compared = [measure for measure in table.measures if measure.kind not in ("Judged", "FirstRank", "TFFU")]
    if not evaluation.groups or not compared:
        return
    measure = compared[0]
    means = {scores.system: summarize_answerable(table, scores, measure).value for scores in table.systems}
    best = max(table.systems, key=lambda scores: means[scores.system] or 0.0)
    overall = means[best.system]
    rows = {name: group_rows(table, name) for name in {group.field for group in evaluation.groups}}
    weak = []
    for group in evaluation.groups:
        score = summarize_answerable(table, best, measure, rows[group.field][group.value])
        if (
            score.value is not None
            and overall is not None
            and score.queries >= FEWEST_IN_GROUP
            and overall - score.value >= WEAK_GROUP
        ):
            weak.append(f"{group.field} = {group.value} ({score.value:.3f})")
    yield (
        Rule(
            say(
                "{measure} of the best system ({system}) in a group of at least {n} queries is {distance} below that of all "
                "queries",
                measure=measure.name,
                system=best.system,
                n=FEWEST_IN_GROUP,
                distance=show_number(WEAK_GROUP, 2),
            ),
            say("Look at the failed queries of these groups. They often share a cause."),
        ),
        weak,
    )


def _try_dataset(evaluation: Evaluation) -> Tried:
    yield (
        Rule(
            say("All systems score 0.99 or more, or within 0.005"),
            say(
                "Do not rank systems by these measures. Add harder queries, or queries with more relevant documents."
            ),
        ),
        [
            f"{saturation.measure} ({saturation.lowest:.3f}–{saturation.highest:.3f})"
            for saturation in evaluation.dataset.saturation
            if saturation.saturated
        ],
    )
    yield (
        Rule(
            say("No difference is shown between the two best systems (p ≥ .05 after Holm)"),
            say(
                "Do not choose between these two by these scores. Add queries, or decide by cost and latency."
            ),
        ),
        list(_list_undecided(evaluation)),
    )


def _list_undecided(evaluation: Evaluation) -> Iterator[str]:
    saturated = {saturation.measure for saturation in evaluation.dataset.saturation if saturation.saturated}
    for measure, order in evaluation.dataset.order.items():
        if measure in saturated or len(order.systems) < 2:
            continue
        best = {order.systems[0], order.systems[1]}
        for comparison in evaluation.comparisons:
            if (
                comparison.measure == measure
                and {comparison.a, comparison.b} == best
                and comparison.is_tested
                and not comparison.significant
            ):
                yield f"{measure}: {order.systems[0]}, {order.systems[1]} ({abs(comparison.difference):.3f})"


def _value(evaluation: Evaluation, system: SystemSummary, measure: Measure) -> float | None:
    """Return the system's mean over queries with a relevant document; all systems score 0 on the others."""
    scores = next(scores for scores in evaluation.table.systems if scores.system == system.system)
    return summarize_answerable(evaluation.table, scores, measure).value


def _show_figures(evaluation: Evaluation, system: SystemSummary, measures: Sequence[Measure]) -> str:
    figures = ", ".join(f"{_value(evaluation, system, measure):.3f}" for measure in measures)
    return f"{system.system} ({figures})"
