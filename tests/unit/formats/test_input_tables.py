"""Query, document and pair tables: known columns become fields, the rest is kept, ids are exact."""

import pytest

from annotator.domain.errors import BadInput
from annotator.domain.ground_truth import Document, Query
from annotator.formats.input_tables import read_documents, read_pairs, read_queries


def problems(caught: pytest.ExceptionInfo[BadInput]) -> list[str]:
    return [str(problem).removeprefix("f:") for problem in caught.value.problems]


def test_further_columns_of_queries_are_metadata() -> None:
    text = "query_id,text,language,source\n Q 1 ,검색 🔎,ko,log\nq2,no,,\n"
    assert read_queries(text.encode(), "q.csv") == [
        (2, Query(" Q 1 ", "검색 🔎", language="ko", metadata={"source": "log"})),
        (3, Query("q2", "no")),
    ]


def test_beir_queries_are_read() -> None:
    text = '{"_id": "1", "text": "検索", "metadata": {"difficulty": "easy", "a": [1]}, "b": null}\n'
    assert read_queries(text.encode(), "queries.jsonl") == [
        (1, Query("1", "検索", difficulty="easy", metadata={"b": None, "a": [1]}))
    ]


def test_a_query_of_five_thousand_characters_is_kept() -> None:
    text = "検" * 5_000
    assert read_queries(f"query_id,text\nq,{text}\n".encode(), "q.csv")[0].query.text == text


def test_every_bad_query_is_named() -> None:
    text = f'query_id,text\nq,a\nq,b\n,c\nr,"  "\n{"x" * 1_001},d\n'
    with pytest.raises(BadInput) as caught:
        read_queries(text.encode(), "f", kind="csv")
    assert problems(caught) == [
        "3: expected each query_id once (first on line 2), found q",
        "4: expected query_id to be a text that is not empty, found nothing",
        "5: expected text to be a text that is not empty, found '  '",
        "6: expected query_id of at most 1,000 characters (2,600 bytes), found 1,001 characters",
    ]


def test_a_table_without_the_columns_is_refused() -> None:
    with pytest.raises(
        BadInput, match="f:1: expected a column query_id or _id, text or query, found id, title"
    ):
        read_queries(b"id,title\n1,2\n", "f", kind="csv")


def test_documents_keep_their_source_exactly() -> None:
    source = "<script>alert('x')</script>\n# *Markdown* & \"quotes\"\r\n\u2028"
    row = {"doc_id": "a b", "text": source, "media_type": "text/html", "lang": "en", "url": None}
    import json

    assert read_documents(json.dumps(row).encode(), "d.jsonl") == [
        ("d.jsonl", 1, Document("a b", "", source, None, "text/html", {"lang": "en"}))
    ]


def test_lines_of_jsonl_that_are_no_json_are_named_together_with_those_that_lack_something() -> None:
    text = '{"doc_id": "a", "text": "b"}\n{"text": "c"}\nnot json\n{"doc_id": "d", "text": 1}\n["e"]\n'
    with pytest.raises(BadInput) as caught:
        read_documents(text.encode(), "f", kind="jsonl")
    assert list(dict.fromkeys(found.partition(":")[0] for found in problems(caught))) == ["2", "3", "4", "5"]
    with pytest.raises(BadInput) as caught:
        read_documents(text.encode(), "f", kind="jsonl", names={"title": "name"})
    assert "1: expected a column name, found doc_id, text" in problems(caught)


def test_every_bad_document_is_named() -> None:
    text = "doc_id,title,text,media_type\na,t,,\na,u,,\nb,,,\nc,t,,text/pdf\n"
    with pytest.raises(BadInput) as caught:
        read_documents(text.encode(), "f", kind="csv")
    assert problems(caught) == [
        "3: expected each doc_id once (first on line 2), found a",
        "4: expected a title or a text, found neither",
        "5: expected media_type to be one of text/plain, text/markdown, text/x-rst, text/html, found text/pdf",
    ]


def test_further_columns_of_pairs_are_signals() -> None:
    assert [tuple(line) for line in read_pairs(b"doc_id,query_id,why\nd,q,old\n", "p.csv")] == [
        (2, "q", "d", {"why": "old"})
    ]
    with pytest.raises(BadInput) as caught:
        read_pairs(b"query_id,doc_id\nq,\n,d\n", "f", kind="csv")
    assert len(caught.value.problems) == 2


def test_a_tsv_of_ids_and_texts_may_do_without_a_header_where_its_first_line_cannot_be_one() -> None:
    queries = read_queries("Q1\tダイエット 効果\n007\tquery of ids\n".encode(), "q.tsv")
    assert [(line.line, line.query.query_id, line.query.text) for line in queries] == [
        (1, "Q1", "ダイエット 効果"),
        (2, "007", "query of ids"),
    ]
    assert [line.query.query_id for line in read_queries(b"\xef\xbb\xbf1\tt\n", "q", kind="tsv")] == ["1"]
    with pytest.raises(BadInput, match=r"q\.tsv:2: expected 2 cells, found 3"):
        read_queries(b"Q1\ta\nQ2\ta\tb\n", "q.tsv")


@pytest.mark.parametrize("header", ["qid\ttitle", "Query-ID\tText of it", "number\tQuestion", "id\tkeyword"])
def test_a_first_line_that_could_be_a_header_is_never_taken_for_a_query(header: str) -> None:
    data = f"{header}\nQ1\tt\n".encode()
    with pytest.raises(BadInput, match="expected a column"):
        read_queries(data, "q.tsv")
    assert len(read_queries(data, "q.tsv", header=False)) == 2, "unless somebody says so (--no-header)"


def test_a_csv_without_a_header_is_read_only_where_somebody_says_so() -> None:
    with pytest.raises(BadInput, match="expected a column"):
        read_queries(b"Q1,t\n", "q.csv")
    assert read_queries(b"Q1,t\n", "q.csv", header=False)[0].query.text == "t"
