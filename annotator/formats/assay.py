"""`assay`: the YAML of expected paths that the code-search evaluator (TypeScript) loads. Read and written.

    expected: [{id, reference: {paths: [{path, relevance} or a plain path: relevance 1]}}]

Holds no query texts: these stand in a file of the evaluator's own (`assay-queries` has both). Every further key is
kept: beside `expected` in the truth's metadata, of an item and of its `reference` in the query's, of a path in its qrel's.
Refused: a query or a path of one twice, a grade other than 0-3, an item without `reference.paths`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotator.domain.ground_truth import GroundTruth, Metadata, Qrel, Query
from annotator.formats.assay_paths import (
    FEATURES,
    RESERVED,
    read_fields,
    read_paths,
    read_rest,
    write_fields,
    write_paths,
    write_rest,
)
from annotator.formats.format import Format
from annotator.formats.formats_yaml_text import quote
from annotator.formats.source import Source
from annotator.formats.tree import Place, TreeProblems, locate_items
from annotator.formats.writer import ONE_FILE, FileWriter
from annotator.formats.yaml_text import load_yaml

REFERENCE = "(reference)"
_CERTAIN = re.compile(rb"^[\"']?expected[\"']?[ \t]*:[ \t]*(?:#[^\n]*)?(?:\r?\n|\[|\Z)", re.MULTILINE)
_HEAD = (
    '# Graded "expected" of the code-search evaluator: paths carry a relevance instead of being all alike.\n'
    "# A plain string in paths is the older, binary form, and is read as relevance 1.\n"
)


def read(source: Source) -> GroundTruth:
    """The queries (ids only) and qrels of a file. BadInput names every bad place with its line."""
    tree = load_yaml(source.read_bytes(), source.path)
    problems = TreeProblems(tree, source.scale)
    top = dict(problems.mapping(tree.value, ()))
    queries: dict[str, Query] = {}
    qrels: list[Qrel] = []
    if "expected" not in top and not problems:
        problems.add(("expected",), "a list", None)
    for index, item in enumerate(problems.list(top.pop("expected", []), ("expected",))):
        place: Place = ("expected", index)
        if not isinstance(item, dict):
            problems.add(place, "a mapping with id and reference", item)
            continue
        query = _read_query(dict(item), place, problems, qrels)
        if query.query_id in queries and query.query_id:
            problems.add((*place, "id"), "given once", query.query_id)
        queries[query.query_id] = query
    problems.raise_if_any()
    return GroundTruth(tuple(queries.values()), tuple(qrels), read_rest(top))


def find_query_lines(source: Source) -> list[int]:
    """The line on which each query of a readable file begins, in order."""
    return locate_items(load_yaml(source.read_bytes(), source.path), "expected")


def _read_query(rest: dict[str, Any], place: Place, problems: TreeProblems, qrels: list[Qrel]) -> Query:
    query_id = problems.id(rest.pop("id", None), (*place, "id"))
    here = (*place, "reference")
    found = rest.pop("reference", None)
    reference = dict(problems.mapping(found, here))
    if isinstance(found, dict):
        paths = problems.list(reference.pop("paths", None), (*here, "paths"))
        qrels.extend(read_paths(query_id, paths, (*here, "paths"), problems))
    fields = read_fields(rest, place, problems)
    metadata = read_rest(rest)
    if reference:
        metadata[REFERENCE] = read_rest(reference)
    return Query(query_id, "", **fields, metadata=metadata)


def _begin(metadata: Metadata, queries: int) -> str:
    about = write_rest(metadata, ("expected",), 0)
    return f"{_HEAD}{about}{'expected:' if queries else 'expected: []'}\n"


def _add(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    beside = ""
    reference = query.metadata.get(REFERENCE)
    if isinstance(reference, Mapping):
        beside = write_rest(reference, ("paths",), 6)
        query = replace(query, metadata={k: v for k, v in query.metadata.items() if k != REFERENCE})
    return (
        f"  - id: {quote(query.query_id)}\n    reference:\n"
        + write_paths("paths", qrels, 6)
        + beside
        + write_fields(query, ("id", "reference"), 4)
    )


FORMAT = Format(
    name="assay",
    about="YAML of expected paths of the code-search evaluator",
    suffixes=(".yaml", ".yml"),
    holds=("query ids", "query metadata", "grades", "descriptions", "further keys"),
    cannot_hold=(
        "query texts",
        "notes",
        "annotators' own grades",
        "grade 0 apart from relevant (left out unless asked for)",
    ),
    features=frozenset((*FEATURES, "file_metadata")),
    read=read,
    files=(FileWriter(ONE_FILE, begin=_begin, add=_add),),
    certain=lambda head: bool(_CERTAIN.search(head)),
    tells_grade_0=False,
    find_query_lines=find_query_lines,
    schema="assay.schema.json",
    reserved=RESERVED,
    ordered=True,
)
