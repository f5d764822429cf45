"""The tables of the agreement page by name: the same rows stand on the page and in the files that it offers.

Rows come from the report (`agreement_rows.py`), which is computed already: nothing here is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from annotator.agreement.records import AgreementReport, PairAgreement
from annotator.web.agreement import agreement_rows as rows
from annotator.web.agreement.agreement_rows import Row


@dataclass(frozen=True, slots=True)
class Asked:
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
                (first, second), pair.pairs, pair.observed_agreement, pair.cohen_kappa, turned, pair.paradox,
                pair.queries, pair.warning,
            )  # fmt: skip
    return None


def _list_confusion(report: AgreementReport, asked: Asked, names: Sequence[str]) -> list[Row]:
    pair = find_pair(report, asked.first, asked.second)
    return [] if pair is None else rows.list_confusion_rows(pair, names)


TABLES: Mapping[str, Callable[[AgreementReport, Asked, Sequence[str]], list[Row]]] = {
    "coefficients": lambda report, _asked, _names: rows.list_coefficients(report.measured),
    "annotators": lambda report, _asked, _names: rows.list_pair_rows(report),
    "confusion": _list_confusion,
    "groups": lambda report, _asked, _names: rows.list_group_rows(report),
    "periods": lambda report, _asked, _names: rows.list_period_rows(report),
    "leanings": lambda report, _asked, _names: rows.list_leaning_rows(report),
    "grades": lambda report, _asked, names: rows.list_grade_rows(report, names),
    "left-out": lambda report, _asked, _names: rows.list_left_out_rows(report),
}


def list_rows(report: AgreementReport, asked: Asked, grade_names: Sequence[str]) -> list[Row]:
    """The rows of the table."""
    return TABLES[asked.table](report, asked, grade_names)
