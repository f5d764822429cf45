"""Find the common lines or words of two texts, for comparisons and merges of guidelines.

Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1986): the fewest insertions and
deletions. The search stops after `most` edits, so the time is bounded.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple


class MatchingBlock(NamedTuple):
    """`size` common items, at index `before` of the first sequence and `after` of the second."""

    before: int
    after: int
    size: int


def match(before: Sequence[Hashable], after: Sequence[Hashable], *, most: int) -> list[MatchingBlock] | None:
    """Return the common blocks in order; None if more than `most` edits are needed."""
    start, end = _count_ends(before, after)
    middle = _match_middle(before[start : len(before) - end], after[start : len(after) - end], most=most)
    if middle is None:
        return None
    blocks = [MatchingBlock(0, 0, start)]
    blocks += [MatchingBlock(block.before + start, block.after + start, block.size) for block in middle]
    blocks.append(MatchingBlock(len(before) - end, len(after) - end, end))
    return _join(blocks)


def match_ends(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[MatchingBlock]:
    """Return only the common start and end, for texts that are too different to compare."""
    start, end = _count_ends(before, after)
    return _join([MatchingBlock(0, 0, start), MatchingBlock(len(before) - end, len(after) - end, end)])


def _count_ends(before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[int, int]:
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start, end


def _match_middle(
    before: Sequence[Hashable], after: Sequence[Hashable], *, most: int
) -> list[MatchingBlock] | None:
    """Search greedily (Myers): `reach[k]` is the furthest x on diagonal k = x - y with the current number of edits."""
    long, wide = len(before), len(after)
    reach, snapshots = {1: 0}, []
    for edits in range(min(most, long + wide) + 1):
        snapshots.append(reach.copy())
        for diagonal in range(-edits, edits + 1, 2):
            if diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]):
                x = reach[diagonal + 1]
            else:
                x = reach[diagonal - 1] + 1
            y = x - diagonal
            while x < long and y < wide and before[x] == after[y]:
                x, y = x + 1, y + 1
            reach[diagonal] = x
            if x >= long and y >= wide:
                return _walk_back(snapshots, long, wide)
    return None


def _walk_back(snapshots: Sequence[dict[int, int]], x: int, y: int) -> list[MatchingBlock]:
    """Return the blocks of the found path, walking it from its end."""
    blocks = []
    for edits in range(len(snapshots) - 1, -1, -1):
        reach, diagonal = snapshots[edits], x - y
        if diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]):
            came_from = diagonal + 1
        else:
            came_from = diagonal - 1
        from_x = reach[came_from] if edits else 0
        from_y = from_x - came_from if edits else 0
        size = min(x - from_x, y - from_y)
        blocks.append(MatchingBlock(x - size, y - size, size))
        x, y = from_x, from_y
    return blocks[::-1]


def _join(blocks: Sequence[MatchingBlock]) -> list[MatchingBlock]:
    """Join neighbouring blocks and drop empty ones."""
    joined: list[MatchingBlock] = []
    for block in blocks:
        if not block.size:
            continue
        last = joined[-1] if joined else None
        if last and (last.before + last.size, last.after + last.size) == (block.before, block.after):
            joined[-1] = MatchingBlock(last.before, last.after, last.size + block.size)
        else:
            joined.append(block)
    return joined
