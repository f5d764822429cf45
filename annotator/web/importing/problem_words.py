"""Put what was expected and what was found in a file into the reader's language.

A reader of a format writes both in plain English, as the command line and the CSV of all problems show them. What is not
in the list stays English; names of columns, ids and values are never translated.
"""

import re
from collections.abc import Iterable

from annotator.domain.messages import Message, say
from annotator.web.kit.messages import tr

X = "{x}"
PATTERNS: tuple[Message, ...] = (
    say("a JSON object"),
    say("an empty file"),
    say("something else"),
    say("an empty one"),
    say("a longer one"),
    say("neither"),
    say("nothing"),
    say("a list"),
    say("a text"),
    say("a value"),
    say("true or false"),
    say("given once"),
    say("given once in a query"),
    say("each key once"),
    say("each column once"),
    say("each document of a query once"),
    say("each document of a query once (first on line {x})", x=X),
    say("each query_id once (first on line {x})", x=X),
    say("each doc_id once (first on line {x})", x=X),
    say("each rank of a query once (first on line {x})", x=X),
    say("a query_id of this dataset"),
    say("a grade 0, 1, 2 or 3"),
    say("a name for every column"),
    say("results for a query of this dataset"),
    say("judged_at to be an ISO 8601 time such as 2026-01-31T09:30:00Z"),
    say("score to be a finite number"),
    say("rank to be a whole number from 0"),
    say("text to be a text that is not empty"),
    say("an explanation of some words for a training pair"),
    say("lines of query_id iteration doc_id grade"),
    say("text without NUL characters and lone surrogates"),
    say("4 fields: query_id iteration doc_id grade"),
    say("6 fields: query_id Q0 doc_id rank score tag"),
    say("JSON objects, one a line"),
    say("JSON of at most {x} MB", x=X),
    say("YAML of at most {x} MB", x=X),
    say("lines of at most {x} MB", x=X),
    say("YAML without control characters"),
    say("UTF-8 text (for another encoding: --encoding NAME)"),
    say("a CSV row"),
    say("a TSV row"),
    say("rows of a table"),
    say("a JSON document"),
    say("a JSON string"),
    say("a JSON number that fits"),
    say("a YAML document"),
    say("one YAML document"),
    say("a second one"),
    say("a mapping"),
    say("a mapping with doc_id and relevance"),
    say("a mapping with id and reference"),
    say("a mapping with id, text and expected"),
    say("a mapping with query and relevant_documents"),
    say("a mapping with query_id and query_text"),
    say("a mapping with relevance"),
    say("a path, or a mapping with path and relevance"),
    say("a query with id and query"),
    say("a file name in UTF-8"),
    say("a file that can be read"),
    say("a file with text in it"),
    say("a file without macros (save it as {x})", x=X),
    say("a grade 0, 1, 2, 3 or unrateable"),
    say("a score 0, 1, 2 or 3"),
    say("a doc_id and a grade, as the query's other rows have"),
    say("a judgment (it has an annotator: import judgments)"),
    say("judgments (a column annotator: import judgments reads these)"),
    say("a name for each annotator in the file, such as annotator_1: Tanaka"),
    say("a name or username"),
    say("a query_id, or a text that one query has"),
    say("the text of a query of this dataset"),
    say("a simulated annotator"),
    say("a title or a text"),
    say("an id: a text that is not empty"),
    say("another column of the file for each name"),
    say("at least one run file"),
    say("each _id once"),
    say("each pair once"),
    say("metadata to be a mapping"),
    say("signals to be a mapping"),
    say("results to be a list"),
    say("results[{x}] to be an object", x=X),
    say("nesting of at most {x} levels", x=X),
    say("text without NUL characters"),
    say("new_doc_id to be an id that no retired document has"),
    say("a grade 0-3 for {x}", x=X),
    say("one grade for {x}", x=X),
    say("one or more of {x}", x=X),
    say("origin to be one of {x}", x=X),
    say("media_type to be one of {x}", x=X),
    say("a text of at most {x} characters", x=X),
    say("a file of at most {x} bytes", x=X),
    say("{x} to be a file within the folder", x=X),
    say("judged_at not later than now ({x})", x=X),
    say("a column {x}", x=X),
    say("a value of {x}", x=X),
    say("no columns but {x}", x=X),
    say("a header with {x}", x=X),
    say("a name of {x}", x=X),
    say("a doc_id of {x}", x=X),
    say("ids of {x}", x=X),
    say("{x} to be a text that is not empty", x=X),
    say("{x} to be a number from 0", x=X),
    say("{x} to be a text", x=X),
    say("Expecting {x} at character {y}", x=X, y="{y}"),
    say("{x} again", x=X),
)
"""Longer ones before shorter ones that match too."""

COMMAND = re.compile(r" \(annotator [^()]*\)$")
VALUE = re.compile(r"\\\{(\w)\\\}")


def show_problem_text(text: str) -> str:
    """Return the text in the reader's language if it is one of PATTERNS; without the command that it may end with."""
    text = COMMAND.sub("", text)
    for pattern, message in _COMPILED:
        match = pattern.fullmatch(text)
        if match is not None:
            return tr(Message(message.template, match.groupdict()))
    return text


def _compile(messages: Iterable[Message]) -> list[tuple[re.Pattern[str], Message]]:
    return [
        (re.compile(VALUE.sub(r"(?P<\1>.+)", re.escape(message.template)), re.DOTALL), message)
        for message in messages
    ]


_COMPILED = _compile(PATTERNS)
OTHER_SCALE = re.compile(
    r"Values that are not grades 0-3, and how often they occur: (?P<values>.+)\. To read them as grades: --map-grades .*",
    re.DOTALL,
)


def show_hint(hint: str) -> str:
    """Return the hint for a page: it names the field where the command line names an option."""
    match = OTHER_SCALE.fullmatch(hint)
    if match is None:
        return hint
    return tr(
        "Values that are not grades 0–3, with their counts: {values}. To read them as grades, fill in the field for grades of another scale.",
        values=match["values"],
    )
