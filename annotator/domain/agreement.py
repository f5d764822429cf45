"""What a measurement of agreement says: the figures, and the words for the ones that are undefined.

Computed by the stage `agreement`; `as_json` gives the documented shape of `agreement --json`; every surface shows these same records.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Value:
    """A coefficient with its 95 % interval; or neither, and why.

    A value without an interval (`ci95` None, `why` set) is one from which no interval can be drawn.
    """

    value: float | None
    ci95: Interval | None = None
    why: str | None = None

    def as_json(self) -> dict[str, Any]:
        """{"value", "ci95"}, or {"value": null, "why"}."""
        if self.value is None:
            return {"value": None, "why": self.why}
        if self.ci95 is None:
            return {"value": self.value, "ci95": None, "why": self.why}
        return {"value": self.value, "ci95": list(self.ci95)}


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How two annotators agree over the `pairs` both judged. `confusion`: rows the first, columns the second."""

    annotators: tuple[str, str]
    pairs: int
    observed_agreement: float
    cohen_kappa: Mapping[str, Value]
    confusion: tuple[tuple[int, ...], ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "annotators": list(self.annotators),
            "pairs": self.pairs,
            "observed_agreement": self.observed_agreement,
            "cohen_kappa": _values(self.cohen_kappa),
            "confusion": [list(row) for row in self.confusion],
        }


@dataclass(frozen=True, slots=True)
class Leaning:
    """How much higher one annotator grades than the others on the same pairs, in grades.

    `couples` counts the comparisons: one for each other annotator of each shared pair.
    """

    annotator: str
    couples: int
    mean: float
    ci95: Interval | None


@dataclass(frozen=True, slots=True)
class Measured:
    """Every figure over one set of judgments.

    `pairs` were judged independently by two or more, `single_pairs` by one. `observed_agreement` is the
    share of matching judgments over every two annotators of every pair; None without a shared pair.
    `grade_counts`: how often each grade was given on shared pairs. `cut_points`: Cohen's kappa with grades
    read as relevant from 1, 2, 3 on.
    """

    pairs: int
    single_pairs: int
    queries: int
    observed_agreement: float | None
    cohen_kappa: Mapping[str, Value]
    fleiss_kappa: Value
    krippendorff_alpha: Mapping[str, Value]
    gwet_ac1: Value
    gwet_ac2: Value
    cut_points: tuple[tuple[int, Value], ...]
    annotator_pairs: tuple[PairAgreement, ...]
    leanings: tuple[Leaning, ...]
    grade_counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """Agreement within one part of a dataset, such as one category; `value` None: queries without one."""

    by: str
    value: str | None
    measured: Measured

    def as_json(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "value": self.value,
            "pairs": self.measured.pairs,
            "observed_agreement": self.measured.observed_agreement,
            "cohen_kappa": _values(self.measured.cohen_kappa),
            "krippendorff_alpha": _values(self.measured.krippendorff_alpha),
        }


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The agreement of a dataset. `simulated`: some of the annotators are not people."""

    dataset: str
    annotators: tuple[str, ...]
    simulated: bool
    kappa_target: float
    resamples: int
    seed: int
    measured: Measured
    groups: tuple[GroupAgreement, ...]
    diagnosis: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The documented shape of `agreement --json`."""
        found = self.measured
        return {
            "dataset": self.dataset,
            **({"simulated": True} if self.simulated else {}),
            "annotators": list(self.annotators),
            "pairs": found.pairs,
            "observed_agreement": found.observed_agreement,
            "cohen_kappa": _values(found.cohen_kappa),
            "fleiss_kappa": found.fleiss_kappa.as_json(),
            "krippendorff_alpha": _values(found.krippendorff_alpha),
            "gwet_ac1": found.gwet_ac1.as_json(),
            "gwet_ac2": found.gwet_ac2.as_json(),
            "cut_points": [
                {"relevant_from": start, "cohen_kappa": value.as_json()} for start, value in found.cut_points
            ],
            "annotator_pairs": [pair.as_json() for pair in found.annotator_pairs],
            "groups": [group.as_json() for group in self.groups],
            "diagnosis": list(self.diagnosis),
            "kappa_target": self.kappa_target,
            "resamples": self.resamples,
            "seed": self.seed,
        }


def _values(values: Mapping[str, Value]) -> dict[str, Any]:
    return {name: value.as_json() for name, value in values.items()}
