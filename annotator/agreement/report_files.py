"""Write the files of the agreement report: a page of HTML, or estimates as CSV.

The target is checked first. A file is written under a temporary name and renamed, so a failure leaves what
was there.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from annotator.agreement.consensus_records import Consensus
from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.formats.syntax.partial_files import replace_file
from annotator.formats.syntax.spreadsheet import write_sheet

COLUMNS = (
    "query_id",
    "doc_id",
    "judgments",
    "majority_estimate",
    "median_estimate",
    "dawid_skene_estimate",
    "dawid_skene_probability",
    "settled_grade",
    "settled_by",
)


def check_target(target: Path) -> None:
    """Raise ValidationError if no file can be written there: a folder, a path in a missing folder, or "-"."""
    if str(target) == "-":
        raise ValidationError(
            say("A report is not written to the terminal: give a file name instead of '-'.")
        )
    folder = target.absolute().parent
    try:
        if target.is_dir():
            raise ValidationError(say("Cannot write {path}: it is a folder.", path=target))
        if not folder.is_dir():
            raise ValidationError(
                say("Cannot write {path}: the folder {folder} does not exist.", path=target, folder=folder)
            )
    except OSError as error:
        raise _describe_why(target, error) from None


def _describe_why(target: Path, error: OSError) -> ValidationError:
    return ValidationError(say("Cannot write {path}: {why}.", path=target, why=error.strerror or str(error)))


def write_file(target: Path, pieces: Iterable[str]) -> None:
    """Write the pieces as one file (UTF-8). ValidationError if that fails; an old file then stays."""
    check_target(target)
    try:
        replace_file(target, (piece.encode() for piece in pieces), mode=0o666)
    except OSError as error:
        raise _describe_why(target, error) from None


def write_estimate_rows(consensus: Consensus) -> Iterator[str]:
    """Yield the estimates as CSV for spreadsheets, whole medians without a decimal point."""
    return write_sheet(
        COLUMNS,
        (
            pair._replace(
                median=int(pair.median) if pair.median == int(pair.median) else pair.median,
                probability=round(pair.probability, 4),
            )
            for pair in consensus.pairs
        ),
    )
