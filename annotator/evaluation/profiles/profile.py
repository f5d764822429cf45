"""Define a profile: the conventions of one team's evaluator, as data that can be printed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.evaluation.records import Gain, Grades, Ideal, Kind, Measure, Order, Truth
from annotator.evaluation.scores.measures import MAX_CUTOFF, describe_measure

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
            None if measure.kind != "nDCG" else _describe_ideal(measure),
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


def _describe_ideal(measure: Measure) -> str:
    return say("from the truth") if measure.ideal == "truth" else NOT_COMPARABLE


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
