"""How far an annotator is, as the labeling page says it: "71 of 100". The one definition of both numbers.

The total is a promise of the next pairs, at most BLOCK at a time, and never taken back: it grows with new work and with the next
block. What others finish first, and a check that is not needed in the end, counts as done, since nobody waits for the annotator
any more. So both numbers only go forward, they are equal exactly when nothing is left, and the answer to a check moves them like
the answer to any other pair. The own answers alone are counted apart (`answered`). docs/counts.md says it for users.
"""

from collections.abc import Callable
from dataclasses import dataclass

BLOCK = 100
SOON = 20
"""The next block is promised when fewer pairs than this are left of the one before: before a browser that looks ahead ends it."""


@dataclass(frozen=True, slots=True)
class OwnProgress:
    """What the annotator was told last. `answered`: the most answers that they
    had so far, checks included, so that an answer put off and given again counts once; `reserve_until`: up to how many
    answered checks the total holds room for, None before the last block."""

    answered: int
    done: int
    total: int
    reserve_until: int | None = None


@dataclass(frozen=True, slots=True)
class OwnWork:
    """How an annotator's work stands. `answered`: pairs answered, checks included; `checks`: those of them that are checks;
    `open`: pairs that they may still be given as work or for quality control, those in the browser included; `held`: checks in
    the browser; `possible`: how many checks can come yet at the most beside them, asked for only in the last block."""

    answered: int
    checks: int
    open: int
    held: int
    possible: Callable[[], int]


def advance(told: OwnProgress | None, work: OwnWork) -> OwnProgress:
    """What is to be told now, after `told` (None: nothing yet)."""
    if told is None:
        told = OwnProgress(work.answered, work.answered, work.answered)
    done = told.done + max(0, work.answered - told.answered)
    total, reserve = max(told.total, done), told.reserve_until
    if work.open >= BLOCK:
        left, reserve = BLOCK, None
    elif work.open + work.held == 0:
        left, reserve = 0, None
    else:
        reserve = max(reserve or 0, work.checks + work.held + work.possible())
        left = work.open + reserve - work.checks
    done = max(done, total - left) if left < BLOCK else done
    if total - done < min(left, SOON):
        total = done + min(left, BLOCK)
    return OwnProgress(max(told.answered, work.answered), done, total, reserve)
