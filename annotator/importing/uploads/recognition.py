"""Recognize the content of uploaded files: queries, documents, a run, pairs, judgments or an earlier ground
truth.

The user sees the result and may correct it. `is_certain` is False if columns were guessed by their names or
the kind is only likely.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from annotator.domain.errors import AnnotatorError, Problems
from annotator.domain.ground_truth import ImportKind
from annotator.domain.messages import say
from annotator.formats.format import Format
from annotator.formats.input_tables import DOCUMENT_ID_NAMES, QUERY_ID_NAMES, TEXT_NAMES
from annotator.formats.qrel_rows import ANNOTATOR
from annotator.formats.registry import HEAD, list_certain
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import KINDS, Table, kind_of_name, read_rows
from annotator.formats.syntax.text import describe_bytes, to_utf8
from annotator.importing.sources import MEDIA_TYPE_BY_SUFFIX
from annotator.importing.texts.office_files import MACROS, MODULES
from annotator.importing.uploads.staging import guess_encoding

ORDER: tuple[ImportKind, ...] = ("queries", "documents", "run", "pairs", "judgments", "qrels")
"""The order in which files are imported: each kind needs the ones before it."""
COLUMNS: Mapping[ImportKind, tuple[str, ...]] = {
    "queries": (
        "query_id",
        "text",
        "category",
        "language",
        "query_type",
        "difficulty",
        "primary_domain",
        "narrative",
    ),
    "documents": ("doc_id", "title", "text", "url"),
    "pairs": ("query_id", "doc_id"),
    "judgments": ("query_id", "doc_id", "annotator", "grade", "note", "judged_at", "seconds"),
}
"""The columns that a table of each kind may have, by the names that its reader expects."""
REQUIRED: Mapping[ImportKind, tuple[str, ...]] = {
    "queries": ("query_id", "text"),
    "documents": ("doc_id",),
    "pairs": ("query_id", "doc_id"),
    "judgments": ("query_id", "doc_id", "annotator", "grade"),
}
_READ_AS: Mapping[str, tuple[str, ...]] = {
    "query_id": (*QUERY_ID_NAMES, "query-id"),
    "doc_id": (*DOCUMENT_ID_NAMES, "corpus-id"),
}
"""The names that the readers understand by themselves."""
_MEANINGS: Mapping[str, tuple[str, ...]] = {
    "query_id": (
        "id",
        "qid",
        "queryid",
        "topicid",
        "topic",
        "no",
        "number",
        "番号",
        "クエリid",
        "質問id",
        "질의id",
        "질문id",
        "번호",
    ),
    "text": (
        "query",
        "querytext",
        "question",
        "content",
        "body",
        "質問",
        "質問文",
        "クエリ",
        "本文",
        "内容",
        "질의",
        "질문",
        "본문",
        "내용",
    ),
    "doc_id": (
        "id",
        "docid",
        "documentid",
        "docno",
        "path",
        "file",
        "文書id",
        "ファイル",
        "문서id",
        "파일",
        "번호",
    ),
    "title": ("name", "heading", "タイトル", "題名", "見出し", "제목"),
    "url": ("link", "uri"),
    "annotator": ("user", "username", "judge", "assessor", "判定者", "評価者", "판정자", "평가자"),
    "grade": ("rating", "score", "relevance", "rel", "label", "評価値", "評価", "등급", "평가"),
    "note": ("comment", "remark", "メモ", "コメント", "메모"),
    "category": ("カテゴリ", "分類", "카테고리", "분류"),
    "language": ("lang", "言語", "언어"),
}
"""What columns of other names are likely to mean, in lower case without spaces and signs."""
_FIRST_ROWS = 200
_NTCIR = re.compile("L[0-9]+")
OTHER_SCALE = say("The grades are of another scale: say which grade each value is.")
LETOR = say("This is a file of LETOR, which is not read.")
READ_WHOLE = 2_000_000


@dataclass(frozen=True, slots=True)
class RecognizedFile:
    """The likely content of a file or folder.

    `format`: of a ground truth or a table; None if the importer detects it. `encoding`: None for UTF-8.
    `columns`: of a table. `names`: {expected name: column}, where they differ. `files`: the number of files
    in a folder.
    """

    path: str
    kind: ImportKind
    format: str | None = None
    encoding: str | None = None
    columns: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    is_certain: bool = True
    files: int = 1
    bytes: int = 0
    fault: str | None = None
    """Why the file cannot be read as it is, or what of it is not read: a sentence."""

    def make_choices(self) -> "ImportChoices":
        """Return how the file is imported as it was recognised."""
        names = self.names if self.format is None or self.format in KINDS else {}
        return ImportChoices(self.kind, self.format, self.encoding, names)


def recognize_upload(folder: Path) -> list[RecognizedFile]:
    """Return the content of a folder of uploaded files, in import order. Paths are relative to the folder."""
    found_files: list[RecognizedFile] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            found_files += recognize_folder(path, folder)
        else:
            found_files.append(recognize_file(path, folder))
    return sorted(found_files, key=lambda item: (ORDER.index(item.kind), item.path))


def recognize_folder(path: Path, root: Path) -> Iterator[RecognizedFile]:
    """Yield the content of a folder: a BEIR folder, a folder of runs, or its texts and each of its tables."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    size, name = sum(file.stat().st_size for file in files), path.relative_to(root).as_posix()
    if (path / "qrels").is_dir() and (path / "queries.jsonl").is_file():
        yield RecognizedFile(name, "qrels", "beir", files=len(files), bytes=size)
        return
    texts = [file for file in files if file.suffix.lower() in (*MEDIA_TYPE_BY_SUFFIX, *MODULES, *MACROS)]
    tables = [recognize_file(file, root) for file in files if file not in set(texts)]
    plain = [file for file in texts if file.suffix.lower() == ".txt"]
    data = {file: recognize_file(file, root) for file in plain}
    lists = [item for item in data.values() if item.kind != "documents"]
    tables += lists
    if len(texts) > len(lists):
        size = sum(file.stat().st_size for file in texts)
        yield RecognizedFile(name, "documents", files=len(texts) - len(lists), bytes=size)
    elif len(tables) == len(files) > 1 and all(item.kind == "run" for item in tables) and _is_flat(path):
        yield RecognizedFile(name, "run", files=len(files), bytes=size)
        return
    yield from tables


def _is_flat(path: Path) -> bool:
    return not any(entry.is_dir() for entry in path.iterdir())


def recognize_file(path: Path, root: Path) -> RecognizedFile:
    """Return the likely content of one file, by its suffix and its first 64 kB."""
    name, size, suffix = path.relative_to(root).as_posix(), path.stat().st_size, path.suffix.lower()
    if suffix in (*MODULES, *MACROS):
        return RecognizedFile(name, "documents", bytes=size)
    with path.open("rb") as file:
        head = file.read(HEAD)
    if (binary := describe_bytes(head)) is not None:
        return RecognizedFile(
            name,
            "documents",
            is_certain=False,
            bytes=size,
            fault=say("This file holds no text: it is {what}.", what=binary),
        )
    encoding = guess_encoding(head, whole=len(head) == size)
    if suffix in MEDIA_TYPE_BY_SUFFIX and suffix != ".txt":
        return RecognizedFile(name, "documents", encoding=encoding, bytes=size)
    known = RecognizedFile(name, "documents", None, encoding, bytes=size)
    return _recognize_data(known, head, path)


def _recognize_data(file: RecognizedFile, head: bytes, path: Path) -> RecognizedFile:
    try:
        certain = list_certain(InputSource(str(path), encoding=file.encoding))
    except AnnotatorError:
        certain = []
    table = _read_first_rows(head, file)
    if len(certain) == 1 and not (table is not None and _has(table, "annotator")):
        kind: ImportKind = "queries" if _has_queries_only(file, certain[0], path) else "qrels"
        return replace(file, kind=kind, format=certain[0].name)
    if table is not None:
        return _recognize_table(file, table)
    text = _decode(head, file.encoding)
    lines = [line.split() for line in text.splitlines()[:20] if line.strip()]
    if lines and all(len(line) >= 6 and _is_number(line[4]) for line in lines[:-1] or lines):
        return replace(file, kind="run")
    if lines and all(len(line) == 4 and _is_number(line[3]) for line in lines[:-1] or lines):
        return replace(file, kind="qrels", format="trec")
    if lines and all(len(line) == 4 and _NTCIR.fullmatch(line[3]) for line in lines[:-1] or lines):
        return replace(file, kind="qrels", format="trec", is_certain=False, fault=OTHER_SCALE)
    if lines and all(len(line) > 2 and line[1].startswith("qid:") for line in lines[:-1] or lines):
        return replace(file, kind="qrels", is_certain=False, fault=LETOR)
    if re.search(r'"(results|rank)"\s*:', text[:4_000]):
        return replace(file, kind="run")
    if path.suffix.lower() in (".json", ".yaml", ".yml"):
        return replace(file, kind="qrels", is_certain=False)
    return replace(file, kind="documents", is_certain=path.suffix.lower() == ".txt")


def _has_queries_only(file: RecognizedFile, file_format: Format, path: Path) -> bool:
    """Check whether a ground-truth file of at most READ_WHOLE bytes has queries but no grade."""
    if file.bytes > READ_WHOLE:
        return False
    try:
        truth = file_format.read(InputSource(str(path), encoding=file.encoding))
    except AnnotatorError:
        return False
    return bool(truth.queries) and not truth.qrels and not truth.further_judgments


def _read_first_rows(head: bytes, file: RecognizedFile) -> Table | None:
    text = _decode(head, file.encoding)
    kind = kind_of_name(file.path)
    if kind is None and text.lstrip().startswith("{") and "\n" in text.strip():
        kind = "jsonl"
    if kind is None:
        return None
    lines = text.splitlines(keepends=True)
    kept = lines[:-1] if len(head) == HEAD and len(lines) > 1 else lines
    try:
        return read_rows("".join(kept).encode(), file.path, kind=kind, problems=Problems(file.path))
    except AnnotatorError:
        return None


def list_table_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of a table; for JSON lines the keys of its first rows."""
    if table.columns is not None:
        return table.columns
    return tuple(dict.fromkeys(str(name) for row in table.rows[:_FIRST_ROWS] for name in row.cells))


def _recognize_table(file: RecognizedFile, table: Table) -> RecognizedFile:
    columns = list_table_columns(table)
    rank = bool({"rank", "results", "score"} & set(columns))
    kind, certain = _choose_kind(file, table, rank=rank)
    names = suggest_names(kind, columns)
    fits = all(_has_column(columns, name) for name in REQUIRED.get(kind, ()))
    return replace(
        file,
        kind=kind,
        format=table.kind if table.kind in KINDS and kind not in ("run", "qrels") else None,
        columns=columns,
        names=names,
        is_certain=certain and fits and not names,
        fault=_name_unread_grades(kind, columns),
    )


def _name_unread_grades(kind: ImportKind, columns: tuple[str, ...]) -> str | None:
    """Return a sentence on columns that look like grades but are not read as grades."""
    if kind not in ("pairs", "qrels") or "grade" in columns:
        return None
    graded = [
        column for column in columns if _fold(column) in _meanings("grade") or ANNOTATOR.fullmatch(column)
    ]
    if not graded:
        return None
    return say("{columns} will not become grades: rename a column to grade.", columns=", ".join(graded))


def _choose_kind(file: RecognizedFile, table: Table, *, rank: bool) -> tuple[ImportKind, bool]:
    """Return the kind of a table, and whether its columns make it certain."""
    columns = list_table_columns(table)
    query, document = (
        bool({"query_id", "query-id"} & set(columns)),
        bool({"doc_id", "corpus-id"} & set(columns)),
    )
    if (query or _means(columns, "query_id")) and (document or _means(columns, "doc_id")):
        if _has(table, "annotator") or _means(columns, "annotator"):
            return "judgments", True
        if _has(table, "grade"):
            return "qrels", True
        if {"query-id", "corpus-id", "score"} <= set(columns) and "rank" not in columns:
            return "qrels", False
        if table.kind == "jsonl" and rank:
            return "run", True
        if query and document:
            graded = any(
                _fold(column) in _meanings("grade") or ANNOTATOR.fullmatch(column) for column in columns
            )
            return ("qrels", False) if graded else ("pairs", True)
    if table.kind == "jsonl" and ("results" in columns or {"rank", "score"} <= set(columns)):
        return "run", True
    name = Path(file.path).name.lower()
    if "_id" in columns and "query_id" not in columns and "doc_id" not in columns:
        is_queries = "quer" in name or ("title" not in columns and "corpus" not in name)
        return ("queries" if is_queries else "documents"), True
    if "query_id" in columns and (set(TEXT_NAMES) & set(columns)):
        return "queries", True
    if "doc_id" in columns and ({"text", "title"} & set(columns)):
        return "documents", True
    if re.search("doc|corpus|文書|문서", name) or _means(columns, "title"):
        return "documents", False
    return "queries", False


def suggest_names(kind: ImportKind, columns: tuple[str, ...]) -> dict[str, str]:
    """Return {missing expected name: likely column of the file}."""
    names: dict[str, str] = {}
    taken = {column for name in COLUMNS.get(kind, ()) for column in columns if column in _read_as(name)}
    for name in COLUMNS.get(kind, ()):
        if _has_column(columns, name) or (name == "text" and kind == "queries" and "query" in columns):
            continue
        likely = [column for column in columns if column not in taken and _fold(column) in _meanings(name)]
        if likely:
            names[name] = likely[0]
            taken.add(likely[0])
    return names


def _read_as(name: str) -> tuple[str, ...]:
    return _READ_AS.get(name, (name,))


def _has_column(columns: tuple[str, ...], name: str) -> bool:
    return bool(set(_read_as(name)) & set(columns))


def _has(table: Table, name: str) -> bool:
    return _has_column(list_table_columns(table), name)


def _means(columns: tuple[str, ...], name: str) -> bool:
    return any(_fold(column) in _meanings(name) for column in columns)


def _meanings(name: str) -> tuple[str, ...]:
    return (_fold(name), *_MEANINGS.get(name, ()))


def _fold(column: str) -> str:
    return re.sub(r"[\W_]", "", column).lower()


def _decode(head: bytes, encoding: str | None) -> str:
    try:
        return to_utf8(head, "", encoding).decode("utf-8", "ignore").removeprefix("\ufeff")
    except AnnotatorError:
        return head.decode(encoding or "utf-8", "ignore")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?", text) is not None


@dataclass(frozen=True, slots=True)
class LastImport:
    """The latest import of a kind. `by`: the person's name; None for the command line."""

    path: str
    imported_at: datetime
    by: str | None


@dataclass(frozen=True, slots=True)
class ContentCount:
    """The number of a dataset's items of a kind. `last`: None if none was imported."""

    kind: ImportKind
    count: int
    last: LastImport | None


@dataclass(frozen=True, slots=True)
class DatasetContents:
    """A dataset's contents by kind, in import order. `without_text`: documents with only an id or title."""

    counts: tuple[ContentCount, ...]
    without_text: int

    def count(self, kind: ImportKind) -> int:
        """Return the number of items of a kind."""
        return next(item.count for item in self.counts if item.kind == kind)


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """Reading options of a file: the options of `annotator import KIND`. Options of other kinds are ignored."""

    kind: ImportKind
    format: str | None = None
    encoding: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    header: bool = True
    sections: bool = False
    cut: str | None = None
    doc_id: str | None = None
    title: str | None = None
    system: str | None = None
    order: str = "score"
    duplicates: str = "refuse"
    skip_unknown_queries: bool = False
    id_field: str | None = None
    simulated: bool = False
    map_grades: str | None = None
    grades_by: str | None = None
    rejudge: bool = False
    as_judgments: bool = False
    declared: Mapping[str, Any] | None = None
