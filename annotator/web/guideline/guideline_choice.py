"""What a draft of the guideline answers: the decisions and questions that were chosen, and the examples taken from them.

They are kept with the draft, so a reload or a lost session loses nothing of them either: a line for each decision
(`pair revision`) and each question (`question number`).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from annotator.guideline.records import Lesson, Taught
from annotator.guideline.service import write_examples
from annotator.web.guideline.draft import CHOSEN, find_draft, read_typed, write_field
from annotator.web.kit.focus import note_press
from annotator.web.kit.messages import tr
from annotator.web.kit.shown_value import read_choice

if TYPE_CHECKING:
    from annotator.guideline.service import Version

MOST = 5_000
QUESTION = "question"
SAID = "lessons said"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Decisions by pair and revision, and questions by number."""

    decisions: frozenset[tuple[str, int]] = frozenset()
    questions: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.decisions) + len(self.questions)

    def change(
        self, decisions: Collection[tuple[str, int]], questions: Collection[int], *, to: bool
    ) -> "Chosen":
        """With these, or without them."""
        if to:
            return Chosen(self.decisions | set(decisions), self.questions | set(questions))
        return Chosen(self.decisions - set(decisions), self.questions - set(questions))


@dataclass(frozen=True, slots=True)
class Desk:
    """The session's draft of a dataset's next version, and the version it was begun from."""

    dataset: str
    base: "Version"

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


def read_chosen(text: str) -> Chosen:
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
    return Chosen(frozenset(decisions), frozenset(questions))


def write_chosen(chosen: Chosen) -> str:
    """For the draft."""
    lines = [f"{pair} {revision}" for pair, revision in sorted(chosen.decisions)]
    return "\n".join([*lines, *(f"{QUESTION} {number}" for number in sorted(chosen.questions))])


def list_choosable(lesson: Lesson) -> tuple[set[tuple[str, int]], set[int]]:
    """The decisions and questions of a lesson that no version answers yet."""
    open_cases = {(case.pair, case.revision) for case in lesson.cases if case.answered_in is None}
    return open_cases, {question.number for question in lesson.questions}


def name_choice(desk: Desk, what: str) -> str:
    """The name of a checkbox that says whether the draft answers something."""
    return f"chosen {desk.mark} {what}"


def choose(
    desk: Desk, decisions: Collection[tuple[str, int]], questions: Collection[int], what: str, key: str
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


def write_example(case: Taught) -> str:
    """The pair as an example of its grade: the document's title and why a lead decided so."""
    title = " ".join((case.title or case.doc_id).split())
    return write_examples([f"{title}: {case.rationale}" if case.rationale else title])


def is_example(desk: Desk, case: Taught) -> bool:
    """Whether it stands in the draft."""
    return f"\n{write_example(case)}\n" in f"\n{desk.read(f'positive{case.decided}')}\n"


def insert_example(desk: Desk, case: Taught) -> None:
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
