"""Put what was expected and what was found in a file into the reader's language.

A reader of a format writes both in plain English, as the command line and the CSV of all problems show them. What is not
in the list stays English; names of columns, ids and values are never translated.
"""

import re
from collections.abc import Iterable
from typing import Any

from annotator.domain.messages import Message, say
from annotator.web.importing.message_json import read_message
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
    say("at most {n} bad places", n="{n}"),
    say("more, which are not listed"),
    say("each document of a query once"),
    say("each document of a query once (first on line {x})", x=X),
    say("each query_id once (first on line {x})", x=X),
    say("each doc_id once (first on line {x})", x=X),
    say("each rank of a query once (first on line {x})", x=X),
    say("a query_id of this dataset"),
    say("a query_id of this dataset, such as {x}", x=X),
    say("no byte order mark within the file"),
    say("qrels as qrels/NAME.tsv"),
    say("grades"),
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
    say("UTF-8 text (save it as UTF-8, or name the file's encoding)"),
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
    say("an annotator who does not judge in the browser"),
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
    # a search endpoint's spec
    say("an address with http:// or https://"),
    say("an address without placeholders in its host"),
    say("an address without user and password (use basic_auth)"),
    say("an address without #fragment"),
    say("an address without ${{…}}: addresses are shown in errors (use headers)"),
    say("an address without secrets: addresses are shown and recorded (use headers and ${{NAME}})"),
    say("user and password"),
    say("user or password"),
    say("GET or POST"),
    say("POST where a body is sent"),
    say("a JSON object or list"),
    say("a body without ${{…}}: secrets belong in headers"),
    say('JSON (placeholders in quotes: "{{depth}}" becomes a number)'),
    say('"{{{x}}}" in quotes', x=X),
    say("{{{x}}} without quotes", x=X),
    say("a template with the placeholders {x}", x=X),
    say('a template that sends the query: "{{query}}" in url or body'),
    say('used with "{{offset}}", "{{page}}" or "{{cursor}}" in url or body'),
    say('sent back as "{{cursor}}" in url or body'),
    say('used without "{{{x}}}"', x=X),
    say('given with next_cursor, since "{{cursor}}" turns pages'),
    say("given with next_cursor"),
    say('given with page_size, since "{{{x}}}" turns pages', x=X),
    say("no next_cursor"),
    say("no page_size"),
    say("given without a header Authorization"),
    say("given without engine_ms"),
    say("{x} to be given", x=X),
    say("both"),
    say("a key of endpoint specs (did you mean {x}?)", x=X),
    say("a key of endpoint specs (they are {x})", x=X),
    say("the name of a header that the program does not set itself"),
    say("a text of printable ASCII characters"),
    say("${{NAME}} of an environment variable: this header holds a secret"),
    say("${{NAME}} of an environment variable"),
    say("a JMESPath expression"),
    say("a name that the run file has no other use for"),
    say("a whole number {x}", x=X),
    say("a number {x}", x=X),
    say("ca_file to be left out: a spec in the browser names no file of the server"),
    say("only variables whose name begins with {x}", x=X),
    say("{x} to be at most {y} in the browser", x=X, y="{y}"),
    # an answer of a search endpoint
    say("query {x} to have the column {y}", x=X, y="{y}"),
    say("an answer to query {x}", x=X),
    say("rank: {x} of result {y} to be a whole number from 0", x=X, y="{y}"),
    say("score: {x} of result {y} to be a finite number", x=X, y="{y}"),
    say(
        "score: {x} of result {y} to be a finite number; for a number in quotes write to_number({z})",
        x=X,
        y="{y}",
        z="{z}",
    ),
    say("id: {x} of result {y} to be a text that is not empty", x=X, y="{y}"),
    say("results: {x} to be a list", x=X),
    say("total: {x} to be a whole number from 0", x=X),
    say("engine time: {x} to be a number from 0", x=X),
    say("next_cursor: {x} to be what the next page begins with", x=X),
    say("page {x} to continue the list", x=X),
    say("page {x} again", x=X),
    say("each document once"),
    say("the endpoint says that the answer is not whole (failed_if: {x} is {y})", x=X, y="{y}"),
    say("nothing (there are: {x})", x=X),
    say("nothing (an empty object)"),
    say("nothing in {x}", x=X),
    say("not sent: the fetch had stopped"),
    # why a request to a search endpoint failed
    say("no connection to {x}", x=X),
    say("no connection within {x} s", x=X),
    say("no answer within {x} s", x=X),
    say("no whole answer within {x} s", x=X),
    say("there is no host {x}", x=X),
    say("the connection broke ({x})", x=X),
    say("the address is too long, or none, once the query is in it"),
    say("the address leads to another host than the spec names"),
    say("the answer repeats a secret of the request, so it is not stored"),
    say("more than {x} redirects", x=X),
    say("a redirect (HTTP {x}) to no address", x=X),
    say(
        "a redirect (HTTP {x}) that would turn {y} into GET: name the final address in the spec", x=X, y="{y}"
    ),
    say("a redirect to {x}: refused, the spec names {y}", x=X, y="{y}"),
    say("more than {x} MB (max_megabytes), HTTP {y}", x=X, y="{y}"),
    say(
        "TLS: the certificate of {x} is not trusted ({y}); ca_file names a certificate to trust", x=X, y="{y}"
    ),
    say("TLS: no secure connection to {x} ({y}); does it speak http?", x=X, y="{y}"),
    say("TLS: no secure connection to {x} ({y})", x=X, y="{y}"),
    say("{x}, asks to wait {y} s, more than max_wait_seconds ({z})", x=X, y="{y}", z="{z}"),
    say("an empty answer"),
    say("JSON in UTF-8"),
    say("other bytes"),
    say("HTML or XML: {x}", x=X),
    # office files
    say("a {x} file without a password", x=X),
    say("a {x} file without macros", x=X),
    say("a {x} file that can be read", x=X),
    say("an XLSX file that can be read"),
    say("a PDF file with text"),
    say("a PDF file of at most {x} pages", x=X),
    say("a PDF file of ordinary size"),
    say("a {x} file that unpacks to at most {y} bytes in {z} parts", x=X, y="{y}", z="{z}"),
    say("sheets of at most {x} rows", x=X),
    say("pictures of pages only: a scanned file needs text recognition first"),
    say("an encrypted one, or one of Office 2003"),
    say("an encrypted one"),
    say("one that unpacks to too much"),
    say("no archive, or a broken one"),
    say("a damaged one ({x})", x=X),
    say("macros"),
    # tables, JSON and YAML
    say("a header {x}, with tabs", x=X),
    say("a query of {x}", x=X),
    say("{x} in the folder", x=X),
    say("{x} that are not empty", x=X),
    say("{n} cells: {x}", n="{n}", x=X),
    say("another name in metadata: this one is used by this program"),
    say("another name: this one is used by this program"),
    say("the same as {x} beside it ({y})", x=X, y="{y}"),
    say("qrels, settled"),
    say("a qrel, settled"),
    say("a doc_id and a grade for {x}", x=X),
    say("{x} as in the query's rows before ({y})", x=X, y="{y}"),
    say(
        "a list of {x} documents at most, since {y} gives no grade behind that place (add one)", x=X, y="{y}"
    ),
    say("{x}, which {y} have", x=X, y="{y}"),
    say("the system's name"),
    say("none in the file"),
    say("the answer of line {x}, which is by the same annotator ({y})", x=X, y="{y}"),
    say("the annotator as {x}, to revise that person's judgment", x=X),
    say("annotator to be a name with a visible character"),
    say("the annotator as {x}", x=X),
    say("the person {x}", x=X),
    say("a key of provenance files (did you mean {x}?)", x=X),
    say("a key of provenance files (they are {x})", x=X),
    say("{x}, which holds query ids only", x=X),
    say("a value for {x} of {y}", x=X, y="{y}"),
    say("each document of a query once (first on line {x}; --duplicates first keeps one)", x=X),
    say("a number that fits"),
    say("JSON without {x}", x=X),
    say("the end of the file"),
    say("{x} after an item of the array", x=X),
    say("a regular file"),
    say("byte {x}", x=X),
    say("a text as a key"),
    say("YAML without merge keys"),
    say("YAML without tags"),
    say("an alias of something complete above it"),
    say("aliases of at most {x} values together", x=X),
    say("an id of {x}", x=X),
    say("a header {x}", x=X),
    say("at most {n} characters ({m} bytes)", n="{n}", m="{m}"),
    say("{n} characters", n="{n}"),
    say("{n} bytes in {m}", n="{n}", m="{m}"),
    say("{n} bytes", n="{n}"),
    say("{n} fields", n="{n}"),
    say("{n} cells", n="{n}"),
    say("none"),
    say("Expecting {x} at character {y}", x=X, y="{y}"),
    say("{x} again", x=X),
    say("a {x} file", x=X),
)
"""Longer ones before shorter ones that match too."""

COMMAND = re.compile(r" \(annotator [^()]*\)$")
VALUE = re.compile(r"\\\{(\w)\\\}")
FIGURES = ("n", "m")  # the names of values that are numbers
REASON = re.compile(r"(?P<reason>.+) \((?P<attempts>\d+) attempts\)", re.DOTALL)
ANSWER = re.compile(r"expected (?P<expected>.+?), found (?P<found>.+)", re.DOTALL)
PLACE = re.compile(r"(?P<place>\S+) to be (?P<expected>.+)", re.DOTALL)


def show_problem_text(text: str) -> str:
    """Return the text for a page: in the reader's language if it is one of PATTERNS or made of them, without commands."""
    return name_fields(_translate(COMMAND.sub("", text)))


def _translate(text: str) -> str:
    for pattern, message in _COMPILED:
        match = pattern.fullmatch(text)
        if match is not None:
            values = {name: _show_limit(value) for name, value in match.groupdict().items()}
            return tr(Message(message.template, values))
    return _show_compound(text)


def _show_compound(text: str) -> str:
    """Return a text made of others in the reader's language; as it is where the parts are not among PATTERNS."""
    if match := REASON.fullmatch(text):
        reason = _translate(match["reason"])
        if reason != match["reason"]:
            return tr("{reason} ({attempts} attempts)", reason=reason, attempts=match["attempts"])
    if match := ANSWER.fullmatch(text):
        expected = _translate(match["expected"])
        if expected != match["expected"]:
            return tr(
                "expected {expected}, found {found}",
                expected=expected,
                found=_translate(match["found"]),
            )
    if match := PLACE.fullmatch(text):
        expected = _translate(match["expected"])
        if expected != match["expected"]:
            return f"{match['place']}: {expected}"
    return text


def _show_limit(value: str) -> str:
    """Return the longest length of an id or a text in the reader's language, and any other value as it is."""
    for pattern, message in _LIMITS:
        if match := pattern.fullmatch(value):
            return tr(Message(message.template, match.groupdict()))
    return value


def _compile(messages: Iterable[Message]) -> list[tuple[re.Pattern[str], Message]]:
    return [
        (re.compile(VALUE.sub(_match_value, re.escape(message)), re.DOTALL), message) for message in messages
    ]


def _match_value(name: re.Match[str]) -> str:
    return rf"(?P<{name[1]}>[\d,.]+)" if name[1] in FIGURES else f"(?P<{name[1]}>.+)"


_COMPILED = _compile(PATTERNS)
_LIMITS = _compile(
    [
        say("at most {n} characters ({m} bytes)", n="{n}", m="{m}"),
        say("a text of at most {x} characters", x=X),
    ]
)
FIELDS: dict[str, Message] = {
    "format": say("Format"),
    "encoding": say("Encoding"),
    "column": say("Columns"),
    "sections": say("Division"),
    "cut": say("Division"),
    "doc-id": say("Ids and titles"),
    "title": say("Ids and titles"),
    "system": say("System"),
    "order rank": say("Order by the ranks in the file, not by score"),
    "order score": say("Order by the ranks in the file, not by score"),
    "order": say("Order by the ranks in the file, not by score"),
    "duplicates first": say("If a query lists a document twice, keep the better rank"),
    "duplicates": say("If a query lists a document twice, keep the better rank"),
    "skip-unknown-queries": say("Leave out queries that the dataset does not have"),
    "id-field": say("JSON field with the id of the document"),
    "map-grades": say("Grades of another scale"),
    "grades-by": say("Grades for a file without grades"),
    "rejudge": say("Have the pairs judged here; the grades are suggestions for leads"),
    "as-judgments": say("Take the annotators' own grades in the file as their judgments"),
    "provenance": say("How the grades were made"),
}
"""The field of the page for each option of the commands; longer names before shorter ones."""
_OPTION = re.compile(rf"(?<![\w-])`?--(?P<name>{'|'.join(FIELDS)})(?![\w-])`?")
_REMARK = re.compile(r" ?\([^()]*(?<![\w-])--[a-z][^()]*\)|; (?:\w+ )*--[a-z][^;.]*")
"""Words in brackets, or at the end, about an option that no page has."""
OTHER_SCALE = re.compile(
    r"Values that are not grades 0-3, and how often they occur: (?P<values>.+)\. To read them as grades: --map-grades .*",
    re.DOTALL,
)


def name_fields(text: str) -> str:
    """Return a text of the commands for a page: with the names of its fields instead of options."""
    named = _OPTION.sub(lambda match: f"“{tr(FIELDS[match['name']])}”", text)
    return _REMARK.sub("", named)


def show_text(value: Any) -> str:
    """Return what another process said (see `message_json`) in the reader's language, for a page."""
    text = tr(read_message(value))
    if match := OTHER_SCALE.fullmatch(text):
        return tr(
            "Values that are not grades 0–3, with their counts: {values}. To read them as grades, fill in the field for grades of another scale.",
            values=match["values"],
        )
    return name_fields(text)
