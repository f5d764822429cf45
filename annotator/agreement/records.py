"""Records of measured agreement: figures, findings, selected pairs, and the comparison since a guideline version.

Every surface shows these records; `as_json` gives the documented shape of `agreement --json`. An undefined figure says
why. `warn_of_few` is the one rule for how many shared pairs and queries a figure needs. Rankings list first what lowers
the dataset's kappa most (its distance below that kappa, times shared pairs); annotator pairs with few pairs or no kappa
are left out and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from annotator.domain.messages import Message, join_sentences, say, say_n

Interval = tuple[float, float]
Span = tuple[int, int]
"""A first and a last second, since 1970, UTC."""


@dataclass(frozen=True, slots=True)
class CoefficientValue:
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
class KappaParadox:
    """What makes kappa hard to read (Byrt, Bishop & Carlin 1993), both 0 to 1, for two annotators or a whole dataset.

    `prevalence`: how far the commonest grade's share lies above an even split; `bias`: how far the annotators' shares of
    the grades lie apart (half the summed differences of the two margins).
    """

    prevalence: float
    bias: float


@dataclass(frozen=True, slots=True)
class PairSelection:
    """The pairs that a figure or a sentence is about, as an address can say it; nothing set: all shared pairs.

    `annotators`: none, one (what they judged together with others) or two (what both judged). `grades`: two grades met
    on a pair; of two annotators the first's and the second's, otherwise in either order. `by`, `value`: a group.
    `span`: only pairs judged a second time in it, from its first to its last second (since 1970, UTC).
    `without`: annotators whose judgments do not count, of shared or differing pairs.
    `kind`: "shared"; "differing" (of those, where grades differ); "given" (to which `annotators[0]`, or without a name
    anybody, gave `grade`, whether others judged them or not); or what `annotators[0]` was checked by: "repeat"
    (answered otherwise the second time), "gold" (answered wrong), "quick" (judged far faster than is usual for them).
    """

    kind: Literal["shared", "differing", "given", "repeat", "gold", "quick"] = "shared"
    annotators: tuple[str, ...] = ()
    grades: tuple[int, int] | None = None
    by: str | None = None
    value: str | None = None
    grade: int | None = None
    span: Span | None = None
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiagnosisFinding:
    """A sentence of the diagnosis with the pairs it is about (None: about no pairs in particular).

    `kind` names the rule that drew it, for tests and for the page's icons.
    """

    kind: str
    sentence: str
    pairs: PairSelection | None = None


@dataclass(frozen=True, slots=True)
class AgreementVerdict:
    """The dataset's kappa against its target: "met", "not met", or "unknown" (the interval spans the target, or kappa
    is undefined). `further`: about how many further double judgments would tell, None when that cannot be said."""

    state: Literal["met", "not met", "unknown"]
    kappa: CoefficientValue
    target: float
    further: int | None
    sentence: str

    def as_json(self) -> dict[str, Any]:
        return {"state": self.state, "target": self.target, "further_pairs": self.further}


@dataclass(frozen=True, slots=True)
class ExclusionCount:
    """How many judgments do not count, and why: `kind` is the reason's name, `why` says it in words."""

    kind: str
    why: str
    judgments: int

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "why": str(self.why), "judgments": self.judgments}


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How two annotators agree over the `pairs` of `queries` that both judged. `confusion`: rows the first, columns the
    second. `warning`: why so few pairs say little."""

    annotators: tuple[str, str]
    pairs: int
    observed_agreement: float
    cohen_kappa: Mapping[str, CoefficientValue]
    confusion: tuple[tuple[int, ...], ...]
    paradox: KappaParadox | None = None
    queries: int = 0
    warning: str | None = None

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
    """How much higher one annotator grades than the others on the same pairs, in grades.

    `couples` counts the comparisons: one for each other annotator of each shared pair. `alpha_without`: ordinal alpha
    of the others' judgments alone, to hold beside the alpha of all, over the `pairs_without` pairs that two or more of
    them judged. `why`: why there is no interval. `kappa`: Cohen's (unweighted) with all the others together.
    """

    annotator: str
    couples: int
    mean: float
    ci95: Interval | None
    alpha_without: float | None = None
    why: str | None = None
    pairs_without: int | None = None
    kappa: CoefficientValue | None = None


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """Every figure over one set of judgments.

    `pairs` were judged independently by two or more, `single_pairs` by one. `observed_agreement` is the
    share of matching judgments over every two annotators of every pair; None without a shared pair.
    `grade_counts`: how often each grade was given on shared pairs; `grades_by_annotator` the same for each, over all
    they judged. `cut_points`: Cohen's kappa with grades
    read as relevant from 1, 2, 3 on.
    """

    pairs: int
    single_pairs: int
    queries: int
    observed_agreement: float | None
    cohen_kappa: Mapping[str, CoefficientValue]
    fleiss_kappa: CoefficientValue
    krippendorff_alpha: Mapping[str, CoefficientValue]
    gwet_ac1: CoefficientValue
    gwet_ac2: CoefficientValue
    cut_points: tuple[tuple[int, CoefficientValue], ...]
    annotator_pairs: tuple[PairAgreement, ...]
    leanings: tuple[Leaning, ...]
    grade_counts: tuple[int, ...]
    grades_by_annotator: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    paradox: KappaParadox | None = None

    def figures_as_json(self) -> dict[str, Any]:
        """The figures in the documented shape of `agreement --json`."""
        return {
            "pairs": self.pairs,
            "observed_agreement": self.observed_agreement,
            "cohen_kappa": _values(self.cohen_kappa),
            "fleiss_kappa": self.fleiss_kappa.as_json(),
            "krippendorff_alpha": _values(self.krippendorff_alpha),
            "gwet_ac1": self.gwet_ac1.as_json(),
            "gwet_ac2": self.gwet_ac2.as_json(),
            "cut_points": [
                {"relevant_from": start, "cohen_kappa": value.as_json()} for start, value in self.cut_points
            ],
            "annotator_pairs": [pair.as_json() for pair in self.annotator_pairs],
        }


@dataclass(frozen=True, slots=True)
class AgreementPeriod:
    """A stretch of time (days, `first` to `last`, as YYYY-MM-DD, with the time of day, UTC, where two stretches begin on one
    day) and the agreement on the pairs completed in it.

    `leanings`: how much higher each annotator graded than the others, for those who judged enough of it. `span`: when the
    first and the last of its pairs were completed.
    """

    first: str
    last: str
    pairs: int
    kappa: CoefficientValue
    observed_agreement: float | None
    leanings: tuple[Leaning, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """Agreement within one part of a dataset, such as one category; `value` None: what has none. `warning`: why
    so small a group says little."""

    by: str
    value: str | None
    measured: MeasuredAgreement
    warning: str | None = None

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
    """The agreement of a dataset. `simulated`: some of the annotators are not people. `outdated`: how many current
    independent grades were made under an older guideline or on an older text: they count."""

    dataset: str
    annotators: tuple[str, ...]
    simulated: bool
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

    @property
    def sharing(self) -> int:
        """How many annotators share a pair with another; `annotators` are all who have a judgment that counts."""
        return len(self.measured.leanings)

    @property
    def diagnosis(self) -> tuple[str, ...]:
        """The sentences of the findings, most important first."""
        return tuple(finding.sentence for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """The documented shape of `agreement --json`."""
        found = self.measured
        return {
            "dataset": self.dataset,
            **({"simulated": True} if self.simulated else {}),
            "annotators": list(self.annotators),
            **found.figures_as_json(),
            "groups": [group.as_json() for group in self.groups],
            "diagnosis": list(self.diagnosis),
            **({"verdict": self.verdict.as_json()} if self.verdict else {}),
            "left_out": [one.as_json() for one in self.left_out],
            "outdated": self.outdated,
            "annotators_sharing_a_pair": self.sharing,
            "kappa_target": self.kappa_target,
            "resamples": self.resamples,
            "seed": self.seed,
        }


def say_who_counts(report: AgreementReport) -> Message:
    """Say how many annotators the figures rest on."""
    return say_n(
        "{n:,} annotator has a judgment that counts, and nobody shares a pair with them.",
        "{n:,} annotators have a judgment that counts, {sharing:,} of them share a pair with another.",
        len(report.annotators),
        sharing=report.sharing,
    )


def _values(values: Mapping[str, CoefficientValue]) -> dict[str, Any]:
    return {name: value.as_json() for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class ExcludedJudgment:
    """A judgment that does not count. `pair`: the pair's key; `purpose`: for what it was given. `hidden`: who asks has
    still to judge its pair, so that nothing is told but the purpose and the time."""

    event_id: str
    pair: str
    query_id: str
    doc_id: str
    annotator: str
    outcome: str
    grade: int | None
    purpose: str
    judged_at: datetime
    hidden: bool = False


FEW_PAIRS = 30
FEW_QUERIES = 10


@lru_cache(4096)
def warn_of_few(pairs: int, queries: int) -> Message | None:
    """Return why so few shared pairs say little; None for enough pairs of enough queries."""
    if pairs >= FEW_PAIRS and queries >= FEW_QUERIES:
        return None
    return say(
        "too few to say much: {pairs} of {queries}; aim for {least_pairs} pairs of {least_queries} queries",
        pairs=say_n("{n} pair", "{n} pairs", pairs),
        queries=say_n("{n} query", "{n} queries", queries),
        least_pairs=FEW_PAIRS,
        least_queries=FEW_QUERIES,
    )


MOST_PEOPLE = 100
MOST_BY_PERIOD = 20


@dataclass(frozen=True, slots=True)
class RankedPairs:
    """Annotator pairs, those who lower the dataset's kappa most first. Left out: `few` who share too little, and
    `undefined` without a kappa."""

    pairs: tuple[PairAgreement, ...]
    few: int
    undefined: int


def rank_pairs(
    pairs: Sequence[PairAgreement], dataset: CoefficientValue, kind: str = "unweighted"
) -> RankedPairs:
    """Rank them. `dataset`: its kappa of this kind; where it is undefined, the lowest kappa comes first."""
    enough = [pair for pair in pairs if not pair.warning]
    known = [(pair.cohen_kappa[kind].value, pair) for pair in enough]
    defined = [(value, pair) for value, pair in known if value is not None]
    mean = dataset.value

    def weigh(one: tuple[float, PairAgreement]) -> tuple[float, tuple[str, str]]:
        kappa, pair = one
        return (kappa if mean is None else (kappa - mean) * pair.pairs, pair.annotators)

    return RankedPairs(
        tuple(pair for _, pair in sorted(defined, key=weigh)),
        len(pairs) - len(enough),
        len(enough) - len(defined),
    )


def say_left_out_pairs(ranked: RankedPairs) -> Message | None:
    """Say how many annotator pairs are left out of the ranking and why; None where all are in it."""
    said = []
    if ranked.few:
        said.append(
            say_n(
                "{n:,} annotator pair is left out: it shares fewer than {pairs} pairs or {queries} queries, too few to say "
                "much.",
                "{n:,} annotator pairs are left out: they share fewer than {pairs} pairs or {queries} queries, too few to "
                "say much.",
                ranked.few,
                pairs=FEW_PAIRS,
                queries=FEW_QUERIES,
            )
        )
    if ranked.undefined:
        said.append(
            say_n(
                "{n:,} annotator pair is left out: without variation its kappa is undefined.",
                "{n:,} annotator pairs are left out: without variation their kappa is undefined.",
                ranked.undefined,
            )
        )
    return join_sentences(said) if said else None


def rank_leanings(leanings: Sequence[Leaning]) -> list[Leaning]:
    """Those first who weigh most: how much higher or lower they grade, times the comparisons."""
    return sorted(leanings, key=lambda one: (-abs(one.mean) * one.couples, one.annotator))


def rank_groups(groups: Sequence[GroupAgreement], dataset: CoefficientValue) -> list[GroupAgreement]:
    """Those first that lower the dataset's kappa most: the distance of theirs below it (below 0 where it is undefined), times
    their pairs. Last those that have too little to say anything, or no kappa."""
    mean = dataset.value or 0.0

    def weigh(group: GroupAgreement) -> tuple[bool, float, str]:
        kappa = group.measured.cohen_kappa["unweighted"].value
        lowers = 0.0 if kappa is None else (kappa - mean) * group.measured.pairs
        return (kappa is None or group.warning is not None, lowers, group.value or "")

    return sorted(groups, key=weigh)


def choose_people_by_period(report: AgreementReport) -> tuple[set[str], int]:
    """Return whose leanings by period are listed, and of how many: everybody's; of more than MOST_PEOPLE those who lean most
    over the whole time."""
    people = {one.annotator for period in report.periods for one in period.leanings}
    if len(people) <= MOST_PEOPLE:
        return people, len(people)
    ranked = [one.annotator for one in rank_leanings(report.measured.leanings) if one.annotator in people]
    return set(ranked[:MOST_BY_PERIOD]), len(people)


FEW_OWN = 30
FEW_IN_ROW = 5


@dataclass(frozen=True, slots=True)
class PairBehind:
    """A pair with its grades by username. `distance`: how far apart the grades are that it was selected by. `note`: what
    is said of it besides (the answer on a repeat, the right grade, the seconds). `case`: it has one in Disagreements.

    `hidden`: who asks has still to judge it, so that nothing of it is told, not even which pair it is.
    """

    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    grades: tuple[tuple[str, int], ...]
    distance: int
    status: str
    case: bool
    note: Message | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class PairsBehind:
    """How many pairs a selection has, and some of them: the furthest apart first, then in the queries' order."""

    total: int
    pairs: tuple[PairBehind, ...]


@dataclass(frozen=True, slots=True)
class OwnAgreement:
    """How well an annotator agrees with all others together, over `pairs` that need no more judgments; nobody is named.

    With fewer than FEW_OWN pairs nothing but their number is told. `confusion`: rows the own grades, columns the others';
    None for a row of fewer than FEW_IN_ROW comparisons, which could tell somebody's grade on a single pair.
    """

    pairs: int
    kappa: CoefficientValue | None = None
    observed_agreement: float | None = None
    leaning: Leaning | None = None
    confusion: tuple[tuple[int, ...] | None, ...] = ()


State = Literal["higher", "lower", "unknown"]


@dataclass(frozen=True, slots=True)
class VersionSide:
    """Agreement on the pairs that were judged wholly before a version, or wholly since. `kappa`: Cohen's, unweighted;
    `alpha`: Krippendorff's, ordinal. `warning`: why so few say little."""

    pairs: int
    queries: int
    kappa: CoefficientValue
    alpha: CoefficientValue
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class SincePart:
    """Both sides, in the whole dataset (`category` None) or in one category. `difference`: of the kappas, since less
    before. `state`: what is surely so of it."""

    category: str | None
    before: VersionSide
    since: VersionSide
    difference: CoefficientValue
    state: State
    sentence: str


@dataclass(frozen=True, slots=True)
class SinceVersion:
    """Agreement before and since `version`. `versions`: those that can be asked for, with how many decisions led to each.
    `parts`: the whole dataset first, then the categories of those decisions. `between`: shared pairs that were judged partly
    before and partly since, and so are on neither side; neither are `unknown` shared pairs of which a judgment came with a file, since nobody knows its
    guideline. `simulated`: some of the annotators are not people."""

    dataset: str
    version: int
    versions: tuple[tuple[int, int], ...]
    parts: tuple[SincePart, ...]
    between: int
    simulated: bool = False
    unknown: int = 0
