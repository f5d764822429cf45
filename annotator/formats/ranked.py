"""`ranked`: the JSON of the survey-template search evaluator (Python): documents best first, no ids, no
grades.

    [{query, relevant_documents: [doc_id, …]}]

Other keys of an item are the query's fields or metadata. Queries are numbered q1, q2, … in file order.
Documents get grades by a rule: `position` gives the list's length to the first, down to 1 for the last (the
evaluator's convention, not the 0-3 scale); `all=N` gives N to every document; `places=3:3,6:2,10:1` gives 3
up to place 3, 2 up to place 6, 1 up to place 10. Writes the documents with grade 1 or more, best grade first,
equal grades in the truth's order. Queries without such documents are left out, since the evaluator divides by
the list's length. Refused: a repeated document in a list, a document after the last place with a grade.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Metadata, Qrel, Query
from annotator.domain.messages import CommandWords, refuse_option, say
from annotator.formats.format import ONE_FILE, FileWriter, Format, ReservedKeys, list_fields
from annotator.formats.syntax.json_text import load_json, quote, write_entry
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tree import Location, TreeProblems, locate_items

GRADES_BY = ("position", "all=1", "all=2", "all=3")
OPTION = CommandWords("--grades-by")
RULES = "position, all=N, or places=PLACE:GRADE,… (places=3:3,6:2,10:1), grades from 1 to 3"
_STEPS = re.compile(r"places=([1-9]\d{0,8}:[1-3](?:,[1-9]\d{0,8}:[1-3])*)", re.ASCII)
_TAKEN = frozenset({"query", "relevant_documents"})
_CERTAIN = re.compile(rb'\s*\[\s*\{.*"relevant_documents"\s*:\s*\[', re.DOTALL)


def read(source: InputSource) -> GroundTruth:
    """Raise ValidationError: the file holds no grades, so the user must name a rule."""
    raise ValidationError(
        say(
            "{path}: a ranked file holds no grades; say {option} position (the list's length for the first document, down to 1 for the last: not the 0-3 scale) or {option} all=N, N from 1 to 3; or {option} places=3:3,6:2,10:1 (3 for the first three documents, 2 up to the sixth, 1 up to the tenth)",
            path=source.path,
            option=OPTION,
        )
    )


def read_graded(source: InputSource, grades_by: str) -> GroundTruth:
    """Return the queries and qrels, graded as `grades_by` says (RULES). BadInput names every bad place."""
    steps = _read_steps(grades_by)
    if steps is None and grades_by not in GRADES_BY:
        raise ValidationError(refuse_option(OPTION, RULES, repr(grades_by)))
    tree = load_json(source.read_bytes(), source.path)
    problems = TreeProblems(tree)
    queries: list[Query] = []
    qrels: list[Qrel] = []
    for index, item in enumerate(problems.list(tree.value, ())):
        if not isinstance(item, dict):
            problems.add((index,), say("a mapping with query and relevant_documents"), item)
            continue
        query_id = f"q{index + 1}"
        queries.append(_read_query(item, query_id, (index,), problems))
        doc_ids = _read_documents(item, (index, "relevant_documents"), problems)
        if steps is not None and len(doc_ids) > steps[-1][0]:
            problems.add(
                (index, "relevant_documents"),
                say(
                    "a list of {n} documents at most, since {rule} gives no grade behind that place (add one)",
                    n=steps[-1][0],
                    rule=grades_by,
                ),
                len(doc_ids),
            )
            continue
        for position, doc_id in enumerate(doc_ids):
            qrels.append(Qrel(query_id, doc_id, _grade_position(position, len(doc_ids), grades_by, steps)))
    problems.raise_if_any()
    return GroundTruth(tuple(queries), tuple(qrels))


def _read_steps(grades_by: str) -> list[tuple[int, int]] | None:
    """Return (last place, grade) of each step of `places=…`; None for another rule. ValidationError for a wrong order."""
    match = _STEPS.fullmatch(grades_by)
    if match is None:
        return None
    steps = [(int(rank), int(grade)) for rank, grade in (step.split(":") for step in match[1].split(","))]
    for (rank, grade), (next_rank, next_grade) in pairwise(steps):
        if next_rank <= rank or next_grade > grade:
            found = f"{rank}:{grade} before {next_rank}:{next_grade}"
            raise ValidationError(
                refuse_option(OPTION, say("places that go up and grades that do not"), found)
            )
    return steps


def _grade_position(position: int, length: int, grades_by: str, steps: list[tuple[int, int]] | None) -> int:
    """Return the grade of the document at this position (from 0) of a list of this length."""
    if steps is not None:
        return next(grade for last, grade in steps if position < last)
    return length - position if grades_by == "position" else int(grades_by[-1])


def _read_query(item: dict[str, Any], query_id: str, location: Location, problems: TreeProblems) -> Query:
    rest = {key: value for key, value in item.items() if key not in _TAKEN}
    text = problems.text(item.get("query"), (*location, "query"))
    fields = {name: problems.optional_text(rest.pop(name, None), (*location, name)) for name in QUERY_FIELDS}
    return Query(query_id, text, **fields, metadata=rest)


def _read_documents(item: dict[str, Any], location: Location, problems: TreeProblems) -> list[str]:
    doc_ids: dict[str, None] = {}
    for index, value in enumerate(problems.list(item.get("relevant_documents"), location)):
        doc_id = problems.id(value, (*location, index))
        if doc_id in doc_ids and doc_id:
            problems.add((*location, index), say("given once in a query"), doc_id)
        doc_ids[doc_id] = None
    return list(doc_ids)


def _begin(_: Metadata, __: int) -> str:
    return "["


def _end(queries: int) -> str:
    return "\n]\n" if queries else "]\n"


def _takes(_: Query, qrels: Sequence[Qrel]) -> bool:
    return any(qrel.grade >= RELEVANT_FROM for qrel in qrels)


def _add(query: Query, qrels: Sequence[Qrel], index: int) -> str:
    listed = sorted((qrel for qrel in qrels if qrel.grade >= RELEVANT_FROM), key=lambda qrel: -qrel.grade)
    documents = ",\n".join([f"      {quote(qrel.doc_id)}" for qrel in listed])
    kept = {**list_fields(query), **{key: query.metadata[key] for key in query.metadata if key not in _KEYS}}
    return "".join(
        [
            ",\n  {\n" if index else "\n  {\n",
            f'    "query": {quote(query.text)},\n    "relevant_documents": ',
            f"[\n{documents}\n    ]",
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
        "queries without a relevant document",
        "grades (reading needs --grades-by position|all=N|places=3:3,6:2,10:1)",
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
            "large_grades",
            "typed_metadata",
            "empty_texts",
        )
    ),
    read=read,
    files=(FileWriter(ONE_FILE, begin=_begin, add=_add, end=_end, takes=_takes),),
    certain=lambda head: bool(_CERTAIN.match(head)),
    tells_grade_0=False,
    find_query_lines=lambda source: locate_items(load_json(source.read_bytes(), source.path)),
    schema="ranked.schema.json",
    read_graded=read_graded,
    reserved=ReservedKeys(query=_KEYS),
    ordered=True,
)
