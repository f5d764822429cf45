"""`--errors FILE`: every bad line of the input as CSV for a spreadsheet, also those that the screen leaves out.

Written when a command is refused for its input. A file that is there already is written over only when it is such a list itself,
so that no input is lost to a slip; a command that finds nothing wrong leaves such a list empty.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from annotator.domain.errors import FormatError

COLUMNS = ("file", "line", "field", "expected", "found", "message")
chosen: dict[str, Path | None] = {"errors": None}


def _choose(path: Path | None) -> Path | None:
    chosen["errors"] = path
    return path


ErrorsOption = Annotated[
    Path | None,
    typer.Option(
        "--errors",
        metavar="FILE",
        callback=_choose,
        help="Write every bad line to this CSV file; the screen shows the first 200.",
    ),
]


def write_errors(problems: "Sequence[FormatError]") -> str:
    """Write the list where `--errors` asks for it. Returns a sentence on what became of it, "" where nobody asked."""
    path = chosen["errors"]
    if path is None or (not problems and not path.exists()):
        return ""
    from annotator.domain.messages import count_of
    from annotator.formats.spreadsheet import write_sheet

    rows = [
        (problem.path, problem.line, *_split(problem.expected), problem.found, str(problem))
        for problem in problems
    ]
    try:
        if path.exists() and not path.read_bytes().startswith("".join(write_sheet(COLUMNS, [])).encode()):
            return (
                f"--errors: {path} is another file and was not written over; name one that is not there"
                * bool(problems)
            )
        partial = path.with_name(f".{path.name}.partial")
        partial.write_text("".join(write_sheet(COLUMNS, rows)), encoding="utf-8", newline="")
        partial.replace(path)
    except OSError as error:
        return f"--errors: cannot write {path}: {error.strerror}"
    return f"{path}: {count_of(len(rows), 'bad place')}" if rows else ""


def _split(expected: str) -> tuple[str, str]:
    """The field that a problem is about, where it names one, and what was expected of it."""
    field, mark, rest = expected.rpartition(" to be ")
    return (field, rest) if mark else ("", expected)
