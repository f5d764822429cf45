"""What an annotator is shown, and how far the work is: the records that storage reads and the pages draw."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class HandedPair:
    """A pair as its annotator sees it. `text` is cut at SHOWN_CHARACTERS; `length` is the whole text's.

    `text` and `document_sha256` are None when only the document's id is known.
    """

    pair: str
    query_id: str
    query: str
    narrative: str | None
    doc_id: str
    title: str
    url: str | None
    media_type: str
    text: str | None
    length: int
    document_sha256: str | None
    guideline_version: int


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """How far one annotator is. `last_judged_at` is None before the first judgment."""

    annotator: str
    name: str
    simulated: bool
    judged: int
    unrateable: int
    later: int
    last_judged_at: datetime | None


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """How far one query is: its pairs, those that reached the overlap, and those begun but short of it."""

    query_id: str
    text: str
    category: str | None
    pairs: int
    complete: int
    begun: int
