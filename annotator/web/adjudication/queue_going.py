"""Where in the queue of disputes one is: read from the page's address, and written there, all of it in one step.

So every view can be sent to a colleague, and the browser's way back leads through what was looked at. What the address names
and the dataset has not, or a word that means nothing, is passed over.
"""

from collections.abc import Collection
from dataclasses import replace

import streamlit as st

from annotator.domain.messages import say
from annotator.web.adjudication.queue_url import NAMES, QueueAddress, read_address, write_address
from annotator.web.kit.focus import note_press
from annotator.web.kit.messages import tr

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


def list_words(address: QueueAddress, *, pair: str | None = None, start: int = 0) -> dict[str, str]:
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
    st.query_params.from_dict(list_words(address, pair=pair, start=start))
    if elsewhere or pair is not None:
        st.session_state[PART] = tr(LIST)
        note_press()
