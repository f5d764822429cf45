"""The view of one dispute after the other, which the page of disagreements draws when its address names a pair."""

from annotator.web.page_context import PageContext
from annotator.web.queue_page import draw_queue_page


def draw_deciding(context: PageContext) -> None:
    """The dispute that the address names; for now within the page of the queue."""
    draw_queue_page(context)
