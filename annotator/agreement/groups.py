"""Which pairs belong together in a breakdown: by query, by document, by guideline version, by week. Pure arrays.

Each shared pair is in one group only, so that the groups' pairs add up to the dataset's. Stands between the labels that the
service reads and `measure`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from annotator.agreement.judgment_table import Flags, Ints, Judged, number

DAY = 86_400


@dataclass(frozen=True, slots=True)
class Labels:
    """The groups' names in the order in which they are shown, and the group of each row of the judgments (-1: none)."""

    values: Sequence[str | None]
    group: Ints

    def __iter__(self) -> Iterator[tuple[str | None, Flags]]:
        """Each group's name, and the rows that belong to it."""
        for place, value in enumerate(self.values):
            yield value, self.group == place


def label_by(keys: Ints, labels: Mapping[int, str | None]) -> Labels:
    """By the label of each row's key (its query, its document): in the order of the text, rows without one last. Every label
    is a group, also those that no row has."""
    values = sorted(set(labels.values()), key=lambda label: (label is None, label or ""))
    places = {value: place for place, value in enumerate(values)}
    known, place = number(keys)
    of_key = np.array([places.get(labels.get(key), -1) for key in known.tolist()], dtype=np.int64)
    return Labels(values, of_key[place] if len(place) else place)


def look_up(keys: Ints, values: Mapping[int, int]) -> Ints:
    """The value of each key; 0 for keys without one."""
    known, place = number(keys)
    found = np.array([values.get(key, 0) for key in known.tolist()], dtype=np.int64)
    return found[place] if len(place) else place


def label_by_version(judged: Judged, versions: Ints) -> Labels:
    """By the guideline versions that a pair was judged under, `versions` being that of each row: "2", or "1–2" where its
    annotators worked by different ones; none where that is not known of one of its judgments (0)."""
    pairs, place = number(judged.pair)
    first = np.full(len(pairs), np.iinfo(np.int64).max)
    last = np.zeros(len(pairs), dtype=np.int64)
    np.minimum.at(first, place, versions)
    np.maximum.at(last, place, versions)
    last[first == 0] = 0
    spans, group = np.unique(np.stack([first, last], axis=1), axis=0, return_inverse=True)
    names = [str(low) if low == high else f"{low}–{high}" for low, high in spans.tolist()]
    values = [None if name == "0" else name for name in names]
    if None in values:  # it comes first, and is shown last
        values, group = [*values[1:], None], (group - 1) % len(values)
    return Labels(values, group.reshape(-1)[place])


def label_by_week(judged: Judged, made_at: Ints) -> Labels:
    """By the ISO week (UTC) in which a pair was judged a second time, `made_at` being the time of each row: "2026-W09";
    none where that is not known (0)."""
    never = np.iinfo(np.int64).max
    times = np.where(made_at > 0, made_at, never)
    order = np.lexsort((times, judged.pair))
    pairs, place = number(judged.pair)
    begins = np.searchsorted(judged.pair[order], pairs)
    ends = np.append(begins[1:], len(order))
    second = np.minimum(begins + 1, ends - 1)
    day = times[order][second] // DAY if len(pairs) else pairs
    days, of_pair = number(day)
    names = [None if one == never // DAY else _name_week(one) for one in days.tolist()]
    values = sorted(set(names), key=lambda name: (name is None, name or ""))
    group = np.array([values.index(name) for name in names], dtype=np.int64)
    return Labels(values, group[of_pair][place] if len(place) else place)


def _name_week(day: int) -> str:
    week = datetime.fromtimestamp(day * DAY, UTC).isocalendar()
    return f"{week.year}-W{week.week:02}"
