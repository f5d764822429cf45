"""Check scores against targets: those of a profile, or of a file `measure: minimum` in YAML or JSON.

`latency P50`, `latency P95` and `latency P99` are a maximum in milliseconds; `coverage` is the minimum share
of queries with a result. Refused: a file that is not a mapping, a measure that the profile lacks, a limit
that is not a number from 0.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.errors import AnnotatorError, ValidationError
from annotator.domain.messages import Message, say
from annotator.evaluation.profiles import Profile, Target
from annotator.evaluation.records import Measure, ScoreTable, SystemScores
from annotator.evaluation.scores.summary import measure_coverage, measure_latency, summarize_answerable
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
