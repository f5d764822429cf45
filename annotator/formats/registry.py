"""The table of ground-truth formats, and everything that is asked of it: find, detect, read, write.

The table is also the help text, the table in docs/files.md and the error message. A format is guessed from content
only where that is certain; otherwise the user is asked for `--format`.
"""

import codecs
from collections.abc import Iterator, Sequence
from textwrap import wrap

from annotator.domain.errors import BadInput, ValidationError
from annotator.domain.grades import GRADES
from annotator.domain.ground_truth import GroundTruth
from annotator.formats import (
    assay,
    assay_queries,
    beir,
    law,
    law_compact,
    nablarch,
    qrel_csv,
    qrel_jsonl,
    ranked,
    trec,
)
from annotator.formats.format import Feature, Format, ReservedKeys
from annotator.formats.grade_scale import OPTION
from annotator.formats.source import InputSource
from annotator.formats.text import check_encoding
from annotator.formats.writer import group_qrels, list_runs, write_file

__all__ = [
    "FORMATS",
    "HEAD",
    "Feature",
    "Format",
    "ReservedKeys",
    "detect_format",
    "find_format",
    "list_certain",
    "list_formats",
    "read_truth",
    "write_files",
    "write_pieces",
    "write_table",
]

HEAD = 65_536
FOLDER_FORMAT = "beir"

FORMATS: tuple[Format, ...] = (
    nablarch.FORMAT,
    law.FORMAT,
    law_compact.FORMAT,
    ranked.FORMAT,
    assay.FORMAT,
    assay_queries.FORMAT,
    trec.FORMAT,
    beir.FORMAT,
    qrel_csv.FORMAT,
    qrel_jsonl.FORMAT,
)


def find_format(name: str) -> Format:
    """The format of that name. ValidationError lists the ones there are."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise ValidationError(f"no format named {name!r}; there are:\n{list_formats()}")


def detect_format(source: InputSource) -> Format:
    """The format that the content shows with certainty; ValidationError lists the candidates otherwise."""
    if source.is_folder:
        return find_format(FOLDER_FORMAT)
    certain = list_certain(source)
    if len(certain) == 1:
        return certain[0]
    name = source.path.lower()
    likely = certain or [known for known in FORMATS if name.endswith(known.suffixes)] or FORMATS
    names = ", ".join(known.name for known in likely)
    raise ValidationError(
        f"{source.path}: the content does not say which format this is; say --format (convert: --from), "
        f"one of: {names}\n{list_formats(likely)}"
    )


def list_certain(source: InputSource) -> list[Format]:
    """Every format that a file's first 64 kB show with certainty: at most one, unless it is contrived."""
    with source.open() as file:
        head = file.read(HEAD)
    if source.encoding is not None:
        decoder = codecs.getincrementaldecoder(check_encoding(source.encoding))(errors="ignore")
        head = decoder.decode(head).encode("utf-8", "ignore")
    head = head.removeprefix(codecs.BOM_UTF8)
    return [known for known in FORMATS if known.certain(head)]


def read_truth(
    source: InputSource, *, format_name: str | None = None, grades_by: str | None = None
) -> tuple[Format, GroundTruth]:
    """A ground-truth file or folder, and the format that it was read as.

    `grades_by` ("position", "all=N" or "places=3:3,6:2,10:1") is for formats that hold no grades, and only for those.
    Grades are read by the source's scale. BadInput names every bad place, and the values that no scale has; ValidationError
    asks for what is missing.
    """
    known = detect_format(source) if format_name is None else find_format(format_name)
    if source.is_folder and known.name != FOLDER_FORMAT:
        raise ValidationError(f"{source.path}: expected a file of the format {known.name}, found a folder")
    if known.read_graded is None and grades_by is not None:
        raise ValidationError(f"--grades-by is for files without grades; {known.name} holds its own")
    if known.read_graded is not None and source.scale.mapping:
        raise ValidationError(f"{OPTION} is for files with grades; {known.name} holds none")
    source.scale.mapped.clear()
    try:
        if known.read_graded is not None and grades_by is not None:
            return known, known.read_graded(source, grades_by)
        return known, known.read(source)
    except BadInput as error:
        raise source.scale.hint(error) from None


def write_pieces(
    known: Format, truth: GroundTruth, *, list_grade_0: bool = False
) -> Iterator[tuple[str, str]]:
    """The text of every file of the format, in pieces: (path within the format's folder, text).

    Grade 0 is always listed where the format tells it from unjudged, else only when asked for. ValidationError
    for what the format cannot carry, which may come after the first pieces (see `losses.find_losses`).
    """
    _check_grades(known, truth)
    listed = list_grade_0 or known.tells_grade_0
    groups = group_qrels(truth, list_grade_0=listed)
    files = known.files if known.lay_out is None else known.lay_out(truth)
    for writer in files:
        units = list_runs(truth, groups, list_grade_0=listed) if writer.by_qrel else groups
        for piece in write_file(writer, truth, units):
            yield writer.path, piece


def _check_grades(known: Format, truth: GroundTruth) -> None:
    if "large_grades" in known.features:
        return
    for qrel in truth.qrels:
        if qrel.grade not in GRADES:
            raise ValidationError(
                f"{known.name} holds grades 0 to 3, found {qrel.grade} for {qrel.query_id!r}, {qrel.doc_id!r}"
            )


def write_files(known: Format, truth: GroundTruth, *, list_grade_0: bool = False) -> dict[str, bytes]:
    """Every file of the format by its path, "" for a format of one file. For what is small; see `write_pieces`."""
    texts: dict[str, list[str]] = {writer.path: [] for writer in known.files}
    for path, piece in write_pieces(known, truth, list_grade_0=list_grade_0):
        texts[path].append(piece)
    return {path: "".join(pieces).encode("utf-8") for path, pieces in texts.items()}


def list_formats(formats: Sequence[Format] | None = None, *, in_full: bool = False) -> str:
    """The table as plain text, a format a line, for error messages; `in_full` with what each holds, for help."""
    shown = FORMATS if formats is None else formats
    width = max(len(known.name) for known in shown)
    lines = []
    for known in shown:
        lines.append(f"  {known.name:<{width}}  {known.about} ({' '.join(known.suffixes)})")
        if in_full:
            indent = " " * (width + 4)
            cells = (("holds", known.holds), ("cannot hold", known.cannot_hold))
            lines += [
                line
                for word, cell in cells
                for line in wrap(
                    f"{word}: {', '.join(cell)}", 100, initial_indent=indent, subsequent_indent=f"{indent}  "
                )
            ]
    return "\n".join(lines)


def write_table() -> str:
    """The table in Markdown, as docs/files.md shows it."""
    lines = ["| format | what it is | suffixes | holds | cannot hold |", "|---|---|---|---|---|"]
    for known in FORMATS:
        cells = (
            f"`{known.name}`",
            known.about,
            " ".join(f"`{suffix}`" for suffix in known.suffixes),
            ", ".join(known.holds),
            ", ".join(known.cannot_hold) or "–",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
