"""Whether a settled pair rests on a standard or a text that is not in force any more. Pure; one of the gates' rules.

A decided pair rests on its decision, a unanimous or single one on every one of its judgments; a kept import on
neither.
"""

from collections.abc import Iterable

from annotator.domain.messages import Message, join, say, say_n


def find_meaning_since(versions: Iterable[tuple[int, str]]) -> int | None:
    """The latest guideline version that changed what a grade means; None when it is the first: nothing is older.

    `versions`: (version, change) of the dataset's rubrics, change being "minor" or "semantic".
    """
    latest = max((version for version, change in versions if change == "semantic"), default=1)
    return latest if latest > 1 else None


def is_stale(
    meaning_since: int | None, *, status: str, judged_under: Iterable[int], decided_under: int | None
) -> bool:
    """Whether a settled pair rests on an older meaning of the grades. `judged_under`, `decided_under`: guideline
    versions."""
    if meaning_since is None:
        return False
    if status == "adjudicated":
        return decided_under is not None and decided_under < meaning_since
    return status in ("unanimous", "single") and any(version < meaning_since for version in judged_under)


def is_on_older_text(status: str, *, judged: bool, decided: bool) -> bool:
    """Whether a settled pair rests on an older text of its document: of a judgment (`judged`) or the decision."""
    return decided if status == "adjudicated" else judged and status in ("unanimous", "single")


def say_stale(stale: int, *, on_text: int, on_both: int, since: int | None, dataset: str) -> Message:
    """What stale pairs rest on, and what to do about it. `on_text`: of them, those on an older text; `on_both`: those
    on an older guideline as well."""
    on_guideline, parts = stale - on_text + on_both, []
    if on_guideline:
        parts.append(
            say_n(
                "{n:,} settled pair rests on a guideline older than version {since}, which changed what a grade means",
                "{n:,} settled pairs rest on a guideline older than version {since}, which changed what a grade means",
                on_guideline,
                since=since,
            )
        )
    if on_text:
        parts.append(
            say_n(
                "{n:,} settled pair rests on an older text of its document",
                "{n:,} settled pairs rest on an older text of their documents",
                on_text,
            )
        )
    return say(
        "{what}: decide them anew (annotator adjudicate {dataset} FILE --as LEAD), or have them judged again",
        what=join(parts, "; "),
        dataset=dataset,
    )
