"""`ranked`: the JSON of the survey-template search evaluator (Python): documents best first, no ids, no grades.

    [{query, relevant_documents: [doc_id, …]}]

Every further key of an item is the query's field or metadata. A query has no id: it is read as q1, q2, … by its
place. A document has no grade: `position` gives the list's length to the first one, down to 1 for the last (the
evaluator's own convention, not the 0-3 scale); `all=N` gives every one N. Writing lists the documents graded 1 and
more by grade, best first; those of one grade in the truth's order. Refused: a document twice in a list.
"""

import re
from collections.abc import Sequence
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Metadata, Qrel, Query
from annotator.formats.format import Format, Reserved
from annotator.formats.grouping import list_fields
from annotator.formats.json_text import quote, write_entry
from annotator.formats.json_tree import load_json
from annotator.formats.source import Source
from annotator.formats.tree import Place, TreeProblems, locate_items
from annotator.formats.writing import ONE_FILE, FileWriter

GRADES_BY = ("position", "all=1", "all=2", "all=3")
_TAKEN = frozenset({"query", "relevant_documents"})
_CERTAIN = re.compile(rb'\s*\[\s*\{.*"relevant_documents"\s*:\s*\[', re.DOTALL)


def read(source: Source) -> GroundTruth:
    """Always ValidationError: the file holds no grades, so somebody must say which ones are meant."""
    raise ValidationError(
        f"{source.path}: a ranked file holds no grades; say --grades-by position (the list's length for the "
        "first document, down to 1 for the last: not the 0-3 scale) or --grades-by all=N, N from 1 to 3"
    )


def read_graded(source: Source, grades_by: str) -> GroundTruth:
    """The queries and qrels, graded as `grades_by` says: one of GRADES_BY. BadInput names every bad place."""
    if grades_by not in GRADES_BY:
        raise ValidationError(f"--grades-by: expected position or all=N, N from 1 to 3, found {grades_by!r}")
    tree = load_json(source.read_bytes(), source.path)
    problems = TreeProblems(tree)
    queries: list[Query] = []
    qrels: list[Qrel] = []
    for index, item in enumerate(problems.list(tree.value, ())):
        if not isinstance(item, dict):
            problems.add((index,), "a mapping with query and relevant_documents", item)
            continue
        query_id = f"q{index + 1}"
        queries.append(_read_query(item, query_id, (index,), problems))
        doc_ids = _read_documents(item, (index, "relevant_documents"), problems)
        for place, doc_id in enumerate(doc_ids):
            grade = len(doc_ids) - place if grades_by == "position" else int(grades_by[-1])
            qrels.append(Qrel(query_id, doc_id, grade))
    problems.raise_if_any()
    return GroundTruth(tuple(queries), tuple(qrels))


def find_query_lines(source: Source) -> list[int]:
    """The line on which each query of a readable file begins, in order."""
    return locate_items(load_json(source.read_bytes(), source.path))


def _read_query(item: dict[str, Any], query_id: str, place: Place, problems: TreeProblems) -> Query:
    rest = {key: value for key, value in item.items() if key not in _TAKEN}
    text = problems.text(item.get("query"), (*place, "query"))
    fields = {name: problems.optional_text(rest.pop(name, None), (*place, name)) for name in QUERY_FIELDS}
    return Query(query_id, text, **fields, metadata=rest)


def _read_documents(item: dict[str, Any], place: Place, problems: TreeProblems) -> list[str]:
    found: dict[str, None] = {}
    for index, value in enumerate(problems.list(item.get("relevant_documents"), place)):
        doc_id = problems.id(value, (*place, index))
        if doc_id in found and doc_id:
            problems.add((*place, index), "given once in a query", doc_id)
        found[doc_id] = None
    return list(found)


def _begin(_: Metadata, queries: int) -> str:
    return "[" if queries else "[]\n"


def _end(queries: int) -> str:
    return "\n]\n" if queries else ""


def _add(query: Query, qrels: Sequence[Qrel], place: int) -> str:
    listed = sorted((qrel for qrel in qrels if qrel.grade >= RELEVANT_FROM), key=lambda qrel: -qrel.grade)
    documents = ",\n".join([f"      {quote(qrel.doc_id)}" for qrel in listed])
    kept = {**list_fields(query), **{key: query.metadata[key] for key in query.metadata if key not in _KEYS}}
    return "".join(
        [
            ",\n  {\n" if place else "\n  {\n",
            f'    "query": {quote(query.text)},\n    "relevant_documents": ',
            f"[\n{documents}\n    ]" if listed else "[]",
            *(",\n" + write_entry(key, value, "    ") for key, value in kept.items()),
            "\n  }",
        ]
    )


_KEYS = _TAKEN | frozenset(QUERY_FIELDS)

FORMAT = Format(
    name="ranked",
    about="JSON of the survey-template search evaluator: documents best first",
    suffixes=(".json",),
    holds=("query texts", "query metadata", "the order of relevant documents"),
    cannot_hold=(
        "query ids (read as q1, q2, … by place)",
        "grades (reading needs --grades-by position|all=N)",
        "grade 0",
        "notes",
        "descriptions",
        "annotators' own grades",
    ),
    features=frozenset(
        (
            "query_texts",
            "query_fields",
            "query_metadata",
            "queries_without_qrels",
            "large_grades",
            "typed_metadata",
            "empty_texts",
        )
    ),
    read=read,
    files=(FileWriter(ONE_FILE, begin=_begin, add=_add, end=_end),),
    certain=lambda head: bool(_CERTAIN.match(head)),
    tells_grade_0=False,
    find_query_lines=find_query_lines,
    schema="ranked.schema.json",
    read_graded=read_graded,
    reserved=Reserved(query=_KEYS),
)
