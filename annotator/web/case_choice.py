"""Which disagreement is on the screen, and which comes next. Pure rules over the queue as the page shows it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotator.domain.queue import Disagreement

SHOWN = ("open", "decided", "all")


def filter_queue(queue: "Sequence[Disagreement]", shown: str) -> "list[Disagreement]":
    """The part of the queue that is asked for, in its order."""
    return [item for item in queue if shown in ("all", item.status)]


def choose_case(queue: "Sequence[Disagreement]", wanted: str | None) -> str | None:
    """The pair asked for if it is in the queue; else the first open one that the lead may decide, else the first
    open one. None when nothing is open."""
    if any(item.pair == wanted for item in queue):
        return wanted
    waiting = [item for item in queue if item.status == "open"]
    waiting.sort(key=lambda item: item.yours)
    return waiting[0].pair if waiting else None


def find_next(queue: "Sequence[Disagreement]", after: str) -> str | None:
    """The next open pair after this one that the lead may decide, beginning again at the top; None without one."""
    place = next((number for number, item in enumerate(queue) if item.pair == after), -1)
    for item in (*queue[place + 1 :], *queue[: place + 1]):
        if item.status == "open" and not item.yours and item.pair != after:
            return item.pair
    return None
