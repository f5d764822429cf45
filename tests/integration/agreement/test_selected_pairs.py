"""The pairs behind a figure: as many as it counts, in order, and none told to somebody who has still to judge it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import case, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.agreement.records import AgreementReport, PairSelection, SelectedPairs
from annotator.agreement.service import (
    compute_agreement,
    iterate_selected_pairs,
    list_selected_pairs,
)
from annotator.domain.errors import NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.calibration_service import set_check
from annotator.overview.service import keep_answers
from annotator.people.roles_service import find_actor
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import count_queries
from annotator.storage.lookup import find_rubric, key_of
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.adjudication import QualityDrawRow, QualityPairRow
from annotator.storage.tables.central import CurrentJudgmentRow, PairRow, RubricRow
from annotator.storage.tables.labeling import DisclosureRow, RepeatRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

GRADES = (  # of ann, 민준, 花子 (None: not judged) on each document
    ("Q1", "d1", (0, 3, None)), ("Q1", "d2", (1, 1, None)), ("Q1", "d3", (2, 1, 1)), ("Q1", "d4", (3, None, None)),
    ("Q2", "d1", (0, 1, None)), ("Q2", "d5", (None, 2, 2)), ("Q2", "d6", (1, 2, 0)), ("Q2", "d7", (1, None, 2)),
)  # fmt: skip


def make_world(database: Database) -> JudgedWorld:
    """Eight pairs of two queries, judged by up to three."""
    made = JudgedWorld(database)
    people = [made.person(name) for name in ("ann", "민준", "花子")]
    made.person("lead", "lead")
    with made.at_once():
        made.query("Q1", "設定", category="設定", extra={"team": "A"})
        made.query("Q2", "법", category="법")
        for query_id, doc_id, grades in GRADES:
            made.pair(query_id, doc_id, title=f"T {doc_id}", area="north" if doc_id == "d1" else "south")
            for person, grade in zip(people, grades, strict=True):
                if grade is not None:
                    made.judge(person, query_id, doc_id, grade)
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)  # type: ignore[no-any-return]


def find(world: JudgedWorld, selection: PairSelection, **options: int) -> SelectedPairs:
    return list_selected_pairs(
        world.database, OPERATOR, "d", selection, limit=options.pop("limit", 50), **options, now=NOW
    )


def names(selected: SelectedPairs) -> list[tuple[str, str]]:
    return [(pair.query_id, pair.doc_id) for pair in selected.pairs]


def test_every_cell_of_every_confusion_matrix_opens_as_many_pairs_as_it_counts(world: JudgedWorld) -> None:
    report = compute_agreement(world.database, OPERATOR, "d", resamples=0)
    assert find(world, PairSelection()).total == report.measured.pairs == 7
    for pair in report.measured.annotator_pairs:
        assert find(world, PairSelection(annotators=pair.annotators)).total == pair.pairs
        differing = sum(map(sum, pair.confusion)) - sum(pair.confusion[at][at] for at in range(4))
        assert find(world, PairSelection("differing", pair.annotators)).total == differing
        for row, counts in enumerate(pair.confusion):
            for column, count in enumerate(counts):
                selected = find(world, PairSelection(annotators=pair.annotators, grades=(row, column)))
                assert (selected.total, len(selected.pairs)) == (count, count)


@pytest.mark.parametrize(
    "by", ["category", "team", "annotator", "document:area", "guideline_version", "week"]
)
def test_every_group_opens_as_many_pairs_as_it_counts(world: JudgedWorld, by: str) -> None:
    with world.database.write() as session:
        grades = find_rubric(session, world.dataset_pk).grades
        again = RubricRow(dataset_pk=world.dataset_pk, version=2, grades=grades, created_at=NOW)
        session.add(again)
        session.flush()
        late = col(CurrentJudgmentRow.judgment_pk) % 3 == 0
        values = {"rubric_pk": again.pk, "made_at": col(CurrentJudgmentRow.made_at) + 7 * 86_400}
        session.execute(update(CurrentJudgmentRow).where(late).values(values))
    report = compute_agreement(world.database, OPERATOR, "d", by=by, resamples=0)
    assert len(report.groups) >= 2
    for group in report.groups:
        selection = PairSelection(by=by, value=group.value)
        assert find(world, selection).total == group.measured.pairs
        for pair in group.measured.annotator_pairs:
            both = replace(selection, annotators=pair.annotators)
            assert by == "annotator" or find(world, both).total == pair.pairs


def test_every_bar_of_grades_opens_as_many_pairs_as_it_counts(world: JudgedWorld) -> None:
    late = world.person("late")
    world.judge(late, "Q1", "d4", 3, purpose="conditional")
    world.judge(late, "Q2", "d7", 2)
    with world.database.write() as session:
        session.execute(
            update(PairRow).where(col(PairRow.key) == pair_key("d", "Q1", "d2")).values(retired_at=NOW)
        )
    given = compute_agreement(world.database, OPERATOR, "d", resamples=0).measured.grades_by_annotator
    assert sum(map(sum, given.values())) == 16, "also what nobody else judged counts"
    for name, counts in given.items():
        for grade, count in enumerate(counts):
            selected = find(world, PairSelection("given", (name,), grade=grade))
            assert (selected.total, len(selected.pairs)) == (count, count)
            assert all((name, grade) in pair.grades for pair in selected.pairs)
    for grade, count in enumerate(map(sum, zip(*given.values(), strict=True))):
        selected = find(world, PairSelection("given", grade=grade))
        assert sum(grades == grade for pair in selected.pairs for _, grades in pair.grades) == count
        assert all(grade in dict(pair.grades).values() for pair in selected.pairs)


def test_every_period_opens_as_many_pairs_as_it_counts(database: Database) -> None:
    world, report = _measure_long_work(database)
    assert len(report.periods) >= 3
    listed = [names(find(world, PairSelection(span=period.span), limit=500)) for period in report.periods]
    assert [len(some) for some in listed] == [period.pairs for period in report.periods]
    assert len({name for some in listed for name in some}) == report.measured.pairs == 144
    for period in report.periods:
        assert period.leanings
        for leaning in period.leanings:
            selected = find(
                world, PairSelection(annotators=(leaning.annotator,), span=period.span), limit=500
            )
            assert sum(len(pair.grades) - 1 for pair in selected.pairs) == leaning.comparisons
        both = find(world, PairSelection("differing", ("ann", "민준"), span=period.span), limit=500)
        assert both.total == sum(
            dict(pair.grades)["ann"] != dict(pair.grades)["민준"]
            for pair in find(world, PairSelection(span=period.span), limit=500).pairs
        )


def test_a_sentence_about_a_change_opens_the_third_of_the_work_that_it_is_about(database: Database) -> None:
    world, report = _measure_long_work(database)
    (about,) = (finding for finding in report.findings if finding.sentence.startswith("Agreement has fallen"))
    assert about.pairs is not None
    selected = find(world, about.pairs, limit=500)
    assert selected.total == 48
    assert {int(pair.doc_id) for pair in selected.pairs} == set(range(96, 144)), "the last third"


def _measure_long_work(database: Database) -> tuple[JudgedWorld, AgreementReport]:
    """144 pairs of 12 queries within two hours and a bit, the last third of them judged at odds; some by three people."""
    world = JudgedWorld(database)
    people = [world.person(name) for name in ("ann", "민준", "花子")]
    with world.at_once():
        for at in range(12):
            world.query(f"Q{at}", "x", category="設定")
        for at in range(144):
            query_id, grade = f"Q{at % 12}", at % 4
            world.pair(query_id, str(at))
            for index, person in enumerate(people[: 3 if at % 8 == 0 else 2]):
                world.judge(person, query_id, str(at), (grade + index) % 4 if at >= 96 else grade)
    return world, compute_agreement(database, OPERATOR, "d", resamples=0)


def test_the_furthest_apart_come_first_then_the_order_of_the_queries(world: JudgedWorld) -> None:
    selected = find(world, PairSelection())
    assert [(pair.query_id, pair.doc_id, pair.distance) for pair in selected.pairs] == [
        ("Q1", "d1", 3), ("Q2", "d6", 2), ("Q1", "d3", 1), ("Q2", "d1", 1), ("Q2", "d7", 1), ("Q1", "d2", 0),
        ("Q2", "d5", 0),
    ]  # fmt: skip
    everything = iterate_selected_pairs(world.database, OPERATOR, "d", PairSelection(), now=NOW)
    assert tuple(everything) == selected.pairs
    assert [pair.distance for pair in find(world, PairSelection(annotators=("花子", "ann"))).pairs] == [
        1,
        1,
        1,
    ]
    assert selected.pairs[1].grades == (("ann", 1), ("花子", 0), ("민준", 2))
    assert [(pair.status, pair.case) for pair in selected.pairs][0::5] == [
        ("disagreement", True),
        ("unanimous", False),
    ]


def test_pages_follow_each_other_and_all_say_the_total(world: JudgedWorld) -> None:
    whole = names(find(world, PairSelection()))
    pages = [find(world, PairSelection(), limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [name for page in pages for name in names(page)] == whole
    assert {page.total for page in pages} == {7}


def test_grades_that_met_are_found_in_either_order_but_for_two_annotators(world: JudgedWorld) -> None:
    assert names(find(world, PairSelection(grades=(2, 1)))) == [("Q2", "d6"), ("Q1", "d3"), ("Q2", "d7")]
    assert names(find(world, PairSelection(grades=(1, 1)))) == [("Q1", "d3"), ("Q1", "d2")]
    assert names(find(world, PairSelection(annotators=("花子",), grades=(1, 2)))) == [
        ("Q1", "d3"),
        ("Q2", "d7"),
    ]
    assert names(find(world, PairSelection(annotators=("花子",), grades=(1, 1)))) == [("Q1", "d3")]
    assert names(find(world, PairSelection(annotators=("ann", "민준"), grades=(2, 1)))) == [("Q1", "d3")]
    assert names(find(world, PairSelection(annotators=("ann", "민준"), grades=(1, 2)))) == [("Q2", "d6")]


def test_differing_pairs_of_one_annotator_are_those_where_somebody_gave_another_grade(
    world: JudgedWorld,
) -> None:
    assert names(find(world, PairSelection("differing", ("花子",)))) == [
        ("Q2", "d6"), ("Q1", "d3"), ("Q2", "d7"),
    ]  # fmt: skip
    assert find(world, PairSelection("differing", by="category", value="법")).total == 3


def test_pairs_without_somebody_are_those_that_the_others_judged_and_name_who_is_left_out(
    world: JudgedWorld,
) -> None:
    assert names(find(world, PairSelection("differing", without=("花子",)))) == [
        ("Q1", "d1"),
        ("Q1", "d3"),
        ("Q2", "d1"),
        ("Q2", "d6"),
    ]
    assert names(find(world, PairSelection("differing", ("ann",), without=("花子", "민준")))) == []
    assert names(find(world, PairSelection("differing", grades=(1, 2), without=("민준",)))) == [
        ("Q1", "d3"),
        ("Q2", "d7"),
    ]
    grades = find(world, PairSelection("differing", without=("花子",))).pairs[1].grades
    assert [name for name, _ in grades if name == "花子"] == ["花子"], (
        "named in the address, so in the list and the trail"
    )
    with pytest.raises(NotFound):
        find(world, PairSelection("differing", without=("nobody",)))


def test_a_group_by_an_attribute_of_the_documents_or_by_what_queries_lack(world: JudgedWorld) -> None:
    assert names(find(world, PairSelection(by="document:area", value="north"))) == [
        ("Q1", "d1"),
        ("Q2", "d1"),
    ]
    assert find(world, PairSelection(annotators=("花子",), by="document:area", value="north")).total == 0
    assert names(find(world, PairSelection(by="team", value=None))) == [
        ("Q2", "d6"), ("Q2", "d1"), ("Q2", "d7"), ("Q2", "d5"),
    ]  # fmt: skip


def test_what_does_not_count_is_in_no_list(world: JudgedWorld) -> None:
    late = world.person("late")
    world.judge(late, "Q1", "d4", None)
    world.judge(late, "Q1", "d4", 1, purpose="conditional")
    assert find(world, PairSelection()).total == 7
    with world.database.write() as session:
        session.execute(
            update(PairRow).where(col(PairRow.key) == pair_key("d", "Q1", "d1")).values(retired_at=NOW)
        )
    assert find(world, PairSelection()).total == 6
    assert ("Q1", "d1") not in names(find(world, PairSelection()))


def ask_for_one_more(session: Session, *keys: str) -> None:
    """These pairs lack a judgment, so that whoever has not judged them may be handed them."""
    session.execute(update(PairRow).where(col(PairRow.key).in_(keys)).values(lacking=1))
    count_queries(session, session.scalars(select(col(PairRow.query_pk)).distinct()))


def test_a_lead_reads_nothing_of_a_pair_that_they_have_still_to_judge(world: JudgedWorld) -> None:
    lead = world.person("hana", "lead")
    d1, d2 = pair_key("d", "Q1", "d1"), pair_key("d", "Q1", "d2")
    with world.database.write() as session:
        ask_for_one_more(session, d1, d2)

    def hidden() -> list[str]:
        selected = list_selected_pairs(world.database, lead, "d", PairSelection(), limit=50, now=NOW)
        gone = sorted({d1, d2} - {pair.pair for pair in selected.pairs})
        assert (selected.total, len(selected.pairs)) == (7 - len(gone),) * 2
        assert selected.blind_pairs >= len(gone), "one pair has a single judgment"
        return gone

    assert hidden() == sorted([d1, d2])
    assert find(world, PairSelection()).total == 7, "the operator judges nothing"
    world.judge(lead, "Q1", "d2", 1)
    with world.database.write() as session:
        ask_for_one_more(session, d1, d2)
    assert hidden() == sorted([d1, d2]), "the answer on d2 may still be changed"
    keep_answers(world.database, lead, "d", now=NOW)
    assert hidden() == [d1]
    with world.database.write() as session:
        pk = key_of(session.query(PairRow).where(col(PairRow.key) == d1).one().pk)
        session.add(DisclosureRow(pair_pk=pk, person_pk=key_of(lead.person_id), disclosed_at=NOW))
    assert hidden() == []


def test_a_pair_drawn_for_a_lead_in_quality_control_is_hidden_until_its_answer_stays(
    world: JudgedWorld,
) -> None:
    lead = world.person("hana", "lead")
    with world.database.write() as session:
        session.execute(update(PairRow).values(lacking=0))
        pk = key_of(session.query(PairRow).where(col(PairRow.key) == pair_key("d", "Q1", "d2")).one().pk)
        drawn = QualityDrawRow(
            dataset_pk=world.dataset_pk, number=1, round=1, annotator_pk=key_of(lead.person_id), rate=0.1, seed=0,
            population=7, outside=0, drawn_at=NOW,
        )  # fmt: skip
        session.add(drawn)
        session.flush()
        session.add(
            QualityPairRow(draw_pk=key_of(drawn.pk), pair_pk=pk, settled_grade=1, settled_by="unanimous")
        )

    def hidden(who: Actor) -> int:
        return 7 - list_selected_pairs(world.database, who, "d", PairSelection(), limit=50, now=NOW).total

    assert (hidden(lead), hidden(OPERATOR)) == (1, 0)
    with world.database.write() as session:
        session.execute(update(QualityPairRow).values(outcome="graded", grade=1))
    assert hidden(lead) == 1, "the answer may still be changed"
    keep_answers(world.database, lead, "d", now=NOW)
    assert hidden(lead) == 0


def test_repeats_answered_otherwise_and_wrong_gold_pairs_are_listed_with_both_answers(
    world: JudgedWorld,
) -> None:
    with world.database.read() as session:
        person = find_actor(session, "ann")
    now = datetime(2027, 1, 1, tzinfo=UTC)
    for doc_id, again in (("d1", 2), ("d2", 1), ("d3", None)):
        with world.database.write() as session:
            pk = key_of(
                session.query(PairRow).where(col(PairRow.key) == pair_key("d", "Q1", doc_id)).one().pk
            )
            session.add(
                RepeatRow(
                    key=f"r{doc_id}",
                    pair_pk=pk,
                    annotator_pk=key_of(person.person_id),
                    handed_at=now,
                    answered_at=now,
                )
            )
        world.judge(person, "Q1", doc_id, again, purpose="repeat")
    selected = find(world, PairSelection("repeat", ("ann",)))
    assert [(pair.doc_id, pair.distance, str(pair.note)) for pair in selected.pairs] == [
        ("d1", 2, "first 0, then 2"), ("d3", 0, "first 2, then cannot rate"),
    ]  # fmt: skip
    for doc_id, right, given in (("g1", 3, 1), ("g2", 2, 2)):
        world.pair("Q2", doc_id)
        set_check(
            world.database, OPERATOR, "d", pair_key("d", "Q2", doc_id), kind="gold", grade=right,
            explanation="why", now=now,
        )  # fmt: skip
        world.judge(person, "Q2", doc_id, given, purpose="gold")
    (only,) = find(world, PairSelection("gold", ("ann",))).pairs
    assert (only.doc_id, only.distance, str(only.note)) == ("g1", 2, "correct: 3, given: 1")
    assert find(world, PairSelection("gold", ("花子",))) == SelectedPairs(0, ())


def test_quick_judgments_are_those_far_below_ones_own_median(world: JudgedWorld) -> None:
    assert find(world, PairSelection("quick", ("ann",))).total == 0, "of too few nothing is usual"
    with world.database.read() as session:
        person = find_actor(session, "ann")
    for at in range(40):
        world.pair("Q2", f"more{at}")
        world.judge(person, "Q2", f"more{at}", 1)
    seconds = case((col(CurrentJudgmentRow.pair_pk) % 8 == 0, 4.0), else_=20.0)
    with world.database.write() as session:
        session.execute(update(CurrentJudgmentRow).values(seconds=seconds))
        quick = session.scalars(
            select(col(CurrentJudgmentRow.pair_pk)).where(
                col(CurrentJudgmentRow.seconds) < 5, col(CurrentJudgmentRow.annotator_pk) == person.person_id
            )
        ).all()
    selected = find(world, PairSelection("quick", ("ann",)))
    assert selected.total == len(quick) >= 5
    assert [pair.distance for pair in selected.pairs] == sorted(
        (pair.distance for pair in selected.pairs), reverse=True
    )


def test_only_leads_ask_and_what_there_is_not_is_refused(world: JudgedWorld) -> None:
    nobody = world.person("newcomer")
    with pytest.raises(NotAllowed):
        list_selected_pairs(world.database, nobody, "d", PairSelection(), limit=50, now=NOW)
    with pytest.raises(NotFound, match="no person"):
        find(world, PairSelection(annotators=("nobody",)))
    for wrong in (
        PairSelection("sorted"), PairSelection("gold"), PairSelection(annotators=("ann", "民준", "花子")),  # type: ignore[arg-type]
        PairSelection(grades=(0, 4)), PairSelection(by="colour", value="x"), PairSelection("given", ("ann",)),
        PairSelection("given", ("ann",), grade=4), PairSelection("given", ("ann", "花子"), grade=1),
    ):  # fmt: skip
        with pytest.raises(ValidationError):
            find(world, wrong)
