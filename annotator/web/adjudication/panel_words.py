"""The texts of the decision panel in the reader's language. The panel fills in `{…}`.

Texts about the document, the guideline and errors come from the labeling panel.
"""

from annotator.adjudication.records import CAUSE_NAMES
from annotator.domain.messages import say
from annotator.web.kit.messages import tr
from annotator.web.labeling.panel_words import panel_words

STAGES = {
    "waiting": say("waiting for judgments"),
    "imported": say("imported"),
    "single": say("single"),
    "agreed": say("agreed"),
    "disputed": say("disputed"),
    "settled": say("settled by a lead"),
    "reopened": say("reopened for a decision"),
}
"""The names of the stages of a pair (`domain/settling.py`)."""


def decision_words(*, is_filtered: bool = False) -> dict[str, str]:
    """Return the texts by the names in the panel's scripts. `is_filtered`: whether the queue has a filter."""
    return {
        **panel_words(),
        **_work(is_filtered=is_filtered),
        **_case(),
        **_states(),
    }


def list_keys() -> list[tuple[tuple[str, ...], str]]:
    """Return every key with what it does, for the sheet of keys."""
    return [
        (("0", "1", "2", "3"), tr("Choose the grade; press again to save the decision")),
        (("u",), tr("Cannot rate; press again to save")),
        (("⏎", "Ctrl ⏎"), tr("Save the decision; with Ctrl from a text field")),
        (("n",), tr("Rationale; Esc leaves the field")),
        (("r", "v", "m", "e", "s", "b"), tr("Cause of the disagreement, as shown next to the grades")),
        (("g",), tr("Belongs in the guideline")),
        (("z", "⌫"), tr("Back to the previous decision, to review or change it")),
        (("x",), tr("Undo the decision: the pair is open again")),
        (("l",), tr("Later: the pair comes back at the end")),
        (("a",), tr("Assign to another lead")),
        (("d",), tr("Ask the annotators to discuss")),
        (("o",), tr("Names and origin; viewing is recorded")),
        (("t",), tr("History of the pair")),
        (("j", "k"), tr("Scroll the document down, up")),
        (("/",), tr("Find in the document")),
        (("[", "]"), tr("Previous, next match in the document")),
        (("?",), tr("This help; Esc closes it")),
    ]


def _work(*, is_filtered: bool) -> dict[str, str]:
    return {
        "heading": tr("Disagreements: {dataset}"),
        "queue": tr("Queue"),
        "waiting": tr("{n} left"),
        "position": tr("{n} left, {done} decided in this session"),
        "told": tr("About this pair"),
        "decision": tr("Decision"),
        "doings": tr("More actions"),
        "loading": tr("Loading disagreements …"),
        "nothing": tr("No disagreements are waiting for you here. Clear the filter or open the whole queue.")
        if is_filtered
        else tr("No disagreements are waiting for you."),
        "wholequeue": tr("Whole queue"),
        "overview": tr("Overview"),
        "do_assign": tr("Assign"),
        "do_discuss": tr("Discuss"),
        "do_names": tr("Names"),
        "do_trail": tr("History"),
        "do_help": tr("Help"),
        "do_decide": tr("Decide"),
        "do_next": tr("Next disagreement"),
        "do_unrateable": tr("Cannot rate"),
        "do_withdrawn": tr("Undo decision"),
        "do_answer": tr("Answer"),
        "cause": tr("Cause of the disagreement"),
        **{f"cause_{code}": tr(words) for code, words in CAUSE_NAMES.items()},
        "inguideline": tr("Belongs in the guideline"),
        "rationale": tr("Rationale"),
        "rationalehint": tr("Published with the grade and shown to the annotators of the pair."),
        "choosefirst": tr("Choose a grade first: 0 to 3, or U."),
        "stale": tr("Saving and reloading this pair. Try again in a moment."),
        "owes_distance": tr("The grades are {n} apart: give a rationale."),
        "owes_nobody": tr("Nobody gave this grade: give a rationale."),
        "unlike": tr(
            "“{document}” has nearly the same text and is settled at {grade}. Press again to decide "
            "differently."
        ),
        "barred": tr("You cannot decide this pair. {why}"),
        "isbarred": tr("You cannot decide this pair."),
        "saiddecided": tr("Decided: {grade}."),
        "saidlater": tr("Set to later."),
        "noback": tr("You have not decided another pair in this tab yet."),
        "unrateable": tr("cannot rate"),
        "withdrawn": tr("withdrawn"),
    }


def _case() -> dict[str, str]:
    return {
        "why_title": tr("Why it is in the queue"),
        "why_differ": tr("grades differ"),
        "why_unrateable": tr("some cannot rate"),
        "why_quality": tr("quality control disagrees"),
        "why_objection": tr("objection by an annotator"),
        "why_question": tr("unanswered question"),
        "why_stale": tr("older guideline"),
        **{f"status_{stage}": tr(name) for stage, name in STAGES.items()},
        "distance": tr("{n} apart"),
        "taste": tr("one grade apart, same relevance"),
        "lacking": tr("judgments missing: {n}"),
        "since": tr("since {when}"),
        "impact": tr("Effect on this query: nDCG ±{ndcg}"),
        "impact_more": tr("recall ±{recall}, MRR ±{mrr}"),
        "flips": tr("Could reverse the order of two systems: {n}"),
        "heldby": tr("{who} has this pair open. The first decision counts."),
        "assignedto": tr("Assigned to {who}."),
        "assignedyou": tr("Assigned to you."),
        "textchanged": tr("Some judgments are of an earlier text of this document."),
        "contested": tr("Previously settled at {grade}."),
        "discussion_asked": tr("Sent to the annotators for discussion on {when}; replies are still missing."),
        "discussion_answered": tr("All annotators have replied to the discussion of {when}."),
        "discussion_closed": tr("The discussion of {when} is closed."),
        "needssecond": tr("Two leads must agree on this pair: the first decision is a proposal."),
        "proposalyours": tr("You proposed {grade}. Another lead must confirm it."),
        "proposalother": tr("{who} proposed {grade}."),
        "judgments": tr("Judgments"),
        "nojudgments": tr("Nobody has judged this pair yet."),
        "annotator": tr("Annotator {letter}"),
        "mark_quality": tr("quality control"),
        "mark_simulated": tr("simulated"),
        "mark_guideline": tr("guideline {n}"),
        "turn_revised": tr("After the discussion: {grade}"),
        "turn_stands": tr("Unchanged after the discussion: {grade}"),
        "objections": tr("Objections"),
        "questions": tr("Questions about this pair"),
        "answerhint": tr("Your answer"),
        "answered": tr("Answer: {answer}"),
        "answersent": tr("Answer saved."),
        "alike": tr("Documents with nearly the same text"),
        "near": tr("{share} similar"),
        "neighbours": tr("Other documents of this query: {n}"),
        "history": tr("Earlier decisions"),
        "byyou": tr("you"),
        "justnow": tr("just now"),
    }


def _states() -> dict[str, str]:
    return {
        "cameback": tr("Decisions not saved: {n}. Your text is kept and shown next."),
        "lookatit": tr("Show now"),
        "returned": tr("Your decision was not saved: {why}"),
        "kepttyped": tr(
            "Your choice and text are still here. Decide again, change them, or choose Later to leave "
            "the pair open."
        ),
        "change_decided": tr("{who} has decided this pair in the meantime: {grade}."),
        "change_judged": tr("Annotator {letter} changed the judgment to {grade}."),
        "notback": tr("A decision could not be saved, and its pair cannot be shown now. Your text: {what}"),
        "proposed": tr("Saved as a proposal. Another lead must make the same decision."),
        "failed": tr("Something went wrong. Try again."),
        "why_notallowed": tr("You no longer have permission to decide in this dataset. Ask its admin."),
        "why_nodataset": tr("This dataset no longer exists on the server. Ask its admin."),
        "why_storage": tr(
            "This browser cannot keep your decision safe: its storage is full or blocked. Free some "
            "space or allow site data, then press again."
        ),
        "names_title": tr("Names and origin"),
        "names_hint": tr(
            "Knowing who judged and which systems retrieved the document can influence your decision. "
            "Viewing is recorded in the history of the pair."
        ),
        "names_show": tr("Show and record"),
        "names_who": tr("Annotators"),
        "names_from": tr("Retrieved by"),
        "names_nosystem": tr("No system retrieved this document."),
        "rank": tr("rank {n}"),
        "trail_title": tr("History of the pair"),
        "trail_empty": tr("This pair has no history yet."),
        "loading_trail": tr("Loading the history …"),
        "assign_title": tr("Assign to another lead"),
        "assign_hint": tr("The pair moves to the top of that lead's queue."),
        "assign_nobody": tr("This dataset has no other lead."),
        "assign_none": tr("Not assigned"),
        "assign_done": tr("Assigned to {who}."),
        "assign_back": tr("Assignment removed."),
        "loading_leads": tr("Loading leads …"),
        "discuss_title": tr("Ask the annotators to discuss"),
        "discuss_hint": tr(
            "The annotators see each other's grades and notes without names, and each can keep or revise "
            "the grade. The pair returns to the queue with their replies. Agreement figures do not "
            "include them."
        ),
        "discuss_ask": tr("Send request"),
        "discuss_asked": tr("Request sent to the annotators."),
        "discuss_closehint": tr("No more replies are accepted. Replies so far are kept."),
        "discuss_close": tr("Close discussion"),
        "discuss_closed": tr("Discussion closed."),
    }
