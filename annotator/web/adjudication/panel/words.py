"""Every word the decision panel shows, in the reader's language. `{…}` is filled in by the panel.

What it shares with the labeling panel (the document, the standard, what stands in the way) it says in the same words.
"""

from annotator.adjudication.records import CAUSE_NAMES
from annotator.domain.messages import say
from annotator.web.kit.messages import tr
from annotator.web.labeling.panel.words import panel_words

STAGES = {
    "waiting": say("waiting for judgments"),
    "imported": say("imported"),
    "single": say("single"),
    "agreed": say("agreed"),
    "disputed": say("disputed"),
    "settled": say("settled by a lead"),
    "reopened": say("open again"),
}
"""How far one pair has come: the words for `domain/settling.py`."""


def decision_words() -> dict[str, str]:
    """Return the words by the names that the panel's scripts ask for."""
    return {**panel_words(), **_work(), **_form(), **_case(), **_states(), **_windows()}


def list_keys() -> list[tuple[tuple[str, ...], str]]:
    """Return every key with what it does, for the sheet of keys."""
    return [
        (("0", "1", "2", "3"), tr("Choose the grade; the same key again stores the decision")),
        (("u",), tr("Cannot be rated; again: stores it")),
        (("⏎", "Ctrl ⏎"), tr("Store the decision; from the text field with Ctrl")),
        (("n",), tr("Why: the text field; Esc returns to the keys")),
        (("r", "v", "m", "e", "s", "b"), tr("The cause, as shown beside the grades")),
        (("g",), tr("The guideline should say so")),
        (("z", "⌫"), tr("Back to the pair decided before, to look at it or to decide anew")),
        (("x",), tr("Take the decision back: the pair is open again")),
        (("l",), tr("Later: the pair comes back at the end")),
        (("a",), tr("Assign to another lead")),
        (("d",), tr("Ask the annotators to discuss it")),
        (("o",), tr("Names and origin; looking is recorded")),
        (("t",), tr("Timeline of the pair")),
        (("j", "k"), tr("Scroll the document down, up")),
        (("/",), tr("Find in the document")),
        (("[", "]"), tr("Previous, next match in the document")),
        (("?",), tr("This sheet; Esc closes it")),
    ]


def _work() -> dict[str, str]:
    return {
        "heading": tr("Disagreements: {dataset}"),
        "queue": tr("Queue"),
        "waiting": tr("{n} waiting"),
        "position": tr("{n} waiting, {done} decided just now"),
        "told": tr("What is known of this pair"),
        "decision": tr("Decision"),
        "doings": tr("More to do with this pair"),
        "loading": tr("Loading the next disputes …"),
        "nothing": tr("Nothing waits for you in this part of the queue."),
        "wholequeue": tr("The whole queue"),
        "overview": tr("Overview"),
        "do_assign": tr("Assign"),
        "do_discuss": tr("Discuss"),
        "do_names": tr("Names"),
        "do_trail": tr("Timeline"),
        "do_help": tr("Help"),
        "do_decide": tr("Decide"),
        "do_next": tr("Next dispute"),
        "do_unrateable": tr("Cannot rate"),
        "do_withdrawn": tr("Undo decision"),
        "do_answer": tr("Answer"),
    }


def _form() -> dict[str, str]:
    return {
        "cause": tr("Why they differ"),
        **{f"cause_{code}": tr(words) for code, words in CAUSE_NAMES.items()},
        "inguideline": tr("The guideline should say so"),
        "rationale": tr("Why this decision"),
        "rationalehint": tr("Published with the grade; the annotators of the pair read it."),
        "choosefirst": tr("Choose a grade first: 0 to 3, or u."),
        "stale": tr("One moment: this pair is being saved and loaded again."),
        "owes_distance": tr("The grades are {n} apart: say why you decide so."),
        "owes_nobody": tr("Nobody gave this grade: say why you decide so."),
        "unlike": tr(
            "“{document}” has nearly the same text and is settled at {grade}. Press again to decide otherwise all the same."
        ),
        "barred": tr("This one is not yours to decide: {why}."),
        "isbarred": tr("This one is not yours to decide."),
        "saiddecided": tr("Decided: {grade}."),
        "saidlater": tr("Put off."),
        "noback": tr("There is no decision before this one in this tab."),
        "unrateable": tr("cannot rate"),
        "withdrawn": tr("taken back"),
    }


def _case() -> dict[str, str]:
    return {
        "why_title": tr("Why it is here"),
        "why_differ": tr("grades differ"),
        "why_unrateable": tr("some cannot rate"),
        "why_quality": tr("quality control objects"),
        "why_objection": tr("an annotator objects"),
        "why_question": tr("an open question"),
        "why_stale": tr("older guideline"),
        **{f"status_{stage}": tr(name) for stage, name in STAGES.items()},
        "distance": tr("{n} apart"),
        "taste": tr("a matter of taste"),
        "lacking": tr("judgments still to come: {n}"),
        "since": tr("since {when}"),
        "impact": tr("moves nDCG by up to {ndcg}"),
        "impact_more": tr("recall {recall}, MRR {mrr}"),
        "flips": tr("pairs of systems that can swap: {n}"),
        "heldby": tr("Taken: this pair is open before {who} now. Whoever decides first is heard."),
        "assignedto": tr("Assigned to {who}."),
        "assignedyou": tr("Assigned to you."),
        "textchanged": tr("Some of them judged an earlier text of this document."),
        "contested": tr("It was settled at {grade} before."),
        "discussion_asked": tr("The annotators were asked to discuss it on {when}; not all have answered."),
        "discussion_answered": tr("The annotators have discussed it (asked on {when})."),
        "discussion_closed": tr("The discussion of {when} is closed."),
        "needssecond": tr("Two leads have to decide the same here: the first decision is a proposal."),
        "proposalyours": tr("You proposed {grade}; another lead has to decide too."),
        "proposalother": tr("{who} proposes {grade}."),
        "judgments": tr("What the annotators say"),
        "nojudgments": tr("Nobody has judged this pair."),
        "annotator": tr("Annotator {letter}"),
        "mark_quality": tr("quality control"),
        "mark_simulated": tr("simulated"),
        "mark_guideline": tr("guideline {n}"),
        "turn_revised": tr("After the discussion: {grade}"),
        "turn_stands": tr("Stands by it after the discussion: {grade}"),
        "objections": tr("Objections"),
        "questions": tr("Questions about this pair"),
        "answerhint": tr("Your answer"),
        "answered": tr("Answer: {answer}"),
        "answersent": tr("Your answer is saved."),
        "alike": tr("Documents with nearly the same text"),
        "near": tr("{share} alike"),
        "neighbours": tr("Other documents of this query: {n}"),
        "history": tr("Decided so far"),
        "byyou": tr("you"),
        "justnow": tr("just now"),
    }


def _states() -> dict[str, str]:
    return {
        "cameback": tr("Decisions that could not be stored: {n}. What you wrote is kept; they come next."),
        "lookatit": tr("Look at it now"),
        "returned": tr("Your decision was not stored: {why}"),
        "kepttyped": tr(
            "What you chose and wrote is still here. Decide anew, change it, or leave the pair as it is with Later."
        ),
        "change_decided": tr("{who} decided meanwhile: {grade}."),
        "change_judged": tr("Annotator {letter} now says: {grade}."),
        "notback": tr("A decision could not be stored, and its pair cannot be shown now. You wrote: {what}"),
        "proposed": tr("Kept as a proposal: another lead has to decide the same."),
        "failed": tr("That did not work. Try again."),
        "why_notallowed": tr("You may not decide in this dataset any more. Ask its admin."),
        "why_nodataset": tr("The server does not know this dataset any more. Ask its admin."),
        "why_storage": tr(
            "This browser refuses to keep decisions (its storage is full or forbidden), so nothing is decided that could get lost. Free some space or allow site data, then press again."
        ),
    }


def _windows() -> dict[str, str]:
    return {
        "names_title": tr("Names and origin"),
        "names_hint": tr(
            "Who judged, and which systems found the document, can sway a decision. That you looked is recorded in the trail of the pair."
        ),
        "names_show": tr("Show and record"),
        "names_who": tr("Annotators"),
        "names_from": tr("Found by"),
        "names_nosystem": tr("No system found this document."),
        "rank": tr("rank {n}"),
        "trail_title": tr("Timeline of the pair"),
        "trail_empty": tr("Nothing is recorded for this pair yet."),
        "loading_trail": tr("Loading the timeline …"),
        "assign_title": tr("Assign to another lead"),
        "assign_hint": tr("It stands first in that lead's queue."),
        "assign_nobody": tr("There is no other lead."),
        "assign_none": tr("Nobody in particular"),
        "assign_done": tr("Assigned to {who}."),
        "assign_back": tr("Assigned to nobody in particular."),
        "loading_leads": tr("Loading the leads …"),
        "discuss_title": tr("Ask the annotators to discuss it"),
        "discuss_hint": tr(
            "They see each other's grade and note without a name, and each may stand by it or revise it. The pair comes back to the queue with what they say; agreement does not count it."
        ),
        "discuss_ask": tr("Ask them"),
        "discuss_asked": tr("The annotators are asked."),
        "discuss_closehint": tr("Nobody is waited for any more; what was said stays."),
        "discuss_close": tr("Close the discussion"),
        "discuss_closed": tr("The discussion is closed."),
    }
