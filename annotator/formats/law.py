"""`law`: the JSON that the law-search evaluator (Python) loads. Read and written.

    {version, created_at, queries: [{query_id, query_text, query_type, difficulty, primary_domain,
      ground_truth: {doc_id: {relevance, law_type, annotator_1, annotator_2, notes}}, total_relevant, …}]}

Every key without a name here is kept, at its level: the file's, the query's, the document's. `annotator_1` and
`annotator_2` are the first two independent grades; `total_relevant` counts grades from 1 and is counted anew.
Refused: a query or a document of one twice, a grade other than 0-3, a text that is empty.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Qrel, Query
from annotator.formats.grouping import group_qrels, list_fields
from annotator.formats.json_tree import load_json
from annotator.formats.tree import Place, TreeProblems, is_nothing

ANNOTATORS = ("annotator_1", "annotator_2")
_QUERY_KEYS = frozenset({"query_id", "query_text", "ground_truth", "total_relevant", *QUERY_FIELDS})
_FIRST_FIELDS = ("query_type", "difficulty", "primary_domain")


def read(data: bytes, path: str) -> GroundTruth:
    """The queries and qrels of a law JSON file. BadInput names every bad place with its line."""
    tree = load_json(data, path)
    problems = TreeProblems(tree)
    top = dict(problems.mapping(tree.value, ()))
    queries: dict[str, Query] = {}
    qrels: list[Qrel] = []
    if "queries" not in top and not problems:
        problems.add(("queries",), "a list", None)
    for index, item in enumerate(problems.list(top.pop("queries", []), ("queries",))):
        place: Place = ("queries", index)
        if not isinstance(item, dict) or not item:
            problems.add(place, "a mapping with query_id and query_text", item)
            continue
        query = _read_query(item, place, problems, qrels)
        if query.query_id in queries and query.query_id:
            problems.add((*place, "query_id"), "given once", query.query_id)
        queries[query.query_id] = query
    problems.raise_if_any()
    return GroundTruth(tuple(queries.values()), tuple(qrels), top)


def find_query_lines(data: bytes, path: str) -> list[int]:
    """The line on which each query of a readable file begins, in order."""
    tree = load_json(data, path)
    places: list[Place] = [("queries", index) for index in range(len(tree.value["queries"]))]
    lines = tree.locate(places)
    return [lines[place] for place in places]


def write(truth: GroundTruth, *, list_grade_0: bool = False) -> bytes:
    """The file's bytes: indented by two, LF, the same for the same truth.

    Grade 0 is left out unless asked for: the evaluator counts every listed document as relevant.
    """
    about = {key: value for key, value in truth.metadata.items() if key != "queries"}
    groups = group_qrels(truth, list_grade_0=list_grade_0)
    content = {**about, "queries": [_write_query(query, qrels) for query, qrels in groups]}
    return (json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode("utf-8")


def _read_query(item: dict[str, Any], place: Place, problems: TreeProblems, qrels: list[Qrel]) -> Query:
    rest = dict(item)
    query_id = problems.id(rest.pop("query_id", None), (*place, "query_id"))
    text = problems.text(rest.pop("query_text", None), (*place, "query_text"))
    fields = {name: problems.optional_text(rest.pop(name, None), (*place, name)) for name in QUERY_FIELDS}
    judged = rest.pop("ground_truth", None)
    if not is_nothing(judged):
        here = (*place, "ground_truth")
        qrels.extend(_read_qrels(query_id, problems.mapping(judged, here), here, problems))
    rest.pop("total_relevant", None)
    return Query(query_id, text, **fields, metadata=rest)


def _read_qrels(
    query_id: str, judged: dict[str, Any], place: Place, problems: TreeProblems
) -> Iterator[Qrel]:
    for doc_id, item in judged.items():
        here = (*place, doc_id)
        problems.id(doc_id, here)
        if not isinstance(item, dict):
            problems.add(here, "a mapping with relevance", item)
            continue
        rest = dict(item)
        yield Qrel(
            query_id,
            doc_id,
            problems.grade(rest.pop("relevance", None), (*here, "relevance")),
            description=problems.optional_text(rest.pop("description", None), (*here, "description")),
            note=problems.optional_text(rest.pop("notes", None), (*here, "notes")),
            annotator_grades=_read_annotators(rest, here, problems),
            metadata=rest,
        )


def _read_annotators(
    rest: dict[str, Any], place: Place, problems: TreeProblems
) -> tuple[tuple[str, int], ...]:
    """The grades of annotator_1 and annotator_2. The second without the first stays an unknown key."""
    grades: list[tuple[str, int]] = []
    for name in ANNOTATORS:
        if rest.get(name) is None:
            break
        grades.append((name, problems.grade(rest.pop(name), (*place, name))))
    return tuple(grades)


def _write_query(query: Query, qrels: Sequence[Qrel]) -> dict[str, Any]:
    fields = list_fields(query)
    first = {name: fields[name] for name in _FIRST_FIELDS if name in fields}
    return {
        "query_id": query.query_id,
        "query_text": query.text,
        **(first | fields),
        "ground_truth": {qrel.doc_id: _write_qrel(qrel) for qrel in qrels},
        "total_relevant": sum(qrel.grade >= RELEVANT_FROM for qrel in qrels),
        **{key: value for key, value in query.metadata.items() if key not in _QUERY_KEYS},
    }


def _write_qrel(qrel: Qrel) -> dict[str, Any]:
    known: dict[str, Any] = {"relevance": qrel.grade}
    if "law_type" in qrel.metadata:
        known["law_type"] = qrel.metadata["law_type"]
    known.update(zip(ANNOTATORS, (grade for _, grade in qrel.annotator_grades), strict=False))
    if qrel.note is not None:
        known["notes"] = qrel.note
    if qrel.description is not None:
        known["description"] = qrel.description
    return known | {key: value for key, value in qrel.metadata.items() if key not in known}
