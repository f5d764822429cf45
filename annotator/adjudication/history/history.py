"""The audit log and the history of one pair: their records, and sentences such as "decided 2: …".

A pair's history names leads, who are responsible for their decisions, and never an annotator. Sentences are
translated; texts of people stay as they are. Columns and names in files are always English.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time, tzinfo
from typing import Any

from annotator.adjudication.records import CAUSE_NAMES
from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, join, say, say_n
from annotator.domain.people import ROLE_NAMES
from annotator.formats.syntax.spreadsheet import write_sheet, write_time


@dataclass(frozen=True, slots=True)
class AuditLogFilter:
    """Selects entries of the audit log; None: no condition."""

    pair: str | None = None  # the key
    action: str | None = None
    person: str | None = None  # a username; "operator" for the command line
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditLogEntry:
    """Something that a lead did."""

    number: int
    at: datetime
    username: str | None  # None for the operator at the command line, like the name
    name: str | None
    action: str
    pair: str | None  # the key; None, like the ids, if it is about no single pair
    query_id: str | None
    doc_id: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    hidden: bool = False  # the reader may still judge the pair, so `before` and `after` are left out


@dataclass(frozen=True, slots=True)
class AuditLogPage:
    """A page of the audit log, the latest entry first."""

    total: int  # entries that the filter lets through
    events: tuple[AuditLogEntry, ...]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that happened to a pair."""

    at: datetime
    who: str  # a lead's name, "Annotator A", or "" if it was nobody
    action: str  # for programs
    said: Message  # the event as a sentence without its subject; also the JSON key


def read_day_or_time(text: str, zone: tzinfo | None = None, *, last: bool = False) -> datetime:
    """Return the time of a text such as "2026-03-04" or "2026-03-04T12:00+09:00" (ISO 8601).

    `zone`: the zone of a text without one (None: this computer's). A day means its first moment, with `last`
    its last. Raises ValidationError for any other text, and if the year in UTC is not 1 to 9999.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        if len(text.strip()) <= len("2026-03-04") and last:
            moment = datetime.combine(moment, time.max)
        if moment.tzinfo is None:
            moment = moment.astimezone() if zone is None else moment.replace(tzinfo=zone)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):  # OverflowError: the year 0 or 10000 in UTC
        raise ValidationError(
            say(
                "Invalid time {found!r}: enter a day such as 2026-03-04, or a time such as 2026-03-04T12:00.",
                found=text,
            )
        ) from None
    return moment


PURPOSES = {
    "conditional": say("further judgment"),
    "training": say("training"),
    "gold": say("gold"),
    "repeat": say("repeat"),
}
SENTENCES: Mapping[str, Message] = {
    "pooled": say("added to the pool"),
    "retired": say("left the pool"),
    "asked": say("asked a question"),
    "objected": say("objected to the decision"),
    "set to later": say("set the pair to later"),
    "asked to discuss": say("asked the annotators to discuss the pair"),
    "closed discussion": say("closed the discussion"),
    "looked up names": say("viewed names and systems"),
    "answered question": say("answered the question"),
    "proposed": say("proposed a decision (hidden until you propose one or the pair is decided)"),
    "withdrew": say("withdrew the decision"),
    "undid policy": say("undid a bulk decision"),
    "archived dataset": say("archived the dataset"),
    "unarchived dataset": say("unarchived the dataset"),
    "exported dataset": say("exported the whole dataset"),
    "restored dataset": say("restored the dataset from a file"),
}
ACTION_NAMES: Mapping[str, Message] = {
    "decided": say("Decided"),
    "proposed": say("Proposed a decision"),
    "withdrew": say("Withdrew a decision"),
    "settled by policy": say("Settled in bulk"),
    "undid policy": say("Undid a bulk decision"),
    "decided from file": say("Decided from a file"),
    "assigned": say("Assigned a pair"),
    "set to later": say("Set a pair to later"),
    "asked to discuss": say("Asked for a discussion"),
    "closed discussion": say("Closed a discussion"),
    "looked up names": say("Viewed names"),
    "answered question": say("Answered a question"),
    "exported queue": say("Exported the queue"),
    "published guideline": say("Published a guideline"),
    "changed settings": say("Changed settings"),
    "ordered documents": say("Ordered documents"),
    "accepted duplicates": say("Accepted grades of near duplicates"),
    "archived dataset": say("Archived the dataset"),
    "unarchived dataset": say("Unarchived the dataset"),
    "exported dataset": say("Exported the dataset"),
    "restored dataset": say("Restored the dataset"),
    "invited": say("Invited a person"),
    "revoked invitation": say("Revoked an invitation"),
    "joined": say("Joined by invitation"),
}
"""The names of the actions in the audit log, for filters."""


def name_answer(outcome: str, grade: int | None) -> str:
    """Return the grade as text, or "later" or "cannot rate"."""
    if outcome == "later":
        return say("later")
    return say("cannot rate") if grade is None else str(grade)


def describe_event(action: str, values: Mapping[str, Any]) -> Message:
    """Describe an event of a pair. `values`: those of a `HistoryEvent`."""
    if action in ("judged", "checked"):
        return _add_words(_describe_judgment(action, values), values.get("words"))
    if action in ("revised", "stood by"):
        answer = name_answer(values["outcome"], values["grade"])
        stood = say("kept {answer} in the discussion", answer=answer)
        sentence = (
            stood if action == "stood by" else say("changed to {answer} in the discussion", answer=answer)
        )
        return _add_words(sentence, values.get("words"))
    if action == "imported":
        return say("imported grade {grade} from an earlier ground truth", grade=values["grade"])
    if action == "taken over":
        return say("took grade {grade} from the near duplicate {of}", **values)
    if action == "suggested":
        return say("grade {grade} suggested from related documents (rule {rule})", **values)
    if action == "released":
        return say("published the pair in release {version} with grade {grade}", **values)
    if "outcome" in values:
        return _describe_decision(action, values)
    if action in ("asked", "objected"):
        return _add_words(SENTENCES[action], values.get("words"))
    return describe_entry(action, values.get("before"), values.get("after"))


def describe_entry(action: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Message:
    """Describe an entry of the audit log by itself."""
    new = after or {}
    if action == "assigned":
        to = new.get("to")
        return say("assigned the pair to {to}", to=to) if to else say("removed the assignment")
    if action == "answered question":
        return _add_words(SENTENCES[action], new.get("answer"))
    if action == "exported queue":
        return say_n(
            "exported {n:,} pair of the queue",
            "exported {n:,} pairs of the queue",
            int(new.get("pairs") or 0),
        )
    if action == "accepted duplicates":
        return say_n(
            "accepted the grade of a near duplicate for {n:,} pair",
            "accepted the grades of near duplicates for {n:,} pairs",
            int(new.get("pairs") or 0),
        )
    if action == "ordered documents":
        return say_n(
            "ordered the documents of {n:,} query",
            "ordered the documents of {n:,} queries",
            int(new.get("queries") or 0),
        )
    if action == "looked up names" and "pairs" in new:
        return say_n(
            "viewed the grades of {names} on {n:,} pair",
            "viewed the grades of {names} on {n:,} pairs",
            int(new["pairs"]),
            names=", ".join(new.get("annotators", ())),
        )
    if action in ("invited", "revoked invitation", "joined"):
        return _describe_invitation(action, new)
    if action == "published guideline":
        return _add_words(_describe_version(new), new.get("why"))
    if action == "changed settings":
        return say(
            "changed settings: {names}",
            names=", ".join(f"{name} = {_show(new[name])}" for name in sorted(new)),
        )
    if new.get("outcome") and action not in ("withdrew", "undid policy"):
        return _describe_decision(
            action, {**new, "words": new.get("rationale"), "before": _find_answer(before)}
        )
    return _add_words(
        SENTENCES.get(action, say("other action: {action}", action=action)), new.get("rationale")
    )


def _describe_judgment(action: str, values: Mapping[str, Any]) -> Message:
    answer, before = name_answer(values["outcome"], values["grade"]), values["before"]
    if action == "checked":
        if values["settled"] is None:
            return say("judged {answer} in quality control", answer=answer)
        return say(
            "judged {answer} in quality control (settled grade: {settled})",
            answer=answer,
            settled=values["settled"],
        )
    if values["outcome"] == "later":
        return say("set the pair to later")
    if values["purpose"] in PURPOSES:
        return say("judged {answer} ({purpose})", answer=answer, purpose=PURPOSES[values["purpose"]])
    if before is None or before[0] == "later":
        return say("judged {answer}", answer=answer)
    return say("changed the judgment from {before} to {answer}", answer=answer, before=name_answer(*before))


def _describe_decision(action: str, values: Mapping[str, Any]) -> Message:
    if values["outcome"] == "withdrawn":
        return _add_words(
            SENTENCES["undid policy" if action == "undid policy" else "withdrew"], values.get("words")
        )
    answer, before = name_answer(values["outcome"], values.get("grade")), values.get("before")
    if action == "proposed":
        sentence = say("proposed {answer}", answer=answer)
    elif action == "settled by policy":
        sentence = say("decided {answer} in bulk", answer=answer)
    elif action == "decided from file":
        sentence = say("decided {answer} from a file", answer=answer)
    elif before is not None:
        sentence = say(
            "changed the decision from {before} to {answer}", answer=answer, before=name_answer(*before)
        )
    else:
        sentence = say("decided {answer}", answer=answer)
    why = [CAUSE_NAMES[values["cause"]]] if values.get("cause") in CAUSE_NAMES else []
    if values.get("in_guideline"):
        why.append(say("belongs in the guideline"))
    if len(why) > 1:
        why = [say("{cause}, {flag}", cause=why[0], flag=why[1])]
    return _add_words(
        say("{said}; {why}", said=sentence, why=why[0]) if why else sentence, values.get("words")
    )


def _describe_version(after: Mapping[str, Any]) -> Message:
    version = after.get("version")
    if after.get("led"):
        return say(
            "cited the decision on this pair in version {version} of the guideline",
            version=version,
        )
    if after.get("change") == "semantic":
        return say(
            "published version {version} of the guideline, which changes the meaning of grades",
            version=version,
        )
    return say("published version {version} of the guideline", version=version)


def _find_answer(before: Mapping[str, Any] | None) -> tuple[str, int | None] | None:
    if before is None or before.get("outcome") in (None, "withdrawn"):
        return None
    return before["outcome"], before.get("grade")


def _describe_invitation(action: str, new: Mapping[str, Any]) -> Message:
    held = str(new.get("role"))
    role = ROLE_NAMES.get(held, held)
    if action == "joined":
        return say("accepted an invitation as {role}", role=role)
    if action == "invited":
        return _add_words(say("invited a person as {role}", role=role), new.get("note"))
    return _add_words(say("revoked an invitation as {role}", role=role), new.get("note"))


def _add_words(sentence: Message, words: str | None) -> Message:
    return join([sentence, words], ": ") if words else sentence


def _show(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_show(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_show, value)) or "none"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


COLUMNS = (
    "number",
    "at",
    "username",
    "name",
    "action",
    "pair",
    "query_id",
    "doc_id",
    "before",
    "after",
    "hidden",
)


def write_csv(events: Iterable[AuditLogEntry]) -> Iterator[str]:
    """Yield a header line, then a line for each entry, with `before` and `after` as JSON. For spreadsheets."""
    return write_sheet(COLUMNS, ([getattr(event, name) for name in COLUMNS] for event in events))


def write_json_lines(events: Iterable[AuditLogEntry]) -> Iterator[str]:
    """Yield each entry as one line with a JSON object."""
    for event in events:
        yield json.dumps({**asdict(event), "at": write_time(event.at)}, ensure_ascii=False) + "\n"
