"""Records of retrieval: queries, documents, options with their checks, and the results of retrievers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from annotator.domain.errors import ValidationError


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
    empty: see `choose_fused`. `title_boost`: the weights of title matches, by `exact` and `partial`.
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


RETRIEVERS = ("bm25", "tfidf", "lsa", "vectors", "hybrid")
RUN = "run:"  # before the system of an imported run, in the weights of `hybrid`
TITLE_MATCHES = ("exact", "partial")


def read_weights(text: str, *, option: str) -> dict[str, float]:
    """Return the weights by name of "bm25=0.6,run:s=0.8". Raises ValidationError with the wrong part."""
    weights: dict[str, float] = {}
    for part in filter(str.strip, text.split(",")):
        name, equals, figure = part.strip().rpartition("=")
        try:
            weight = float(figure)
        except ValueError:
            weight = math.nan
        if not equals or not name or not (0 < weight < math.inf):
            raise ValidationError(
                f"{option}: expected NAME=WEIGHT with a weight above 0, found {part.strip()!r}"
            )
        if name in weights:
            raise ValidationError(f"{option}: expected each name once, found {name!r} twice")
        weights[name] = weight
    if not weights:
        raise ValidationError(f"{option}: expected NAME=WEIGHT, found {text!r}")
    return weights


def check_options(names: Sequence[str], options: RetrievalOptions) -> None:
    """Raise ValidationError for an unknown retriever, and for options that exclude each other."""
    for name in names:
        if name not in RETRIEVERS:
            raise ValidationError(f"there is no retriever {name!r}; there is: {', '.join(RETRIEVERS)}")
    for option, values in (("--weights", options.weights), ("--title-boost", options.title_boost)):
        if values and "hybrid" not in names:
            raise ValidationError(f"{option} goes with --retrieve hybrid")
    fusible = [name for name in RETRIEVERS if name != "hybrid"]
    for name in options.weights:
        if name not in fusible and (not name.startswith(RUN) or name == RUN):
            raise ValidationError(f"--weights: expected {', '.join(fusible)} or {RUN}SYSTEM, found {name!r}")
    for name in options.title_boost:
        if name not in TITLE_MATCHES:
            raise ValidationError(f"--title-boost: expected {' or '.join(TITLE_MATCHES)}, found {name!r}")
    _check_vectors("vectors" in names or "vectors" in choose_fused(names, options), options)


def _check_vectors(needed: bool, options: RetrievalOptions) -> None:
    has_files = options.vectors is not None or options.query_vectors is not None
    if has_files and options.embed is not None:
        raise ValidationError("--embed makes the vectors: leave --vectors and --query-vectors out")
    if (options.vectors is None) != (options.query_vectors is None):
        raise ValidationError("--vectors and --query-vectors go together")
    if needed and not has_files and options.embed is None:
        raise ValidationError(
            "the retriever 'vectors' needs --vectors FILE and --query-vectors FILE, or --embed FOLDER"
        )
    if not needed and (has_files or options.embed is not None):
        option = "--vectors" if has_files else "--embed"
        raise ValidationError(f"{option} goes with --retrieve vectors")


def choose_fused(names: Sequence[str], options: RetrievalOptions) -> Mapping[str, float]:
    """Return the lists that `hybrid` fuses, with their weights; empty without `hybrid`.

    These are the lists of `--weights`; without it, the other named retrievers; without these, BM25 with
    `vectors` if there are vectors, else BM25 with LSA. Title matches are additional lists.
    """
    if "hybrid" not in names:
        return {}
    others = [name for name in names if name != "hybrid"]
    has_vectors = options.vectors is not None or options.embed is not None
    return options.weights or dict.fromkeys(others or ("bm25", "vectors" if has_vectors else "lsa"), 1.0)


def list_fused_runs(names: Sequence[str], options: RetrievalOptions) -> tuple[str, ...]:
    """Return the systems of the imported runs that `hybrid` fuses."""
    return tuple(name.removeprefix(RUN) for name in choose_fused(names, options) if name.startswith(RUN))


def describe_options(names: Sequence[str], options: RetrievalOptions) -> dict[str, Any]:
    """Return the options that these retrievers use as JSON, for the record of a round. Files: only their names."""
    described: dict[str, Any] = {}
    weights = choose_fused(names, options)
    if weights:
        described |= {"weights": dict(weights), "title_boost": dict(options.title_boost)}
    if "lsa" in names or "lsa" in weights:
        described["lsa_seed"] = options.seed
    for name in ("vectors", "query_vectors", "embed"):
        path: Path | None = getattr(options, name)
        if path is not None:
            described[name] = path.name
    return described
