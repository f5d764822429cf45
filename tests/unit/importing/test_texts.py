"""`--queries` fills in what a file does not say about its queries, and changes nothing that it says."""

from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.ground_truth import GroundTruth, Qrel, Query
from annotator.formats.syntax.source import InputSource
from annotator.importing.conversion_service import read_query_file, supply_texts

IDS_ONLY = GroundTruth((Query("Q1", ""), Query("Q2", "自分の文")), (Qrel("Q1", "d", 3), Qrel("Q2", "d", 0)))


def test_texts_and_fields_come_from_the_queries_of_the_same_id() -> None:
    queries = (Query("Q1", "17조 검색", language="ko", metadata={"weight": 2}),)
    truth, _ = supply_texts(IDS_ONLY, queries, by_text=False)
    assert truth.queries[0] == Query("Q1", "17조 검색", language="ko", metadata={"weight": 2})
    assert truth.qrels is IDS_ONLY.qrels


def test_what_the_file_says_itself_stays() -> None:
    own = GroundTruth((Query("Q1", "own", language="ja", metadata={"a": 1}),))
    queries = (Query("Q1", "other", language="ko", category="検索", metadata={"a": 2, "b": 3}),)
    truth, notes = supply_texts(own, queries, by_text=False)
    assert truth.queries == (Query("Q1", "own", category="検索", language="ja", metadata={"a": 1, "b": 3}),)
    assert notes == ("--queries has another text for 1 query: 'Q1'; the file's own is kept",)


def test_queries_on_one_side_only_are_said() -> None:
    _, notes = supply_texts(IDS_ONLY, (Query("Q1", "x"), Query("Q8", "y"), Query("Q9", "z")), by_text=False)
    assert notes == (
        "--queries does not know 1 query: 'Q2'",
        "--queries holds 2 queries that have no qrel here; they are left out",
    )


def test_without_ids_queries_are_found_by_their_exact_texts() -> None:
    ranked = GroundTruth(
        (Query("q1", "顧客 満足"), Query("q2", "조사")), (Qrel("q2", "d", 1), Qrel("q1", "d", 2))
    )
    queries = (Query("S-2", "조사", language="ko"), Query("S-1", "顧客 満足"))
    truth, notes = supply_texts(ranked, queries, by_text=True)
    assert truth.queries == (Query("S-1", "顧客 満足"), Query("S-2", "조사", language="ko"))
    assert truth.qrels == (Qrel("S-2", "d", 1), Qrel("S-1", "d", 2))
    assert notes == ()


@pytest.mark.parametrize(
    ("texts", "queries"),
    [
        (["조사"], (Query("a", "other"),)),
        (["조사"], (Query("a", "조사"), Query("b", "조사"))),
        (["조사", "조사"], (Query("a", "조사"),)),
    ],
)
def test_a_text_that_is_not_there_exactly_once_is_refused(
    texts: list[str], queries: tuple[Query, ...]
) -> None:
    ranked = GroundTruth(tuple(Query(f"q{index}", text) for index, text in enumerate(texts)))
    with pytest.raises(ValidationError, match="expected each query's text once"):
        supply_texts(ranked, queries, by_text=True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("queries.csv", "query_id,text,language\nQ1,検索 🔎,ja\n"),
        ("queries.jsonl", '{"_id": "Q1", "text": "検索 🔎", "metadata": {"language": "ja"}}\n'),
        ("queries.yaml", 'queries:\n  - id: Q1\n    query: "検索 🔎"\n    metadata: {language: ja}\n'),
        ("x.json", '{"queries": [{"query_id": "Q1", "query_text": "検索 🔎", "language": "ja", "ground_truth": {"d": {"relevance": 1}}}]}'),
        ("x.jsonl", '{"query_id": "Q1", "doc_id": "d", "grade": 1, "query": "検索 🔎", "language": "ja"}\n'),
    ],
)  # fmt: skip
def test_any_file_with_queries_will_do(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    (query,) = read_query_file(InputSource(str(tmp_path / name)))
    assert (query.query_id, query.text, query.language) == ("Q1", "検索 🔎", "ja")


def test_a_file_without_queries_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput):
        read_query_file(InputSource(str(tmp_path / "x.csv")))
    (tmp_path / "x.pdf").write_text("?")
    with pytest.raises(ValidationError, match="--queries: "):
        read_query_file(InputSource(str(tmp_path / "x.pdf")))
