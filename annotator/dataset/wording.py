"""The coverage table's counts in words: sentences that can still be translated."""

from collections.abc import Mapping, Sequence

from annotator.dataset.query_counts import NAMED, Counts, count_others, match
from annotator.domain.messages import join, say

NAMED_IN_ROW = 3


def show_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {number}" for label, number in counts.items())


def show_found(counts: Counts, labels: list[str]) -> str:
    """The named ones in their order, then the others, the most frequent first; all of them up to 20."""
    found = [join([label, str(match(counts, label))], " ") for label in labels]
    found += [
        join([name_label(label), str(number)], " ") for label, number in count_others(counts, labels).items()
    ]
    return _shorten(found)


def show_shares(counts: Counts, labels: list[str], queries: int) -> str:
    found = [(label, match(counts, label)) for label in labels]
    found += [(name_label(label), number) for label, number in count_others(counts, labels).items()]
    shares = [(label, f"{100 * number / (queries or 1):.0f} % ({number})") for label, number in found]
    return _shorten([join(parts, " ") for parts in shares])


def name_label(label: str | None) -> str:
    return say("(not said)") if label is None else label


def _shorten(parts: Sequence[str]) -> str:
    if not parts:
        return say("none")
    more, named = len(parts) - NAMED, join(parts[:NAMED])
    return say("{named} and {more} more", named=named, more=more) if more > 0 else named


def show_ids(ids: list[str]) -> str:
    if not ids:
        return say("none")
    more = ", …" if len(ids) > NAMED_IN_ROW else ""
    return f"{len(ids):,} ({', '.join(ids[:NAMED_IN_ROW])}{more})"
