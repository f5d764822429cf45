"""What the two files of the code-search evaluator share: the expected paths of a query, and the keys beside them.

An expected path is `{path, relevance}` with any further keys, or a plain string, the older binary form: relevance 1.
A further key whose place is taken stands in the mapping `(beside)` of the same level, when written and when read.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from annotator.domain.ground_truth import NOTHING, QUERY_FIELDS, Metadata, Qrel, Query
from annotator.formats.format import Feature, Reserved
from annotator.formats.formats_yaml_text import quote, write_entry
from annotator.formats.grouping import list_fields
from annotator.formats.tree import Place, TreeProblems
from annotator.formats.yaml_text import resolve

BESIDE = "(beside)"
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
RESERVED = Reserved(file=frozenset({BESIDE}), query=frozenset({BESIDE}), qrel=frozenset({BESIDE}))
_QREL_KEYS = frozenset({"path", "relevance", "description"})


def read_paths(query_id: str, items: list[Any], place: Place, problems: TreeProblems) -> Iterator[Qrel]:
    """The qrels of a query's expected paths."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        here = (*place, index)
        qrel: Qrel | None
        if isinstance(item, str):
            qrel = Qrel(query_id, problems.id(item, here), 1)
        elif isinstance(item, dict):
            here = (*here, "path")
            qrel = _read_path(query_id, dict(item), here[:-1], problems)
        else:
            problems.add(here, "a path, or a mapping with path and relevance", item)
            continue
        if qrel is None:
            continue
        if qrel.doc_id in seen and qrel.doc_id:
            problems.add(here, "given once in a query", qrel.doc_id)
        seen.add(qrel.doc_id)
        yield qrel


def read_rest(rest: dict[str, Any]) -> dict[str, Any]:
    """The further keys of a level as metadata: those of its `(beside)` stand with the others again."""
    found: dict[str, Any] = resolve(rest)
    beside = found.get(BESIDE)
    if isinstance(beside, Mapping) and not set(beside) & set(found):
        del found[BESIDE]
        found.update(beside)
    return found


def read_fields(rest: dict[str, Any], place: Place, problems: TreeProblems) -> dict[str, str | None]:
    """Remove and give the known fields of a query."""
    return {name: problems.optional_text(rest.pop(name, None), (*place, name)) for name in QUERY_FIELDS}


def write_rest(metadata: Metadata, taken: Collection[str], indent: int) -> str:
    """The lines of further keys; those whose name is taken under `(beside)`."""
    rest = {key: value for key, value in metadata.items() if key not in taken}
    beside = {key: value for key, value in metadata.items() if key in taken}
    if beside:
        before = rest.get(BESIDE)
        rest[BESIDE] = {**before, **beside} if isinstance(before, Mapping) else beside
    return "".join(f"{line}\n" for key, value in rest.items() for line in write_entry(key, value, indent))


def write_fields(query: Query, taken: Collection[str], indent: int) -> str:
    """The lines of a query's known fields and of its metadata."""
    fields = list_fields(query)
    return write_rest(fields, (), indent) + write_rest(query.metadata, {*taken, *QUERY_FIELDS}, indent)


def write_paths(name: str, qrels: Sequence[Qrel], indent: int) -> str:
    """The lines of `name:` and the expected paths below it."""
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


def _read_path(query_id: str, rest: dict[str, Any], place: Place, problems: TreeProblems) -> Qrel | None:
    doc_id = problems.id(rest.pop("path", None), (*place, "path"))
    grade = problems.grade(rest.pop("relevance", None), (*place, "relevance"))
    if grade is None:
        return None
    return Qrel(
        query_id,
        doc_id,
        grade,
        description=problems.optional_text(rest.pop("description", None), (*place, "description")),
        metadata=read_rest(rest) if rest else NOTHING,
    )
