"""Draw the page Help: purpose, keys, grades, recorded data, and what others see. Its texts are in `help_words.yaml`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from annotator.dataset.rubric_file import GENERAL, read_grade_template
from annotator.dataset.service import read_current_rubric
from annotator.domain.grades import Rubric, read_in_language
from annotator.web.guideline.reading import describe_missing
from annotator.web.kit.messages import current_language, read_words, tr
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.page_context import PageContext

WORDS = Path(__file__).parent / "help_words.yaml"


def draw(context: PageContext) -> None:
    words = read_words(WORDS)
    st.title(tr("Help"))
    with st.container(width=760):
        st.markdown(tr(words["purpose"]))
        _draw_sections(words["first"])
        st.header(tr("The grades"))
        _draw_grades(_find_rubric(context))
        if context.dataset is not None and context.role is not None:
            draw_link(context, "guideline")
        _draw_sections(words["after the grades"])
        if context.role in ("lead", "admin"):
            _draw_sections(words["for leads"], folded=True)
        _draw_sections(words["for all"])


def _draw_sections(sections: Iterable[Mapping[str, str | Sequence[str]]], *, folded: bool = False) -> None:
    """Draw the sections. `folded`: each behind a click."""
    for section in sections:
        (_, title), (kind, sentences) = section.items()
        with st.expander(tr(str(title))) if folded else st.container():
            if not folded:
                st.header(tr(str(title)))
            _draw_sentences(kind, sentences)


def _draw_sentences(kind: str, sentences: Iterable[str]) -> None:
    if kind == "keys":
        lines = [re.sub(r"&lt;(\S+?)&gt;", r"<kbd>\1</kbd>", escape(tr(one))) for one in sentences]
        st.html(f"<p>{'<br>'.join(lines)}</p>")
    else:
        mark = "- " if kind == "list" else ""
        st.markdown("\n".join(f"{mark}{tr(one)}" for one in sentences))


def _find_rubric(context: PageContext) -> Rubric:
    if context.dataset is None:
        return read_grade_template(GENERAL)
    _version, rubric = context.call(read_current_rubric, context.dataset)
    return rubric


def _draw_grades(rubric: Rubric) -> None:
    """Draw the grades in the reader's language as plain text, because a definition may contain markup."""
    reading = read_in_language(rubric, current_language())
    if reading.missing == "all":
        draw_note(describe_missing(reading, rubric.language))
    for definition in reading.rubric.grades:
        with st.container(border=True, gap="xxsmall"):
            st.text(f"{definition.grade} · {definition.name}")
            st.text(definition.definition)
