"""The step that leads to the queue of disputes: how many wait and why, and what to decide first. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotator.domain.disputes import LASTING, Reason
from annotator.domain.messages import Message, join, join_sentences, say, say_n
from annotator.domain.reasons import REASONS


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for a lead's decision: so many disputes, by reason, of which `flips` can change the order of systems."""

    open: int = 0
    by_reason: Mapping[Reason, int] = field(default_factory=dict)
    flips: int = 0


NOTHING = Waiting()


def say_waiting(waiting: Waiting, disagreements: int, reopened: int) -> tuple[Message, Message]:
    """Say what to do, and why. `disagreements`: the waiting pairs without a settled grade, `reopened` of them by quality control."""
    n = waiting.open
    said = [_say_why(reopened)] if disagreements else [_say_settled(n)]
    if 0 < disagreements < n:
        said.append(
            say_n(
                "{n:,} of them has no settled grade until then; the others have one that something speaks against.",
                "{n:,} of them have no settled grade until then; the others have one that something speaks against.",
                disagreements,
            )
        )
    others = {reason: count for reason, count in waiting.by_reason.items() if count and reason not in LASTING}
    if others:
        counted = [
            say("{reason} {n:,}", reason=REASONS[reason], n=waiting.by_reason[reason])
            for reason in Reason
            if waiting.by_reason.get(reason)
        ]
        said.append(say("They wait because of: {reasons}.", reasons=join(counted)))
    if waiting.flips:
        said.append(
            say_n(
                "{n:,} of them can change the order of systems: decide it first.",
                "{n:,} of them can change the order of systems: decide these first.",
                waiting.flips,
            )
        )
    what = say_n("Settle {n:,} open disagreement", "Settle {n:,} open disagreements", n)
    return what, join_sentences(said)


def _say_settled(n: int) -> Message:
    return say_n(
        "It has a settled grade that something speaks against.",
        "All of them have a settled grade that something speaks against.",
        n,
    )


def _say_why(reopened: int) -> Message:
    if reopened:
        return say_n(
            "{n:,} of them was reopened by quality control: a third expert contradicts its settled grade. "
            "A lead decides each, and says why.",
            "{n:,} of them were reopened by quality control: a third expert contradicts their settled grades. "
            "A lead decides each, and says why.",
            reopened,
        )
    return say("The annotators gave different grades. A lead decides each, and says why.")
