"""A team's own vectors: every format gives the same ranking, and what cannot be compared is refused by name."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from annotator.domain.errors import BadInput, ValidationError
from annotator.pooling.retrievers import vector_files, vectors
from annotator.pooling.retrievers.records import SearchHit
from annotator.pooling.retrievers.vector_files import open_vectors
from annotator.pooling.retrievers.vectors import VectorRanking, rank_vectors

DOC_IDS = ["章/二", "조 1", "c", "d"]
ROWS = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 2, 0], [-1, 0, 0]], dtype=np.float32)
QUERY_IDS = ["Q1", "Q2"]
QUERY_ROWS = np.array([[0, 1, 0], [3, 0, 0]], dtype=np.float32)
SUFFIXES = ("npy", "npz", "parquet", "jsonl")


def write(path: Path, ids: Sequence[object], rows: Any, *, id_name: str = "id") -> Path:
    """A file of vectors in the format that its name says."""
    if path.suffix == ".npy":
        np.save(path, np.asarray(rows))
        path.with_suffix(".ids.txt").write_text("".join(f"{name}\n" for name in ids), encoding="utf-8")
    elif path.suffix == ".npz":
        np.savez(path, ids=np.array(ids), vectors=np.asarray(rows))
    elif path.suffix == ".parquet":
        table = pyarrow.table({id_name: list(ids), "vector": [list(map(float, row)) for row in rows]})
        pyarrow.parquet.write_table(table, path)
    else:
        lines = [
            json.dumps({id_name: name, "vector": list(map(float, row))}, ensure_ascii=False)
            for name, row in zip(ids, rows, strict=True)
        ]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def rank(
    documents: Path, queries: Path, *, depth: int = 3, doc_ids: Sequence[str] = DOC_IDS
) -> VectorRanking:
    with open_vectors(documents) as of_documents, open_vectors(queries) as of_queries:
        return rank_vectors(QUERY_IDS, doc_ids, of_documents, of_queries, depth=depth)


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    return write(tmp_path / "queries.npy", QUERY_IDS, QUERY_ROWS)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("rows", [1, 3, 8_192])
def test_every_format_gives_the_same_ranking(
    tmp_path: Path, suffix: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_files, "ROWS", rows)
    monkeypatch.setattr(vectors, "CHECKED_NUMBERS", rows)
    documents = write(tmp_path / f"d.{suffix}", DOC_IDS, ROWS, id_name="doc_id")
    searched = write(tmp_path / f"q.{suffix}", QUERY_IDS, QUERY_ROWS, id_name="query_id")
    ranking = rank(documents, searched)
    first, second = ranking.hits
    assert [hit.document for hit in first] == [
        2,
        1,
        3,
    ]  # of 章/二 and d, both at a right angle, d comes first
    assert [hit.score for hit in first] == pytest.approx([1, 0.5**0.5, 0])
    assert [hit.document for hit in second] == [0, 1, 2]
    assert ranking.without_vector == ()


@pytest.mark.parametrize("kind", [np.float16, np.float64, np.int8, np.int64])
def test_numbers_of_other_sizes_are_read(tmp_path: Path, queries: Path, kind: type) -> None:
    documents = write(tmp_path / "d.npy", DOC_IDS, (ROWS * 2).astype(kind))
    assert [[hit.document for hit in hits] for hits in rank(documents, queries).hits] == [
        [2, 1, 3],
        [0, 1, 2],
    ]


def test_a_negative_cosine_is_a_candidate_too(tmp_path: Path, queries: Path) -> None:
    documents = write(tmp_path / "d.npy", DOC_IDS, ROWS)
    assert rank(documents, queries, depth=9).hits[1][-1] == SearchHit(3, -1.0)


def test_documents_without_a_vector_are_reported(tmp_path: Path, queries: Path) -> None:
    documents = write(tmp_path / "d.npy", DOC_IDS, ROWS)
    assert rank(documents, queries, doc_ids=[*DOC_IDS, "z", "e"]).without_vector == ("e", "z")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("ids", "rows", "message"),
    [
        (["c", "c"], [[1, 0, 0], [0, 1, 0]], r":2: expected each id once \(it is in line 1\), found 'c'"),
        (["c", "x"], [[1, 0, 0], [0, 1, 0]], r":2: expected the id of a document of the dataset, found 'x'"),
        (
            ["c", "d"],
            [[1, 0, 0], [0, float("nan"), 0]],
            r":2: expected finite numbers, found nan in the vector of 'd'",
        ),
        (
            ["c", "d"],
            [[float("-inf"), 0, 0], [0, 1, 0]],
            r":1: expected finite numbers, found -inf in the vector of 'c'",
        ),
        (
            ["c", "d"],
            [[1, 0, 0], [0, 0, 0]],
            r":2: expected a number other than 0, found only zeros in the vector of 'd'",
        ),
        (["c", "d"], [[1, 0], [0, 1]], r"queries.npy: expected vectors of 2 numbers, as in .*, found 3"),
    ],
)
def test_tables_that_do_not_match_are_refused(
    tmp_path: Path, queries: Path, suffix: str, ids: list[str], rows: Any, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        rank(write(tmp_path / f"d.{suffix}", ids, rows), queries)


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    documents = write(tmp_path / "d.npy", ["c", "x"], [[1, 0], [float("nan"), 0]])
    searched = write(tmp_path / "q.npy", ["Q9"], [[0, 0, 0]])
    with pytest.raises(BadInput) as refusal:
        rank(documents, searched)
    assert [problem.found for problem in refusal.value.problems] == [
        "'x'",
        "'Q9'",
        "nan in the vector of 'x'",
        "only zeros in the vector of 'Q9'",
        "3",
        "none",
        "none",
    ]
    assert "expected a vector for the query 'Q1', found none" in str(refusal.value)


@pytest.mark.parametrize("name", ["d.npy", "d.csv"])
def test_a_missing_file_or_another_format_is_refused(tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(ValidationError, match=r"d\..*: expected a file of vectors, found none"),
        open_vectors(tmp_path / name),
    ):
        pass
    (tmp_path / "d.csv").write_text("id,vector\n")
    with (
        pytest.raises(ValidationError, match=r"expected a file named .npy, .npz, .parquet, .jsonl"),
        open_vectors(tmp_path / "d.csv"),
    ):
        pass


def _refusal(path: Path) -> str:
    with pytest.raises(BadInput) as refusal, open_vectors(path):
        pass
    return str(refusal.value)


def test_a_npy_file_needs_as_many_ids_as_rows_in_two_dimensions_of_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "d.npy", ["a", "b"], ROWS[:3])
    assert f"{tmp_path}/d.ids.txt: expected 3 ids, as many as {path} has rows, found 2" in _refusal(path)
    path.with_suffix(".ids.txt").unlink()
    assert "expected its ids, one per line, in" in _refusal(path)
    for rows, found in (
        (ROWS[0], "float32 of shape (3,)"),
        (np.array([["x"]]), "<U1 of shape (1, 1)"),
        (np.zeros((0, 3)), "float64 of shape (0, 3)"),
        (ROWS.astype(complex), "complex128"),
    ):
        np.save(path, rows)
        assert f"expected an array of numbers with two dimensions (ids × numbers), found {found}" in _refusal(
            path
        )
    np.save(path, np.array([[object()]]), allow_pickle=True)
    assert f"{path}: expected an array of numbers, one row for each id" in _refusal(path)
    for data in (b"", b"not numpy", (tmp_path / "whole.npy").name.encode()):
        path.write_bytes(data)
        assert f"{path}: expected an array of numbers, one row for each id" in _refusal(path)
    np.save(path, ROWS)
    path.write_bytes(path.read_bytes()[:-4])
    assert f"{path}: expected an array of numbers, one row for each id" in _refusal(path)


def test_ids_keep_their_white_space_and_may_end_with_carriage_returns(tmp_path: Path) -> None:
    path = write(tmp_path / "d.npy", [], ROWS[:2])
    path.with_suffix(".ids").write_bytes("\ufeff a \r\n두 번째\r\n".encode())
    path.with_suffix(".ids.txt").unlink()
    with open_vectors(path) as table:
        assert table.ids == (" a ", "두 번째")


def test_a_npz_file_needs_ids_and_vectors(tmp_path: Path) -> None:
    path = tmp_path / "d.npz"
    np.savez(path, names=np.array(["a"]))
    assert "expected the arrays ids and vectors, found names" in _refusal(path)
    np.savez(path, ids=np.array(["a"]), vectors=ROWS)
    assert "expected 4 ids as texts or numbers, found <U1 of shape (1,)" in _refusal(path)
    np.savez(path, ids=np.array(["a"], dtype=object), vectors=ROWS[:1])
    assert "expected arrays of ids and vectors" in _refusal(path)
    path.write_bytes(b"PK\x03\x04 damaged")
    assert "expected arrays of ids and vectors" in _refusal(path)
    np.savez(path, ids=np.array([7]), vectors=ROWS[:1])
    with open_vectors(path) as table:
        assert table.ids == ("7",)


def test_a_parquet_file_needs_its_columns_and_vectors_of_one_length(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"

    def save(**columns: object) -> str:
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
        return _refusal(path)

    assert (
        "expected a column id or _id or doc_id or query_id and a column vector or embedding, found id"
        in save(id=["a"])
    )
    assert "expected lists of numbers in vector, found string" in save(id=["a"], vector=["1"])
    assert ":2: expected a vector of 2 numbers, found 1" in save(id=["a", "b"], vector=[[1.0, 2.0], [1.0]])
    assert ":1: expected a vector of some numbers, found none" in save(
        id=["a"], vector=pyarrow.array([[]], pyarrow.list_(pyarrow.float32()))
    )
    assert ":1: expected an id (a text or a whole number), found nothing" in save(
        id=pyarrow.array([None], pyarrow.string()), vector=[[1.0]]
    )
    assert ":2: expected a vector of 1 numbers, found none" in save(id=["a", "b"], vector=[[1.0], None])
    assert "expected at least one vector, found none" in save(
        id=pyarrow.array([], pyarrow.string()), vector=pyarrow.array([], pyarrow.list_(pyarrow.float32()))
    )
    path.write_bytes(b"PAR1")
    assert f"{path}: expected a Parquet file" in _refusal(path)


def test_vectors_of_a_fixed_size_and_an_empty_number_in_parquet(tmp_path: Path, queries: Path) -> None:
    path = tmp_path / "d.parquet"
    rows = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array([1.0, 0.0, None, 0.0, 1.0, 0.0]), 3)
    pyarrow.parquet.write_table(pyarrow.table({"doc_id": ["c", "d"], "embedding": rows}), path)
    with pytest.raises(BadInput, match=":1: expected finite numbers, found nan in the vector of 'c'"):
        rank(path, queries)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "expected a JSON object with an id and a vector, found '{"),
        ("[1]", "expected a JSON object with an id and a vector, found a list"),
        ('{"vector": [1]}', "expected an id in id or _id or doc_id or query_id, found nothing"),
        ('{"id": true, "vector": [1]}', "expected an id in .*, found true"),
        ('{"id": "b"}', "expected a list of numbers in vector or embedding, found nothing"),
        ('{"id": "b", "vector": []}', "expected a list of numbers in .*, found a list"),
        ('{"id": "b", "vector": ["1"]}', "expected a list of numbers in .*, found a list"),
        ('{"id": "b", "vector": [true]}', "expected a list of numbers in .*, found a list"),
        ('{"id": "b", "vector": [1, 2]}', "expected a vector of 1 numbers, as before, found 2"),
    ],
)
def test_a_line_without_a_vector_is_refused_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(f'{{"_id": 1, "embedding": [1]}}\n\n{line}\n{line}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=f"d.jsonl:3: {message}") as refusal, open_vectors(path):
        pass
    assert len(refusal.value.problems) == 2


def test_line_numbers_count_empty_lines(tmp_path: Path, queries: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"id": "c", "vector": [1, 0, 0]}\n\n{"id": "d", "vector": [1e39, 0, 0]}\n')
    with pytest.raises(BadInput, match=r"d.jsonl:3: expected finite numbers, found inf in the vector of 'd'"):
        rank(path, queries)
