"""Pairs drawn for quality control, at work: they reach their expert alone, look like any other, and nothing is lost."""

from dataclasses import asdict, replace
from datetime import timedelta

import pytest
from sqlalchemy import delete, select, update
from sqlmodel import col
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.domain.people import Actor, Membership, SignedIn
from annotator.labeling.my_work_service import CannotRevise, list_own_work, read_own_pair, show_pace
from annotator.storage.database import Database
from annotator.storage.lookup import key_of
from annotator.storage.tables.central import JudgmentRow, PairRow
from annotator.storage.tables.labeling import CheckRow, DisclosureRow, ProposalRow
from annotator.web.labeling import api
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.integration.quality_world import QualityWorld


def handed(world: QualityWorld, actor: Actor, want: int = 50, **request: object) -> list[str]:
    return [pair.pair for pair in world.send(actor, want=want, **request).pairs]  # type: ignore[arg-type]


def drawn_keys(world: QualityWorld) -> set[str]:
    return {world.keys[pk] for pk in world.drawn()}


def test_drawn_pairs_reach_their_expert_and_nobody_else(database: Database) -> None:
    world = QualityWorld(database)
    dan = world.person("dan")
    world.draw(rate=0.5)
    assert set(handed(world, world.cho)) == drawn_keys(world)
    for other in (world.ann, world.bea, dan, world.lea):
        assert handed(world, other) == []


def test_nobody_else_may_answer_a_drawn_pair_that_a_lead_has_settled(database: Database) -> None:
    world = QualityWorld(database, queries=1, documents=1, settled=False)
    (pk,) = world.keys
    world.send(world.ann, world.event(world.keys[pk], 0))
    world.send(world.bea, world.event(world.keys[pk], 2))
    adjudicate_file(
        database, world.lea, "d", "query_id,doc_id,grade,rationale\nQ0,문서/0-0,2,x\n".encode(), "x.csv", now=world.now
    )  # fmt: skip
    dan = world.person("dan")
    world.draw()
    assert world.check(pk, 2, dan).refused[0].code == "settled"
    assert world.check(pk, 2).acknowledged
    row = world.drawn()[pk]
    assert (row.outcome, row.grade, row.settled_by) == ("graded", 2, "adjudicated")


def test_the_wire_tells_nothing(database: Database) -> None:
    """A drawn pair and an ordinary one are the same but for what they are about."""
    world = QualityWorld(database, queries=2, documents=2, settled=False)
    quality, settled, *ordinary = world.keys
    world.settle([quality, settled])
    world.draw(rate=1.0)
    pairs = {pair.pair: pair for pair in world.send(world.cho, want=10).pairs}
    assert len(pairs) == 4
    of_one, of_other = pairs[world.keys[quality]], pairs[world.keys[ordinary[0]]]
    about = ("pair", "query_id", "query", "doc_id", "title", "text")
    assert replace(of_one, **{name: getattr(of_other, name) for name in about}) == of_other
    assert of_one.answer is None
    assert not set(asdict(of_one)) & {"purpose", "grade", "settled", "rank", "quality"}


class Browser:
    """The route of judgments alone, with somebody signed in."""

    def __init__(self, world: QualityWorld, actor: Actor) -> None:
        inner = Starlette(routes=api.routes(world.database), exception_handlers=EXCEPTION_HANDLERS)
        held = (Membership("d", "annotator"),)
        until = world.now + timedelta(days=9_000)
        state = {"signed_in": SignedIn(actor, actor.username, held, False, until)}

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            scope["state"] = {**scope.get("state", {}), **state}
            await inner(scope, receive, send)

        self.client = TestClient(app, headers={"Referer": "http://testserver/"})

    def post(self, **body: object) -> dict[str, object]:
        request = {"dataset": "d", "events": [], "have": [], "want": 0, **body}
        answer = self.client.post("/api/judgments", json=request)
        assert answer.status_code == 200, answer.text
        content: dict[str, object] = answer.json()
        return content


def test_through_the_route_a_drawn_pair_is_answered_like_any_other(database: Database) -> None:
    world = QualityWorld(database)
    world.draw(rate=0.5)
    cho, ann = Browser(world, world.cho), Browser(world, world.ann)
    assert ann.post(want=50)["pairs"] == []
    first = cho.post(want=50)
    pairs = [pair["pair"] for pair in first["pairs"]]  # type: ignore[attr-defined]
    assert set(pairs) == drawn_keys(world)
    assert first["progress"] == {"done": 0, "total": 10, "added": 0, "answered": 0}
    assert not {"quality", "purpose"} & {key for pair in first["pairs"] for key in pair}  # type: ignore[attr-defined]
    event = world.event(pairs[0], 3)
    response = cho.post(events=[event], have=pairs)
    assert (response["acknowledged"], response["refused"], response["surplus"]) == ([event["id"]], [], [])
    assert (response["judged"], response["progress"]) == (
        [pairs[0]],
        {"done": 1, "total": 10, "added": 0, "answered": 1},
    )
    again = cho.post(events=[event])
    assert (again["acknowledged"], again["progress"]) == (
        [event["id"]],
        {"done": 1, "total": 10, "added": 0, "answered": 1},
    )
    assert world.drawn()[world.pks[pairs[0]]].grade == 3


def test_drawn_pairs_come_among_the_ordinary_ones_of_their_query(database: Database) -> None:
    world = QualityWorld(database, queries=6, documents=4, settled=False)
    pks = list(world.keys)
    checked = [pk for number, pk in enumerate(pks) if number % 4 < 2]
    world.settle(checked)
    world.draw(rate=1.0)
    keys = handed(world, world.cho)
    assert {world.pks[key] for key in keys} == set(pks)
    drawn = [world.pks[key] in checked for key in keys]
    blocks = [tuple(drawn[at : at + 4]) for at in range(0, 24, 4)]
    assert all(sum(block) == 2 for block in blocks), "query by query"
    assert len(set(blocks)) > 2, "in any place"


def test_progress_counts_what_was_drawn_as_any_other_work(database: Database) -> None:
    world = QualityWorld(database, queries=2, documents=4, settled=False)
    done, *others = world.keys
    world.settle(others[:3])
    world.send(world.cho, world.event(world.keys[done]))
    before = world.send(world.cho)
    assert (before.done, before.total) == (1, 5)
    world.draw(rate=1.0)
    drawn = sorted(world.drawn())
    after = world.send(world.cho)
    assert (after.done, after.total) == (1, 8)
    for number, pk in enumerate(drawn, 1):
        progress = world.check(pk, None if number == 2 else 1)
        assert (progress.done, progress.total) == (1 + number, 8)
    pace = show_pace(database, world.cho, "d", now=world.now)
    assert (pace.done, pace.left) == (4, 4)


def test_a_drawn_pair_that_still_lacks_a_judgment_is_counted_and_shown_once(database: Database) -> None:
    world = QualityWorld(database, queries=1, documents=3, settled=False)
    single, *_ = world.keys
    world.settle([single], by=(world.ann,))
    assert world.send(world.cho).total == 3
    world.draw(rate=1.0)
    keys = handed(world, world.cho)
    assert (len(keys), len(set(keys)), world.send(world.cho).total) == (3, 3, 3)
    assert world.check(single, 1).acknowledged
    assert handed(world, world.cho) == [key for key in keys if key != world.keys[single]]
    assert world.send(world.cho).total == 3
    world.later(hours=2)
    assert world.keys[single] in handed(world, world.bea)  # it lacks a judgment as before


def test_the_answer_that_holds_is_the_one_pressed_last(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    world.draw(rate=1.0)
    pk = next(iter(world.drawn()))
    early = world.now
    world.check(pk, 1)
    world.check(pk, 3)
    assert (world.drawn()[pk].grade, world.drawn()[pk].answered_at) == (3, world.now)
    world.check(pk, 0, pressed_at=early.isoformat())  # delivered late
    assert world.drawn()[pk].grade == 3
    world.check(pk, None)
    assert (world.drawn()[pk].outcome, world.drawn()[pk].grade) == ("unrateable", None)
    world.check(pk, None, outcome="later")
    row = world.drawn()[pk]
    assert (row.outcome, row.grade, row.answered_at) == (None, None, None)
    assert handed(world, world.cho)[-1] == world.keys[pk]  # what was put off comes last
    world.check(pk, 2)
    assert world.drawn()[pk].grade == 2
    assert world.send(world.cho).done == 1
    with database.read() as session:
        given = session.scalars(
            select(JudgmentRow).where(col(JudgmentRow.annotator_pk) == world.cho.person_id)
        )
        assert {row.purpose for row in given} == {"quality"}


def test_what_one_tab_holds_another_shows_last(database: Database) -> None:
    world = QualityWorld(database)
    world.draw(rate=0.5)
    first = handed(world, world.cho, 4, tab="one")
    second = handed(world, world.cho, 10, tab="two")
    assert set(second[:6]) == drawn_keys(world) - set(first)
    assert set(second[6:]) == set(first)


def test_a_list_of_a_query_holds_drawn_pairs_and_their_answers(database: Database) -> None:
    world = QualityWorld(database, queries=2, documents=4, settled=False)
    first, second, third, _fourth, *rest = world.keys
    world.settle([first, second])
    world.draw(rate=1.0)
    shown = world.send(world.cho, want=50, whole=True).pairs
    assert {pair.pair for pair in shown} == {world.keys[pk] for pk in list(world.keys)[:4]}
    world.check(first, 3, note="見た")
    world.check(third, 1)
    again = {pair.pair: pair for pair in world.send(world.cho, want=50, whole=True).pairs}
    assert len(again) == 4
    of_drawn, of_other = again[world.keys[first]].answer, again[world.keys[third]].answer
    assert of_drawn is not None
    assert of_other is not None
    assert (of_drawn.outcome, of_drawn.grade, of_drawn.note) == ("graded", 3, "見た")
    assert again[world.keys[second]].answer is None
    assert world.send(world.cho, have=list(again), whole=True).judged == ()
    assert rest


@pytest.mark.parametrize("why", ["retired", "seen", "marked", "proposed", "judged"])
def test_what_the_expert_can_no_longer_judge_is_barred_and_not_handed_out(
    database: Database, why: str
) -> None:
    world = QualityWorld(database, queries=1)
    world.draw(rate=1.0)
    pk, checked, *_ = world.drawn()
    world.check(checked, world.grades[checked])
    for item in (pk, checked):
        if why == "judged":
            world.judge_as(world.cho, item, 1)
            continue
        with database.write() as session:
            cho = key_of(world.cho.person_id)
            if why == "retired":
                session.execute(update(PairRow).where(col(PairRow.pk) == item).values(retired_at=world.now))
            elif why == "seen":
                session.add(DisclosureRow(pair_pk=item, person_pk=cho, disclosed_at=world.now))
            elif why == "proposed":
                session.add(ProposalRow(pair_pk=item, annotator_pk=cho, proposed_at=world.now))
            else:
                session.add(
                    CheckRow(pair_pk=item, kind="training", grade=1, explanation="x", marked_at=world.now)
                )
    status = world.status()
    assert (status.drawn, status.checked, status.barred, status.waiting) == (5, 1, 1, 3)
    keys = handed(world, world.cho)
    assert (world.keys[pk] in keys) == (why == "marked")  # as training, which it is now
    if why == "seen":
        assert world.check(pk, 1).refused[0].code == "disclosed"
    with database.write() as session:
        session.execute(delete(CheckRow))


def test_an_answer_can_be_changed_until_a_lead_decided_on_it(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    world.draw(rate=1.0)
    pk, other, *_ = world.drawn()
    world.check(pk, (world.grades[pk] + 1) % 4)
    world.check(other, world.grades[other])
    page = list_own_work(database, world.cho, "d")
    assert {(judgment.pair, judgment.grade, judgment.locked) for judgment in page.judgments} == {
        (world.keys[pk], (world.grades[pk] + 1) % 4, None),
        (world.keys[other], world.grades[other], None),
    }
    own = read_own_pair(database, world.cho, "d", world.keys[pk], now=world.now)
    assert own.answer is not None
    assert own.answer.grade == (world.grades[pk] + 1) % 4
    assert world.check(pk, (world.grades[pk] + 2) % 4).acknowledged
    world.later(seconds=1)
    line = f"query_id,doc_id,grade,rationale\nQ0,문서/{world.name(pk)},{world.grades[pk]},x\n"
    adjudicate_file(database, world.lea, "d", line.encode(), "x.csv", now=world.now)
    assert world.check(pk, 0).refused[0].code == "settled"
    assert {judgment.pair: judgment.locked for judgment in list_own_work(database, world.cho, "d").judgments} == {
        world.keys[pk]: "settled", world.keys[other]: None,
    }  # fmt: skip
    with pytest.raises(CannotRevise):
        read_own_pair(database, world.cho, "d", world.keys[pk], now=world.now)


def test_a_decision_before_the_draw_locks_nothing(database: Database) -> None:
    world = QualityWorld(database, queries=1, documents=1, settled=False)
    (pk,) = world.keys
    for actor, grade in ((world.ann, 0), (world.bea, 2)):
        world.send(actor, world.event(world.keys[pk], grade))
    line = "query_id,doc_id,grade,rationale\nQ0,문서/0-0,2,x\n"
    adjudicate_file(database, world.lea, "d", line.encode(), "x.csv", now=world.now)
    world.draw()
    world.check(pk, 2)
    (own,) = list_own_work(database, world.cho, "d").judgments
    assert own.locked is None
    assert world.check(pk, 3).acknowledged
    assert world.drawn()[pk].grade == 3
