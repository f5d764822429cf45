"""Draw the page Help: purpose, keys, grades, recorded data, and what others see.

The texts are in page order. They are Markdown, except for the keys (HTML).
"""

import re
from collections.abc import Sequence
from html import escape

import streamlit as st

from annotator.dataset.rubric_file import GENERAL, read_grade_template
from annotator.dataset.service import read_current_rubric
from annotator.domain.grades import Rubric, read_in_language
from annotator.web.guideline.languages import describe_missing
from annotator.web.kit.messages import current_language, tr
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.page_context import PageContext


def describe_purpose() -> str:
    """Describe what the program is for."""
    return tr(
        "Search quality can only be measured against a good ground truth. Here, people who know the "
        "subject judge *pairs*: a query and one document that a search proposed for it. Two or more "
        "people judge each pair without seeing each other's grades. Where the grades differ, a lead "
        "settles the grade and gives a reason. The settled grades are published as a release, which "
        "evaluation programs read."
    )


def describe_labeling_keys() -> str:
    """Describe the keys of the labeling page; `<U>` marks a key."""
    sentences = (
        tr("<0> <1> <2> <3> give the grade and show the next pair."),
        tr("<U> cannot rate, with a reason. <L> leaves the pair for later."),
        tr("<Z> or <Backspace> goes back to the previous pair, where you can change your grade."),
        tr("<N> goes to the note, <Esc> returns to the keys. <?> shows the guideline and every key."),
        tr(
            "</> finds text in the document, <[> and <]> go to the previous and next match, <J> and <K> "
            "scroll."
        ),
        tr(
            "<W> lists all documents of the query. <P> proposes a document that is missing. <Q> asks the lead."
        ),
        tr("<Enter> confirms a judgment that you are asked to check again, and continues after training."),
    )
    return f"<p>{'<br>'.join(_draw_keys(sentence) for sentence in sentences)}</p>"


def describe_progress() -> str:
    """Describe the count on the labeling page."""
    return tr(
        "The count above the document shows your progress towards the next goal: a hundred pairs, or what is left if that is less. It only goes forward. A pair that others finish before you counts as done, and new work makes the total grow. *My work* shows how many you have judged and what is left."
    )


def describe_decision_keys() -> str:
    """Describe the keys for deciding disagreements; `<U>` marks a key."""
    sentences = (
        tr(
            "<0> <1> <2> <3> choose the grade, <U> cannot rate; the same key again or <Enter> saves the "
            "decision."
        ),
        tr(
            "<N> opens the rationale, <Esc> leaves the field, <Ctrl+Enter> saves the decision from the field."
        ),
        tr("<R> <V> <M> <E> <S> <B> choose the cause, <G> marks the decision for the guideline."),
        tr("<Z> goes back to the previous decision to change it; <X> withdraws it."),
        tr(
            "<L> leaves the pair for later, <A> assigns it to another lead, <D> asks the annotators to "
            "discuss it."
        ),
        tr("<O> shows names and origin (viewing is recorded), <T> the history of the pair."),
    )
    return f"<p>{'<br>'.join(_draw_keys(sentence) for sentence in sentences)}</p>"


def _draw_keys(sentence: str) -> str:
    return re.sub(r"&lt;(\S+?)&gt;", r"<kbd>\1</kbd>", escape(sentence))


def describe_statuses() -> str:
    """Describe the statuses of a pair."""
    return _list(
        (
            tr(
                "**unjudged**: nobody has judged it. **cannot rate**: annotators could not rate it. Neither "
                "counts as grade 0."
            ),
            tr("**single**: one judgment. **unanimous**: two or more judgments with the same grade."),
            tr(
                "**disagreement**: the grades differ, so there is no settled grade until a lead decides. "
                "Then the pair is **adjudicated**."
            ),
            tr(
                "**reopened**: the checker of quality control disagrees with the settled grade. There is no "
                "settled grade until a lead decides again."
            ),
            tr(
                "**imported**: the grade comes from an earlier ground truth. Nobody is asked to judge the "
                "pair, but leads can have it judged again."
            ),
        )
    )


def describe_disagreements() -> str:
    """Describe the annotators' view of differing answers."""
    return _list(
        (
            tr(
                "Where judgments differ, a lead settles the grade. You see the decision and its rationale on "
                "*My work* after you have judged the rest of the query, so that the views of others do not "
                "influence you."
            ),
            tr(
                "A lead may ask you to discuss a pair before the decision: you see the grades and notes of the "
                "others without names and keep or revise your judgment once. Agreement counts only your "
                "original judgment."
            ),
            tr(
                "If a decision seems wrong, you can object to it once per pair, in your own words. The pair "
                "goes back to a lead, who decides again."
            ),
        )
    )


def describe_people() -> str:
    """Describe how a lead invites people."""
    return tr(
        "On the page *People* a lead invites annotators, and an admin invites anybody, with a link. Send the link yourself: it is shown once, works once and expires. The person who opens it chooses a name and a password, or signs in with an existing account. Until then you can revoke it. The page also shows how much each annotator judged in the last seven days, and who is idle."
    )


def describe_preparation() -> str:
    """Describe how a lead prepares the labeling."""
    return _list(
        (
            tr(
                "*Guideline* contains the definitions, examples and text. A new version states whether the "
                "meaning of a grade has changed. If it has, annotators confirm or change their earlier "
                "judgments, with one key each."
            ),
            tr(
                "*Assignment* sets the judgments per pair (overall, by category or for a share), who judges "
                "which categories and languages, and which queries are assigned to whom. It also shows "
                "blocked work."
            ),
            tr(
                "*Calibration* marks training pairs, which new annotators must pass first, and gold pairs, "
                "which are mixed in unnoticed. Neither counts for agreement or a release."
            ),
            tr(
                "*Questions* collects the annotators' questions about pairs. You can mark an answer for the "
                "guideline."
            ),
        )
    )


def describe_queue() -> str:
    """Describe how a lead works through the queue of disagreements."""
    return _list(
        (
            tr(
                "*Disagreements* lists every pair waiting for a decision, with the reason: grades differ, an "
                "annotator could not rate it, quality control disagrees, an annotator objects or asks a "
                "question, or the guideline has changed its meaning since."
            ),
            tr(
                "The address of the page contains the filters, so you can send it to a colleague; you can "
                "also assign pairs to other leads. *Decide next pair* opens the first pair in the chosen "
                "order; *largest impact first* starts with the pairs that change the scores of systems most."
            ),
            tr(
                "Matters of taste (adjacent grades on the same side of the relevance threshold) can be "
                "settled in bulk and undone. You can download the queue as a file, decide in a meeting and "
                "upload the decisions. When the queue is empty, continue with *Releases*."
            ),
            tr(
                "*Guideline* summarizes what the decisions have in common: choose what the next version "
                "should answer, and use pairs as examples. *Agreement* then compares agreement before and "
                "after that version."
            ),
        )
    )


def describe_quality() -> str:
    """Describe quality control and its two readings."""
    return _list(
        (
            tr(
                "*Quality control* draws a random sample of the settled pairs, 10 % at first, for a checker "
                "who has judged none of them. The checker judges them on *Label*, mixed with other pairs and "
                "without seeing any grade."
            ),
            tr(
                "If the checker's grade differs from the settled grade, that is an error: the pair goes back "
                "to *Disagreements*, and a lead decides it again."
            ),
            tr(
                "Teams usually require an observed error rate below 5 % in the sample. The guaranteed "
                "maximum is stricter: 60 pairs without an error guarantee, with 95\N{NO-BREAK SPACE}% confidence, that fewer "
                "than 5 % of all settled pairs are wrong; with three errors, about 150 pairs are needed. The "
                "page shows both figures; a setting decides which of them a release requires."
            ),
            tr(
                "If the result is not clear yet, draw more pairs. They are added to the sample; earlier "
                "draws are never replaced and stay on record."
            ),
        )
    )


def describe_releases() -> str:
    """Describe how to use the page Releases."""
    return _list(
        (
            tr(
                "*Next release* on *Releases* shows the gates: what a release needs, what is measured, and "
                "where to go next. You can override a gate that is not met with a reason, which stays in the "
                "release."
            ),
            tr(
                "Before you publish, you see what changes since the latest release and which version number "
                "that calls for. A published release never changes."
            ),
            tr(
                "*Published* shows every grade of every release, with the judgments, notes and decision "
                "behind it. *Files* downloads the format of one evaluator, or everything."
            ),
        )
    )


def describe_evaluation() -> str:
    """Describe how to use the page Evaluation."""
    return _list(
        (
            tr(
                "*Evaluation* scores the imported runs with the current grades or with a release. Read the "
                "key results first: they say which differences are real and which measures cannot rank your "
                "systems."
            ),
            tr(
                "The tab *Reliability* lists the unjudged documents that could still change the order of the "
                "systems. Request judgments for them there. When there are none, judging can stop."
            ),
            tr(
                "On the tab *Query by query*, open a query to see the ranked lists of all systems side by "
                "side, with the grade of each document."
            ),
        )
    )


def describe_records() -> str:
    """Describe what the program records of what people do."""
    return _list(
        (
            tr(
                "Every judgment is recorded with its time, your active time on the pair, your note and the "
                "guideline version. If you change a grade, the earlier one stays on record."
            ),
            tr(
                "A judgment counts once the server has stored it. Until then it stays in this browser, and "
                "the page shows how many are *not saved yet*. You can close the tab: they are sent when you "
                "come back."
            ),
            tr(
                "Some pairs are checks: pairs with a right grade that a lead set, and pairs that you judged "
                "before. Checks never count as judgments. *My work* shows your results in training and on "
                "repeated pairs."
            ),
            tr(
                "You are signed out automatically after some hours. On the page *Account* you can sign out "
                "everywhere at any time."
            ),
            tr(
                "Who signs in with a password can add a second factor there: a code from an app on the phone. "
                "Keep the recovery codes for the day on which the phone is lost."
            ),
        )
    )


def describe_visibility() -> str:
    """Describe who sees what."""
    return _list(
        (
            tr(
                "**Other annotators** see neither your grades nor your notes, except in a discussion of a pair: "
                "there they see your grade and note, without your name."
            ),
            tr(
                "**Leads** see everybody's progress, the agreement, and the grades and notes of judged "
                "pairs. While they decide a disagreement, the names of the annotators are hidden."
            ),
            tr("**Releases** contain numbers (annotator_1, annotator_2 …), never names."),
            tr(
                "You do not see which system proposed a document or at which rank, so that it does not "
                "influence you."
            ),
        )
    )


def _list(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def draw(context: PageContext) -> None:
    st.title(tr("Help"))
    with st.container(width=760):
        st.markdown(describe_purpose())
        st.header(tr("The keys"))
        st.html(describe_labeling_keys())
        st.header(tr("Your progress"))
        st.markdown(describe_progress())
        st.header(tr("The grades"))
        _draw_grades(_find_rubric(context))
        if context.dataset is not None and context.role is not None:
            draw_link(context, "guideline")
        st.header(tr("When judgments differ"))
        st.markdown(describe_disagreements())
        if context.role in ("lead", "admin"):
            st.header(tr("The queue"))
            st.markdown(describe_queue())
            st.header(tr("The keys for deciding"))
            st.html(describe_decision_keys())
            st.header(tr("People"))
            st.markdown(describe_people())
            st.header(tr("Before people label"))
            st.markdown(describe_preparation())
            st.header(tr("Statuses of a pair"))
            st.markdown(describe_statuses())
            st.header(tr("Quality control"))
            st.markdown(describe_quality())
            st.header(tr("Releases"))
            st.markdown(describe_releases())
            st.header(tr("Evaluation"))
            st.markdown(describe_evaluation())
        st.header(tr("What is recorded"))
        st.markdown(describe_records())
        st.header(tr("What others see"))
        st.markdown(describe_visibility())


def _find_rubric(context: PageContext) -> Rubric:
    if context.dataset is None:
        return read_grade_template(GENERAL)
    _version, rubric = read_current_rubric(context.database, context.actor, context.dataset)
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
