"""Draw the worklist of what disagreements say about the guideline, and what a draft answers of it.

Each entry says what decisions have in common, links to them, and can be chosen as answered by the next version; each
decision can become an example in the draft. The choices are kept with the draft, so a reload loses none of them: one
line per decision (`pair revision`) and per question (`question number`).
"""

from collections.abc import Collection
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from annotator.adjudication.queue_records import QueueFilter
from annotator.adjudication.records import CAUSE_NAMES
from annotator.guideline.feedback_service import list_lessons
from annotator.guideline.records import AskedQuestion, DecisionExample, GuidelineWorklist, Lesson
from annotator.guideline.service import write_examples
from annotator.web.adjudication.queue_url import QueueAddress, write_address
from annotator.web.agreement.links import write_link
from annotator.web.guideline.draft import CHOSEN, find_draft, read_typed, write_field
from annotator.web.kit.controls import find_key, note_press, read_choice
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.kit.text import show_as

if TYPE_CHECKING:
    from annotator.guideline.service import GuidelineVersion
    from annotator.web.page_context import PageContext


MOST = 5_000
QUESTION = "question"
SAID = "lessons said"


@dataclass(frozen=True, slots=True)
class ChosenExamples:
    """Decisions by pair and revision, and questions by number."""

    decisions: frozenset[tuple[str, int]] = frozenset()
    questions: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.decisions) + len(self.questions)

    def change(
        self, decisions: Collection[tuple[str, int]], questions: Collection[int], *, to: bool
    ) -> "ChosenExamples":
        """With these, or without them."""
        if to:
            return ChosenExamples(self.decisions | set(decisions), self.questions | set(questions))
        return ChosenExamples(self.decisions - set(decisions), self.questions - set(questions))


@dataclass(frozen=True, slots=True)
class DraftDesk:
    """The session's draft of a dataset's next version, and the version it was begun from."""

    dataset: str
    base: "GuidelineVersion"

    @property
    def mark(self) -> str:
        """Of the fields on the screen: a choice shown beside others of them is a new one."""
        return find_draft(self.dataset, self.base).mark

    def read(self, name: str) -> str:
        """What a field holds at this moment."""
        return read_typed(find_draft(self.dataset, self.base), self.base)[name]

    def write(self, name: str, text: str) -> None:
        """Only in a callback."""
        write_field(self.dataset, self.base, name, text)


def read_chosen(text: str) -> ChosenExamples:
    """From the draft; a line that nobody could have written here is left out."""
    decisions, questions = set(), set()
    for line in text.splitlines():
        name, _, number = line.partition(" ")
        if not number.isdecimal() or len(number) > 12 or not name:
            continue
        if name == QUESTION:
            questions.add(int(number))
        else:
            decisions.add((name, int(number)))
    return ChosenExamples(frozenset(decisions), frozenset(questions))


def write_chosen(chosen: ChosenExamples) -> str:
    """For the draft."""
    lines = [f"{pair} {revision}" for pair, revision in sorted(chosen.decisions)]
    return "\n".join([*lines, *(f"{QUESTION} {number}" for number in sorted(chosen.questions))])


def list_choosable(lesson: Lesson) -> tuple[set[tuple[str, int]], set[int]]:
    """The decisions and questions of a lesson that no version answers yet."""
    open_cases = {(case.pair, case.revision) for case in lesson.cases if case.answered_in is None}
    return open_cases, {question.number for question in lesson.questions}


def name_choice(desk: DraftDesk, what: str) -> str:
    """The name of a checkbox that says whether the draft answers something."""
    return f"chosen {desk.mark} {what}"


def choose(
    desk: DraftDesk, decisions: Collection[tuple[str, int]], questions: Collection[int], what: str, key: str
) -> None:
    """What the checkbox with this key says of them. Runs before the page is drawn again: a checkbox of the draft before, which the
    browser still shows at this moment, says nothing."""
    wanted = read_choice(name_choice(desk, what), key)
    if wanted is None:
        return
    changed = read_chosen(desk.read(CHOSEN)).change(decisions, questions, to=bool(wanted))
    if len(changed) > MOST:
        st.session_state[SAID] = tr(
            "A version can name at most {most:,} decisions. Nothing was chosen.", most=MOST
        )
        return
    desk.write(CHOSEN, write_chosen(changed))


def write_example(case: DecisionExample) -> str:
    """The pair as an example of its grade: the document's title and why a lead decided so."""
    title = " ".join((case.title or case.doc_id).split())
    return write_examples([f"{title}: {case.rationale}" if case.rationale else title])


def is_example(desk: DraftDesk, case: DecisionExample) -> bool:
    """Whether it stands in the draft."""
    return f"\n{write_example(case)}\n" in f"\n{desk.read(f'positive{case.decided}')}\n"


def insert_example(desk: DraftDesk, case: DecisionExample) -> None:
    """Put it under the examples of the grade that was decided, and choose the decision. Runs before the page is drawn again."""
    name = f"positive{case.decided}"
    before = desk.read(name).rstrip("\n")
    desk.write(name, f"{before}\n{write_example(case)}" if before else write_example(case))
    chosen = read_chosen(desk.read(CHOSEN)).change([(case.pair, case.revision)], (), to=True)
    desk.write(CHOSEN, write_chosen(chosen))
    st.session_state[SAID] = tr(
        "It stands among the examples of grade {grade} in your draft now.", grade=case.decided
    )
    note_press()


MOST_LESSONS, MOST_CASES = 30, 20


def draw_lessons(context: "PageContext", desk: DraftDesk) -> None:
    """The worklist: what waits first, what is answered last."""
    said = st.session_state.pop(SAID, None)
    if said:
        st.toast(said, icon=":material/school:")
    found = list_lessons(context.database, context.actor, desk.dataset, now=context.now)
    if not found.lessons:
        _draw_nothing(context, found)
        return
    waiting = tr_n(
        "{n:,} decision or question waits for the guideline.",
        "{n:,} decisions and questions wait for the guideline.",
        found.waiting,
    )
    st.html(f'<p class="annotator-step">{escape(waiting)}</p>')
    draw_note(
        tr(
            "Summed up from why annotators differed, as leads said when they decided. Choose what your next version answers; "
            "publishing it notes the decisions that led to it."
        )
    )
    open_ones = [lesson for lesson in found.lessons if lesson.open]
    for lesson in open_ones[:MOST_LESSONS]:
        _draw_lesson(desk, lesson)
    if len(found.lessons) > MOST_LESSONS:
        draw_note(tr("The whole list: annotator lessons DATASET"))
    answered = [lesson for lesson in found.lessons if not lesson.open]
    if answered:
        st.header(tr("Answered"))
        for lesson in answered[:MOST_LESSONS]:
            _draw_lesson(desk, lesson)


def say_apart(case: DecisionExample) -> str:
    """What annotators said of a pair, and what was decided: "1, 2 → 1"."""
    given = ", ".join(tr("unrateable") if one == "unrateable" else str(one) for one in case.grades)
    decided = tr("unrateable") if case.decided == "unrateable" else str(case.decided)
    return f"{given or '–'} → {decided}"


def link_case(dataset: str, case: DecisionExample | AskedQuestion) -> str:
    """HTML: the document, leading to the pair's page."""
    address = "/disagreements?" + urlencode({"dataset": dataset, "pair": case.pair})
    return write_link(case.title or case.doc_id, address)


def _draw_nothing(context: "PageContext", found: GuidelineWorklist) -> None:
    if found.decided:
        said = tr_n(
            "{n:,} dispute is decided. It has nothing that the guideline could say.",
            "{n:,} disputes are decided. They have nothing in common that the guideline could say.",
            found.decided,
        )
    else:
        said = tr("No dispute is decided yet.")
    how = tr("When you decide one, say why the annotators differed, and whether the guideline should say so.")
    st.text(join_sentences((said, how)))
    draw_link(context, "disagreements")


def _draw_lesson(desk: DraftDesk, lesson: Lesson) -> None:
    with st.container(border=True, gap="xsmall", key=f"lesson {lesson.key}"):
        links = _write_queue_link(desk.dataset, lesson)
        st.html(f'<p class="annotator-step">{escape(tr(lesson.sentence))}</p>')
        facts = [*_list_facts(lesson), *([links] if links else [])]
        if facts:
            st.html(f'<p class="annotator-note">{" · ".join(facts)}</p>')
        if lesson.open:
            _draw_choice(desk, lesson)
        label = tr_n("The decision", "The {n:,} decisions", len(lesson.cases))
        if lesson.questions:
            label = tr_n("The question", "The {n:,} questions", len(lesson.questions))
        shown = st.expander(label, key=f"lesson cases {lesson.key}", on_change="rerun")
        if shown.open:
            with shown:
                for case in lesson.cases[:MOST_CASES]:
                    _draw_case(desk, case)
                for question in lesson.questions[:MOST_CASES]:
                    st.html(_describe_question(desk.dataset, question))
                left = max(len(lesson.cases), len(lesson.questions)) - MOST_CASES
                if left > 0:
                    draw_note(tr_n("{n:,} more", "{n:,} more", left))


def _list_facts(lesson: Lesson) -> list[str]:
    """HTML: what else is known of it, in few words."""
    facts = []
    if lesson.asking and lesson.kind == "group":
        facts.append(
            tr_n(
                "{n:,} of them asks the guideline to say so",
                "{n:,} of them ask the guideline to say so",
                lesson.asking,
            )
        )
    done = len(lesson.cases) - sum(case.answered_in is None for case in lesson.cases)
    if lesson.answered_in:
        versions = ", ".join(map(str, lesson.answered_in))
        facts.append(tr("answered in version {version}", version=versions))
    elif done:
        facts.append(tr("{n:,} of {all:,} answered", n=done, all=len(lesson.cases)))
    return [escape(fact) for fact in facts]


def _draw_choice(desk: DraftDesk, lesson: Lesson) -> None:
    """Whether the next version answers it: all of its decisions, none, or some of them, which is said."""
    decisions, questions = list_choosable(lesson)
    chosen = read_chosen(desk.read(CHOSEN))
    taken = len(decisions & chosen.decisions) + len(questions & chosen.questions)
    key, value = find_key(name_choice(desk, lesson.key), taken == lesson.open)
    label = tr("The next version answers this")
    if 0 < taken < lesson.open:
        label = tr("The next version answers this ({n:,} of {all:,} chosen)", n=taken, all=lesson.open)
    st.checkbox(label, value, key=key, on_change=choose, args=(desk, decisions, questions, lesson.key, key))


def _draw_case(desk: DraftDesk, case: DecisionExample) -> None:
    st.html(_describe_case(desk.dataset, case))
    name = f"{case.pair} {case.revision}"
    with st.container(horizontal=True, vertical_alignment="center", key=f"lesson case {name}"):
        if case.answered_in is None:
            named = (case.pair, case.revision)
            is_chosen = named in read_chosen(desk.read(CHOSEN)).decisions
            key, value = find_key(name_choice(desk, name), is_chosen)
            st.checkbox(
                tr("The next version answers this decision"),
                value,
                key=key,
                on_change=choose,
                args=(desk, [named], (), name, key),
            )
        if case.decided == "unrateable":
            return
        if is_example(desk, case):
            draw_note(tr("Stands among the examples of grade {grade} in your draft", grade=case.decided))
            return
        st.button(
            tr("Insert as an example of grade {grade}", grade=case.decided),
            key=f"insert {name}",
            type="tertiary",
            icon=":material/add:",
            on_click=insert_example,
            args=(desk, case),
            width="content",
        )


def _describe_case(dataset: str, case: DecisionExample) -> str:
    """HTML: query, document, what was said and decided, and why."""
    facts = [escape(say_apart(case))]
    if case.cause is not None:
        facts.append(escape(tr(CAUSE_NAMES[case.cause])))
    if case.answered_in is not None:
        facts.append(escape(tr("answered in version {version}", version=case.answered_in)))
    rationale = show_as("said", case.rationale) if case.rationale else ""
    return (
        f'<p class="annotator-note" dir="auto">{escape(case.query)}</p>'
        f'<p class="annotator-step" dir="auto">{link_case(dataset, case)}</p>'
        f'<p class="annotator-note">{" · ".join(facts)}</p>{rationale}'
    )


def _describe_question(dataset: str, question: AskedQuestion) -> str:
    return (
        f'<p class="annotator-note" dir="auto">{escape(question.query)}</p>'
        f'<p class="annotator-step" dir="auto">{link_case(dataset, question)}</p>'
        f"{show_as('said', question.text)}{show_as('said', question.answer)}"
    )


def _write_queue_link(dataset: str, lesson: Lesson) -> str:
    """HTML: the way to the decided disputes of the same category and grades."""
    grades = lesson.apart if isinstance(lesson.apart, tuple) else None
    if lesson.kind != "group" or (lesson.category is None and grades is None):
        return ""
    wanted = QueueFilter(shown="decided", category=lesson.category, grades=grades)
    address = "/disagreements?" + urlencode({"dataset": dataset, **write_address(QueueAddress(wanted))})
    label = tr("All decided ones there, whatever the reason")
    return write_link(label, address, says=f"{label}: {tr(lesson.sentence)}")
