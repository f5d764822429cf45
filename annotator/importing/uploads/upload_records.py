"""Records of a dataset's contents, and of the user's choices for a file to import."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotator.domain.ground_truth import ImportKind


@dataclass(frozen=True, slots=True)
class LastImport:
    """The latest import of a kind. `by`: the person's name; None for the command line."""

    path: str
    imported_at: datetime
    by: str | None


@dataclass(frozen=True, slots=True)
class ContentCount:
    """The number of a dataset's items of a kind. `last`: None if none was imported."""

    kind: ImportKind
    count: int
    last: LastImport | None


@dataclass(frozen=True, slots=True)
class DatasetContents:
    """A dataset's contents by kind, in import order. `without_text`: documents with only an id or title."""

    counts: tuple[ContentCount, ...]
    without_text: int

    def count(self, kind: ImportKind) -> int:
        """Return the number of items of a kind."""
        return next(item.count for item in self.counts if item.kind == kind)


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
