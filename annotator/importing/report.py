"""What every import answers: how much it read, and what that changed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["queries", "documents", "run", "pairs", "judgments", "qrels"]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """`read` counts what the file holds; `added + changed + unchanged` is the same number.

    `notes` are sentences for people: what was left out, what came along. With `dry_run` nothing was stored.
    """

    kind: Kind
    path: str
    read: int
    added: int
    changed: int
    unchanged: int
    notes: tuple[str, ...]
    dry_run: bool


def silent(_: str) -> None:
    """A Progress that tells nobody."""


def note_joined(count: int) -> tuple[str, ...]:
    """A note on pairs that were not in the pool."""
    return (f"{count:,} pairs joined the pool",) if count else ()


def note_by_id(count: int) -> tuple[str, ...]:
    """A note on documents that nobody can read yet."""
    if not count:
        return ()
    return (f"{count:,} documents are known by their id only: import them with annotator import documents",)
