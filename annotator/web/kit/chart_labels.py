"""Names beside a chart: cut to what fits, so that what stands behind them can still be read, and never two alike."""

from collections.abc import Sequence
from unicodedata import east_asian_width

from annotator.web.kit.figures import show_percentage

MOST = 16
APART = "\u200b"  # has no width: two names that are cut alike stay two


def shorten(name: str, most: int = MOST) -> str:
    """The name, cut to so many narrow letters; wide ones count twice."""
    used, kept = 0, ""
    for letter in name:
        used += 2 if east_asian_width(letter) in "WF" else 1
        if used > most:
            return kept.rstrip() + "…"
        kept += letter
    return name


def space_percent(pattern: str) -> dict[str, str]:
    """Options of an axis of shares: labels in d3's pattern ("~%"), spaced where the language does: "5 %", "5%"."""
    spaced = show_percentage(1).endswith(" %")
    return {"format": pattern, **({"labelExpr": "replace(datum.label, '%', ' %')"} if spaced else {})}


def label_counts(names: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Each name with its count, in the same order."""
    labels: list[str] = []
    for name, count in zip(names, counts, strict=True):
        label = f"{shorten(name)} ({count:,})"
        while label in labels:
            label += APART
        labels.append(label)
    return labels
