"""Who is handed what, in which order, and for what an answer counts; what is refused and why. On both databases."""

from typing import Any

import pytest
from sqlalchemy import select, text, update
from sqlmodel import col

from annotator.dataset.service import create_dataset
from annotator.domain.errors import NotAllowed
from annotator.domain.judgments import OutdatedReason, OwnAnswer
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.remapping.remapping_sql import retire_pairs
from annotator.labeling.checks import RepeatCandidate
from annotator.labeling.next_pairs_sql import StoredChecks
from annotator.labeling.service import SubmitResponse, list_judgments, submit_judgments
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import end_leases, find_dataset, key_of, make_open_pairs_request
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.labeling import AssignmentRow, CheckRow, DisclosureRow, RepeatRow
from tests.databases import CopyWorld
from tests.integration.labeling_world import NOW, World


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    return copy_world(World)


def keys(world: World, actor: Actor, want: int = 50, **options: Any) -> list[str]:
    return [handed.pair for handed in world.send(actor, want=want, **options).pairs]


def pair_pk(world: World, key: str) -> int:
    with world.database.read() as session:
        return key_of(session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == key)))


def mark(world: World, key: str, kind: str, grade: int) -> None:
    with world.database.write() as session:
        row = {
            "pair_pk": pair_pk(world, key),
            "kind": kind,
            "grade": grade,
            "explanation": "第17条",
            "marked_at": NOW,
        }
        session.add(CheckRow(**row))
        derive_work(session, 1, [row["pair_pk"]])


def set_rules(world: World, **settings: Any) -> None:
    with world.database.write() as session:
        session.execute(update(DatasetRow).values(**settings))
        derive_work(session, 1)


def purposes(world: World) -> list[str]:
    with world.database.read() as session:
        return list(session.scalars(select(col(JudgmentRow.purpose)).order_by(col(JudgmentRow.pk))))


def test_nothing_but_training_comes_until_it_is_passed_and_each_answer_is_explained(world: World) -> None:
    ann = world.person("ann")
    marked, other = keys(world, world.person("bob"), 2)
    mark(world, marked, "training", 3)
    response = world.send(ann, want=50)
    assert [(handed.pair, handed.training) for handed in response.pairs] == [(marked, True)]
    assert response.training is not None
    assert (response.training.done, response.training.total, response.training.passed) == (0, 1, False)
    early = world.send(ann, world.event(other, 1))
    assert [refusal.code for refusal in early.refused] == ["not_yours"]
    wrong = world.event(marked, 1)
    response = world.send(ann, wrong, want=50)
    assert [(f.event_id, f.grade, f.explanation) for f in response.feedback] == [(wrong["id"], 3, "第17条")]
    assert [handed.pair for handed in response.pairs] == [marked], "wrong answers are asked again"
    assert world.send(ann, wrong).feedback == response.feedback, "delivered again, explained again"
    response = world.send(ann, world.event(marked, 3), want=50)
    assert response.training is not None
    assert response.training.passed
    assert len(response.pairs) == 11
    assert [refusal.code for refusal in world.send(ann, world.event(marked, 0)).refused] == ["settled"]
    assert purposes(world) == ["training", "training"]
    assert list_judgments(world.database, OPERATOR, "d") == []


def test_own_outdated_answers_come_first_and_are_confirmed_by_a_new_answer(world: World) -> None:
    ann = world.person("ann")
    pair = keys(world, ann, 1)[0]
    world.send(ann, world.event(pair, 2, note="메모"))
    with world.database.write() as session:
        session.execute(update(CurrentJudgmentRow).values(stale=2))
    first = world.send(ann, want=3).pairs[0]
    assert (first.pair, first.answer) == (pair, OwnAnswer("graded", 2, "메모", None))
    assert first.outdated == OutdatedReason(None, text_changed=True)
    assert world.send(ann, have=[pair]).judged == ()
    world.later(seconds=1)
    assert world.send(ann, world.event(pair, 2), have=[pair]).judged == (pair,)
    assert pair not in keys(world, ann)
    assert len(list_judgments(world.database, OPERATOR, "d", history=True)) == 2


def test_queries_go_to_those_who_know_their_category_and_language(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    with world.database.write() as session:
        session.execute(
            update(QueryRow).where(col(QueryRow.query_id) == "Q1").values(category="law", language="ko")
        )
        own_roles = update(MembershipRow).where(col(MembershipRow.person_pk) == ann.person_id)
        session.execute(own_roles.values(categories=["law"], languages=["ko", "ja"]))
        others = update(MembershipRow).where(col(MembershipRow.person_pk) == bob.person_id)
        session.execute(others.values(languages=["en"]))
    response = world.send(ann, want=50)
    assert {handed.query_id for handed in response.pairs} == {"Q1"}
    assert (response.done, response.total) == (0, 4)
    assert keys(world, bob) == []
    with world.database.write() as session:
        session.add(MembershipRow(person_pk=key_of(bob.person_id), dataset_pk=None, role="annotator"))
    assert len(keys(world, bob)) == 12, "one role that allows it is enough"


def test_a_query_given_to_people_is_theirs_alone_and_comes_first(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    with world.database.write() as session:
        given = session.scalar(select(col(QueryRow.pk)).where(col(QueryRow.query_id) == "Q2"))
        row = {"query_pk": key_of(given), "person_pk": key_of(bob.person_id), "assigned_at": NOW}
        session.add(AssignmentRow(**row))
    assert {handed.query_id for handed in world.send(bob, want=4).pairs} == {"Q2"}
    response = world.send(ann, want=50)
    assert {handed.query_id for handed in response.pairs} == {"Q0", "Q1"}
    assert response.total == 8


def test_who_has_seen_the_answers_of_others_judges_the_pair_no_more(world: World) -> None:
    ann = world.person("ann")
    seen, judged, *_ = keys(world, ann)
    world.send(ann, world.event(judged, 1))
    with world.database.write() as session:
        for key in (seen, judged):
            session.add(
                DisclosureRow(pair_pk=pair_pk(world, key), person_pk=key_of(ann.person_id), disclosed_at=NOW)
            )
    response = world.send(ann, world.event(seen, 2), world.event(judged, 3), have=[seen], want=50)
    assert [refusal.code for refusal in response.refused] == ["disclosed", "disclosed"]
    assert response.judged == (seen,)
    assert (response.done, response.total, len(response.pairs)) == (1, 11, 10)


def test_the_judgment_of_a_pair_that_left_the_pool_while_on_screen_stays_on_record(world: World) -> None:
    ann = world.person("ann")
    first, two = keys(world, ann, 2)
    with world.database.write() as session:
        retire_pairs(session, 1, [pair_pk(world, first)], now=NOW)
    response = world.send(ann, world.event(first, 1), world.event(two, 1), have=[first])
    assert (len(response.acknowledged), response.refused, len(response.surplus), response.judged) == (
        2,
        (),
        1,
        (first,),
    )
    assert len(list_judgments(world.database, OPERATOR, "d")) == 1
    assert len(list_judgments(world.database, OPERATOR, "d", history=True)) == 2


def test_an_answer_that_comes_when_others_did_the_work_is_kept_and_named_as_surplus(world: World) -> None:
    ann, bob, cho = (world.person(name) for name in ("ann", "bob", "cho"))
    pair = keys(world, ann, 1)[0]
    world.later(hours=3)
    for other in (bob, cho):
        assert world.send(other, world.event(pair, 1)).surplus == ()
    late = world.event(pair, 2)
    assert world.send(ann, have=[pair]).judged == (), "a gold pair would stay as well"
    response = world.send(ann, late)
    assert (response.acknowledged, response.surplus) == ((late["id"],), (late["id"],))
    world.later(seconds=1)
    assert world.send(ann, world.event(pair, 1)).surplus == (), "a revision is none"
    assert len(list_judgments(world.database, OPERATOR, "d")) == 3
    assert purposes(world) == ["independent", "independent", "conditional", "conditional"], "no third vote"


def test_one_more_is_asked_where_the_first_two_differ_and_counts_apart(world: World) -> None:
    ann, bob, cho, dan = (world.person(name) for name in ("ann", "bob", "cho", "dan"))
    set_rules(world, overlap_rules={"conditional": 2})
    pair = keys(world, ann, 1)[0]
    world.send(ann, world.event(pair, 0))
    world.send(bob, world.event(pair, 3))
    assert keys(world, cho, 1) == [pair], "begun by others"
    assert pair not in keys(world, dan), "one more, not two"
    world.later(seconds=1)
    world.send(bob, world.event(pair, 2))
    world.send(cho, world.event(pair, 1))
    assert purposes(world) == ["independent", "independent", "independent", "conditional"]
    world.later(seconds=1)
    world.send(cho, world.event(pair, 2))
    late = world.send(dan, world.event(pair, 2))
    assert len(late.surplus) == 1
    assert purposes(world)[4:] == ["conditional", "conditional"], (
        "a revision counts for what the first answer did"
    )


def test_a_repeat_has_a_key_of_its_own_and_changes_no_answer(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    pair = keys(world, ann, 1)[0]
    world.send(ann, world.event(pair, 2))
    with world.database.write() as session:
        row = {
            "key": "f" * 24,
            "pair_pk": pair_pk(world, pair),
            "annotator_pk": ann.person_id,
            "handed_at": NOW,
        }
        session.add(RepeatRow(**row))
    world.later(seconds=1)
    assert world.send(ann, have=["f" * 24]).judged == ()
    response = world.send(ann, world.event("f" * 24, 0), have=["f" * 24])
    assert (len(response.acknowledged), response.judged) == (1, ("f" * 24,))
    assert [refusal.code for refusal in world.send(bob, world.event("f" * 24, 0)).refused] == ["not_in_pool"]
    assert purposes(world) == ["independent", "repeat"]
    assert [judgment.grade for judgment in list_judgments(world.database, OPERATOR, "d")] == [2]


def test_gold_pairs_are_nobodys_ordinary_work_and_their_answers_do_not_count(world: World) -> None:
    ann = world.person("ann")
    pair = keys(world, ann, 1)[0]
    mark(world, pair, "gold", 1)
    response = world.send(ann, world.event(pair, 1), want=50)
    assert pair not in [handed.pair for handed in response.pairs]
    assert (purposes(world), response.feedback, response.done, response.total) == (["gold"], (), 1, 12), (
        "the progress tells nothing"
    )


def test_a_whole_query_comes_with_ones_own_answers_and_holds_nobody_up(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    first, second, *_ = keys(world, ann, 50)
    world.send(
        ann, world.event(first, 3), world.event(second, None, outcome="unrateable", reason="unreadable")
    )
    whole = world.send(ann, want=200, whole=True).pairs
    assert len(whole) == 4
    assert len({handed.query_id for handed in whole}) == 1
    answers = {handed.pair: handed.answer for handed in whole}
    assert answers[first] == OwnAnswer("graded", 3, None, None)
    assert answers[second] == OwnAnswer("unrateable", None, None, "unreadable")
    assert world.send(ann, have=[first], whole=True).judged == (), "what is answered stays in the list"
    assert len(keys(world, bob)) == 12
    rest = [handed.pair for handed in whole if handed.answer is None]
    world.send(ann, *(world.event(pair, 0) for pair in rest))
    following = world.send(ann, want=200, whole=True).pairs
    assert len(following) == 4
    assert {handed.query_id for handed in following} != {handed.query_id for handed in whole}


def test_the_columns_that_the_lead_chose_are_shown(world: World) -> None:
    with world.database.write() as session:
        session.execute(
            update(DocumentRow).values(extra={"law": "民法", "n": 3, "secret": "x", "none": None})
        )
    set_rules(world, shown_metadata=["law", "n", "none", "absent"])
    handed = world.send(world.person("ann"), want=1).pairs[0]
    assert dict(handed.metadata) == {"law": "民法", "n": "3"}


@pytest.mark.parametrize(
    "changes", [{"purpose": "gold"}, {"judged_at": "2020-01-01"}, {"reason": "unreadable"}]
)
def test_what_only_the_server_says_is_refused_from_a_browser(world: World, changes: dict[str, str]) -> None:
    ann = world.person("ann")
    event = {**world.event(keys(world, ann, 1)[0], 2), **changes}
    assert [refusal.code for refusal in world.send(ann, event).refused] == ["bad_event"]
    assert purposes(world) == []


@pytest.mark.parametrize("change", ["disabled", "role"])
def test_nothing_is_stored_of_somebody_who_may_no_longer(world: World, change: str) -> None:
    ann = world.person("ann")
    pair = keys(world, ann, 1)[0]
    with world.database.write() as session:
        if change == "disabled":
            session.execute(update(PersonRow).values(disabled_at=NOW))
        else:
            session.execute(text("DELETE FROM membership"))
    with pytest.raises(NotAllowed):
        world.send(ann, world.event(pair, 2))
    assert purposes(world) == []


def test_leases_of_one_dataset_say_nothing_of_another(database: Database) -> None:
    """One person labels in two datasets, whose leases last differently."""
    world = World(database)
    ann = world.person("ann")
    other = other_dataset(world, ann, lease_minutes="10080")
    held = [pair.pair for pair in exchange(world, ann, other, want=50, tab="a").pairs]
    assert len(held) == 2
    assert len(world.send(ann, want=50, tab="b").pairs) == 12, (
        "none of them is in another tab of this dataset"
    )
    world.send(ann, tab="b")  # ends leases of a clock ahead: those of the other dataset are longer, and none
    with database.write() as session:
        assert end_leases(session, key_of(ann.person_id), 1, now=world.now) == 12
    bob = world.person("bob")
    with database.write() as session:
        dataset_pk = find_dataset(session, other).pk
        session.add(MembershipRow(person_pk=key_of(bob.person_id), dataset_pk=dataset_pk, role="annotator"))
    assert exchange(world, bob, other, want=50).pairs == (), "ann holds them all"
    with database.write() as session:
        assert end_leases(session, key_of(ann.person_id), None, now=world.now) == 2
    assert len(exchange(world, bob, other, want=50).pairs) == 2
    late = exchange(world, ann, other, events=[world.event(held[0])])
    assert len(late.acknowledged) == 1, "what was on the screen is stored"


def test_answers_in_another_dataset_bring_no_repeat_nearer(database: Database) -> None:
    world = World(database)
    ann = world.person("ann")
    other = other_dataset(world, ann)
    (first,) = world.send(ann, want=1).pairs
    world.send(ann, world.event(first.pair))
    held = exchange(world, ann, other, want=50).pairs
    exchange(world, ann, other, events=[world.event(handed.pair) for handed in held])
    with database.read() as session:
        checks = StoredChecks(
            session, make_open_pairs_request(find_dataset(session, "d"), key_of(ann.person_id), NOW)
        )
        judgment = session.query(CurrentJudgmentRow).order_by(col(CurrentJudgmentRow.judgment_pk)).first()
        assert judgment is not None
        candidate = RepeatCandidate(judgment.pair_pk, first.pair, judgment.judgment_pk)
        assert not checks.is_long_ago(candidate, 1)


def other_dataset(world: World, actor: Actor, **settings: str) -> str:
    """A dataset of one query with two pairs, each for one annotator: this one."""
    create_dataset(world.database, OPERATOR, "e", now=NOW, settings={"overlap": "1", **settings})
    with world.database.write() as session:
        dataset_pk = key_of(find_dataset(session, "e").pk)
        session.add(MembershipRow(person_pk=key_of(actor.person_id), dataset_pk=dataset_pk, role="annotator"))
        query = QueryRow(dataset_pk=dataset_pk, position=0, query_id="E", text="検索")
        documents = [DocumentRow(dataset_pk=dataset_pk, doc_id=name, title=name) for name in ("e1", "e2")]
        session.add_all([query, *documents])
        session.flush()
        candidates = [
            PoolCandidate(key_of(query.pk), "E", key_of(document.pk), document.doc_id, "bm25")
            for document in documents
        ]
        add_candidates(session, dataset_pk, "e", candidates, now=NOW)
    return "e"


def exchange(world: World, actor: Actor, dataset: str, **parameters: Any) -> SubmitResponse:
    given = {"events": [], "have": [], "want": 0, **parameters}
    return submit_judgments(world.database, actor, dataset, **given, now=world.now)


def test_the_dataset_is_the_first_one(world: World) -> None:
    with world.database.read() as session:
        assert find_dataset(session, "d").pk == 1, "what these tests take for granted"
