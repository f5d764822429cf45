"""A case as the decision panel is sent it: everything of it, under the names that the panel reads, and nobody's name that is not asked for."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from annotator.adjudication.case import (
    CaseDiscussion,
    CaseImpact,
    CaseObjection,
    CaseProposal,
    CaseQuestion,
    NeighbourDocument,
)
from annotator.adjudication.records import Decision, DiscussionTurn
from annotator.adjudication.service import CaseBatch, CaseJudgment, DisagreementView
from annotator.domain.grades import DEFAULT_RUBRIC
from annotator.domain.messages import say
from annotator.domain.settling import QueueReason
from annotator.web.adjudication.api import show_batch, write_case

AT = datetime(2026, 3, 4, 12, tzinfo=timezone(timedelta(hours=9)))
WRITTEN = "2026-03-04T03:00:00+00:00"
TURN = DiscussionTurn("graded", 2, "그대로", True, AT)
CASE = DisagreementView(
    "p", "Q1", "一", "narrative", "law", "d1", "題", "https://x", "text/html", "本文", True, "reopened",
    (CaseJudgment("A", "graded", 0, "違う", 2, False, False, TURN), CaseJudgment("B", "graded", 3, None, 3, True, True)),
    (Decision("p", 1, "graded", 2, "第17条", "words", AT, cause="slip", in_guideline=True),), 3, DEFAULT_RUBRIC,
    "1-ab", say("you judged this pair"), contested_grade=2, waiting=QueueReason.DIFFER | QueueReason.OBJECTION, distance=3,
    decided_by=("lou",), language="ja", length=4, sha256="ab", metadata={"kind": "law"}, taste=True, since=AT,
    held_by="lin", assigned_to="lea", impact=CaseImpact(0.1, 0.2, 0.3, 4),
    proposals=(CaseProposal("lea", "graded", 1, "mine", None), CaseProposal("lou", "unrateable", None, "theirs", "slip")),
    needs_second=True, discussion=CaseDiscussion("asked", AT, (say("waits for {letter}", letter="A"),)),
    objections=(CaseObjection("A", "見て", AT),), questions=(CaseQuestion(7, "B", "왜?", AT, "答"),),
    neighbours=(NeighbourDocument("p2", "d2", "題2", 1, "settled", 0.97),), lacking=2,
)  # fmt: skip


def test_all_of_a_case_is_told_under_the_names_that_the_panel_reads() -> None:
    told = write_case(CASE, "lea")
    parts = {
        name: told.pop(name)
        for name in ("judgments", "decisions", "proposals", "proposal", "query", "document")
    }
    assert told == {
        "pair": "p", "seen": "1-ab", "status": "reopened", "waiting": ["differ", "objection"], "distance": 3,
        "taste": True, "since": WRITTEN, "held_by": "lin", "assigned_to": "lea", "barred": "you judged this pair",
        "lacking": 2, "contested_grade": 2, "impact": {"ndcg": 0.1, "recall": 0.2, "mrr": 0.3, "flips": 4},
        "text_changed": True, "guideline_version": 3, "needs_second": True,
        "discussion": {"state": "asked", "asked_at": WRITTEN, "waiting": ["waits for A"]},
        "objections": [{"letter": "A", "text": "見て", "objected_at": WRITTEN}],
        "questions": [{"number": 7, "letter": "B", "text": "왜?", "asked_at": WRITTEN, "answer": "答"}],
        "neighbours": [
            {"pair": "p2", "doc_id": "d2", "title": "題2", "grade": 1, "status": "settled", "near": 0.97}
        ],
    }  # fmt: skip
    assert parts["query"] == {
        "query_id": "Q1", "text": "一", "narrative": "narrative", "language": "ja", "category": "law",
    }  # fmt: skip
    assert parts["document"] == {
        "doc_id": "d1", "title": "題", "url": "https://x", "media_type": "text/html", "text": "本文", "length": 4,
        "sha256": "ab", "metadata": {"kind": "law"},
    }  # fmt: skip
    assert parts["judgments"] == [
        {
            "letter": "A", "outcome": "graded", "grade": 0, "note": "違う", "guideline_version": 2, "simulated": False,
            "quality": False, "turn": {"outcome": "graded", "grade": 2, "note": "그대로", "revised": True},
        },
        {
            "letter": "B", "outcome": "graded", "grade": 3, "note": None, "guideline_version": 3, "simulated": True,
            "quality": True, "turn": None,
        },
    ]  # fmt: skip
    assert parts["decisions"] == [
        {
            "revision": 1, "outcome": "graded", "grade": 2, "rationale": "第17条", "reason": "words", "cause": "slip",
            "in_guideline": True, "decided_at": WRITTEN, "by": "lou", "yours": False,
        }
    ]  # fmt: skip


def test_what_is_ones_own_is_said_to_be_and_anothers_proposal_comes_first() -> None:
    told = write_case(CASE, "lea")
    assert (told["proposal"]["by"], told["proposal"]["yours"]) == ("lou", False)
    assert [(one["by"], one["yours"]) for one in told["proposals"]] == [("lea", True), ("lou", False)]
    alone = write_case(replace(CASE, proposals=CASE.proposals[:1]), "lea")
    assert (alone["proposal"]["by"], alone["proposal"]["yours"]) == ("lea", True)
    assert write_case(replace(CASE, proposals=()), "lea")["proposal"] is None
    assert write_case(CASE, "lou")["decisions"][0]["yours"]


def test_what_a_case_lacks_is_told_as_nothing() -> None:
    bare = replace(
        CASE, barred=None, impact=None, discussion=None, since=None, held_by=None, assigned_to=None
    )
    (told,) = show_batch(CaseBatch((bare,), 5), "lea")["cases"]
    assert {told[name] for name in ("barred", "impact", "discussion", "since", "held_by", "assigned_to")} == {
        None
    }
    assert show_batch(CaseBatch((), 5), "lea") == {"cases": [], "left": 5}
