"""Read and write the queue's filter, order and place as an address that can be sent to a colleague.

The page, the requests of the decision panel and the download of the queue use the same parameters. A value that is
unknown, or that the dataset does not have, is ignored, never guessed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from annotator.adjudication.queue_records import (
    EVERYTHING_OPEN,
    SHOWN,
    SORTS,
    QueueFilter,
    Shown,
    list_words,
    read_reasons,
)
from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.domain.settling import NOTHING
from annotator.web.kit.controls import note_press
from annotator.web.kit.messages import tr

NAMES = (
    "show",
    "sort",
    "reason",
    "query",
    "category",
    "annotators",
    "grades",
    "distance",
    "taste",
    "flips",
    "assigned",
)
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


START = "from"
NEXT = "next"
PART, LIST = "queue part", say("List")
"""Which tab of the page is open, in the session; and the name of the first one."""
DATASET = "queue dataset"
"""Of the page that is drawn, in the session."""
LONGEST = 12  # digits of a number that a person could have meant


def read_here(*, categories: Collection[str] = (), people: Collection[str] = ()) -> QueueAddress:
    """The part of the queue that the address asks for. `categories`, `people`: that there are."""
    found = read_address(st.query_params)
    wanted = found.wanted
    if wanted.category is not None and wanted.category not in ("", *categories):
        wanted = replace(wanted, category=None)
    if wanted.assigned is not None and wanted.assigned not in ("", *people):
        wanted = replace(wanted, assigned=None)
    if wanted.grades is not None and wanted.grades[0] == wanted.grades[1]:
        wanted = replace(wanted, grades=None)
    known = tuple(name for name in wanted.annotators if name in people)
    return QueueAddress(replace(wanted, annotators=known), found.sort)


def find_start() -> int:
    """From which dispute on the address lists them."""
    found = st.query_params.get(START, "")
    return int(found) if found.isdecimal() and len(found) < LONGEST else 0


def list_parameters(address: QueueAddress, *, pair: str | None = None, start: int = 0) -> dict[str, str]:
    """The whole of the page's address: what it asks for, and what else stands in it; the dataset in any case."""
    kept = {
        name: st.query_params[name]
        for name in st.query_params
        if name not in NAMES and name not in (START, "pair")
    }
    asked = {"dataset": st.session_state.get(DATASET, ""), **kept, **write_address(address)}
    if start:
        asked[START] = str(start)
    if pair is not None:
        asked["pair"] = pair
    return asked


def go(address: QueueAddress, *, pair: str | None = None, start: int = 0, elsewhere: bool = False) -> None:
    """Show this from the next run on. `elsewhere`: what was pressed will not be there any more, and the list is shown."""
    st.query_params.from_dict(list_parameters(address, pair=pair, start=start))
    if elsewhere or pair is not None:
        st.session_state[PART] = tr(LIST)
        note_press()
