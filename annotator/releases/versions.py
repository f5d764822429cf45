"""A release's version: three numbers MAJOR.MINOR.PATCH, which is also the name of its folder.

Refuses anything else (a leading "v", leading zeros, pre-release suffixes), so that versions compare as
numbers and can never leave the folder of their dataset. Source: https://semver.org, section 2.
"""

import re

from annotator.domain.errors import ValidationError

_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


def check_version(found: str) -> str:
    """The version itself; ValidationError unless it is MAJOR.MINOR.PATCH."""
    if not _VERSION.fullmatch(found):
        raise ValidationError(f"expected a version MAJOR.MINOR.PATCH such as 1.0.0, found {found!r}")
    return found
