"""Help: what this is, the keys, the grades, what is recorded, and what others see. Short, on one page."""

import streamlit as st

from annotator.datasets.service import read_current_rubric
from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.web.page_context import PageContext

WHAT = """
Search results are only as good as what they are measured against. Here, people who know the subject grade
*pairs*: a query with one document that a search proposed for it. Two or more grade each pair without seeing
each other's answers; where they differ, a lead settles the grade and says why. The settled grades are
published as a release, which evaluation programs read.
"""
KEYS = """
<p><kbd>0</kbd> <kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> give the grade and show the next pair.
<kbd>U</kbd> cannot be rated. <kbd>L</kbd> puts the pair off for later.
<kbd>Z</kbd> or <kbd>Backspace</kbd> goes back to the pair before; a grade there changes yours.
<kbd>N</kbd> goes to the note, <kbd>Esc</kbd> returns to the keys.</p>
"""
RECORDED = """
- Every answer with its time, how long the pair was on screen, your note, and the version of the guideline. A changed
  grade is added to the record; the earlier one stays in it.
- A grade counts once the server has it. Until then it is kept in this browser, and the page says how many are
  *not saved yet*; you can close the tab, they are sent when you come back.
- Your sign-ins end by themselves after some hours, and on the page *Account* at any time.
"""
SEEN = """
- **Other annotators** see neither your grades nor your notes.
- **Leads** see who has judged how much, how well annotators agree, and, once a pair has been judged, its grades
  and notes. When they settle a disagreement, the annotators are shown without names.
- **Releases** carry numbers (annotator_1, annotator_2 …), never names.
- You do not see which search proposed a document, or at what rank: it would sway you.
"""


def draw(context: PageContext) -> None:
    st.title("Help")
    with st.container(width=760):
        st.markdown(WHAT)
        st.header("The keys")
        st.html(KEYS)
        st.header("The grades")
        _draw_grades(_find_rubric(context))
        st.header("What is recorded")
        st.markdown(RECORDED)
        st.header("What others see")
        st.markdown(SEEN)


def _find_rubric(context: PageContext) -> Rubric:
    if context.dataset is None:
        return DEFAULT_RUBRIC
    _version, rubric = read_current_rubric(context.database, context.actor, context.dataset)
    return rubric


def _draw_grades(rubric: Rubric) -> None:
    """As plain text: a definition may hold any characters."""
    for definition in rubric.grades:
        with st.container(border=True, gap="xxsmall"):
            st.text(f"{definition.grade} · {definition.name}")
            st.text(definition.definition)
