"""Every word that the view of a document shows, in the reader's language. `{…}` is filled in by the panel."""

from annotator.web.kit.messages import tr


def document_words() -> dict[str, str]:
    """The words by the names that `document.js` asks for."""
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
