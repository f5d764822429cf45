"""A release's version: three numbers MAJOR.MINOR.PATCH, which is also the name of its folder.

Refuses anything else (a leading "v", leading zeros, pre-release suffixes), so that versions compare as
numbers and can never leave the folder of their dataset. Source: https://semver.org, section 2.
"""

import re
from collections.abc import Iterable

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say

_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


def check_version(found: str) -> str:
    """The version itself; ValidationError unless it is MAJOR.MINOR.PATCH."""
    if not _VERSION.fullmatch(found):
        raise ValidationError(
            say("expected a version MAJOR.MINOR.PATCH such as 1.0.0, found {found!r}", found=found)
        )
    return found


def suggest_version(published: Iterable[str]) -> str:
    """What the next release could be called: 1.0.0, later the highest version so far with MINOR one up."""
    highest = max((tuple(int(part) for part in version.split(".")) for version in published), default=None)
    return "1.0.0" if highest is None else f"{highest[0]}.{highest[1] + 1}.0"
