"""Read the events that a browser sends; each is one key press on the pair that was on the screen.

Refuses events that no key press can produce: an id that is not a random UUID, a grade that is not 0-3, a
grade without "graded", a time without a zone. A refusal names the event, so the browser can keep the event
and show the reason.
"""

from collections.abc import Mapping
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.grades import OUTCOMES, check_grade
from annotator.domain.judgments import (
    REASONS,
    JudgmentEvent,
    RefusedEvent,
    read_event_id,
    read_pressed_at,
    read_seconds,
)
from annotator.domain.texts import holds_no_text, read_note

MAX_BROWSER = 64
MAX_NUMBER = 2**53  # what JavaScript counts exactly
NOT_THE_BROWSERS = ("purpose", "judged_at", "received_at", "stale", "late")  # the server alone says these


def read_events(sent: object) -> tuple[list[JudgmentEvent], list[RefusedEvent]]:
    """Return the events of a request in order, and the refused ones.

    Raises ValidationError if `sent` is not a list.
    """
    if not isinstance(sent, list):
        raise ValidationError(f"events: expected a list, found {type(sent).__name__}")
    events: list[JudgmentEvent] = []
    refusals: list[RefusedEvent] = []
    for entry in sent:
        if not isinstance(entry, Mapping):
            raise ValidationError(f"events: expected objects, found {type(entry).__name__}")
        try:
            events.append(_read_event(entry))
        except ValidationError as error:
            refusals.append(RefusedEvent(_name(entry.get("id", "")), str(error)))
    return events, refusals


def _read_event(entry: Mapping[str, Any]) -> JudgmentEvent:
    for name in NOT_THE_BROWSERS:
        if name in entry:
            raise ValidationError(f"{name}: expected nothing, found {entry[name]!r:.80}")
    outcome = entry.get("outcome")
    if outcome not in OUTCOMES:
        raise ValidationError(f"outcome: expected one of {', '.join(OUTCOMES)}, found {outcome!r}")
    grade = entry.get("grade")
    if outcome != "graded" and grade is not None:
        raise ValidationError(f"grade: expected none with the outcome {outcome}, found {grade!r}")
    version = entry.get("guideline_version")
    browser, number = _read_browser(entry)
    note, reason = read_note(entry.get("note")), _read_reason(entry, outcome)
    if reason == "other" and note is None:
        raise ValidationError("note: expected the reason in words with the reason other, found nothing")
    return JudgmentEvent(
        event_id=read_event_id(entry.get("id")),
        pair=_read_text(entry, "pair") or "",
        outcome=outcome,
        grade=check_grade(grade) if outcome == "graded" else None,
        note=note,
        pressed_at=read_pressed_at(entry.get("pressed_at")),
        seconds=read_seconds(entry.get("seconds")),
        document_sha256=_read_text(entry, "document_sha256"),
        guideline_version=version if type(version) is int else None,
        reason=reason,
        browser=browser,
        number=number,
    )


def _name(event_id: object) -> str:
    """Return an id in a form that can be sent back."""
    return str(event_id).encode("utf-8", "replace").decode()


def _read_text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    if value is not None and (not isinstance(value, str) or holds_no_text(value)):
        raise ValidationError(f"{key}: expected a text, found {value!r:.80}")
    return value


def _read_browser(entry: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """Return the browser of the press and the number of the press in it: both or neither."""
    browser, number = _read_text(entry, "browser"), entry.get("browser_number")
    if browser is None and number is None:
        return None, None
    if browser is None or not 1 <= len(browser) <= MAX_BROWSER:
        raise ValidationError(f"browser: expected 1 to {MAX_BROWSER} characters, found {browser!r:.80}")
    if type(number) is not int or not 0 <= number <= MAX_NUMBER:
        raise ValidationError(f"browser_number: expected a whole number from 0, found {number!r:.80}")
    return browser, number


def _read_reason(entry: Mapping[str, Any], outcome: str) -> str | None:
    """Return why the pair cannot be rated. Scripts may leave it out; the panel always asks."""
    reason = _read_text(entry, "reason")
    if reason is None:
        return None
    if outcome != "unrateable" or reason not in REASONS:
        raise ValidationError(
            f"reason: expected one of {', '.join(REASONS)} with the outcome unrateable, found {reason!r}"
        )
    return reason
