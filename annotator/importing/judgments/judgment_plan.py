"""Turn lines of a judgments file into events with stable names, so that the same line twice is one judgment.

The name (`line_id`) covers everything the line says, so a different grade later is a revision; so is an earlier grade given
again (2, 0, 2), also where the first 2 came with an earlier file. A judgment keeps it in a column of its own: no browser can
send it. Its event id is drawn with a secret. Refuses a line with a time in the future.
"""

import hashlib
import hmac
import json
import unicodedata
import uuid
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import JudgmentLine
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.messages import say, say_n
from annotator.domain.normal_forms import show_id
from annotator.formats.syntax.text import describe
from annotator.importing.new_ids import expect_query
from annotator.importing.texts.text_plan import DocumentKey, QueryText

OLD_NAMESPACE = uuid.UUID("8b6f2f5e-3f0e-5a53-9d0c-0f6d5c0f7c11")
OPERATOR_ONLY = say(
    "People who judge in the browser answer for themselves: leave out their lines. Only the operator can import them, with the "
    "command line."
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
        """Return whether the line spells the person's name in another way."""
        return _spell(self.line) != self.username


class StoredLine(NamedTuple):
    """A stored judgment that came with a file."""

    line_id: str
    username: str
    query_id: str
    outcome: str
    grade: int | None
    note: str | None


class ImportedAnnotator(NamedTuple):
    """A person who is named by a file as the annotator of its judgments."""

    pk: int
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class EventPlan:
    """The events of a file, in the order in which they are stored.

    `contradicting`: how many lines give another answer than an earlier line of the same annotator on the same pair.
    """

    events: tuple[ImportedJudgmentEvent, ...]
    contradicting: int


def plan_events(
    lines: Iterable[JudgmentLine], path: str, *, now: datetime, persons: Mapping[str, str] = NOBODY
) -> EventPlan:
    """Return the events of the lines, a line that says nothing new left out.

    `persons`: the username of each annotator's name (see `match_names`). BadInput names every time after `now`, and every line
    that contradicts a line under another spelling of the same person's name.

    A line without a time of its own that repeats what the annotator last said of the pair is the same judgment; one that goes
    back to an earlier answer is a revision, and its name holds how often that was said before. A line with a time of its own is
    the press of that time, wherever it stands and however often.
    """
    problems = Problems(path)
    events: dict[str, ImportedJudgmentEvent] = {}
    earlier_lines: dict[tuple[str, str, str], list[JudgmentLine]] = {}
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
        before = earlier_lines.setdefault((username, line.query_id, line.doc_id), [])
        answers = {(earlier.outcome, earlier.grade) for earlier in before}
        contradicting += bool(answers - {(line.outcome, line.grade)})
        for other in before:
            if _spell(other) != _spell(line) and (other.outcome, other.grade) != (line.outcome, line.grade):
                expected = say(
                    "the answer of line {line}, which is by the same annotator ({annotator})",
                    line=other.line,
                    annotator=repr(other.annotator),
                )
                problems.add(line.line, expected, f"{describe(line.grade)} by {line.annotator!r}")
                break
        repetitions = 0
        if judged_at is None and before and not _says_the_same(before[-1], line):
            repetitions = sum(_says_the_same(earlier, line) for earlier in before)
        if before and judged_at is None and _says_the_same(before[-1], line):
            continue
        before.append(line)
        line_id = _name_line(username, line, repetitions)
        event = ImportedJudgmentEvent(line_id, username, judged_at, line, repetitions)
        events.setdefault(line_id, event)
    problems.raise_if_any()
    return EventPlan(_order(events.values()), contradicting)


def list_overtaken(
    events: Iterable[ImportedJudgmentEvent], stored: Container[str]
) -> list[ImportedJudgmentEvent]:
    """Return the last lines that are stored already although an earlier line on their pair by their annotator is new.

    Stored alone, that earlier line would become current, although the file says that the last line is. Lines with a time of
    their own are left out.
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
    """Return the event with the name of a line that says again what was said so often before."""
    line_id = _name_line(event.username, event.line, repetitions)
    return replace(event, line_id=line_id, repetitions=repetitions)


def find_stored(
    events: Iterable[ImportedJudgmentEvent], stored: Iterable[StoredLine], path: str, *, dataset: str
) -> set[str]:
    """Return the names of the lines that are stored already.

    Under a name from before NAMED_SINCE, anybody could have stored something else on purpose: then the line is not stored
    yet. Raises BadInput if something else is stored under a name of today.
    """
    problems = Problems(path)
    by_name = {event.line_id: event for event in events}
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
    """Return a note on names that were taken for a person of another spelling. `persons`: username by name."""
    respelled = {
        name: person for name, person in persons.items() if unicodedata.normalize("NFC", name) != person
    }
    if not respelled:
        return ()
    listed = ", ".join(f"{show_id(name)} = {person}" for name, person in respelled.items())
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
    """Raise BadInput for every line under another spelling that contradicts the person's current judgment of its pair.

    `answers`: of each event, the outcome and grade of that judgment; None if there is none.
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


def _says_the_same(line: JudgmentLine, other: JudgmentLine) -> bool:
    return _list_content(line) == _list_content(other)


def _list_content(line: JudgmentLine) -> tuple[object, ...]:
    """Return what a line says of its pair."""
    return line.outcome, line.grade, line.note, line.judged_at, line.seconds


def _order(events: Iterable[ImportedJudgmentEvent]) -> tuple[ImportedJudgmentEvent, ...]:
    """Return the events in file order, but an annotator's answers on a pair by their times if every one has a time."""
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
    browser_judges: Iterable[str],
) -> None:
    """Raise BadInput for every line that must not be stored.

    Those are lines with an unknown query, a pair that a lead has settled, an annotator whose name looks like another's
    (`namesakes`: the existing name by the new one), an annotator in `real_people`, who must not get simulated
    judgments, or one in `browser_judges`, for whom no file of a lead may speak.
    """
    problems = Problems(path)
    queries, settled, real = set(query_ids), set(adjudicated), set(real_people)
    judges, hint = set(browser_judges), ""
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
        if event.username in judges:
            problems.add(
                line.line, say("an annotator who does not judge in the browser"), describe(event.username)
            )
            hint = OPERATOR_ONLY
    problems.raise_if_any(hint=hint)


def name_pairs(
    events: Iterable[ImportedJudgmentEvent],
    queries: Mapping[str, QueryText],
    documents: Mapping[str, DocumentKey],
) -> dict[tuple[int, int], tuple[str, str]]:
    """Return (query_id, doc_id) of every judged pair, by (query_pk, document_pk)."""
    names = dict.fromkeys((event.line.query_id, event.line.doc_id) for event in events)
    return {(queries[query_id].pk, documents[doc_id].pk): (query_id, doc_id) for query_id, doc_id in names}


def to_rows(
    events: Iterable[ImportedJudgmentEvent],
    *,
    queries: Mapping[str, QueryText],
    documents: Mapping[str, DocumentKey],
    pairs: Mapping[tuple[int, int], int],
    annotators: Mapping[str, ImportedAnnotator],
    rubric_pk: int,
    secret: str,
    now: datetime,
) -> list[dict[str, Any]]:
    """Return the events as they are stored: independent judgments, received now and, unless a line says when, made now.

    `pairs`: pair_pk by (query_pk, document_pk). `secret`: without it nobody can compute an event id.
    """
    return [
        {
            "event_id": _draw_event_id(event.line_id, secret),
            "line_id": event.line_id,
            "pair_pk": pairs[queries[event.line.query_id].pk, documents[event.line.doc_id].pk],
            "annotator_pk": annotators[event.username].pk,
            "rubric_pk": rubric_pk,
            "outcome": event.line.outcome,
            "grade": event.line.grade,
            "note": event.line.note,
            "purpose": COUNTED_PURPOSE,
            "document_sha256": documents[event.line.doc_id].sha256,
            "judged_at": event.judged_at or now,
            "received_at": now,
            "seconds": event.line.seconds,
        }
        for event in events
    ]


def _name_line(username: str, line: JudgmentLine, repetitions: int) -> str:
    content = _list_names(username, line, repetitions)
    return NAMED_SINCE + hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def name_line_as_before(dataset: str, event: ImportedJudgmentEvent) -> str:
    """Return the name of a line that was imported before names began with NAMED_SINCE: its event id of that time."""
    content = [dataset, *_list_names(event.username, event.line, event.repetitions)]
    return str(uuid.uuid5(OLD_NAMESPACE, json.dumps(content, ensure_ascii=False)))


def _list_names(username: str, line: JudgmentLine, repetitions: int) -> list[object]:
    """Return what names a line. The first time something is said, the number of repetitions is left out."""
    content: list[object] = [line.query_id, line.doc_id, username, *_list_content(line)]
    return [*content, repetitions] if repetitions else content


def _draw_event_id(line_id: str, secret: str) -> str:
    """Return a UUID of version 8 (RFC 9562) that the secret and the line decide."""
    value = bytearray(hmac.digest(secret.encode(), line_id.encode(), "sha256")[:16])
    value[6], value[8] = value[6] & 0x0F | 0x80, value[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(value)))
