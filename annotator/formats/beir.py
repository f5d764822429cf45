"""`beir`: the folder that BEIR's loader and similar loaders read. Read and written.

    queries.jsonl {_id, text, metadata{}}   corpus.jsonl {_id, title, text, metadata{}}   qrels/test.tsv query-id corpus-id score

A single .tsv of qrels with that header is also read; its queries have ids only. The name of another split
(qrels/train.tsv) is kept in the qrel's metadata. Unknown keys next to `metadata` join it, or go into its
mapping `(beside)` if it already has one of them. TSV cells with a tab, line break or quote are quoted, as
BEIR's loader reads them. Refused: a repeated id in a file, a repeated document of a query, a grade other than
0-3, another TSV header or number of cells, qrels of a query that queries.jsonl lacks (BEIR's loader breaks on
these), files outside the folder.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.domain.ground_truth import (
    MEDIA_TYPES,
    NOTHING,
    QUERY_FIELDS,
    Document,
    GroundTruth,
    Metadata,
    Qrel,
    Query,
)
from annotator.domain.messages import say
from annotator.formats.format import OTHER_KEYS, QUERY_FEATURES, FileWriter, Format, ReservedKeys, list_fields
from annotator.formats.qrel_files import end_lines, read_objects, write_object
from annotator.formats.qrel_rows import QrelList
from annotator.formats.syntax.grade_scale import UNRATEABLE
from annotator.formats.syntax.source import MAX_LINE, InputSource
from annotator.formats.syntax.tables import TableLine, check_length, take_id, take_text
from annotator.formats.syntax.text import BOM_WITHIN, ID_LIMIT, describe, is_too_long, note_marks

QUERIES, TEST = "queries.jsonl", "test"
HEADER = ("query-id", "corpus-id", "score")
_GRADES = {str(grade): grade for grade in range(4)}
_QUOTED = re.compile('["\t\r\n]|^\ufeff')


def read_split(
    source: InputSource,
    split: str,
    qrels: QrelList,
    ids: dict[str, str],
    *,
    queries: Mapping[str, Query] | None,
) -> None:
    """Read the qrels of one .tsv into `qrels`, and their query_ids into `ids`. `queries`: the existing ones; None: unknown."""
    problems = Problems(source.path)
    metadata: Metadata = NOTHING if split == TEST else {"split": split}
    for line, (query_id, doc_id, score) in read_rows(source, problems):
        grade = source.scale.translate(score)
        grade = _GRADES.get(score) if grade is None else grade
        if grade is None and source.scale.accepts(score):
            grade = UNRATEABLE
        if not score:
            source.scale.ungraded.append(line)
        elif grade is None:
            problems.add(line, say("a score 0, 1, 2 or 3"), describe(score))
        elif not query_id or not doc_id:
            problems.add(
                line,
                say("{names} that are not empty", names=f"{HEADER[0]} and {HEADER[1]}"),
                say("an empty one"),
            )
        elif is_too_long(doc_id) or is_too_long(query_id):
            problems.add(line, say("ids of {limit}", limit=ID_LIMIT), say("a longer one"))
        else:
            shared_id = ids.get(query_id)
            if shared_id is None:
                shared_id = ids[query_id] = query_id
                if queries is not None and query_id not in queries:
                    problems.add(line, say("a query of {file}", file=QUERIES), describe(query_id))
            if isinstance(grade, int):
                qrels.add(Qrel(shared_id, doc_id, grade, metadata=metadata), line, path=source.path)
    qrels.problems.errors.extend(problems.errors)


def read_rows(source: InputSource, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of every row below the header. Malformed rows are noted as problems."""
    csv.field_size_limit(MAX_LINE)
    start, header = 0, False
    marks: set[int] = set()
    try:
        rows = csv.reader(
            note_marks((text for _, text in source.read_lines(keep_ends=True)), marks),
            delimiter="\t",
            strict=True,
        )
        for cells in rows:
            start, line = rows.line_num, start + 1
            if not cells:
                continue
            if not header:
                if tuple(cells) != HEADER:
                    problems.add(
                        line,
                        say("a header {header}, with tabs", header=" ".join(HEADER)),
                        describe("\t".join(cells)),
                    )
                    return
                header = True
            elif line in marks:
                problems.add(line, *BOM_WITHIN)
            elif len(cells) != len(HEADER):
                problems.add(
                    line, say("{n} cells: {names}", n=len(HEADER), names=" ".join(HEADER)), str(len(cells))
                )
            else:
                yield line, cells
    except csv.Error as error:
        problems.add(start + 1, say("a TSV row"), str(error))
    except BadInput as error:
        problems.errors.extend(error.problems)
    if not header and not problems:
        problems.add(None, say("a header {header}, with tabs", header=" ".join(HEADER)), say("an empty file"))


def begin_qrels(_: Metadata, __: int) -> str:
    """Return the header."""
    return "\t".join(HEADER) + "\n"


def add_qrels(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    """Return a line per qrel."""
    query_id = _cell(query.query_id)
    return "".join([f"{query_id}\t{_cell(qrel.doc_id)}\t{qrel.grade}\n" for qrel in qrels])


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


CORPUS, QRELS = "corpus.jsonl", "qrels"
_CERTAIN = re.compile(rb"\s*query-id\tcorpus-id\tscore[\r\n]")
T = TypeVar("T")


def read(source: InputSource) -> GroundTruth:
    """Return the queries, documents and qrels of a folder, or of one .tsv of qrels. BadInput names every bad line."""
    problems = Problems(source.path)
    qrels = QrelList(problems)
    ids: dict[str, str] = {}
    if not source.is_folder:
        read_split(source, TEST, qrels, ids, queries=None)
        problems.raise_if_any()
        return GroundTruth(tuple(Query(query_id, "") for query_id in ids), tuple(qrels.qrels))
    queries: dict[str, Query] = {}
    documents: dict[str, Document] = {}
    for name in _list_files(source, problems):
        child = _open_child(source, name, problems)
        if child is None:
            continue
        if name == QUERIES:
            queries = _read_objects(child, problems, _read_query)
        elif name == CORPUS:
            documents = _read_objects(child, problems, _read_document)
        else:
            read_split(child, Path(name).stem, qrels, ids, queries=queries)
    problems.raise_if_any()
    return GroundTruth(tuple(queries.values()), tuple(qrels.qrels), documents=tuple(documents.values()))


def find_query_lines(source: InputSource) -> list[int]:
    """Return the first line of each query, in order: in queries.jsonl, or in the .tsv without a folder."""
    problems = Problems(source.path)
    if source.is_folder:
        return [line for line, _ in read_objects(source.child(QUERIES), problems)]
    lines: dict[str, int] = {}
    for line, (query_id, _, _) in read_rows(source, problems):
        lines.setdefault(query_id, line)
    return list(lines.values())


def _list_files(source: InputSource, problems: Problems) -> list[str]:
    """Return the files of a folder in the order of reading: queries, corpus, the split test, the other splits."""
    root = Path(source.path)
    if not (root / QUERIES).exists():
        problems.add(None, say("{file} in the folder", file=QUERIES), say("none"))
    for path in sorted(root.glob("*")) if root.is_dir() else ():
        if path.name.startswith(QRELS) and path.is_file():
            problems.add(None, say("qrels as qrels/NAME.tsv"), path.name)
    files = [path for path in (root / QRELS).glob("*") if not path.name.startswith(".")]
    splits = sorted(path.name for path in files if path.suffix == ".tsv")
    for name in sorted(path.name for path in files if path.suffix != ".tsv"):
        problems.add(None, say("qrels as qrels/NAME.tsv"), f"{QRELS}/{name}")
    splits.sort(key=lambda name: name != f"{TEST}.tsv")
    names = [QUERIES] if (root / QUERIES).exists() else []
    if (root / CORPUS).exists() and (root / CORPUS).stat().st_size:  # empty where documents are known by id
        names.append(CORPUS)
    return [*names, *(f"{QRELS}/{name}" for name in splits)]


def _open_child(source: InputSource, name: str, problems: Problems) -> InputSource | None:
    """Return a file of the folder; None after noting that it lies outside or cannot be read."""
    try:
        child = source.child(name)
        child.open().close()
    except ValidationError as error:
        problems.add(None, say("{name} to be a file within the folder", name=name), str(error))
        return None
    return child


def _read_objects(
    source: InputSource,
    problems: Problems,
    read_object: Callable[[TableLine, Problems], tuple[str, T] | None],
) -> dict[str, T]:
    """Return {_id: record} of a JSONL file. Notes a repeated id."""
    records: dict[str, T] = {}
    here = Problems(source.path)
    for line, value in read_objects(source, here):
        record = read_object(TableLine(line, value), here)
        if record is None:
            continue
        if record[0] in records:
            here.add(line, say("each _id once"), say("{item} again", item=describe(record[0])))
        records[record[0]] = record[1]
    problems.errors.extend(here.errors)
    return records


def _read_query(row: TableLine, problems: Problems) -> tuple[str, Query] | None:
    query_id = take_id(row, ("_id",), problems)
    if row.cells.get("text") is None:
        problems.add(row.line, say("{name} to be a text", name="text"), describe(None))
    text = take_text(row, ("text",), problems) or ""
    check_length("text", text, row.line, problems)
    metadata = _read_metadata(row, problems)
    about = TableLine(row.line, metadata)
    fields = {name: take_text(about, (name,), problems) for name in QUERY_FIELDS}
    return None if query_id is None else (query_id, Query(query_id, text, **fields, metadata=metadata))


def _read_document(row: TableLine, problems: Problems) -> tuple[str, Document] | None:
    doc_id = take_id(row, ("_id",), problems)
    title = take_text(row, ("title",), problems) or ""
    text = take_text(row, ("text",), problems) or ""
    metadata = _read_metadata(row, problems)
    about = TableLine(row.line, metadata)
    url = take_text(about, ("url",), problems)
    media_type = take_text(about, ("media_type",), problems) or "text/plain"
    if media_type not in MEDIA_TYPES:
        problems.add(
            row.line,
            say("media_type to be one of {names}", names=", ".join(MEDIA_TYPES)),
            describe(media_type),
        )
    if doc_id is None:
        return None
    return doc_id, Document(doc_id, title, text, url, media_type, metadata)


def _read_metadata(row: TableLine, problems: Problems) -> dict[str, Any]:
    """Return the object's `metadata` together with the unknown keys next to it."""
    cell = row.cells.pop("metadata", None)
    if cell is not None and not isinstance(cell, dict):
        problems.add(row.line, say("metadata to be a mapping"), describe(cell))
    nested = cell if isinstance(cell, dict) else {}
    if OTHER_KEYS in nested:
        problems.add(row.line, say("another name in metadata: this one is used by this program"), OTHER_KEYS)
    other_keys = row.cells
    if set(nested) & set(other_keys):
        return {**nested, OTHER_KEYS: other_keys}
    return {**other_keys, **nested}


def _add_query(query: Query, _: Sequence[Qrel], __: int) -> str:
    metadata: dict[str, Any] = list_fields(query)
    return _write_object({"_id": query.query_id, "text": query.text}, query.metadata, metadata, QUERY_FIELDS)


def _add_document(document: Document) -> str:
    metadata: dict[str, Any] = {} if document.url is None else {"url": document.url}
    if document.media_type != "text/plain":
        metadata["media_type"] = document.media_type
    row = {"_id": document.doc_id, "title": document.title, "text": document.text}
    return _write_object(row, document.metadata, metadata, ("url", "media_type"))


def _write_object(
    record: dict[str, Any], metadata: Metadata, fields: dict[str, Any], taken: Sequence[str]
) -> str:
    """Return one line: the keys that loaders read, the metadata, and the keys of `metadata[OTHER_KEYS]`."""
    nested = {**fields, **{key: value for key, value in metadata.items() if key not in (*taken, OTHER_KEYS)}}
    other_keys = metadata.get(OTHER_KEYS)
    if not isinstance(other_keys, Mapping):
        other_keys = {} if other_keys is None else {OTHER_KEYS: other_keys}
    other_keys = {key: value for key, value in other_keys.items() if key not in (*record, "metadata")}
    return write_object({**record, "metadata": nested, **other_keys})


FORMAT = Format(
    name="beir",
    about="folder of BEIR: queries.jsonl, corpus.jsonl, qrels/test.tsv (or a single .tsv of qrels)",
    suffixes=(".tsv",),
    holds=("queries", "query metadata", "documents", "grades, 0 included"),
    cannot_hold=(
        "notes",
        "descriptions",
        "annotators' own grades",
        "further keys of a qrel",
        "what the file says of itself",
    ),
    features=QUERY_FEATURES | {"large_grades", "documents", "typed_metadata", "empty_texts"},
    read=read,
    files=(
        FileWriter(QUERIES, add=_add_query, end=end_lines),
        FileWriter(CORPUS, add_document=_add_document),
        FileWriter(f"{QRELS}/{TEST}.tsv", begin=begin_qrels, add=add_qrels, by_qrel=True),
    ),
    certain=lambda head: bool(_CERTAIN.match(head)),
    tells_grade_0=True,
    find_query_lines=find_query_lines,
    reserved=ReservedKeys(
        query=frozenset({*QUERY_FIELDS, OTHER_KEYS}), document=frozenset({"url", "media_type", OTHER_KEYS})
    ),
)
