"""List for leads the worklist of the guideline, and the decisions that led to each version. Read only."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain

from sqlalchemy.orm import Session

from annotator.domain.people import Actor
from annotator.guideline import feedback_sql as stored
from annotator.guideline.feedback import make_worklist
from annotator.guideline.records import AskedQuestion, DecisionExample, GuidelineWorklist
from annotator.labeling.questions_service import list_for_guideline
from annotator.people.roles_service import enter_dataset, open_dataset
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import find_pair_pks, list_to_judge, note_seen
from annotator.storage.lookup import key_of

OTHERS_MEASURED = 2_000


def list_worklist(database: Database, actor: Actor, dataset: str, *, now: datetime) -> GuidelineWorklist:
    """Return the worklist from current decisions and marked questions. For leads.

    Leaves out pairs that the lead must still judge. The lead can no longer judge the pairs shown.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        decisions, pair_pks = _select_visible(
            session, actor, stored.list_current_decisions(session, dataset_pk)
        )
        lengths = stored.read_lengths(session, dataset_pk, _choose_measured_pairs(decisions))
    note_seen(database, pair_pks, actor.person_id, now=now)
    questions = [
        AskedQuestion(
            question.number,
            question.pair,
            question.query_id,
            question.query,
            question.doc_id,
            question.title,
            question.text,
            question.answer or "",
        )
        for question in list_for_guideline(database, actor, dataset)
    ]
    return make_worklist(decisions, questions, lengths)


def list_decisions_behind(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> Mapping[int, Sequence[DecisionExample]]:
    """Return {version: decisions that led to it}. For leads, with the rules of `list_worklist`."""
    with database.read() as session:
        by_version = stored.list_decisions_behind_versions(
            session, key_of(enter_dataset(session, actor, dataset, "lead").pk)
        )
        visible, pair_pks = _select_visible(session, actor, list(chain.from_iterable(by_version.values())))
    note_seen(database, pair_pks, actor.person_id, now=now)
    pairs = {decision.pair for decision in visible}
    return {
        version: [decision for decision in decisions if decision.pair in pairs]
        for version, decisions in by_version.items()
    }


def _select_visible(
    session: Session, actor: Actor, decisions: Sequence[DecisionExample]
) -> tuple[Sequence[DecisionExample], set[int]]:
    """Return (decisions that the lead may see, pair_pks that the lead thereby sees)."""
    if actor.person_id is None:
        return decisions, set()
    pks = find_pair_pks(session, {decision.pair for decision in decisions})
    hidden = list_to_judge(session, actor.person_id, pks.values())
    visible = [decision for decision in decisions if pks[decision.pair] not in hidden]
    return visible, set(pks.values()) - hidden


def _choose_measured_pairs(decisions: Sequence[DecisionExample]) -> list[str]:
    """Return the misread pairs and some others, to compare the lengths of their documents."""
    misread = [decision.pair for decision in decisions if decision.cause == "misread_document"]
    others = [decision.pair for decision in decisions if decision.cause != "misread_document"]
    return [*misread, *others[:OTHERS_MEASURED]] if misread else []
