"""Every word that the labeling panel shows, in the reader's language.

Includes the document view, whole-query mode and the dialogs for proposals and questions. The panel fills in `{…}`.
"""

from annotator.web.kit.messages import tr


def document_words() -> dict[str, str]:
    """Return the words by the names that `document_view.js` asks for."""
    return {
        "doc_label": tr("Document"),
        "doc_tools": tr("In this document"),
        "doc_notext": tr("The text of this document has not been imported; only its id is known."),
        "doc_empty": tr("This document is empty."),
        "doc_whole": tr("Show the whole document ({n} characters)"),
        "doc_loading": tr("Loading the whole document …"),
        "doc_wholefailed": tr("The rest could not be loaded. Try again"),
        "doc_blocked": tr("Images and embedded content not shown: {n}"),
        "doc_cut": tr(
            "Only the beginning is shown; the button at the end shows the whole document as its source."
        ),
        "doc_source": tr("Source"),
        "doc_matches": tr("Matches: {n}"),
        "doc_match_at": tr("{at} of {n}"),
        "doc_previous": tr("Previous match"),
        "doc_next": tr("Next match"),
        "doc_start": tr("From the beginning"),
        "doc_best": tr("Best match"),
        "doc_find": tr("Find"),
        "doc_findlabel": tr("Find in the document"),
        "doc_found": tr("Found: {n}"),
        "doc_found_at": tr("{at} of {n}"),
        "doc_foundnone": tr("Not found"),
        "doc_foundpart": tr("The loaded part was searched, not the whole document."),
        "doc_close": tr("Close"),
        "doc_about": tr("About this document"),
        "doc_newtab": tr("Opens in a new tab"),
    }


def list_words() -> dict[str, str]:
    """Return the words by the names that `query_list.js`, `proposal_dialog.js` and `question_dialog.js` ask for."""
    return {
        "list_label": tr("Documents of the query"),
        "list_hint": tr("j k: row · 0–3: grade"),
        "list_count": tr("{done} of {total} done"),
        "list_position": tr("{at} of {of}:"),
        "list_open": tr("Not judged yet."),
        "list_putoff": tr("Put off"),
        "list_closed": tr("Needs nothing more"),
        "list_training": tr("Training comes one pair at a time. The list comes back when training is over."),
        "list_alldone": tr("All {n} are done. The next query follows."),
        **_propose(),
        **_ask(),
        "why_unreachable_once": tr("The server cannot be reached."),
        "send_kept": tr("What you wrote is kept in this browser; send it again."),
        "send_refused": tr("The server refused it. What you wrote is kept in this browser."),
    }


def _propose() -> dict[str, str]:
    return {
        "propose_title": tr("Propose a document for this query"),
        "propose_search": tr("Search all documents of the dataset"),
        "propose_found": tr("Documents found"),
        "propose_type": tr("Type at least two characters. ↓ ↑ and Enter choose."),
        "propose_preparing": tr("The search is being prepared … {n} %"),
        "propose_beginning": tr("Of each document the first {n} characters are searched."),
        "propose_count": tr("Found: {n}"),
        "propose_none": tr("No document was found."),
        "propose_inpool": tr("in the pool"),
        "propose_judged": tr("judged by you"),
        "propose_inpool_long": tr("This document is in the pool of this query already; others judge it."),
        "propose_judged_long": tr("You have judged this document for this query already."),
        "propose_open_long": tr("This document is in the pool already and open to you: judge it here."),
        "propose_choose": tr("Choose a document to read it here, then grade it."),
        "propose_grade": tr("Your grade"),
        "propose_nograde": tr("Choose a grade first: 0–3."),
        "propose_send": tr("Propose it"),
        "propose_judge": tr("Judge it"),
        "propose_sent": tr(
            "Proposed, with your grade. Others judge it without knowing that it was proposed."
        ),
        "propose_judged_now": tr("Judged."),
        "propose_taken": tr(
            "This document has come into the pool meanwhile. Look at it again, then judge it."
        ),
        "propose_gone": tr("This document is not in the dataset any more."),
        "propose_notyours": tr("This query is judged by others, so nothing can be proposed for it here."),
        "propose_cut": tr("Only the first {n} characters are shown."),
    }


def _ask() -> dict[str, str]:
    return {
        "ask_title": tr("Ask the lead about this pair"),
        "ask_label": tr("Your question"),
        "ask_hint": tr(
            "Say what is unclear, not which grade you would give: a lead may still have to judge this pair. "
            "What you type is kept until it is sent."
        ),
        "ask_send": tr("Send"),
        "ask_empty": tr("Write something first."),
        "ask_own": tr("Your questions and the answers"),
        "ask_sent": tr("Your question was sent. The answer will stand on the page Questions."),
        "ask_notyours": tr("This pair is not yours any more, so nothing can be asked about it."),
    }


def panel_words() -> dict[str, str]:
    """Return the words by the names that the panel's scripts ask for."""
    return {
        **_work(),
        **_answers(),
        **_standard(),
        **_states(),
        **_refusals(),
        **document_words(),
        **list_words(),
    }


def list_keys() -> list[tuple[tuple[str, ...], str]]:
    """Return every key with what it does, for the sheet of keys."""
    return [
        (("0", "1", "2", "3"), tr("Grade")),
        (("u",), tr("Cannot be rated; asks for the reason (1–5)")),
        (("l",), tr("Later: the pair comes back at the end")),
        (("z", "⌫"), tr("Back to the pair before, to look at it or to change the answer")),
        (("⏎",), tr("Confirm or keep an earlier answer; go on after an explanation")),
        (("n",), tr("Note; Esc returns to the keys")),
        (("j", "k"), tr("Scroll the document down, up")),
        (("/",), tr("Find in the document")),
        (("[", "]"), tr("Previous, next match in the document")),
        (("w",), tr("All documents of the query as a list")),
        (("p",), tr("Propose a document that is missing")),
        (("q",), tr("Ask the lead about this pair")),
        (("?",), tr("This sheet; Esc closes it")),
    ]


def _work() -> dict[str, str]:
    return {
        "heading": tr("Label: {dataset}"),
        "query": tr("Query"),
        "narrative": tr("What is needed"),
        "document": tr("Document"),
        "pair_position": tr("Document {at} of {of}"),
        "reading": tr("Query and document"),
        "judging": tr("Judgment"),
        "grade": tr("Grade"),
        "strip": tr("About this pair"),
        "progress": tr("Pairs done"),
        "count": tr("{done} of {total}"),
        "note": tr("Note (optional)"),
        "notehint": tr("Why, if it was not obvious. Esc returns to the keys."),
        "do_back": tr("Back"),
        "do_later": tr("Later"),
        "do_unrateable": tr("Cannot rate"),
        "do_propose": tr("Propose"),
        "do_question": tr("Ask"),
        "do_list": tr("List"),
        "do_help": tr("Help"),
        "do_again": tr("Look again"),
        "close": tr("Close"),
        "loading": tr("Loading the next pairs …"),
        "finished": tr(
            "All done. Pairs that you have judged: {n}. Thank you.\nIf more come to you, they appear here."
        ),
        "nonenow": tr("Nothing is open for you at the moment: others are at work on what is left."),
        "nothing": tr(
            "There is nothing to label in this dataset yet.\nAs soon as a lead has made the pool, its pairs appear here."
        ),
    }


def _answers() -> dict[str, str]:
    return {
        "graded": tr("Graded {grade}."),
        "said_unrateable": tr("Marked as cannot be rated."),
        "said_later": tr("Put off."),
        "reason_title": tr("Why can it not be rated?"),
        "reason_unreadable": tr("Unreadable"),
        "reason_wrong_language": tr("Wrong language"),
        "reason_document_missing": tr("Document missing"),
        "reason_query_unclear": tr("Query unclear"),
        "reason_other": tr("Another reason"),
        "reason_words": tr("Which reason?"),
        "reason_save": tr("Save"),
        "reason_empty": tr("Write the reason."),
        "wentback": tr("Back to a pair that you answered. A grade changes your answer."),
        "answered": tr("You have answered this pair. A grade changes your answer."),
        "youranswer": tr("Your answer: {answer}."),
        "keep": tr("Keep it"),
        "older_standard": tr(
            "You judged this by version {n} of the guideline; what the grades mean has changed since."
        ),
        "older_text": tr("The document has changed since you judged it."),
        "confirm": tr("Confirm"),
        "whatchanged": tr("What changed"),
        "loading_changes": tr("Loading what changed …"),
        "nochanges": tr("What changed could not be loaded. Judge what is on the screen."),
        "changes_standard": tr("The guideline, from version {from} to version {to}"),
        "changes_text": tr("The document's text"),
        "changes_cut": tr("Only the beginning of the changes is shown."),
        "skipped": tr("… lines that are the same: {n} …"),
        "added": tr("Added: "),
        "removed": tr("Removed: "),
        "training": tr("Training: {n} of {m}."),
        "training_plain": tr("Training."),
        "training_hint": tr("After your answer you are told the right grade."),
        "training_waits": tr("Your answer is being saved; the right grade follows."),
        "training_right": tr("Right: {grade} {name}."),
        "training_wrong": tr("The right grade is {grade} {name}. Your answer was: {answer}."),
        "training_passed": tr("Training passed: {right} of {total} right. The real pairs follow."),
        "training_again": tr(
            "{right} of {total} right; {required} % are needed. What you did not get right comes again."
        ),
        "training_over": tr("Training is over. The real pairs follow."),
        "goon": tr("Go on"),
    }


def _standard() -> dict[str, str]:
    return {
        "newstandard": tr("The guideline has a new version ({n})."),
        "sheet_title": tr("Keys and guideline"),
        "sheet_grades": tr("The grades"),
        "sheet_guideline": tr("Guideline"),
        "sheet_keys": tr("Keys"),
        "version": tr("Version {n}"),
        "counts": tr("For example:"),
        "countsnot": tr("But not:"),
    }


def _states() -> dict[str, str]:
    return {
        "allsaved": tr("All saved"),
        "unsaved": tr("{n} not saved yet"),
        "unsavedlong": tr("{n} not saved yet. They are kept in this browser."),
        "why_slow": tr("The server has not answered yet; trying again by itself."),
        "why_unreachable": tr("The server cannot be reached; trying again by itself."),
        "why_database": tr("The database cannot be used just now; trying again by itself."),
        "why_offline": tr("This computer is offline; saving goes on by itself when it is back."),
        "why_signedout": tr(
            "You are signed out: in another tab, or because your session was ended or your account was closed."
        ),
        "why_other_person": tr(
            "Somebody else has signed in in this browser meanwhile. Nothing of yours is stored under their name; it waits here until you sign in again."
        ),
        "why_notallowed": tr("You may not label this dataset any more. Ask its lead."),
        "why_nodataset": tr("The server does not know this dataset any more. Ask its lead."),
        "why_archived": tr(
            "This dataset is archived, so nothing is stored. Your judgments stay in this browser until a lead unarchives it."
        ),
        "why_rejected": tr(
            "The server did not understand this page; it may be of another version. Reload the page; nothing is lost by it."
        ),
        "why_other_version": tr(
            "The server is of another version than this page. Reload the page; nothing is lost by it."
        ),
        "why_storage": tr(
            "This browser refuses to keep judgments (its storage is full or forbidden), so labeling has stopped: nothing is taken that could get lost. Free some space or allow site data, then press again."
        ),
        "signin": tr("Sign in again"),
        "elsewhere": tr("You judged this pair in another tab. A grade here changes that one."),
        "needless": tr(
            "This pair needs nothing any more: you judged it elsewhere, a lead has settled it, or it has left the pool."
        ),
        "surplus": tr(
            "The time for which a pair was kept for you had run out, and others have judged it meanwhile. Your judgment is kept and counted as well."
        ),
    }


def _refusals() -> dict[str, str]:
    return {
        "refused": tr("{n} could not be stored. What was stored before stays as it was:"),
        "refusednote": tr("Your note: {note}"),
        "forget": tr("I have seen this"),
        "notopened": tr("This pair cannot be opened: {why}"),
        "refused_bad_event": tr("the server could not read the judgment."),
        "refused_known_id": tr("the server has another judgment under the same number."),
        "refused_not_in_pool": tr("this pair has left the pool."),
        "refused_settled": tr("a lead has settled this pair; it can no longer be judged."),
        "refused_disclosed": tr(
            "you have seen what others answered, so your own answer can no longer be given or changed."
        ),
        "refused_not_yours": tr("this pair is not one of yours."),
    }
