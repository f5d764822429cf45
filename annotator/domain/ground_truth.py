"""Records of queries, documents, qrels, runs and imports, which every format and slice uses.

Ids are kept exactly as given: no trimming, no Unicode normalization. `metadata` keeps all other columns or
keys of a file, in file order, so that they can be written back.

Records of imports: which file, when, by whom, how it was read, and what it contained. Judgments, earlier
grades and runs point to their import, so a datasheet can say whether a figure was made in this program or
elsewhere.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from json.encoder import encode_basestring
from typing import Any, Literal, NamedTuple

Metadata = Mapping[str, Any]
NOTHING: Metadata = {}  # shared by all qrels without metadata: never write to it
Origin = Literal["unanimous", "adjudicated", "single", "imported"]

QUERY_FIELDS: tuple[str, ...] = (
    "category",
    "language",
    "query_type",
    "difficulty",
    "primary_domain",
    "narrative",
)
MEDIA_TYPES: tuple[str, ...] = ("text/plain", "text/markdown", "text/x-rst", "text/html")


@dataclass(frozen=True, slots=True)
class Query:
    """A search query. `query_id` is the team's own id; every export has it."""

    query_id: str
    text: str
    category: str | None = None
    language: str | None = None
    query_type: str | None = None
    difficulty: str | None = None
    primary_domain: str | None = None
    narrative: str | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A document that a search returns: a page, an article, a code path, a template."""

    doc_id: str
    title: str = ""
    text: str = ""
    url: str | None = None
    media_type: str = "text/plain"
    metadata: Metadata = field(default_factory=dict)


class Qrel(NamedTuple):
    """The settled grade (0-3) of a pair. A pair without a qrel is unjudged, never grade 0.

    Only a conversion from `ranked` by position has grades above 3; storage and graded formats refuse them.
    `annotator_grades`: the independent judgments as (pseudonym, grade), in pseudonym order. A tuple, because
    files have millions of qrels.
    """

    query_id: str
    doc_id: str
    grade: int
    origin: Origin = "imported"
    description: str | None = None
    note: str | None = None
    annotator_grades: tuple[tuple[str, int], ...] = ()
    metadata: Metadata = NOTHING


@dataclass(frozen=True, slots=True)
class WrongCount:
    """A wrong count that a file states about itself."""

    path: str
    line: int | None
    place: str  # in the file, such as `queries[3].total_relevant`
    stated: str  # as written in the file
    counted: int
    what: str  # the counted things, in words

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.place} says {self.stated}, counted: {self.counted:,} {self.what}"


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """A set of queries with their qrels: the content of a ground-truth file or a release.

    `queries` and `qrels` keep file order. `metadata`: the file's statements about itself. `documents`:
    documents in the file (BEIR's corpus); most formats have none. `wrong_counts`: counts that the file states
    wrongly; a written file states the right ones. `further_judgments`: judgments without a qrel (*cannot
    rate*, or documents that the file does not settle). No format writes them.
    """

    queries: tuple[Query, ...]
    qrels: tuple[Qrel, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    wrong_counts: tuple[WrongCount, ...] = field(default=(), compare=False)
    further_judgments: "tuple[JudgmentLine, ...]" = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One result of a run.

    `rank`: as in the file (TREC files start at 0 or 1); None if the file has only scores.
    """

    query_id: str
    doc_id: str
    rank: int | None
    score: float | None = None
    signals: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One system's ranked results.

    `query_signals`: the file's values for a query as a whole, by query_id (`latency_ms` and every further
    field).
    """

    system: str
    entries: tuple[RunEntry, ...]
    query_signals: Mapping[str, Metadata] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgmentLine:
    """One line of a judgments file: a judgment made elsewhere (see `import judgments`).

    `grade` is None exactly if `outcome` is "unrateable". `judged_at`: an ISO 8601 time with a zone, or None.
    `seconds`: active time. `line`: in the file; None if unknown.
    """

    line: int | None
    query_id: str
    doc_id: str
    annotator: str
    outcome: Literal["graded", "unrateable"]
    grade: int | None
    note: str | None = None
    judged_at: str | None = None
    seconds: float | None = None


def write_canonical(query_id: str, grades: Iterable[tuple[str, int]]) -> bytes:
    """Return the canonical lines of one query, as `hash_content` defines them.

    `grades`: its qrels as (doc_id, grade).
    """
    begin = f"[{encode_basestring(query_id)},"
    lines = [f"{begin}{encode_basestring(doc_id)},{grade}]\n" for doc_id, grade in sorted(grades)]
    return "".join(lines).encode()


def hash_content(qrels: Iterable[Qrel]) -> str:
    """Return the SHA-256 of the canonical qrels, in hexadecimal.

    Canonical bytes: one line per qrel, sorted by query_id, then doc_id, both by code point. Each line is the
    JSON array `["query_id","doc_id",grade]` without spaces, in UTF-8 without escaped non-ASCII characters,
    ended by LF. File order, origin and notes do not matter.
    """
    digest = hashlib.sha256()
    keys = sorted((qrel.query_id, qrel.doc_id, qrel.grade) for qrel in qrels)
    for query_id, of_query in groupby(keys, key=lambda key: key[0]):
        digest.update(write_canonical(query_id, ((doc_id, grade) for _, doc_id, grade in of_query)))
    return digest.hexdigest()


PROFILE_NAMES: tuple[str, ...] = ("trec", "nablarch", "law", "survey", "code", "document")


ImportKind = Literal["queries", "documents", "run", "pairs", "judgments", "qrels"]


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One import that stored something. It never changes.

    `path`: as the user named it. `sha256`: of the file's bytes; None for a folder. `format`: the format's
    name; None if a table was recognised by its content. `system`: only for a run. `imported_by`: the person's
    primary key; None for the command line. `options`: how the file was read, such as `map_grades`. `figures`:
    the numbers of records `read`, `added`, `changed`, `unchanged` and left out. `declared`: the importer's
    statements about the origin of the content, or None.
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


AFTERWARDS = "declared_afterwards"
"""The option of a record that only declares the origin of an earlier import."""


def find_declared(record: ImportRecord, records: Iterable[ImportRecord]) -> Mapping[str, Any] | None:
    """Return the declared origin of an import: its own, or the latest later declaration for the same file.

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
}
"""The fields that an importer may declare, with their names in a datasheet."""

TAKEN_OVER = "near_duplicate"
"""The kind of source of a grade that a lead accepted from a near-duplicate document."""

BEFORE_RECORDS = 0  # the key for imports that were made before imports were recorded
