"""`assay-queries`: the code-search evaluator's list of queries with texts and expected paths. Read and
written.

    [{id, text, expected: [{path, relevance}, …]}]       a plain path means relevance 1

The file is a list, so it has no metadata of its own. Unknown keys are kept: keys of an item in the query's
metadata, keys of a path in its qrel's. Refused: a repeated query, a repeated path within a query, a grade
other than 0-3, an item without `text` or `expected`.
"""

import re
from collections.abc import Sequence
from typing import Any

from annotator.domain.ground_truth import GroundTruth, Metadata, Qrel, Query
from annotator.domain.messages import say
from annotator.formats.assay import (
    FEATURES,
    RESERVED,
    read_fields,
    read_paths,
    read_rest,
    write_fields,
    write_paths,
)
from annotator.formats.format import Format
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tree import Location, TreeProblems, locate_items
from annotator.formats.syntax.yaml_text import load_yaml, quote
from annotator.formats.writer import ONE_FILE, FileWriter

_STARTS = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n|---[ \t]*\r?\n)*-[ \t]+[\"']?[\w-]+[\"']?[ \t]*:")
_CERTAIN = re.compile(rb"^(?:- +|  +)[\"']?expected[\"']?[ \t]*:", re.MULTILINE)
_HEAD = "# The same evaluator's list form: one item a query, with its text and its expected paths.\n"


def read(source: InputSource) -> GroundTruth:
    """Return the queries and qrels of a file. BadInput names every bad place with its line."""
    tree = load_yaml(source.read_bytes(), source.path)
    problems = TreeProblems(tree, source.scale)
    queries: dict[str, Query] = {}
    qrels: list[Qrel] = []
    for index, item in enumerate(problems.list(tree.value, ())):
        location: Location = (index,)
        if not isinstance(item, dict):
            problems.add(location, say("a mapping with id, text and expected"), item)
            continue
        query = _read_query(dict(item), location, problems, qrels)
        if query.query_id in queries and query.query_id:
            problems.add((*location, "id"), say("given once"), query.query_id)
        queries[query.query_id] = query
    problems.raise_if_any()
    return GroundTruth(tuple(queries.values()), tuple(qrels))


def find_query_lines(source: InputSource) -> list[int]:
    """Return the line on which each query of a readable file begins, in order."""
    return locate_items(load_yaml(source.read_bytes(), source.path))


def _read_query(rest: dict[str, Any], location: Location, problems: TreeProblems, qrels: list[Qrel]) -> Query:
    query_id = problems.id(rest.pop("id", None), (*location, "id"))
    text = problems.text(rest.pop("text", None), (*location, "text"))
    here = (*location, "expected")
    qrels.extend(read_paths(query_id, problems.list(rest.pop("expected", None), here), here, problems))
    fields = read_fields(rest, location, problems)
    return Query(query_id, text, **fields, metadata=read_rest(rest))


def _begin(_: Metadata, queries: int) -> str:
    return _HEAD if queries else f"{_HEAD}[]\n"


def _add(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    return (
        f"- id: {quote(query.query_id)}\n  text: {quote(query.text)}\n"
        + write_paths("expected", qrels, 2)
        + write_fields(query, ("id", "text", "expected"), 2)
    )


FORMAT = Format(
    name="assay-queries",
    about="YAML list of queries with expected paths of the code-search evaluator",
    suffixes=(".yaml", ".yml"),
    holds=("queries", "query metadata", "grades", "descriptions", "further keys"),
    cannot_hold=(
        "notes",
        "annotators' own grades",
        "what the file says of itself",
        "grade 0 apart from relevant (left out unless asked for)",
    ),
    features=frozenset((*FEATURES, "query_texts")),
    read=read,
    files=(FileWriter(ONE_FILE, begin=_begin, add=_add),),
    certain=lambda head: bool(_STARTS.match(head)) and bool(_CERTAIN.search(head)),
    tells_grade_0=False,
    find_query_lines=find_query_lines,
    schema="assay-queries.schema.json",
    reserved=RESERVED,
    ordered=True,
)
