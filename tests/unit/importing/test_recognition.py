"""What a file holds is recognised by its content; what is only likely is said to be so."""

from pathlib import Path

import pytest

from annotator.formats.registry import FORMATS
from annotator.importing.uploads.preview import preview_file
from annotator.importing.uploads.recognition import (
    ImportChoices,
    RecognizedFile,
    recognize_file,
    recognize_upload,
)
from annotator.importing.uploads.staging import guess_encoding

SAMPLES = Path("annotator/formats/samples").resolve()
JAPANESE, KOREAN = (
    "番号,質問文\nQ1,ログの出力先を変更する方法\n",
    "번호,질의\nQ1,로그 출력 위치를 바꾸는 방법\n",
)


def recognize(folder: Path, name: str, content: str | bytes) -> RecognizedFile:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    (recognized,) = recognize_upload(folder)
    return recognized


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("q.csv", "query_id,text,category\nQ1,検索,a\n", "queries"),
        ("q.jsonl", '{"_id": "Q1", "text": "検索"}\n{"_id": "Q2", "text": "x"}\n', "queries"),
        ("corpus.jsonl", '{"_id": "d1", "title": "t", "text": "検索"}\n', "documents"),
        ("d.tsv", "doc_id\ttitle\ttext\nd1\tt\tx\n", "documents"),
        ("law.md", "# 第1条\n本文\n", "documents"),
        ("law.docx", b"PK", "documents"),
        ("bm25.txt", "Q1 Q0 d1 1 2.5 bm25\nQ1 Q0 d2 2 2.0 bm25\n", "run"),
        ("run.jsonl", '{"query_id": "Q1", "doc_id": "d1", "rank": 1, "score": 2}\n', "run"),
        ("run.json", '{"query_id": "Q1", "results": [{"doc_id": "d1"}]}\n', "run"),
        ("qrels.txt", "Q1 0 d1 2\nQ1 0 d2 0\n", "qrels"),
        ("pairs.csv", "query_id,doc_id\nQ1,d1\n", "pairs"),
        ("judged.csv", "query_id,doc_id,annotator,grade\nQ1,d1,花子,2\n", "judgments"),
        ("truth.csv", "query_id,doc_id,grade\nQ1,d1,2\n", "qrels"),
    ],
)
def test_a_file_is_recognised_with_certainty(
    name: str, content: str | bytes, kind: str, tmp_path: Path
) -> None:
    recognized = recognize(tmp_path, name, content)
    assert (recognized.kind, recognized.is_certain, recognized.names) == (kind, True, {})


@pytest.mark.parametrize(
    "name", [item.name for item in FORMATS if item.name not in ("csv", "jsonl", "trec", "beir")]
)
def test_every_ground_truth_format_is_recognised(name: str, tmp_path: Path) -> None:
    (sample,) = (
        path for path in SAMPLES.iterdir() if path.name.split(".")[0] == name and "nasty" not in path.name
    )
    recognized = recognize(tmp_path, f"truth{sample.suffix}", sample.read_bytes())
    assert (recognized.kind, recognized.format) == ("qrels", name)


def test_a_ground_truth_file_without_any_grade_is_one_of_queries(tmp_path: Path) -> None:
    shipped = Path("datasets/nablarch/queries.yaml").read_bytes()
    recognized = recognize(tmp_path, "queries.yaml", shipped)
    assert (recognized.kind, recognized.format, recognized.is_certain) == ("queries", "nablarch", True)


@pytest.mark.parametrize(
    ("text", "encoding", "names"),
    [
        (JAPANESE, "cp932", {"query_id": "番号", "text": "質問文"}),
        (JAPANESE, "euc-jp", {"query_id": "番号", "text": "質問文"}),
        (JAPANESE, "utf-16", {"query_id": "番号", "text": "質問文"}),
        (KOREAN, "cp949", {"query_id": "번호", "text": "질의"}),
        (KOREAN, None, {"query_id": "번호", "text": "질의"}),
    ],
)
def test_columns_and_encodings_of_other_names_are_proposed_not_taken_for_certain(
    text: str, encoding: str | None, names: dict[str, str], tmp_path: Path
) -> None:
    recognized = recognize(tmp_path, "質問.csv", text.encode(encoding or "utf-8"))
    assert (recognized.kind, recognized.encoding, recognized.names) == ("queries", encoding, names)
    assert not recognized.is_certain
    choices = ImportChoices("queries", recognized.format, recognized.encoding, recognized.names)
    preview = preview_file(tmp_path / "質問.csv", choices)
    assert preview.columns == ("query_id", "text")
    assert preview.rows == (tuple(text.splitlines()[1].split(",")),)


def test_the_preview_of_a_ground_truth_shows_every_field_that_is_kept(tmp_path: Path) -> None:
    query = "{id: Q1, query: 検索, category: 基盤, expected_docs: [{doc_id: d, relevance: 3}], metadata: {difficulty: hard, specificity: fqcn}}"
    (tmp_path / "truth.yaml").write_text(f"queries:\n  - {query}\n", encoding="utf-8")
    preview = preview_file(tmp_path / "truth.yaml", ImportChoices("queries", "nablarch"))
    assert dict(zip(preview.columns, preview.rows[0], strict=True)) == {
        "query_id": "Q1", "text": "検索", "category": "基盤", "difficulty": "hard", "specificity": "fqcn",
    }  # fmt: skip


def test_a_folder_of_texts_is_one_import_and_its_tables_are_others(tmp_path: Path) -> None:
    for name in ("docs/a.md", "docs/in/b.rst", "docs/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# 題\n本文\n", encoding="utf-8")
    (tmp_path / "docs/bm25.txt").write_text("Q1 Q0 d1 1 2.5 bm25\n", encoding="utf-8")
    (tmp_path / "q.csv").write_text("query_id,text\nQ1,検索\n", encoding="utf-8")
    recognized = recognize_upload(tmp_path)
    assert [(item.path, item.kind, item.files) for item in recognized] == [
        ("q.csv", "queries", 1),
        ("docs", "documents", 3),
        ("docs/bm25.txt", "run", 1),
    ]
    preview = preview_file(tmp_path / "docs", ImportChoices("documents"))
    assert preview.columns == ("doc_id", "title", "text", "media_type")
    assert [row[0] for row in preview.rows] == ["a.md", "bm25.txt", "c.txt", "in/b.rst"]


def test_a_folder_of_runs_and_a_beir_folder_are_one_import_each(tmp_path: Path) -> None:
    for name in ("runs/a.trec", "runs/b.trec"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Q1 Q0 d1 1 2.5 x\n", encoding="utf-8")
    (tmp_path / "beir/qrels").mkdir(parents=True)
    (tmp_path / "beir/queries.jsonl").write_text('{"_id": "Q1", "text": "x"}\n', encoding="utf-8")
    assert [(item.path, item.kind, item.format) for item in recognize_upload(tmp_path)] == [
        ("runs", "run", None),
        ("beir", "qrels", "beir"),
    ]


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x00", b"\x00" * 100, "\udcff".encode("utf-8", "surrogatepass"), b"{" * 5000, b""]
)
@pytest.mark.parametrize("name", ["x", "x.csv", "x.jsonl", "x.json", "x.yaml", "x.txt"])
def test_no_content_makes_recognition_or_preview_fail(name: str, data: bytes, tmp_path: Path) -> None:
    recognized = recognize(tmp_path, name, data)
    for kind in ("queries", "documents", "run", "pairs", "judgments", "qrels"):
        preview_file(tmp_path / name, ImportChoices(kind, None, recognized.encoding))  # type: ignore[arg-type]


def test_utf_8_is_never_taken_for_another_encoding() -> None:
    for text in (JAPANESE, KOREAN, "plain", "café", ""):
        assert guess_encoding(text.encode()) is None
        assert guess_encoding(text.encode()[:-1], whole=False) is None


@pytest.mark.parametrize(
    ("name", "content", "kind", "fault"),
    [
        ("a.csv", b"query_id,doc_id,rating\nq,d,2\n", "qrels", "rating will not become grades"),
        ("a.csv", b"query_id,doc_id,annotator_1\nq,d,2\n", "qrels", "annotator_1 will not become grades"),
        ("a.txt", b"0001 0 d1 L2\n0001 0 d2 L0\n", "qrels", "another scale"),
        ("a.txt", b"2 qid:1 1:0.5 2:0.1 # d1\n", "qrels", "LETOR"),
        ("a.jsonl", b'{"query-id": "q", "corpus-id": "d", "score": 1}\n', "qrels", "score will not become"),
        ("a.gz", b"\x1f\x8b\x08\x00abc", "documents", "compressed by gzip (unpack it first)"),
        ("a.parquet", b"PAR1\x15\x04abc", "documents", "a Parquet file (write it as CSV or JSONL)"),
    ],
)
def test_grades_that_are_not_read_and_files_that_are_no_text_are_never_certain(
    tmp_path: Path, name: str, content: bytes, kind: str, fault: str
) -> None:
    (tmp_path / name).write_bytes(content)
    item = recognize_file(tmp_path / name, tmp_path)
    assert (item.kind, item.is_certain) == (kind, False)
    assert fault in str(item.fault)
