"""The records of the trail as CSV and as JSON lines, piece by piece. Columns and names are English in every language."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from annotator.adjudication.history_records import TrailEvent
from annotator.formats.spreadsheet import write_sheet, write_time

COLUMNS = (
    "number", "at", "username", "name", "action", "pair", "query_id", "doc_id", "before", "after", "hidden",
)  # fmt: skip


def write_csv(events: Iterable[TrailEvent]) -> Iterator[str]:
    """A line of columns, then a line each; `before` and `after` as JSON. For spreadsheets."""
    return write_sheet(COLUMNS, ([getattr(event, name) for name in COLUMNS] for event in events))


def write_json_lines(events: Iterable[TrailEvent]) -> Iterator[str]:
    """One JSON object a line."""
    for event in events:
        yield json.dumps({**asdict(event), "at": write_time(event.at)}, ensure_ascii=False) + "\n"
