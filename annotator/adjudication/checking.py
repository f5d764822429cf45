"""Whether the lines of a file may be decided: every bad one is noted with what it should have been.

Stands between reading the file and storing its decisions. A line of an exported file is held against the state that it was
exported in; a line that says what is decided already is fine, also when that came of the same file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotator.adjudication.decisions import Decision
from annotator.adjudication.decisions_file import DecisionLine
from annotator.adjudication.seen import digest_seen, read_revision
from annotator.domain.errors import Problems


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of the pool as it stands. `open`: whether it waits for a lead, None where it is no dispute (`status` says what it is
    then, and `settled` its grade where it has one); `judged`: by the lead who decides; `events`: the judgments to be seen; `last`: the last decision."""

    pair_pk: int
    key: str
    open: bool | None
    status: str
    judged: bool
    events: Sequence[str]
    last: Decision | None
    settled: int | None = None

    @property
    def revision(self) -> int:
        """How many decisions there are."""
        return self.last.revision if self.last else 0


def check_lines(
    lines: Sequence[DecisionLine], pairs: Mapping[tuple[str, str], Pair], problems: Problems
) -> None:
    """Note every line that must not be decided."""
    for line in lines:
        if line.decided is None:
            continue
        pair = pairs.get((line.query_id, line.doc_id))
        changed = _find_change(line, pair) if pair else None
        if pair is None:
            problems.add(line.line, "a pair of the pool", line.named)
        elif changed is None and is_decided_so(line, pair):
            continue
        elif pair.judged:
            problems.add(line.line, "a pair that the deciding lead did not judge", line.named)
        elif changed is not None:
            problems.add(line.line, f"{line.named} as it was when exported", changed)
        elif pair.open is None:
            problems.add(line.line, "a pair whose judgments differ", f"{line.named} ({pair.status})")


def is_decided_so(line: DecisionLine, pair: Pair) -> bool:
    """Whether the line says nothing but what holds already and nobody has questioned since: a decision with all that it says,
    or the grade of a pair that needs none."""
    last = pair.last
    if last is None and pair.open is None:
        return pair.settled is not None and pair.settled == line.decided
    return (
        last is not None
        and not pair.open
        and last.decided == line.decided
        and (last.rationale, last.reason, last.cause) == (line.rationale, line.reason, line.cause)
    )


def _find_change(line: DecisionLine, pair: Pair) -> str | None:
    """What has become of the pair since it was exported; None where nothing has but this very decision."""
    if line.seen is None or line.pair != pair.key or line.seen == digest_seen(pair.events, pair.revision):
        return None
    if is_decided_so(line, pair) and line.seen == digest_seen(pair.events, pair.revision - 1):
        return None
    if pair.last is None or read_revision(line.seen) == pair.revision:
        return "a judgment that came or was changed since"
    if pair.last.outcome == "withdrawn":
        return "a decision taken back since"
    if pair.last.decided == "unrateable":
        return "a decision since: it cannot be rated"
    return f"a decision since: {pair.last.decided}"
