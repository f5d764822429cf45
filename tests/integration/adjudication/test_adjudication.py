"""The queue and its decisions, on both databases."""

import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import insert, select
from sqlmodel import col

from annotator.adjudication.queue.queue_service import find_disagreements
from annotator.adjudication.records import Decision
from annotator.adjudication.service import (
    adjudicate,
    show_disagreement,
)
from annotator.domain.errors import (
    ConflictError,
    NotAllowed,
    NotFound,
    StateError,
    ValidationError,
)
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.service import SubmitResponse, submit_judgments
from annotator.overview.service import keep_answers
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_rubric
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, MembershipRow, PairRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.labeling_world import hand_out

LATER = NOW + timedelta(hours=1)


class Court(JudgedWorld):
    """Three pairs: far apart, near, unanimous; two annotators and a lead."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.lead = self.person("lead", "lead")
        self.query("Q2", "법령 검색", category="law", narrative="제17조")
        self.query("Q1", "ハンドラキュー 🔎")
        self.near = self.pair("Q2", "近い", rank=1)
        self.far = self.pair("Q1", "遠い", rank=3, title="مرحبا", text="本文 <b>")
        self.same = self.pair("Q1", "同じ")
        for doc_id, query_id, grades in (
            ("近い", "Q2", (2, 3)),
            ("遠い", "Q1", (0, 3)),
            ("同じ", "Q1", (1, 1)),
        ):
            self.judge(self.hanako, query_id, doc_id, grades[0], note=f"ノート {doc_id}")
            self.judge(self.minjun, query_id, doc_id, grades[1])

    def case(self, pair: str):
        return show_disagreement(self.database, self.lead, "d", pair, now=NOW)

    def decide(
        self, pair: str, grade: int = 2, *, actor: Actor | None = None, seen: str | None = None, **more
    ):
        return adjudicate(
            self.database,
            actor or self.lead,
            "d",
            pair,
            grade=grade,
            rationale=more.pop("rationale", "第17条"),
            seen=self.case(pair).seen if seen is None else seen,
            now=LATER,
            **more,
        )

    def open_ids(self) -> list[str]:
        disagreements = find_disagreements(self.database, self.lead, "d", now=NOW)
        return [item.doc_id for item in disagreements if item.status == "open"]


@pytest.fixture
def court(copy_world: CopyWorld) -> Court:
    return copy_world(Court)


def test_the_queue_holds_what_differs_furthest_apart_first(court: Court) -> None:
    far, near = find_disagreements(court.database, court.lead, "d", now=NOW)
    assert (far.query_id, far.doc_id, far.category, far.grades) == (
        "Q1",
        "遠い",
        None,
        {"花子": 0, "민준": 3},
    )
    assert (far.distance, round(far.impact, 3), far.status, far.pair) == (3, 0.917, "open", court.far)
    assert far.since == NOW + timedelta(minutes=4)
    assert (near.doc_id, near.category, near.distance, round(near.impact, 3)) == ("近い", "law", 1, 0.571)
    assert [
        item.doc_id for item in find_disagreements(court.database, OPERATOR, "d", sort="age", now=NOW)
    ] == [
        "近い",
        "遠い",
    ]


def test_a_put_off_and_a_dependent_judgment_make_no_disagreement(court: Court) -> None:
    court.pair("Q1", "片方")
    court.judge(court.hanako, "Q1", "片方", 2)
    court.judge(court.person("third"), "Q1", "片方", 0, purpose="quality control")
    court.judge(court.person("fourth"), "Q1", "片方", None, outcome="later")
    assert court.open_ids() == ["遠い", "近い"]
    court.judge(court.person("fifth"), "Q1", "遠い", 2, purpose="quality control")
    assert find_disagreements(court.database, court.lead, "d", now=NOW)[0].grades == {"花子": 0, "민준": 3}
    assert len(court.case(court.far).judgments) == 2


def test_a_decision_settles_and_a_later_agreement_leaves_it_in_the_list(court: Court) -> None:
    assert court.decide(court.far, 1) == Decision(
        pair=court.far,
        revision=1,
        decided_at=LATER,
        lead_pk=court.lead.person_id or 0,
        lead=court.lead.username,
        outcome="graded",
        grade=1,
        rationale="第17条",
    )
    assert court.open_ids() == ["近い"]
    decided = find_disagreements(court.database, court.lead, "d", now=NOW)[-1]
    assert (decided.doc_id, decided.status, decided.distance) == ("遠い", "decided", 3)
    court.judge(court.hanako, "Q1", "遠い", 3)
    decided = find_disagreements(court.database, court.lead, "d", now=NOW)[-1]
    assert (decided.doc_id, decided.status, decided.distance, decided.since) == ("遠い", "decided", 0, LATER)


def test_a_disagreement_names_nobody_and_shows_no_rank(court: Court) -> None:
    disagreement = court.case(court.far)
    assert (
        disagreement.query.text,
        disagreement.document.text,
        disagreement.document.title,
        disagreement.barred,
    ) == (
        "ハンドラキュー 🔎",
        "本文 <b>",
        "مرحبا",
        None,
    )
    assert sorted(judgment.letter for judgment in disagreement.judgments) == ["A", "B"]
    assert {(judgment.grade, judgment.note) for judgment in disagreement.judgments} == {
        (0, "ノート 遠い"),
        (3, None),
    }
    shown = repr(disagreement)
    for secret in ("花子", "민준", "bm25", "rank", "score", "annotator_pk", "event"):
        assert secret not in shown
    assert court.case(court.far) == disagreement
    assert court.case(court.near).document.text is None


def test_what_is_simulated_is_marked_in_the_queue_and_in_the_disagreement(court: Court) -> None:
    bot = court.person("bot", simulated=True)
    court.judge(bot, "Q1", "遠い", 1)
    assert [
        (item.doc_id, item.simulated) for item in find_disagreements(court.database, court.lead, "d", now=NOW)
    ] == [
        ("遠い", True),
        ("近い", False),
    ]
    assert sorted((item.grade, item.simulated) for item in court.case(court.far).judgments) == [
        (0, False), (1, True), (3, False),
    ]  # fmt: skip


def test_the_queue_tells_a_lead_which_pairs_they_judged_themselves(court: Court) -> None:
    both = court.person("both", "lead")
    court.judge(both, "Q2", "近い", 2)
    keep_answers(court.database, both, "d", now=NOW)
    assert [(item.doc_id, item.yours) for item in find_disagreements(court.database, both, "d", now=NOW)] == [
        ("遠い", False),
        ("近い", True),
    ]
    for actor in (court.lead, OPERATOR):
        assert not any(item.yours for item in find_disagreements(court.database, actor, "d", now=NOW))


def test_a_disagreement_says_when_a_judgment_was_made_on_another_text(court: Court) -> None:
    assert not court.case(court.far).text_changed
    with court.database.write() as session:
        row = session.scalars(select(DocumentRow).where(col(DocumentRow.doc_id) == "遠い")).one()
        session.add(DocumentTextRow(document_pk=row.pk, sha256="bb", text="改訂", imported_at=NOW))
        session.flush()
        row.text_sha256 = "bb"
    disagreement = court.case(court.far)
    assert (disagreement.text_changed, disagreement.document.text) == (True, "改訂")


def test_an_annotator_has_no_fixed_place_from_pair_to_pair(court: Court) -> None:
    firsts = set()
    for number in range(12):
        pair = court.pair("Q1", f"d{number}")
        court.judge(court.hanako, "Q1", f"d{number}", 0)
        court.judge(court.minjun, "Q1", f"d{number}", 3)
        firsts.add(court.case(pair).judgments[0].grade)
    assert firsts == {0, 3}


def test_deciding_anew_appends_a_revision_and_the_last_one_holds(court: Court) -> None:
    court.decide(court.far, 1)
    again = court.decide(court.far, 3, rationale="見直し")
    assert (again.revision, again.grade) == (2, 3)
    assert [(item.revision, item.grade) for item in court.case(court.far).decisions] == [(1, 1), (2, 3)]
    assert court.case(court.far).progress.stage == "settled"


def test_a_decision_on_judgments_that_changed_is_refused(court: Court) -> None:
    seen = court.case(court.far).seen
    court.judge(court.hanako, "Q1", "遠い", 1)
    with pytest.raises(ConflictError, match="Look at the pair again"):
        court.decide(court.far, seen=seen)
    assert court.case(court.far).decisions == ()


def test_of_two_decisions_on_one_disagreement_the_first_holds_and_sending_it_twice_is_one(
    court: Court,
) -> None:
    seen, other = court.case(court.far).seen, court.person("other lead", "lead")
    made = court.decide(court.far, 1, seen=seen)
    assert court.decide(court.far, 1, seen=seen) == made
    with pytest.raises(ConflictError):
        court.decide(court.far, 1, seen=seen, actor=other)
    with pytest.raises(ConflictError):
        court.decide(court.far, 2, seen=seen)
    assert court.case(court.far).decisions == (made,)


def test_of_two_leads_at_the_same_moment_one_gets_a_conflict(court: Court) -> None:
    other = court.person("other lead", "lead")
    seen, outcomes = court.case(court.far).seen, []

    def decide() -> None:
        try:
            outcomes.append(court.decide(court.far, actor=other, seen=seen).grade)
        except ConflictError as error:
            outcomes.append(str(error))

    thread = threading.Thread(target=decide)
    with court.database.write() as session:
        pair_pk = session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == court.far))
        lock_dataset(session, court.dataset_pk)
        thread.start()
        thread.join(0.3)  # it must wait for this transaction, however long that takes
        rubric_pk = find_rubric(session, court.dataset_pk).pk
        values = {"pair_pk": pair_pk, "rubric_pk": rubric_pk, "lead_pk": court.lead.person_id}
        values |= {"revision": 1, "grade": 0, "rationale": "先", "decided_at": NOW}
        session.execute(insert(AdjudicationRow), [values])
    thread.join()
    assert outcomes == ["Another lead has decided 0 for this pair in the meantime. Look at the pair again."]
    assert [decision.rationale for decision in court.case(court.far).decisions] == ["先"]


def test_a_lead_may_not_decide_a_pair_they_ever_judged(court: Court) -> None:
    both = court.person("both", "lead")
    court.judge(both, "Q1", "遠い", 1)
    court.judge(both, "Q1", "遠い", None, outcome="later")
    assert show_disagreement(court.database, both, "d", court.far, now=NOW).barred
    with pytest.raises(NotAllowed, match="another lead"):
        court.decide(court.far, actor=both)
    court.judge(both, "Q2", "近い", None, outcome="later")
    assert court.decide(court.near, actor=both).revision == 1


def test_only_a_lead_and_a_person_may_decide_and_only_a_lead_may_look(court: Court) -> None:
    seen = court.case(court.far).seen
    for actor in (court.hanako, OPERATOR, Actor(999, "stranger")):
        with pytest.raises(NotAllowed):
            court.decide(court.far, actor=actor, seen=seen)
    with pytest.raises(NotAllowed):
        find_disagreements(court.database, court.hanako, "d", now=NOW)
    with pytest.raises(NotAllowed):
        show_disagreement(court.database, court.hanako, "d", court.far, now=NOW)


def test_a_lead_of_another_dataset_may_not_decide_here(court: Court) -> None:
    elsewhere = JudgedWorld(court.database, name="other")
    stranger = elsewhere.person("stranger", "lead")
    with pytest.raises(NotAllowed):
        court.decide(court.far, actor=stranger)
    with court.database.write() as session:
        session.add(
            MembershipRow(person_pk=court.lead.person_id, dataset_pk=elsewhere.dataset_pk, role="lead")
        )
    with pytest.raises(NotFound):
        show_disagreement(court.database, court.lead, "other", court.far, now=NOW)


def test_a_lead_who_has_looked_at_a_disagreement_can_no_longer_judge_its_pair(court: Court) -> None:
    def judge() -> SubmitResponse:
        event = {
            "id": str(uuid4()), "pair": court.far, "outcome": "graded", "grade": 2, "pressed_at": LATER.isoformat(),
        }  # fmt: skip
        hand_out(court.database, court.lead, [court.far], now=LATER)
        return submit_judgments(
            court.database, court.lead, "d", events=[event], have=[court.far], want=0, now=LATER
        )

    show_disagreement(court.database, OPERATOR, "d", court.far, now=NOW)
    assert judge().acknowledged
    court.case(court.far)
    court.case(court.far)
    assert [refusal.code for refusal in judge().refused] == ["disclosed"]
    assert court.far in judge().judged


def test_what_does_not_differ_cannot_be_decided(court: Court) -> None:
    """Nor what nobody has judged, or only one of two."""
    unjudged, half = court.pair("Q1", "未判定"), court.pair("Q1", "片方")
    court.judge(court.hanako, "Q1", "片方", 2)
    for pair in (court.same, unjudged, half):
        with pytest.raises(StateError, match="do not differ"):
            court.decide(pair)
    with pytest.raises(NotFound):
        court.decide(pair_key("d", "Q1", "無い"), seen="")


@pytest.mark.parametrize(("grade", "rationale"), [(4, "ok"), (-1, "ok"), (True, "ok"), (2, " \n")])
def test_a_wrong_grade_or_rationale_is_refused(court: Court, grade: int, rationale: str) -> None:
    with pytest.raises(ValidationError):
        court.decide(court.far, grade, rationale=rationale)
