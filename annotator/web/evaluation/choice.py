"""The choices behind an evaluation on the page, and their form in a URL."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from annotator.evaluation.evaluate import EvaluationOptions
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.service import EvaluationRequest

DEFAULT_PROFILE = "trec"
DEFAULT_MEASURES = {DEFAULT_PROFILE: ("nDCG@10", "nDCG(dcg='exp-log2')@10", "P@5", "R@10", "AP", "RR")}
"""Fewer measures than the profile's default, so that the page stays readable; other profiles show all."""


class AddressParameters(Protocol):
    """The parameters of a URL."""

    def get(self, key: str) -> str | None: ...

    def getlist(self, key: str) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class EvaluationChoice:
    """What to score and how. Empty `systems`: all; empty `measures`: those of `list_default_measures`."""

    version: str | None = None  # None: the grades of today
    profile: str = DEFAULT_PROFILE
    measures: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    baseline: str | None = None  # None: every two systems are compared
    by: str | None = None

    def make_request(self) -> EvaluationRequest:
        """Return the request for the evaluation service."""
        return EvaluationRequest(
            profile=self.profile,
            scoring=ScoringOptions(measures=self.measures or list_default_measures(self.profile)),
            options=EvaluationOptions(baseline=self.baseline, group_by=(self.by,) if self.by else ()),
        )

    def list_url_parameters(self) -> list[tuple[str, str]]:
        """Return the URL parameters that `read_choice` reads."""
        single = (
            ("version", self.version),
            ("profile", self.profile if self.profile != DEFAULT_PROFILE else None),
            ("baseline", self.baseline),
            ("by", self.by),
        )
        return [
            *((name, value) for name, value in single if value is not None),
            *(("measures", measure) for measure in self.measures),
            *(("systems", system) for system in self.systems),
        ]


def list_default_measures(profile: str) -> tuple[str, ...]:
    """Return the measures that the page shows by default."""
    return DEFAULT_MEASURES.get(profile) or find_profile(profile).measures


def list_offered_measures(profile: str, chosen: Sequence[str] = ()) -> list[str]:
    """Return the measures to choose from: the profile's defaults, then other `chosen` ones."""
    return list(dict.fromkeys([*find_profile(profile).measures, *chosen]))


def read_choice(parameters: AddressParameters) -> EvaluationChoice:
    """Return the choice in the parameters of a URL."""
    return EvaluationChoice(
        version=parameters.get("version"),
        profile=parameters.get("profile") or DEFAULT_PROFILE,
        measures=tuple(parameters.getlist("measures")),
        systems=tuple(parameters.getlist("systems")),
        baseline=parameters.get("baseline"),
        by=parameters.get("by"),
    )
