"""What decided disputes teach the guideline: the worklist, and which decisions led to which version.

Stands after adjudication and beside `guideline/`, which notes, when a version is published, the decisions that led to it.
Refuses whoever is not a lead of the dataset. Nothing is changed here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.people import Actor
from annotator.guideline import feedback_sql as stored
from annotator.guideline.feedback import sum_up
from annotator.guideline.records import AskedQuestion as AskedQuestion
from annotator.guideline.records import DecisionExample as DecisionExample
from annotator.guideline.records import GuidelineWorklist as GuidelineWorklist
from annotator.guideline.records import Lesson as Lesson
from annotator.labeling.questions_service import list_for_guideline
from annotator.people.service import require_role
from annotator.storage.database import Database
from annotator.storage.disclosures import find_pair_pks, list_to_judge, note_seen
from annotator.storage.lookup import find_dataset, key_of

OTHERS_MEASURED = 2_000


def list_lessons(database: Database, actor: Actor, dataset: str, *, now: datetime) -> GuidelineWorklist:
    """What the decisions that hold, and the questions marked for the guideline, teach. For leads: without the decisions on
    pairs that they have still to judge; what they are told they judge no more."""
    with database.read() as session:
        dataset_pk = _enter(session, actor, dataset)
        taught, shown = _choose_told(session, actor, stored.list_taught(session, dataset_pk))
        characters = stored.read_lengths(session, dataset_pk, _choose_measured(taught))
    note_seen(database, shown, actor.person_id, now=now)
    asked = [
        AskedQuestion(
            one.number, one.pair, one.query_id, one.query, one.doc_id, one.title, one.text, one.answer or ""
        )
        for one in list_for_guideline(database, actor, dataset)
    ]
    return sum_up(taught, asked, characters)


def count_open_lessons(database: Database, actor: Actor, dataset: str) -> int:
    """How many decisions and questions wait for the guideline. For leads."""
    with database.read() as session:
        return stored.count_waiting(session, _enter(session, actor, dataset))


def list_decisions_behind(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> Mapping[int, Sequence[DecisionExample]]:
    """The decisions that led to each version of the guideline, by version. For leads, as `list_lessons`."""
    with database.read() as session:
        led = stored.list_led(session, _enter(session, actor, dataset))
        told, shown = _choose_told(session, actor, [one for taught in led.values() for one in taught])
    note_seen(database, shown, actor.person_id, now=now)
    left = {one.pair for one in told}
    return {version: [one for one in taught if one.pair in left] for version, taught in led.items()}


def _choose_told(
    session: Session, actor: Actor, taught: Sequence[DecisionExample]
) -> tuple[Sequence[DecisionExample], set[int]]:
    """Those that the lead may be told, and their pairs (pair_pk)."""
    if actor.person_id is None:
        return taught, set()
    pks = find_pair_pks(session, {one.pair for one in taught})
    hidden = list_to_judge(session, actor.person_id, pks.values())
    return [one for one in taught if pks[one.pair] not in hidden], set(pks.values()) - hidden


def _choose_measured(taught: Sequence[DecisionExample]) -> list[str]:
    """The pairs whose documents' lengths tell something: misread ones, and some others to compare them with."""
    misread = [case.pair for case in taught if case.cause == "misread_document"]
    others = [case.pair for case in taught if case.cause != "misread_document"]
    return [*misread, *others[:OTHERS_MEASURED]] if misread else []


def _enter(session: Session, actor: Actor, dataset: str) -> int:
    dataset_pk = key_of(find_dataset(session, dataset).pk)
    require_role(session, actor, dataset_pk, "lead")
    return dataset_pk
