"""Names and descriptions of the kinds of files, and the form's fields, for the page Queries and documents.

Messages are written as JSON and read back, so that a page can translate the sentences of another process.
"""

from collections.abc import Mapping
from typing import Any

from annotator.domain.messages import CommandWords, Message, say
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
    "": say("file"),
    "sections": say("heading"),
    "articles": say("article (laws)"),
    "paragraphs": say("paragraph (laws)"),
    "items": say("item (laws)"),
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
"""The statements about grades from `domain/ground_truth.py`."""
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
    "--sections, --cut": say("One document per"),
    "--skip-unknown-queries": say("Leave out queries that the dataset does not have"),
    "--system": say("System"),
    "--title": say("Ids and titles"),
}
"""The form's field for an option in a message."""


def name_field(option: str) -> str:
    """Return the field for the option, in quotes; "" if the form has none."""
    return f"“{tr(OPTION_FIELDS[option])}”" if option in OPTION_FIELDS else ""


def to_json(value: Any) -> Any:
    """Return a text or a Message for JSON, with its values; also lists of them."""
    if isinstance(value, Message):
        values = {name: to_json(item) for name, item in value.values.items()}
        return {"template": value.template, "plural": value.plural, "n": value.n, "values": values}
    if isinstance(value, CommandWords):
        return {"command_words": str(value), "on_page": to_json(value.on_page)}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def show_text(value: Any) -> str:
    """Return a text or a Message that `to_json` wrote in the reader's language, without words of commands."""
    return tr(read_message(value))


def read_message(value: Any) -> str:
    """Return the text or the Message that `to_json` wrote."""
    if isinstance(value, dict) and "template" in value:
        values = {
            name: read_message(item) if isinstance(item, dict) else item
            for name, item in value["values"].items()
        }
        return Message(value["template"], values, plural=value["plural"], n=value["n"])
    if isinstance(value, dict):
        on_page = value["on_page"]
        return name_field(value["command_words"]) if on_page is None else read_message(on_page)
    return str(value)
