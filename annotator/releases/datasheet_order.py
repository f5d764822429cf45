"""The datasheet's section on the order of documents: what decides it, and where nothing but a hash did."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from annotator.releases.datasheet_figures import say_count

if TYPE_CHECKING:
    from annotator.releases.datasheet import Datasheet


def write_order(sheet: "Datasheet") -> Iterator[str]:
    """The lines of the section, from the manifest's `order`; none for a manifest without it."""
    order = sheet.manifest.get("order")
    if order is None:
        return
    yield from ("## In which order documents stand", "")
    yield (
        "A query's documents stand by settled grade, then by the mean of its annotators' grades, a lead's order, the place in "
        "an earlier ground truth, and last a hash of the ids with the dataset's seed; never by the rank that a system gave."
    )
    tied, undecided = order["tied"], order["undecided"]
    if tied:
        yield (
            f"Grade and mean are the same as another relevant document's of the query for {say_count(tied, 'document')}: "
            f"{order['by_lead']:,} of them have a place in a lead's order, {order['by_earlier']:,} only one in an earlier "
            "ground truth."
        )
    if undecided:
        queries = order["queries_undecided"]
        yield (
            f"Of these, {undecided:,} in {queries:,} {'query' if queries == 1 else 'queries'} stand in an order that only the "
            "hash decided: a figure that reads places as grades (`ranked.json`) tells nothing about them."
        )
    else:
        yield "No order was left to the hash."
    left_out = order["queries_without_relevant"]
    if left_out:
        yield (
            f"`ranked.json` leaves out {left_out:,} {'query' if left_out == 1 else 'queries'} without a relevant document among those "
            "settled: its evaluator divides by the number of relevant documents."
        )
    yield ""
