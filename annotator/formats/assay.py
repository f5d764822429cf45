"""`assay` and `assay-queries`: YAML files of the code-search evaluator (TypeScript). Read and written.

    expected: [{id, reference: {paths: [{path, relevance}, …]}}]       `assay`: the expected paths
    [{id, text, expected: [{path, relevance}, …]}]                     `assay-queries`: also the query texts

A plain path means relevance 1 (the older form). Unknown keys are kept: keys at the top in the truth's
metadata, keys of an item and its `reference` in the query's, keys of a path in its qrel's. If the format
itself uses that name at this level, a written file has the key in the mapping `(beside)` of the same level;
reading returns it to its own name. A list has no metadata of its own. Refused: a repeated query, a repeated
path within a query, a grade other than 0-3, an item without its paths or its text.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotator.domain.ground_truth import NOTHING, QUERY_FIELDS, GroundTruth, Metadata, Qrel, Query
from annotator.domain.messages import say
from annotator.formats.format import (
    ONE_FILE,
    OTHER_KEYS,
    QUERY_FEATURES,
    Feature,
    FileWriter,
    Format,
    ReservedKeys,
    list_fields,
)
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tree import Location, TreeProblems, locate_items
from annotator.formats.syntax.yaml_text import load_yaml, quote, resolve, write_entry

_FEATURES: frozenset[Feature] = (QUERY_FEATURES - {"query_texts"}) | {
    "descriptions",
    "qrel_metadata",
    "typed_metadata",
    "empty_texts",
}
_RESERVED = ReservedKeys(
    file=frozenset({OTHER_KEYS}), query=frozenset({OTHER_KEYS}), qrel=frozenset({OTHER_KEYS})
)
_QREL_KEYS = frozenset({"path", "relevance", "description"})


def _read_paths(
    query_id: str, items: list[Any], location: Location, problems: TreeProblems
) -> Iterator[Qrel]:
    seen_doc_ids: set[str] = set()
    for index, item in enumerate(items):
        here = (*location, index)
        qrel: Qrel | None
        if isinstance(item, str):
            qrel = Qrel(query_id, problems.id(item, here), 1)
        elif isinstance(item, dict):
            here = (*here, "path")
            qrel = _read_path(query_id, dict(item), here[:-1], problems)
        else:
            problems.add(here, say("a path, or a mapping with path and relevance"), item)
            continue
        if qrel is None:
            continue
        if qrel.doc_id in seen_doc_ids and qrel.doc_id:
            problems.add(here, say("given once in a query"), qrel.doc_id)
        seen_doc_ids.add(qrel.doc_id)
        yield qrel


def _read_rest(rest: dict[str, Any]) -> dict[str, Any]:
    """Return the unknown keys of a level as metadata, with the keys of its mapping `(beside)` (OTHER_KEYS)."""
    metadata: dict[str, Any] = resolve(rest)
    other_keys = metadata.get(OTHER_KEYS)
    if isinstance(other_keys, Mapping) and not set(other_keys) & set(metadata):
        del metadata[OTHER_KEYS]
        metadata.update(other_keys)
    return metadata


def _read_fields(rest: dict[str, Any], location: Location, problems: TreeProblems) -> dict[str, str | None]:
    return {name: problems.optional_text(rest.pop(name, None), (*location, name)) for name in QUERY_FIELDS}


def _write_rest(metadata: Metadata, taken: Collection[str], indent: int) -> str:
    """Return the lines of the metadata. Keys in `taken`, which the format uses, go under `(beside)` (OTHER_KEYS)."""
    rest = {key: value for key, value in metadata.items() if key not in taken}
    other_keys = {key: value for key, value in metadata.items() if key in taken}
    if other_keys:
        kept_keys = rest.get(OTHER_KEYS)
        rest[OTHER_KEYS] = {**kept_keys, **other_keys} if isinstance(kept_keys, Mapping) else other_keys
    return "".join(f"{line}\n" for key, value in rest.items() for line in write_entry(key, value, indent))


def _write_fields(query: Query, taken: Collection[str], indent: int) -> str:
    fields = list_fields(query)
    return _write_rest(fields, (), indent) + _write_rest(query.metadata, {*taken, *QUERY_FIELDS}, indent)


def _write_paths(name: str, qrels: Sequence[Qrel], indent: int) -> str:
    lead = " " * indent
    if not qrels:
        return f"{lead}{name}: []\n"
    start, middle = f"{lead}  - path: ", f"\n{lead}    relevance: "
    pieces = [f"{lead}{name}:\n"]
    for qrel in qrels:
        pieces.append(f"{start}{quote(qrel.doc_id)}{middle}{qrel.grade}\n")
        if qrel.description is not None:
            pieces.append(f"{lead}    description: {quote(qrel.description)}\n")
        if qrel.metadata:
            pieces.append(_write_rest(qrel.metadata, _QREL_KEYS, indent + 4))
    return "".join(pieces)


def _read_path(
    query_id: str, rest: dict[str, Any], location: Location, problems: TreeProblems
) -> Qrel | None:
    doc_id = problems.id(rest.pop("path", None), (*location, "path"))
    grade = problems.grade(rest.pop("relevance", None), (*location, "relevance"))
    if grade is None:
        return None
    return Qrel(
        query_id,
        doc_id,
        grade,
        description=problems.optional_text(rest.pop("description", None), (*location, "description")),
        metadata=_read_rest(rest) if rest else NOTHING,
    )


REFERENCE = "(reference)"
_CERTAIN = re.compile(rb"^[\"']?expected[\"']?[ \t]*:[ \t]*(?:#[^\n]*)?(?:\r?\n|\[|\Z)", re.MULTILINE)
_HEAD = (
    '# Graded "expected" of the code-search evaluator: paths carry a relevance instead of being all alike.\n'
    "# A plain string in paths is the older, binary form, and is read as relevance 1.\n"
)


def read(source: InputSource) -> GroundTruth:
    """Return the queries (ids only) and qrels of a file. BadInput names every bad place with its line."""
    tree = load_yaml(source.read_bytes(), source.path)
    problems = TreeProblems(tree, source.scale)
    top = dict(problems.mapping(tree.value, ()))
    if "expected" not in top and not problems:
        problems.add(("expected",), say("a list"), None)
    items = problems.list(top.pop("expected", []), ("expected",))
    expected = say("a mapping with id and reference")
    queries, qrels = _read_queries(items, ("expected",), expected, _read_query, problems)
    return GroundTruth(queries, qrels, _read_rest(top))


def read_list(source: InputSource) -> GroundTruth:
    """Return the queries and qrels of a list. BadInput names every bad place with its line."""
    tree = load_yaml(source.read_bytes(), source.path)
    problems = TreeProblems(tree, source.scale)
    expected = say("a mapping with id, text and expected")
    items = problems.list(tree.value, ())
    return GroundTruth(*_read_queries(items, (), expected, _read_listed_query, problems))


def _read_queries(
    items: list[Any],
    location: Location,
    expected: str,
    read_query: Callable[[dict[str, Any], Location, TreeProblems, list[Qrel]], Query],
    problems: TreeProblems,
) -> tuple[tuple[Query, ...], tuple[Qrel, ...]]:
    queries: dict[str, Query] = {}
    qrels: list[Qrel] = []
    for index, item in enumerate(items):
        here = (*location, index)
        if not isinstance(item, dict):
            problems.add(here, expected, item)
            continue
        query = read_query(dict(item), here, problems, qrels)
        if query.query_id in queries and query.query_id:
            problems.add((*here, "id"), say("given once"), query.query_id)
        queries[query.query_id] = query
    problems.raise_if_any()
    return tuple(queries.values()), tuple(qrels)


def _read_query(rest: dict[str, Any], location: Location, problems: TreeProblems, qrels: list[Qrel]) -> Query:
    query_id = problems.id(rest.pop("id", None), (*location, "id"))
    here = (*location, "reference")
    value = rest.pop("reference", None)
    reference = dict(problems.mapping(value, here))
    if isinstance(value, dict):
        paths = problems.list(reference.pop("paths", None), (*here, "paths"))
        qrels.extend(_read_paths(query_id, paths, (*here, "paths"), problems))
    fields = _read_fields(rest, location, problems)
    metadata = _read_rest(rest)
    if reference:
        metadata[REFERENCE] = _read_rest(reference)
    return Query(query_id, "", **fields, metadata=metadata)


def _begin(metadata: Metadata, queries: int) -> str:
    about = _write_rest(metadata, ("expected",), 0)
    return f"{_HEAD}{about}{'expected:' if queries else 'expected: []'}\n"


def _add(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    reference_lines = ""
    reference = query.metadata.get(REFERENCE)
    if isinstance(reference, Mapping):
        reference_lines = _write_rest(reference, ("paths",), 6)
        query = replace(query, metadata={k: v for k, v in query.metadata.items() if k != REFERENCE})
    return (
        f"  - id: {quote(query.query_id)}\n    reference:\n"
        + _write_paths("paths", qrels, 6)
        + reference_lines
        + _write_fields(query, ("id", "reference"), 4)
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
    features=_FEATURES | {"file_metadata"},
    read=read,
    files=(FileWriter(ONE_FILE, begin=_begin, add=_add),),
    certain=lambda head: bool(_CERTAIN.search(head)),
    tells_grade_0=False,
    find_query_lines=lambda source: locate_items(load_yaml(source.read_bytes(), source.path), "expected"),
    schema="assay.schema.json",
    reserved=_RESERVED,
    ordered=True,
)


_LIST_STARTS = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n|---[ \t]*\r?\n)*-[ \t]+[\"']?[\w-]+[\"']?[ \t]*:")
_LIST_CERTAIN = re.compile(rb"^(?:- +|  +)[\"']?expected[\"']?[ \t]*:", re.MULTILINE)
_LIST_HEAD = "# The same evaluator's list form: one item a query, with its text and its expected paths.\n"


def _read_listed_query(
    rest: dict[str, Any], location: Location, problems: TreeProblems, qrels: list[Qrel]
) -> Query:
    query_id = problems.id(rest.pop("id", None), (*location, "id"))
    text = problems.text(rest.pop("text", None), (*location, "text"))
    here = (*location, "expected")
    qrels.extend(_read_paths(query_id, problems.list(rest.pop("expected", None), here), here, problems))
    fields = _read_fields(rest, location, problems)
    return Query(query_id, text, **fields, metadata=_read_rest(rest))


def _begin_list(_: Metadata, queries: int) -> str:
    return _LIST_HEAD if queries else f"{_LIST_HEAD}[]\n"


def _add_to_list(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    return (
        f"- id: {quote(query.query_id)}\n  text: {quote(query.text)}\n"
        + _write_paths("expected", qrels, 2)
        + _write_fields(query, ("id", "text", "expected"), 2)
    )


QUERY_LIST = Format(
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
    features=_FEATURES | {"query_texts"},
    read=read_list,
    files=(FileWriter(ONE_FILE, begin=_begin_list, add=_add_to_list),),
    certain=lambda head: bool(_LIST_STARTS.match(head)) and bool(_LIST_CERTAIN.search(head)),
    tells_grade_0=False,
    find_query_lines=lambda source: locate_items(load_yaml(source.read_bytes(), source.path)),
    schema="assay-queries.schema.json",
    reserved=_RESERVED,
    ordered=True,
)
