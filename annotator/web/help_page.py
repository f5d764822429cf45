"""Draw the page Help: what the program is for, the keys, the grades, what is recorded, and what others see.

The texts come in the order of the page: Markdown, but for the keys, which are HTML.
"""

import re
from collections.abc import Sequence
from html import escape

import streamlit as st

from annotator.dataset.grade_choices import GENERAL, read_grade_template
from annotator.dataset.service import read_current_rubric
from annotator.domain.grades import Rubric, read_in_language
from annotator.web.guideline.languages import describe_missing
from annotator.web.kit.messages import current_language, tr
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.page_context import PageContext


def describe_purpose() -> str:
    """Describe what the program is for."""
    return tr(
        "Search results are only as good as what they are measured against. Here, people who know the subject grade "
        "*pairs*: a query with one document that a search proposed for it. Two or more grade each pair without seeing "
        "each other's answers; where they differ, a lead settles the grade and says why. The settled grades are "
        "published as a release, which evaluation programs read."
    )


def describe_labeling_keys() -> str:
    """Describe the keys of the labeling page; `<U>` stands for a key."""
    sentences = (
        tr("<0> <1> <2> <3> give the grade and show the next pair."),
        tr("<U> cannot be rated, with a reason. <L> puts the pair off for later."),
        tr("<Z> or <Backspace> goes back to the pair before; a grade there changes yours."),
        tr("<N> goes to the note, <Esc> returns to the keys. <?> shows the guideline and every key."),
        tr("</> finds in the document, <[> and <]> go to the match before and after, <J> and <K> scroll."),
        tr(
            "<W> lists all documents of the query. <P> proposes a document that is missing. <Q> asks the lead."
        ),
        tr("<Enter> confirms an answer that is asked for again, and goes on after training."),
    )
    return f"<p>{'<br>'.join(_draw_keys(sentence) for sentence in sentences)}</p>"


def describe_progress() -> str:
    """Describe what the count on the labeling page means."""
    return tr(
        "The count above the document goes towards the next goal: a hundred pairs, or what is left if that is less. It only goes "
        "forward. A pair that others finish before you counts as done, and new work makes the total grow. *My work* shows how many "
        "you have judged, and what is left."
    )


def describe_decision_keys() -> str:
    """Describe the keys by which a lead decides disagreements; `<U>` stands for a key."""
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
                "**unjudged**: nobody has graded it; **unrateable**: whoever looked said that it cannot be rated. "
                "Neither is ever grade 0."
            ),
            tr("**single**: one grade, nobody's second opinion; **unanimous**: two or more, all the same."),
            tr(
                "**disagreement**: the grades differ; it has none until a lead decides it; then it is **adjudicated**."
            ),
            tr(
                "**reopened**: the third expert of quality control contradicts its settled grade; it has none until a lead "
                "decides it anew."
            ),
            tr(
                "**imported**: its grade comes from an earlier ground truth and is kept. It is handed to nobody; leads can "
                "have it judged again."
            ),
        )
    )


def describe_disagreements() -> str:
    """Describe what an annotator sees where answers differ."""
    return _list(
        (
            tr(
                "Where judgments differ, a lead settles the grade. You see the decision and its rationale on "
                "*My work* after you have judged the rest of the query, so that the views of others do not "
                "influence you."
            ),
            tr(
                "A lead may ask you to discuss a pair before the decision: you see the notes of the others "
                "without names and keep or revise your judgment once. Agreement counts only your original "
                "judgment."
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
        "On the page *People* a lead invites annotators, and an admin everybody, by a link. Send it yourself: it is shown only once, works "
        "once, and expires. Whoever opens it chooses a name and a password, or signs in to an account they have. You can revoke it until "
        "then. The page also says how much each annotator judged in the last seven days, and who is idle."
    )


def describe_preparation() -> str:
    """Describe how a lead prepares the labeling."""
    return _list(
        (
            tr(
                "*Guideline* holds the definitions, the examples and the text. A new version says whether what a grade means "
                "has changed; if so, everybody is asked to confirm or change what they judged before, one key each."
            ),
            tr(
                "*Assignment* says how many people judge a pair, everywhere or by category or share, who judges which "
                "categories and languages, which queries were given to whom, and who is waiting on whom."
            ),
            tr(
                "*Calibration* marks training pairs, which a new annotator must pass first, and gold pairs, which are mixed "
                "in unseen. Neither enters agreement or a release."
            ),
            tr(
                "*Questions* collects what annotators ask about a pair; an answer can be marked for the guideline."
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
                "maximum is stricter: 60 pairs without an error guarantee, with 95 % confidence, that fewer "
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
                "On *Releases*, under *Next release*, stand the gates: what a release needs, what is measured, and where "
                "the work is. A gate that is not met can be overridden with a reason, which the release keeps for ever."
            ),
            tr(
                "Before you publish you see what would change against the latest release, and which version that calls "
                "for. What is published is never changed."
            ),
            tr(
                "Under *Published* you look up any grade of any release: choose it, and you see the judgments, notes and "
                "the decision behind it. *Files* downloads one format for its evaluator, or everything."
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
                "Every answer with its time, for how long you were active on the pair, your note, and the version of the "
                "guideline. A changed grade is added to the record; the earlier one stays in it."
            ),
            tr(
                "A grade counts once the server has it. Until then it is kept in this browser, and the page says how many "
                "are *not saved yet*; you can close the tab, they are sent when you come back."
            ),
            tr(
                "Among the pairs there may be checks: some whose right grade a lead has set, and some of your own once more. "
                "They never count as judgments; what came of your training and of your repeats is on *My work*."
            ),
            tr("Your sign-ins end by themselves after some hours, and on the page *Account* at any time."),
        )
    )


def describe_visibility() -> str:
    """Describe who sees what."""
    return _list(
        (
            tr("**Other annotators** see neither your grades nor your notes."),
            tr(
                "**Leads** see who has judged how much, how well annotators agree, and, once a pair has been judged, its "
                "grades and notes. When they settle a disagreement, the annotators are shown without names."
            ),
            tr("**Releases** carry numbers (annotator_1, annotator_2 …), never names."),
            tr("You do not see which search proposed a document, or at what rank: it would sway you."),
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
        st.header(tr("How far you are"))
        st.markdown(describe_progress())
        st.header(tr("The grades"))
        _draw_grades(_find_rubric(context))
        if context.dataset is not None and context.role is not None:
            draw_link(context, "guideline")
        st.header(tr("When answers differ"))
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
            st.header(tr("What becomes of a pair"))
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
    """Draw the grades in the reader's language, as plain text, since a definition may hold any characters."""
    reading = read_in_language(rubric, current_language())
    if reading.missing == "all":
        draw_note(describe_missing(reading, rubric.language))
    for definition in reading.rubric.grades:
        with st.container(border=True, gap="xxsmall"):
            st.text(f"{definition.grade} · {definition.name}")
            st.text(definition.definition)
