"""A part of the queue as an address: filter and order, so that what a lead looks at can be sent to another.

The same words stand in the page's address, in the requests of the decision panel and in the address of its file. A word that
means nothing is left out, never guessed at.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from annotator.adjudication.queue_records import (
    EVERYTHING_OPEN,
    SHOWN,
    SORTS,
    QueueFilter,
    Shown,
    list_words,
    read_reasons,
)
from annotator.domain.disputes import NOTHING
from annotator.domain.errors import ValidationError

NAMES = (
    "show", "sort", "reason", "query", "category", "annotators", "grades", "distance", "taste", "flips", "assigned",
)  # fmt: skip
YES_NO = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class QueueAddress:
    """Which part of the queue, in which order."""

    wanted: QueueFilter = EVERYTHING_OPEN
    sort: str = "distance"


def read_address(words: Mapping[str, str]) -> QueueAddress:
    """The part of the queue that an address's query string asks for."""
    given = {name: str(words[name]).strip() for name in NAMES if words.get(name) is not None}
    show, sort = given.get("show", ""), given.get("sort", "")
    distance = given.get("distance", "")
    reasons = NOTHING
    for word in _split(given.get("reason", "")):
        try:
            reasons |= read_reasons([word])
        except ValidationError:
            continue
    wanted = QueueFilter(
        shown=cast("Shown", show) if show in SHOWN else "open",
        reasons=reasons,
        query_id=given.get("query") or None,
        category=given.get("category"),
        annotators=tuple(_split(given.get("annotators", ""))),
        grades=_read_grades(given.get("grades", "")),
        distance=int(distance) if distance in ("0", "1", "2", "3") else None,
        taste=YES_NO.get(given.get("taste", "")),
        flips=given.get("flips") == "yes",
        assigned=given.get("assigned"),
    )
    return QueueAddress(wanted, sort if sort in SORTS else "distance")


def write_address(address: QueueAddress) -> dict[str, str]:
    """The words of `read_address`; what is as it is without being asked for is left out."""
    wanted = address.wanted
    found: dict[str, Any] = {
        "show": wanted.shown if wanted.shown != "open" else None,
        "sort": address.sort if address.sort != "distance" else None,
        "reason": ",".join(list_words(wanted.reasons)) or None,
        "query": wanted.query_id,
        "category": wanted.category,
        "annotators": ",".join(wanted.annotators) or None,
        "grades": f"{wanted.grades[0]}-{wanted.grades[1]}" if wanted.grades else None,
        "distance": wanted.distance,
        "taste": None if wanted.taste is None else "yes" if wanted.taste else "no",
        "flips": "yes" if wanted.flips else None,
        "assigned": wanted.assigned,
    }
    return {name: str(value) for name, value in found.items() if value is not None}


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]


def _read_grades(words: str) -> tuple[int, int] | None:
    low, _, high = words.partition("-")
    if low in ("0", "1", "2", "3") and high in ("0", "1", "2", "3") and low <= high:
        return int(low), int(high)
    return None
