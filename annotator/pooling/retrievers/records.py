"""Records of retrieval: queries, documents, options, and the results of retrievers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple


class SearchedQuery(NamedTuple):
    """A query as retrievers need it."""

    query_id: str
    text: str


class SearchedDocument(NamedTuple):
    """A document as retrievers need it. `text`: title and text; without a text, doc_id and title."""

    doc_id: str
    title: str
    text: str


class SearchHit(NamedTuple):
    """A found document: its number in the order given, and its score."""

    document: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best documents of each query, best first. `without_grams`: the numbers of queries too short to match."""

    hits: tuple[tuple[SearchHit, ...], ...]
    without_grams: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """The options of all retrievers.

    `weights`: the lists that `hybrid` fuses, by name (a retriever, or `run:SYSTEM`), with their weights;
    empty: see `options.choose_fused`. `title_boost`: the weights of title matches, by `exact` and `partial`.
    `vectors` and `query_vectors`: files of embeddings. `embed`: the folder of an embedding model, instead of
    these files.
    """

    seed: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)
    title_boost: Mapping[str, float] = field(default_factory=dict)
    vectors: Path | None = None
    query_vectors: Path | None = None
    embed: Path | None = None


class RetrievedDocument(NamedTuple):
    """A document that a retriever proposes for a query. `rank`: from 1. `signals`: the parts of the score."""

    query_id: str
    doc_id: str
    system: str
    rank: int
    score: float
    signals: Mapping[str, Any]


NoteKind = Literal["too_short", "no_candidate", "no_vector"]


@dataclass(frozen=True, slots=True)
class RetrieverNote:
    """Queries or documents that a retriever could not handle.

    `names`: the queries without two adjacent characters to match (`too_short`), the other queries without a
    candidate (`no_candidate`), or the documents without a vector (`no_vector`).
    """

    system: str
    kind: NoteKind
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The candidates of some retrievers, by retriever, query and rank, with notes."""

    candidates: tuple[RetrievedDocument, ...]
    notes: tuple[RetrieverNote, ...]
