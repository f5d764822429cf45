"""A disagreement as JSON for the decision panel: everything, under the names that the panel reads, without annotators' names."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from annotator.adjudication.disagreement_records import (
    AnonymousJudgment,
    AnonymousObjection,
    AnonymousQuestion,
    DecisionImpact,
    DisagreementBatch,
    DisagreementDocument,
    DisagreementQuery,
    DisagreementStatus,
    DisagreementView,
    DiscussionProgress,
    DiscussionTurn,
    NeighbourDocument,
    PairStage,
)
from annotator.adjudication.records import Decision, DecisionProposal
from annotator.domain.messages import say
from annotator.domain.settling import QueueReason
from annotator.web.adjudication.api import write_batch, write_disagreement

AT = datetime(2026, 3, 4, 12, tzinfo=timezone(timedelta(hours=9)))
WRITTEN = "2026-03-04T03:00:00+00:00"
TURN = DiscussionTurn("graded", 2, "그대로", True, AT)
STATUS = DisagreementStatus(
    QueueReason.DIFFER | QueueReason.OBJECTION,
    3,
    True,
    AT,
    DecisionImpact(0.1, 0.2, 0.3, 4),
    "lin",
    "lea",
    2,
    "林",
)
VIEW = DisagreementView(
    pair="p",
    seen="1-ab",
    query=DisagreementQuery("Q1", "一", "narrative", "ja", "law"),
    document=DisagreementDocument("d1", "題", "https://x", "text/html", "本文", 4, "ab", {"kind": "law"}),
    status=STATUS,
    progress=PairStage("reopened", None, 2),
    guideline_version=3,
    judgments=(
        AnonymousJudgment("A", "graded", 0, "違う", 2, False, False, TURN),
        AnonymousJudgment("B", "graded", 3, None, 3, True, True),
    ),
    text_changed=True,
    decisions=(
        Decision(
            pair="p",
            revision=1,
            decided_at=AT,
            lead_pk=2,
            lead="lou",
            lead_name="Lou 🌱",
            outcome="graded",
            grade=2,
            rationale="第17条",
            cause="slip",
            reason="words",
            in_guideline=True,
        ),
    ),
    proposals=(
        DecisionProposal(lead_pk=1, lead="lea", outcome="graded", grade=1, rationale="mine"),
        DecisionProposal(
            lead_pk=2,
            lead="lou",
            lead_name="Lou 🌱",
            outcome="unrateable",
            grade=None,
            rationale="theirs",
            cause="slip",
        ),
    ),
    needs_two_leads=True,
    barred=say("you judged this pair"),
    discussion=DiscussionProgress("asked", AT, (say("waiting for {letter}", letter="A"),)),
    objections=(AnonymousObjection("A", "見て", AT),),
    questions=(AnonymousQuestion(7, "B", "왜?", AT, "答"),),
    neighbours=(NeighbourDocument("p2", "d2", "題2", 1, "settled", 0.97),),
)


def test_the_json_holds_everything_under_the_names_that_the_panel_reads() -> None:
    written = write_disagreement(VIEW, "lea")
    parts = {
        name: written.pop(name)
        for name in ("judgments", "decisions", "proposals", "proposal", "query", "document")
    }
    assert written == {
        "pair": "p",
        "seen": "1-ab",
        "status": "reopened",
        "waiting": ["differ", "objection"],
        "distance": 3,
        "taste": True,
        "since": WRITTEN,
        "held_by": "lin",
        "held_by_name": "林",
        "assigned_to": "lea",
        "assigned_to_name": "lea",
        "barred": "you judged this pair",
        "lacking": 2,
        "contested_grade": 2,
        "impact": {"ndcg": 0.1, "recall": 0.2, "mrr": 0.3, "flips": 4},
        "text_changed": True,
        "guideline_version": 3,
        "needs_second": True,
        "discussion": {"state": "asked", "asked_at": WRITTEN, "waiting": ["waiting for A"]},
        "objections": [{"letter": "A", "text": "見て", "objected_at": WRITTEN}],
        "questions": [{"number": 7, "letter": "B", "text": "왜?", "asked_at": WRITTEN, "answer": "答"}],
        "neighbours": [
            {"pair": "p2", "doc_id": "d2", "title": "題2", "grade": 1, "status": "settled", "near": 0.97}
        ],
    }
    assert parts["query"] == {
        "query_id": "Q1",
        "text": "一",
        "narrative": "narrative",
        "language": "ja",
        "category": "law",
    }
    assert parts["document"] == {
        "doc_id": "d1",
        "title": "題",
        "url": "https://x",
        "media_type": "text/html",
        "text": "本文",
        "length": 4,
        "sha256": "ab",
        "metadata": {"kind": "law"},
    }
    assert parts["judgments"] == [
        {
            "letter": "A",
            "outcome": "graded",
            "grade": 0,
            "note": "違う",
            "guideline_version": 2,
            "simulated": False,
            "quality": False,
            "turn": {"outcome": "graded", "grade": 2, "note": "그대로", "revised": True},
        },
        {
            "letter": "B",
            "outcome": "graded",
            "grade": 3,
            "note": None,
            "guideline_version": 3,
            "simulated": True,
            "quality": True,
            "turn": None,
        },
    ]
    assert parts["decisions"] == [
        {
            "revision": 1,
            "outcome": "graded",
            "grade": 2,
            "rationale": "第17条",
            "reason": "words",
            "cause": "slip",
            "in_guideline": True,
            "decided_at": WRITTEN,
            "by": "Lou 🌱",
            "yours": False,
        }
    ]


def test_the_json_marks_the_leads_own_and_puts_anothers_proposal_first() -> None:
    written = write_disagreement(VIEW, "lea")
    assert (written["proposal"]["by"], written["proposal"]["yours"]) == ("Lou 🌱", False)
    assert [(proposal["by"], proposal["yours"]) for proposal in written["proposals"]] == [
        ("lea", True),
        ("Lou 🌱", False),
    ]
    alone = write_disagreement(replace(VIEW, proposals=VIEW.proposals[:1]), "lea")
    assert (alone["proposal"]["by"], alone["proposal"]["yours"]) == ("lea", True)
    assert write_disagreement(replace(VIEW, proposals=()), "lea")["proposal"] is None
    assert write_disagreement(VIEW, "lou")["decisions"][0]["yours"]


def test_the_json_has_null_for_what_is_missing() -> None:
    status = replace(STATUS, impact=None, since=None, held_by=None, assigned_to=None)
    bare = replace(VIEW, status=status, barred=None, discussion=None)
    (written,) = write_batch(DisagreementBatch((bare,), 5), "lea")["cases"]
    assert {
        written[name] for name in ("barred", "impact", "discussion", "since", "held_by", "assigned_to")
    } == {None}
    assert write_batch(DisagreementBatch((), 5), "lea") == {"cases": [], "left": 5}
