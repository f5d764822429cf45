"""Every text that the labeling panel shows, in the reader's language.

Includes the document view, whole-query mode and the dialogs for proposals and questions. The panel fills in
`{…}`.
"""

from annotator.web.kit.messages import tr


def _document() -> dict[str, str]:
    return {  # document_view.js
        "doc_label": tr("Document"),
        "doc_tools": tr("In this document"),
        "doc_notext": tr("The text of this document was not imported. Only its id is known."),
        "doc_empty": tr("This document is empty."),
        "doc_whole": tr("Show the whole document ({n} characters)"),
        "doc_loading": tr("Loading the whole document …"),
        "doc_wholefailed": tr("The rest could not be loaded. Try again"),
        "doc_blocked": tr("Images and embedded content not shown: {n}"),
        "doc_cut": tr(
            "Only the beginning is shown. The button at the end shows the whole document as source text."
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
        "doc_foundpart": tr("Only the loaded part was searched, not the whole document."),
        "doc_close": tr("Close"),
        "doc_about": tr("About this document"),
        "doc_newtab": tr("Opens in a new tab"),
    }


def _list() -> dict[str, str]:
    return {  # query_list.js, proposal_dialog.js and question_dialog.js
        "list_label": tr("Documents of the query"),
        "list_hint": tr("j k: row · 0–3: grade"),
        "list_count": tr("{done} of {total} done"),
        "list_position": tr("{at} of {of}:"),
        "list_open": tr("Not judged yet."),
        "list_putoff": tr("Later"),
        "list_closed": tr("No judgment needed"),
        "list_training": tr("Training shows one pair at a time. The list returns after training."),
        "list_alldone": tr("All {n} graded."),
        "list_mostdone": tr("{n} of {total} graded, the rest later."),
        "nextquery": tr("Next query"),
        "why_unreachable_once": tr("The server cannot be reached."),
        "send_kept": tr("Your text is kept in this browser. Send it again."),
        "send_refused": tr("The server did not accept it. Your text is kept in this browser."),
        "propose_title": tr("Propose a document for this query"),
        "propose_search": tr("Search all documents of the dataset"),
        "propose_found": tr("Documents found"),
        "propose_type": tr("Type at least two characters. Choose with ↓ ↑ and Enter."),
        "propose_preparing": tr("Preparing the search … {n} %"),
        "propose_beginning": tr("Searches the first {n} characters of each document."),
        "propose_count": tr("Found: {n}"),
        "propose_none": tr("No documents found."),
        "propose_inpool": tr("in the pool"),
        "propose_judged": tr("judged by you"),
        "propose_inpool_long": tr(
            "This document is already in the query's pool. If you are to judge it, it comes by itself."
        ),
        "propose_judged_long": tr("You have already judged this document for this query."),
        "propose_open_long": tr("This document is already in the pool. You can judge it here."),
        "propose_choose": tr("Choose a document to read it here, then grade it."),
        "propose_grade": tr("Your grade"),
        "propose_nograde": tr("Choose a grade first: 0–3."),
        "propose_send": tr("Propose document"),
        "propose_judge": tr("Judge document"),
        "propose_sent": tr(
            "Document proposed with your grade. Others will judge it without knowing that it was proposed."
        ),
        "propose_judged_now": tr("Judged."),
        "propose_gone": tr("This document is no longer in the dataset."),
        "propose_notyours": tr("Others judge this query, so you cannot propose a document for it."),
        "propose_cut": tr("Only the first {n} characters are shown."),
        "ask_title": tr("Ask the lead about this pair"),
        "ask_label": tr("Your question"),
        "ask_hint": tr(
            "Describe what is unclear, not the grade you would give: a lead may still have to judge this "
            "pair. Your text is kept until you send it."
        ),
        "ask_send": tr("Send"),
        "ask_empty": tr("Enter some text first."),
        "ask_own": tr("Your questions and the answers"),
        "ask_sent": tr("Question sent. The answer will appear on the page Questions."),
        "ask_notyours": tr("This pair is no longer yours, so you cannot ask about it."),
    }


def panel_words() -> dict[str, str]:
    """Return the words by the names that the panel's scripts ask for."""
    return {
        **_work(),
        **_answers(),
        **_states(),
        **_document(),
        **_list(),
    }


def list_keys() -> list[tuple[tuple[str, ...], str]]:
    """Return (keys, effect) for the sheet of keys."""
    return [
        (("0", "1", "2", "3"), tr("Grade")),
        (("u",), tr("Cannot rate; asks for a reason (1–5)")),
        (("l",), tr("Later: the pair comes back at the end")),
        (("z", "⌫"), tr("Back to the previous pair, to review it or change the judgment")),
        (("⏎",), tr("Confirm or keep an earlier judgment; continue after an explanation")),
        (("n",), tr("Note; Esc returns to the keys")),
        (("j", "k"), tr("Scroll the document down, up")),
        (("/",), tr("Find in the document")),
        (("[", "]"), tr("Previous, next match in the document")),
        (("w",), tr("All documents of the query as a list")),
        (("p",), tr("Propose a document that is missing")),
        (("q",), tr("Ask the lead about this pair")),
        (("?",), tr("This help; Esc closes it")),
    ]


def _work() -> dict[str, str]:
    return {
        "heading": tr("Label: {dataset}"),
        "query": tr("Query"),
        "narrative": tr("Information need"),
        "document": tr("Document"),
        "pair_position": tr("Document {at} of {of}"),
        "reading": tr("Query and document"),
        "judging": tr("Judgment"),
        "grade": tr("Grade"),
        "strip": tr("About this pair"),
        "progress": tr("Pairs done"),
        "count": tr("{done} of {total}"),
        "note": tr("Note (optional)"),
        "notehint": tr("Why this grade? (Esc: back)"),
        "do_back": tr("Back"),
        "do_later": tr("Later"),
        "do_unrateable": tr("Cannot rate"),
        "do_propose": tr("Add a missing document"),
        "do_question": tr("Ask the lead"),
        "do_list": tr("List"),
        "do_help": tr("Help"),
        "do_again": tr("Check for new pairs"),
        "close": tr("Close"),
        "cancel": tr("Cancel"),
        "loading": tr("Loading the next pairs …"),
        "finished": tr("All done. Pairs you judged: {n}. Thank you.\nNew pairs will appear here."),
        "newpairs": tr("There is new work. More pairs for you: {n}. What you have done still counts."),
        "nonenow": tr("Nothing to judge at the moment. Others are working on the pairs left."),
        "nothing": tr(
            "There is nothing to label in this dataset yet.\nPairs appear here when a lead has made the pool."
        ),
    }


def _answers() -> dict[str, str]:
    return {
        "graded": tr("Graded {grade}."),
        "said_unrateable": tr("Marked as cannot rate."),
        "said_later": tr("Set to later."),
        "reason_title": tr("Cannot rate: choose a reason"),
        "reason_unreadable": tr("Unreadable"),
        "reason_wrong_language": tr("Wrong language"),
        "reason_document_missing": tr("Document missing"),
        "reason_query_unclear": tr("Query unclear"),
        "reason_other": tr("Another reason"),
        "reason_words": tr("Which reason?"),
        "reason_save": tr("Save"),
        "reason_empty": tr("Enter the reason."),
        "wentback": tr("You went back to a pair you judged. A new grade replaces your judgment."),
        "answered": tr("Your grade: {answer}. Press another key to change it."),
        "youranswer": tr("Your judgment: {answer}."),
        "keep": tr("Keep it"),
        "older_standard": tr(
            "You judged this pair with guideline version {n}. The grade definitions have changed since."
        ),
        "older_text": tr("The document has changed since you judged it."),
        "confirm": tr("Confirm"),
        "whatchanged": tr("What changed"),
        "loading_changes": tr("Loading changes …"),
        "nochanges": tr("The changes could not be loaded. Judge what you see on the screen."),
        "changes_standard": tr("Guideline: version {from} → version {to}"),
        "changes_text": tr("Document text"),
        "changes_cut": tr("Only the beginning of the changes is shown."),
        "skipped": tr("… unchanged lines: {n} …"),
        "added": tr("Added: "),
        "removed": tr("Removed: "),
        "training": tr("Training: {n} of {m}."),
        "training_plain": tr("Training."),
        "training_hint": tr("You see the right grade after your judgment."),
        "training_waits": tr("Saving your judgment. The right grade follows."),
        "training_right": tr("Right: {grade} {name}."),
        "training_wrong": tr("The right grade is {grade} {name}. Your judgment: {answer}."),
        "training_passed": tr("Training passed: {right} of {total} right. Real pairs follow."),
        "training_again": tr(
            "{right} of {total} right. You need {required} %. The pairs you got wrong come again."
        ),
        "training_over": tr("Training is over. Real pairs follow."),
        "goon": tr("Continue"),
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
        "why_slow": tr("The server has not answered yet. Retrying automatically."),
        "why_unreachable": tr("The server cannot be reached. Retrying automatically."),
        "why_database": tr("The database is unavailable. Retrying automatically."),
        "why_offline": tr("This computer is offline. Saving resumes when it is back online."),
        "why_signedout": tr(
            "You are signed out: you signed out in another tab, your session ended, or your account was "
            "disabled."
        ),
        "why_other_person": tr(
            "Another person has signed in with this browser. Your judgments are not saved under their name. They wait here until you sign in again."
        ),
        "why_notallowed": tr("You can no longer label this dataset. Ask its lead."),
        "why_nodataset": tr("This dataset is no longer on the server. Ask its lead."),
        "why_archived": tr(
            "This dataset is archived, so nothing can be saved. Your judgments stay in this browser "
            "until a lead unarchives the dataset."
        ),
        "why_rejected": tr(
            "The server did not understand this page. It may have a new version. Reload the page: "
            "nothing will be lost."
        ),
        "why_other_version": tr(
            "The server has another version than this page. Reload the page: nothing will be lost."
        ),
        "why_storage": tr(
            "This browser cannot store judgments because its storage is full or blocked. Labeling has "
            "stopped so that nothing gets lost. Free some space or allow site data, then press the key "
            "again."
        ),
        "signin": tr("Sign in again"),
        "elsewhere": tr("You judged this pair in another tab. A grade here replaces that judgment."),
        "needless": tr(
            "This pair needs no more judgments: you judged it elsewhere, a lead settled it, or it left "
            "the pool."
        ),
        "refused": tr("Not saved: {n}. Earlier judgments are unchanged:"),
        "refusednote": tr("Your note: {note}"),
        "forget": tr("Got it"),
        "notopened": tr("This pair cannot be opened: {why}"),
        "refused_bad_event": tr("the server could not read the judgment."),
        "refused_known_id": tr("the server already has a different judgment with this number."),
        "refused_not_in_pool": tr("this pair was not given to you, or it has left the pool."),
        "refused_settled": tr("a lead has settled this pair; it can no longer be judged."),
        "refused_disclosed": tr(
            "you have seen others' judgments, so you can no longer judge this pair or change your judgment."
        ),
        "refused_not_yours": tr("others judge this query now, or your training is not finished."),
        "refused_too_many": tr("you have changed your judgment of this pair too often. The last one stays."),
    }
