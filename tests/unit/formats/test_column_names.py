"""Columns of other names are read as the user names them; nothing of the file is lost on the way."""

import pytest

from annotator.domain.errors import BadInput
from annotator.formats.input_tables import read_documents, read_pairs, read_queries
from annotator.formats.judgments import read_judgments


def test_the_columns_of_a_table_are_read_under_the_names_given() -> None:
    data = "番号,質問文,text\nQ1,検索,別の列\n".encode()
    (line,) = read_queries(data, "q.csv", names={"query_id": "番号", "text": "質問文"})
    assert (line.line, line.query.query_id, line.query.text) == (2, "Q1", "検索")
    assert line.query.metadata == {"text (file)": "別の列"}


def test_json_lines_are_read_under_the_names_given() -> None:
    data = '{"경로": "a", "제목": "题", "x": 1}\n'.encode()
    (line,) = read_documents(data, "d.jsonl", names={"doc_id": "경로", "title": "제목"})
    assert (line.document.doc_id, line.document.title, line.document.metadata) == ("a", "题", {"x": 1})
    (pair,) = read_pairs(b"q,d\nQ1,d1\n", "p.csv", names={"query_id": "q", "doc_id": "d"})
    assert (pair.query_id, pair.doc_id) == ("Q1", "d1")
    names = {"query_id": "q", "doc_id": "d", "annotator": "who", "grade": "g"}
    (judgment,) = read_judgments("q,d,who,g\nQ1,d1,花子,2\n".encode(), "j.csv", names=names)
    assert (judgment.annotator, judgment.grade) == ("花子", 2)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"text": "本文"}, "q.csv:1: expected a column 本文, found a, query_id"),
        ({"text": "a", "category": "a"}, "q.csv:1: expected another column of the file for each name"),
    ],
)
def test_a_column_that_is_not_there_or_is_named_twice_is_refused(names: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_queries(b"query_id,a\nQ1,x\n", "q.csv", names=names)
    assert str(refused.value).startswith(message)
