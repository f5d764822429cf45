"""Annotators' own judgments in a ground truth: *cannot rate*, and grades on a document that the file does not settle."""

import json

import pytest

from annotator.domain.errors import BadInput
from annotator.domain.ground_truth import GroundTruth, JudgmentLine
from annotator.formats.conversion_losses import find_losses
from annotator.formats.registry import FORMATS, find_format, read_truth
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.source import InputSource

CELLS: dict[str, dict[str, int | str]] = {
    "d1": {"grade": 2, "annotator_1": "unrateable", "annotator_2": 2},
    "d2": {"grade": -1, "annotator_1": 3, "annotator_2": -1},
    "d3": {"grade": 1, "annotator_1": 1, "annotator_2": 1},
}


def write(name: str) -> bytes:
    """The same judgments in each format that has annotators' own grades."""
    if name == "law":
        judged = {
            doc: {("relevance" if key == "grade" else key): value for key, value in cells.items()}
            for doc, cells in CELLS.items()
        }
        return json.dumps(
            {"queries": [{"query_id": "Q", "query_text": "t", "ground_truth": judged}]}
        ).encode()
    rows = [{"query_id": "Q", "doc_id": doc, **cells} for doc, cells in CELLS.items()]
    if name == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    lines = [",".join(map(str, row.values())) for row in rows]
    return ("\n".join([",".join(rows[0]), *lines]) + "\n").encode()


def read(name: str, data: bytes | None = None) -> GroundTruth:
    scale = GradeScale({"-1": "unrateable"})
    return read_truth(InputSource("f", write(name) if data is None else data, scale=scale), format_name=name)[
        1
    ]


@pytest.mark.parametrize("name", ["law", "csv", "jsonl"])
def test_what_annotators_could_not_rate_is_read_beside_the_grades(name: str) -> None:
    truth = read(name)
    assert [(qrel.doc_id, qrel.grade, qrel.annotator_grades) for qrel in truth.qrels] == [
        ("d1", 2, (("annotator_2", 2),)),
        ("d3", 1, (("annotator_1", 1), ("annotator_2", 1))),
    ]
    assert [
        (line.query_id, line.doc_id, line.annotator, line.outcome, line.grade)
        for line in truth.further_judgments
    ] == [
        ("Q", "d1", "annotator_1", "unrateable", None),
        ("Q", "d2", "annotator_1", "graded", 3),
        ("Q", "d2", "annotator_2", "unrateable", None),
    ]


@pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
def test_a_conversion_says_that_it_leaves_them_out(file_format: object) -> None:
    truth = GroundTruth(
        (),
        further_judgments=(
            JudgmentLine(None, "Q", "d", "annotator_1", "unrateable", None),
            JudgmentLine(None, "Q", "e", "annotator_1", "graded", 3),
        ),
    )
    losses = [loss.what for loss in find_losses(truth, find_format(file_format.name))]  # type: ignore[attr-defined]
    assert losses == [
        "1 unrateable of annotators left out",
        "1 grade of annotators left out, on documents without a settled grade",
    ]


@pytest.mark.parametrize("rows", ["q,d,-1,1\nq,d,-1,2\n", "q,d,-1,1\nq,d,2,2\n", "q,d,2,2\nq,d,-1,1\n"])
def test_a_document_that_is_not_settled_stands_once_in_its_query_too(rows: str) -> None:
    with pytest.raises(BadInput, match="3: expected each document of a query once, found 'd' again"):
        read("csv", f"query_id,doc_id,grade,annotator_1\n{rows}".encode())


def test_a_settled_grade_is_never_unrateable_by_word() -> None:
    with pytest.raises(BadInput, match="expected a grade 0, 1, 2 or 3, found 'unrateable'"):
        read("csv", b"query_id,doc_id,grade\nq,d,unrateable\n")
