"""Reads in which order a lead puts documents: CSV with the columns query_id and doc_id, the documents of a query best first.

Refuses another column, and a pair that stands in the file twice. Every bad line is noted. Ids are kept exactly as given.
"""

from dataclasses import dataclass

from annotator.domain.errors import Problems
from annotator.formats.pair_table import read_pair_table, take_pair
from annotator.formats.tables import Row

COLUMNS = ("query_id", "doc_id")


@dataclass(frozen=True, slots=True)
class OrderLine:
    """One line: `line` is where it begins in its file, counted from 1."""

    line: int
    query_id: str
    doc_id: str


def read_order(data: bytes, path: str, problems: Problems) -> list[OrderLine]:
    """The good lines of a CSV file's bytes, in the file's order. BadInput at once when it has not the right columns."""
    return read_pair_table(data, path, problems, _read_row, columns=COLUMNS)


def _read_row(row: Row, problems: Problems) -> OrderLine | None:
    pair = take_pair(row, problems)
    return None if pair is None else OrderLine(row.line, *pair)
