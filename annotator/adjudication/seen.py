"""What a lead saw of a pair, as a short text: handed back with the decision, so that one on something else is refused.

Shared by the decision page and the files for a meeting, so that both say the same of a pair that has changed.
"""

import hashlib
import json
from collections.abc import Sequence


def digest_seen(event_ids: Sequence[str], revision: int) -> str:
    """What a lead saw: the revision (0: undecided) and the current judgments (in any order), as "2-…" with 32 hex digits."""
    named = json.dumps(sorted(event_ids))
    return f"{revision}-{hashlib.sha256(named.encode()).hexdigest()[:32]}"


def read_revision(seen: str) -> int | None:
    """The revision that a digest was made of; None where it is none of ours."""
    number, dash, _ = seen.partition("-")
    return int(number) if dash and number.isascii() and number.isdigit() and len(number) < 10 else None
