"""Record the user's choices for a file to import: its kind, and reading options."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotator.domain.import_records import ImportKind


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """Reading options of a file: the options of `annotator import KIND`. Options of other kinds are ignored."""

    kind: ImportKind
    format: str | None = None
    encoding: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    header: bool = True
    sections: bool = False
    cut: str | None = None
    doc_id: str | None = None
    title: str | None = None
    system: str | None = None
    order: str = "score"
    duplicates: str = "refuse"
    skip_unknown_queries: bool = False
    id_field: str | None = None
    simulated: bool = False
    map_grades: str | None = None
    grades_by: str | None = None
    rejudge: bool = False
    as_judgments: bool = False
    declared: Mapping[str, Any] | None = None
