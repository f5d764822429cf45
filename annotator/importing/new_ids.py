"""Compare an import's ids with the dataset's, and name ids that will cause problems later.

Ids are never changed: a person decides whether two ids mean the same document.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.errors import BadInput, FormatError
from annotator.domain.messages import CommandWords, say, say_n
from annotator.domain.texts import find_near_ids, show_id
from annotator.formats.registry import find_unwritable

NAMED = 5
LISTED = 100


@dataclass(frozen=True, slots=True)
class NewIds:
    """Ids that are new to the dataset. `near`: {new id: nearly equal id, existing or earlier in the file}."""

    ids: tuple[str, ...]
    near: Mapping[str, str]

    @classmethod
    def of(cls, new_ids: Iterable[str], existing_ids: Iterable[str]) -> "NewIds":
        """Return these new ids, compared with the existing ones and each other."""
        ids = tuple(new_ids)
        return cls(ids, find_near_ids(ids, existing_ids, among_new=True))

    def describe(self) -> tuple[str, ...]:
        """Return notes on ids nearly equal to existing ones, and on ids that a release format cannot hold."""
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
                    "before people judge{command}, or releases leave this format out",
                    "warning: {n:,} new ids contain white space, which the format {format} cannot hold: {listed}. Rename them "
                    "before people judge{command}, or releases leave this format out",
                    len(ids),
                    format=format_name,
                    listed=list_some(list(map(show_id, ids)), LISTED),
                    command=CommandWords(" (annotator remap)"),
                )
            )
        return tuple(notes)


def note_by_id(new: NewIds) -> tuple[str, ...]:
    """Return notes on documents without any content but their id."""
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
    """Return {unknown query_id: message with a query_id to use instead}, naming a similar one if it exists."""
    unknown = list(unknown)
    near = find_near_ids(unknown, query_ids)
    return {
        query_id: say("a query_id of this dataset, such as {query_id}", query_id=show_id(near[query_id]))
        if query_id in near
        else say("a query_id of this dataset")
        for query_id in unknown
    }


def require_content(count: int, path: str, expected: str) -> None:
    """Raise BadInput if a readable file has no content of the expected kind."""
    if not count:
        raise BadInput([FormatError(path, None, expected, say("none"))])


def list_some(names: Sequence[str], most: int) -> str:
    """Return the first names, and the number of others."""
    more = len(names) - most
    shown = ", ".join(names[:most])
    return say("{listed} and {n:,} more", listed=shown, n=more) if more > 0 else shown
