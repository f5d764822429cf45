"""Parse and compare release versions, and find which version the changes between two releases call for.

Pure. https://semver.org applied to a ground truth. A version is MAJOR.MINOR.PATCH and the name of its folder; anything else is
refused (a leading "v", leading zeros, pre-release suffixes), so it can never leave the folder of its dataset.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from annotator.domain.messages import join, say, say_n

Advice = Literal["major", "minor", "patch", "none"]
STEPS: tuple[Advice, ...] = ("none", "patch", "minor", "major")  # from the smallest on
_MOVED = {str(kind): kind for kind in (say("changed"), say("added"), say("removed"), say("renamed"))}


def advise(
    counts: Mapping[str, int], *, queries: int, texts: int, scale_changed: bool, guideline_changed: bool
) -> tuple[Advice, str]:
    """Return the smallest step of a semantic version (https://semver.org) that these changes allow, and why.

    Another scale breaks every comparison: major. Another set of qrels or queries moves figures: minor. Texts and
    grounds move none: patch.
    """
    if scale_changed:
        return "major", say("the grade scale changed")
    moved = [say("{n:,} {kind}", n=counts[kind], kind=_MOVED[kind]) for kind in _MOVED if counts.get(kind)]
    if moved:
        return "minor", say("qrels changed ({moved})", moved=join(moved))
    if queries:
        return "minor", say("queries were added or removed")
    quiet = [say_n("{n:,} query text", "{n:,} query texts", texts)] if texts else []
    grounds = counts.get("grounds", 0)
    quiet += [say_n("the basis of {n:,} qrel", "the basis of {n:,} qrels", grounds)] if grounds else []
    quiet += [say("the guideline")] if guideline_changed else []
    if quiet:
        return "patch", say("no grades changed, only {changes}", changes=join(quiet))
    return "none", say("nothing changed")


def suggest_next(before: str | None, advice: Advice) -> str:
    """Return the version that follows `before` (MAJOR.MINOR.PATCH) at this step."""
    if before is None:
        return "1.0.0"
    major, minor, patch = (int(part) for part in before.split("."))
    if advice == "major":
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if advice == "minor" else f"{major}.{minor}.{patch + 1}"


def compare_versions(before: str, after: str) -> Advice | None:
    """Return the step from one version to another, None if it goes backwards."""
    old, new = ([int(part) for part in version.split(".")] for version in (before, after))
    if new <= old:
        return "none" if new == old else None
    steps: tuple[Advice, ...] = ("major", "minor", "patch")
    return next(step for step, a, b in zip(steps, old, new, strict=True) if a != b)


def suggest_version(published: Iterable[str]) -> str:
    """Return a version for the next release: 1.0.0, later the highest version with the next MINOR."""
    highest = max((tuple(int(part) for part in version.split(".")) for version in published), default=None)
    return "1.0.0" if highest is None else f"{highest[0]}.{highest[1] + 1}.0"
