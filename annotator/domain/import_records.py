"""Records of every import that stored something: which file, when, by whom, how it was read, and what it held.

Judgments, earlier grades and runs point to the import they came with, so that a datasheet can say of each figure
whether it was made in this program or came from outside.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

ImportKind = Literal["queries", "documents", "run", "pairs", "judgments", "qrels"]


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One import. Never changed afterwards.

    `path`: as the user named it. `sha256`: of the file's bytes; None for a folder. `format`: the format's name, None
    where a table was recognised by its content. `system`: of a run only. `imported_by`: the primary key of the person,
    None for the command line. `options`: how the file was read (for example `map_grades`). `figures`: counts
    (`read`, `added`, `changed`, `unchanged`, and what was left out). `declared`: what the importer says about how the
    content came about, None when nothing was declared.
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


AFTERWARDS = (
    "declared_afterwards"  # option of a record that holds nothing but what is declared of an earlier import
)


def find_declared(record: ImportRecord, records: Iterable[ImportRecord]) -> Mapping[str, Any] | None:
    """Return what is declared of an import: with it, or the latest later declaration for the same file.

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
}  # what an importer may declare, and what it is called in a datasheet

TAKEN_OVER = "near_duplicate"
"""The kind of source of a grade that is another document's, accepted by a lead for one that says the same."""

BEFORE_RECORDS = 0  # stands for the key of an import that was made before imports were recorded
