"""What every import answers: how much it read, and what that changed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["queries", "documents", "run", "pairs", "judgments"]
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
