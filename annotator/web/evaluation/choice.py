"""The choices behind an evaluation on the page: their controls, and their form in a URL, which keeps them.

Also keeps the evaluations of these choices in memory (`web/kit/kept_results.py` has the rule).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import streamlit as st
from starlette.datastructures import QueryParams

from annotator.domain.people import Actor
from annotator.evaluation.evaluate import EvaluationOptions
from annotator.evaluation.profiles import DEFAULT_PROFILE, PROFILES, find_profile
from annotator.evaluation.run_findings import LeadingSystem
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.service import (
    EvaluationChoices,
    EvaluationRequest,
    EvaluationResult,
    evaluate_dataset,
    find_leader,
    read_stamp,
)
from annotator.storage.database import Database
from annotator.web.kit.controls import apply_url_choice
from annotator.web.kit.kept_results import KeptResult, KeptResults
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.words import name_field, name_word

DEFAULT_MEASURES = {DEFAULT_PROFILE: ("nDCG@10", "nDCG(dcg='exp-log2')@10", "P@5", "R@10", "AP", "RR")}
"""Fewer measures than the profile's default, so that the page stays readable; other profiles show all."""


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
        return EvaluationRequest(
            profile=self.profile,
            scoring=ScoringOptions(measures=self.measures or list_default_measures(self.profile)),
            options=EvaluationOptions(baseline=self.baseline, group_by=(self.by,) if self.by else ()),
        )

    def list_url_parameters(self) -> list[tuple[str, str]]:
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
    return DEFAULT_MEASURES.get(profile) or find_profile(profile).measures


def list_offered_measures(profile: str, chosen: Sequence[str] = ()) -> list[str]:
    """Return the measures to choose from: the profile's defaults, then other `chosen` ones."""
    return list(dict.fromkeys([*find_profile(profile).measures, *chosen]))


def read_choice(parameters: QueryParams) -> EvaluationChoice:
    return EvaluationChoice(
        version=parameters.get("version"),
        profile=parameters.get("profile") or DEFAULT_PROFILE,
        measures=tuple(parameters.getlist("measures")),
        systems=tuple(parameters.getlist("systems")),
        baseline=parameters.get("baseline"),
        by=parameters.get("by"),
    )


PRESENT, EACH_OTHER, NOTHING = "present state", "each other", "nothing"
PROFILE_NAMES = [profile.name for profile in PROFILES]


def draw_choice(choices: EvaluationChoices, default_profile: str) -> EvaluationChoice:
    """Draw the controls and return the choice. `default_profile`: the profile of the dataset."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        version = _choose(tr("Grades"), [PRESENT, *reversed(choices.versions)], "version")
        profile = st.selectbox(
            tr("Conventions"),
            PROFILE_NAMES,
            PROFILE_NAMES.index(default_profile),
            key="profile",
            bind="query-params",
            on_change=_forget_measures,
            width=150,
        )
        baseline = _choose(tr("Compare systems with"), [EACH_OTHER, *choices.systems], "baseline")
        by = _choose(tr("Group by"), [NOTHING, *choices.fields], "by")
    with st.expander(tr("Measures and systems"), key="chosen-measures"):
        profile = profile or PROFILE_NAMES[0]
        chosen = st.session_state.get("measures") or st.query_params.get_all("measures")
        measures = st.multiselect(
            tr("Measures"),
            list_offered_measures(profile, [str(name) for name in chosen]),
            default=list_default_measures(profile),
            key="measures",
            bind="query-params",
            accept_new_options=True,
        )
        systems = st.multiselect(
            tr("Systems to compare"),
            list(choices.systems),
            default=list(choices.systems),
            key="systems",
            bind="query-params",
        )
        draw_note(f"{tr('Conventions')}: {tr(find_profile(profile).about)}")
    everything = list(choices.systems)
    return EvaluationChoice(
        version=None if version == PRESENT else version,
        profile=profile,
        measures=() if tuple(measures) == list_default_measures(profile) else tuple(map(str, measures)),
        systems=() if sorted(systems) == sorted(everything) else tuple(systems),
        baseline=None if baseline == EACH_OTHER or (systems and baseline not in systems) else baseline,
        by=None if by == NOTHING else by,
    )


def _choose(label: str, options: list[str], key: str) -> str:
    name = name_field if key == "by" else name_word
    apply_url_choice(key, options, name)
    chosen = st.selectbox(label, options, format_func=name, key=key, bind="query-params", width=180)
    return chosen or options[0]


def _forget_measures() -> None:
    st.session_state.pop("measures", None)
    if "measures" in st.query_params:
        del st.query_params["measures"]


QUICK = 0.5  # seconds: a result that took less is recomputed whenever the data has changed

LEADERS: KeptResults[LeadingSystem] = KeptResults(most=8)
"""The leading system of each dataset, by database, dataset and reader (`FigureStamp`)."""


def find_kept_leader(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> KeptResult[LeadingSystem]:
    """Return the leading system from the cache, or find it now. Raises NotAllowed unless the actor is a lead."""
    stamp = read_stamp(database, actor, dataset)
    return LEADERS.find(
        (database, dataset, stamp.reader),
        stamp,
        lambda: find_leader(database, actor, dataset),
        now=now,
        quick=QUICK,
    )


EVALUATIONS: KeptResults[EvaluationResult] = KeptResults(most=8)
"""The evaluations of this process, by database, dataset, choice and reader (`FigureStamp`)."""


def find_evaluation(
    database: Database,
    actor: Actor,
    dataset: str,
    choice: EvaluationChoice,
    *,
    now: datetime,
    anew: bool = False,
    announce: Callable[[], None] | None = None,
) -> KeptResult[EvaluationResult]:
    """Return the evaluation from the cache, or compute it now (`anew`: in any case).

    `announce` is called before it is computed. Raises NotAllowed unless the actor is a lead.
    """

    def evaluate() -> EvaluationResult:
        if announce is not None:
            announce()
        return evaluate_dataset(
            database,
            actor,
            dataset,
            choice.make_request(),
            version=choice.version,
            systems=choice.systems,
        )

    stamp = read_stamp(database, actor, dataset)
    return EVALUATIONS.find(
        (database, dataset, choice, stamp.reader), stamp, evaluate, now=now, quick=QUICK, anew=anew
    )
