"""BEIR folders: where metadata goes, splits, a single file of qrels, and ids with anything in them."""

import json
from pathlib import Path

import pytest

from annotator.domain.errors import BadInput
from annotator.domain.ground_truth import Document, GroundTruth, Qrel, Query
from annotator.formats.registry import find_format, read_truth
from annotator.formats.syntax.source import InputSource
from tests.written_formats import write_files

BEIR = find_format("beir")


def put(folder: Path, files: dict[str, bytes]) -> InputSource:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return InputSource(str(folder))


def test_fields_and_metadata_of_queries_and_documents_stand_in_metadata(tmp_path: Path) -> None:
    truth = GroundTruth(
        (Query("Q1", "検索", category="c", metadata={"needs_a2a": True}),),
        (Qrel("Q1", "d", 2),),
        documents=(Document("d", "題", "本文", "https://example.com", "text/html", {"year": 2024}),),
    )
    files = write_files(BEIR, truth)
    assert json.loads(files["queries.jsonl"]) == {
        "_id": "Q1",
        "text": "検索",
        "metadata": {"category": "c", "needs_a2a": True},
    }
    assert json.loads(files["corpus.jsonl"]) == {
        "_id": "d",
        "title": "題",
        "text": "本文",
        "metadata": {"url": "https://example.com", "media_type": "text/html", "year": 2024},
    }
    assert read_truth(put(tmp_path, files))[1] == truth


def test_keys_beside_the_metadata_join_it_or_stand_apart_when_one_is_taken(tmp_path: Path) -> None:
    lines = b'{"_id": "a", "text": "", "k": 1, "metadata": {"l": 2}}\n{"_id": "b", "text": "", "k": 1, "metadata": {"k": 2}}\n'
    _, truth = read_truth(put(tmp_path, {"queries.jsonl": lines}))
    assert [query.metadata for query in truth.queries] == [{"k": 1, "l": 2}, {"k": 2, "(beside)": {"k": 1}}]
    again = [json.loads(line) for line in write_files(BEIR, truth)["queries.jsonl"].splitlines()]
    assert again[1] == {"_id": "b", "text": "", "metadata": {"k": 2}, "k": 1}


def test_other_splits_are_read_after_test_and_keep_their_name(tmp_path: Path) -> None:
    files = {
        "queries.jsonl": b'{"_id": "Q", "text": "t"}\n',
        "qrels/dev.tsv": b"query-id\tcorpus-id\tscore\nQ\tb\t1\n",
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nQ\ta\t1\n",
        "qrels/.notes": b"not read",
    }
    _, truth = read_truth(put(tmp_path, files))
    assert [(qrel.doc_id, qrel.metadata) for qrel in truth.qrels] == [("a", {}), ("b", {"split": "dev"})]


def test_a_single_file_of_qrels_is_read_and_known_by_its_header() -> None:
    file_format, truth = read_truth(
        InputSource("x", 'query-id\tcorpus-id\tscore\nか゛\t"d\t1"\t0\n'.encode())
    )
    assert file_format is BEIR
    assert truth.queries == (Query("か゛", ""),)
    assert truth.qrels == (Qrel("か゛", "d\t1", 0),)


@pytest.mark.parametrize(
    "doc_id", ["a\tb", 'say "no"', '"', "a\nb", "a\r\nb", " a ", "a,b", "\u2028", "مرحبا"]
)
def test_an_id_comes_back_whatever_it_holds(doc_id: str, tmp_path: Path) -> None:
    truth = GroundTruth((Query(doc_id, "t"),), (Qrel(doc_id, doc_id, 1),), documents=(Document(doc_id, "t"),))
    assert read_truth(put(tmp_path, write_files(BEIR, truth)))[1] == truth


def test_qrels_of_a_query_that_the_folder_lacks_are_refused(tmp_path: Path) -> None:
    files = {
        "queries.jsonl": b'{"_id": "Q", "text": "t"}\n',
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nX\ta\t1\nX\tb\t1\n",
    }
    with pytest.raises(BadInput, match=r"test\.tsv:2: expected a query of queries\.jsonl, found 'X'$"):
        read_truth(put(tmp_path, files))


def test_documents_that_are_known_by_id_only_leave_an_empty_corpus(tmp_path: Path) -> None:
    truth = GroundTruth((Query("Q", "t"),), (Qrel("Q", "d", 0),))
    files = write_files(BEIR, truth)
    assert files["corpus.jsonl"] == b""
    assert read_truth(put(tmp_path, files))[1] == truth


def test_lines_of_queries_are_those_of_their_file(tmp_path: Path) -> None:
    source = put(tmp_path, {"queries.jsonl": b'\n{"_id": "a", "text": ""}\n\n{"_id": "b", "text": ""}\n'})
    assert BEIR.find_query_lines is not None
    assert BEIR.find_query_lines(source) == [2, 4]


def test_a_single_split_says_on_which_line_each_query_begins() -> None:
    data = b"query-id\tcorpus-id\tscore\nQ1\ta\t1\nQ1\tb\t0\nQ2\ta\t3\n"
    lines = find_format("beir").find_query_lines
    assert lines is not None
    assert lines(InputSource("test.tsv", data)) == [2, 4]
