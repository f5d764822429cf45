"""Draw the worklist from disagreements, and choose the entries that a draft answers.

Each entry describes decisions with something in common and links to them. A lead can choose it as answered by
the next version, or add a decision as an example to the draft. The choices are stored with the draft and
survive a reload: one line per decision (`pair revision`) and per question (`question number`).
"""

from collections.abc import Collection
from dataclasses import dataclass
from html import escape

import streamlit as st

from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.records import CAUSE_NAMES
from annotator.guideline.feedback_service import list_worklist
from annotator.guideline.records import AskedQuestion, DecisionExample, GuidelineWorklist, WorklistItem
from annotator.guideline.service import GuidelineVersion
from annotator.guideline.validation import write_examples
from annotator.web.adjudication.queue_url import QueueAddress, write_address
from annotator.web.guideline.draft import CHOSEN, find_draft, read_typed, write_field
from annotator.web.kit.controls import find_key, note_press, read_choice
from annotator.web.kit.messages import join_names, join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.kit.tables import write_link
from annotator.web.kit.text import show_as
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext

MOST = 5_000
QUESTION = "question"
SAID = "worklist message"


@dataclass(frozen=True, slots=True)
class ChosenExamples:
    """The decisions (pair and revision) and questions (number) that the draft answers."""

    decisions: frozenset[tuple[str, int]] = frozenset()
    questions: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.decisions) + len(self.questions)

    def change(
        self, decisions: Collection[tuple[str, int]], questions: Collection[int], *, to: bool
    ) -> "ChosenExamples":
        """Return the choice with these added (`to` True) or removed."""
        if to:
            return ChosenExamples(self.decisions | set(decisions), self.questions | set(questions))
        return ChosenExamples(self.decisions - set(decisions), self.questions - set(questions))


@dataclass(frozen=True, slots=True)
class DraftDesk:
    """Access to the session's draft of a dataset's next version. `base`: its base version."""

    dataset: str
    base: GuidelineVersion

    @property
    def mark(self) -> str:
        """Return the draft's mark, which is part of every widget key."""
        return find_draft(self.dataset, self.base).mark

    def read(self, name: str) -> str:
        return read_typed(find_draft(self.dataset, self.base), self.base)[name]

    def write(self, name: str, text: str) -> None:
        """Set a field of the draft. Call it only in a callback."""
        write_field(self.dataset, self.base, name, text)


def read_chosen(text: str) -> ChosenExamples:
    """Return the choice stored in the draft. Skips invalid lines."""
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
    lines = [f"{pair} {revision}" for pair, revision in sorted(chosen.decisions)]
    return "\n".join([*lines, *(f"{QUESTION} {number}" for number in sorted(chosen.questions))])


def list_choosable(item: WorklistItem) -> tuple[set[tuple[str, int]], set[int]]:
    """Return the decisions and questions of an item that no version answers yet."""
    open_decisions = {
        (decision.pair, decision.revision) for decision in item.decisions if decision.answered_in is None
    }
    return open_decisions, {question.number for question in item.questions}


def name_choice(desk: DraftDesk, item_key: str) -> str:
    return f"chosen {desk.mark} {item_key}"


def choose(
    desk: DraftDesk,
    decisions: Collection[tuple[str, int]],
    questions: Collection[int],
    item_key: str,
    key: str,
) -> None:
    """Add or remove the decisions of a checkbox. A callback.

    Ignores a checkbox of an earlier draft, which the browser may still show. Refuses more than MOST
    decisions.
    """
    wanted = read_choice(name_choice(desk, item_key), key)
    if wanted is None:
        return
    changed = read_chosen(desk.read(CHOSEN)).change(decisions, questions, to=bool(wanted))
    if len(changed) > MOST:
        st.session_state[SAID] = tr(
            "A version can answer at most {most:,} decisions. Nothing was selected.", most=MOST
        )
        return
    desk.write(CHOSEN, write_chosen(changed))


def write_example(decision: DecisionExample) -> str:
    """Return the pair as an example of its grade: document title and rationale."""
    title = " ".join((decision.title or decision.doc_id).split())
    return write_examples([f"{title}: {decision.rationale}" if decision.rationale else title])


def is_example(desk: DraftDesk, decision: DecisionExample) -> bool:
    return f"\n{write_example(decision)}\n" in f"\n{desk.read(f'positive{decision.decided}')}\n"


def insert_example(desk: DraftDesk, decision: DecisionExample) -> None:
    """Add the decision to the examples of its grade in the draft, and choose it. A callback."""
    name = f"positive{decision.decided}"
    before = desk.read(name).rstrip("\n")
    desk.write(name, f"{before}\n{write_example(decision)}" if before else write_example(decision))
    chosen = read_chosen(desk.read(CHOSEN)).change([(decision.pair, decision.revision)], (), to=True)
    desk.write(CHOSEN, write_chosen(chosen))
    st.session_state[SAID] = tr(
        "Added to the examples of grade {grade} in your draft.", grade=decision.decided
    )
    note_press()


MOST_ITEMS, MOST_DECISIONS = 30, 20


def draw_worklist(context: PageContext, desk: DraftDesk) -> None:
    message = st.session_state.pop(SAID, None)
    if message:
        st.toast(message, icon=":material/school:")
    worklist = context.call(list_worklist, desk.dataset, now=context.now)
    if not worklist.items:
        _draw_nothing(context, worklist)
        return
    waiting = tr_n(
        "{n:,} decision or question to include in the guideline",
        "{n:,} decisions and questions to include in the guideline",
        worklist.waiting,
    )
    st.html(f'<p class="annotator-step">{escape(waiting)}</p>')
    draw_note(
        tr(
            "Grouped by the reasons leads gave for disagreements. Select what your next version answers. "
            "The published version lists these decisions."
        )
    )
    open_ones = [item for item in worklist.items if item.open]
    answered = [item for item in worklist.items if not item.open]
    shown: int | None = MOST_ITEMS
    if max(len(open_ones), len(answered)) > MOST_ITEMS:
        every = tr("Show all ({n:,})", n=len(worklist.items))
        shown = None if st.toggle(every, key="all lessons") else MOST_ITEMS
    for item in open_ones[:shown]:
        _draw_item(desk, item)
    if answered:
        st.header(tr("Answered"))
        for item in answered[:shown]:
            _draw_item(desk, item)


def describe_judgments(decision: DecisionExample) -> str:
    """Return the judgments of a pair and the decision, as "1, 2 → 1"."""
    given = join_names(
        tr("cannot rate") if grade == "unrateable" else str(grade) for grade in decision.grades
    )
    decided = tr("cannot rate") if decision.decided == "unrateable" else str(decision.decided)
    return f"{given or '–'} → {decided}"


def link_pair(dataset: str, item: DecisionExample | AskedQuestion) -> str:
    """Return HTML: the document's title, linked to the pair on the page Disagreements."""
    address = make_url("/disagreements", dataset=dataset, pair=item.pair)
    return write_link(item.title or item.doc_id, address)


def _draw_nothing(context: PageContext, worklist: GuidelineWorklist) -> None:
    if worklist.decided:
        message = tr_n(
            "{n:,} disagreement is decided. It needs nothing from the guideline.",
            "{n:,} disagreements are decided. They need nothing from the guideline.",
            worklist.decided,
        )
    else:
        message = tr("No disagreements are decided yet.")
    how = tr(
        "When you decide a disagreement, choose why the annotators differed and whether to include "
        "the rule in the guideline."
    )
    st.text(join_sentences((message, how)))
    draw_link(context, "disagreements")


def _draw_item(desk: DraftDesk, item: WorklistItem) -> None:
    with st.container(border=True, gap="xsmall", key=f"item {item.key}"):
        links = _write_queue_link(desk.dataset, item)
        st.html(f'<p class="annotator-step">{escape(tr(item.sentence))}</p>')
        facts = [*_list_facts(item), *([links] if links else [])]
        if facts:
            st.html(f'<p class="annotator-note">{" · ".join(facts)}</p>')
        if item.open:
            _draw_choice(desk, item)
        label = tr_n("{n:,} decision", "{n:,} decisions", len(item.decisions))
        if item.questions:
            label = tr_n("{n:,} question", "{n:,} questions", len(item.questions))
        shown = st.expander(label, key=f"item cases {item.key}", on_change="rerun")
        if shown.open:
            with shown:
                for decision in item.decisions[:MOST_DECISIONS]:
                    _draw_decision(desk, decision)
                for question in item.questions[:MOST_DECISIONS]:
                    st.html(_describe_question(desk.dataset, question))
                left = max(len(item.decisions), len(item.questions)) - MOST_DECISIONS
                if left > 0:
                    draw_note(tr_n("{n:,} more", "{n:,} more", left))


def _list_facts(item: WorklistItem) -> list[str]:
    facts = []
    if item.asking and item.kind == "group":
        facts.append(
            tr_n(
                "{n:,} marked for the guideline",
                "{n:,} marked for the guideline",
                item.asking,
            )
        )
    done = len(item.decisions) - sum(decision.answered_in is None for decision in item.decisions)
    if item.answered_in:
        versions = join_names(map(str, item.answered_in))
        facts.append(tr("answered in version {version}", version=versions))
    elif done:
        facts.append(tr("{n:,} of {all:,} answered", n=done, all=len(item.decisions)))
    return [escape(fact) for fact in facts]


def _draw_choice(desk: DraftDesk, item: WorklistItem) -> None:
    """Draw a checkbox for all decisions of the item. Its label says if only some are chosen."""
    decisions, questions = list_choosable(item)
    chosen = read_chosen(desk.read(CHOSEN))
    taken = len(decisions & chosen.decisions) + len(questions & chosen.questions)
    key, value = find_key(name_choice(desk, item.key), taken == item.open)
    label = tr("Answered in the next version")
    if 0 < taken < item.open:
        label = tr("Answered in the next version ({n:,} of {all:,} selected)", n=taken, all=item.open)
    st.checkbox(label, value, key=key, on_change=choose, args=(desk, decisions, questions, item.key, key))


def _draw_decision(desk: DraftDesk, decision: DecisionExample) -> None:
    st.html(_describe_decision(desk.dataset, decision))
    name = f"{decision.pair} {decision.revision}"
    with st.container(horizontal=True, vertical_alignment="center", key=f"item case {name}"):
        if decision.answered_in is None:
            named = (decision.pair, decision.revision)
            is_chosen = named in read_chosen(desk.read(CHOSEN)).decisions
            key, value = find_key(name_choice(desk, name), is_chosen)
            st.checkbox(
                tr("This decision is answered in the next version"),
                value,
                key=key,
                on_change=choose,
                args=(desk, [named], (), name, key),
            )
        if decision.decided == "unrateable":
            return
        if is_example(desk, decision):
            draw_note(tr("Among the examples of grade {grade} in your draft", grade=decision.decided))
            return
        st.button(
            tr("Add as an example of grade {grade}", grade=decision.decided),
            key=f"insert {name}",
            type="tertiary",
            icon=":material/add:",
            on_click=insert_example,
            args=(desk, decision),
            width="content",
        )


def _describe_decision(dataset: str, decision: DecisionExample) -> str:
    facts = [escape(describe_judgments(decision))]
    if decision.cause is not None:
        facts.append(escape(tr(CAUSE_NAMES[decision.cause])))
    if decision.answered_in is not None:
        facts.append(escape(tr("answered in version {version}", version=decision.answered_in)))
    rationale = show_as("said", decision.rationale) if decision.rationale else ""
    return (
        f'<p class="annotator-note" dir="auto">{escape(decision.query)}</p>'
        f'<p class="annotator-step" dir="auto">{link_pair(dataset, decision)}</p>'
        f'<p class="annotator-note">{" · ".join(facts)}</p>{rationale}'
    )


def _describe_question(dataset: str, question: AskedQuestion) -> str:
    return (
        f'<p class="annotator-note" dir="auto">{escape(question.query)}</p>'
        f'<p class="annotator-step" dir="auto">{link_pair(dataset, question)}</p>'
        f"{show_as('said', question.text)}{show_as('said', question.answer)}"
    )


def _write_queue_link(dataset: str, item: WorklistItem) -> str:
    grades = item.apart if isinstance(item.apart, tuple) else None
    if item.kind != "group" or (item.category is None and grades is None):
        return ""
    wanted = QueueFilter(shown="decided", category=item.category, grades=grades)
    address = make_url("/disagreements", dataset=dataset, **write_address(QueueAddress(wanted)))
    label = tr("All decided disagreements of this kind")
    return write_link(label, address, says=f"{label}: {tr(item.sentence)}")
