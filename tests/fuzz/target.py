"""What is fuzzed: a reader, with good files that it reads."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2]

Read = Callable[[bytes, Path], object]


@dataclass(frozen=True, slots=True)
class Target:
    """A reader with files that it reads: `read` gets the content and a path that names the kind of file.

    `every`: in how many rounds over all targets it has a turn; 20 for a reader that takes long.
    """

    name: str
    suffix: str
    read: Read
    seeds: tuple[bytes, ...]
    every: int = 1
