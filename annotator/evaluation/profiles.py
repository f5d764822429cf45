"""Define the profiles: the conventions of each team's evaluator, as data that can be printed.

To add a team, define its profile here and list it in `PROFILES`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.evaluation.records import Gain, Grades, Ideal, Kind, Measure, Order, Truth
from annotator.evaluation.scores.measures import MAX_CUTOFF, describe_measure, parse_measure_name

MeanOver = Literal["judged", "listed", "all"]
MEAN_OVER: Mapping[MeanOver, str] = {
    "judged": say("queries with a judged document; one without results counts 0"),
    "listed": say("queries with a relevant document; one without results counts 0"),
    "all": say("all queries of the truth; one without relevant documents or without results counts 0"),
}
WHY_LEFT_OUT: Mapping[MeanOver, str] = {
    "judged": say("no document of this query is judged"),
    "listed": say("no document of this query is relevant, so its scores would be divided by 0"),
    "all": "",
}
NOT_COMPARABLE = say(
    "ideal from the results themselves: not comparable, because every system has its own ideal"
)
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:@(\d{1,7}))?", re.ASCII)
_SYNONYMS = {
    "p": "precision",
    "r": "recall",
    "rr": "mrr",
    "ap": "map",
    "success": "hits",
    "f1": "f1",
    "ndcg": "ndcg",
}


@dataclass(frozen=True, slots=True)
class Target:
    """A target of a measure: a minimum, or for latencies a maximum."""

    measure: str
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class TeamMeasure:
    """One measure as a team's program computes it. The cutoff comes from the requested name."""

    kind: Kind
    with_cutoff: bool = True
    relevant_from: int | None = None  # None: every document that the truth lists
    gain: Gain = "grade"
    over_returned: bool = False
    decimals: int | None = None


def keep_grades(truth: Truth) -> Grades:
    """Return the grades unchanged."""
    return truth.grades


@dataclass(frozen=True, slots=True)
class Profile:
    """One team's conventions.

    `parse(name, relevant_from, ideal)` returns the measure as this team computes it, or raises
    ValidationError with the known names. `relevant_from` is None unless the user chose it.
    """

    name: str
    about: str
    order: Order  # what decides the order of a run's results
    measures: tuple[str, ...]  # computed by default
    mean_over: MeanOver
    parse: Callable[[str, int | None, Ideal], Measure]
    targets: tuple[Target, ...] = ()
    choose_grades: Callable[[Truth], Grades] = keep_grades
    needs_grades: bool = True  # False: an order of the relevant documents is enough
    notes: tuple[str, ...] = ()  # other differences from the other profiles


@dataclass(frozen=True, slots=True)
class Convention:
    """How a measure is computed, in words."""

    measure: str
    formula: str
    relevant: str
    mean_over: str
    ideal: str | None  # None: the measure has no ideal ranking


def describe_conventions(profile: Profile, measures: tuple[Measure, ...]) -> tuple[Convention, ...]:
    """Return the convention of each measure."""
    return tuple(
        Convention(
            measure.name,
            measure.formula,
            _describe_relevance(measure),
            MEAN_OVER[profile.mean_over],
            None
            if measure.kind != "nDCG"
            else say("from the truth")
            if measure.ideal == "truth"
            else NOT_COMPARABLE,
        )
        for measure in measures
    )


def _describe_relevance(measure: Measure) -> str:
    if measure.kind in ("nDCG", "ERR"):
        return say("by grade")
    if measure.kind == "Judged":
        return say("any grade")
    if measure.relevant_from is None:
        return say("every document that the truth lists")
    return say("grade {grade} or more", grade=measure.relevant_from)


def make_parser(
    profile: str, measures: Mapping[str, TeamMeasure]
) -> Callable[[str, int | None, Ideal], Measure]:
    """Return the `parse` function of a profile. `measures`: by the team's names."""
    by_name = {_fold(name): name for name in measures}

    def parse(name: str, relevant_from: int | None, ideal: Ideal) -> Measure:
        if relevant_from is not None:
            raise ValidationError(
                f"the profile {profile} says itself from which grade a document is relevant; "
                "the profile trec takes another threshold"
            )
        match = _NAME.fullmatch(name.strip())
        shown = by_name.get(_fold(match[1])) if match else None
        if match is None or shown is None or (match[2] is not None) != measures[shown].with_cutoff:
            raise _refuse(name, profile, measures)
        cutoff = int(match[2]) if match[2] else None
        if cutoff is not None and not 1 <= cutoff <= MAX_CUTOFF:
            raise _refuse(name, profile, measures)
        team = measures[shown]
        return describe_measure(
            shown if cutoff is None else f"{shown}@{cutoff}",
            team.kind,
            cutoff=cutoff,
            relevant_from=team.relevant_from,
            gain=team.gain,
            ideal=ideal if team.kind == "nDCG" else "truth",
            over_returned=team.over_returned,
            decimals=team.decimals,
        )

    return parse


def _fold(name: str) -> str:
    return _SYNONYMS.get(name.lower(), name.lower())


def _refuse(name: str, profile: str, measures: Mapping[str, TeamMeasure]) -> ValidationError:
    names = ", ".join(f"{name}@k" if measure.with_cutoff else name for name, measure in measures.items())
    return ValidationError(
        say(
            "The profile {profile} has no measure {name!r}. Choose one of: {names}",
            profile=profile,
            name=name,
            names=names,
        )
    )


def _parse_trec(name: str, relevant_from: int | None, ideal: Ideal) -> Measure:
    """Return the measure of this name in ir_measures."""
    measure = parse_measure_name(name, relevant_from=relevant_from)
    if ideal == "truth" or measure.kind != "nDCG":
        return measure
    if measure.cutoff is None:
        raise ValidationError(
            f"{name} with the ideal of the retrieved documents needs a cutoff, as in nDCG@10"
        )
    return describe_measure(measure.name, "nDCG", cutoff=measure.cutoff, gain=measure.gain, ideal=ideal)


TREC = Profile(
    name="trec",
    about=say("trec_eval -c, by the names of ir_measures"),
    order="score",
    measures=(
        "nDCG@10",
        "nDCG(dcg='exp-log2')@10",
        "P@5",
        "P@10",
        "R@10",
        "R@100",
        "F1@10",
        "AP",
        "RR",
        "Success@1",
        "Success@5",
        "Success@10",
        "ERR@10",
        "RBP",
        "Bpref",
        "Judged@10",
    ),
    mean_over="judged",
    parse=_parse_trec,
)
"""The scores of trec_eval, with the names of ir_measures.

Equal to `trec_eval -c -l N`: means over all queries with a qrel, where N is the lowest relevant grade.
Without `-c` (option `complete=False`) a system's means leave out the queries without results.
"""
NABLARCH = Profile(
    name="nablarch",
    about=say("the Nablarch search evaluator"),
    order="rank",
    measures=("MRR", "Recall@5", "NDCG@5", "Recall@10", "NDCG@10"),
    mean_over="all",
    parse=make_parser(
        "nablarch",
        {
            "MRR": TeamMeasure("RR", with_cutoff=False),
            "Recall": TeamMeasure("R", relevant_from=2),
            "NDCG": TeamMeasure("nDCG", gain="exponential"),
            "Precision": TeamMeasure("P", relevant_from=2),
        },
    ),
    targets=(
        Target("MRR", minimum=0.70),
        Target("Recall@5", minimum=0.80),
        Target("NDCG@5", minimum=0.70),
        Target("latency P50", maximum=200),
        Target("latency P95", maximum=300),
    ),
)
"""The Nablarch search evaluator (Java).

For MRR every document that the truth lists is relevant; for Recall@K and Precision@K documents of grade 2 or
more. The gain of NDCG@K is 2^grade - 1. A query without such a document adds 0 and still counts in the mean.
The team's text does not say which documents Precision@K counts; here they are the same as for Recall@K.
"""
LAW = Profile(
    name="law",
    about=say("the law-search evaluator"),
    order="rank",
    measures=("P@5", "Recall@10", "F1@10", "MAP", "NDCG@10", "MRR"),
    mean_over="listed",
    parse=make_parser(
        "law",
        {
            "P": TeamMeasure("P"),
            "Recall": TeamMeasure("R"),
            "F1": TeamMeasure("F1"),
            "MAP": TeamMeasure("AP", with_cutoff=False),
            "NDCG": TeamMeasure("nDCG"),
            "MRR": TeamMeasure("RR", with_cutoff=False),
        },
    ),
    targets=(
        Target("P@5", minimum=0.80),
        Target("Recall@10", minimum=0.75),
        Target("MAP", minimum=0.70),
        Target("NDCG@10", minimum=0.85),
        Target("MRR", minimum=0.80),
    ),
)
"""The law-search evaluator (Python).

Every document that the truth lists is relevant; the gain of NDCG@K is the grade. F1 is computed by query,
then averaged; AP is divided by the number of relevant documents.
"""

LONGEST_LIST = 1_000  # 2.0**1024 overflows


def list_positions(truth: Truth) -> Grades:
    """Return each relevant document's position from the end of its list, 0 for other judged documents."""
    positions: dict[str, dict[str, int]] = {}
    for query_id, documents in truth.grades.items():
        listed = sorted(
            (doc_id for doc_id, grade in documents.items() if grade >= 1),
            key=lambda doc_id: -documents[doc_id],
        )
        if len(listed) > LONGEST_LIST:
            raise ValidationError(
                say(
                    "{truth}: the profile survey takes up to {most:,} relevant documents for a query, found {found:,} for {query_id!r}",
                    truth=truth.name,
                    most=LONGEST_LIST,
                    found=len(listed),
                    query_id=query_id,
                )
            )
        positions[query_id] = dict.fromkeys(documents, 0) | {
            doc_id: len(listed) - position for position, doc_id in enumerate(listed)
        }
    return positions


SURVEY = Profile(
    name="survey",
    about=say("the survey-template search evaluator"),
    order="rank",
    measures=("Precision@5", "Recall@5", "NDCG@5", "Precision@10", "Recall@10", "NDCG@10"),
    mean_over="listed",
    parse=make_parser(
        "survey",
        {
            "Precision": TeamMeasure("P", relevant_from=1, decimals=2),
            "Recall": TeamMeasure("R", relevant_from=1, decimals=2),
            "NDCG": TeamMeasure("nDCG", relevant_from=1, gain="position"),
        },
    ),
    choose_grades=list_positions,
    needs_grades=False,
    notes=(say("mean, standard deviation and quartiles over queries are part of this team's report"),),
)
"""The survey-template search evaluator (Python).

It uses only lists of relevant documents, best first. Precision@K and Recall@K are rounded to two decimals by
query. The gain of NDCG@K is 2^position - 1, where position is the list's length for the first document and 1
for the last. A truth with grades becomes a list as in `ranked.json` of a release: by grade, equal grades in
the order of the truth.
"""
CODE = Profile(
    name="code",
    about=say("the code-search evaluator"),
    order="rank",
    measures=(
        "MRR",
        "MAP",
        "Hits@1",
        "Hits@3",
        "Hits@5",
        "P@5",
        "P_returned@5",
        "Recall@5",
        "F1@5",
        "NDCG@5",
        "NDCG@10",
        "TFFU",
    ),
    mean_over="listed",
    parse=make_parser(
        "code",
        {
            "MRR": TeamMeasure("RR", with_cutoff=False),
            "MAP": TeamMeasure("AP", with_cutoff=False),
            "Hits": TeamMeasure("Success"),
            "P": TeamMeasure("P"),
            "P_returned": TeamMeasure("P", over_returned=True),
            "Recall": TeamMeasure("R"),
            "F1": TeamMeasure("F1"),
            "NDCG": TeamMeasure("nDCG"),
            "TFFU": TeamMeasure("TFFU", with_cutoff=False),
        },
    ),
)
"""The code-search evaluator (TypeScript).

Every path that the truth expects is relevant; the gain of NDCG@K is the relevance. Precision is offered over
K and over the number of returned paths (`P_returned@K`), because the team's published figures do not show
which one it uses. TFFU is the time until the first expected path arrives, from the times in the run.
"""
DOCUMENT = Profile(
    name="document",
    about=say("document search: rank of the first expected document"),
    order="rank",
    measures=("FirstRank", "Found", "InTop@3", "InTop@10"),
    mean_over="listed",
    parse=make_parser(
        "document",
        {
            "FirstRank": TeamMeasure("FirstRank", with_cutoff=False),
            "Found": TeamMeasure("Success", with_cutoff=False),
            "InTop": TeamMeasure("Success"),
        },
    ),
)
"""Document search, scored by the rank of the first expected document.

FirstRank is undefined for a query without an expected document in its results; its mean is over the other
queries. Found and InTop@K are 0 or 1.
"""
PROFILES: tuple[Profile, ...] = (TREC, NABLARCH, LAW, SURVEY, CODE, DOCUMENT)
"""In the order in which they are shown."""
DEFAULT_PROFILE = TREC.name


def find_profile(name: str) -> Profile:
    """Return the profile of this name. Raises ValidationError with the known names."""
    for profile in PROFILES:
        if profile.name == name:
            return profile
    names = ", ".join(profile.name for profile in PROFILES)
    raise ValidationError(say("There is no profile {name!r}. Choose one of: {names}", name=name, names=names))
