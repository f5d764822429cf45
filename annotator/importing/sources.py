"""Opens what the user named and finds the reader for it: bytes in UTF-8, queries of any format, documents of any kind.

The first step of every import; no database. Refuses what is not there, a folder where a file is meant, and
a format that the content does not show.
"""

from pathlib import Path

from annotator.domain.errors import BadInput, FormatError, Problems, ValidationError
from annotator.domain.ground_truth import GroundTruth
from annotator.formats.documents import read_documents
from annotator.formats.grade_scale import GradeScale
from annotator.formats.input_tables import QueryLine, read_queries
from annotator.formats.registry import FORMATS, HEAD, Format, detect_format, find_format, list_certain
from annotator.formats.repeated_texts import list_repeated_texts, say_repeated_texts
from annotator.formats.source import Source
from annotator.formats.stated_counts import say_wrong_counts
from annotator.formats.tables import KINDS, check_kind, detect_kind, kind_of_name, read_table
from annotator.formats.text import describe, to_utf8
from annotator.importing.folder import MEDIA_TYPE_BY_SUFFIX, Folder, read_folder, read_one_file


def read_source(path: Path, *, encoding: str | None) -> bytes:
    """A file's content in UTF-8. ValidationError when it cannot be read."""
    return Source(str(path), encoding=encoding).read_bytes()


def read_query_source(
    path: Path, *, format_name: str | None, encoding: str | None, header: bool = True
) -> tuple[list[QueryLine], tuple[str, ...]]:
    """The queries of a table or of a ground-truth file, and notes on what was left alone: grades on any scale. `header`: False for a
    table without one."""
    source = Source(str(path), encoding=encoding, scale=GradeScale(lenient=True))
    known = _find_query_format(source, format_name)
    if known is None:
        kind = format_name if format_name in KINDS else None
        return read_queries(read_table(source, kind=kind), str(path), kind=kind, header=header), ()
    truth = known.read(source) if known.read_graded is None else known.read_graded(source, "all=1")
    others = source.scale.unknown.total()  # counted now: looking for lines reads the file again
    lines = _locate(known, source, truth)
    _check_texts(lines, source, known)
    repeated = say_repeated_texts(str(path), list_repeated_texts(known, truth))
    notes = (*say_wrong_counts(truth.wrong_counts), *repeated)
    count = len(truth.qrels) + others
    if not count:
        return lines, notes
    left = "judgment" if count == 1 else "judgments"
    return lines, (*notes, f"{count:,} {left} in the file left alone")


def read_document_source(
    path: Path, *, format_name: str | None, encoding: str | None, sections: bool
) -> Folder:
    """The documents of a table, of a folder, or of one text file. BadInput names every bad place."""
    if path.is_dir():
        if format_name is not None:
            raise ValidationError(
                f"--format: {path} is a folder, whose files say by their suffix what they are"
            )
        return read_folder(path, sections=sections, encoding=encoding)
    if format_name is None and path.suffix.lower() in MEDIA_TYPE_BY_SUFFIX and path.is_file():
        may_be_table = path.suffix.lower() == ".txt"
        if not may_be_table or detect_kind(read_source(path, encoding=encoding), "") is None:
            return read_one_file(path, sections=sections, encoding=encoding)
    if sections:
        raise ValidationError(
            "--sections splits the files of a folder; a table's documents are taken as they are"
        )
    kind = check_kind(format_name) if format_name else None
    data = read_table(Source(str(path), encoding=encoding), kind=kind)
    documents = read_documents(data, str(path), kind=kind)
    return Folder(tuple(documents), ())


def _find_query_format(source: Source, name: str | None) -> Format | None:
    """The ground-truth format; None for a table of queries. CSV and JSONL may be either: their columns tell."""
    if name is not None and name not in KINDS:
        if name not in {known.name for known in FORMATS}:
            raise ValidationError(f"no format named {name!r}; there are: {', '.join(_list_names())}")
        return find_format(name)
    if source.is_folder:
        return detect_format(source)
    certain = [known for known in list_certain(source) if name in (None, known.name)]
    if len(certain) == 1:
        return certain[0]
    if name is not None or kind_of_name(source.path) is not None:
        return None
    try:
        return detect_format(source)
    except ValidationError:
        with source.open() as file:
            head = file.read(HEAD)
        if detect_kind(to_utf8(head, source.path, source.encoding), source.path) is not None:
            return None
        raise


def _list_names() -> list[str]:
    return list(dict.fromkeys([*KINDS, *(known.name for known in FORMATS)]))


def _locate(known: Format, source: Source, truth: GroundTruth) -> list[QueryLine]:
    if known.find_query_lines is None:
        return [QueryLine(None, query) for query in truth.queries]
    lines = known.find_query_lines(source)
    return [QueryLine(line, query) for line, query in zip(lines, truth.queries, strict=True)]


def _check_texts(lines: list[QueryLine], source: Source, known: Format) -> None:
    """BadInput names every query that has no text: people cannot judge documents for it."""
    if lines and "query_texts" not in known.features:
        expected = "queries with their texts"
        raise BadInput(
            [FormatError(source.path, None, expected, f"{known.name}, which holds query ids only")]
        )
    within = (
        f"/{known.files[0].path}" if source.is_folder else ""
    )  # the first file of a folder holds its queries
    problems = Problems(f"{source.path}{within}")
    for line, query in lines:
        if not query.text.strip():
            expected = f"the text of query {query.query_id!r} to be a text that is not empty"
            problems.add(line, expected, describe(query.text))
    problems.raise_if_any()
