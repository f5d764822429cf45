"""Judgment lines as events: each with an id of its own, so that the same line twice is one judgment.

A rule between the reader and the database. The id covers everything the line says, so a different grade
later is another event: a revision. Refused, with the line: a time that is yet to come.
"""

import json
import unicodedata
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import JudgmentLine
from annotator.formats.text import describe

NAMESPACE = uuid.UUID("8b6f2f5e-3f0e-5a53-9d0c-0f6d5c0f7c11")


@dataclass(frozen=True, slots=True)
class JudgmentEvent:
    """One line with its id; `username` is the annotator in NFC, as people are stored; `judged_at` is None where
    the line says nothing."""

    event_id: str
    username: str
    judged_at: datetime | None
    line: JudgmentLine


def list_events(
    dataset: str, lines: Iterable[JudgmentLine], path: str, *, now: datetime
) -> list[JudgmentEvent]:
    """The events of the lines, in order, the same one only once. BadInput names every time after `now`."""
    problems = Problems(path)
    events: dict[str, JudgmentEvent] = {}
    for line in lines:
        judged_at = datetime.fromisoformat(line.judged_at) if line.judged_at else None
        if judged_at is not None and judged_at > now:
            problems.add(line.line, f"judged_at not later than now ({now.isoformat()})", str(line.judged_at))
        username = unicodedata.normalize("NFC", line.annotator)
        event_id = _event_id(dataset, username, line)
        events.setdefault(event_id, JudgmentEvent(event_id, username, judged_at, line))
    problems.raise_if_any()
    return list(events.values())


def check_targets(
    events: Iterable[JudgmentEvent],
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


def to_row(
    event: JudgmentEvent,
    *,
    pair_pk: int,
    annotator_pk: int,
    rubric_pk: int,
    document_sha256: str | None,
    now: datetime,
) -> dict[str, Any]:
    """The event as it is stored: an independent judgment, received now and, unless it says when, made now."""
    return {
        "event_id": event.event_id,
        "pair_pk": pair_pk,
        "annotator_pk": annotator_pk,
        "rubric_pk": rubric_pk,
        "outcome": event.line.outcome,
        "grade": event.line.grade,
        "note": event.line.note,
        "purpose": "independent",
        "document_sha256": document_sha256,
        "judged_at": event.judged_at or now,
        "received_at": now,
        "seconds": event.line.seconds,
    }


def _event_id(dataset: str, username: str, line: JudgmentLine) -> str:
    said = [
        dataset, line.query_id, line.doc_id, username,
        line.outcome, line.grade, line.note, line.judged_at, line.seconds,
    ]  # fmt: skip
    return str(uuid.uuid5(NAMESPACE, json.dumps(said, ensure_ascii=False)))
