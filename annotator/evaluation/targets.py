"""Decide on exit code 3: check scores against targets, and against an earlier evaluation.

Targets are those of a profile, or of a file `measure: minimum` in YAML or JSON. `latency P50`, `latency P95`
and `latency P99` are a maximum in milliseconds; `coverage` is the minimum share of queries with a result.
Refused: a file that is not a mapping, a measure that the profile lacks, a limit that is not a number from 0.

Find scores that became worse since an earlier evaluation (JSON), and the queries behind them. A score became
worse if the mean fell by more than the tolerance. FirstRank and TFFU are better when lower: they became worse
if the mean rose by more than this share. Queries are named only if the earlier file has scores by query
(`by_query`). Refused: a file that is not an evaluation, another profile, and a file that shares no system or
no measure with this evaluation.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotator.domain.errors import AnnotatorError, BadInput, FormatError, ValidationError
from annotator.domain.messages import Message, join_first, say
from annotator.evaluation.profiles import Profile, Target
from annotator.evaluation.records import Measure, ScoreTable, SystemScores
from annotator.evaluation.scores.summary import (
    measure_coverage,
    measure_latency,
    summarize_answerable,
    summarize_measure,
)
from annotator.formats.syntax.json_text import load_json
from annotator.formats.syntax.source import read_regular
from annotator.formats.syntax.tree import TreeProblems
from annotator.formats.syntax.yaml_text import load_yaml

COVERAGE = "coverage"
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{0,15})?|\.\d{1,15}", re.ASCII)  # YAML is read without guessing types
ROUNDING = 1e-9  # a mean of 0.7 may be 0.6999999999999999
_LATENCY = re.compile(r"latency[ _]p(50|95|99)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class TargetCheck:
    """One target of one system.

    `measured` is a mean over the queries that have a relevant document, because the others give 0 to every
    system. None: undefined; then the target is missed, and `why` says why. `note` says how many queries were
    left out.
    """

    system: str
    measure: str
    required: float
    is_maximum: bool
    measured: float | None
    met: bool
    why: str | None = None
    note: str | None = None


def read_targets(path: Path, profile: Profile) -> tuple[Target, ...]:
    """Return the targets of a file, with the profile's names of measures. BadInput names every bad place."""
    tree = load_yaml(read_regular(path), str(path))
    problems = TreeProblems(tree)
    targets: list[Target] = []
    if not isinstance(tree.value, dict) or not tree.value:
        problems.add((), "a mapping of measures to what they have to reach", tree.value)
    else:
        for name, limit in tree.value.items():
            if not _NUMBER.fullmatch(str(limit)):
                problems.add((name,), "a number from 0", limit)
                continue
            try:
                targets.append(make_target(str(name), float(limit), profile))
            except AnnotatorError as error:
                problems.add((name,), f"a measure ({error})", name)
    problems.raise_if_any()
    return tuple(targets)


def make_target(name: str, limit: float, profile: Profile) -> Target:
    """Return the target of a measure (any of its names). Raises ValidationError if the profile lacks it."""
    latency = _LATENCY.fullmatch(name.strip())
    if latency:
        return Target(f"latency P{latency[1]}", maximum=limit)
    if name.strip().lower() == COVERAGE:
        return Target(COVERAGE, minimum=limit)
    return Target(profile.parse(name, None, "truth").name, minimum=limit)


def list_measures_to_score(names: Sequence[str], targets: Sequence[Target]) -> tuple[str, ...]:
    """Return the measures `names` and those that the targets need, without repeats."""
    needed = [
        target.measure
        for target in targets
        if not _LATENCY.fullmatch(target.measure) and target.measure != COVERAGE
    ]
    return tuple(dict.fromkeys([*names, *needed]))


def check_targets(table: ScoreTable, targets: Sequence[Target]) -> tuple[TargetCheck, ...]:
    """Check every target for every system. Raises ValidationError if a measure was not computed."""
    return tuple(_check(table, scores, target) for scores in table.systems for target in targets)


def _check(table: ScoreTable, scores: SystemScores, target: Target) -> TargetCheck:
    measured, why, note = _measure(table, scores, target.measure)
    is_maximum = target.maximum is not None
    required = target.maximum if is_maximum else target.minimum
    if required is None:
        raise ValidationError(f"the target of {target.measure} has neither a minimum nor a maximum")
    met = measured is not None and (
        measured <= required + ROUNDING if is_maximum else measured >= required - ROUNDING
    )
    return TargetCheck(scores.system, target.measure, required, is_maximum, measured, met, why, note)


def _measure(
    table: ScoreTable, scores: SystemScores, name: str
) -> tuple[float | None, str | None, str | None]:
    """Return (figure, why it is undefined, note on its queries)."""
    latency = _LATENCY.fullmatch(name)
    if latency:
        percentiles = measure_latency(scores)
        if percentiles is None:
            return None, say("the run has no latency_ms"), None
        return {"50": percentiles.p50, "95": percentiles.p95, "99": percentiles.p99}[latency[1]], None, None
    if name == COVERAGE:
        return measure_coverage(scores), None, None
    for measure in table.measures:
        if measure.name == name:
            score = summarize_answerable(table, scores, measure)
            return score.value, score.why, _note_queries(table, measure)
    raise ValidationError(f"the target of {name} needs a measure that was not computed")


def _note_queries(table: ScoreTable, measure: Measure) -> Message | None:
    answerable, queries = int(table.answerable[measure.name].sum()), len(table.query_ids)
    if answerable == queries:
        return None
    return say("only queries with a relevant document: {n:,} of {all:,}", n=answerable, all=queries)


def list_shown_targets(
    table: ScoreTable, profile: Profile, checks: Sequence[TargetCheck]
) -> tuple[Target, ...]:
    """Return the targets to show: the checked ones, else the profile's targets of computed measures."""
    if checks:
        bounds = (("maximum" if check.is_maximum else "minimum", check) for check in checks)
        return tuple(
            dict.fromkeys(Target(check.measure, **{bound: check.required}) for bound, check in bounds)
        )
    measured = {measure.name for measure in table.measures}
    timed = any(system.latency_ms is not None for system in table.systems)
    return tuple(
        target
        for target in profile.targets
        if target.measure in measured or (timed and _LATENCY.fullmatch(target.measure))
    )


TOLERANCE = 0.01
BETTER_WHEN_LOWER = frozenset(("FirstRank", "TFFU"))


@dataclass(frozen=True, slots=True)
class EarlierSystem:
    """One system's scores in an earlier evaluation; None: undefined. `by_query` is empty if they are unknown."""

    means: Mapping[str, float | None]  # by measure
    by_query: Mapping[str, Mapping[str, float | None]]  # by query_id, then measure


@dataclass(frozen=True, slots=True)
class EarlierEvaluation:
    """The parts of an earlier evaluation that are compared."""

    path: str
    profile: str
    content_sha256: str | None  # of its truth
    systems: Mapping[str, EarlierSystem]


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query on which a system became worse."""

    query_id: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Regression:
    """A measure on which a system became worse. `queries`: largest change first; None if unknown."""

    system: str
    measure: str
    before: float
    after: float | None
    queries: tuple[QueryChange, ...] | None


@dataclass(frozen=True, slots=True)
class RegressionReport:
    """The scores that became worse, and notes on everything that could not be compared."""

    regressions: tuple[Regression, ...]
    compared: int  # number of pairs of a system and a measure
    notes: tuple[str, ...]


def read_earlier_evaluation(path: Path) -> EarlierEvaluation:
    """Return the evaluation of a JSON file. Raises BadInput if it does not hold one."""
    content = load_json(read_regular(path), str(path)).value
    try:
        truth = content["truth"]
        systems = {
            str(system["system"]): EarlierSystem(
                {name: _read_value(score["value"]) for name, score in system["measures"].items()},
                {
                    query_id: {name: _read_value(value) for name, value in values.items()}
                    for query_id, values in (system.get("by_query") or {}).items()
                },
            )
            for system in content["systems"]
        }
        return EarlierEvaluation(str(path), str(content["profile"]), truth.get("content_sha256"), systems)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        found = f"no {error}" if isinstance(error, KeyError) else "another shape"
        raise BadInput([FormatError(str(path), None, "the JSON of an earlier evaluation", found)]) from None


def find_regressions(
    table: ScoreTable, earlier: EarlierEvaluation, *, tolerance: float = TOLERANCE
) -> RegressionReport:
    """Return the scores that fell by more than the tolerance. ValidationError if none can be compared."""
    if not 0 <= tolerance < float("inf"):
        raise ValidationError(f"expected a tolerance from 0, found {tolerance}")
    if earlier.profile != table.profile:
        raise ValidationError(
            f"{earlier.path} was made with the profile {earlier.profile}, which computes measures in another way than {table.profile}"
        )
    regressions: list[Regression] = []
    compared = 0
    for scores in table.systems:
        before = earlier.systems.get(scores.system)
        if before is None:
            continue
        for measure in table.measures:
            mean_before = before.means.get(measure.name)
            if mean_before is None:
                continue
            compared += 1
            mean_after = summarize_measure(scores, measure).value
            if _is_worse(measure, mean_before, mean_after, tolerance):
                changes = _list_changes(table, scores, measure, before)
                regressions.append(Regression(scores.system, measure.name, mean_before, mean_after, changes))
    if not compared:
        raise ValidationError(
            f"{earlier.path}: expected a system and a measure of this evaluation, found none in common"
        )
    return RegressionReport(tuple(regressions), compared, tuple(_note_differences(table, earlier)))


def _is_worse(measure: Measure, before: float | None, after: float | None, tolerance: float) -> bool:
    if before is None or after is None:
        return before is not None
    if measure.kind in BETTER_WHEN_LOWER:
        return after > before * (1 + tolerance) + ROUNDING
    return after < before - tolerance - ROUNDING


def _list_changes(
    table: ScoreTable, scores: SystemScores, measure: Measure, before: EarlierSystem
) -> tuple[QueryChange, ...] | None:
    if not before.by_query:
        return None
    changes = []
    for query_id, value in zip(table.query_ids, scores.values[measure.name].tolist(), strict=True):
        earlier = before.by_query.get(query_id, {}).get(measure.name)
        now = None if value != value else value
        if _is_worse(measure, earlier, now, 0.0):
            changes.append(QueryChange(query_id, earlier, now))
    return tuple(sorted(changes, key=lambda change: (-_measure_change(change), change.query_id)))


def _measure_change(change: QueryChange) -> float:
    if change.before is None or change.after is None:
        return float("inf")
    return abs(change.before - change.after)


def _note_differences(table: ScoreTable, earlier: EarlierEvaluation) -> list[str]:
    notes = []
    if earlier.content_sha256 and table.truth.sha256 and earlier.content_sha256 != table.truth.sha256:
        notes.append("the ground truth changed since: a score may differ because a grade does")
    present, before = {scores.system for scores in table.systems}, set(earlier.systems)
    for where, systems in (
        ("not in this evaluation", before - present),
        ("not in the earlier one", present - before),
    ):
        if systems:
            notes.append(f"not compared, since {where}: {join_first(sorted(systems))}")
    return notes


def _read_value(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float):
        raise TypeError("a score is a number or null")
    return float(value)
