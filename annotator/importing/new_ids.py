"""Compare the ids that an import brings with those of the dataset, and name the ids that will make trouble later.

Ids stay as they are given: a person decides whether two of them mean the same document.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.errors import BadInput, FormatError
from annotator.domain.messages import say, say_n
from annotator.domain.normal_forms import find_near_ids, show_id
from annotator.formats.registry import find_unwritable

NAMED = 5
LISTED = 100


@dataclass(frozen=True, slots=True)
class NewIds:
    """Ids that the dataset did not have. `near`: the existing id that a new one nearly equals, by the new one."""

    ids: tuple[str, ...]
    near: Mapping[str, str]

    @classmethod
    def of(cls, new_ids: Iterable[str], existing_ids: Iterable[str]) -> "NewIds":
        """Return these new ids, compared with the existing ones."""
        ids = tuple(new_ids)
        return cls(ids, find_near_ids(ids, existing_ids))

    def describe(self) -> tuple[str, ...]:
        """Return notes on ids that nearly equal an existing one, and on ids that a format of a release cannot hold."""
        notes: list[str] = []
        if self.near:
            pairs = [f"{show_id(new_id)} ({show_id(existing)})" for new_id, existing in self.near.items()]
            notes.append(
                say_n(
                    "warning: {n:,} new id nearly equals an id that is here, and counts as another one: {listed}",
                    "warning: {n:,} new ids nearly equal ids that are here, and count as others: {listed}",
                    len(pairs),
                    listed=list_some(pairs, LISTED),
                )
            )
        for format_name, ids in find_unwritable(self.ids).items():
            notes.append(
                say_n(
                    "warning: {n:,} new id contains white space, which the format {format} cannot hold: {listed}. Rename it "
                    "before people judge (annotator remap), or releases leave this format out",
                    "warning: {n:,} new ids contain white space, which the format {format} cannot hold: {listed}. Rename them "
                    "before people judge (annotator remap), or releases leave this format out",
                    len(ids),
                    format=format_name,
                    listed=list_some(list(map(show_id, ids)), LISTED),
                )
            )
        return tuple(notes)


def note_by_id(new: NewIds) -> tuple[str, ...]:
    """Return notes on documents of which only the id is known."""
    if not new.ids:
        return ()
    listed = ", ".join(map(show_id, new.ids[:NAMED])) + (", …" if len(new.ids) > NAMED else "")
    return (
        say_n(
            "{n:,} document is known by its id only ({listed}): import its text as a document",
            "{n:,} documents are known by their id only ({listed}): import their texts as documents",
            len(new.ids),
            listed=listed,
        ),
        *new.describe(),
    )


def expect_query(query_ids: Iterable[str], unknown: Iterable[str]) -> dict[str, str]:
    """Return, for each unknown query_id, what a line should have instead: a query_id of the dataset, the near one if any."""
    unknown = list(unknown)
    near = find_near_ids(unknown, query_ids)
    return {
        query_id: say("a query_id of this dataset, such as {query_id}", query_id=show_id(near[query_id]))
        if query_id in near
        else say("a query_id of this dataset")
        for query_id in unknown
    }


def require_content(count: int, path: str, expected: str) -> None:
    """Raise BadInput if a file that could be read holds nothing of what it was read for."""
    if not count:
        raise BadInput([FormatError(path, None, expected, say("none"))])


def list_some(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - most
    shown = ", ".join(names[:most])
    return say("{listed} and {n:,} more", listed=shown, n=more) if more > 0 else shown
