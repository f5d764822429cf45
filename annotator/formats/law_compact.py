"""`law-compact`: the short form of `law`, in which a document has only a grade. Read and written.

    {version, created_at, queries: [{query_id, query_text, query_type, difficulty, primary_domain,
      ground_truth: {doc_id: relevance}, …}]}

The same law-search evaluator loads it. Unknown keys are kept at their level: the file's, the query's.
Refused: a repeated query, a repeated document of a query, a grade other than 0-3 or not a number.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats.format import Format, ReservedKeys
from annotator.formats.law import (
    QUERY_KEYS,
    begin,
    close_query,
    end,
    find_query_lines,
    is_compact,
    is_law,
    open_query,
    read_law,
)
from annotator.formats.syntax.json_text import quote
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tree import Location, TreeProblems
from annotator.formats.writer import ONE_FILE, FileWriter

_QUERY_KEYS = QUERY_KEYS - {"total_relevant"}


def read(source: InputSource) -> GroundTruth:
    """Return the queries and qrels of a compact law JSON file. BadInput names every bad place with its line."""
    return read_law(source, _read_qrels, counted=())


def _read_qrels(
    query_id: str, judged: dict[str, Any], location: Location, problems: TreeProblems
) -> Iterator[Qrel]:
    for doc_id, value in judged.items():
        here = (*location, doc_id)
        problems.id(doc_id, here)
        grade = problems.grade(value, here)
        if grade is not None:
            yield Qrel(query_id, doc_id, grade)


def _add(query: Query, qrels: Sequence[Qrel], index: int) -> str:
    judged = ",\n".join([f"        {quote(qrel.doc_id)}: {qrel.grade}" for qrel in qrels])
    truth = f"{{\n{judged}\n      }}" if qrels else "{}"
    return f'{open_query(query, index)},\n      "ground_truth": {truth}{close_query(query, _QUERY_KEYS)}'


FORMAT = Format(
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
    features=frozenset(
        (
            "query_ids",
            "query_texts",
            "query_fields",
            "query_metadata",
            "queries_without_qrels",
            "grades",
            "file_metadata",
            "typed_metadata",
            "empty_texts",
        )
    ),
    read=read,
    files=(FileWriter(ONE_FILE, begin=begin, add=_add, end=end),),
    certain=lambda head: is_law(head) and is_compact(head),
    tells_grade_0=False,
    find_query_lines=find_query_lines,
    schema="law-compact.schema.json",
    reserved=ReservedKeys(file=frozenset({"queries"}), query=_QUERY_KEYS),
    ordered=True,
)
