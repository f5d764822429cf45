"""Compare agreement before and since a guideline version, in the dataset and its categories.

Only pairs that were judged wholly before the version or wholly since count. The interval of the difference of
kappas is by query (`intervals.cluster_interval`). Nothing is claimed for too few pairs, or if the interval
contains 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.comparisons import Comparisons, estimate_kappa, list_comparisons, subtract
from annotator.agreement.diagnosis.verdict import show_pairs, show_value, show_with_interval
from annotator.agreement.intervals import misses, to_coefficient
from annotator.agreement.judgment_table import (
    Flags,
    GradedJudgments,
    GroupLabels,
    Ints,
    NamedJudgments,
    number,
)
from annotator.agreement.measure import measure
from annotator.agreement.records import (
    CoefficientValue,
    State,
    VersionComparison,
    VersionComparisonPart,
    VersionSide,
    warn_of_few,
)
from annotator.domain.errors import NotFound
from annotator.domain.messages import Message, say

MOST_CATEGORIES = 12
NO_DIFFERENCE = say("kappa is not known for both periods")


Led = Mapping[int, Mapping[str | None, int]]
"""How many decisions led to a version, by the category of their queries."""


@dataclass(frozen=True, slots=True)
class ComparedJudgments:
    """The judgments of one group to compare."""

    judgments: NamedJudgments
    before: Flags  # rows of pairs judged wholly before the version
    since: Flags  # rows of pairs judged wholly since the version
    resamples: int
    seed: int

    def measure(self, rows: Flags) -> VersionSide:
        judged = self.judgments.judged.where(rows)
        measured = measure(judged, self.judgments.names, resamples=self.resamples, seed=self.seed)
        return VersionSide(
            measured.pairs,
            measured.queries,
            measured.cohen_kappa["unweighted"],
            measured.krippendorff_alpha["ordinal"],
            warn_of_few(measured.pairs, measured.queries),
        )


def choose_version(versions: Sequence[int], led: Led, requested: int | None) -> int | None:
    """Return the requested version, else the latest that decisions led to, else the latest.

    None if there is only one version. Raises NotFound if the requested version is unknown or the first one.
    """
    if requested is not None and requested not in versions[1:]:
        raise NotFound(
            say("There is no version {version} with an earlier version to compare.", version=requested)
        )
    return requested or max(led, default=None) or (versions[-1] if len(versions) > 1 else None)


def compare_versions(
    judgments: NamedJudgments,
    versions: Ints,
    categories: GroupLabels,
    *,
    dataset: str,
    version_numbers: Sequence[int],
    led: Led,
    version: int,
    resamples: int,
    seed: int,
) -> VersionComparison:
    """Compare agreement on the pairs judged before a version with agreement on those judged since.

    `versions` holds the version that each judgment was made under, `version_numbers` every version in
    ascending order. The categories that most decisions behind the version are about (`led`) are also compared.
    """
    before, since, between, unknown = split_rows(judgments.judged, versions, version)
    compared = ComparedJudgments(judgments, before, since, resamples, seed)
    parts = [_compare(compared, None, np.ones(len(before), dtype=np.bool_), version)]
    about = led.get(version, {})
    named = sorted((name for name in about if name is not None), key=lambda name: (-about[name], name))
    groups = {value: rows for value, rows in categories if value in named[:MOST_CATEGORIES]}
    parts += [_compare(compared, name, groups[name], version) for name in named if name in groups]
    return VersionComparison(
        dataset,
        version,
        tuple((number, sum(led.get(number, {}).values())) for number in version_numbers[1:]),
        tuple(parts),
        between,
        bool(judgments.simulated),
        unknown,
    )


def split_rows(judged: GradedJudgments, versions: Ints, version: int) -> tuple[Flags, Flags, int, int]:
    """Return the rows of pairs wholly before a version and wholly since, and two counts.

    The counts are of other shared pairs: judged partly before, and with a judgment of an unknown version (0).
    """
    pairs, pair_number = number(judged.pair)
    later = versions >= version
    all_later, any_later = np.ones(len(pairs), dtype=np.bool_), np.zeros(len(pairs), dtype=np.bool_)
    np.logical_and.at(all_later, pair_number, later)
    np.logical_or.at(any_later, pair_number, later)
    version_known = np.ones(len(pairs), dtype=np.bool_)
    np.logical_and.at(version_known, pair_number, versions > 0)
    between = int((version_known & any_later & ~all_later).sum())
    unknown = int((~version_known & (np.bincount(pair_number, minlength=len(pairs)) > 1)).sum())
    return (
        (version_known & ~any_later)[pair_number],
        (version_known & all_later)[pair_number],
        between,
        unknown,
    )


def _compare(
    compared: ComparedJudgments, category: str | None, rows: Flags, version: int
) -> VersionComparisonPart:
    before, since = compared.measure(rows & compared.before), compared.measure(rows & compared.since)
    kept = rows & (compared.before | compared.since)
    difference = _subtract(
        compared.judgments.judged.where(kept), compared.since[kept], len(compared.judgments.names)
    )
    state = _judge(before, since, difference)
    sentence = _describe(category, before, since, difference, state, version)
    return VersionComparisonPart(category, before, since, difference, state, sentence)


def _subtract(judged: GradedJudgments, since: Flags, annotators: int) -> CoefficientValue:
    """Return kappa since minus kappa before."""
    comparisons: Comparisons = list_comparisons(judged)
    if not len(comparisons.left):
        return CoefficientValue(None, None, NO_DIFFERENCE)
    later = since[comparisons.left]
    estimate = subtract(
        estimate_kappa(comparisons.take(later), annotators),
        estimate_kappa(comparisons.take(~later), annotators),
    )
    return to_coefficient(estimate, NO_DIFFERENCE)


def _judge(before: VersionSide, since: VersionSide, difference: CoefficientValue) -> State:
    if before.warning or since.warning or difference.value is None or not misses(difference.ci95, 0.0):
        return "unknown"
    return "higher" if difference.value > 0 else "lower"


def _describe(
    category: str | None,
    before: VersionSide,
    since: VersionSide,
    difference: CoefficientValue,
    state: State,
    version: int,
) -> Message:
    scope = say("in {category}", category=category) if category is not None else say("in the dataset")
    if not since.pairs or not before.pairs:
        missing = say(
            "before version {version}" if since.pairs else "since version {version}", version=version
        )
        return say(
            "The comparison {place} is not possible yet: no pair was judged by two annotators {missing}.",
            place=scope,
            missing=missing,
        )
    if difference.value is None:
        return say(
            "The comparison {place} is not possible yet: kappa is undefined for {before} before version "
            "{version} or for {since} since.",
            place=scope,
            version=version,
            before=show_pairs(before.pairs),
            since=show_pairs(since.pairs),
        )
    values = {
        "place": scope,
        "version": version,
        "before": show_value(before.kappa),
        "since": show_value(since.kappa),
        "before_pairs": show_pairs(before.pairs),
        "since_pairs": show_pairs(since.pairs),
        "difference": show_with_interval(difference.value, difference.ci95, signed=True),
    }
    if state == "higher":
        return say(
            "Agreement {place} has been higher since version {version}: Cohen's kappa is {since} since "
            "then ({since_pairs}) and {before} before ({before_pairs}), a difference of {difference}.",
            **values,
        )
    if state == "lower":
        return say(
            "Agreement {place} has been lower since version {version}: Cohen's kappa is {since} since "
            "then ({since_pairs}) and {before} before ({before_pairs}), a difference of {difference}. "
            "Review the disagreements since then.",
            **values,
        )
    return say(
        "The effect of version {version} on agreement {place} is not clear yet: Cohen's kappa is "
        "{since} since then ({since_pairs}) and {before} before ({before_pairs}), a difference of "
        "{difference}.",
        **values,
    )
