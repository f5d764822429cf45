"""Puts a report's text into a file: under a temporary name beside it, then in its place; a failure leaves what was there.

Refuses a target that cannot be a file before anything is computed for it.
"""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from annotator.agreement.consensus_records import Consensus
from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.formats.spreadsheet import write_sheet

COLUMNS = (
    "query_id", "doc_id", "judgments", "majority_estimate", "median_estimate", "dawid_skene_estimate",
    "dawid_skene_probability", "settled_grade", "settled_by",
)  # fmt: skip


def check_target(target: Path) -> None:
    """ValidationError when no file can be written there: a folder, a place in none, or "-"."""
    if str(target) == "-":
        raise ValidationError(
            say("expected the name of a file, found '-': a report is not written to the terminal")
        )
    folder = target.absolute().parent
    try:
        if target.is_dir():
            raise ValidationError(say("cannot write {path}: it is a folder", path=target))
        if not folder.is_dir():
            raise ValidationError(
                say("cannot write {path}: there is no folder {folder}", path=target, folder=folder)
            )
    except OSError as error:
        raise _say_why(target, error) from None


def _say_why(target: Path, error: OSError) -> ValidationError:
    return ValidationError(say("cannot write {path}: {why}", path=target, why=error.strerror or str(error)))


def write_file(target: Path, pieces: Iterable[str]) -> None:
    """The pieces as one file in UTF-8. ValidationError when it cannot be written; then what was there still is."""
    check_target(target)
    try:
        with tempfile.TemporaryDirectory(
            prefix=f".{target.name[:100]}.", suffix=".partial", dir=target.absolute().parent
        ) as partial:
            file = Path(partial) / "file"
            with file.open("w", encoding="utf-8", newline="") as output:
                output.writelines(pieces)
            file.replace(target)
    except OSError as error:
        raise _say_why(target, error) from None


def write_estimate_rows(found: Consensus) -> Iterator[str]:
    """The estimates as CSV for spreadsheets, every column that holds an estimate named so."""
    rows = (
        (
            pair.query_id, pair.doc_id, pair.judgments, pair.majority, _plain(pair.median), pair.dawid_skene,
            round(pair.probability, 4), pair.settled, pair.settled_by,
        )
        for pair in found.pairs
    )  # fmt: skip
    return write_sheet(COLUMNS, rows)


def _plain(number: float) -> float | int:
    """A whole number without its point."""
    return int(number) if number == int(number) else number
