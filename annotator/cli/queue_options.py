"""The options that choose a part of the queue: the same for the list, for its file and for policies, and for the page's address."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, cast

import typer

from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.adjudication.impact_service import Tell
    from annotator.adjudication.queue_records import QueueFilter, Shown

ShowOption = Annotated[
    str | None,
    typer.Option("--show", metavar="open|decided|all", help="Those that wait, those decided, or all."),
]
ReasonOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reason", metavar="WORD", help="Why: differ, unrateable, quality, objection, question, stale. Repeat it."
    ),
]  # fmt: skip
QueryOption = Annotated[str | None, typer.Option("--query", metavar="QUERY_ID", help="Of this query.")]
CategoryOption = Annotated[
    str | None, typer.Option("--category", metavar="C", help='Of this category ("": of none).')
]
JudgedByOption = Annotated[
    list[str] | None,
    typer.Option("--annotator", metavar="USER", help="Judged by this annotator. Repeat it."),
]
GradesOption = Annotated[
    str | None, typer.Option("--grades", metavar="LOW-HIGH", help="With these grades against each other.")
]
DistanceOption = Annotated[
    int | None, typer.Option("--distance", min=0, max=3, help="So far apart.", show_default=False)
]
TasteOption = Annotated[
    bool | None,
    typer.Option("--taste/--no-taste", help="Only what differs by taste, or nothing of it.", show_default=False),
]  # fmt: skip


def read_filter(
    *,
    show: str,
    reason: Sequence[str] | None = None,
    query: str | None = None,
    category: str | None = None,
    annotator: Sequence[str] | None = None,
    grades: str | None = None,
    distance: int | None = None,
    taste: bool | None = None,
) -> "QueueFilter":
    """The part of the queue that the options name. ValidationError for a word that is none."""
    from annotator.adjudication.queue_records import SHOWN, QueueFilter, read_reasons
    from annotator.domain.errors import ValidationError

    if show not in SHOWN:
        raise ValidationError(f"--show: expected one of {', '.join(SHOWN)}, found {show!r}")
    return QueueFilter(
        shown=cast("Shown", show),
        reasons=read_reasons(list(reason or [])),
        query_id=query,
        category=category,
        annotators=tuple(annotator or ()),
        grades=_read_grades(grades) if grades is not None else None,
        distance=distance,
        taste=taste,
    )


def tell_progress() -> "Tell | None":
    """How many queries' impacts are computed, on stderr and only to a terminal."""
    if not sys.stderr.isatty():
        return None
    return lambda done, total: typer.echo(f"impact: {done:,} of {count_of(total, 'query')} …", err=True)


def _read_grades(words: str) -> tuple[int, int]:
    from annotator.domain.errors import ValidationError

    low, _, high = words.partition("-")
    if low not in ("0", "1", "2", "3") or high not in ("0", "1", "2", "3") or low > high:
        raise ValidationError(f"--grades: expected two grades such as 1-2, found {words!r}")
    return int(low), int(high)
