"""Measure how often the pairs of each rule of relations were settled at the suggested grade."""

from collections import Counter
from collections.abc import Iterable

from annotator.domain.grades import GRADES, RELEVANT_FROM
from annotator.pooling.suggestions.suggestion_records import MeasuredShare, RuleAccuracy, SuggestedPair


def measure_accuracy(pairs: Iterable[tuple[str, SuggestedPair]]) -> tuple[RuleAccuracy, ...]:
    """Return the figures of each rule and suggested grade. `pairs`: (relation of the rule, pair)."""
    groups: dict[tuple[str, str, int], list[SuggestedPair]] = {}
    for relation, pair in pairs:
        groups.setdefault((pair.rule, relation, pair.grade), []).append(pair)
    accuracies = []
    for (rule, relation, grade), members in sorted(groups.items()):
        by_grade = Counter(pair.settled for pair in members if pair.settled is not None)
        settled = by_grade.total()
        unrateable = sum(pair.status == "unrateable" for pair in members)
        relevant = sum(count for at, count in by_grade.items() if at >= RELEVANT_FROM)
        accuracies.append(
            RuleAccuracy(
                rule=rule,
                relation=relation,
                grade=grade,
                suggested=len(members),
                open=len(members) - settled - unrateable,
                unrateable=unrateable,
                settled_at={at: by_grade[at] for at in GRADES},
                exact=measure_share(by_grade[grade], settled),
                relevant=measure_share(relevant, settled),
                outdated=sum(pair.outdated for pair in members),
            )
        )
    return tuple(accuracies)


def measure_share(count: int, of: int) -> MeasuredShare:
    """Return a share with Clopper and Pearson's 95 % interval; both None if `of` is 0."""
    from annotator.agreement.intervals import exact_interval  # brings numpy

    if not of:
        return MeasuredShare(count, of, None, None)
    return MeasuredShare(count, of, count / of, exact_interval(count, of))
