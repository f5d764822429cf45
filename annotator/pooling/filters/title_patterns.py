"""Match titles with a typed regular expression, within a time limit.

Some expressions, such as `(a+)+$`, would search for years. Others, such as large ranges after `(?i)`, take
seconds to compile. Python can stop neither. So a separate process compiles the expression and searches the
titles. It is ended at the limit, and the rest of the program goes on. Titles and expression are compared in
Unicode form NFC, like fields (`filters.py`).
"""

import json
import subprocess
import sys
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say

LONGEST_PATTERN = 1_000
SECONDS = 10.0
_SEARCH = """
import json, re, sys
if sys.platform != "win32":
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CPU, (60, resource.RLIM_INFINITY))
request = json.load(sys.stdin)
try:
    pattern = re.compile(request["pattern"])
except (re.error, OverflowError, RecursionError) as error:
    fault = {"position": getattr(error, "pos", None) or 0, "why": getattr(error, "msg", None) or str(error)}
    json.dump(fault, sys.stdout)
else:
    json.dump([number for number, title in request["titles"] if pattern.search(title)], sys.stdout)
"""


@lru_cache(maxsize=100)
def check_pattern(pattern: str) -> None:
    """Raise ValidationError unless the text is a regular expression of at most LONGEST_PATTERN characters.

    The message has the position of the fault.
    """
    match_titles(pattern, {})


def match_titles(pattern: str, titles: Mapping[int, str], *, seconds: float = SECONDS) -> set[int]:
    """Return the keys of the titles that contain a match of the pattern.

    Raises ValidationError for a wrong pattern, or if compiling it and the search take more than `seconds`.
    """
    if not pattern or len(pattern) > LONGEST_PATTERN:
        raise ValidationError(
            say(
                "title: expected a regular expression of 1 to {most:,} characters, found {found:,}",
                most=LONGEST_PATTERN,
                found=len(pattern),
            )
        )
    listed = [(key, unicodedata.normalize("NFC", title)) for key, title in titles.items()]
    request = json.dumps({"pattern": unicodedata.normalize("NFC", pattern), "titles": listed})
    try:
        done = subprocess.run(
            (sys.executable, "-I", "-c", _SEARCH),
            input=request.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        raise ValidationError(
            say(
                "title: expected a regular expression that takes at most {seconds:g} seconds, found {found!r}, which takes longer; avoid repeats inside repeats, such as (a+)+",
                seconds=seconds,
                found=pattern,
            )
        ) from None
    answer = json.loads(done.stdout)
    if isinstance(answer, dict):
        raise ValidationError(
            say(
                "title: expected a regular expression, found {found!r}, wrong at character {position}: {why}",
                found=pattern,
                position=answer["position"] + 1,
                why=answer["why"],
            )
        )
    return set(answer)
