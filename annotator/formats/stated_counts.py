"""Compares the counts that a ground-truth file states of itself (`total_queries`, `total_relevant`) with what it holds.

A wrong one is no reason to refuse the file: no evaluator relies on it for its metrics. It is told with both numbers, since
the file was changed by hand, or was cut off.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from annotator.domain.ground_truth import WrongCount
from annotator.formats.text import describe
from annotator.formats.tree import Place, Tree, is_nothing, line_of, show_place
from annotator.formats.yaml_text import resolve

QUERIES = ("query", "queries")
RELEVANT = ("document of grade 1-3", "documents of grade 1-3")
NAMED = 5


class StatedCount(NamedTuple):
    """A count as the file states it at `place`, and what was counted of what it means (`what`: one of them, several)."""

    place: Place
    value: Any
    counted: int
    what: tuple[str, str]


def find_wrong_counts(tree: Tree, stated: Iterable[StatedCount]) -> tuple[WrongCount, ...]:
    """Return those that are wrong, with their lines, in the order of the file."""
    wrong = [one for one in stated if not is_nothing(one.value) and not _is_right(one)]
    if not wrong:
        return ()
    lines = tree.locate([one.place for one in wrong])
    return tuple(
        WrongCount(
            tree.path,
            line_of(lines, one.place),
            show_place(one.place),
            describe(resolve(one.value)),
            one.counted,
            one.what[one.counted != 1],
        )
        for one in wrong
    )


def say_wrong_counts(wrong: tuple[WrongCount, ...]) -> Iterator[str]:
    """Yield a sentence for each of the first, and one for the others."""
    yield from map(str, wrong[:NAMED])
    more = len(wrong) - NAMED
    if more > 0:
        yield f"{wrong[0].path}: {more:,} more {'count is' if more == 1 else 'counts are'} wrong: annotator check lists all"


def _is_right(one: StatedCount) -> bool:
    value = resolve(one.value)
    return type(value) is int and value == one.counted
