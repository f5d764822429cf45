"""Make the agreement report of a dataset and its groups from measured agreement.

Raises ValidationError for more groups than can be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from threading import Lock

import numpy as np

from annotator.agreement.diagnosis.assess import assess
from annotator.agreement.judgment_table import (
    GroupLabels,
    NamedJudgments,
    number,
    sum_tables,
)
from annotator.agreement.measure import mean_kappas, measure, measure_briefly
from annotator.agreement.records import (
    MOST_COMPARED_GROUPS,
    AgreementReport,
    CoefficientValue,
    ExclusionCount,
    GroupAgreement,
    MeasuredAgreement,
    warn_of_few,
)
from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.labeling.records import AnnotatorResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """The input of a report, except the judgments."""

    dataset: str
    kappa_target: float
    grade_names: Sequence[str]
    categories: GroupLabels  # labels of the rows by the queries' category, for the diagnosis
    checks: Sequence[AnnotatorResult]
    resamples: int  # 0: no intervals
    seed: int


def measure_first(judgments: NamedJudgments) -> tuple[int, CoefficientValue]:
    """Return the number of shared pairs, and the dataset's unweighted kappa without an interval. Fast."""
    shared = judgments.judged.shared()
    return len(number(shared.pair)[0]), mean_kappas(sum_tables(shared))["unweighted"]


class MeasuredDatasets:
    """The latest few measurements of whole datasets, by a digest of their input. See `measure_whole`."""

    def __init__(self, most: int = 4) -> None:
        self._most, self._lock = most, Lock()
        self._measured: dict[bytes, MeasuredAgreement] = {}

    def measure(self, judgments: NamedJudgments, *, resamples: int, seed: int) -> MeasuredAgreement:
        """Return the measurement of exactly these judgments, measured now unless it is kept."""
        key = _digest(judgments, resamples, seed)
        with self._lock:
            measured = self._measured.pop(key, None)
        if measured is None:
            measured = measure(judgments.judged, judgments.names, resamples=resamples, seed=seed)
        with self._lock:
            self._measured[key] = measured
            for old in list(self._measured)[: -self._most]:
                del self._measured[old]
        return measured


def _digest(judgments: NamedJudgments, resamples: int, seed: int) -> bytes:
    """Return a key that differs as soon as one judgment, name or number does."""
    digest = blake2b(repr((judgments.names, resamples, seed, len(judgments.judged.pair))).encode())
    judged = judgments.judged
    for column in (judged.query, judged.pair, judged.annotator, judged.grade):
        digest.update(np.ascontiguousarray(column, dtype=np.int64).tobytes())
    return digest.digest()


_MEASURED = MeasuredDatasets()


def measure_whole(judgments: NamedJudgments, *, resamples: int, seed: int) -> MeasuredAgreement:
    """Measure the whole dataset, or return a kept measurement of the same judgments.

    Overview, Agreement and the gates of a release need the same figures one after the other.
    """
    return _MEASURED.measure(judgments, resamples=resamples, seed=seed)


def make_report(
    judgments: NamedJudgments,
    basis: ReportInput,
    measured: MeasuredAgreement,
    groups: Sequence[GroupAgreement],
    categories: Sequence[GroupAgreement],
    left_out: Sequence[ExclusionCount],
) -> AgreementReport:
    """Make the report from the measurements of the same judgments by the functions of this file."""
    assessed = assess(
        judgments.judged,
        names=judgments.names,
        measured=measured,
        target=basis.kappa_target,
        grade_names=basis.grade_names,
        made_at=judgments.made_at,
        seconds=judgments.seconds,
        groups=categories,
        checks=basis.checks,
        simulated=judgments.simulated,
        unrateable=count_unrateable(left_out),
    )
    return AgreementReport(
        dataset=basis.dataset,
        annotators=judgments.names,
        simulated=bool(judgments.simulated),
        kappa_target=basis.kappa_target,
        resamples=basis.resamples,
        seed=basis.seed,
        measured=replace(measured, leanings=assessed.leanings),
        groups=tuple(groups),
        findings=assessed.findings,
        verdict=assessed.verdict,
        periods=assessed.periods,
        left_out=tuple(left_out),
    )


def count_unrateable(left_out: Sequence[ExclusionCount]) -> int:
    """Return how many judgments say that a pair cannot be rated."""
    return sum(excluded.judgments for excluded in left_out if excluded.kind == "unrateable")


def check_groups(labels: GroupLabels, by: str) -> None:
    """Raise ValidationError if there are more groups than can be compared."""
    if len(labels.values) > MOST_COMPARED_GROUPS:
        raise ValidationError(
            say(
                "{by} has {n:,} different values; at most {most} can be compared. Choose another field.",
                by=by,
                n=len(labels.values),
                most=MOST_COMPARED_GROUPS,
            )
        )


def measure_groups(
    judgments: NamedJudgments, by: str | None, labels: GroupLabels | None, *, resamples: int, seed: int
) -> tuple[GroupAgreement, ...]:
    """Return one measurement per annotator or per value; judgments without a value come last.

    `by`: the field of the groups; None: no groups. `labels`: of the judgments by this field; None for "annotator".
    """
    options: dict[str, int] = {"resamples": resamples, "seed": seed}
    measured: list[tuple[str | None, MeasuredAgreement]] = []
    if by is None:
        return ()
    if labels is None:
        for index, name in enumerate(judgments.names):
            measured.append((name, measure(judgments.judged, judgments.names, only=index, **options)))
    else:
        check_groups(labels, by)
        for value, rows in labels:
            measured.append((value, measure(judgments.judged.where(rows), judgments.names, **options)))
    return tuple(
        GroupAgreement(by, value, group_measured, warn_of_few(group_measured.pairs, group_measured.queries))
        for value, group_measured in measured
    )


def measure_categories(judgments: NamedJudgments, labels: GroupLabels) -> tuple[GroupAgreement, ...]:
    """Measure the categories for the diagnosis. Empty if there are too many to compare."""
    if len(labels.values) > MOST_COMPARED_GROUPS:
        return ()
    measured = [
        (value, measure_briefly(judgments.judged.where(rows), judgments.names)) for value, rows in labels
    ]
    return tuple(GroupAgreement("category", value, group_measured) for value, group_measured in measured)
