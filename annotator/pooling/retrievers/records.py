"""Records of retrieval: what is searched, with which options, and what each retriever returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple


class SearchedQuery(NamedTuple):
    """A query as retrievers need it."""

    query_id: str
    text: str


class SearchedDocument(NamedTuple):
    """A document as retrievers need it. `text` is what is searched: title and text, or doc_id and title without a text."""

    doc_id: str
    title: str
    text: str


class SearchHit(NamedTuple):
    """The number of a document in the order given, and its score."""

    document: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """For each query its best documents, best first; `without_grams` numbers the queries too short to match."""

    hits: tuple[tuple[SearchHit, ...], ...]
    without_grams: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """The options of all retrievers.

    `weights`: the lists that `hybrid` fuses, by name (a retriever, or `run:SYSTEM`), with their weights; empty: see
    `fusion.py`. `title_boost`: the weights of the lists of title matches, by `exact` and `partial`. `vectors` and
    `query_vectors`: files of embeddings. `embed`: the folder of an embedding model, used in their place.
    """

    seed: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)
    title_boost: Mapping[str, float] = field(default_factory=dict)
    vectors: Path | None = None
    query_vectors: Path | None = None
    embed: Path | None = None


class RetrievedDocument(NamedTuple):
    """A document that a retriever proposes for a query. `rank` begins at 1; `signals` tell how the score was made."""

    query_id: str
    doc_id: str
    system: str
    rank: int
    score: float
    signals: Mapping[str, Any]


NoteKind = Literal["too_short", "no_candidate", "no_vector"]


@dataclass(frozen=True, slots=True)
class RetrieverNote:
    """What a retriever could not do.

    `names`: the queries with no two characters in a row to match (`too_short`), the other queries without a candidate
    (`no_candidate`), or the documents without a vector (`no_vector`).
    """

    system: str
    kind: NoteKind
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The candidates of some retrievers, in order of retriever, query and rank, and what they could not do."""

    candidates: tuple[RetrievedDocument, ...]
    notes: tuple[RetrieverNote, ...]
