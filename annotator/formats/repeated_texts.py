"""Finds queries that a file without query ids names twice by the same text.

No reason to refuse such a file, since two queries of a dataset may have one text. But whoever reads it back cannot tell
them apart, so it is told.
"""

from collections.abc import Iterator

from annotator.domain.ground_truth import GroundTruth
from annotator.formats.format import Format
from annotator.formats.text import describe

NAMED = 5


def list_repeated_texts(known: Format, truth: GroundTruth) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return each text that stands more than once, with its places in the file (from 1). Empty for formats with ids."""
    if "query_ids" in known.features:
        return ()
    places: dict[str, list[int]] = {}
    for place, query in enumerate(truth.queries, 1):
        places.setdefault(query.text, []).append(place)
    return tuple((text, tuple(found)) for text, found in places.items() if len(found) > 1)


def say_repeated_texts(path: str, repeated: tuple[tuple[str, tuple[int, ...]], ...]) -> Iterator[str]:
    """Yield a sentence for each of the first, and one for the others."""
    for text, places in repeated[:NAMED]:
        said = ", ".join(map(str, places))
        yield f"{path}: the query {describe(text)} stands {len(places):,} times, as number {said}; the file has no ids to tell them apart"
    more = len(repeated) - NAMED
    if more > 0:
        yield f"{path}: {more:,} more query {'text stands' if more == 1 else 'texts stand'} more than once"
