"""Submitting judgments and being given pairs, on both databases: nothing lost, doubled or misplaced."""

from dataclasses import asdict
from datetime import timedelta
from threading import Thread

import pytest
from sqlalchemy import select

from annotator.adjudication.decisions_sql import add_decisions
from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.people import OPERATOR
from annotator.labeling.records import IdleReason
from annotator.labeling.service import compute_progress, list_judgments, read_whole_text, submit_judgments
from annotator.people.service import disable_person, remove_role
from annotator.storage.database import Database
from annotator.storage.tables.central import JudgmentRow, PairRow
from annotator.storage.tables.labeling import DisclosureRow
from tests.databases import CopyWorld
from tests.integration.labeling_world import NOW, World


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    return copy_world(World)


def test_an_event_id_seen_before_is_acknowledged_again_and_changes_nothing(world: World) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    event = world.event(pair, 3, note="良い 🙂")
    first = world.send(ann, event)
    again = world.send(ann, event, event)
    assert first.acknowledged == (event["id"],)
    assert again.acknowledged == (event["id"], event["id"])
    assert [(j.grade, j.note) for j in list_judgments(world.database, OPERATOR, "d", history=True)] == [
        (3, "良い 🙂")
    ]


def test_several_events_seen_before_are_acknowledged_again_together(world: World) -> None:
    ann = world.person("ann")
    events = [world.event(handed.pair, 1) for handed in world.send(ann, want=2).pairs]
    for _ in range(2):
        assert world.send(ann, *events).acknowledged == tuple(event["id"] for event in events)
    assert len(list_judgments(world.database, OPERATOR, "d", history=True)) == 2


def test_an_event_id_that_stands_for_another_judgment_is_refused(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    first, two = (handed.pair for handed in world.send(ann, want=2).pairs)
    event = world.event(first, 1)
    world.send(ann, event)
    for forged in ({**event, "pair": two}, {**event, "grade": 2}):
        assert world.send(ann, forged).refused[0].event_id == event["id"]
    assert world.send(bob, event).refused
    assert len(list_judgments(world.database, OPERATOR, "d", history=True)) == 1


def test_a_second_press_on_a_pair_is_a_revision_with_both_in_the_history(world: World) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    world.send(ann, world.event(pair, 1))
    world.later(seconds=1)
    world.send(ann, world.event(pair, 3))
    assert [j.grade for j in list_judgments(world.database, OPERATOR, "d")] == [3]
    assert [j.grade for j in list_judgments(world.database, OPERATOR, "d", history=True)] == [1, 3]


def test_a_late_delivery_of_an_older_press_does_not_undo_a_newer_one(world: World) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    older = world.event(pair, 1)
    world.later(minutes=5)
    world.send(ann, world.event(pair, 3))
    world.later(minutes=5)
    assert world.send(ann, older).acknowledged
    assert [j.grade for j in list_judgments(world.database, OPERATOR, "d")] == [3]


def test_a_press_from_a_clock_that_runs_ahead_counts_as_made_now(world: World) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    world.send(ann, world.event(pair, 1, pressed_at="2099-01-01T00:00:00+00:00"))
    world.later(seconds=1)
    world.send(ann, world.event(pair, 2))
    assert [(j.grade) for j in list_judgments(world.database, OPERATOR, "d")] == [2]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"grade": 4}, "0, 1, 2 or 3"),
        ({"grade": -1}, "0, 1, 2 or 3"),
        ({"grade": True}, "0, 1, 2 or 3"),
        ({"grade": 2.5}, "0, 1, 2 or 3"),
        ({"grade": "3"}, "0, 1, 2 or 3"),
        ({"outcome": "unrateable", "grade": 1}, "expected none"),
        ({"outcome": "guessed"}, "outcome"),
        ({"pressed_at": "yesterday"}, "pressed_at"),
        ({"pressed_at": "2026-01-01T00:00:00"}, "zone"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"note": "x" * 10_001}, "note"),
        ({"note": 7}, "note"),
        ({"pair": "0" * 24}, "not in the dataset's pool"),
        ({"id": "not-a-uuid"}, "UUID"),
        ({"id": "00000000-0000-5000-8000-000000000001"}, "UUID of version 4"),
        ({"id": "00000000-0000-0000-0000-000000000001"}, "UUID of version 4"),
    ],
)
def test_an_event_no_press_could_have_made_is_refused_and_the_others_are_stored(
    world: World, changes: dict[str, object], why: str
) -> None:
    ann = world.person("ann")
    first, two = (handed.pair for handed in world.send(ann, want=2).pairs)
    good = world.event(two, 0)
    exchange = world.send(ann, {**world.event(first), **changes}, good)
    assert exchange.acknowledged == (good["id"],)
    assert why in exchange.refused[0].why
    assert [(j.pair_key, j.grade) for j in list_judgments(world.database, OPERATOR, "d")] == [(two, 0)]


@pytest.mark.parametrize("note", ["a\x00b", "a\ud800b"])
def test_a_note_that_nothing_can_store_is_cleaned_and_its_grade_is_stored(world: World, note: str) -> None:
    ann = world.person("ann")
    event = world.event(world.send(ann, want=1).pairs[0].pair, 3, note=note)
    assert world.send(ann, event).acknowledged == (event["id"],)
    assert [(j.grade, j.note) for j in list_judgments(world.database, OPERATOR, "d")] == [(3, "a\ufffdb")]


def test_events_that_are_no_list_of_objects_are_refused_as_a_whole(world: World) -> None:
    ann = world.person("ann")
    for events in ({}, "x", [1], None):
        with pytest.raises(ValidationError, match="events: expected"):
            submit_judgments(world.database, ann, "d", events=events, have=[], want=0, now=NOW)


def test_only_a_person_with_a_role_on_the_dataset_is_given_pairs(world: World) -> None:
    stranger = world.person("stranger")
    with world.database.write() as session:
        session.connection().exec_driver_sql(f"DELETE FROM membership WHERE person_pk = {stranger.person_id}")
    for actor in (stranger, OPERATOR):
        with pytest.raises(NotAllowed):
            world.send(actor, want=5)


def test_an_annotator_does_not_read_the_judgments_of_others(world: World) -> None:
    ann = world.person("ann")
    with pytest.raises(NotAllowed):
        list_judgments(world.database, ann, "d")
    with pytest.raises(NotAllowed):
        compute_progress(world.database, ann, "d")


def test_pairs_come_query_by_query_and_differently_for_each_annotator(world: World) -> None:
    orders = {}
    for name in ("ann", "bob", "cho"):
        pairs = world.send(world.person(name), want=50).pairs
        queries = [handed.query_id for handed in pairs]
        assert queries == sorted(queries, key=queries.index)
        orders[name] = [handed.doc_id for handed in pairs]
    assert len(orders["ann"]) == 12
    assert orders["ann"] != orders["bob"]
    assert sorted(orders["ann"]) == sorted(orders["bob"])
    assert orders["cho"] == []


def test_the_next_pairs_go_on_with_the_query_at_hand(world: World) -> None:
    ann = world.person("ann")
    first = world.send(ann, want=2).pairs
    second = world.send(ann, want=2, have=[handed.pair for handed in first]).pairs
    assert {handed.query_id for handed in first} == {handed.query_id for handed in second}
    assert not {handed.pair for handed in first} & {handed.pair for handed in second}


def test_queries_that_others_have_begun_come_first(database: Database) -> None:
    world = World(database, queries=30, documents=2)
    ann, bob = world.person("ann"), world.person("bob")
    begun = world.send(ann, want=2).pairs
    world.send(ann, *(world.event(handed.pair) for handed in begun))
    assert {handed.pair for handed in world.send(bob, want=2).pairs} == {handed.pair for handed in begun}


def test_a_lease_keeps_a_third_annotator_from_overshooting_the_overlap(world: World) -> None:
    people = [world.person(name) for name in ("ann", "bob", "cho")]
    given = [{handed.pair for handed in world.send(person, want=50).pairs} for person in people]
    assert (len(given[0]), len(given[1]), len(given[2])) == (12, 12, 0)


def test_who_gets_no_pair_is_told_whether_there_is_a_pool_and_until_when_others_hold_the_pairs(
    database: Database,
) -> None:
    empty = World(database, queries=0)
    assert empty.send(empty.person("ann"), want=5).idle == IdleReason(has_pool=False, reserved_until=None)


def test_who_gets_no_pair_is_told_when_the_leases_of_others_end(database: Database) -> None:
    world = World(database, queries=1, documents=3, overlap=1)
    ann, bob = world.person("ann"), world.person("bob")
    held = world.send(ann, want=5)
    assert held.idle is None
    idle = world.send(bob, want=5)
    assert (idle.done, idle.total) == (0, 3)
    assert idle.idle == IdleReason(has_pool=True, reserved_until=world.now + timedelta(hours=1))
    assert world.send(bob, want=0).idle is None, "the browser asked for nothing"
    world.send(ann, *(world.event(pair.pair) for pair in held.pairs))
    idle = world.send(bob, want=5)
    assert (idle.total, idle.idle) == (0, IdleReason(has_pool=True, reserved_until=None))


def test_an_abandoned_lease_returns_after_its_time(world: World) -> None:
    for name in ("ann", "bob"):
        world.send(world.person(name), want=50)
    cho = world.person("cho")
    world.later(minutes=59)
    assert world.send(cho, want=50).pairs == ()
    world.later(minutes=2)
    assert len(world.send(cho, want=50).pairs) == 12


def test_what_somebody_held_who_leaves_goes_to_others_at_once(database: Database) -> None:
    world = World(database, queries=1, documents=2, overlap=1)
    leaver, other = world.person("leaver"), world.person("other")
    assert len(world.send(leaver, want=5).pairs) == 2
    assert not world.send(other, want=5).pairs
    disable_person(database, OPERATOR, "leaver", now=world.now)
    assert len(world.send(other, want=5).pairs) == 2
    third = world.person("third")
    assert not world.send(third, want=5).pairs
    remove_role(database, OPERATOR, "other", dataset="d", now=NOW)
    assert len(world.send(third, want=5).pairs) == 2


def test_what_is_in_the_browser_keeps_its_lease(world: World) -> None:
    ann, bob, cho = (world.person(name) for name in ("ann", "bob", "cho"))
    kept = [handed.pair for handed in world.send(ann, want=50).pairs]
    world.send(bob, want=50)
    world.later(minutes=50)
    world.send(ann, have=kept)
    world.later(minutes=50)
    world.send(bob, want=50)
    assert world.send(cho, want=50).pairs == ()


def test_a_judgment_after_the_lease_ran_out_is_kept(world: World) -> None:
    ann, bob, cho = (world.person(name) for name in ("ann", "bob", "cho"))
    pair = world.send(ann, want=1).pairs[0].pair
    world.later(hours=3)
    world.send(bob, world.event(pair, 0))
    world.send(cho, world.event(pair, 1))
    assert world.send(ann, world.event(pair, 2)).acknowledged
    assert sorted(j.grade or 0 for j in list_judgments(world.database, OPERATOR, "d")) == [0, 1, 2]


def test_a_reload_gives_back_the_pairs_that_were_in_the_browser(world: World) -> None:
    ann = world.person("ann")
    before = {handed.pair for handed in world.send(ann, want=5).pairs}
    again = [handed.pair for handed in world.send(ann, want=5).pairs]
    assert set(again) == before
    assert [handed.pair for handed in world.send(ann, want=5).pairs] == again


def test_two_tabs_of_one_annotator_are_given_different_pairs(world: World) -> None:
    ann = world.person("ann")
    first_pairs = [handed.pair for handed in world.send(ann, want=4, tab="one").pairs]
    two = [handed.pair for handed in world.send(ann, want=4, tab="two").pairs]
    three = [handed.pair for handed in world.send(ann, have=first_pairs, want=2, tab="one").pairs]
    assert len({*first_pairs, *two, *three}) == 10
    assert {handed.pair for handed in world.send(ann, want=4, tab="two").pairs} == set(two), (
        "a reload of a tab"
    )


def test_what_a_tab_holds_that_crashed_comes_last_and_at_once_when_its_lease_ran_out(world: World) -> None:
    ann = world.person("ann")
    first = [handed.pair for handed in world.send(ann, want=4, tab="crashed").pairs]
    assert {handed.pair for handed in world.send(ann, want=12, tab="new").pairs[-4:]} == set(first)
    bob = world.person("bob")
    first = [handed.pair for handed in world.send(bob, want=4, tab="crashed").pairs]
    world.later(minutes=61)
    assert {handed.pair for handed in world.send(bob, want=4, tab="new").pairs} == set(first)


def test_a_pair_put_off_comes_back_after_everything_else(world: World) -> None:
    ann = world.person("ann")
    first = world.send(ann, want=1).pairs[0].pair
    world.send(ann, world.event(first, None, outcome="later"))
    rest = [handed.pair for handed in world.send(ann, want=50).pairs]
    assert rest[-1] == first
    assert len(rest) == 12
    assert list_judgments(world.database, OPERATOR, "d") == []


def test_what_was_answered_does_not_come_back_beside_what_was_put_off(world: World) -> None:
    ann = world.person("ann")
    put_off, *others = [handed.pair for handed in world.send(ann, want=50).pairs]
    world.send(ann, world.event(put_off, None, outcome="later"), *(world.event(pair) for pair in others))
    assert [handed.pair for handed in world.send(ann, want=50).pairs] == [put_off]
    whole = world.send(ann, want=50, whole=True).pairs
    assert [handed.pair for handed in whole if not handed.answer or handed.answer.outcome == "later"] == [
        put_off
    ]


def test_a_query_of_which_all_that_is_left_was_put_off_is_listed_last(world: World) -> None:
    ann = world.person("ann")
    met = []
    for _query in range(4):
        pairs = [handed.pair for handed in world.send(ann, want=50, whole=True).pairs]
        met.append(set(pairs))
        world.send(ann, *(world.event(pair, None, outcome="later") for pair in pairs))
    assert len({pair for pairs in met for pair in pairs}) == 12
    assert met[3] in met[:3]


def test_a_querys_list_holds_no_answer_that_can_no_longer_be_changed(world: World) -> None:
    ann = world.person("ann")
    seen, *_ = pairs = [handed.pair for handed in world.send(ann, want=4, whole=True).pairs]
    world.send(ann, *(world.event(pair) for pair in pairs[:3]), have=pairs)
    assert set(pairs) == {handed.pair for handed in world.send(ann, want=50, whole=True).pairs}
    with world.database.write() as session:
        row = session.query(PairRow).filter_by(key=seen).one()
        shown = {"pair_pk": row.pk, "person_pk": ann.person_id, "disclosed_at": NOW}
        session.add(DisclosureRow.model_validate(shown))
    assert seen not in {handed.pair for handed in world.send(ann, want=50, whole=True).pairs}


def test_unrateable_is_an_answer_without_a_grade(world: World) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    exchange = world.send(ann, world.event(pair, None, note="読めない"), want=50)
    assert pair not in [handed.pair for handed in exchange.pairs]
    assert (exchange.done, exchange.total) == (1, 12)
    assert [(j.outcome, j.grade) for j in list_judgments(world.database, OPERATOR, "d")] == [
        ("unrateable", None)
    ]


def test_a_settled_pair_is_neither_given_nor_judged(world: World) -> None:
    ann, lead = world.person("ann"), world.person("lead", "lead")
    pair = world.send(ann, want=1).pairs[0].pair
    with world.database.write() as session:
        row = session.query(PairRow).filter_by(key=pair).one()
        decision = {
            "pair_pk": row.pk, "revision": 1, "lead_pk": lead.person_id, "rubric_pk": 1, "grade": 1,
            "rationale": "x", "decided_at": NOW,
        }  # fmt: skip
        add_decisions(session, row.dataset_pk, [decision])
    exchange = world.send(ann, world.event(pair), have=[pair], want=50)
    assert "settled" in exchange.refused[0].why
    assert exchange.judged == (pair,)
    assert pair not in [handed.pair for handed in exchange.pairs]
    assert (exchange.done, exchange.total) == (0, 11), "the settled pair waits for nobody"


def test_a_pair_judged_in_another_tab_is_named(world: World) -> None:
    ann = world.person("ann")
    first, two = (handed.pair for handed in world.send(ann, want=2).pairs)
    world.send(ann, world.event(first))
    assert world.send(ann, have=[first, two]).judged == (first,)


def test_a_judged_pair_that_a_browser_still_shows_keeps_nobody_else_from_it(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    pairs = [handed.pair for handed in world.send(ann, want=50).pairs]
    world.send(ann, *(world.event(pair) for pair in pairs), have=pairs)
    world.send(ann, have=pairs)
    assert len(world.send(bob, want=50).pairs) == 12


def test_a_judgment_remembers_the_text_and_the_guideline_that_were_on_the_screen(world: World) -> None:
    ann = world.person("ann")
    first, two, three = world.send(ann, want=3).pairs
    with world.database.write() as session:
        session.connection().exec_driver_sql(
            "INSERT INTO document_text (document_pk, sha256, text, imported_at) "
            "SELECT pk, 'bb', 'new', '2026-03-04 05:06:08+00:00' FROM document"
        )
        session.connection().exec_driver_sql("UPDATE document SET text_sha256 = 'bb'")
    versions = {"document_sha256": first.document_sha256, "guideline_version": first.guideline_version}
    world.send(ann, world.event(first.pair, 1, **versions), world.event(two.pair, 2))
    world.send(ann, world.event(three.pair, 3, document_sha256="forged", guideline_version=99))
    with world.database.read() as session:
        stored = session.scalars(select(JudgmentRow).order_by(JudgmentRow.pk)).all()
    assert [row.document_sha256 for row in stored] == ["aa", "bb", "bb"]
    assert len({row.rubric_pk for row in stored}) == 1


def test_nothing_handed_out_betrays_rank_score_system_or_a_grade(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    for pair in world.send(ann, want=50).pairs:
        world.send(ann, world.event(pair.pair, 3, note="secret of ann"))
    handed = world.send(bob, want=50).pairs
    sent = repr([asdict(pair) for pair in handed])
    for word in ("bm25", "9.5", "secret", "ann", "grade", "rank", "score"):
        assert word not in sent
    # neither the order nor the ids follow the ranks
    ranks = [int(pair.doc_id[-1]) for pair in handed]
    keys = sorted(handed, key=lambda pair: pair.pair)
    by_query = {q: [int(p.doc_id[-1]) for p in keys if p.query_id == q] for q in ("Q0", "Q1", "Q2")}
    assert any(ranks[i : i + 4] != [0, 1, 2, 3] for i in (0, 4, 8))
    assert any(order != [0, 1, 2, 3] for order in by_query.values())


def test_a_long_document_is_handed_out_cut_and_can_be_read_whole(world: World) -> None:
    ann = world.person("ann")
    text = "長" * 300_000
    with world.database.write() as session:
        session.connection().exec_driver_sql(f"UPDATE document_text SET text = '{text}'")
    handed = world.send(ann, want=1).pairs[0]
    assert (len(handed.text or ""), handed.length) == (200_000, 300_000)
    assert read_whole_text(world.database, ann, "d", handed.pair) == text


def test_a_document_known_by_its_id_only_has_no_text_rather_than_an_empty_one(world: World) -> None:
    ann = world.person("ann")
    with world.database.write() as session:
        session.connection().exec_driver_sql("UPDATE document SET text_sha256 = NULL")
    handed = world.send(ann, want=1).pairs[0]
    assert (handed.text, handed.length, handed.document_sha256) == (None, 0, None)


def test_many_annotators_at_once_overshoot_nothing_and_lose_nothing(database: Database) -> None:
    world = World(database, queries=5, documents=6)
    people = [world.person(f"annotator{number}") for number in range(6)]
    sent: list[str] = []

    def label(actor: object) -> None:
        have: list[str] = []
        while True:
            exchange = world.send(actor, want=3 - len(have), have=have)  # type: ignore[arg-type]
            have += [handed.pair for handed in exchange.pairs]
            if not have:
                return
            event = world.event(have.pop(0), 1)
            event["id"] = f"{len(sent):08x}-0000-4000-8000-{id(event) % 2**48:012x}"
            sent.append(event["id"])
            assert world.send(actor, event).acknowledged  # type: ignore[arg-type]

    threads = [Thread(target=label, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = list_judgments(database, OPERATOR, "d", history=True)
    assert sorted(j.event_id for j in history) == sorted(sent)
    assert len(history) == 5 * 6 * 2
    assert len({(j.pair_key, j.annotator) for j in history}) == len(history)


def test_progress_tells_who_has_judged_what_and_what_is_left(world: World) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    pairs = [handed.pair for handed in world.send(ann, want=3).pairs]
    world.send(
        ann, world.event(pairs[0]), world.event(pairs[1], None), world.event(pairs[2], None, outcome="later")
    )
    world.send(bob, world.event(pairs[0], 0))
    progress = compute_progress(world.database, OPERATOR, "d")
    assert (progress.pairs, progress.complete, progress.begun) == (12, 1, 1)
    assert [(a.annotator, a.judged, a.unrateable, a.later) for a in progress.annotators] == [
        ("ann", 2, 1, 1),
        ("bob", 1, 0, 0),
    ]
    assert sum(query.pairs for query in progress.queries) == 12


def test_each_pair_says_which_document_of_its_query_it_is_and_goes_on_counting(world: World) -> None:
    ann = world.person("ann")
    first = world.send(ann, want=2).pairs
    total = sum(pair.query_id == first[0].query_id for pair in world.send(ann, want=50, tab="other").pairs)
    assert [pair.position for pair in first] == [(1, total), (2, total)]
    answer = world.send(ann, world.event(first[0].pair, 1), have=[first[1].pair], want=1)
    assert [pair.position for pair in answer.pairs] == [(3, total)]
    assert world.send(world.person("bob"), want=1).pairs[0].position == (1, total)


def test_another_reason_is_stored_only_with_its_words(world: World) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    event = world.event(pair, None, outcome="unrateable", reason="other")
    assert "note: expected the reason in words" in world.send(ann, event).refused[0].why
    assert world.send(ann, {**event, "note": " \n"}).refused
    assert world.send(ann, {**event, "note": "two pages in one"}).acknowledged == (event["id"],)
