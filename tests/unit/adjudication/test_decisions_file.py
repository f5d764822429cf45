"""The CSV of decisions: what it may look like, and that every bad line is named."""

import pytest

from annotator.adjudication.bulk.bulk_files import DecisionLine, read_decisions
from annotator.domain.errors import BadInput, Problems


def faults(text: str | bytes) -> list[str]:
    data = text if isinstance(text, bytes) else text.encode()
    problems = Problems("決定.csv")
    with pytest.raises(BadInput) as caught:
        read_decisions(data, "決定.csv", problems)
        problems.raise_if_any()
    return [str(problem) for problem in caught.value.problems]


def read(data: bytes) -> list[DecisionLine]:
    problems = Problems("d.csv")
    decisions = read_decisions(data, "d.csv", problems)
    problems.raise_if_any()
    return decisions


def test_columns_stand_in_any_order_and_ids_are_kept_exactly() -> None:
    text = (
        "\ufeffgrade,rationale,doc_id,query_id,reason\r\n"
        '3,"第17条に,直接\n答える 🎯", 문서/ 1 ,Ｑ１,guideline\r\n'
        "0,無関係,e\u0301,Q2,\r\n"
    )
    assert read(text.encode()) == [
        DecisionLine(2, "Ｑ１", " 문서/ 1 ", 3, "第17条に,直接\n答える 🎯", "guideline"),
        DecisionLine(4, "Q2", "e\u0301", 0, "無関係", None),
    ]


def test_reason_may_be_left_out() -> None:
    assert read(b"query_id,doc_id,grade,rationale\nQ1,d1,2,because\n") == [
        DecisionLine(2, "Q1", "d1", 2, "because", None)
    ]


def test_every_bad_line_is_named_with_its_place() -> None:
    text = (
        "query_id,doc_id,grade,rationale\n"
        "Q1,d1,4,because\n"
        "Q1,d2,2,  \n"
        "Q1,d3,2\n"
        "Q1,d4,2.5,\n"
        "Q1,d5,1,fine\n"
        "\n"
        "Q1,d5,1,fine\n"
    )
    assert faults(text) == [
        "決定.csv:2: expected a grade 0, 1, 2, 3 or unrateable, found '4'",
        "決定.csv:3: expected a rationale of some words, found nothing",
        "決定.csv:4: expected 4 cells, found 3",
        "決定.csv:5: expected a grade 0, 1, 2, 3 or unrateable, found '2.5'",
        "決定.csv:5: expected a rationale of some words, found nothing",
        "決定.csv:8: expected each pair once, found the pair of line 6 again",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "決定.csv: expected rows of a table, found an empty file"),
        ("query_id,doc_id,grade\nQ1,d1,2\n", "決定.csv:1: expected a column rationale"),
        ("query_id,doc_id,grade,rational\nQ1,d1,2,x\n", "決定.csv:1: expected a column rationale"),
        (
            "query_id,doc_id,grade,rationale,Reason\n",
            "決定.csv:1: expected no columns but query_id, doc_id, grade",
        ),
        ("query_id,doc_id,grade,rationale,grade\n", "決定.csv:1: expected each column once"),
    ],
)
def test_other_columns_are_refused(text: str, fault: str) -> None:
    assert faults(text)[0].startswith(fault)


def test_another_encoding_and_broken_quotes_are_refused_with_their_line() -> None:
    (fault,) = faults("query_id,doc_id,grade,rationale\nQ1,d1,1,理由\n".encode("cp932"))
    assert fault.startswith("決定.csv:2: expected UTF-8")
    assert faults('query_id,doc_id,grade,rationale\nQ1,d1,1,ok\nQ1,d2,1,"open\n')[0].startswith(
        "決定.csv:3: expected a CSV row"
    )
