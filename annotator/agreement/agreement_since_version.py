"""Agreement before and since a version of the guideline: on pairs judged wholly under earlier versions, and wholly since.

The figures are the report's own (`measure`); the difference of the kappas has the interval that changes over time have
(`agreement/diagnosis/drift.py`): queries are what varies. Pairs judged partly before and partly since are on neither side. Nothing is claimed of
too few pairs, nor of a difference whose interval holds 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement.claims import cluster_interval, misses
from annotator.agreement.diagnosis.wording import show_figure, show_pairs, show_value
from annotator.agreement.enough_pairs import FEW_QUERIES, warn_of_few
from annotator.agreement.groups import Labels
from annotator.agreement.judgment_pairs import Couples, estimate_kappa, list_couples, subtract
from annotator.agreement.judgment_table import Flags, Ints, Judged, number
from annotator.agreement.measure import measure
from annotator.agreement.named import Named
from annotator.agreement.records import Value
from annotator.agreement.since_version import Side, SincePart, SinceVersion, State
from annotator.domain.errors import NotFound
from annotator.domain.messages import Message, say

MOST_CATEGORIES = 12
NO_DIFFERENCE = say("kappa is not known on both sides")
TOO_FEW_QUERIES = say("an interval needs pairs of {n} or more queries", n=FEW_QUERIES)
Led = Mapping[int, Mapping[str | None, int]]
"""How many decisions led to a version, by the category of their queries."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared: the judgments of one group, which rows are since the version and which before."""

    found: Named
    before: Flags
    since: Flags
    resamples: int
    seed: int

    def measure(self, rows: Flags) -> Side:
        judged = self.found.judged.where(rows)
        measured = measure(judged, self.found.names, resamples=self.resamples, seed=self.seed)
        return Side(
            measured.pairs,
            measured.queries,
            measured.cohen_kappa["unweighted"],
            measured.krippendorff_alpha["ordinal"],
            warn_of_few(measured.pairs, measured.queries),
        )


def choose_version(known: Sequence[int], led: Led, asked: int | None) -> int | None:
    """The version to compare: the one asked for, else the latest that decisions led to, else the latest; None where there
    is but one. NotFound for one that there is not, or that has none before it."""
    if asked is not None and asked not in known[1:]:
        raise NotFound(say("no version {version} that has another before it", version=asked))
    return asked or max(led, default=None) or (known[-1] if len(known) > 1 else None)


def compare_since(
    found: Named,
    versions: Ints,
    categories: Labels,
    *,
    dataset: str,
    known: Sequence[int],
    led: Led,
    version: int,
    resamples: int,
    seed: int,
) -> SinceVersion:
    """Both sides of this version. `versions`: of each judgment's guideline; `known`: all versions, ascending."""
    before, since, between, unknown = split_rows(found.judged, versions, version)
    asked = Asked(found, before, since, resamples, seed)
    parts = [_compare(asked, None, np.ones(len(before), dtype=np.bool_), version)]
    about = led.get(version, {})
    chosen = sorted((name for name in about if name is not None), key=lambda name: (-about[name], name))
    groups = {value: rows for value, rows in categories if value in chosen[:MOST_CATEGORIES]}
    parts += [_compare(asked, name, groups[name], version) for name in chosen if name in groups]
    return SinceVersion(
        dataset,
        version,
        tuple((one, sum(led.get(one, {}).values())) for one in known[1:]),
        tuple(parts),
        between,
        bool(found.simulated),
        unknown,
    )


def split_rows(judged: Judged, versions: Ints, version: int) -> tuple[Flags, Flags, int, int]:
    """The rows of pairs judged wholly before a version, those of pairs judged wholly since, and how many shared pairs are on
    neither side: judged partly before, and judged by somebody under a version that nobody knows (0)."""
    pairs, place = number(judged.pair)
    later = versions >= version
    all_later, any_later = np.ones(len(pairs), dtype=np.bool_), np.zeros(len(pairs), dtype=np.bool_)
    np.logical_and.at(all_later, place, later)
    np.logical_or.at(any_later, place, later)
    known = np.ones(len(pairs), dtype=np.bool_)
    np.logical_and.at(known, place, versions > 0)
    between = int((known & any_later & ~all_later).sum())
    unknown = int((~known & (np.bincount(place, minlength=len(pairs)) > 1)).sum())
    return (known & ~any_later)[place], (known & all_later)[place], between, unknown


def _compare(asked: Asked, category: str | None, rows: Flags, version: int) -> SincePart:
    before, since = asked.measure(rows & asked.before), asked.measure(rows & asked.since)
    kept = rows & (asked.before | asked.since)
    difference = _subtract(asked.found.judged.where(kept), asked.since[kept], len(asked.found.names))
    state = _judge(before, since, difference)
    sentence = _say(category, before, since, difference, state, version)
    return SincePart(category, before, since, difference, state, sentence)


def _subtract(judged: Judged, since: Flags, annotators: int) -> Value:
    """The kappa since less the kappa before."""
    couples: Couples = list_couples(judged)
    if not len(couples.left):
        return Value(None, None, NO_DIFFERENCE)
    later = since[couples.left]
    found = subtract(
        estimate_kappa(couples.take(later), annotators), estimate_kappa(couples.take(~later), annotators)
    )
    if np.isnan(found.value):
        return Value(None, None, NO_DIFFERENCE)
    ci95 = cluster_interval(found)
    return Value(found.value, ci95, None if ci95 else TOO_FEW_QUERIES)


def _judge(before: Side, since: Side, difference: Value) -> State:
    if before.warning or since.warning or difference.value is None or not misses(difference.ci95, 0.0):
        return "unknown"
    return "higher" if difference.value > 0 else "lower"


def _say(
    category: str | None, before: Side, since: Side, difference: Value, state: State, version: int
) -> Message:
    """What is so, in a sentence."""
    place = say("in {category}", category=category) if category is not None else say("in the dataset")
    if not since.pairs or not before.pairs:
        missing = say("since version {version}", version=version)
        if since.pairs:
            missing = say("before version {version}", version=version)
        return say(
            "Not yet known {place}: no pair was judged by two annotators {missing}.",
            place=place,
            missing=missing,
        )
    if difference.value is None:
        return say(
            "Not yet known {place}: kappa is undefined over {before} before version {version} or over {since} since it.",
            place=place, version=version, before=show_pairs(before.pairs), since=show_pairs(since.pairs),
        )  # fmt: skip
    told = {
        "place": place, "version": version, "before": show_value(before.kappa), "since": show_value(since.kappa),
        "before_pairs": show_pairs(before.pairs), "since_pairs": show_pairs(since.pairs),
        "difference": show_figure(difference.value, difference.ci95, signed=True),
    }  # fmt: skip
    if state == "higher":
        return say(
            "Agreement {place} is higher since version {version}: Cohen's kappa is {since} over {since_pairs}, before it was "
            "{before} over {before_pairs} (difference {difference}).",
            **told,
        )
    if state == "lower":
        return say(
            "Agreement {place} is lower since version {version}: Cohen's kappa is {since} over {since_pairs}, before it was "
            "{before} over {before_pairs} (difference {difference}). Read what has been disputed since.",
            **told,
        )
    return say(
        "Not yet known {place} whether version {version} changed agreement: Cohen's kappa is {since} over {since_pairs}, "
        "before it was {before} over {before_pairs} (difference {difference}).",
        **told,
    )
