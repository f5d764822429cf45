"""Draw the page New dataset, for admins of every dataset: name, settings, and grades from a template.

A template fills in grades, evaluator and requirements, and everything can be edited. The button stores
everything with `create_dataset`, as `annotator dataset create` does; nothing is stored earlier. Each error is
shown below its field.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import streamlit as st

from annotator.dataset.rubric_file import GENERAL, GRADE_TEMPLATES, read_grade_template
from annotator.dataset.service import check_new_name, create_dataset, make_default_dataset
from annotator.dataset.settings import NO_REQUIREMENTS, TEMPLATES, read_setting
from annotator.domain.errors import ConflictError, ValidationError
from annotator.domain.grades import GradeDefinition, Rubric, choose_languages
from annotator.domain.ground_truth import PROFILE_NAMES
from annotator.domain.messages import LANGUAGES, say
from annotator.domain.settling import MOST
from annotator.web.dataset.words import NONE_CHOSEN, PROFILE_WORDS, REQUIREMENT_WORDS
from annotator.web.guideline.reading import draw_outdated_translations
from annotator.web.kit.messages import LANGUAGES as OWN_NAMES
from annotator.web.kit.messages import current_language, show_refusal, tr
from annotator.web.kit.page_parts import draw_note, draw_problem, find_page
from annotator.web.page_context import PageContext

TEMPLATE_WORDS = {
    GENERAL: say("General relevance"),
    "nablarch": say("Framework documentation (Nablarch)"),
    "law": say("Law search"),
}
PROFILE_OF = {GENERAL: "trec", "nablarch": "nablarch", "law": "law"}
LANGUAGE_OF = {GENERAL: "", "nablarch": "ja", "law": "ko"}
REFUSED = "new dataset refused"


def draw(context: PageContext) -> None:
    st.title(tr("New dataset"))
    if context.person.role_on(None) != "admin":
        st.info(tr("Only an admin of all datasets can create one. Ask your admin."), icon=":material/info:")
        return
    refused: Mapping[str, str] = st.session_state.pop(REFUSED, {})
    with st.container(width=720):
        name, title = _draw_names(context, refused)
        template = _draw_template()
        settings = _draw_settings(template, context)
        rubric = _draw_grades(template, refused)
        draw_note(tr("Everything but the name can be changed later on the pages Settings and Guideline."))
        if refused:
            st.error(tr("Not created yet: check the fields marked above."), icon=":material/error:")
        if st.button(tr("Create dataset"), type="primary", icon=":material/add:"):
            _create(context, name, {"title": title or name, **settings}, rubric)


def _draw_names(context: PageContext, refused: Mapping[str, str]) -> tuple[str, str]:
    name = st.text_input(
        tr("Name"),
        key="new_name",
        max_chars=100,
        live=True,
        autocomplete="off",
        help=tr("Used in addresses, commands and folders, so it cannot be changed later."),
    ).strip()
    problem = (
        _find_problem(check_new_name, context.database, context.actor, name) if name else refused.get("name")
    )
    if problem:
        draw_problem(problem)
    else:
        draw_note(tr("Letters, digits, - _ and . without spaces."))
    title = st.text_input(tr("Title"), key="new_title", autocomplete="off", placeholder=name)
    draw_note(tr("Shown to people. If empty, the name is shown."))
    return name, title.strip()


def _find_problem(check: Callable[..., object], *values: object) -> str | None:
    try:
        check(*values)
    except (ValidationError, ConflictError) as error:
        return show_refusal(error)
    return None


def _draw_template() -> str:
    template = st.segmented_control(
        tr("Start from"),
        GRADE_TEMPLATES,
        default=GENERAL,
        required=True,
        key="new_template",
        format_func=lambda name: tr(TEMPLATE_WORDS[name]),
    )
    draw_note(tr("A template fills in the fields below; you can edit all of them."))
    return template or GENERAL


def _draw_settings(template: str, context: PageContext) -> dict[str, str]:
    defaults = make_default_dataset("new", now=context.now)
    left, right = st.columns(2)
    with left:
        language = st.text_input(
            tr("Main language of the documents"),
            LANGUAGE_OF[template],
            key=f"new_language {template}",
            autocomplete="off",
            help=tr("A language tag such as ja, ko or en. It may stay empty."),
        )
        if problem := _find_problem(read_setting, "language", language):
            draw_problem(problem)
        overlap = st.number_input(
            tr("Judgments per pair"),
            1,
            MOST,
            defaults.overlap,
            key="new_overlap",
            help=tr("How many annotators judge each pair. Agreement needs at least 2."),
        )
        kappa = st.number_input(
            tr("Target for Cohen's κ"),
            -1.0,
            1.0,
            defaults.kappa_target,
            0.05,
            key="new_kappa",
            help=tr("The agreement that a release needs."),
        )
    with right:
        profile = st.selectbox(
            tr("Evaluator"),
            PROFILE_NAMES,
            PROFILE_NAMES.index(PROFILE_OF[template]),
            key=f"new_profile {template}",
            format_func=lambda name: tr(PROFILE_WORDS[name]),
            help=tr("The page Evaluation shows the measures of this evaluator first."),
        )
        choices = (NO_REQUIREMENTS, *TEMPLATES)
        requirements = st.selectbox(
            tr("Requirements"),
            choices,
            choices.index(template) if template in choices else 0,
            key=f"new_requirements {template}",
            format_func=lambda name: tr(REQUIREMENT_WORDS.get(name, NONE_CHOSEN)),
            help=tr("What the queries and grades must cover before a release. You can set your own later."),
        )
    return {
        "language": language.strip(),
        "overlap": str(overlap),
        "kappa_target": str(kappa),
        "profile": profile,
        "requirements": requirements,
    }


def _draw_grades(template: str, refused: Mapping[str, str]) -> Rubric:
    st.header(tr("Grades"))
    draw_note(tr("Annotators see these definitions while they judge."))
    own, others = _draw_languages()
    ready = choose_languages(read_grade_template(template), own, others)
    names = [OWN_NAMES[tag] for tag in ready.languages]
    tabs = st.tabs(names, default=_find_refused_language(ready, refused)) if others else [st.container()]
    texts = []
    for of_language, tab in zip((ready, *ready.translations), tabs, strict=True):
        with tab:
            texts.append(_draw_texts(template, of_language, refused))
    rubric = replace(texts[0], translations=tuple(texts[1:]))
    draw_outdated_translations(ready, rubric)
    return rubric


def _draw_languages() -> tuple[str, Collection[str]]:
    """Draw the choice of languages. Return (authoritative language, languages of translations)."""
    left, right = st.columns(2)
    with left:
        own = st.selectbox(
            tr("Language of the grades and the guideline"),
            LANGUAGES,
            LANGUAGES.index(current_language()),
            key="new_grades_language",
            format_func=lambda tag: OWN_NAMES[tag],
            help=tr(
                "The authoritative language. Releases show it, and annotators without a translation read it."
            ),
        )
    with right:
        others = [tag for tag in LANGUAGES if tag != own]
        chosen = st.pills(
            tr("Translations"),
            others,
            selection_mode="multi",
            default=others,
            key=f"new_grades_translations {own}",
            format_func=lambda tag: OWN_NAMES[tag],
            help=tr("Each annotator reads the grades in the language of the pages that they chose."),
        )
    return own, chosen


def _find_refused_language(rubric: Rubric, refused: Mapping[str, str]) -> str:
    """Return the name of the first language with a refused grade, else of the authoritative language."""
    tags = [field.split(" ")[1] for field in refused if " " in field]
    return OWN_NAMES[next((tag for tag in rubric.languages if tag in tags), rubric.language)]


def _draw_texts(template: str, rubric: Rubric, refused: Mapping[str, str]) -> Rubric:
    grades = []
    for definition in reversed(rubric.grades):
        with st.container(border=True, gap="small"):
            grades.append(_draw_grade(f"{template} {rubric.language}", definition, refused, rubric.language))
    with st.expander(tr("Guideline: how to judge")):
        guideline = st.text_area(
            tr("Guideline (Markdown)"),
            rubric.guideline,
            key=f"new_guideline {template} {rubric.language}",
            height=260,
        )
    return Rubric(tuple(reversed(grades)), guideline, rubric.title, language=rubric.language)


def _draw_grade(
    template: str, definition: GradeDefinition, refused: Mapping[str, str], language: str
) -> GradeDefinition:
    number = definition.grade
    name = st.text_input(
        tr("Grade {grade}: name", grade=number), definition.name, key=f"new_grade {template} {number}"
    )
    if f"name {language} {number}" in refused:
        draw_problem(refused[f"name {language} {number}"])
    meaning = st.text_area(
        tr("Grade {grade}: definition", grade=number),
        definition.definition,
        key=f"new_definition {template} {number}",
        height=70,
    )
    if f"definition {language} {number}" in refused:
        draw_problem(refused[f"definition {language} {number}"])
    return GradeDefinition(number, name.strip(), meaning.strip())


def _create(context: PageContext, name: str, settings: Mapping[str, str], rubric: Rubric) -> None:
    refused = _find_empty(name, rubric)
    if problem := _find_problem(read_setting, "language", settings["language"]):
        refused["language"] = problem
    if not refused:
        try:
            context.call(create_dataset, name, now=context.now, settings=settings, rubric=rubric)
        except (ValidationError, ConflictError) as error:
            refused = {"name": show_refusal(error)}
    if refused:
        st.session_state[REFUSED] = refused
        st.rerun()
    st.switch_page(find_page("import"), query_params={"dataset": name})


def _find_empty(name: str, rubric: Rubric) -> dict[str, str]:
    refused = {} if name else {"name": tr("Give the dataset a name.")}
    for texts in (rubric, *rubric.translations):
        for definition in texts.grades:
            field = f"{texts.language} {definition.grade}"
            if not definition.name:
                refused[f"name {field}"] = tr("Give this grade a name.")
            if not definition.definition:
                refused[f"definition {field}"] = tr("Describe what this grade means.")
    return refused
