"""An annotator's own answers, pace and the way back to a pair; and the times that leads see."""

from datetime import date, timedelta, timezone

import pytest

from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.judgments import OwnAnswer
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.calibration_service import set_check
from annotator.labeling.my_work_service import (
    CannotRevise,
    compute_times,
    list_own_work,
    list_work_categories,
    read_own_pair,
    show_pace,
)
from annotator.labeling.records import OwnJudgmentFilter
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_decided
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.labeling import RepeatRow
from tests.databases import CopyWorld
from tests.integration.checked_world import CheckedWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.labeling.test_checks import disclose, set_rates


def make_world(database: Database) -> JudgedWorld:
    world = JudgedWorld(database)
    world.query("Q1", "도로 점용 허가", category="법률")
    world.query("Q2", "RESTful 100%_ok", category="howto")
    world.query("Q3", "nothing")
    for number, text in enumerate(["本文 エーテル", "a_b", "nablarch.fw.Handler", ""]):
        world.pair("Q1" if number < 2 else "Q2", f"d/{number}", title=f"題 {number}", text=text)
    return world


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)


def listed(world: JudgedWorld, actor: Actor, wanted: OwnJudgmentFilter = OwnJudgmentFilter()) -> list[str]:
    return [judgment.doc_id for judgment in list_own_work(world.database, actor, "d", wanted).judgments]


def test_only_ones_own_answers_are_listed_the_latest_first_page_by_page(world: JudgedWorld) -> None:
    ann, bob = world.person("ann"), world.person("bob")
    for number in range(4):
        world.judge(ann, "Q1" if number < 2 else "Q2", f"d/{number}", number)
    world.judge(bob, "Q1", "d/0", 3, note="secret")
    world.judge(ann, "Q1", "d/0", 1)  # changed: the answer that holds is the latest
    assert listed(world, ann) == ["d/0", "d/3", "d/2", "d/1"]
    page = list_own_work(world.database, ann, "d", page=1, size=3)
    assert (page.total, [judgment.doc_id for judgment in page.judgments]) == (4, ["d/1"])
    assert list_own_work(world.database, ann, "d").judgments[0].grade == 1
    assert listed(world, bob) == ["d/0"]
    with pytest.raises(NotAllowed):
        list_own_work(world.database, OPERATOR, "d")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (OwnJudgmentFilter(words="エーテル"), ["d/0"]),
        (OwnJudgmentFilter(words="점용"), ["d/1", "d/0"]),
        (OwnJudgmentFilter(words="100%_"), ["d/3", "d/2"]),
        (OwnJudgmentFilter(words="a_b"), ["d/1"]),
        (OwnJudgmentFilter(words=" HANDLER "), ["d/2"]),
        (OwnJudgmentFilter(words="%"), ["d/3", "d/2"]),
        (OwnJudgmentFilter(answer="2"), ["d/0"]),
        (OwnJudgmentFilter(answer="unrateable"), ["d/1"]),
        (OwnJudgmentFilter(answer="later"), ["d/3"]),
        (OwnJudgmentFilter(category="howto"), ["d/3", "d/2"]),
        (OwnJudgmentFilter(category="howto", answer="0"), ["d/2"]),
    ],
)
def test_answers_are_found_by_words_answer_and_category(
    world: JudgedWorld, wanted: OwnJudgmentFilter, expected: list[str]
) -> None:
    ann = world.person("ann")
    world.judge(ann, "Q1", "d/0", 2)
    world.judge(ann, "Q1", "d/1", None)
    world.judge(ann, "Q2", "d/2", 0)
    world.judge(ann, "Q2", "d/3", None, outcome="later")
    assert listed(world, ann, wanted) == expected
    assert list_own_work(world.database, ann, "d", wanted).total == len(expected)


def test_days_are_those_of_the_reader(world: JudgedWorld) -> None:
    ann = world.person("ann")
    world.judge(ann, "Q1", "d/0", 2)  # 2026-03-04 05:07 UTC
    today, before = date(2026, 3, 4), date(2026, 3, 3)
    assert listed(world, ann, OwnJudgmentFilter(first_day=today, last_day=today)) == ["d/0"]
    assert listed(world, ann, OwnJudgmentFilter(last_day=before)) == []
    west = timezone(timedelta(hours=-8))
    there = list_own_work(world.database, ann, "d", OwnJudgmentFilter(last_day=before), zone=west)
    assert there.total == 1


def test_an_answer_that_is_none_is_refused_and_categories_are_offered(world: JudgedWorld) -> None:
    ann = world.person("ann")
    with pytest.raises(ValidationError):
        list_own_work(world.database, ann, "d", OwnJudgmentFilter(answer="4"))
    assert list_work_categories(world.database, ann, "d") == ["howto", "법률"]


def test_gold_stands_among_the_own_answers_as_if_it_were_none(world: JudgedWorld) -> None:
    lead, ann = world.person("lea", "lead"), world.person("ann")
    world.judge(ann, "Q1", "d/0", 2)
    key = world.pair("Q2", "d/2")
    set_check(world.database, lead, "d", key, kind="gold", grade=1, explanation="", now=NOW)
    world.judge(ann, "Q2", "d/2", 3, purpose="gold")
    world.judge(ann, "Q2", "d/2", 1, purpose="gold")
    world.judge(ann, "Q2", "d/3", 1, purpose="training")
    world.judge(ann, "Q1", "d/0", 0, purpose="repeat")
    judgments = list_own_work(world.database, ann, "d").judgments
    assert [(judgment.doc_id, judgment.grade) for judgment in judgments] == [("d/2", 1), ("d/0", 2)]
    handed = read_own_pair(world.database, ann, "d", key, now=NOW)
    assert handed.answer == OwnAnswer("graded", 1, None, None)


def test_the_list_says_why_an_answer_cannot_be_changed(database: Database) -> None:
    world = CheckedWorld(database)
    ann, lead = world.person("ann"), world.person("lea", "lead")
    for pair in world.pairs[:3]:
        world.answer(ann, pair, 1)
    disclose(world, ann, world.pairs[1])
    with database.write() as session:
        row = {
            "pair_pk": world.pairs[2], "revision": 1, "lead_pk": lead.person_id, "rubric_pk": world.rubric_pk,
            "grade": 1, "rationale": "so", "decided_at": NOW,
        }  # fmt: skip
        session.add(AdjudicationRow.model_validate(row))
        derive_decided(session, [world.pairs[2]])
    judgments = list_own_work(database, ann, "d").judgments
    assert [judgment.locked for judgment in judgments] == ["settled", "disclosed", None]
    codes = []
    for pair in world.pairs[1:4]:
        with pytest.raises(CannotRevise) as error:
            read_own_pair(database, ann, "d", world.keys[pair], now=NOW)
        codes.append(error.value.code)
    assert codes == ["disclosed", "settled", "not_yours"]


def test_a_pair_of_ones_own_comes_back_with_the_answer_and_nobody_elses(database: Database) -> None:
    world = CheckedWorld(database)
    ann, bob = world.person("ann"), world.person("bob")
    pair = world.pairs[0]
    world.answer(ann, pair, 1)
    world.answer(bob, pair, 3)
    handed = read_own_pair(database, ann, "d", world.keys[pair], now=NOW)
    assert (handed.pair, handed.answer) == (world.keys[pair], OwnAnswer("graded", 1, None, None))
    assert handed.text and handed.query
    for actor, key in ((bob, world.keys[world.pairs[1]]), (ann, "nonsense"), (ann, "")):
        with pytest.raises(CannotRevise) as error:
            read_own_pair(database, actor, "d", key, now=NOW)
        assert error.value.code == "not_yours"


def test_under_the_key_of_a_repeat_comes_the_answer_on_the_repeat(database: Database) -> None:
    """Going back must not tell that it is one."""
    world = CheckedWorld(database, queries=1, documents=30, repeat_after=2)
    set_rates(world, repeat_rate=0.5)
    ann = world.person("ann")
    for pair in world.pairs[:6]:
        world.answer(ann, pair, 1)
    repeat = next(handed_pair for handed_pair in world.mixed(ann, world.pairs[10:]) if handed_pair.repeat)
    with pytest.raises(CannotRevise):
        read_own_pair(database, ann, "d", repeat.key, now=NOW)
    world.answer(ann, repeat.pair_pk, 3, purpose="repeat")
    handed = read_own_pair(database, ann, "d", repeat.key, now=NOW)
    assert (handed.pair, handed.answer) == (repeat.key, OwnAnswer("graded", 3, None, None))
    own = read_own_pair(database, ann, "d", world.keys[repeat.pair_pk], now=NOW)
    assert own.answer == OwnAnswer("graded", 1, None, None)


def test_the_pace_counts_answers_on_checks_like_any_other(database: Database) -> None:
    world = CheckedWorld(database, queries=1, documents=30)
    ann = world.person("ann")
    for pair in world.pairs[:10]:
        world.answer(ann, pair, 1)
    world.mark("gold", world.pairs[20])
    world.answer(ann, world.pairs[20], 1, purpose="gold")
    row = {"key": "again", "pair_pk": world.pairs[0], "annotator_pk": ann.person_id, "handed_at": NOW}
    with database.write() as session:
        session.add(RepeatRow.model_validate({**row, "answered_at": NOW}))
    world.answer(ann, world.pairs[0], 2, purpose="repeat")
    pace = show_pace(database, ann, "d", now=NOW)
    assert (pace.done, pace.timed, pace.seconds) == (12, 12, 1.5)


def test_the_pace_counts_what_is_done_and_left(database: Database) -> None:
    world = CheckedWorld(database, queries=1, documents=12)
    ann = world.person("ann")
    for pair in world.pairs[:10]:
        assert show_pace(database, ann, "d", now=NOW).needed is None
        world.answer(ann, pair, 1)
    pace = show_pace(database, ann, "d", now=NOW)
    assert (pace.done, pace.left, pace.timed, pace.seconds, pace.needed) == (10, 2, 10, 1.5, 3.0)


def test_leads_see_medians_by_name(world: JudgedWorld) -> None:
    lead, zoe, ann = world.person("lea", "lead"), world.person("zoe"), world.person("ann", simulated=True)
    world.judge(zoe, "Q1", "d/0", 2)
    world.judge(ann, "Q2", "d/2", 2)
    times = compute_times(world.database, lead, "d")
    assert list(times.annotators) == ["ann", "zoe"]
    assert {name: median.seconds for name, median in times.categories.items()} == {"howto": 2.5, "법률": 2.5}
    assert (times.n, sorted(times.simulated)) == (2, ["ann"])
    with pytest.raises(NotAllowed):
        compute_times(world.database, zoe, "d")
