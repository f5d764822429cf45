"""An agreement report as the rows of tables and charts: nothing is computed here, and an undefined value says why."""

from collections.abc import Mapping, Sequence

from annotator.domain.agreement import AgreementReport, GroupAgreement, Measured, PairAgreement, Value
from annotator.web.heat_map import name_grades

KINDS = ("unweighted", "linear", "quadratic")
Row = dict[str, object]


def list_kappas(kappas: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Cohen's kappa of each kind, by its name."""
    return [(kind, kappas[kind]) for kind in KINDS]


def list_coefficients(found: Measured) -> list[Row]:
    """Every coefficient of a set of judgments; the observed agreement first."""
    named = [
        ("observed agreement", Value(found.observed_agreement)),
        *((f"Cohen's κ, {kind}", value) for kind, value in list_kappas(found.cohen_kappa)),
        ("Fleiss' κ", found.fleiss_kappa),
        *((f"Krippendorff's α, {metric}", value) for metric, value in found.krippendorff_alpha.items()),
        ("Gwet's AC1", found.gwet_ac1),
        ("Gwet's AC2, quadratic", found.gwet_ac2),
        *((f"Cohen's κ, relevant from grade {start}", value) for start, value in found.cut_points),
    ]
    return [_row("coefficient", name, value) for name, value in named]


def name_group(group: GroupAgreement) -> str:
    """The group's value; queries that have none are named so."""
    return group.value if group.value is not None else f"(no {group.by})"


def list_group_kappas(report: AgreementReport) -> list[tuple[str, Value]]:
    """The unweighted kappa of each group."""
    return [(name_group(group), group.measured.cohen_kappa["unweighted"]) for group in report.groups]


def list_group_rows(report: AgreementReport) -> list[Row]:
    """Pairs, observed agreement and kappas of each group."""
    return [
        _summary(group.by, name_group(group), group.measured.pairs, group.measured) for group in report.groups
    ]


def name_pair(pair: PairAgreement) -> str:
    """Both annotators of a pair."""
    return " and ".join(pair.annotators)


def list_pair_rows(report: AgreementReport) -> list[Row]:
    """Pairs, observed agreement and kappas of each two annotators."""
    return [
        _summary("annotators", name_pair(pair), pair.pairs, pair) for pair in report.measured.annotator_pairs
    ]


def list_confusion_rows(pair: PairAgreement, grade_names: Sequence[str]) -> list[Row]:
    """The confusion matrix as a table: a row for each grade of the first annotator."""
    names = name_grades(grade_names)
    return [
        {pair.annotators[0]: names[grade], **dict(zip(names, counts, strict=True))}
        for grade, counts in enumerate(pair.confusion)
    ]


def _row(column: str, name: str, value: Value) -> Row:
    low, high = value.ci95 or (None, None)
    return {
        column: name,
        "value": _round(value.value),
        "from": _round(low),
        "to": _round(high),
        "undefined because": value.why or "",
    }


def _summary(column: str, name: str, pairs: int, found: Measured | PairAgreement) -> Row:
    kappas = list_kappas(found.cohen_kappa)
    return {
        column: name,
        "pairs": pairs,
        "observed agreement": _round(found.observed_agreement),
        **{f"κ {kind}": _round(value.value) for kind, value in kappas},
        "undefined because": next((value.why for _, value in kappas if value.value is None), None) or "",
    }


def _round(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 3)
