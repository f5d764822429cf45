"""`nablarch`: the YAML that the Nablarch search evaluator (SearchEvaluationRunner, Java) loads. Read and
written.

    dataset: {version, created, total_queries}         data about the file
    queries: [{id, query, category, expected_docs: [{doc_id, relevance, description}], metadata: {language, …}}]

Unknown keys are kept: keys of `dataset` in the truth's metadata (`created` as `created_at`), keys of a
query's `metadata` in the query's, keys of an expected document in its qrel's. Keys next to `dataset` or next
to a query's `metadata` go under "(beside)" of the same metadata. `total_queries` is recomputed; a wrong one
is reported. Refused: a repeated query, a repeated document of a query, a grade other than 0-3, an empty text.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from annotator.domain.ground_truth import NOTHING, QUERY_FIELDS, GroundTruth, Metadata, Qrel, Query
from annotator.domain.messages import say
from annotator.formats.content_warnings import QUERIES, StatedCount, find_wrong_counts
from annotator.formats.format import (
    ONE_FILE,
    OTHER_KEYS,
    QUERY_FEATURES,
    FileWriter,
    Format,
    ReservedKeys,
    list_fields,
)
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tree import Location, TreeProblems, is_nothing, locate_items
from annotator.formats.syntax.yaml_text import load_yaml, quote, resolve, write_entry

GRADE_NAMES = ("Not Relevant", "Marginally Relevant", "Highly Relevant", "Perfect")
_HEAD = "# evaluation-dataset.yaml, as the Nablarch search evaluator (SearchEvaluationRunner) loads it."
_QREL_KEYS = frozenset({"doc_id", "relevance", "description"})
_QUERY_KEYS = frozenset({"id", "query", "expected_docs", "metadata", *QUERY_FIELDS})
_METADATA_KEYS = frozenset({OTHER_KEYS, *QUERY_FIELDS})
_STARTS = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:---|[\"']?[\w-]+[\"']?[ \t]*:(?:\s|\Z))")
_CERTAIN = re.compile(rb"^[\"']?queries[\"']?[ \t]*:[ \t]*(?:#[^\n]*)?(?:\r?\n|\[|\Z)", re.MULTILINE)


def read(source: InputSource) -> GroundTruth:
    """Return the queries and qrels of a Nablarch YAML file. BadInput names every bad place with its line."""
    tree = load_yaml(source.read_bytes(), source.path)
    problems = TreeProblems(tree, source.scale)
    top = dict(problems.mapping(tree.value, ()))
    about = dict(_mapping_or_nothing(top.pop("dataset", None), ("dataset",), problems))
    total = about.get("total_queries")
    queries: dict[str, Query] = {}
    qrels: list[Qrel] = []
    if "queries" not in top and not problems:
        problems.add(("queries",), say("a list"), None)
    for index, item in enumerate(problems.list(top.pop("queries", []), ("queries",))):
        location: Location = ("queries", index)
        query = _read_query(item, location, problems, qrels)
        if query.query_id in queries and query.query_id:
            problems.add((*location, "id"), say("given once"), query.query_id)
        queries[query.query_id] = query
    metadata = _read_about(about, top, problems)
    problems.raise_if_any()
    stated = StatedCount(("dataset", "total_queries"), total, len(queries), QUERIES)
    wrong = find_wrong_counts(tree, [stated])
    return GroundTruth(tuple(queries.values()), tuple(qrels), metadata, wrong_counts=wrong)


def _read_about(about: dict[str, Any], top: dict[str, Any], problems: TreeProblems) -> dict[str, Any]:
    about.pop("total_queries", None)
    renamed = "created_at" if "created_at" not in about else "created"
    metadata = {renamed if key == "created" else key: resolve(value) for key, value in about.items()}
    return _add_other_keys(metadata, top, ("dataset",), problems)


def _read_query(item: Any, location: Location, problems: TreeProblems, qrels: list[Qrel]) -> Query:
    rest = dict(problems.mapping(item, location))
    if not rest and isinstance(item, dict):
        problems.add(location, say("a query with id and query"), item)
    query_id = problems.id(rest.pop("id", None), (*location, "id")) if rest else ""
    text = (
        problems.text(rest.pop("query", None), (*location, "query"))
        if item and isinstance(item, dict)
        else ""
    )
    expected = _list_or_nothing(rest.pop("expected_docs", None), (*location, "expected_docs"), problems)
    metadata = dict(_mapping_or_nothing(rest.pop("metadata", None), (*location, "metadata"), problems))
    fields = {name: _read_field(name, rest, metadata, location, problems) for name in QUERY_FIELDS}
    qrels.extend(_read_qrels(query_id, expected, (*location, "expected_docs"), problems))
    kept = {key: resolve(value) for key, value in metadata.items()}
    return Query(
        query_id, text, **fields, metadata=_add_other_keys(kept, rest, (*location, "metadata"), problems)
    )


def _read_field(
    name: str,
    other_keys: dict[str, Any],
    metadata: dict[str, Any],
    location: Location,
    problems: TreeProblems,
) -> str | None:
    outer = problems.optional_text(other_keys.pop(name, None), (*location, name))
    inner = problems.optional_text(metadata.pop(name, None), (*location, "metadata", name))
    if outer is not None and inner is not None and outer != inner:
        problems.add(
            (*location, "metadata", name),
            say("the same as {name} beside it ({value})", name=name, value=outer),
            inner,
        )
    return outer if outer is not None else inner


def _read_qrels(
    query_id: str, items: list[Any], location: Location, problems: TreeProblems
) -> Iterator[Qrel]:
    seen_doc_ids: set[str] = set()
    for index, item in enumerate(items):
        here = (*location, index)
        if not isinstance(item, dict):
            problems.add(here, say("a mapping with doc_id and relevance"), item)
            continue
        rest = dict(item)
        doc_id = problems.id(rest.pop("doc_id", None), (*here, "doc_id"))
        grade = problems.grade(rest.pop("relevance", None), (*here, "relevance"))
        description = problems.optional_text(rest.pop("description", None), (*here, "description"))
        if doc_id in seen_doc_ids and doc_id:
            problems.add((*here, "doc_id"), say("given once in a query"), doc_id)
        seen_doc_ids.add(doc_id)
        if grade is not None:
            yield Qrel(query_id, doc_id, grade, description=description, metadata=resolve(rest) or NOTHING)


def _list_or_nothing(value: Any, location: Location, problems: TreeProblems) -> list[Any]:
    return [] if is_nothing(value) else problems.list(value, location)


def _mapping_or_nothing(value: Any, location: Location, problems: TreeProblems) -> dict[str, Any]:
    return {} if is_nothing(value) else problems.mapping(value, location)


def _add_other_keys(
    metadata: dict[str, Any], other_keys: dict[str, Any], location: Location, problems: TreeProblems
) -> dict[str, Any]:
    if OTHER_KEYS in metadata:
        problems.add(
            (*location, OTHER_KEYS), say("another name: this one is used by this program"), OTHER_KEYS
        )
    return {**metadata, OTHER_KEYS: resolve(other_keys)} if other_keys else metadata


def _begin(metadata: Metadata, queries: int) -> str:
    return "\n".join(_about_lines(metadata, queries)) + "\n"


def _about_lines(metadata: Metadata, queries: int) -> Iterator[str]:
    yield _HEAD
    yield "dataset:"
    about = dict(metadata)
    other_keys = _list_other_keys(about.pop(OTHER_KEYS, None), ("dataset", "queries"))
    if "created" not in about and "created_at" in about:
        about = {"created" if key == "created_at" else key: value for key, value in about.items()}
    about.pop("total_queries", None)
    for key, value in about.items():
        yield from write_entry(key, value, 2)
    yield f"  total_queries: {queries}"
    for key, value in other_keys.items():
        yield from write_entry(key, value, 0)
    yield ""
    yield "queries:" if queries else "queries: []"


def _add(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    return "\n".join(_query_lines(query, qrels)) + "\n"


def _query_lines(query: Query, qrels: Sequence[Qrel]) -> Iterator[str]:
    yield f"  - id: {quote(query.query_id)}"
    yield f"    query: {quote(query.text)}"
    if query.category is not None:
        yield f"    category: {quote(query.category)}"
    for key, value in _list_other_keys(query.metadata.get(OTHER_KEYS), _QUERY_KEYS).items():
        yield from write_entry(key, value, 4)
    yield "    expected_docs:" if qrels else "    expected_docs: []"
    for qrel in qrels:
        yield f"      - doc_id: {quote(qrel.doc_id)}"
        yield f"        relevance: {qrel.grade}   # {GRADE_NAMES[qrel.grade]}"
        if qrel.description is not None:
            yield f"        description: {quote(qrel.description)}"
        for key, value in qrel.metadata.items():
            if key not in _QREL_KEYS:
                yield from write_entry(key, value, 8)
    kept = {key: value for key, value in query.metadata.items() if key not in _METADATA_KEYS}
    metadata = list_fields(query, without=["category"]) | kept
    if metadata:
        yield from write_entry("metadata", metadata, 4)


def _list_other_keys(held: Any, taken: Collection[str]) -> dict[str, Any]:
    return {key: held[key] for key in held if key not in taken} if isinstance(held, Mapping) else {}


FORMAT = Format(
    name="nablarch",
    about="YAML of the Nablarch search evaluator (SearchEvaluationRunner)",
    suffixes=(".yaml", ".yml"),
    holds=("queries", "query metadata", "grades", "descriptions", "further keys"),
    cannot_hold=(
        "notes",
        "annotators' own grades",
        "grade 0 apart from relevant (left out unless asked for)",
    ),
    features=QUERY_FEATURES
    | {"descriptions", "qrel_metadata", "file_metadata", "typed_metadata", "empty_texts"},
    read=read,
    files=(FileWriter(ONE_FILE, begin=_begin, add=_add),),
    certain=lambda head: bool(_CERTAIN.search(head)) and bool(_STARTS.match(head)),
    tells_grade_0=False,
    find_query_lines=lambda source: locate_items(load_yaml(source.read_bytes(), source.path), "queries"),
    schema="nablarch.schema.json",
    reserved=ReservedKeys(
        file=frozenset({"created", "total_queries"}), query=frozenset(QUERY_FIELDS), qrel=_QREL_KEYS
    ),
    ordered=True,
)
