"""Make the tables of the agreement page, by name, as rows for the page and its files.

Every figure comes from the report. An undefined value comes with its reason.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotator.agreement.records import (
    KAPPA_KINDS,
    AgreementReport,
    CoefficientValue,
    GroupAgreement,
    MeasuredAgreement,
    PairAgreement,
    VersionComparison,
    VersionComparisonPart,
    describe_who_counts,
)
from annotator.domain.figures import show_number
from annotator.web.kit.figures import show_date, show_share
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.words import find_username, name_field, name_grades, name_word
from annotator.web.navigation import make_url

Row = dict[str, object]


def list_kappas(kappas: Mapping[str, CoefficientValue]) -> list[tuple[str, CoefficientValue]]:
    return [(name_word(kind), kappas[kind]) for kind in KAPPA_KINDS]


def list_coefficients(measured: MeasuredAgreement) -> list[Row]:
    """Return a row for each coefficient of a set of judgments, the observed agreement first."""
    named = [
        (tr("observed agreement"), CoefficientValue(measured.observed_agreement)),
        *((tr(coefficient.name), value) for coefficient, value in measured.list_coefficients()),
    ]
    return [_row(tr("coefficient"), name, value) for name, value in named]


def describe_basis(report: AgreementReport) -> str:
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
    """Return the group's value; "(no FIELD)" for the group without a value."""
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
    return tr("{first} and {second}", first=pair.annotators[0], second=pair.annotators[1])


def list_pair_rows(report: AgreementReport) -> list[Row]:
    """Return a row for each annotator pair; the interval is that of the unweighted kappa."""
    return [
        {
            **_summary(tr("annotators"), name_pair(pair), pair.pairs, pair),
            tr("prevalence"): pair.paradox.prevalence if pair.paradox else None,
            tr("bias"): pair.paradox.bias if pair.paradox else None,
            tr("warning"): tr(pair.warning) if pair.warning else "",
        }
        for pair in report.measured.annotator_pairs
    ]


def name_leaning(annotator: str) -> str:
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
            tr("observed agreement"): period.observed_agreement,
            "κ": period.kappa.value,
            **list_kappa_bounds(period.kappa),
            **{
                name_leaning(name): next(
                    (leaning.mean for leaning in period.leanings if leaning.annotator == name),
                    None,
                )
                for name in people
            },
            tr("undefined because"): tr(period.kappa.why) if period.kappa.why else "",
        }
        for period in report.periods
    ]


def list_leaning_rows(report: AgreementReport) -> list[Row]:
    """Return a row for each annotator: kappa with all the others, leniency, and alpha without the annotator."""
    alpha = report.measured.krippendorff_alpha.get("ordinal")
    return [
        {
            tr("annotator"): leaning.annotator,
            tr("comparisons"): leaning.comparisons,
            tr("κ with others"): leaning.kappa.value if leaning.kappa else None,
            **list_kappa_bounds(leaning.kappa),
            tr("difference from the others"): leaning.mean,
            tr("from"): leaning.ci95[0] if leaning.ci95 else None,
            tr("to"): leaning.ci95[1] if leaning.ci95 else None,
            tr("ordinal α without this annotator"): leaning.alpha_without,
            tr("pairs without this annotator"): leaning.pairs_without,
            tr("ordinal α, all annotators"): alpha.value if alpha else None,
        }
        for leaning in report.measured.leanings
    ]


def list_grade_rows(report: AgreementReport, grade_names: Sequence[str]) -> list[Row]:
    """Return how often each grade was given: by all annotators together, then by each of them."""
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
        tr("value"): value.value,
        tr("from"): low,
        tr("to"): high,
        tr("undefined because"): tr(value.why) if value.why else "",
    }


def _summary(column: str, name: str, pairs: int, agreement: MeasuredAgreement | PairAgreement) -> Row:
    kappas = list_kappas(agreement.cohen_kappa)
    return {
        column: name,
        tr("pairs"): pairs,
        tr("observed agreement"): agreement.observed_agreement,
        **{f"κ {kind}": value.value for kind, value in kappas},
        **list_kappa_bounds(agreement.cohen_kappa["unweighted"]),
        tr("undefined because"): next(
            (tr(value.why) for _, value in kappas if value.value is None and value.why), ""
        ),
    }


def list_kappa_bounds(kappa: CoefficientValue | None) -> Row:
    """Return the columns with the interval of a kappa."""
    low, high = (kappa.ci95 if kappa else None) or (None, None)
    return {tr("κ, lower bound"): low, tr("κ, upper bound"): high}


def show_cell(column: str, cell: object) -> str:
    """Return a cell of a table as the page shows it; "" for None."""
    if column in (tr("first day"), tr("last day")):
        return show_date(str(cell))
    if isinstance(cell, float):
        return show_share(cell) if column == tr("observed agreement") else show_number(cell, 2)
    return "" if cell is None else show_number(cell) if isinstance(cell, int) else str(cell)


def name_part(part: VersionComparisonPart) -> str:
    """Return the category of the part, or "the dataset" in the reader's language."""
    return part.category if part.category is not None else tr("whole dataset")


def list_since_rows(comparison: VersionComparison) -> list[Row]:
    """Return the two sides of each part as rows of a table."""
    rows: list[Row] = []
    for part in comparison.parts:
        for name, side in ((tr("before"), part.before), (tr("since then"), part.since)):
            shown = part.difference if side is part.since else None
            low, high = (shown.ci95 if shown else None) or (None, None)
            alpha_low, alpha_high = side.alpha.ci95 or (None, None)
            rows.append(
                {
                    tr("part"): name_part(part),
                    tr("version {version}", version=comparison.version): name,
                    tr("pairs"): side.pairs,
                    tr("queries"): side.queries,
                    "κ": side.kappa.value,
                    **list_kappa_bounds(side.kappa),
                    tr("ordinal α"): side.alpha.value,
                    tr("α, lower bound"): alpha_low,
                    tr("α, upper bound"): alpha_high,
                    tr("difference in κ"): shown.value if shown else None,
                    tr("difference, lower bound"): low,
                    tr("difference, upper bound"): high,
                    tr("undefined because"): tr(side.kappa.why)
                    if side.kappa.value is None and side.kappa.why
                    else "",
                    tr("warning"): tr(side.warning) if side.warning else "",
                }
            )
    return rows


@dataclass(frozen=True, slots=True)
class TableRequest:
    """A table by name, with the field of its groups, or the annotators of a confusion matrix."""

    table: str = ""
    by: str | None = None
    first: str = ""
    second: str = ""

    def list_parameters(self) -> list[tuple[str, str]]:
        """Return the request as query parameters, without the empty ones."""
        first, second = find_username(self.first), find_username(self.second)
        parameters = (("table", self.table), ("by", self.by), ("first", first), ("second", second))
        return [(name, value) for name, value in parameters if value]


def make_figures_url(dataset: str, request: TableRequest) -> str:
    return make_url("/api/agreement/figures", request.list_parameters(), dataset=dataset)


def find_pair(report: AgreementReport, first: str, second: str) -> PairAgreement | None:
    """Return the agreement of two annotators, the first one's grades in rows; None if none is shared."""
    for pair in report.measured.annotator_pairs:
        if pair.annotators == (first, second):
            return pair
        if pair.annotators == (second, first):
            turned = tuple(zip(*pair.confusion, strict=True))
            return replace(pair, annotators=(first, second), confusion=turned)
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
    return TABLES[request.table](report, request, grade_names)
