"""Shares, differences and durations as the reader's language shows them; what is undefined is a dash."""

from annotator.labeling.records import Median
from annotator.web.kit.figures import show_number, show_percentage
from annotator.web.kit.messages import tr, tr_n


def show_median(found: Median) -> str:
    """Seconds with one decimal."""
    return "–" if found.seconds is None else tr("{seconds} s", seconds=show_number(found.seconds, 1))


def show_share(share: float | None, digits: int = 0) -> str:
    """A share in per cent."""
    return "–" if share is None else show_percentage(100 * share, digits)


def show_difference(value: float | None, *, signed: bool = False) -> str:
    """A difference in grades; `signed`: with its plus."""
    if value is None:
        return "–"
    return ("+" if signed and value > 0 else "") + show_number(value, 2)


def show_duration(seconds: float) -> str:
    """About how long, in words: minutes up to two hours, then hours."""
    minutes = max(1, round(seconds / 60))
    if minutes < 120:
        return tr_n("about {n:,} minute", "about {n:,} minutes", minutes)
    return tr_n("about {n:,} hour", "about {n:,} hours", round(minutes / 60))
