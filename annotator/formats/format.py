"""Describe a format as the registry lists it, and find the JSON Schemas that ship with the program.

Each format's module ends with its `FORMAT`. Its contents are given as words for people (`holds`,
`cannot_hold`) and as `features`; losses are derived from features, and tests draw data from them. A schema
covers a file's shape; the reader checks the rest, such as unique ids. For a format of lines it covers one
line. YAML is checked after unquoted numbers and null are resolved.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from annotator.domain.errors import NotFound
from annotator.domain.ground_truth import GroundTruth
from annotator.formats.syntax.source import InputSource
from annotator.formats.writer import FileWriter

Feature = Literal[
    "query_ids",
    "query_texts",
    "query_fields",  # category, language, query_type, difficulty, primary_domain, narrative
    "query_metadata",
    "queries_without_qrels",
    "grades",  # without it only the order of grades comes back
    "large_grades",  # above 3: from a ranked file read by position
    "descriptions",
    "notes",
    "two_annotators",  # the first two annotators' grades, under the names annotator_1 and annotator_2
    "annotator_grades",  # those of any number of annotators
    "origins",
    "qrel_metadata",
    "iterations",  # of a qrel's metadata only TREC's iteration
    "file_metadata",
    "documents",
    "typed_metadata",  # numbers, lists, mappings, null; without it metadata values come back as texts
    "empty_texts",  # tells "" from absent where a text may be absent
]


OTHER_KEYS = "(beside)"
"""The metadata key that holds a mapping of further keys: keys of the file that metadata itself cannot hold."""


class ReservedKeys(NamedTuple):
    """Keys that a format uses itself, so metadata cannot: of the file, a query, and so on."""

    file: frozenset[str] = frozenset()
    query: frozenset[str] = frozenset()
    qrel: frozenset[str] = frozenset()
    document: frozenset[str] = frozenset()


NONE_RESERVED = ReservedKeys()


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: how to detect it, read it and write it, and what it can hold."""

    name: str
    about: str
    suffixes: tuple[str, ...]
    holds: tuple[str, ...]
    cannot_hold: tuple[str, ...]
    features: frozenset[Feature]
    read: Callable[[InputSource], GroundTruth]
    """Raises BadInput with every bad place."""
    files: tuple[FileWriter, ...]
    """A format of a single file has one writer, with the path ONE_FILE."""
    certain: Callable[[bytes], bool]
    """Whether a file that begins with these bytes (up to 64 kB, in UTF-8) can only have this format."""
    tells_grade_0: bool
    """Grade 0 is always listed, since readers tell it from unjudged."""
    find_query_lines: Callable[[InputSource], list[int]] | None = None
    """Returns the line on which each query begins, for messages."""
    schema: str | None = None
    """A file in `formats/schemas/`."""
    read_graded: Callable[[InputSource, str], GroundTruth] | None = None
    """Reads a file without grades; the second argument is the rule of `--grades-by`."""
    carries_id: Callable[[str], bool] | None = None
    """Whether the format can hold this id; None if it can hold every id."""
    reserved: ReservedKeys = NONE_RESERVED
    lay_out: Callable[[GroundTruth], tuple[FileWriter, ...]] | None = None
    """Returns the writers for a truth, if they depend on all of it (the columns of a table)."""
    ordered: bool = False
    """Each query has a list of documents whose order somebody chose. In a table of lines the order means nothing."""

    @property
    def needs_grades_by(self) -> bool:
        """Return whether reading needs `--grades-by`, since the file holds no grades."""
        return self.read_graded is not None


SUFFIX = ".schema.json"


def list_schemas() -> list[str]:
    """Return the file names of all schemas, sorted."""
    folder = files("annotator.formats") / "schemas"
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(SUFFIX))


def read_schema(name: str) -> dict[str, Any]:
    """Return a schema by its file name, such as `law.schema.json`. NotFound lists the existing ones."""
    names = list_schemas()
    if name not in names:
        raise NotFound(f"no schema named {name!r}; there are: {', '.join(names)}")
    schema: dict[str, Any] = json.loads((files("annotator.formats") / "schemas" / name).read_text("utf-8"))
    return schema
