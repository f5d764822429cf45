"""What quality control says of a sample; and that a third expert's answers count nowhere else."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from sqlmodel import col

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.agreement.service import compute_agreement
from annotator.dataset.service import change_settings
from annotator.domain.errors import NotAllowed
from annotator.domain.people import OPERATOR
from annotator.labeling.service import compute_progress, list_judgments
from annotator.quality.quality_sql import add_draw
from annotator.quality.records import QualityStatus
from annotator.quality.service import project_bound, show_quality
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.pairs.pair_states import list_pair_states
from annotator.storage.tables.central import PairRow, PersonRow
from tests.integration.quality_world import QualityWorld
from tests.integration.release_world import EPOCH, WAIVED, ReleaseWorld


def add_up(status: QualityStatus) -> bool:
    return status.drawn == status.checked + status.unrateable + status.barred + status.waiting


def test_before_the_first_draw_nothing_is_known(database: Database) -> None:
    status = QualityWorld(database, queries=1).status()
    assert (status.round, status.drawn, status.population, status.verdict) == (0, 0, 0, "undecided")
    assert status.rates["any"].rate is None
    assert "annotator qc draw d --annotator USER" in status.sentences[1]
    assert project_bound(status) == ()


def test_only_leads_are_told(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    with pytest.raises(NotAllowed):
        show_quality(database, world.cho, "d", now=world.now)
    assert show_quality(database, world.lea, "d", now=world.now).round == 0


def test_a_sample_is_followed_from_the_draw_to_the_verdict(database: Database) -> None:
    world = QualityWorld(database, queries=8, documents=10)
    world.draw(rate=0.5)
    status = world.status()
    assert (status.population, status.drawn, status.waiting, status.checked) == (80, 40, 40, 0)
    assert (status.verdicts, status.further) == ({"bound": "undecided", "rate": "undecided"}, 43)
    assert "No pair of the sample has been checked yet." in status.sentences
    assert any("--size 43" in sentence for sentence in status.sentences)
    pks = list(world.drawn())
    far = next(pk for pk in pks if world.grades[pk] == 0)
    unsure = next(pk for pk in pks if pk != far)
    for pk in pks:
        world.check(pk, 3 if pk == far else None if pk == unsure else world.grades[pk], note="왜")
    status = world.status()
    assert (status.checked, status.unrateable, status.waiting, status.barred) == (39, 1, 0, 0)
    assert add_up(status)
    assert {kind: rate.errors for kind, rate in status.rates.items()} == {"any": 1, "far": 1, "relevance": 1}
    assert status.verdicts == {"bound": "undecided", "rate": "passed"}  # 1 of 39 is 2.6 %
    (error,) = status.errors
    assert (error.pair, error.settled_grade, error.expert_grade) == (world.keys[far], 0, 3)
    assert (error.settled_by, error.note, error.state, error.distance) == ("unanimous", "왜", "reopened", 3)
    assert any("2.6 % (1 of 39 checked pairs), below 5 %" in sentence for sentence in status.sentences)
    assert any("Guaranteed maximum (95 %): at most" in sentence for sentence in status.sentences)
    points = dict(project_bound(status))
    assert points[0] == status.rates["any"].bound
    assert status.further is not None
    assert points[status.further] < 0.05


def test_the_gate_goes_by_the_datasets_rule(database: Database) -> None:
    world = QualityWorld(database, queries=8, documents=10)
    world.draw(rate=0.1)
    for pk in world.drawn():
        world.check(pk, world.grades[pk])
    assert (world.status().rule, world.status().verdict) == ("bound", "undecided")
    change_settings(database, OPERATOR, "d", {"quality_rule": "rate"}, now=datetime.now(UTC))
    assert (world.status().rule, world.status().verdict) == ("rate", "passed")


def test_an_error_is_decided_once_a_lead_has_decided_it(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    world.draw(rate=1.0)
    pk = next(iter(world.drawn()))
    world.check(pk, (world.grades[pk] + 1) % 4)
    assert [error.state for error in world.status().errors] == ["reopened"]
    world.later(seconds=1)
    line = f"query_id,doc_id,grade,rationale\nQ0,문서/{world.name(pk)},{(world.grades[pk] + 1) % 4},x\n"
    adjudicate_file(database, world.lea, "d", line.encode(), "x.csv", now=world.now)
    (error,) = world.status().errors
    assert (error.state, error.decided_grade) == ("decided", (world.grades[pk] + 1) % 4)
    assert world.status().rates["any"].errors == 1  # the sample found it all the same


def test_an_error_of_a_grade_that_was_mended_before_the_answer_is_decided_and_still_counts(
    database: Database,
) -> None:
    world = QualityWorld(database, queries=1)
    world.draw(rate=1.0)
    pk, other, *_ = world.drawn()
    mended = (world.grades[pk] + 1) % 4
    for actor in (world.ann, world.bea):
        world.judge_as(actor, pk, mended)
    world.check(pk, mended)
    world.check(other, (world.grades[other] + 1) % 4)
    states = {world.pks[error.pair]: (error.state, error.decided_grade) for error in world.status().errors}
    assert states == {pk: ("decided", mended), other: ("reopened", None)}
    assert world.status().rates["any"].errors == 2


def retire(world: QualityWorld, *pks: int) -> None:
    with world.database.write() as session:
        session.execute(update(PairRow).where(col(PairRow.pk).in_(pks)).values(retired_at=world.now))


def test_an_error_whose_pair_left_the_pool_waits_for_nobody_and_still_counts(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    world.draw(rate=1.0)
    gone, decided, waiting, *_ = world.drawn()
    for pk in (gone, decided, waiting):
        world.check(pk, (world.grades[pk] + 1) % 4)
    world.later(seconds=1)
    line = f"query_id,doc_id,grade,rationale\nQ0,문서/{world.name(decided)},{world.grades[decided]},x\n"
    adjudicate_file(database, world.lea, "d", line.encode(), "x.csv", now=world.now)
    before = world.status()
    retire(world, gone, decided)
    status = world.status()
    states = {world.pks[error.pair]: (error.state, error.decided_grade) for error in status.errors}
    assert states == {
        gone: ("retired", None), decided: ("decided", world.grades[decided]), waiting: ("reopened", None),
    }  # fmt: skip
    assert status.errors[0].state == "reopened"  # what waits comes first
    assert (status.rates, status.verdicts, status.checked) == (before.rates, before.verdicts, 3)
    assert "1 error is waiting for a decision on Disagreements." in status.sentences
    assert any("1 error is in a pair that has left the pool" in sentence for sentence in status.sentences)


def test_the_trail_keeps_every_round_and_the_figures_are_of_the_present_one(database: Database) -> None:
    world = QualityWorld(database)
    dan = world.person("dan")
    world.draw(size=4)
    of_grade = {world.grades[pk]: pk for pk in world.drawn(1)}  # one of each
    world.check(of_grade[1], 2)
    world.check(of_grade[0], 3)
    world.check(of_grade[2], None)
    world.draw(size=6)
    more = next(iter(world.drawn(2)))
    world.check(more, world.grades[more])
    world.draw("dan", size=3, new_round=True)
    status = world.status()
    draws = [
        (draw.number, draw.round, draw.pairs, draw.checked, draw.unrateable, draw.errors)
        for draw in status.draws
    ]
    assert draws == [(1, 1, 4, 2, 1, 2), (2, 1, 2, 1, 0, 0), (3, 2, 3, 0, 0, 0)]
    assert (status.round, status.drawn, status.checked, status.rates["any"].errors) == (2, 3, 0, 0)
    states = [(world.pks[error.pair], error.draw, error.round, error.state) for error in status.errors]
    assert states == [
        (of_grade[0], 1, 1, "reopened"),
        (of_grade[1], 1, 1, "reopened"),
    ]  # largest difference first
    assert "2 errors are waiting for a decision on Disagreements." in status.sentences
    wrong = next(pk for pk in world.drawn(3) if world.grades[pk] in (1, 2))
    world.check(wrong, 3 - world.grades[wrong], dan)
    status = world.status()
    assert [(error.draw, error.round, error.distance) for error in status.errors] == [
        (3, 2, 1),
        (1, 1, 3),
        (1, 1, 1),
    ]
    assert (status.checked, status.rates["any"].errors, status.draws[2].errors) == (1, 1, 1)
    retire(world, *of_grade.values())
    assert [error.state for error in world.status().errors] == ["reopened", "retired", "retired"]
    assert not any(
        "left the pool" in sentence for sentence in world.status().sentences
    )  # the present sample lost none


def test_an_error_that_the_expert_takes_back_is_none(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    world.draw(rate=1.0)
    pk = next(iter(world.drawn()))
    world.check(pk, (world.grades[pk] + 1) % 4)
    world.check(pk, world.grades[pk])
    assert world.status().errors == ()
    assert (world.status().rates["any"].errors, world.status().checked) == (0, 1)


def test_what_was_settled_since_the_draw_is_counted(database: Database) -> None:
    world = QualityWorld(database, queries=2, documents=5, settled=False)
    single, both, new, changed, *_ = world.keys
    world.settle([single], by=(world.ann,))
    world.settle([both, changed])
    world.draw(size=1)
    assert world.status().settled_since == 0
    (sampled,) = world.drawn()
    left = [pk for pk in (single, both, changed) if pk != sampled]
    world.settle([single], by=(world.bea,))  # was settled at this grade before
    world.settle([both])
    assert world.status().settled_since == 0
    world.settle([new])
    assert world.status().settled_since == 1
    other = left[-1]
    for actor in (world.ann, world.bea):
        world.judge_as(actor, other, (world.grades[other] + 1) % 4)
    assert world.status().settled_since == 2  # it is settled, but not as it was
    world.later(seconds=1)
    assert any(
        "2 pairs have been settled since the last draw" in sentence for sentence in world.status().sentences
    )
    world.draw(rate=1.0)
    assert world.status().settled_since == 0


def test_a_sample_drawn_in_steps_says_what_looking_costs(database: Database) -> None:
    world = QualityWorld(database, queries=8, documents=10)
    world.draw(size=20)
    assert not any("steps" in sentence for sentence in world.status().sentences)
    world.draw(size=44)
    assert any("drawn in 2 steps" in sentence for sentence in world.status().sentences)
    world.draw(size=20, new_round=True)
    assert not any("steps" in sentence for sentence in world.status().sentences)


def test_somebody_who_left_leaves_barred_pairs(database: Database) -> None:
    world = QualityWorld(database, queries=1)
    world.draw(rate=1.0)
    world.check(next(iter(world.drawn())), 1)
    with database.write() as session:
        session.get_one(PersonRow, world.cho.person_id).disabled_at = world.now
    status = world.status()
    assert (status.checked, status.barred, status.waiting) == (1, 4, 0)
    assert any("can no longer judge 4 drawn pairs" in sentence for sentence in status.sentences)


def count_everything(world: ReleaseWorld) -> tuple[Any, ...]:
    with world.database.read() as session:
        states = [state._replace(lacking=0) for state in list_pair_states(session, world.dataset_pk)]
    progress = compute_progress(world.database, OPERATOR, world.name)
    agreement = replace(compute_agreement(world.database, OPERATOR, world.name), left_out=())
    current = [judgment.event_id for judgment in list_judgments(world.database, OPERATOR, world.name)]
    people = [(annotator.annotator, annotator.judged) for annotator in progress.annotators]
    return agreement, states, people, current


def test_a_third_experts_answers_enter_neither_agreement_nor_qrels_nor_judgments(
    database: Database, tmp_path: Path
) -> None:
    """Answers that agree with what is settled: one that does not reopens the pair, which is another rule's matter."""
    world = ReleaseWorld(database)
    expert = world.person("expert")
    waived = dict.fromkeys([*WAIVED, "stale", "relevant", "quality_control"], "x")

    def publish(version: str) -> Path:
        return publish_release(
            database, world.lead, world.name, version, exports_dir=tmp_path, now=EPOCH, overrides=waived
        ).path  # fmt: skip

    before, first = count_everything(world), publish("1.0.0")
    with database.write() as session:
        settled = [
            state
            for state in list_pair_states(session, world.dataset_pk)
            if state.settlement.grade is not None
        ]
        values = {
            "number": 1, "round": 1, "annotator_pk": expert.person_id, "drawn_by_pk": None, "rate": 1.0, "seed": 0,
            "population": len(settled), "outside": 0, "drawn_at": EPOCH - timedelta(days=1),
        }  # fmt: skip
        pairs = [(pair.pair_pk, pair.settlement.grade or 0, pair.settlement.status) for pair in settled]
        add_draw(session, world.dataset_pk, values, pairs)
    assert settled
    for state in settled:
        world.judge(expert, state.query_id, state.doc_id, state.settlement.grade, purpose="quality")
    assert count_everything(world) == before
    second = publish("1.0.1")
    same = [path.name for path in sorted(first.iterdir()) if path.is_file()]
    contents = [name for name in same if "judgments" in name or "qrels" in name]
    assert contents
    for name in contents:
        assert (second / name).read_bytes() == (first / name).read_bytes(), name
    kept = list_judgments(database, OPERATOR, world.name, history=True)
    assert [judgment.purpose for judgment in kept].count("quality") == len(settled)
