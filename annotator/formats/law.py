"""`law` and `law-compact`: the JSON that the law-search evaluator (Python) loads. Read and written.

    {version, created_at, queries: [{query_id, query_text, query_type, difficulty, primary_domain,
      ground_truth: {doc_id: {relevance, law_type, annotator_1, annotator_2, notes}}, total_relevant, …}]}

In `law-compact` a document has only a grade: `ground_truth: {doc_id: relevance}`, without `total_relevant`.

Unknown keys are kept at their level: the file's, the query's, the document's. `annotator_1` and `annotator_2`
are the first two independent grades. `total_relevant` counts grades from 1 and is recomputed; if it or
`total_queries` is wrong in a file, both numbers are reported. Refused: a repeated query, a repeated document
of a query, a grade other than 0-3 (in `law-compact` also one that is not a number), an empty text.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.ground_truth import (
    NOTHING,
    QUERY_FIELDS,
    GroundTruth,
    JudgmentLine,
    Metadata,
    Qrel,
    Query,
)
from annotator.domain.messages import say
from annotator.formats.content_warnings import QUERIES, RELEVANT, StatedCount, find_wrong_counts
from annotator.formats.format import ONE_FILE, QUERY_FEATURES, FileWriter, Format, ReservedKeys, list_fields
from annotator.formats.syntax.json_text import load_json, quote, write_entry, write_value
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tree import Location, TreeProblems, is_nothing, locate_items

ANNOTATORS = ("annotator_1", "annotator_2")
MANIFEST = "manifest.json"
MOST_MANIFEST_BYTES = 50_000_000
QUERY_KEYS = frozenset({"query_id", "query_text", "ground_truth", "total_relevant", *QUERY_FIELDS})
_COMPACT_KEYS = QUERY_KEYS - {"total_relevant"}
_FIRST_FIELDS = ("query_type", "difficulty", "primary_domain")
_LAW = re.compile(rb'\s*\{.*"queries"\s*:\s*[\[{]', re.DOTALL)
_COMPACT = re.compile(rb'"ground_truth"\s*:\s*\{\s*"[^"\\]*+(?:\\.[^"\\]*+)*+"\s*:\s*-?[0-9]')


ReadQrels = Callable[[str, dict[str, Any], Location, TreeProblems], Iterator[Qrel | JudgmentLine]]


def read(source: InputSource) -> GroundTruth:
    """Return the queries and qrels of a law JSON file. BadInput names every bad place with its line."""
    return _read_law(source, _read_qrels, counted=("total_relevant",))


def _read_law(source: InputSource, read_qrels: ReadQrels, *, counted: Sequence[str]) -> GroundTruth:
    """Read either form of the file. `read_qrels` reads a query's `ground_truth`; `counted` keys are not kept."""
    tree = load_json(source.read_bytes(), source.path)
    problems = TreeProblems(tree, source.scale)
    top = dict(problems.mapping(tree.value, ()))
    queries: dict[str, Query] = {}
    qrels: list[Qrel] = []
    judgments: list[JudgmentLine] = []
    stated: list[StatedCount] = []
    if "queries" not in top and not problems:
        problems.add(("queries",), say("a list"), None)
    for index, item in enumerate(problems.list(top.pop("queries", []), ("queries",))):
        location: Location = ("queries", index)
        if not isinstance(item, dict) or not item:
            problems.add(location, say("a mapping with query_id and query_text"), item)
            continue
        judged = item.get("ground_truth")
        query = _read_query(item, location, problems, counted)
        before = len(qrels)
        if not is_nothing(judged):
            here = (*location, "ground_truth")
            for record in read_qrels(query.query_id, problems.mapping(judged, here), here, problems):
                if isinstance(record, Qrel):
                    qrels.append(record)
                else:
                    judgments.append(record)
        graded = qrels[before:]
        # else grades of another scale were passed over
        if not source.scale.lenient or len(graded) == len(judged or ()):
            relevant = sum(qrel.grade >= RELEVANT_FROM for qrel in graded)
            here = (*location, "total_relevant")
            stated.append(StatedCount(here, item.get("total_relevant"), relevant, RELEVANT))
        if query.query_id in queries and query.query_id:
            problems.add((*location, "query_id"), say("given once"), query.query_id)
        queries[query.query_id] = query
    problems.raise_if_any()
    total = StatedCount(("total_queries",), top.get("total_queries"), len(queries), QUERIES)
    wrong = find_wrong_counts(tree, [total, *stated])
    return GroundTruth(
        tuple(queries.values()), tuple(qrels), top, wrong_counts=wrong, further_judgments=tuple(judgments)
    )


def _find_query_lines(source: InputSource) -> list[int]:
    return locate_items(load_json(source.read_bytes(), source.path), "queries")


def _read_query(
    item: dict[str, Any], location: Location, problems: TreeProblems, counted: Sequence[str]
) -> Query:
    left = ("ground_truth", *counted)
    rest = {key: value for key, value in item.items() if key not in left}
    query_id = problems.id(rest.pop("query_id", None), (*location, "query_id"))
    text = problems.text(rest.pop("query_text", None), (*location, "query_text"))
    fields = {name: problems.optional_text(rest.pop(name, None), (*location, name)) for name in QUERY_FIELDS}
    return Query(query_id, text, **fields, metadata=rest)


def _read_qrels(
    query_id: str, judged: dict[str, Any], location: Location, problems: TreeProblems
) -> Iterator[Qrel | JudgmentLine]:
    for doc_id, item in judged.items():
        here = (*location, doc_id)
        problems.id(doc_id, here)
        if not isinstance(item, dict):
            problems.add(here, say("a mapping with relevance"), item)
            continue
        rest = dict(item)
        grade = problems.grade(rest.pop("relevance", None), (*here, "relevance"))
        own = _read_annotators(rest, here, problems)
        for name, given in own:
            if grade is None or given is None:
                yield JudgmentLine(
                    None, query_id, doc_id, name, "unrateable" if given is None else "graded", given
                )
        if grade is None:
            continue
        yield Qrel(
            query_id,
            doc_id,
            grade,
            description=problems.optional_text(rest.pop("description", None), (*here, "description")),
            note=problems.optional_text(rest.pop("notes", None), (*here, "notes")),
            annotator_grades=tuple((name, given) for name, given in own if given is not None),
            metadata=rest or NOTHING,
        )


def _read_annotators(
    rest: dict[str, Any], location: Location, problems: TreeProblems
) -> list[tuple[str, int | None]]:
    """Return the grades of annotator_1 and annotator_2, None for *cannot rate*. Either may be missing."""
    grades: list[tuple[str, int | None]] = []
    for name in ANNOTATORS:
        if rest.get(name) is None:
            continue
        grade = problems.own_grade(rest.pop(name), (*location, name))
        if grade is not None:
            grades.append((name, grade if isinstance(grade, int) else None))
    return grades


def _begin(metadata: Metadata, queries: int) -> str:
    about = "".join(
        write_entry(key, value, "  ") + ",\n" for key, value in metadata.items() if key != "queries"
    )
    return f'{{\n{about}  "queries": [' + ("" if queries else "]\n}\n")


def _end(queries: int) -> str:
    return "\n  ]\n}\n" if queries else ""


def _open_query(query: Query, index: int) -> str:
    fields = list_fields(query)
    first = {name: fields[name] for name in _FIRST_FIELDS if name in fields}
    lines = "".join(f",\n      {quote(key)}: {quote(value)}" for key, value in (first | fields).items())
    lead = ",\n" if index else "\n"
    return f'{lead}    {{\n      "query_id": {quote(query.query_id)},\n      "query_text": {quote(query.text)}{lines}'


def _close_query(query: Query, reserved: frozenset[str]) -> str:
    kept = "".join(
        ",\n" + write_entry(key, value, "      ")
        for key, value in query.metadata.items()
        if key not in reserved
    )
    return f"{kept}\n    }}"


def _add(query: Query, qrels: Sequence[Qrel], index: int) -> str:
    judged = ",\n".join([_write_qrel(qrel) for qrel in qrels])
    truth = f"{{\n{judged}\n      }}" if qrels else "{}"
    relevant = sum(qrel.grade >= RELEVANT_FROM for qrel in qrels)
    opened = _open_query(query, index)
    return (
        f'{opened},\n      "ground_truth": {truth},\n      "total_relevant": {relevant}'
        f"{_close_query(query, QUERY_KEYS)}"
    )


def _write_qrel(qrel: Qrel) -> str:
    text = f'        {quote(qrel.doc_id)}: {{\n          "relevance": {qrel.grade}'
    metadata = qrel.metadata
    if "law_type" in metadata:
        text += f',\n          "law_type": {write_value(metadata["law_type"], "          ")}'
    for name, (_, grade) in zip(_list_slots(qrel), qrel.annotator_grades, strict=False):
        text += f',\n          "{name}": {grade}'
    if qrel.note is not None:
        text += f',\n          "notes": {quote(qrel.note)}'
    if qrel.description is not None:
        text += f',\n          "description": {quote(qrel.description)}'
    if metadata:
        text += "".join(_further_keys(qrel))
    return text + "\n        }"


def _list_slots(qrel: Qrel) -> tuple[str, ...]:
    """Return the keys for a qrel's grades. Only annotator_2 if the source file had its single grade there."""
    names = tuple(name for name, _ in qrel.annotator_grades)
    return names if qrel.origin == "imported" and names == ANNOTATORS[1:] else ANNOTATORS


def _further_keys(qrel: Qrel) -> Iterator[str]:
    taken = {"relevance", "law_type", *_list_slots(qrel)[: len(qrel.annotator_grades)]}
    taken |= {"notes"} if qrel.note is not None else set()
    taken |= {"description"} if qrel.description is not None else set()
    for key, value in qrel.metadata.items():
        if key not in taken:
            yield ",\n" + write_entry(key, value, "          ")


def read_compact(source: InputSource) -> GroundTruth:
    """Return the queries and qrels of a compact law JSON file. BadInput names every bad place with its line."""
    return _read_law(source, _read_compact_qrels, counted=())


def _read_compact_qrels(
    query_id: str, judged: dict[str, Any], location: Location, problems: TreeProblems
) -> Iterator[Qrel]:
    for doc_id, value in judged.items():
        here = (*location, doc_id)
        problems.id(doc_id, here)
        grade = problems.grade(value, here)
        if grade is not None:
            yield Qrel(query_id, doc_id, grade)


def _add_compact(query: Query, qrels: Sequence[Qrel], index: int) -> str:
    judged = ",\n".join([f"        {quote(qrel.doc_id)}: {qrel.grade}" for qrel in qrels])
    truth = f"{{\n{judged}\n      }}" if qrels else "{}"
    return f'{_open_query(query, index)},\n      "ground_truth": {truth}{_close_query(query, _COMPACT_KEYS)}'


def has_mixed_annotators(source: InputSource) -> bool:
    """Check whether `annotator_1` of a released `law.json` can be several people.

    `annotator_1` and `annotator_2` are the first two annotators of each pair by pseudonym. In a release with
    more annotators they differ from pair to pair. Only the manifest in the same folder shows this.
    """
    path = Path(source.path)
    if source.data is not None:
        return False
    manifest = _read_manifest(path.with_name(MANIFEST))
    files, agreement = manifest.get("files"), manifest.get("agreement")
    listed = isinstance(files, list) and any(
        isinstance(file, dict) and file.get("path") == path.name for file in files
    )
    annotators = agreement.get("annotators") if isinstance(agreement, dict) else None
    return listed and isinstance(annotators, list) and any(name not in ANNOTATORS for name in annotators)


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file() or path.stat().st_size > MOST_MANIFEST_BYTES:
            return {}
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_law(head: bytes) -> bool:
    """Check whether the file has one of the two forms of the law-search evaluator."""
    return bool(_LAW.match(head)) and b'"query_text"' in head


def _is_compact(head: bytes) -> bool:
    """Check whether the file writes a document's grade as a plain number."""
    return bool(_COMPACT.search(head))


FORMAT = Format(
    name="law",
    about="JSON of the law-search evaluator, with the annotators' grades (its NDCG function needs law-compact)",
    suffixes=(".json",),
    holds=(
        "queries",
        "query metadata",
        "grades",
        "two annotators' grades",
        "notes",
        "descriptions",
        "further keys",
    ),
    cannot_hold=("a third annotator's grade", "grade 0 apart from relevant (left out unless asked for)"),
    features=QUERY_FEATURES
    | {
        "descriptions",
        "notes",
        "two_annotators",
        "qrel_metadata",
        "file_metadata",
        "typed_metadata",
        "empty_texts",
    },
    read=read,
    files=(FileWriter(ONE_FILE, begin=_begin, add=_add, end=_end),),
    certain=lambda head: _is_law(head) and not _is_compact(head),
    tells_grade_0=False,
    find_query_lines=_find_query_lines,
    schema="law.schema.json",
    reserved=ReservedKeys(
        file=frozenset({"queries"}),
        query=QUERY_KEYS,
        qrel=frozenset({"relevance", "notes", "description", *ANNOTATORS}),
    ),
    ordered=True,
)

COMPACT = Format(
    name="law-compact",
    about="JSON of the law-search evaluator, short: a grade per document",
    suffixes=(".json",),
    holds=("queries", "query metadata", "grades", "further keys of the file and of queries"),
    cannot_hold=(
        "notes",
        "descriptions",
        "annotators' own grades",
        "documents' further keys",
        "grade 0 apart from relevant (left out unless asked for)",
    ),
    features=QUERY_FEATURES | {"file_metadata", "typed_metadata", "empty_texts"},
    read=read_compact,
    files=(FileWriter(ONE_FILE, begin=_begin, add=_add_compact, end=_end),),
    certain=lambda head: _is_law(head) and _is_compact(head),
    tells_grade_0=False,
    find_query_lines=_find_query_lines,
    schema="law-compact.schema.json",
    reserved=ReservedKeys(file=frozenset({"queries"}), query=_COMPACT_KEYS),
    ordered=True,
)
