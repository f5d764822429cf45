"""Every word of whole-query mode and of the dialogs for proposals and questions. `{…}` is filled in by the panel."""

from annotator.web.kit.messages import tr


def list_words() -> dict[str, str]:
    """The words by the names that `list.js`, `propose.js` and `ask.js` ask for."""
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
