"""`assay`: the YAML of expected paths that the code-search evaluator (TypeScript) loads. Read and written.

    expected: [{id, reference: {paths: [{path, relevance}, …]}}]       a plain path means relevance 1 (the older form)

Holds no query texts; the evaluator keeps them in a separate file (`assay-queries` has both). Unknown keys are
kept: keys at the top in the truth's metadata, keys of an item and its `reference` in the query's, keys of a
path in its qrel's. If the format itself uses that name at this level, a written file has the key in the mapping
`(beside)` of the same level; reading returns it to its own name. Refused: a repeated query, a repeated path
within a query, a grade other than 0-3, an item without `reference.paths`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotator.domain.ground_truth import NOTHING, QUERY_FIELDS, GroundTruth, Metadata, Qrel, Query
from annotator.domain.messages import say
from annotator.formats.format import OTHER_KEYS, Feature, Format, ReservedKeys
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tree import Location, TreeProblems, locate_items
from annotator.formats.syntax.yaml_text import load_yaml, quote, resolve, write_entry
from annotator.formats.writer import ONE_FILE, FileWriter, list_fields

FEATURES: tuple[Feature, ...] = (
    "query_ids",
    "query_fields",
    "query_metadata",
    "queries_without_qrels",
    "grades",
    "descriptions",
    "qrel_metadata",
    "typed_metadata",
    "empty_texts",
)
RESERVED = ReservedKeys(
    file=frozenset({OTHER_KEYS}), query=frozenset({OTHER_KEYS}), qrel=frozenset({OTHER_KEYS})
)
_QREL_KEYS = frozenset({"path", "relevance", "description"})


def read_paths(query_id: str, items: list[Any], location: Location, problems: TreeProblems) -> Iterator[Qrel]:
    """Yield the qrels of a query's expected paths."""
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


def read_rest(rest: dict[str, Any]) -> dict[str, Any]:
    """Return the unknown keys of a level as metadata, with the keys of its mapping `(beside)` (OTHER_KEYS)."""
    metadata: dict[str, Any] = resolve(rest)
    other_keys = metadata.get(OTHER_KEYS)
    if isinstance(other_keys, Mapping) and not set(other_keys) & set(metadata):
        del metadata[OTHER_KEYS]
        metadata.update(other_keys)
    return metadata


def read_fields(rest: dict[str, Any], location: Location, problems: TreeProblems) -> dict[str, str | None]:
    """Remove and return the known fields of a query."""
    return {name: problems.optional_text(rest.pop(name, None), (*location, name)) for name in QUERY_FIELDS}


def write_rest(metadata: Metadata, taken: Collection[str], indent: int) -> str:
    """Return the lines of the metadata. Keys in `taken`, which the format uses, go under `(beside)` (OTHER_KEYS)."""
    rest = {key: value for key, value in metadata.items() if key not in taken}
    other_keys = {key: value for key, value in metadata.items() if key in taken}
    if other_keys:
        kept_keys = rest.get(OTHER_KEYS)
        rest[OTHER_KEYS] = {**kept_keys, **other_keys} if isinstance(kept_keys, Mapping) else other_keys
    return "".join(f"{line}\n" for key, value in rest.items() for line in write_entry(key, value, indent))


def write_fields(query: Query, taken: Collection[str], indent: int) -> str:
    """Return the lines of a query's known fields and of its metadata."""
    fields = list_fields(query)
    return write_rest(fields, (), indent) + write_rest(query.metadata, {*taken, *QUERY_FIELDS}, indent)


def write_paths(name: str, qrels: Sequence[Qrel], indent: int) -> str:
    """Return the line `name:` and the expected paths below it."""
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
            pieces.append(write_rest(qrel.metadata, _QREL_KEYS, indent + 4))
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
        metadata=read_rest(rest) if rest else NOTHING,
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
    queries: dict[str, Query] = {}
    qrels: list[Qrel] = []
    if "expected" not in top and not problems:
        problems.add(("expected",), say("a list"), None)
    for index, item in enumerate(problems.list(top.pop("expected", []), ("expected",))):
        location: Location = ("expected", index)
        if not isinstance(item, dict):
            problems.add(location, say("a mapping with id and reference"), item)
            continue
        query = _read_query(dict(item), location, problems, qrels)
        if query.query_id in queries and query.query_id:
            problems.add((*location, "id"), say("given once"), query.query_id)
        queries[query.query_id] = query
    problems.raise_if_any()
    return GroundTruth(tuple(queries.values()), tuple(qrels), read_rest(top))


def find_query_lines(source: InputSource) -> list[int]:
    """Return the line on which each query of a readable file begins, in order."""
    return locate_items(load_yaml(source.read_bytes(), source.path), "expected")


def _read_query(rest: dict[str, Any], location: Location, problems: TreeProblems, qrels: list[Qrel]) -> Query:
    query_id = problems.id(rest.pop("id", None), (*location, "id"))
    here = (*location, "reference")
    value = rest.pop("reference", None)
    reference = dict(problems.mapping(value, here))
    if isinstance(value, dict):
        paths = problems.list(reference.pop("paths", None), (*here, "paths"))
        qrels.extend(read_paths(query_id, paths, (*here, "paths"), problems))
    fields = read_fields(rest, location, problems)
    metadata = read_rest(rest)
    if reference:
        metadata[REFERENCE] = read_rest(reference)
    return Query(query_id, "", **fields, metadata=metadata)


def _begin(metadata: Metadata, queries: int) -> str:
    about = write_rest(metadata, ("expected",), 0)
    return f"{_HEAD}{about}{'expected:' if queries else 'expected: []'}\n"


def _add(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    reference_lines = ""
    reference = query.metadata.get(REFERENCE)
    if isinstance(reference, Mapping):
        reference_lines = write_rest(reference, ("paths",), 6)
        query = replace(query, metadata={k: v for k, v in query.metadata.items() if k != REFERENCE})
    return (
        f"  - id: {quote(query.query_id)}\n    reference:\n"
        + write_paths("paths", qrels, 6)
        + reference_lines
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
