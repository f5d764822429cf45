"""Marking pairs as training and gold, and what the checks show; and that none of it reaches agreement or qrels."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.errors import BadInput, NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.calibration_service import (
    compute_results,
    find_candidates,
    import_checks,
    list_checks,
    remove_check,
    set_check,
    show_own_checks,
)
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import DisclosureRow, RepeatRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

HEADER = "query_id,doc_id,kind,grade,explanation\n"


def make_world(database: Database) -> JudgedWorld:
    """Two annotators, a lead, ten pairs in two queries."""
    world = JudgedWorld(database, training_score="0.5")
    world.query("Q1", "検索する", category="법률")
    world.query("Q2", "how to")
    for number in range(10):
        world.pair("Q1" if number < 5 else "Q2", f"문서/{number}", title=f"題 {number}", text="本文")
    return world


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)


def mark(world: JudgedWorld, lead: Actor, text: str, **more: Any) -> Any:
    return import_checks(world.database, lead, world.name, (HEADER + text).encode(), "m.csv", now=NOW, **more)


def repeat(world: JudgedWorld, actor: Actor, query_id: str, doc_id: str, grade: int | None) -> None:
    """The annotator is shown the pair again, and answers."""
    with world.database.write() as session:
        key = pair_key(world.name, query_id, doc_id)
        pair_pk = session.scalars(select(col(PairRow.pk)).where(col(PairRow.key) == key)).one()
        row = {"key": f"r{actor.person_id}-{pair_pk}", "pair_pk": pair_pk, "annotator_pk": actor.person_id}
        session.add(RepeatRow.model_validate({**row, "handed_at": NOW, "answered_at": NOW}))
    world.judge(actor, query_id, doc_id, grade, purpose="repeat")


def test_pairs_are_marked_from_a_file_listed_and_marked_otherwise(world: JudgedWorld) -> None:
    lead = world.person("lea", "lead")
    text = "Q2,문서/7,gold,0,\nQ1,문서/1,training,3,それが答え\n"
    assert mark(world, lead, text, dry_run=True).added == 2
    assert list_checks(world.database, lead, "d", now=NOW) == []
    done = mark(world, lead, text)
    assert (done.added, done.changed, done.unchanged) == (2, 0, 0)
    done = mark(world, lead, "Q1,문서/1,training,2,それが答え\nQ2,문서/7,gold,0,\n")
    assert (done.added, done.changed, done.unchanged) == (0, 1, 1)
    first, second = list_checks(world.database, lead, "d", now=NOW)
    assert (first.query_id, first.doc_id, first.kind, first.grade, first.explanation) == (
        "Q1", "문서/1", "training", 2, "それが答え",
    )  # fmt: skip
    assert (first.marked_by, first.marked_at, first.answered) == ("lea", NOW, 0)
    assert (second.doc_id, second.kind, second.query) == ("문서/7", "gold", "how to")


def test_a_file_with_a_bad_line_marks_nothing_and_names_every_one(world: JudgedWorld) -> None:
    lead = world.person("lea", "lead")
    with pytest.raises(BadInput) as error:
        mark(world, lead, "Q1,문서/1,gold,1,x\nQ1,nowhere,gold,1,x\nQ2,문서/7,gold,9,x\n")
    assert [problem.line for problem in error.value.problems] == [3, 4]
    assert list_checks(world.database, lead, "d", now=NOW) == []


def test_only_leads_mark_see_marks_and_read_results(world: JudgedWorld) -> None:
    ann = world.person("ann")
    key = pair_key("d", "Q1", "문서/1")
    for act in (
        lambda: mark(world, ann, "Q1,문서/1,gold,1,x\n"),
        lambda: set_check(world.database, ann, "d", key, kind="gold", grade=1, explanation="", now=NOW),
        lambda: remove_check(world.database, ann, "d", key, now=NOW),
        lambda: list_checks(world.database, ann, "d", now=NOW),
        lambda: compute_results(world.database, ann, "d", now=NOW),
        lambda: find_candidates(world.database, ann, "d", now=NOW),
    ):
        refuse: Callable[[], object] = act
        with pytest.raises(NotAllowed):
            refuse()


def test_one_pair_is_marked_and_refused_as_a_file_would_be(world: JudgedWorld) -> None:
    lead = world.person("lea", "lead")
    good: dict[str, Any] = {"kind": "gold", "grade": 1, "explanation": "", "now": NOW}
    key = pair_key("d", "Q1", "문서/1")
    assert set_check(world.database, lead, "d", key, **good).added == 1
    for bad in ({"kind": "silver"}, {"grade": 4}, {"kind": "training"}):
        with pytest.raises(ValidationError):
            set_check(world.database, lead, "d", key, **{**good, **bad})
    with pytest.raises(NotFound):
        set_check(world.database, lead, "d", "nonsense", **good)


def lacking(world: JudgedWorld) -> dict[str, int]:
    with world.database.read() as session:
        return {row.key: row.lacking for row in session.scalars(select(PairRow))}


def test_a_marked_pair_lacks_nothing_until_it_is_unmarked(world: JudgedWorld) -> None:
    lead = world.person("lea", "lead")
    key = pair_key("d", "Q1", "문서/1")
    before = lacking(world)
    assert before[key] == 2
    mark(world, lead, "Q1,문서/1,gold,1,x\n")
    assert lacking(world) == {**before, key: 0}
    remove_check(world.database, lead, "d", key, now=NOW)
    assert lacking(world) == before
    with pytest.raises(NotFound):
        remove_check(world.database, lead, "d", key, now=NOW)


def test_whoever_answered_a_check_or_set_its_grade_cannot_judge_the_pair_once_it_is_unmarked(
    world: JudgedWorld,
) -> None:
    """They would get it a second time, and after training they know the right grade."""
    lead, ann, bob, eve = world.person("lea", "lead"), *(world.person(name) for name in ("ann", "bob", "eve"))
    world.judge(bob, "Q1", "문서/1", 1)
    mark(world, lead, "Q1,문서/1,training,1,x\n")
    world.judge(ann, "Q1", "문서/1", 3, purpose="training")
    world.judge(bob, "Q1", "문서/1", 3, purpose="training")
    world.judge(eve, "Q1", "문서/1", None, purpose="training", outcome="later")
    remove_check(world.database, lead, "d", pair_key("d", "Q1", "문서/1"), now=NOW)
    with world.database.read() as session:
        barred = {row.person_pk for row in session.scalars(select(DisclosureRow))}
    assert barred == {ann.person_id, lead.person_id}  # bob keeps the judgment he gave before


def test_results_are_by_name_with_first_and_latest_training_gold_and_repeats(world: JudgedWorld) -> None:
    lead, zoe, ann = world.person("lea", "lead"), world.person("zoe"), world.person("ann")
    mark(
        world, lead,
        "Q1,문서/0,training,3,x\nQ1,문서/1,training,0,x\nQ1,문서/2,gold,2,\nQ1,문서/3,gold,2,\n",
    )  # fmt: skip
    world.judge(ann, "Q1", "문서/0", 1, purpose="training")
    world.judge(ann, "Q1", "문서/0", 3, purpose="training")
    world.judge(ann, "Q1", "문서/1", 1, purpose="training")
    world.judge(ann, "Q1", "문서/2", 3, purpose="gold")
    world.judge(ann, "Q1", "문서/3", 2, purpose="gold")
    world.judge(ann, "Q2", "문서/5", 2)
    world.judge(ann, "Q2", "문서/6", 0)
    repeat(world, ann, "Q2", "문서/5", 2)
    repeat(world, ann, "Q2", "문서/6", 3)
    world.judge(ann, "Q2", "문서/6", 3)  # changed afterwards: the repeat stands against what it was then
    first, second = compute_results(world.database, lead, "d", now=NOW)
    assert (first.annotator, second.annotator) == ("ann", "zoe")
    assert first.training and (first.training.done, first.training.total) == (2, 2)
    assert first.training and (first.training.first, first.training.latest) == (0.0, 0.5)
    assert first.training and first.training.passed
    assert (first.gold.answered, first.gold.exact, first.gold.difference) == (2, 0.5, 0.5)
    assert [(miss.doc_id, miss.right, miss.given) for miss in first.gold.misses] == [("문서/2", 2, 3)]
    assert (first.repeats.n, first.repeats.equal, first.repeats.difference) == (2, 0.5, 1.5)
    assert second.gold.exact is None and second.gold.why
    assert second.repeats.equal is None and second.repeats.why
    assert second.training and second.training.latest is None
    assert [pair.answered for pair in list_checks(world.database, lead, "d", now=NOW)] == [1, 1, 1, 1]
    del zoe


def test_an_annotator_sees_the_own_training_and_consistency_and_nothing_of_gold(world: JudgedWorld) -> None:
    lead, ann, bob = world.person("lea", "lead"), world.person("ann"), world.person("bob")
    mark(world, lead, "Q1,문서/0,training,3,x\nQ1,문서/2,gold,2,\n")
    world.judge(ann, "Q1", "문서/0", 3, purpose="training")
    world.judge(bob, "Q1", "문서/0", 0, purpose="training")
    own = show_own_checks(world.database, ann, "d", now=NOW)
    assert own.training and own.training.passed
    assert own.trained and own.trained.latest == 1
    assert own.repeats.why
    assert "gold" not in set(type(own).__dataclass_fields__)
    other = show_own_checks(world.database, bob, "d", now=NOW)
    assert other.training and not other.training.passed
    with pytest.raises(NotAllowed):
        show_own_checks(world.database, OPERATOR, "d", now=NOW)


def test_pairs_judged_alike_are_offered_and_any_pair_can_be_searched(world: JudgedWorld) -> None:
    lead, ann, bob = world.person("lea", "lead"), world.person("ann"), world.person("bob")
    for who in (ann, bob):
        world.judge(who, "Q1", "문서/1", 2)
        world.judge(who, "Q2", "문서/8", 3 if who is ann else 0)
    (offered,) = find_candidates(world.database, lead, "d", now=NOW)
    assert (offered.doc_id, offered.status, offered.grade, offered.judged) == ("문서/1", "unanimous", 2, 2)
    candidates = find_candidates(world.database, lead, "d", words="문서/8", now=NOW)
    assert [(candidate.doc_id, candidate.status, candidate.grade) for candidate in candidates] == [
        ("문서/8", "disagreement", None)
    ]
    assert len(find_candidates(world.database, lead, "d", words="検索", now=NOW)) == 5
    assert [
        candidate.doc_id for candidate in find_candidates(world.database, lead, "d", words="題 3", now=NOW)
    ] == ["문서/3"]
    assert find_candidates(world.database, lead, "d", words="100%_", now=NOW) == []
    mark(world, lead, "Q1,문서/1,gold,2,\n")
    assert find_candidates(world.database, lead, "d", now=NOW)[0].kind == "gold"
