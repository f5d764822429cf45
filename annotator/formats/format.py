"""The description of a format, as the registry lists it, and the JSON Schemas that ship with the program.

Each format's file ends with its `FORMAT`. What it holds is given in words for people (`holds`, `cannot_hold`) and as
`features`, from which losses are found and tests draw data. A schema covers a file's shape; the reader checks the rest
(ids given once). For a format of lines it covers one line. YAML is checked after unquoted numbers and null are
resolved.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from annotator.domain.errors import NotFound
from annotator.domain.ground_truth import GroundTruth
from annotator.formats.source import InputSource
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


class ReservedKeys(NamedTuple):
    """Keys that cannot be metadata in a format, since it uses them itself: of the file, a query, and so on."""

    file: frozenset[str] = frozenset()
    query: frozenset[str] = frozenset()
    qrel: frozenset[str] = frozenset()
    document: frozenset[str] = frozenset()


NONE_RESERVED = ReservedKeys()


@dataclass(frozen=True, slots=True)
class Format:
    """One file format. `certain(head)` says from the first 64 kB (in UTF-8) whether a file can only be this one.

    `read(source)` raises BadInput with every bad place. `files`: its files, one of path "" where the format is one
    file. `tells_grade_0`: grade 0 is always listed, since readers tell it from unjudged. `find_query_lines(source)`
    gives the line on which each query begins, for messages. `schema` names a file in `formats/schemas/`.
    `read_graded(source, grades_by)` reads a format without grades. `carries_id`: None where every id can be held.
    `lay_out(truth)`: the files for one truth, where their shape depends on all of it (a table's columns).
    `ordered`: a query's documents stand in a list of their own, whose order somebody chose; in a table of lines it says
    nothing.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    holds: tuple[str, ...]
    cannot_hold: tuple[str, ...]
    features: frozenset[Feature]
    read: Callable[[InputSource], GroundTruth]
    files: tuple[FileWriter, ...]
    certain: Callable[[bytes], bool]
    tells_grade_0: bool
    find_query_lines: Callable[[InputSource], list[int]] | None = None
    schema: str | None = None
    read_graded: Callable[[InputSource, str], GroundTruth] | None = None
    carries_id: Callable[[str], bool] | None = None
    reserved: ReservedKeys = NONE_RESERVED
    lay_out: Callable[[GroundTruth], tuple[FileWriter, ...]] | None = None
    ordered: bool = False

    @property
    def needs_grades_by(self) -> bool:
        """Whether reading needs `--grades-by`, since the file holds no grades."""
        return self.read_graded is not None


SUFFIX = ".schema.json"


def list_schemas() -> list[str]:
    """The file names of all schemas, sorted."""
    folder = files("annotator.formats") / "schemas"
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(SUFFIX))


def read_schema(name: str) -> dict[str, Any]:
    """A schema by its file name, for instance `law.schema.json`. NotFound lists the ones there are."""
    known = list_schemas()
    if name not in known:
        raise NotFound(f"no schema named {name!r}; there are: {', '.join(known)}")
    schema: dict[str, Any] = json.loads((files("annotator.formats") / "schemas" / name).read_text("utf-8"))
    return schema
