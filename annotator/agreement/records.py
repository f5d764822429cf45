"""Records of measured agreement: coefficients, figures, findings, selected pairs, comparison of versions.

Pages, commands and reports show these records; `as_json` gives the documented shape of `agreement --json`. An
undefined figure says why. `warn_of_few` decides how many shared pairs and queries a figure needs.

The list of coefficients, with keys and names, for every page, command, report and release. A new kind of κ or
α is one line here. A new family also needs a field of `MeasuredAgreement` and its formula in
`agreement/measure.py`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from annotator.domain.messages import Message, say, say_n

CUT_POINTS = "cut_points"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of a whole dataset."""

    key: str  # its family: a field of `MeasuredAgreement`, and the key in JSON and manifests
    kind: (
        str | int | None
    )  # within its family; of a cut point the first relevant grade; None in a family of one
    name: Message  # on pages and in the HTML report
    plain_name: str  # in commands
    published_name: str  # in datasheets


COEFFICIENTS: tuple[Coefficient, ...] = (
    *(
        Coefficient(
            "cohen_kappa",
            str(kind),
            say("Cohen's κ, {kind}", kind=kind),
            f"Cohen's kappa, {kind}",
            f"Cohen's κ{weights}",
        )
        for kind, weights in (
            (say("unweighted"), ""),
            (say("linear"), ", linear weights"),
            (say("quadratic"), ", quadratic weights"),
        )
    ),
    Coefficient("fleiss_kappa", None, say("Fleiss' κ"), "Fleiss' kappa", "Fleiss' κ"),
    *(
        Coefficient(
            "krippendorff_alpha",
            str(kind),
            say("Krippendorff's α, {kind}", kind=kind),
            f"Krippendorff's alpha, {kind}",
            f"Krippendorff's α, {kind}",
        )
        for kind in (say("nominal"), say("ordinal"), say("interval"))
    ),
    Coefficient("gwet_ac1", None, say("Gwet's AC1"), "Gwet's AC1", "Gwet's AC1"),
    Coefficient("gwet_ac2", None, say("Gwet's AC2, quadratic"), "Gwet's AC2, quadratic", "Gwet's AC2"),
    *(
        Coefficient(
            CUT_POINTS,
            grade,
            say("Cohen's κ, relevant from grade {grade}", grade=grade),
            f"kappa of relevant from {grade}",
            f"Cohen's κ, relevant from grade {grade} on",
        )
        for grade in (1, 2, 3)
    ),
)
COEFFICIENT_KEYS: tuple[str, ...] = tuple(dict.fromkeys(coefficient.key for coefficient in COEFFICIENTS))
KAPPA_KINDS: tuple[str, ...] = tuple(
    str(coefficient.kind) for coefficient in COEFFICIENTS if coefficient.key == "cohen_kappa"
)
_SINGLE = frozenset(coefficient.key for coefficient in COEFFICIENTS if coefficient.kind is None)


def group_by_family(compute: Callable[[Coefficient], Any]) -> dict[str, Any]:
    """Call `compute` for each coefficient. Return {field of `MeasuredAgreement`: value or values by kind}."""
    families: dict[str, dict[Any, Any]] = {}
    for coefficient in COEFFICIENTS:
        families.setdefault(coefficient.key, {})[coefficient.kind] = compute(coefficient)
    return {
        key: values[None] if key in _SINGLE else tuple(values.items()) if key == CUT_POINTS else values
        for key, values in families.items()
    }


def list_stated(
    figures: Mapping[str, Any],
) -> Iterator[tuple[str, str | int | None, Mapping[str, Any]]]:
    """Yield key, kind and value of each coefficient in the JSON of `MeasuredAgreement.figures_as_json`.

    In the order of datasheets: families of several kinds, single coefficients, cut points. Also yields kinds
    that this program does not know. KeyError without the key of a family.
    """
    for key in sorted(COEFFICIENT_KEYS, key=lambda key: (key == CUT_POINTS, key in _SINGLE)):
        stated = figures[key]
        if key == CUT_POINTS:
            for item in stated or ():
                yield key, item.get("relevant_from"), item.get("cohen_kappa") or {}
        elif key in _SINGLE:
            if isinstance(stated, dict):
                yield key, None, stated
        else:
            for kind, value in (stated or {}).items():
                yield key, kind, value


Interval = tuple[float, float]
Span = tuple[int, int]
"""A first and a last second, since 1970, UTC."""


@dataclass(frozen=True, slots=True)
class CoefficientValue:
    """A coefficient with its 95 % interval."""

    value: float | None  # None if undefined; then `why` is set
    ci95: Interval | None = None  # None if no interval can be drawn; then `why` is set
    why: str | None = None  # why there is no value, or no interval

    def as_json(self) -> dict[str, Any]:
        """Return {"value", "ci95"}, or {"value": null, "why"}."""
        if self.value is None:
            return {"value": None, "why": self.why}
        if self.ci95 is None:
            return {"value": self.value, "ci95": None, "why": self.why}
        return {"value": self.value, "ci95": list(self.ci95)}


@dataclass(frozen=True, slots=True)
class KappaParadox:
    """Prevalence and bias, which make kappa hard to read (Byrt, Bishop & Carlin 1993).

    Of two annotators or of a whole dataset.
    """

    prevalence: float  # 0 to 1: how far the share of the most common grade lies above an even split
    bias: float  # 0 to 1: half the summed differences between the shares of grades in the two margins


@dataclass(frozen=True, slots=True)
class PairSelection:
    """The pairs behind a figure or a sentence, as an address can name them. Default: shared pairs."""

    kind: Literal["shared", "differing", "given", "repeat", "gold", "quick"] = "shared"
    """"shared": judged by two or more; "differing": shared, with different grades; "given": pairs to which
    `annotators[0]`, or anybody if there is no name, gave `grade`. Of `annotators[0]` alone: "repeat" (judged differently
    the second time), "gold" (judged wrong), "quick" (judged far faster than usual)."""
    annotators: tuple[str, ...] = ()
    """None, one (pairs judged together with others) or two (pairs both judged)."""
    grades: tuple[int, int] | None = None
    """Two grades on one pair; with two annotators, the first's and the second's; else in any order."""
    by: str | None = None  # field of the group
    value: str | None = None  # value of the group
    grade: int | None = None  # for the kind "given"
    span: Span | None = None  # only pairs judged a second time within it
    without: tuple[str, ...] = ()  # annotators whose judgments do not count, of shared or differing pairs


@dataclass(frozen=True, slots=True)
class DiagnosisFinding:
    """A sentence of the diagnosis."""

    kind: str  # the rule that made the finding
    sentence: str
    pairs: PairSelection | None = None  # the pairs it is about; None: no pairs in particular


@dataclass(frozen=True, slots=True)
class AgreementVerdict:
    """The dataset's kappa compared with its target."""

    state: Literal["met", "not met", "unknown"]
    """"unknown": the interval spans the target, or kappa is undefined."""
    kappa: CoefficientValue
    target: float
    further: int | None  # about how many more pairs, each judged twice, would decide; None if unknown
    sentence: str

    def as_json(self) -> dict[str, Any]:
        return {"state": self.state, "target": self.target, "further_pairs": self.further}


@dataclass(frozen=True, slots=True)
class AgreementSummary:
    """The figures and the verdict of a dataset, without the diagnosis."""

    measured: "MeasuredAgreement"
    verdict: AgreementVerdict
    sentences: tuple[str, ...]  # the verdict's, and one about simulated annotators, if any


@dataclass(frozen=True, slots=True)
class ExclusionCount:
    """The number of judgments that do not count for one reason."""

    kind: str  # name of the reason
    why: str  # the reason in words
    judgments: int

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "why": str(self.why), "judgments": self.judgments}


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """The agreement of two annotators on the pairs that both judged."""

    annotators: tuple[str, str]
    pairs: int  # judged by both
    observed_agreement: float
    cohen_kappa: Mapping[str, CoefficientValue]
    confusion: tuple[tuple[int, ...], ...]  # rows: the first annotator's grades; columns: the second's
    paradox: KappaParadox | None = None
    queries: int = 0  # of these pairs
    warning: str | None = None  # why so few pairs say little

    def as_json(self) -> dict[str, Any]:
        return {
            "annotators": list(self.annotators),
            "pairs": self.pairs,
            "queries": self.queries,
            **({"warning": str(self.warning)} if self.warning else {}),
            "observed_agreement": self.observed_agreement,
            "cohen_kappa": _values(self.cohen_kappa),
            "confusion": [list(row) for row in self.confusion],
        }


@dataclass(frozen=True, slots=True)
class Leaning:
    """The mean difference between one annotator's grades and the others' on the same pairs."""

    annotator: str
    comparisons: int  # one for each other annotator of each shared pair
    mean: float  # in grades
    ci95: Interval | None
    alpha_without: float | None = None
    """Ordinal alpha of the others' judgments, to compare with the alpha of all."""
    why: str | None = None  # why there is no interval
    pairs_without: int | None = None  # pairs that two or more of the others judged
    kappa: CoefficientValue | None = None  # Cohen's (unweighted) with all the others together


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """Every figure over one set of judgments."""

    pairs: int  # judged independently by two or more
    single_pairs: int  # judged independently by one
    queries: int
    observed_agreement: float | None
    """Share of matching judgments over every two annotators of every pair; None without a shared pair."""
    cohen_kappa: Mapping[str, CoefficientValue]  # by kind
    fleiss_kappa: CoefficientValue
    krippendorff_alpha: Mapping[str, CoefficientValue]  # by metric
    gwet_ac1: CoefficientValue
    gwet_ac2: CoefficientValue
    cut_points: tuple[tuple[int, CoefficientValue], ...]
    """Cohen's kappa with grades read as relevant from 1, 2 and 3 on."""
    annotator_pairs: tuple[PairAgreement, ...]
    leanings: tuple[Leaning, ...]
    grade_counts: tuple[int, ...]  # how often each grade was given on shared pairs
    grades_by_annotator: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """How often each annotator gave each grade, over all they judged."""
    paradox: KappaParadox | None = None

    def list_coefficients(self) -> list[tuple[Coefficient, CoefficientValue]]:
        """Return every coefficient with its value, in the order of pages and reports."""
        families = {key: getattr(self, key) for key in COEFFICIENT_KEYS}
        by_kind: dict[str, dict[Any, CoefficientValue]] = {
            key: {None: family} if isinstance(family, CoefficientValue) else dict(family)
            for key, family in families.items()
        }
        return [(coefficient, by_kind[coefficient.key][coefficient.kind]) for coefficient in COEFFICIENTS]

    def figures_as_json(self) -> dict[str, Any]:
        """Return the figures in the documented shape of `agreement --json`."""
        return {
            "pairs": self.pairs,
            "observed_agreement": self.observed_agreement,
            **{key: _family_as_json(key, getattr(self, key)) for key in COEFFICIENT_KEYS},
            "annotator_pairs": [pair.as_json() for pair in self.annotator_pairs],
        }


@dataclass(frozen=True, slots=True)
class AgreementPeriod:
    """A period and the agreement on the pairs completed in it."""

    first: str  # first day, YYYY-MM-DD, with the time of day (UTC) if two periods begin on the same day
    last: str  # last day, in the same format
    pairs: int
    kappa: CoefficientValue
    observed_agreement: float | None
    leanings: tuple[Leaning, ...] = ()  # of those who judged enough in the period
    span: Span | None = None  # when the first and the last of the pairs were completed


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """Agreement within one part of a dataset, such as one category."""

    by: str
    value: str | None  # None: the pairs without a value
    measured: MeasuredAgreement
    warning: str | None = None  # why so small a group says little

    def as_json(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "value": self.value,
            "pairs": self.measured.pairs,
            **({"warning": str(self.warning)} if self.warning else {}),
            "observed_agreement": self.measured.observed_agreement,
            "cohen_kappa": _values(self.measured.cohen_kappa),
            "krippendorff_alpha": _values(self.measured.krippendorff_alpha),
        }


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The agreement of a dataset."""

    dataset: str
    annotators: tuple[str, ...]  # everybody who has a judgment that counts
    simulated: bool  # whether some of the annotators are not people
    kappa_target: float
    resamples: int
    seed: int
    measured: MeasuredAgreement
    groups: tuple[GroupAgreement, ...]
    findings: tuple[DiagnosisFinding, ...]
    verdict: AgreementVerdict | None = None
    periods: tuple[AgreementPeriod, ...] = ()
    left_out: tuple[ExclusionCount, ...] = ()
    outdated: int = 0
    """Current independent grades made under an older guideline or on an older text; they count."""
    blind_pairs: int = 0
    """Judged pairs that are left out of every figure, because the reader may still judge them."""

    @property
    def sharing(self) -> int:
        """Return how many annotators share a pair with another one."""
        return len(self.measured.leanings)

    @property
    def diagnosis(self) -> tuple[str, ...]:
        """Return the sentences of the findings, the most important first."""
        return tuple(finding.sentence for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the documented shape of `agreement --json`."""
        measured = self.measured
        return {
            "dataset": self.dataset,
            **({"simulated": True} if self.simulated else {}),
            "annotators": list(self.annotators),
            **measured.figures_as_json(),
            "groups": [group.as_json() for group in self.groups],
            "diagnosis": list(self.diagnosis),
            **({"verdict": self.verdict.as_json()} if self.verdict else {}),
            "left_out": [excluded.as_json() for excluded in self.left_out],
            "outdated": self.outdated,
            **({"pairs_you_may_still_judge": self.blind_pairs} if self.blind_pairs else {}),
            "annotators_sharing_a_pair": self.sharing,
            "kappa_target": self.kappa_target,
            "resamples": self.resamples,
            "seed": self.seed,
        }


def describe_who_counts(report: AgreementReport) -> Message:
    """Say how many annotators the figures rest on."""
    return say_n(
        "Only {n:,} annotator has judgments that count, so no pairs are shared.",
        "{n:,} annotators have judgments that count; {sharing:,} of them share pairs with another annotator.",
        len(report.annotators),
        sharing=report.sharing,
    )


def _values(values: Mapping[str, CoefficientValue]) -> dict[str, Any]:
    return {name: value.as_json() for name, value in values.items()}


def _family_as_json(key: str, family: Any) -> Any:
    if isinstance(family, CoefficientValue):
        return family.as_json()
    if key == CUT_POINTS:
        return [{"relevant_from": grade, "cohen_kappa": value.as_json()} for grade, value in family]
    return _values(family)


@dataclass(frozen=True, slots=True)
class ExcludedJudgment:
    """A judgment that does not count."""

    event_id: str
    pair: str  # the pair's key
    query_id: str
    doc_id: str
    annotator: str
    outcome: str
    grade: int | None
    purpose: str  # for what it was given
    judged_at: datetime


MOST_COMPARED_GROUPS = 200  # that can be compared
FEW_PAIRS = 30
FEW_QUERIES = 10
TOO_FEW_QUERIES = say("a confidence interval needs pairs of {n} or more queries", n=FEW_QUERIES)


@lru_cache(4096)
def warn_of_few(pairs: int, queries: int) -> Message | None:
    """Return why so few shared pairs say little; None for enough pairs of enough queries."""
    if pairs >= FEW_PAIRS and queries >= FEW_QUERIES:
        return None
    return say(
        "too few pairs for a conclusion: {pairs} of {queries}; aim for {least_pairs} pairs of "
        "{least_queries} queries",
        pairs=say_n("{n} pair", "{n} pairs", pairs),
        queries=say_n("{n} query", "{n} queries", queries),
        least_pairs=FEW_PAIRS,
        least_queries=FEW_QUERIES,
    )


FEW_OWN = 30
OWN_STEP = 20
"""The comparisons of a step: they have the same own grade and enter the figures of `OwnAgreement` together."""
FEW_WITH_ONE = 5
"""The fewest comparisons with one other annotator in such a step."""


@dataclass(frozen=True, slots=True)
class SelectedPair:
    """A pair with its grades, as the list of a selection shows it."""

    pair: str  # the pair's key
    query_id: str
    query: str
    doc_id: str
    title: str
    grades: tuple[tuple[str, int], ...]  # by the name that the reader sees
    distance: int  # between the grades for which the pair was selected
    status: str
    case: bool  # whether it is on the page Disagreements
    note: Message | None = None  # the answer on a repeat, the right grade, or the seconds


@dataclass(frozen=True, slots=True)
class SelectedPairs:
    """Some pairs of a selection: the furthest apart first, then in the order of the queries."""

    total: int  # how many pairs the selection has
    pairs: tuple[SelectedPair, ...]
    blind_pairs: int = 0  # pairs of the dataset that the reader may still judge, and that are left out


class ComparedGrade(NamedTuple):
    """A person's first grade of a pair and another annotator's first, with primary keys."""

    query_pk: int
    pair_pk: int
    annotator_pk: int  # the other
    own_grade: int
    grade: int
    judgment_pk: int  # the later one of the two
    decided: bool | int  # a lead has decided the pair


@dataclass(frozen=True, slots=True)
class OwnAgreement:
    """The agreement of an annotator with all others together. Names nobody."""

    pairs: int  # that the figures count; below FEW_OWN, all else is empty
    kappa: CoefficientValue | None = None
    observed_agreement: float | None = None
    leaning: Leaning | None = None
    confusion: tuple[tuple[int, ...] | None, ...] = ()
    """Rows: own grades; columns: the others'. None for a row without comparisons. See `choose_compared`."""


State = Literal["higher", "lower", "unknown"]


@dataclass(frozen=True, slots=True)
class VersionSide:
    """Agreement on the pairs judged wholly before a version, or wholly since."""

    pairs: int
    queries: int
    kappa: CoefficientValue  # Cohen's, unweighted
    alpha: CoefficientValue  # Krippendorff's, ordinal
    warning: str | None = None  # why so few pairs say little


@dataclass(frozen=True, slots=True)
class VersionComparisonPart:
    """Both sides, in the whole dataset or in one category."""

    category: str | None  # None: the whole dataset
    before: VersionSide
    since: VersionSide
    difference: CoefficientValue  # kappa since minus kappa before
    state: State  # "higher" or "lower" only if the difference is surely not chance
    sentence: str


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """Agreement before and since a version of the guideline."""

    dataset: str
    version: int
    versions: tuple[tuple[int, int], ...]
    """Versions that can be compared, each with the number of decisions that led to it."""
    parts: tuple[VersionComparisonPart, ...]
    """The whole dataset first, then the categories of those decisions."""
    between: int  # shared pairs judged partly before and partly since, which are on neither side
    simulated: bool = False  # whether some of the annotators are not people
    unknown: int = 0  # shared pairs with an imported judgment of unknown guideline; on neither side
