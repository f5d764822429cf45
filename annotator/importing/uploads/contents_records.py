"""Records of a dataset's contents, for the page and the command that show them."""

from dataclasses import dataclass
from datetime import datetime

from annotator.domain.import_records import ImportKind


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
