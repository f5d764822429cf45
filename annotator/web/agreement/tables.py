"""Make the tables of the agreement page, by name, as rows for the page, the charts and the files.

Takes every figure from the report and computes nothing. An undefined value comes with its reason.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from annotator.agreement.records import (
    AgreementReport,
    CoefficientValue,
    GroupAgreement,
    MeasuredAgreement,
    PairAgreement,
    describe_who_counts,
)
from annotator.web.agreement.links import name_field
from annotator.web.kit.figures import show_share
from annotator.web.kit.heat_map import name_grades
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.person_names import find_username
from annotator.web.kit.words import name_word

KINDS = ("unweighted", "linear", "quadratic")
Row = dict[str, object]


def list_kappas(kappas: Mapping[str, CoefficientValue]) -> list[tuple[str, CoefficientValue]]:
    """Return Cohen's kappa of each kind, with the name of the kind."""
    return [(name_word(kind), kappas[kind]) for kind in KINDS]


def list_coefficients(measured: MeasuredAgreement) -> list[Row]:
    """Return a row for each coefficient of a set of judgments, the observed agreement first."""
    named = [
        (tr("observed agreement"), CoefficientValue(measured.observed_agreement)),
        *((tr("Cohen's κ, {kind}", kind=kind), value) for kind, value in list_kappas(measured.cohen_kappa)),
        (tr("Fleiss' κ"), measured.fleiss_kappa),
        *(
            (tr("Krippendorff's α, {kind}", kind=name_word(metric)), value)
            for metric, value in measured.krippendorff_alpha.items()
        ),
        (tr("Gwet's AC1"), measured.gwet_ac1),
        (tr("Gwet's AC2, quadratic"), measured.gwet_ac2),
        *(
            (tr("Cohen's κ, relevant from grade {grade}", grade=start), value)
            for start, value in measured.cut_points
        ),
    ]
    return [_row(tr("coefficient"), name, value) for name, value in named]


def describe_basis(report: AgreementReport) -> str:
    """Describe what the figures rest on: pairs, queries, resamples, and whose judgments count."""
    measured = report.measured
    basis = tr(
        "{pairs} of {queries}; observed agreement {observed}. Bounds: 95\N{NO-BREAK SPACE}% confidence intervals from "
        "{resamples:,} bootstrap resamples of the queries, seed {seed}.",
        pairs=tr_n("{n:,} pair", "{n:,} pairs", measured.pairs),
        queries=tr_n("{n:,} query", "{n:,} queries", measured.queries),
        observed=show_share(measured.observed_agreement, 1),
        resamples=report.resamples,
        seed=report.seed,
    )
    return join_sentences([basis, tr(describe_who_counts(report))])


def name_group(group: GroupAgreement) -> str:
    """Return the group's value; for queries that have none, "(no FIELD)"."""
    return group.value if group.value is not None else tr("(no {field})", field=name_field(group.by))


def list_group_rows(report: AgreementReport) -> list[Row]:
    """Return a row for the dataset and one for each group; the interval is that of the unweighted kappa."""
    if not report.groups:
        return []
    column, measured = name_field(report.groups[0].by), report.measured
    return [
        {**_summary(column, tr("whole dataset"), measured.pairs, measured), tr("warning"): ""},
        *(
            {
                **_summary(column, name_group(group), group.measured.pairs, group.measured),
                tr("warning"): tr(group.warning) if group.warning else "",
            }
            for group in report.groups
        ),
    ]


def name_pair(pair: PairAgreement) -> str:
    """Return the names of both annotators."""
    return tr("{first} and {second}", first=pair.annotators[0], second=pair.annotators[1])


def list_pair_rows(report: AgreementReport) -> list[Row]:
    """Return a row for each two annotators, with prevalence and bias; the interval is that of the unweighted kappa."""
    return [
        {
            **_summary(tr("annotators"), name_pair(pair), pair.pairs, pair),
            tr("prevalence"): _round(pair.paradox.prevalence if pair.paradox else None),
            tr("bias"): _round(pair.paradox.bias if pair.paradox else None),
            tr("warning"): tr(pair.warning) if pair.warning else "",
        }
        for pair in report.measured.annotator_pairs
    ]


def name_leaning(annotator: str) -> str:
    """Return the heading of the column with an annotator's leaning."""
    return tr("leniency of {annotator}", annotator=annotator)


def list_period_rows(report: AgreementReport) -> list[Row]:
    """Return a row for each period: its agreement and everybody's leaning."""
    people = list(
        dict.fromkeys(leaning.annotator for period in report.periods for leaning in period.leanings)
    )
    return [
        {
            tr("first day"): period.first,
            tr("last day"): period.last,
            tr("pairs"): period.pairs,
            tr("observed agreement"): _round(period.observed_agreement),
            "κ": _round(period.kappa.value),
            tr("κ, lower bound"): _round(period.kappa.ci95[0] if period.kappa.ci95 else None),
            tr("κ, upper bound"): _round(period.kappa.ci95[1] if period.kappa.ci95 else None),
            **{
                name_leaning(name): next(
                    (_round(leaning.mean) for leaning in period.leanings if leaning.annotator == name), None
                )
                for name in people
            },
            tr("undefined because"): tr(period.kappa.why) if period.kappa.why else "",
        }
        for period in report.periods
    ]


def list_leaning_rows(report: AgreementReport) -> list[Row]:
    """Return a row for each annotator: kappa with all the others, how much higher they grade, and alpha without them."""
    alpha = report.measured.krippendorff_alpha.get("ordinal")
    return [
        {
            tr("annotator"): leaning.annotator,
            tr("comparisons"): leaning.comparisons,
            tr("κ with others"): _round(leaning.kappa.value if leaning.kappa else None),
            tr("κ, lower bound"): _round(
                leaning.kappa.ci95[0] if leaning.kappa and leaning.kappa.ci95 else None
            ),
            tr("κ, upper bound"): _round(
                leaning.kappa.ci95[1] if leaning.kappa and leaning.kappa.ci95 else None
            ),
            tr("difference from the others"): _round(leaning.mean),
            tr("from"): _round(leaning.ci95[0] if leaning.ci95 else None),
            tr("to"): _round(leaning.ci95[1] if leaning.ci95 else None),
            tr("ordinal α without this annotator"): _round(leaning.alpha_without),
            tr("pairs without this annotator"): leaning.pairs_without,
            tr("ordinal α, all annotators"): _round(alpha.value if alpha else None),
        }
        for leaning in report.measured.leanings
    ]


def list_grade_rows(report: AgreementReport, grade_names: Sequence[str]) -> list[Row]:
    """Return how often all annotators gave each grade, and then how often each of them did."""
    given = report.measured.grades_by_annotator
    everybody = tuple(sum(column) for column in zip(*given.values(), strict=True))
    return [
        {
            tr("annotator"): name,
            **dict(zip(name_grades(grade_names), counts, strict=True)),
            tr("all"): sum(counts),
        }
        for name, counts in ((tr("all annotators"), everybody), *given.items())
        if counts
    ]


def list_left_out_rows(report: AgreementReport) -> list[Row]:
    """Return how many judgments do not count, for each reason."""
    return [
        {tr("reason"): tr(excluded.why), tr("judgments"): excluded.judgments} for excluded in report.left_out
    ]


def list_confusion_rows(pair: PairAgreement, grade_names: Sequence[str]) -> list[Row]:
    """Return the confusion matrix as rows, one for each grade of the first annotator."""
    names = name_grades(grade_names)
    return [
        {pair.annotators[0]: names[grade], **dict(zip(names, counts, strict=True))}
        for grade, counts in enumerate(pair.confusion)
    ]


def _row(column: str, name: str, value: CoefficientValue) -> Row:
    low, high = value.ci95 or (None, None)
    return {
        column: name,
        tr("value"): _round(value.value),
        tr("from"): _round(low),
        tr("to"): _round(high),
        tr("undefined because"): tr(value.why) if value.why else "",
    }


def _summary(column: str, name: str, pairs: int, agreement: MeasuredAgreement | PairAgreement) -> Row:
    kappas = list_kappas(agreement.cohen_kappa)
    interval = agreement.cohen_kappa["unweighted"].ci95 if "unweighted" in agreement.cohen_kappa else None
    return {
        column: name,
        tr("pairs"): pairs,
        tr("observed agreement"): _round(agreement.observed_agreement),
        **{f"κ {kind}": _round(value.value) for kind, value in kappas},
        tr("κ, lower bound"): _round(interval[0] if interval else None),
        tr("κ, upper bound"): _round(interval[1] if interval else None),
        tr("undefined because"): _describe_why(kappas),
    }


def _describe_why(kappas: Sequence[tuple[str, CoefficientValue]]) -> str:
    """Return the reason of the first undefined kappa; empty if all are defined."""
    return next((tr(value.why) for _, value in kappas if value.value is None and value.why), "")


def _round(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 3)


@dataclass(frozen=True, slots=True)
class TableRequest:
    """A table by its name. `by`: the field of the groups; `first`, `second`: the annotators of a confusion matrix."""

    table: str = ""
    by: str | None = None
    first: str = ""
    second: str = ""

    def list_parameters(self) -> list[tuple[str, str]]:
        """Return the request as query parameters, without the empty ones."""
        first, second = find_username(self.first), find_username(self.second)
        parameters = (("table", self.table), ("by", self.by), ("first", first), ("second", second))
        return [(name, value) for name, value in parameters if value]


def find_pair(report: AgreementReport, first: str, second: str) -> PairAgreement | None:
    """Return the agreement of two annotators with the first one's grades in the rows; None if they share no pair."""
    for pair in report.measured.annotator_pairs:
        if pair.annotators == (first, second):
            return pair
        if pair.annotators == (second, first):
            turned = tuple(zip(*pair.confusion, strict=True))
            return PairAgreement(
                (first, second),
                pair.pairs,
                pair.observed_agreement,
                pair.cohen_kappa,
                turned,
                pair.paradox,
                pair.queries,
                pair.warning,
            )
    return None


def _list_confusion(report: AgreementReport, request: TableRequest, names: Sequence[str]) -> list[Row]:
    pair = find_pair(report, request.first, request.second)
    return [] if pair is None else list_confusion_rows(pair, names)


TABLES: Mapping[str, Callable[[AgreementReport, TableRequest, Sequence[str]], list[Row]]] = {
    "coefficients": lambda report, _request, _names: list_coefficients(report.measured),
    "annotators": lambda report, _request, _names: list_pair_rows(report),
    "confusion": _list_confusion,
    "groups": lambda report, _request, _names: list_group_rows(report),
    "periods": lambda report, _request, _names: list_period_rows(report),
    "leanings": lambda report, _request, _names: list_leaning_rows(report),
    "grades": lambda report, _request, names: list_grade_rows(report, names),
    "left-out": lambda report, _request, _names: list_left_out_rows(report),
}


def list_rows(report: AgreementReport, request: TableRequest, grade_names: Sequence[str]) -> list[Row]:
    """Return the rows of the requested table."""
    return TABLES[request.table](report, request, grade_names)
