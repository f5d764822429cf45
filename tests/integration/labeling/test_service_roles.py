"""Without a role on the dataset every service of labeling refuses, and services for leads refuse annotators."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import delete
from sqlmodel import col

from annotator.domain.errors import NotAllowed
from annotator.domain.grades import DEFAULT_RUBRIC
from annotator.domain.people import Actor
from annotator.guideline import service as guideline
from annotator.labeling import assignment_service as assignment
from annotator.labeling import calibration_service as calibration
from annotator.labeling import my_work_service as work
from annotator.labeling import questions_service as questions
from annotator.labeling import service as labeling
from annotator.labeling.assignment import QueryFilter, QuerySelection
from annotator.labeling.assignment_steps import AssignmentStep, AssignmentUndo
from annotator.pooling.proposals import proposals_service as proposals
from annotator.quality import service as quality
from annotator.storage.database import Database
from annotator.storage.tables.central import MembershipRow
from tests.integration.labeling_world import NOW, World

Act = Callable[[Database, Actor, str], object]
EVENT = {"id": str(UUID(int=1, version=4)), "grade": 1}
STEP = AssignmentStep("assign", ("ann",), QuerySelection(category="howto"))
CHOSEN = QuerySelection(query_ids=("Q0",))

FOR_ANNOTATORS: dict[str, Act] = {
    "submit_judgments": lambda d, a, p: labeling.submit_judgments(
        d, a, "d", events=[], have=[p], want=1, now=NOW
    ),
    "read_whole_text": lambda d, a, p: labeling.read_whole_text(d, a, "d", p),
    "read_document_beginning": lambda d, a, p: labeling.read_document_beginning(d, a, "d", p, characters=9),
    "list_versions": lambda d, a, p: guideline.list_versions(d, a, "d"),
    "read_version": lambda d, a, p: guideline.read_version(d, a, "d"),
    "compare_versions": lambda d, a, p: guideline.compare_versions(d, a, "d", 1, 1),
    "explain_change": lambda d, a, p: guideline.explain_change(d, a, "d", p),
    "explain_versions_since": lambda d, a, p: guideline.explain_versions_since(d, a, "d", 1),
    "hand_out_check": lambda d, a, p: calibration.hand_out_check(d, a, "d", p, now=NOW),
    "show_own_checks": lambda d, a, p: calibration.show_own_checks(d, a, "d", now=NOW),
    "list_own_work": lambda d, a, p: work.list_own_work(d, a, "d"),
    "list_work_categories": lambda d, a, p: work.list_work_categories(d, a, "d"),
    "show_pace": lambda d, a, p: work.show_pace(d, a, "d", now=NOW),
    "read_own_pair": lambda d, a, p: work.read_own_pair(d, a, "d", p, now=NOW),
    "search_documents": lambda d, a, p: proposals.search_documents(
        d, a, "d", "x", query_id="Q0", limit=1, now=NOW
    ),
    "read_document": lambda d, a, p: proposals.read_document(d, a, "d", doc_id="문서/0-0"),
    "propose": lambda d, a, p: proposals.propose(
        d, a, "d", query_id="Q0", doc_id="문서/1-0", event=EVENT, now=NOW
    ),
    "ask_question": lambda d, a, p: questions.ask_question(
        d, a, "d", pair=p, text="왜?", event_id=str(UUID(int=2, version=4)), now=NOW
    ),
    "list_own_questions": lambda d, a, p: questions.list_own_questions(d, a, "d", now=NOW),
    "count_new_answers": lambda d, a, p: questions.count_new_answers(d, a, "d"),
}
FOR_LEADS: dict[str, Act] = {
    "list_judgments": lambda d, a, p: labeling.list_judgments(d, a, "d"),
    "show_activity": lambda d, a, p: labeling.show_activity(d, a, "d", since=NOW),
    "count_recent_judgments": lambda d, a, p: labeling.count_recent_judgments(d, a, "d", since=NOW),
    "compute_progress": lambda d, a, p: labeling.compute_progress(d, a, "d"),
    "list_work_progress": lambda d, a, p: labeling.list_work_progress(d, a, "d", now=NOW),
    "publish_version": lambda d, a, p: guideline.publish_version(
        d, a, "d", DEFAULT_RUBRIC, base_version=1, change="minor", now=NOW
    ),
    "merge_draft": lambda d, a, p: guideline.merge_draft(d, a, "d", DEFAULT_RUBRIC, 1),
    "count_outdated": lambda d, a, p: guideline.count_outdated(d, a, "d"),
    "count_judgments_made_outdated": lambda d, a, p: guideline.count_judgments_made_outdated(d, a, "d"),
    "set_check": lambda d, a, p: calibration.set_check(
        d, a, "d", p, kind="gold", grade=1, explanation="", now=NOW
    ),
    "import_checks": lambda d, a, p: calibration.import_checks(
        d, a, "d", b"query_id,doc_id,kind,grade,explanation\n", "m.csv", now=NOW
    ),
    "remove_check": lambda d, a, p: calibration.remove_check(d, a, "d", p, now=NOW),
    "list_checks": lambda d, a, p: calibration.list_checks(d, a, "d", now=NOW),
    "find_candidates": lambda d, a, p: calibration.find_candidates(d, a, "d", now=NOW),
    "compute_results": lambda d, a, p: calibration.compute_results(d, a, "d", now=NOW),
    "compute_times": lambda d, a, p: work.compute_times(d, a, "d"),
    "list_proposals": lambda d, a, p: proposals.list_proposals(d, a, "d", now=NOW),
    "list_questions": lambda d, a, p: questions.list_questions(d, a, "d"),
    "list_for_guideline": lambda d, a, p: questions.list_for_guideline(d, a, "d"),
    "count_open_questions": lambda d, a, p: questions.count_open_questions(d, a, "d"),
    "read_question_text": lambda d, a, p: questions.read_question_text(d, a, "d", 1),
    "answer_question": lambda d, a, p: questions.answer_question(
        d, a, "d", 1, "네", seen=None, in_guideline=False, now=NOW
    ),
    "flag_for_guideline": lambda d, a, p: questions.flag_for_guideline(d, a, "d", 1, in_guideline=True),
    "draw_sample": lambda d, a, p: quality.draw_sample(d, a, "d", annotator="ann", now=NOW),
    "preview_sample": lambda d, a, p: quality.preview_sample(d, a, "d", annotator="ann"),
    "list_experts": lambda d, a, p: quality.list_experts(d, a, "d"),
    "explain_nothing_to_draw": lambda d, a, p: quality.explain_nothing_to_draw(d, a, "d"),
    "count_open_checks": lambda d, a, p: quality.count_open_checks(d, a, "d"),
    "show_quality": lambda d, a, p: quality.show_quality(d, a, "d", now=NOW),
    "assign": lambda d, a, p: assignment.assign(d, a, "d", ["ann"], CHOSEN, now=NOW),
    "take_back": lambda d, a, p: assignment.take_back(d, a, "d", ["ann"], CHOSEN, now=NOW),
    "reassign": lambda d, a, p: assignment.reassign(d, a, "d", leaver="ann", to="bob", now=NOW),
    "preview_assignment": lambda d, a, p: assignment.preview_assignment(d, a, "d", STEP, now=NOW),
    "change_assignment": lambda d, a, p: assignment.change_assignment(d, a, "d", STEP, now=NOW),
    "undo_assignment": lambda d, a, p: assignment.undo_assignment(d, a, "d", AssignmentUndo((), ()), now=NOW),
    "list_queries_to_assign": lambda d, a, p: assignment.list_queries_to_assign(
        d, a, "d", QueryFilter(), limit=1
    ),
    "list_matching_queries": lambda d, a, p: assignment.list_matching_queries(d, a, "d", QueryFilter()),
    "show_assignment": lambda d, a, p: assignment.show_assignment(d, a, "d", now=NOW),
    "free_pairs": lambda d, a, p: assignment.free_pairs(d, a, "d", "ann", now=NOW),
    "preview_overlap": lambda d, a, p: assignment.preview_overlap(d, a, "d", overlap=1, rules=None),
}
TELLS_EACH_THEIR_OWN = {"list_left"}  # of each dataset to those who lead it: test_assignment.py
AT_THE_START = {"finish_guideline_changes"}  # of the server, for nobody


def _list_open(world: World, acts: dict[str, Act], actor: Actor, pair: str, refusal: str) -> list[str]:
    """Those of the services that let somebody in, or refuse with other words."""
    open_services = []
    for name, act in acts.items():
        try:
            act(world.database, actor, pair)
        except NotAllowed as error:
            if refusal not in str(error):
                open_services.append(f"{name}: {error}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it was not refused for the role
            open_services.append(f"{name}: {error!r}")
        else:
            open_services.append(name)
    return open_services


def test_every_service_of_labeling_asks_for_a_role_first(database: Database) -> None:
    world = World(database, queries=1, documents=2)
    ann, stranger = world.person("ann"), world.person("bob")
    pair = world.send(ann, want=1).pairs[0].pair
    world.send(ann, world.event(pair))
    with database.write() as session:
        session.execute(delete(MembershipRow).where(col(MembershipRow.person_pk) == stranger.person_id))
    assert _list_open(world, {**FOR_ANNOTATORS, **FOR_LEADS}, stranger, pair, "you have no role on it") == []
    assert _list_open(world, FOR_LEADS, ann, pair, "needs the role") == []


@pytest.mark.parametrize(
    "module", [assignment, calibration, labeling, proposals, quality, questions, guideline, work]
)
def test_no_service_of_labeling_is_left_out_above(module: Any) -> None:
    acts = {
        name
        for name, member in vars(module).items()
        if callable(member)
        and not isinstance(member, type)
        and not name.startswith("_")
        and getattr(member, "__module__", "") == module.__name__
        and "database" in member.__annotations__
    }
    assert acts - {*FOR_ANNOTATORS, *FOR_LEADS} <= TELLS_EACH_THEIR_OWN | AT_THE_START
