"""The tables of the agreement page by name, as rows for the page, the charts and the files.

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
    say_who_counts,
)
from annotator.web.agreement.links import name_field
from annotator.web.kit.figures import show_share
from annotator.web.kit.heat_map import name_grades
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.words import name_word

KINDS = ("unweighted", "linear", "quadratic")
Row = dict[str, object]


def list_kappas(kappas: Mapping[str, CoefficientValue]) -> list[tuple[str, CoefficientValue]]:
    """Cohen's kappa of each kind, by its name."""
    return [(name_word(kind), kappas[kind]) for kind in KINDS]


def list_coefficients(found: MeasuredAgreement) -> list[Row]:
    """Every coefficient of a set of judgments; the observed agreement first."""
    named = [
        (tr("observed agreement"), CoefficientValue(found.observed_agreement)),
        *((tr("Cohen's κ, {kind}", kind=kind), value) for kind, value in list_kappas(found.cohen_kappa)),
        (tr("Fleiss' κ"), found.fleiss_kappa),
        *(
            (tr("Krippendorff's α, {kind}", kind=name_word(metric)), value)
            for metric, value in found.krippendorff_alpha.items()
        ),
        (tr("Gwet's AC1"), found.gwet_ac1),
        (tr("Gwet's AC2, quadratic"), found.gwet_ac2),
        *(
            (tr("Cohen's κ, relevant from grade {grade}", grade=start), value)
            for start, value in found.cut_points
        ),
    ]
    return [_row(tr("coefficient"), name, value) for name, value in named]


def say_basis(report: AgreementReport) -> str:
    """What the figures rest on."""
    found = report.measured
    basis = tr(
        "{pairs} of {queries}; observed agreement {observed}. "
        "From and to: 95 % intervals from {resamples:,} bootstrap resamples of the queries, seed {seed}.",
        pairs=tr_n("{n:,} pair", "{n:,} pairs", found.pairs),
        queries=tr_n("{n:,} query", "{n:,} queries", found.queries),
        observed=show_share(found.observed_agreement, 1),
        resamples=report.resamples,
        seed=report.seed,
    )
    return join_sentences([basis, tr(say_who_counts(report))])


def name_group(group: GroupAgreement) -> str:
    """The group's value; queries that have none are named so."""
    return group.value if group.value is not None else tr("(no {field})", field=name_field(group.by))


def list_group_rows(report: AgreementReport) -> list[Row]:
    """Pairs, observed agreement and kappas (with the 95 % interval of the unweighted one) of the dataset and of each group."""
    if not report.groups:
        return []
    column, found = name_field(report.groups[0].by), report.measured
    return [
        {**_summary(column, tr("the dataset"), found.pairs, found), tr("warning"): ""},
        *(
            {
                **_summary(column, name_group(group), group.measured.pairs, group.measured),
                tr("warning"): tr(group.warning) if group.warning else "",
            }
            for group in report.groups
        ),
    ]


def name_pair(pair: PairAgreement) -> str:
    """Both annotators of a pair."""
    return tr("{first} and {second}", first=pair.annotators[0], second=pair.annotators[1])


def list_pair_rows(report: AgreementReport) -> list[Row]:
    """Pairs, observed agreement, kappas (with the 95 % interval of the unweighted one), prevalence and bias of each two
    annotators."""
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
    """The column of their leaning."""
    return tr("{annotator} leans", annotator=annotator)


def list_period_rows(report: AgreementReport) -> list[Row]:
    """Agreement and leanings of each period."""
    people = list(dict.fromkeys(one.annotator for period in report.periods for one in period.leanings))
    return [
        {
            tr("first day"): period.first,
            tr("last day"): period.last,
            tr("pairs"): period.pairs,
            tr("observed agreement"): _round(period.observed_agreement),
            "κ": _round(period.kappa.value),
            tr("κ from"): _round(period.kappa.ci95[0] if period.kappa.ci95 else None),
            tr("κ to"): _round(period.kappa.ci95[1] if period.kappa.ci95 else None),
            **{
                name_leaning(name): next(
                    (_round(one.mean) for one in period.leanings if one.annotator == name), None
                )
                for name in people
            },
            tr("undefined because"): tr(period.kappa.why) if period.kappa.why else "",
        }
        for period in report.periods
    ]


def list_leaning_rows(report: AgreementReport) -> list[Row]:
    """Each annotator's kappa with all the others, how much higher they grade, and what alpha is without them, over how many
    pairs."""
    alpha = report.measured.krippendorff_alpha.get("ordinal")
    return [
        {
            tr("annotator"): one.annotator,
            tr("comparisons"): one.couples,
            tr("κ with the others"): _round(one.kappa.value if one.kappa else None),
            tr("κ from"): _round(one.kappa.ci95[0] if one.kappa and one.kappa.ci95 else None),
            tr("κ to"): _round(one.kappa.ci95[1] if one.kappa and one.kappa.ci95 else None),
            tr("grades higher than the others"): _round(one.mean),
            tr("from"): _round(one.ci95[0] if one.ci95 else None),
            tr("to"): _round(one.ci95[1] if one.ci95 else None),
            tr("ordinal α without them"): _round(one.alpha_without),
            tr("pairs without them"): one.pairs_without,
            tr("ordinal α of all"): _round(alpha.value if alpha else None),
        }
        for one in report.measured.leanings
    ]


def list_grade_rows(report: AgreementReport, grade_names: Sequence[str]) -> list[Row]:
    """How often all annotators gave each grade, and then each of them."""
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
    """How many judgments do not count, and why."""
    return [{tr("reason"): tr(one.why), tr("judgments"): one.judgments} for one in report.left_out]


def list_confusion_rows(pair: PairAgreement, grade_names: Sequence[str]) -> list[Row]:
    """The confusion matrix as a table: a row for each grade of the first annotator."""
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


def _summary(column: str, name: str, pairs: int, found: MeasuredAgreement | PairAgreement) -> Row:
    kappas = list_kappas(found.cohen_kappa)
    interval = found.cohen_kappa["unweighted"].ci95 if "unweighted" in found.cohen_kappa else None
    return {
        column: name,
        tr("pairs"): pairs,
        tr("observed agreement"): _round(found.observed_agreement),
        **{f"κ {kind}": _round(value.value) for kind, value in kappas},
        tr("κ from"): _round(interval[0] if interval else None),
        tr("κ to"): _round(interval[1] if interval else None),
        tr("undefined because"): _say_why(kappas),
    }


def _say_why(kappas: Sequence[tuple[str, CoefficientValue]]) -> str:
    """Why the first one that is undefined is so."""
    return next((tr(value.why) for _, value in kappas if value.value is None and value.why), "")


def _round(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 3)


@dataclass(frozen=True, slots=True)
class TableRequest:
    """Which table: `by` the field of the groups, `first` and `second` the annotators of a matrix."""

    table: str = ""
    by: str | None = None
    first: str = ""
    second: str = ""

    def list_parameters(self) -> list[tuple[str, str]]:
        """As query parameters."""
        told = (("table", self.table), ("by", self.by), ("first", self.first), ("second", self.second))
        return [(name, value) for name, value in told if value]


def find_pair(report: AgreementReport, first: str, second: str) -> PairAgreement | None:
    """The two annotators' agreement, the first's grades in the rows; None where they share no pair."""
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


def _list_confusion(report: AgreementReport, asked: TableRequest, names: Sequence[str]) -> list[Row]:
    pair = find_pair(report, asked.first, asked.second)
    return [] if pair is None else list_confusion_rows(pair, names)


TABLES: Mapping[str, Callable[[AgreementReport, TableRequest, Sequence[str]], list[Row]]] = {
    "coefficients": lambda report, _asked, _names: list_coefficients(report.measured),
    "annotators": lambda report, _asked, _names: list_pair_rows(report),
    "confusion": _list_confusion,
    "groups": lambda report, _asked, _names: list_group_rows(report),
    "periods": lambda report, _asked, _names: list_period_rows(report),
    "leanings": lambda report, _asked, _names: list_leaning_rows(report),
    "grades": lambda report, _asked, names: list_grade_rows(report, names),
    "left-out": lambda report, _asked, _names: list_left_out_rows(report),
}


def list_rows(report: AgreementReport, asked: TableRequest, grade_names: Sequence[str]) -> list[Row]:
    """The rows of the table."""
    return TABLES[asked.table](report, asked, grade_names)
