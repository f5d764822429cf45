"""Records of imports: which file, when, by whom, how it was read, and what it contained.

Judgments, earlier grades and runs point to their import, so a datasheet can say whether a figure was made in
this program or elsewhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

ImportKind = Literal["queries", "documents", "run", "pairs", "judgments", "qrels"]


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One import that stored something. It never changes.

    `path`: as the user named it. `sha256`: of the file's bytes; None for a folder. `format`: the format's
    name; None if a table was recognised by its content. `system`: only for a run. `imported_by`: the person's
    primary key; None for the command line. `options`: how the file was read, such as `map_grades`. `figures`:
    the numbers of records `read`, `added`, `changed`, `unchanged` and left out. `declared`: the importer's
    statements about the origin of the content, or None.
    """

    kind: ImportKind
    path: str
    imported_at: datetime
    sha256: str | None = None
    format: str | None = None
    system: str | None = None
    imported_by: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    declared: Mapping[str, Any] | None = None
    pk: int | None = None


AFTERWARDS = "declared_afterwards"
"""The option of a record that only declares the origin of an earlier import."""


def find_declared(record: ImportRecord, records: Iterable[ImportRecord]) -> Mapping[str, Any] | None:
    """Return the declared origin of an import: its own, or the latest later declaration for the same file.

    `records`: all imports of the dataset, in their order.
    """
    declared = record.declared
    for other in records:
        same = record.sha256 is not None and (other.kind, other.sha256) == (record.kind, record.sha256)
        if same and other.options.get(AFTERWARDS) and (other.pk or 0) > (record.pk or 0):
            declared = other.declared
    return declared


DECLARED = {
    "who": "Who judged",
    "when": "When",
    "how": "How",
    "blind": "Without seeing each other's grades, ranks or systems",
    "guideline": "By which guideline",
    "licence": "Licence",
    "note": "Note",
}
"""The fields that an importer may declare, with their names in a datasheet."""

TAKEN_OVER = "near_duplicate"
"""The kind of source of a grade that a lead accepted from a near-duplicate document."""

BEFORE_RECORDS = 0  # the key for imports that were made before imports were recorded
