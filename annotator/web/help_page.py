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


@dataclass(frozen=True)
class HelpSection:
    """`kind`: text or list (Markdown), or keys: `<U>` marks a key."""

    title: Message
    kind: Literal["text", "list", "keys"]
    sentences: tuple[Message, ...]


PURPOSE = say(
    "Search quality can only be measured against a good ground truth. Here, people who know the "
    "subject judge *pairs*: a query and one document that a search proposed for it. Two or more "
    "people judge each pair without seeing each other's grades. Where the grades differ, a lead "
    "settles the grade and gives a reason. The settled grades are published as a release, which "
    "evaluation programs read."
)
FIRST = (
    HelpSection(
        say("The keys"),
        "keys",
        (
            say("<0> <1> <2> <3> give the grade and show the next pair."),
            say("<U> cannot rate, with a reason. <L> leaves the pair for later."),
            say("<Z> or <Backspace> goes back to the previous pair, where you can change your grade."),
            say("<N> goes to the note, <Esc> returns to the keys. <?> shows the guideline and every key."),
            say(
                "</> finds text in the document, <[> and <]> go to the previous and next match, <J> and <K> "
                "scroll."
            ),
            say(
                "<W> lists all documents of the query. <P> proposes a document that is missing. <Q> asks the lead."
            ),
            say(
                "<Enter> confirms a judgment that you are asked to check again, and continues after training."
            ),
        ),
    ),
    HelpSection(
        say("Your progress"),
        "text",
        (
            say(
                "The count above the document shows your progress towards the next goal: a hundred pairs, or what is left if that is less. It only goes forward. A pair that others finish before you counts as done, and new work makes the total grow. *My work* shows how many you have judged and what is left."
            ),
        ),
    ),
)
DIFFERENCES = HelpSection(
    say("When judgments differ"),
    "list",
    (
        say(
            "Where judgments differ, a lead settles the grade. You see the decision and its rationale on "
            "*My work* after you have judged the rest of the query, so that the views of others do not "
            "influence you."
        ),
        say(
            "A lead may ask you to discuss a pair before the decision: you see the grades and notes of the "
            "others without names and keep or revise your judgment once. Agreement counts only your "
            "original judgment."
        ),
        say(
            "If a decision seems wrong, you can object to it once per pair, in your own words. The pair "
            "goes back to a lead, who decides again."
        ),
    ),
)
FOR_LEADS = (
    HelpSection(
        say("The queue"),
        "list",
        (
            say(
                "*Disagreements* lists every pair waiting for a decision, with the reason: grades differ, an "
                "annotator could not rate it, quality control disagrees, an annotator objects or asks a "
                "question, or the guideline has changed its meaning since."
            ),
            say(
                "The address of the page contains the filters, so you can send it to a colleague; you can "
                "also assign pairs to other leads. *Decide next pair* opens the first pair in the chosen "
                "order; *largest impact first* starts with the pairs that change the scores of systems most."
            ),
            say(
                "Grades that are one apart with the same relevance can be settled in bulk and undone. You can download the queue as a file, decide in a meeting and "
                "upload the decisions. When the queue is empty, continue with *Releases*."
            ),
            say(
                "*Guideline* summarizes what the decisions have in common: choose what the next version "
                "should answer, and use pairs as examples. *Agreement* then compares agreement before and "
                "after that version."
            ),
        ),
    ),
    HelpSection(
        say("The keys for deciding"),
        "keys",
        (
            say(
                "<0> <1> <2> <3> choose the grade, <U> cannot rate; the same key again or <Enter> saves the "
                "decision."
            ),
            say(
                "<N> opens the rationale, <Esc> leaves the field, <Ctrl+Enter> saves the decision from the field."
            ),
            say("<R> <V> <M> <E> <S> <B> choose the cause, <G> marks the decision for the guideline."),
            say("<Z> goes back to the previous decision to change it; <X> withdraws it."),
            say(
                "<L> leaves the pair for later, <A> assigns it to another lead, <D> asks the annotators to "
                "discuss it."
            ),
            say("<O> shows names and origin (viewing is recorded), <T> the history of the pair."),
        ),
    ),
    HelpSection(
        say("People"),
        "text",
        (
            say(
                "On the page *People* a lead invites annotators, and an admin invites anybody, with a link. Send the link yourself: it is shown once, works once and expires. The person who opens it chooses a name and a password, or signs in with an existing account. Until then you can revoke it. The page also shows how much each annotator judged in the last seven days, and who is idle."
            ),
        ),
    ),
    HelpSection(
        say("Before people label"),
        "list",
        (
            say(
                "*Guideline* contains the definitions, examples and text. A new version states whether the "
                "meaning of a grade has changed. If it has, annotators confirm or change their earlier "
                "judgments, with one key each."
            ),
            say(
                "*Assignment* sets the judgments per pair (overall, by category or for a share), who judges "
                "which categories and languages, and which queries are assigned to whom. It also shows "
                "blocked work."
            ),
            say(
                "*Calibration* marks training pairs, which new annotators must pass first, and gold pairs, "
                "which are mixed in unnoticed. Neither counts for agreement or a release."
            ),
            say(
                "*Questions* collects the annotators' questions about pairs. You can mark an answer for the "
                "guideline."
            ),
        ),
    ),
    HelpSection(
        say("Statuses of a pair"),
        "list",
        (
            say(
                "**unjudged**: nobody has judged it. **cannot rate**: annotators could not rate it. Neither "
                "counts as grade 0."
            ),
            say("**single**: one judgment. **unanimous**: two or more judgments with the same grade."),
            say(
                "**disagreement**: the grades differ, so there is no settled grade until a lead decides. "
                "Then the pair is **adjudicated**."
            ),
            say(
                "**reopened**: the checker of quality control disagrees with the settled grade. There is no "
                "settled grade until a lead decides again."
            ),
            say(
                "**imported**: the grade comes from an earlier ground truth. Nobody is asked to judge the "
                "pair, but leads can have it judged again."
            ),
        ),
    ),
    HelpSection(
        say("Quality control"),
        "list",
        (
            say(
                "*Quality control* draws a random sample of the settled pairs, 10 % at first, for a checker "
                "who has judged none of them. The checker judges them on *Label*, mixed with other pairs and "
                "without seeing any grade."
            ),
            say(
                "If the checker's grade differs from the settled grade, that is an error: the pair goes back "
                "to *Disagreements*, and a lead decides it again."
            ),
            say(
                "Teams usually require an observed error rate below 5 % in the sample. The guaranteed "
                "maximum is stricter: 60 pairs without an error guarantee, with 95\N{NO-BREAK SPACE}% confidence, that fewer "
                "than 5 % of all settled pairs are wrong; with three errors, about 150 pairs are needed. The "
                "page shows both figures; a setting decides which of them a release requires."
            ),
            say(
                "If the result is not clear yet, draw more pairs. They are added to the sample; earlier "
                "draws are never replaced and stay on record."
            ),
        ),
    ),
    HelpSection(
        say("Releases"),
        "list",
        (
            say(
                "*Next release* on *Releases* shows the gates: what a release needs, what is measured, and "
                "where to go next. You can override a gate that is not met with a reason, which stays in the "
                "release."
            ),
            say(
                "Before you publish, you see what changes since the latest release and which version number "
                "that calls for. A published release never changes."
            ),
            say(
                "*Published* shows every grade of every release, with the judgments, notes and decision "
                "behind it. *Files* downloads the format of one evaluator, or everything."
            ),
        ),
    ),
    HelpSection(
        say("Evaluation"),
        "list",
        (
            say(
                "*Evaluation* scores the imported runs with the current grades or with a release. Read the "
                "key results first: they say which differences are real and which measures cannot rank your "
                "systems."
            ),
            say(
                "The tab *Reliability* lists the unjudged documents that could still change the order of the "
                "systems. Request judgments for them there. When there are none, judging can stop."
            ),
            say(
                "On the tab *Query by query*, open a query to see the ranked lists of all systems side by "
                "side, with the grade of each document."
            ),
        ),
    ),
)
FOR_ALL = (
    HelpSection(
        say("What is recorded"),
        "list",
        (
            say(
                "Every judgment is recorded with its time, your active time on the pair, your note and the "
                "guideline version. If you change a grade, the earlier one stays on record."
            ),
            say(
                "A judgment counts once the server has stored it. Until then it stays in this browser, and "
                "the page shows how many are *not saved yet*. You can close the tab: they are sent when you "
                "come back."
            ),
            say(
                "Some pairs are checks: pairs with a right grade that a lead set, and pairs that you judged "
                "before. Checks never count as judgments. *My work* shows your results in training and on "
                "repeated pairs."
            ),
            say(
                "You are signed out automatically after some hours. On the page *Account* you can sign out "
                "everywhere at any time."
            ),
            say(
                "Who signs in with a password can add a second factor there: a code from an app on the phone. "
                "Keep the recovery codes for the day on which the phone is lost."
            ),
        ),
    ),
    HelpSection(
        say("What others see"),
        "list",
        (
            say(
                "**Other annotators** see neither your grades nor your notes, except in a discussion of a pair: "
                "there they see your grade and note, without your name."
            ),
            say(
                "**Leads** see everybody's progress, the agreement, and the grades and notes of judged "
                "pairs. While they decide a disagreement, the names of the annotators are hidden."
            ),
            say("**Releases** contain numbers (annotator_1, annotator_2 …), never names."),
            say(
                "You do not see which system proposed a document or at which rank, so that it does not "
                "influence you."
            ),
        ),
    ),
)


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
            _draw_sections(words["for leads"])
        _draw_sections(words["for all"])


def _draw_sections(sections: Iterable[Mapping[str, str | Sequence[str]]]) -> None:
    for section in sections:
        (_, title), (kind, sentences) = section.items()
        st.header(tr(str(title)))
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
