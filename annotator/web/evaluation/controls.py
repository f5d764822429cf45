"""Draw the controls of the page Evaluation. The URL keeps their values."""

import streamlit as st

from annotator.evaluation.profiles import PROFILES, find_profile
from annotator.evaluation.service import EvaluationChoices
from annotator.web.evaluation.choice import EvaluationChoice, list_default_measures, list_offered_measures
from annotator.web.kit.controls import apply_url_choice
from annotator.web.kit.links import name_field
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.words import name_word

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
    """Forget the chosen measures, because another profile has other names for them."""
    st.session_state.pop("measures", None)
    if "measures" in st.query_params:
        del st.query_params["measures"]
