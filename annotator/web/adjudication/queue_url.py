"""Read and write the queue's filter, order and position as an address that can be sent to a colleague.

The page, the requests of the decision panel and the download of the queue use the same parameters. A value
that is unknown, or that the dataset does not have, is ignored.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from annotator.adjudication.queue.queue_records import (
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
from annotator.web.kit.lists import START
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
    """A part of the queue, in an order."""

    wanted: QueueFilter = EVERYTHING_OPEN
    sort: str = "distance"


def read_address(words: Mapping[str, str]) -> QueueAddress:
    values = {name: str(words[name]).strip() for name in NAMES if words.get(name) is not None}
    show, sort = values.get("show", ""), values.get("sort", "")
    distance = values.get("distance", "")
    reasons = NOTHING
    for word in _split(values.get("reason", "")):
        try:
            reasons |= read_reasons([word])
        except ValidationError:
            continue
    wanted = QueueFilter(
        shown=cast("Shown", show) if show in SHOWN else "open",
        reasons=reasons,
        query_id=values.get("query") or None,
        category=values.get("category"),
        annotators=tuple(_split(values.get("annotators", ""))),
        grades=_read_grades(values.get("grades", "")),
        distance=int(distance) if distance in ("0", "1", "2", "3") else None,
        taste=YES_NO.get(values.get("taste", "")),
        flips=values.get("flips") == "yes",
        assigned=values.get("assigned"),
    )
    return QueueAddress(wanted, sort if sort in SORTS else "distance")


def write_address(address: QueueAddress) -> dict[str, str]:
    """Return the parameters that `read_address` reads; defaults are left out."""
    wanted = address.wanted
    values: dict[str, Any] = {
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
    return {name: str(value) for name, value in values.items() if value is not None}


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]


def _read_grades(words: str) -> tuple[int, int] | None:
    low, _, high = words.partition("-")
    if low in ("0", "1", "2", "3") and high in ("0", "1", "2", "3") and low <= high:
        return int(low), int(high)
    return None


NEXT = "next"
TAB, LIST = "tab", say("List")
"""The key and parameter of the open tab, and the name of the first tab."""
DATASET = "queue dataset"
"""The session key of the dataset that the page shows."""


def read_here(*, categories: Collection[str] = (), people: Collection[str] = ()) -> QueueAddress:
    """Return the part of the queue in the page's address. `categories`, `people`: the known ones."""
    address = read_address(st.query_params)
    wanted = address.wanted
    if wanted.category is not None and wanted.category not in ("", *categories):
        wanted = replace(wanted, category=None)
    if wanted.assigned is not None and wanted.assigned not in ("", *people):
        wanted = replace(wanted, assigned=None)
    if wanted.grades is not None and wanted.grades[0] == wanted.grades[1]:
        wanted = replace(wanted, grades=None)
    annotators = tuple(name for name in wanted.annotators if name in people)
    return QueueAddress(replace(wanted, annotators=annotators), address.sort)


def list_parameters(address: QueueAddress, *, pair: str | None = None, start: int = 0) -> dict[str, str]:
    """Return all parameters of the page's address, the dataset always included."""
    kept = {
        name: st.query_params[name]
        for name in st.query_params
        if name not in NAMES and name not in (START, "pair")
    }
    parameters = {"dataset": st.session_state.get(DATASET, ""), **kept, **write_address(address)}
    if start:
        parameters[START] = str(start)
    if pair is not None:
        parameters["pair"] = pair
    return parameters


def go(
    address: QueueAddress,
    *,
    pair: str | None = None,
    start: int = 0,
    elsewhere: bool = False,
    container: str = "",
) -> None:
    """Show this address from the next run on.

    `elsewhere`: the pressed control will be gone, so the tab with the list is opened and the focus moves.
    `container`: the key of the container that gets the focus.
    """
    st.query_params.from_dict(list_parameters(address, pair=pair, start=start))
    if elsewhere or pair is not None or container:
        st.session_state[TAB] = tr(LIST)
        note_press(container, into_view=bool(container))
