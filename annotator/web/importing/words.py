"""Names and descriptions of the kinds of files, and the form's fields, for the page Queries and documents."""

from collections.abc import Mapping

from annotator.domain.messages import Message, say
from annotator.web.kit.messages import tr

KIND_NAMES: Mapping[str, Message] = {
    "queries": say("queries"),
    "documents": say("Documents"),
    "run": say("Run"),
    "pairs": say("Pairs"),
    "judgments": say("Judgments"),
    "qrels": say("Earlier ground truth"),
}
CONTENT_NAMES: Mapping[str, Message] = {**KIND_NAMES, "run": say("Runs")}


def name_kind(kind: str, *, names: Mapping[str, Message] = KIND_NAMES) -> str:
    """Return the translated name of a kind, capitalized."""
    name = tr(names[kind])
    return name[:1].upper() + name[1:]


KIND_HELP: Mapping[str, Message] = {
    "queries": say("A table with the columns query_id and text, or any ground-truth file."),
    "documents": say(
        "A table with doc_id, title and text; or a folder of texts, HTML, Word, PDF or Excel files."
    ),
    "run": say("The ranked results of one system: TREC lines or JSON."),
    "pairs": say("A table with the columns query_id and doc_id: what is to be judged."),
    "judgments": say("A table with query_id, doc_id, annotator and grade: judgments made elsewhere."),
    "qrels": say("Settled grades of an earlier ground truth, in any of its formats."),
}
CUT_NAMES: Mapping[str, Message] = {
    "": say("Each file is one document"),
    "sections": say("Split at headings"),
    "articles": say("Laws: one document per article"),
    "paragraphs": say("Laws: one document per paragraph"),
    "items": say("Laws: one document per item"),
}
DECLARED_NAMES: Mapping[str, Message] = {
    "who": say("Who judged"),
    "when": say("When"),
    "how": say("How"),
    "blind": say("Without seeing each other's grades, ranks or systems"),
    "guideline": say("By which guideline"),
    "licence": say("Licence"),
    "note": say("Note"),
}
"""The statements about grades from `domain/import_records.py`."""
OPTION_FIELDS: Mapping[str, Message] = {
    "--as-judgments": say("Take the annotators' own grades in the file as their judgments"),
    "--doc-id": say("Ids and titles"),
    "--doc-id and --title": say("Ids and titles"),
    "--duplicates first": say("If a query lists a document twice, keep the better rank"),
    "--format": say("Format"),
    "--grades-by": say("Grades for a file without grades"),
    "--id-field": say("JSON field with the id of the document"),
    "--map-grades": say("Grades of another scale"),
    "--order rank": say("Order by the ranks in the file, not by score"),
    "--provenance": say("How the grades were made"),
    "--sections, --cut": say("Division"),
    "--skip-unknown-queries": say("Leave out queries that the dataset does not have"),
    "--system": say("System"),
    "--title": say("Ids and titles"),
}
"""The form's field for an option in a message."""


def name_field(option: str) -> str:
    """Return the field for the option, in quotes; "" if the form has none."""
    return f"“{tr(OPTION_FIELDS[option])}”" if option in OPTION_FIELDS else ""
