"""Turn lines of a judgments file into events with stable names: the same line twice is one judgment.

The name (`line_id`) covers the whole content of the line, so a different grade later is a revision. An
earlier grade given again (2, 0, 2) is also a revision, even if the first 2 came from an earlier file. A
judgment stores the name in a column that no browser can set. A secret is part of its event id. Refuses a line
with a time in the future.
"""

import hashlib
import hmac
import json
import unicodedata
import uuid
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import JudgmentLine
from annotator.domain.judgments import MOST_ANSWERS
from annotator.domain.messages import say, say_n
from annotator.domain.texts import show_id
from annotator.formats.syntax.text import describe
from annotator.importing.report import LISTED, expect_query, list_some

OLD_NAMESPACE = uuid.UUID("8b6f2f5e-3f0e-5a53-9d0c-0f6d5c0f7c11")
OPERATOR_ONLY = say(
    "People who can sign in answer for themselves: leave out their lines. Only the operator can import them, with the command line."
)
NOBODY: Mapping[str, str] = {}
NAMED_SINCE = "line "  # what a line id begins with; before, it was a UUID, which sorts before it


@dataclass(frozen=True, slots=True)
class ImportedJudgmentEvent:
    """One line of a judgments file with its name."""

    line_id: str
    username: str  # the person's; the line may spell it in another way
    judged_at: datetime | None  # None if the line has no time
    line: JudgmentLine
    repetitions: int = 0  # how often the same was said before

    @property
    def is_respelled(self) -> bool:
        """Whether the line spells the person's name differently."""
        return _spell(self.line) != self.username


class StoredLine(NamedTuple):
    """A stored judgment that came from a file."""

    line_id: str
    username: str
    query_id: str
    outcome: str
    grade: int | None
    note: str | None


class ImportedAnnotator(NamedTuple):
    """A person whom a file names as the annotator of its judgments."""

    pk: int
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class EventPlan:
    """The events of a file, in storing order.

    `contradicting`: the number of lines that differ from an earlier line of the same annotator on the same
    pair.
    """

    events: tuple[ImportedJudgmentEvent, ...]
    contradicting: int


class _EarlierAnswers:
    """The lines so far of one annotator on one pair. Each further line takes the same time, however many there are."""

    __slots__ = ("by_answer", "contents", "count", "last")

    def __init__(self, first: JudgmentLine) -> None:
        self.by_answer: dict[tuple[str, int | None], list[JudgmentLine]] = {}
        self.contents: Counter[tuple[object, ...]] = Counter()
        self.count = 0
        self.add(first)

    def add(self, line: JudgmentLine) -> None:
        """Note a line. Of each answer, keep the first line, and the first one with another spelling."""
        self.last = line
        self.count += 1
        self.contents[_list_content(line)] += 1
        same = self.by_answer.setdefault(_take_answer(line), [])
        if not same or (len(same) == 1 and _spell(same[0]) != _spell(line)):
            same.append(line)

    def find_other_spelling(self, line: JudgmentLine) -> JudgmentLine | None:
        """Return an earlier line with another answer under another spelling of the name, or None."""
        others = (kept for answer, kept in self.by_answer.items() if answer != _take_answer(line))
        return next((other for kept in others for other in kept if _spell(other) != _spell(line)), None)


def _take_answer(line: JudgmentLine) -> tuple[str, int | None]:
    return line.outcome, line.grade


def plan_events(
    lines: Iterable[JudgmentLine], path: str, *, now: datetime, persons: Mapping[str, str] = NOBODY
) -> EventPlan:
    """Return the events of the lines, without lines that add nothing.

    `persons`: {annotator's name: username} (see `match_names`). BadInput names every time after `now`, and
    every line that contradicts a line under another spelling of the same person's name.

    A line without a time that repeats the annotator's last answer on the pair is the same judgment. A line
    without a time that returns to an earlier answer is a revision; its name holds the number of earlier
    occurrences. A line with a time is the judgment of that time, regardless of position and repetition.
    """
    problems = Problems(path)
    events: dict[str, ImportedJudgmentEvent] = {}
    first_lines: dict[tuple[str, str, str], JudgmentLine] = {}
    answers: dict[tuple[str, str, str], _EarlierAnswers] = {}  # where there is a second line
    contradicting = 0
    for line in lines:
        judged_at = datetime.fromisoformat(line.judged_at) if line.judged_at else None
        if judged_at is not None and judged_at > now:
            problems.add(
                line.line,
                say("judged_at not later than now ({now})", now=now.isoformat()),
                str(line.judged_at),
            )
        username = persons.get(line.annotator) or _spell(line)
        key = (username, line.query_id, line.doc_id)
        repetitions = 0
        if (first := first_lines.setdefault(key, line)) is not line:
            earlier = answers.get(key) or answers.setdefault(key, _EarlierAnswers(first))
            contradicting += bool(earlier.by_answer.keys() - {_take_answer(line)})
            if (other := earlier.find_other_spelling(line)) is not None:
                expected = say(
                    "the answer of line {line}, which is by the same annotator ({annotator})",
                    line=other.line,
                    annotator=repr(other.annotator),
                )
                problems.add(line.line, expected, f"{describe(line.grade)} by {line.annotator!r}")
            if judged_at is None:
                if _list_content(earlier.last) == _list_content(line):
                    continue
                repetitions = earlier.contents[_list_content(line)]
            if earlier.count == MOST_ANSWERS:
                limit = say("at most {n} judgments of one annotator on one pair", n=MOST_ANSWERS)
                problems.add(line.line, limit, str(earlier.count + 1))
            earlier.add(line)
        line_id = _name_line(username, line, repetitions)
        event = ImportedJudgmentEvent(line_id, username, judged_at, line, repetitions)
        events.setdefault(line_id, event)
    problems.raise_if_any()
    return EventPlan(_order(events.values()), contradicting)


def list_overtaken(
    events: Iterable[ImportedJudgmentEvent], stored: Container[str]
) -> list[ImportedJudgmentEvent]:
    """Return stored last lines of a pair whose annotator has a new, earlier line on it in the file.

    Otherwise that earlier line would become current, although the file's last line should be. Lines with a
    time are excluded.
    """
    last: dict[tuple[str, str, str], tuple[ImportedJudgmentEvent, bool]] = {}
    for event in events:
        key = (event.username, event.line.query_id, event.line.doc_id)
        new = event.judged_at is None and event.line_id not in stored
        last[key] = event, new or (key in last and last[key][1])
    return [
        event for event, new in last.values() if new and event.judged_at is None and event.line_id in stored
    ]


def repeat_event(event: ImportedJudgmentEvent, repetitions: int) -> ImportedJudgmentEvent:
    """Return the event with the name of a line that repeats an answer for the given time."""
    line_id = _name_line(event.username, event.line, repetitions)
    return replace(event, line_id=line_id, repetitions=repetitions)


def find_stored(
    events: Iterable[ImportedJudgmentEvent], stored: Sequence[StoredLine], path: str, *, dataset: str
) -> set[str]:
    """Return the names of the lines that are already stored.

    Under a name from before NAMED_SINCE, anybody could have stored other content; such a line counts as not
    stored. Raises BadInput if a current name has other content.
    """
    problems = Problems(path)
    by_name = {event.line_id: event for event in events}
    old_names: Mapping[str, ImportedJudgmentEvent] = {}
    if any(judgment.line_id not in by_name for judgment in stored):
        old_names = {name_line_as_before(dataset, event): event for event in by_name.values()}
    found: set[str] = set()
    for judgment in stored:
        event = by_name.get(judgment.line_id) or old_names[judgment.line_id]
        line = event.line
        said = (event.username, line.query_id, line.outcome, line.grade, line.note)
        if said == judgment[1:]:
            found.add(event.line_id)
        elif judgment.line_id == event.line_id:
            problems.add(line.line, "this line's judgment under its name", "another judgment in the dataset")
    problems.raise_if_any()
    return found


def _spell(line: JudgmentLine) -> str:
    return unicodedata.normalize("NFC", line.annotator)


def note_respelled(persons: Mapping[str, str]) -> tuple[str, ...]:
    """Return a note on names matched to a person with another spelling. `persons`: {name: username}."""
    respelled = {
        name: person for name, person in persons.items() if unicodedata.normalize("NFC", name) != person
    }
    if not respelled:
        return ()
    listed = list_some([f"{show_id(name)} = {person}" for name, person in respelled.items()], LISTED)
    return (
        say_n(
            "{n:,} name is another spelling of an annotator's name and counts as that person: {listed}",
            "{n:,} names are other spellings of annotators' names and count as those people: {listed}",
            len(respelled),
            listed=listed,
        ),
    )


def check_respelled(
    events: Iterable[ImportedJudgmentEvent],
    answers: Iterable[tuple[str, int | None] | None],
    path: str,
) -> None:
    """Raise BadInput for lines under another spelling that contradict the person's current judgment.

    `answers`: (outcome, grade) of that judgment for each event; None if there is none.
    """
    problems = Problems(path)
    for event, answer in zip(events, answers, strict=True):
        line = event.line
        if event.is_respelled and answer not in (None, (line.outcome, line.grade)):
            expected = say(
                "the annotator as {username}, to revise that person's judgment",
                username=describe(event.username),
            )
            problems.add(line.line, expected, show_id(line.annotator))
    problems.raise_if_any()


def _list_content(line: JudgmentLine) -> tuple[object, ...]:
    return line.outcome, line.grade, line.note, line.judged_at, line.seconds


def _order(events: Iterable[ImportedJudgmentEvent]) -> tuple[ImportedJudgmentEvent, ...]:
    """Return the events in file order; an annotator's events on a pair by time if all of them have one."""
    groups: dict[tuple[str, str, str], list[ImportedJudgmentEvent]] = {}
    listed = list(events)
    for event in listed:
        key = (event.username, event.line.query_id, event.line.doc_id)
        groups.setdefault(key, []).append(event)
    for group in groups.values():
        times = [event.judged_at for event in group if event.judged_at is not None]
        if len(group) > 1 and len(times) == len(group):
            group.sort(key=lambda event: event.judged_at or times[0])
    waiting = {key: iter(group) for key, group in groups.items()}
    return tuple(next(waiting[event.username, event.line.query_id, event.line.doc_id]) for event in listed)


def check_targets(
    events: Iterable[ImportedJudgmentEvent],
    path: str,
    *,
    query_ids: Iterable[str],
    adjudicated: Iterable[tuple[str, str]],
    namesakes: Mapping[str, str],
    real_people: Iterable[str],
    can_sign_in: Iterable[str],
) -> None:
    """Raise BadInput for every line that must not be stored.

    Refused: an unknown query; a pair that a lead has settled; an annotator whose name looks like another's
    (`namesakes`: {new name: existing name}); an annotator in `real_people`, who must not get simulated
    judgments; an annotator in `can_sign_in`, for whom a lead's file must not answer.
    """
    problems = Problems(path)
    queries, settled, real = set(query_ids), set(adjudicated), set(real_people)
    with_account, hint = set(can_sign_in), ""
    listed = list(events)
    expected_queries = expect_query(
        queries, dict.fromkeys(event.line.query_id for event in listed if event.line.query_id not in queries)
    )
    for event in listed:
        line = event.line
        if line.query_id not in queries:
            problems.add(line.line, expected_queries[line.query_id], describe(line.query_id))
        elif (line.query_id, line.doc_id) in settled:
            expected = "a pair without an adjudication (this one is settled)"
            problems.add(line.line, expected, f"{describe(line.query_id)}, {describe(line.doc_id)}")
        if event.username in namesakes:
            problems.add(
                line.line,
                say("the annotator as {username}", username=describe(namesakes[event.username])),
                event.username,
            )
        if event.username in real:
            problems.add(
                line.line,
                say("a simulated annotator"),
                say("the person {username}", username=describe(event.username)),
            )
        if event.username in with_account:
            problems.add(line.line, say("an annotator who cannot sign in"), describe(event.username))
            hint = OPERATOR_ONLY
    problems.raise_if_any(hint=hint)


def _name_line(username: str, line: JudgmentLine, repetitions: int) -> str:
    content = _list_names(username, line, repetitions)
    return NAMED_SINCE + hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def name_line_as_before(dataset: str, event: ImportedJudgmentEvent) -> str:
    """Return the name of a line imported before names began with NAMED_SINCE: its event id at that time."""
    content = [dataset, *_list_names(event.username, event.line, event.repetitions)]
    return str(uuid.uuid5(OLD_NAMESPACE, json.dumps(content, ensure_ascii=False)))


def _list_names(username: str, line: JudgmentLine, repetitions: int) -> list[object]:
    """Return the parts of a line's name. The number of repetitions is left out for the first occurrence."""
    content: list[object] = [line.query_id, line.doc_id, username, *_list_content(line)]
    return [*content, repetitions] if repetitions else content


def draw_event_id(line_id: str, secret: str) -> str:
    """Return a UUID of version 8 (RFC 9562), determined by the secret and the line."""
    value = bytearray(hmac.digest(secret.encode(), line_id.encode(), "sha256")[:16])
    value[6], value[8] = value[6] & 0x0F | 0x80, value[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(value)))
