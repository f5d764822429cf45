"""Turn lines of a judgments file into events with stable ids, so that the same line twice is one judgment.

The id covers everything the line says, so a different grade later is a revision; so is an earlier grade given again
(2, 0, 2), also where the first 2 came with an earlier file. Refuses a line with a time in the future.
"""

import json
import unicodedata
import uuid
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import JudgmentLine
from annotator.formats.text import describe

NAMESPACE = uuid.UUID("8b6f2f5e-3f0e-5a53-9d0c-0f6d5c0f7c11")


@dataclass(frozen=True, slots=True)
class ImportedJudgmentEvent:
    """One line with its id; `username` is the annotator in NFC, as people are stored; `judged_at` is None where
    the line says nothing."""

    event_id: str
    username: str
    judged_at: datetime | None
    line: JudgmentLine


@dataclass(frozen=True, slots=True)
class EventPlan:
    """The events of a file, in the order in which they are stored. `contradicting`: how many lines give another answer than
    an earlier line of the same annotator on the same pair."""

    events: tuple[ImportedJudgmentEvent, ...]
    contradicting: int


def plan_events(dataset: str, lines: Iterable[JudgmentLine], path: str, *, now: datetime) -> EventPlan:
    """Return the events of the lines, a line that says nothing new left out. BadInput names every time after `now`.

    A line without a time of its own that repeats what the annotator last said of the pair is the same judgment; one that goes
    back to an earlier answer is a revision, and its id holds how often that was said before. A line with a time of its own is
    the press of that time, wherever it stands and however often.
    """
    problems = Problems(path)
    events: dict[str, ImportedJudgmentEvent] = {}
    said: dict[tuple[str, str, str], list[JudgmentLine]] = {}
    contradicting = 0
    for line in lines:
        judged_at = datetime.fromisoformat(line.judged_at) if line.judged_at else None
        if judged_at is not None and judged_at > now:
            problems.add(line.line, f"judged_at not later than now ({now.isoformat()})", str(line.judged_at))
        username = unicodedata.normalize("NFC", line.annotator)
        before = said.setdefault((username, line.query_id, line.doc_id), [])
        answers = {(earlier.outcome, earlier.grade) for earlier in before}
        contradicting += bool(answers - {(line.outcome, line.grade)})
        times_said = 0
        if judged_at is None and before and not _says_the_same(before[-1], line):
            times_said = sum(_says_the_same(earlier, line) for earlier in before)
        if before and judged_at is None and _says_the_same(before[-1], line):
            continue
        before.append(line)
        event_id = _event_id(dataset, username, line, times_said)
        events.setdefault(event_id, ImportedJudgmentEvent(event_id, username, judged_at, line))
    problems.raise_if_any()
    return EventPlan(_order(events.values()), contradicting)


def list_overtaken(
    events: Iterable[ImportedJudgmentEvent], known: Container[str]
) -> list[ImportedJudgmentEvent]:
    """Return each last line, without a time, of an annotator on a pair that is stored already while one before it in the file is new.

    Stored as it is, the new one would hold: the order of the lines says that the last does.
    """
    last: dict[tuple[str, str, str], tuple[ImportedJudgmentEvent, bool]] = {}
    for event in events:
        key = (event.username, event.line.query_id, event.line.doc_id)
        new = event.judged_at is None and event.event_id not in known
        last[key] = event, new or (key in last and last[key][1])
    return [
        event for event, new in last.values() if new and event.judged_at is None and event.event_id in known
    ]


def name_again(dataset: str, event: ImportedJudgmentEvent, times_said: int) -> ImportedJudgmentEvent:
    """Return the event with the id of a line that says again what was said so often before."""
    return replace(event, event_id=_event_id(dataset, event.username, event.line, times_said))


def _says_the_same(one: JudgmentLine, other: JudgmentLine) -> bool:
    return _what(one) == _what(other)


def _what(line: JudgmentLine) -> tuple[object, ...]:
    """What a line says of its pair."""
    return line.outcome, line.grade, line.note, line.judged_at, line.seconds


def _order(events: Iterable[ImportedJudgmentEvent]) -> tuple[ImportedJudgmentEvent, ...]:
    """In the order of the file; but answers of an annotator on a pair by their times, where every one of them has one."""
    places: dict[tuple[str, str, str], list[ImportedJudgmentEvent]] = {}
    listed = list(events)
    for event in listed:
        key = (event.username, event.line.query_id, event.line.doc_id)
        places.setdefault(key, []).append(event)
    for group in places.values():
        times = [event.judged_at for event in group if event.judged_at is not None]
        if len(group) > 1 and len(times) == len(group):
            group.sort(key=lambda event: event.judged_at or times[0])
    waiting = {key: iter(group) for key, group in places.items()}
    return tuple(next(waiting[event.username, event.line.query_id, event.line.doc_id]) for event in listed)


def check_targets(
    events: Iterable[ImportedJudgmentEvent],
    path: str,
    *,
    query_ids: Iterable[str],
    adjudicated: Iterable[tuple[str, str]],
    namesakes: Mapping[str, str],
    real_people: Iterable[str],
) -> None:
    """BadInput for every line about a query there is not, or about a pair that a lead has settled; whose
    annotator is known in other case (`namesakes`: by name as written), or is somebody in `real_people`, who
    must not be credited with a simulated judgment."""
    problems = Problems(path)
    queries, settled, real = set(query_ids), set(adjudicated), set(real_people)
    for event in events:
        line = event.line
        if line.query_id not in queries:
            problems.add(line.line, "a query_id of this dataset", describe(line.query_id))
        elif (line.query_id, line.doc_id) in settled:
            expected = "a pair without an adjudication (this one is settled)"
            problems.add(line.line, expected, f"{describe(line.query_id)}, {describe(line.doc_id)}")
        if event.username in namesakes:
            problems.add(line.line, f"the annotator as {describe(namesakes[event.username])}", event.username)
        if event.username in real:
            problems.add(line.line, "a simulated annotator", f"the person {describe(event.username)}")
    problems.raise_if_any()


def name_pairs(
    events: Iterable[ImportedJudgmentEvent],
    queries: Mapping[str, int],
    documents: Mapping[str, tuple[int, str | None]],
) -> dict[tuple[int, int], tuple[str, str]]:
    """(query_id, doc_id) of every pair that is judged, by (query_pk, document_pk)."""
    names = dict.fromkeys((event.line.query_id, event.line.doc_id) for event in events)
    return {(queries[query_id], documents[doc_id][0]): (query_id, doc_id) for query_id, doc_id in names}


def to_rows(
    events: Iterable[ImportedJudgmentEvent],
    *,
    queries: Mapping[str, int],
    documents: Mapping[str, tuple[int, str | None]],
    pairs: Mapping[tuple[int, int], int],
    people: Mapping[str, tuple[int, bool]],
    rubric_pk: int,
    now: datetime,
) -> list[dict[str, Any]]:
    """The events as they are stored: independent judgments, received now and, unless a line says when, made now.

    `pairs`: pair_pk by (query_pk, document_pk). `documents` and `people` give a key first.
    """
    return [
        {
            "event_id": event.event_id,
            "pair_pk": pairs[queries[event.line.query_id], documents[event.line.doc_id][0]],
            "annotator_pk": people[event.username][0],
            "rubric_pk": rubric_pk,
            "outcome": event.line.outcome,
            "grade": event.line.grade,
            "note": event.line.note,
            "purpose": "independent",
            "document_sha256": documents[event.line.doc_id][1],
            "judged_at": event.judged_at or now,
            "received_at": now,
            "seconds": event.line.seconds,
        }
        for event in events
    ]


def _event_id(dataset: str, username: str, line: JudgmentLine, times_said: int) -> str:
    said: list[object] = [dataset, line.query_id, line.doc_id, username, *_what(line)]
    if times_said:  # the first time has the id that it always had
        said.append(times_said)
    return str(uuid.uuid5(NAMESPACE, json.dumps(said, ensure_ascii=False)))
