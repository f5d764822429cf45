"""Records of what a dataset holds, for the page and the command that show it."""

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
    """How much a dataset holds of a kind. `last`: None if nothing of it was imported."""

    kind: ImportKind
    count: int
    last: LastImport | None


@dataclass(frozen=True, slots=True)
class DatasetContents:
    """What a dataset holds, by kind in the order of import. `without_text`: documents known by their id or title only."""

    counts: tuple[ContentCount, ...]
    without_text: int

    def count(self, kind: ImportKind) -> int:
        """Return how much there is of a kind."""
        return next(item.count for item in self.counts if item.kind == kind)
