"""The records of the trail as CSV and as JSON lines, piece by piece. Columns and names are English in every language."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from annotator.domain.lead_trail import TrailEvent

BOM = "\ufeff"
"""With it spreadsheets read every language."""
COLUMNS = (
    "number", "at", "username", "name", "action", "pair", "query_id", "doc_id", "before", "after", "hidden",
)  # fmt: skip
PIECE = 1_000


def write_csv(events: Iterable[TrailEvent]) -> Iterator[str]:
    """A line of columns, then a line each; `before` and `after` as JSON."""
    made = io.StringIO()
    writer = csv.writer(made)
    made.write(BOM)
    writer.writerow(COLUMNS)
    for place, event in enumerate(events, start=1):
        writer.writerow([_cell(getattr(event, name)) for name in COLUMNS])
        if place % PIECE == 0:
            yield made.getvalue()
            made.seek(0)
            made.truncate()
    yield made.getvalue()


def write_json_lines(events: Iterable[TrailEvent]) -> Iterator[str]:
    """One JSON object a line."""
    for event in events:
        yield json.dumps({**asdict(event), "at": _write_time(event.at)}, ensure_ascii=False) + "\n"


def _cell(value: Any) -> str:
    if isinstance(value, datetime):
        return _write_time(value)
    if isinstance(value, bool):
        return "true" if value else ""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _write_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
