"""Makes the report from the judgments: the whole dataset, its groups, and what it all means.

Stands between the service, which reads, and what measures and diagnoses. Refuses a breakdown into more groups than can be
compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotator.agreement.brief import measure_briefly
from annotator.agreement.diagnosis.assess import assess
from annotator.agreement.enough_pairs import warn_of_few
from annotator.agreement.groups import Labels
from annotator.agreement.judgment_table import number, sum_tables
from annotator.agreement.measure import mean_kappas, measure
from annotator.agreement.named import Named
from annotator.agreement.records import AgreementReport, GroupAgreement, LeftOut, Measured, Value
from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.labeling.domain_calibration import AnnotatorResult

MOST_GROUPS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a report needs beside the judgments. `by`: what `groups` are grouped by (None: nothing), as labels of the rows;
    None for "annotator". `categories`: the same by the queries' category, for the diagnosis. `resamples` 0: no intervals."""

    dataset: str
    kappa_target: float
    grade_names: Sequence[str]
    by: str | None
    groups: Labels | None
    categories: Labels
    checks: Sequence[AnnotatorResult]
    resamples: int
    seed: int


def measure_first(found: Named) -> tuple[int, Value]:
    """The number of shared pairs and the dataset's unweighted kappa, without an interval: what is known in a moment."""
    shared = found.judged.shared()
    return len(number(shared.pair)[0]), mean_kappas(sum_tables(shared))["unweighted"]


def measure_whole(found: Named, *, resamples: int, seed: int) -> Measured:
    """The whole dataset: the part that takes longest, so that the database can be read meanwhile."""
    return measure(found.judged, found.names, resamples=resamples, seed=seed)


def make_report(
    found: Named,
    basis: Basis,
    measured: Measured,
    groups: Sequence[GroupAgreement],
    categories: Sequence[GroupAgreement],
    left_out: Sequence[LeftOut],
) -> AgreementReport:
    """The report. `measured`, `groups`, `categories`: by the functions beside this one, of the same judgments."""
    assessed = assess(
        found.judged,
        names=found.names,
        measured=measured,
        target=basis.kappa_target,
        grade_names=basis.grade_names,
        made_at=found.made_at,
        seconds=found.seconds,
        groups=categories,
        checks=basis.checks,
        simulated=found.simulated,
        unrateable=count_unrateable(left_out),
    )
    return AgreementReport(
        dataset=basis.dataset,
        annotators=found.names,
        simulated=bool(found.simulated),
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


def count_unrateable(left_out: Sequence[LeftOut]) -> int:
    """How many judgments say that a pair cannot be rated."""
    return sum(one.judgments for one in left_out if one.kind == "unrateable")


def check_groups(labels: Labels, by: str) -> None:
    """ValidationError when there are more than can be compared."""
    if len(labels.values) > MOST_GROUPS:
        raise ValidationError(say(
            "{by} has {n:,} different values: more than the {most} that can be compared",
            by=by, n=len(labels.values), most=MOST_GROUPS,
        ))  # fmt: skip


def measure_groups(found: Named, basis: Basis) -> tuple[GroupAgreement, ...]:
    """One measurement per annotator or per value; what has none comes last."""
    options: dict[str, int] = {"resamples": basis.resamples, "seed": basis.seed}
    measured: list[tuple[str | None, Measured]] = []
    if basis.by is None:
        return ()
    if basis.groups is None:
        for place, name in enumerate(found.names):
            measured.append((name, measure(found.judged, found.names, only=place, **options)))
    else:
        check_groups(basis.groups, basis.by)
        for value, rows in basis.groups:
            measured.append((value, measure(found.judged.where(rows), found.names, **options)))
    return tuple(
        GroupAgreement(basis.by, value, one, warn_of_few(one.pairs, one.queries)) for value, one in measured
    )


def measure_categories(found: Named, labels: Labels) -> tuple[GroupAgreement, ...]:
    """The categories, for the diagnosis; none where there are too many to tell apart."""
    if len(labels.values) > MOST_GROUPS:
        return ()
    measured = [(value, measure_briefly(found.judged.where(rows), found.names)) for value, rows in labels]
    return tuple(GroupAgreement("category", value, one) for value, one in measured)
