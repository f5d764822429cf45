"""The table of ground-truth formats, and operations on it: find, detect, read, write.

The table is also the help text, the table in docs/files.md and the error message. A format is detected from
content only if that is certain; otherwise the user must give `--format`.
"""

import codecs
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from annotator.domain.errors import BadInput, ValidationError, refuse
from annotator.domain.grades import GRADES
from annotator.domain.ground_truth import GroundTruth
from annotator.domain.messages import CommandWords, say
from annotator.formats import (
    assay,
    beir,
    law,
    nablarch,
    qrel_files,
    ranked,
    trec,
)
from annotator.formats.format import Format, group_qrels, list_runs, write_file
from annotator.formats.syntax.grade_scale import OPTION
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.text import check_encoding, describe_bytes, drop_mark

HEAD = 65_536
FOLDER_FORMAT = "beir"

FORMATS: tuple[Format, ...] = (
    nablarch.FORMAT,
    law.FORMAT,
    law.COMPACT,
    ranked.FORMAT,
    assay.FORMAT,
    assay.QUERY_LIST,
    trec.FORMAT,
    beir.FORMAT,
    qrel_files.CSV,
    qrel_files.JSONL,
)


def find_format(name: str) -> Format:
    """Return the format of that name. ValidationError lists the existing formats."""
    for file_format in FORMATS:
        if file_format.name == name:
            return file_format
    raise ValidationError(f"no format named {name!r}; there are:\n{list_formats()}")


def detect_format(source: InputSource) -> Format:
    """Return the format that content or suffix show with certainty. Otherwise ValidationError lists the candidates."""
    if source.is_folder:
        return find_format(FOLDER_FORMAT)
    certain = list_certain(source)
    if len(certain) == 1:
        return certain[0]
    name = source.path.lower()
    likely = (
        certain or [file_format for file_format in FORMATS if name.endswith(file_format.suffixes)] or FORMATS
    )
    if len(likely) == 1:
        return likely[0]  # its reader names the fault
    with source.open() as file:
        binary = describe_bytes(file.read(HEAD))
    if binary is not None:
        raise refuse(source.path, None, say("a text file"), binary)
    names = ", ".join(file_format.name for file_format in likely)
    raise ValidationError(
        f"{source.path}: the content does not say which format this is; name it, "
        f"one of: {names}\n{list_formats(likely)}"
    )


def list_certain(source: InputSource) -> list[Format]:
    """Return the formats that the first 64 kB show with certainty: at most one in files made by programs.

    BadInput if a second BOM hides the beginning.
    """
    with source.open() as file:
        head = file.read(HEAD)
    if source.encoding is not None:
        decoder = codecs.getincrementaldecoder(check_encoding(source.encoding))(errors="ignore")
        head = decoder.decode(head).encode("utf-8", "ignore")
    drop_mark(head[: 2 * len(codecs.BOM_UTF8)].decode("utf-8", "ignore"), source.path)
    head = head.removeprefix(codecs.BOM_UTF8)
    return [file_format for file_format in FORMATS if file_format.certain(head)]


def read_truth(
    source: InputSource, *, format_name: str | None = None, grades_by: str | None = None
) -> tuple[Format, GroundTruth]:
    """Return the format of a ground-truth file or folder, and its content.

    `grades_by` ("position", "all=N" or "places=3:3,6:2,10:1") is only for formats without grades. Grades are
    read by the source's scale. BadInput names every bad place and the values on no scale; ValidationError
    asks for a missing option.
    """
    file_format = detect_format(source) if format_name is None else find_format(format_name)
    if source.is_folder and file_format.name != FOLDER_FORMAT:
        raise ValidationError(
            f"{source.path}: expected a file of the format {file_format.name}, found a folder"
        )
    if file_format.read_graded is None and grades_by is not None:
        raise ValidationError(
            say(
                "{option} is for files without grades; {format} holds its own",
                option=CommandWords("--grades-by"),
                format=file_format.name,
            )
        )
    if file_format.read_graded is not None and source.scale.mapping:
        raise ValidationError(
            say(
                "{option} is for files with grades; {format} holds none",
                option=OPTION,
                format=file_format.name,
            )
        )
    source.scale.mapped.clear()
    source.scale.ungraded.clear()
    try:
        if file_format.read_graded is not None and grades_by is not None:
            return file_format, file_format.read_graded(source, grades_by)
        return file_format, file_format.read(source)
    except BadInput as error:
        raise source.scale.hint(error) from None


def find_unwritable(ids: Iterable[str]) -> dict[str, list[str]]:
    """Return {format name: ids that the format cannot hold}, without formats that can hold all ids."""
    listed = list(ids)
    unwritable = {
        file_format.name: [item_id for item_id in listed if not carries(item_id)]
        for file_format in FORMATS
        if (carries := file_format.carries_id) is not None
    }
    return {name: found for name, found in unwritable.items() if found}


def write_pieces(
    file_format: Format, truth: GroundTruth, *, list_grade_0: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the text of every file of the format, in pieces: (path within the format's folder, text).

    Grade 0 is always listed if the format distinguishes it from unjudged, else only with `list_grade_0`.
    ValidationError for content that the format cannot hold, possibly after the first pieces (see
    `find_losses`).
    """
    _check_grades(file_format, truth)
    listed = list_grade_0 or file_format.tells_grade_0
    groups = group_qrels(truth, list_grade_0=listed)
    files = file_format.files if file_format.lay_out is None else file_format.lay_out(truth)
    for writer in files:
        units = list_runs(truth, groups, list_grade_0=listed) if writer.by_qrel else groups
        for piece in write_file(writer, truth, units):
            yield writer.path, piece


def _check_grades(file_format: Format, truth: GroundTruth) -> None:
    if "large_grades" in file_format.features:
        return
    for qrel in truth.qrels:
        if qrel.grade not in GRADES:
            raise ValidationError(
                f"{file_format.name} holds grades 0 to 3, found {qrel.grade} for {qrel.query_id!r}, {qrel.doc_id!r}"
            )


def list_formats(formats: Sequence[Format] | None = None, *, in_full: bool = False) -> str:
    """Return the table as plain text, one format per line. `in_full`: with contents, for help."""
    shown = FORMATS if formats is None else formats
    width = max(len(file_format.name) for file_format in shown)
    lines = []
    for file_format in shown:
        lines.append(f"  {file_format.name:<{width}}  {file_format.about} ({' '.join(file_format.suffixes)})")
        if in_full:
            indent = " " * (width + 4)
            cells = (("holds", file_format.holds), ("cannot hold", file_format.cannot_hold))
            lines += [
                line
                for word, cell in cells
                for line in wrap(
                    f"{word}: {', '.join(cell)}", 100, initial_indent=indent, subsequent_indent=f"{indent}  "
                )
            ]
    return "\n".join(lines)
