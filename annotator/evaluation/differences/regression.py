"""Find scores that became worse since an earlier evaluation (JSON), and the queries behind them.

A score became worse if the mean fell by more than the tolerance. FirstRank and TFFU are better when lower:
they became worse if the mean rose by more than this share. Queries are named only if the earlier file has
scores by query (`by_query`). Refused: a file that is not an evaluation, another profile, and a file that
shares no system or no measure with this evaluation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotator.domain.errors import BadInput, FormatError, ValidationError
from annotator.domain.messages import join_first
from annotator.evaluation.records import Measure, ScoreTable, SystemScores
from annotator.evaluation.scores.summary import summarize_measure
from annotator.formats.syntax.json_text import load_json
from annotator.formats.syntax.source import read_regular

TOLERANCE = 0.01
ROUNDING = 1e-9
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
