"""The hand-out keeps to who judges what: overlap rules, a further judgment, expertise, queries given; and it is fair."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.agreement.service import compute_agreement
from annotator.dataset.service import change_settings
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.assignment import QuerySelection
from annotator.labeling.assignment_service import assign, show_assignment
from annotator.overview.service import show_overview
from annotator.people.service import change_person
from annotator.releases.gates_service import check_release
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pool import PoolCandidate, add_candidates
from annotator.storage.tables.central import CurrentJudgmentRow, DocumentRow, JudgmentRow, PairRow, QueryRow
from annotator.storage.tables.labeling import CheckRow
from tests.integration.assignment_world import AssignmentWorld
from tests.integration.labeling_world import NOW, World

MANY = 100


def _set(database: Database, **settings: str) -> None:
    change_settings(database, OPERATOR, "d", settings, now=NOW)


def _count_answers(database: Database) -> dict[tuple[str | None, int], set[int]]:
    """How many have judged each pair: the numbers met, by (category, wanted)."""
    with database.read() as session:
        pairs = session.execute(
            select(col(QueryRow.category), col(PairRow.wanted), col(PairRow.judged)).join(
                QueryRow, col(QueryRow.pk) == col(PairRow.query_pk)
            )
        )
        answers: dict[tuple[str | None, int], set[int]] = {}
        for category, wanted, judged in pairs:
            answers.setdefault((category, wanted), set()).add(judged)
        return answers


def _purposes(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.scalars(select(col(JudgmentRow.purpose)).order_by(col(JudgmentRow.pk))))


def _short(database: Database) -> float | None:
    gates = check_release(database, OPERATOR, "d").gates
    return next(gate.measured for gate in gates if gate.name == "overlap")


def test_each_pair_is_judged_by_as_many_as_its_category_and_share_say(database: Database) -> None:
    world = AssignmentWorld(database, documents=6, overlap=1)
    _set(database, overlap_by_category="howto=3", overlap_share="0.5:2")
    for username in ("a", "b", "c", "e"):
        world.judge(world.person(username), pairs=MANY)
    assert _count_answers(database) == {("howto", 3): {3}, ("判例", 1): {1}, ("判例", 2): {2}}
    assert _short(database) == 0


def test_a_share_of_the_pairs_is_drawn_once_for_all_of_the_right_size_and_keeps_its_pairs(
    database: Database,
) -> None:
    World(database, queries=10, documents=20, overlap=1)
    _set(database, overlap_share="0.3:2")
    drawn = _list_shared(database)
    assert 0.2 < len(drawn) / 200 < 0.4
    assert len({pair_pk % 20 for pair_pk in drawn}) > 10, "of all ranks"
    _set(database, overlap_share="0.6:2")
    assert drawn < _list_shared(database), "a greater share holds every pair of a smaller one"
    _set(database, overlap_share="none")
    assert _list_shared(database) == set()
    _set(database, overlap_share="0.3:2")
    assert _list_shared(database) == drawn
    _add_pairs(database)
    later = _list_shared(database)
    assert {pair_pk for pair_pk in later if pair_pk <= 200} == drawn, "new pairs change nothing for the old"
    assert 0.15 < (len(later) - len(drawn)) / 100 < 0.45


def _list_shared(database: Database) -> set[int]:
    """The pairs that two are to judge."""
    with database.read() as session:
        return {pk or 0 for pk in session.scalars(select(col(PairRow.pk)).where(col(PairRow.wanted) == 2))}


def _add_pairs(database: Database) -> None:
    """One more query, with 100 of the documents."""
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        query = QueryRow(dataset_pk=dataset_pk, position=99, query_id="Q99", text="後から")
        session.add(query)
        session.flush()
        documents = session.scalars(select(DocumentRow).order_by(col(DocumentRow.pk)).limit(100)).all()
        candidates = [
            PoolCandidate(key_of(query.pk), "Q99", key_of(document.pk), document.doc_id, "bm25")
            for document in documents
        ]
        add_candidates(session, dataset_pk, "d", candidates, now=NOW)


def test_the_gate_and_the_overview_count_the_pairs_that_lack_by_their_own_rule(database: Database) -> None:
    world = AssignmentWorld(database, documents=2, overlap=1)
    _set(database, overlap_by_category="howto=2")
    world.judge(world.person("a"), pairs=MANY)
    assert _short(database) == 4
    steps = [str(step.what) for step in show_overview(database, OPERATOR, "d").steps]
    assert "Have 4 pairs judged" in steps
    world.judge(world.person("b"), pairs=MANY)
    assert _short(database) == 0


def test_a_training_or_gold_pair_is_not_short_though_nobody_is_handed_it(database: Database) -> None:
    AssignmentWorld(database, documents=2, overlap=1)
    with database.write() as session:
        pair = session.scalars(select(PairRow)).first()
        assert pair is not None
        assert pair.pk is not None
        session.add(CheckRow(pair_pk=pair.pk, kind="gold", grade=1, explanation="", marked_at=NOW))
        derive_work(session, pair.dataset_pk)
    assert _short(database) == 7


def test_a_third_is_asked_where_the_first_two_differ_enough_and_agreement_leaves_that_out(
    database: Database,
) -> None:
    world = AssignmentWorld(database, documents=1)
    _set(database, third_judgment_from="2")
    far, near, third = (world.person(username) for username in ("far", "near", "third"))
    pairs = world.judge(far, pairs=MANY, grade=0)
    for pair, grade in zip(pairs, (0, 1, 2, 3), strict=True):
        world.send(near, world.event(pair, grade))
    before = compute_agreement(database, OPERATOR, "d").measured
    assert set(world.judge(third, pairs=MANY, grade=3)) == set(pairs[2:])
    assert _purposes(database) == ["independent"] * 8 + ["conditional"] * 2
    assert compute_agreement(database, OPERATOR, "d").measured == before
    assert _short(database) == 0


def test_a_cap_leaves_no_room_for_a_third(database: Database) -> None:
    world = AssignmentWorld(database, documents=1)
    _set(database, third_judgment_from="1", overlap_cap="3", overlap="3")
    for grade, username in enumerate(("a", "b", "c")):
        world.judge(world.person(username), pairs=MANY, grade=grade)
    assert world.judge(world.person("e"), pairs=MANY) == []
    assert set(_purposes(database)) == {"independent"}


def test_nobody_is_handed_a_query_outside_their_expertise_or_given_to_others(database: Database) -> None:
    world = AssignmentWorld(database)
    narrow, other = world.person("narrow"), world.person("other")
    change_person(database, OPERATOR, "narrow", dataset="d", expertise={"languages": ["ja"]}, now=NOW)
    assign(database, OPERATOR, "d", ["other"], QuerySelection(("Q2",)), now=NOW)
    assert (
        len(world.judge(narrow, pairs=MANY)) == 3
    )  # Q0 alone: Q1 is Korean, Q2 is another's, Q3 in no language
    assert len(world.judge(other, pairs=MANY)) == 12


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_nobody_runs_dry_while_a_pair_is_left_that_they_may_do(database: Database, seed: int) -> None:
    """By turns, one pair each: whoever gets none has none left by the lead's own count, and so it ends with no pair
    lacking a judgment but those that too few people may judge."""
    world = AssignmentWorld(database, documents=4, overlap=2)
    _set(database, seed=str(seed), overlap_by_category="判例=3", third_judgment_from="1")
    people = {username: world.person(username) for username in ("a", "b", "c", "e")}
    change_person(database, OPERATOR, "a", dataset="d", expertise={"categories": ["howto"]}, now=NOW)
    change_person(database, OPERATOR, "b", dataset="d", expertise={"languages": ["ja"]}, now=NOW)
    assign(database, OPERATOR, "d", ["c", "e"], QuerySelection(("Q1",)), now=NOW)
    grades = iter(range(10_000))
    while _take_turns(world, people, grades):
        pass
    assignment = show_assignment(database, OPERATOR, "d", now=world.now)
    assert {person.username: person.pairs for person in assignment.people} == dict.fromkeys(people, 0)
    assert sum(query.open_pairs for query in assignment.queries) == assignment.stuck
    with database.read() as session:
        assert len(session.scalars(select(CurrentJudgmentRow)).all()) == len(_purposes(database))


def _take_turns(world: AssignmentWorld, people: dict[str, Actor], grades: Iterator[int]) -> int:
    """How many of them were handed a pair; one who was not has none left."""
    handed = 0
    for username, actor in people.items():
        left = {
            person.username: person.pairs
            for person in show_assignment(world.database, OPERATOR, "d", now=world.now).people
        }
        judged = world.judge(actor, pairs=1, grade=next(grades) % 4)
        assert bool(judged) == bool(left[username]), (username, left)
        handed += len(judged)
    return handed
