"""The decision panel's routes: disagreements out, decisions in, on both databases."""

import json
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlmodel import col

from annotator.adjudication.records import CAUSES
from annotator.adjudication.service import assign_disagreement
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.tables.adjudication import (
    AdjudicationRow,
    AuditEventRow,
    DisagreementHoldRow,
    ObjectionRow,
)
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import DisclosureRow, QuestionRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.lead_browser import LeadBrowser


class Bench(JudgedWorld):
    """Three disagreements on two queries, a settled near-duplicate, two leads."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.lea, self.lou = self.person("lea", "lead"), self.person("lou", "lead")
        self.query("Q1", "ハンドラキュー 🔎", category="nablarch", narrative="第17条", language="ja")
        self.query("Q2", "법령 검색")
        text = "届出は十日以内に行う。 The handler queue runs each handler in turn.\n" * 40
        self.far = self.pair("Q1", "遠い", rank=3, title="مرحبا", text=text)
        self.twin = self.pair("Q1", "双子", rank=4, text=text + "改訂版")
        self.other = self.pair("Q1", "com.example.Other", rank=5, text="public class Other {}")
        self.near = self.pair("Q2", "近い", rank=1)
        for doc_id, query_id, grades in (
            ("遠い", "Q1", (0, 3)),
            ("近い", "Q2", (2, 3)),
            ("双子", "Q1", (1, 1)),
            ("com.example.Other", "Q1", (0, 1)),
        ):
            self.judge(self.hanako, query_id, doc_id, grades[0], note=f"ノート {doc_id}")
            self.judge(self.minjun, query_id, doc_id, grades[1])

    def browse(self, actor: Actor | None = None, tab: str = "t1") -> LeadBrowser:
        return LeadBrowser(self.database, actor or self.lea, tab)

    def count(self, table: Any) -> int:
        with self.database.read() as session:
            return session.scalar(select(func.count()).select_from(table)) or 0


@pytest.fixture
def bench(copy_world: CopyWorld) -> Bench:
    return copy_world(Bench)


def test_a_batch_holds_the_head_of_the_queue_with_all_that_a_decision_needs(bench: Bench) -> None:
    status, body = bench.browse().get("/api/cases", tab="t1", want=3)
    assert status == 200
    assert (body["left"], [disagreement["document"]["doc_id"] for disagreement in body["cases"]]) == (
        3,
        ["遠い", "近い", "com.example.Other"],
    )
    disagreement = body["cases"][0]
    assert (disagreement["pair"], disagreement["status"], disagreement["waiting"], disagreement["distance"], disagreement["taste"]) == (
        bench.far, "disputed", ["differ"], 3, False,
    )  # fmt: skip
    assert disagreement["query"] == {
        "query_id": "Q1", "text": "ハンドラキュー 🔎", "narrative": "第17条", "language": "ja", "category": "nablarch",
    }  # fmt: skip
    assert (disagreement["document"]["title"], disagreement["document"]["length"]) == (
        "مرحبا",
        len(disagreement["document"]["text"]),
    )
    judgments = sorted(disagreement["judgments"], key=lambda judgment: judgment["grade"])
    assert [(judgment["grade"], judgment["note"]) for judgment in judgments] == [
        (0, "ノート 遠い"), (3, None),
    ]  # fmt: skip
    assert {judgment["letter"] for judgment in disagreement["judgments"]} == {"A", "B"}
    twin, other = disagreement["neighbours"]
    assert (twin["doc_id"], twin["grade"], twin["status"], other["grade"]) == ("双子", 1, "agreed", None)
    assert twin["near"] > 0.9
    assert other["near"] is None
    assert (
        disagreement["held_by"],
        disagreement["barred"],
        disagreement["impact"],
        disagreement["decisions"],
    ) == (None, None, None, [])


def test_what_is_handed_out_holds_no_annotator_no_rank_no_score_and_no_system(bench: Bench) -> None:
    dumped = json.dumps(
        [bench.browse().cases(3), bench.browse(bench.lou).look(bench.twin)], ensure_ascii=False
    )
    for secret in ("花子", "민준", "Realname", "bm25", "rank", "score", "system", "username", "annotator"):
        assert secret not in dumped


def test_names_and_systems_are_told_on_request_and_that_is_recorded(bench: Bench) -> None:
    browser = bench.browse()
    letters = {judgment["grade"]: judgment["letter"] for judgment in browser.look(bench.far)["judgments"]}
    status, body = browser.get("/api/cases/origin", pair=bench.far)
    assert status == 200
    assert {annotator["username"]: annotator["letter"] for annotator in body["annotators"]} == {
        "花子": letters[0],
        "민준": letters[3],
    }
    assert body["systems"] == [{"system": "bm25", "rank": 3, "score": 1.5}]
    with bench.database.read() as session:
        (event,) = session.scalars(select(AuditEventRow)).all()
    assert (event.action, event.person_pk) == ("looked up names", bench.lea.person_id)


def test_a_decision_is_stored_and_the_next_case_comes_with_the_answer(bench: Bench) -> None:
    browser = bench.browse()
    (first,) = browser.cases(1)
    status, body = browser.decide(
        bench.far, 2, seen=first["seen"], cause="slip", in_guideline=True, seconds=4.5, want=1, have=[]
    )
    assert status == 200
    made = body["decision"]
    assert (made["revision"], made["grade"], made["cause"], made["in_guideline"], body["proposed"]) == (
        1, 2, "slip", True, False,
    )  # fmt: skip
    assert (body["left"], [disagreement["pair"] for disagreement in body["cases"]]) == (2, [bench.near])
    with bench.database.read() as session:
        event = session.scalars(select(AuditEventRow)).one()
        held = list(session.scalars(select(col(DisagreementHoldRow.pair_pk))))
    assert (event.action, event.before, event.after["grade"]) == ("decided", None, 2)
    assert event.after["unlike"][0]["doc_id"] == "双子"
    assert len(held) == 1


def test_a_decision_names_no_near_duplicate_that_its_lead_was_not_shown(bench: Bench) -> None:
    seen = bench.browse(bench.lou).look(bench.far)["seen"]
    status, _ = bench.browse(bench.lea).decide(bench.far, 2, seen=seen)
    assert status == 200
    with bench.database.read() as session:
        event = session.scalars(select(AuditEventRow)).one()
    assert event.after is not None and event.after["grade"] == 2 and "unlike" not in event.after


def test_the_same_decision_sent_twice_is_one_and_another_is_told_what_changed(bench: Bench) -> None:
    lea, lou = bench.browse(), bench.browse(bench.lou)
    seen = lea.look(bench.far)["seen"]
    first, again = lea.decide(bench.far, 2, seen=seen), lea.decide(bench.far, 2, seen=seen)
    assert (first[0], again[0], again[1]["decision"]) == (200, 200, first[1]["decision"])
    status, refused = lou.decide(bench.far, 0, seen=seen)
    assert (status, refused["code"]) == (409, "changed")
    assert "Another lead has decided 2" in refused["error"]
    (decision,) = refused["case"]["decisions"]
    assert (decision["grade"], decision["by"], decision["yours"]) == (2, "lea Realname", False)
    assert lou.decide(bench.far, 0, seen=refused["case"]["seen"])[0] == 200
    assert bench.count(AdjudicationRow) == 2
    assert bench.count(AuditEventRow) == 2


def test_leads_have_the_same_name_in_the_decisions_the_proposals_and_the_history(bench: Bench) -> None:
    lea, lou = bench.browse(), bench.browse(bench.lou)
    lea.decide(bench.far, 2)
    assign_disagreement(bench.database, bench.lou, "d", bench.far, to="lea", now=NOW)
    shown = lou.look(bench.far)
    assert (shown["assigned_to"], shown["assigned_to_name"]) == ("lea", "lea Realname")
    _, history = lou.get("/api/cases/trail", pair=bench.far)
    said = {event["action"]: (event["who"], event["said"]) for event in history["events"]}
    assert said["decided"][0] == shown["decisions"][0]["by"] == "lea Realname"
    assert said["assigned"] == ("lou Realname", "assigned the pair to lea Realname")


def test_a_decision_can_be_taken_back_and_the_pair_is_open_again(bench: Bench) -> None:
    browser = bench.browse()
    browser.decide(bench.far, 2)
    seen = browser.look(bench.far)["seen"]
    status, body = browser.decide(bench.far, "withdrawn", seen=seen, rationale="")
    assert (status, body["decision"]["outcome"], body["left"]) == (200, "withdrawn", 3)
    assert browser.decide(bench.far, "withdrawn", seen=seen, rationale="")[0] == 200
    view = browser.look(bench.far)
    assert (view["status"], [decision["outcome"] for decision in view["decisions"]]) == (
        "disputed",
        ["graded", "withdrawn"],
    )
    status, body = browser.decide(bench.far, "withdrawn", rationale="")
    assert (status, body["code"]) == (400, "not_disputed")
    assert bench.count(AdjudicationRow) == 2


def test_words_are_owed_where_the_judgments_lie_far_apart(bench: Bench) -> None:
    browser = bench.browse()
    status, body = browser.decide(bench.far, 3, rationale=" ")
    assert (status, body["code"]) == (400, "words_owed")
    assert browser.decide(bench.near, 3, rationale="")[0] == 200
    assert browser.decide(bench.other, 2, rationale="")[1]["code"] == "words_owed"


def test_a_lead_who_judged_the_pair_is_shown_it_and_may_not_decide_it(bench: Bench) -> None:
    both = bench.person("both", "lead")
    bench.judge(both, "Q1", "遠い", 1)
    browser = bench.browse(both)
    assert bench.far not in [disagreement["pair"] for disagreement in browser.cases(3)]
    view = browser.look(bench.far)
    assert "judged this pair yourself" in view["barred"]
    status, body = browser.decide(bench.far, 3)
    assert (status, body["code"]) == (403, "barred")
    status, body = bench.browse().post("/api/cases/assign", pair=bench.far, to="both")
    assert status == 403
    assert bench.browse(bench.lou).look(bench.far)["held_by"] is None


BAD: list[tuple[str, dict[str, Any], int]] = [
    ("unknown pair", {"pair": "nowhere"}, 404),
    ("no pair", {"pair": None}, 400),
    ("unknown dataset", {"dataset": "none"}, 403),
    ("a grade beyond the scale", {"decided": 4}, 400),
    ("true is no grade", {"decided": True}, 400),
    ("a grade as a fraction", {"decided": 1.0}, 400),
    ("no grade", {"decided": None}, 400),
    ("a cause of another world", {"cause": "weather"}, 400),
    ("a cause that is no text", {"cause": 3}, 400),
    ("a flag that is none", {"in_guideline": "yes"}, 400),
    ("a time before it began", {"seconds": -1}, 400),
    ("a time beyond a day", {"seconds": 86_401}, 400),
    ("a time beyond any", {"seconds": 10**400}, 400),
    ("a time that is none", {"seconds": "1"}, 400),
    ("a flag for a time", {"seconds": True}, 400),
    ("a lone surrogate", {"cause": "\ud800"}, 400),
    ("a NUL", {"seen": "a\0b"}, 400),
    ("words without end", {"rationale": "字" * 10_001}, 400),
    ("a rationale that is none", {"rationale": ["why"]}, 400),
    ("no digest", {"seen": None}, 400),
    ("a digest of something else", {"seen": "0-" + "0" * 32}, 409),
    ("a digest of nothing", {"seen": "🔎"}, 409),
    ("a tab without end", {"tab": "t" * 65}, 400),
    ("a filter that is none", {"filter": "show=all"}, 400),
    ("a filter of numbers", {"filter": {"query": 7}}, 400),
    ("a filter of no text", {"filter": {"query": "\ud800"}}, 400),
    ("too many pairs at hand", {"have": ["k"] * 201}, 400),
    ("what is at hand is no list", {"have": "k"}, 400),
    ("wanting too much", {"want": 11}, 400),
    ("wanting less than nothing", {"want": -1}, 400),
    ("a body without end", {"rationale": "x" * 200_000}, 400),
    ("somebody else's page", {"lead": "lou"}, 409),
]


def test_bad_decisions_are_refused_and_store_nothing(bench: Bench) -> None:
    browser = bench.browse()
    good = {
        "pair": bench.far,
        "seen": browser.look(bench.far)["seen"],
        "decided": 2,
        "rationale": "w",
        "tab": "t",
    }
    for name, change, expected in BAD:
        body = json.dumps({"dataset": "d", **good, **change}, ensure_ascii=True)
        answer = browser.client.post(
            "/api/decisions", content=body, headers={"content-type": "application/json"}
        )
        assert (name, answer.status_code) == (name, expected)
        assert answer.json()["error"], name
    assert bench.count(AdjudicationRow) == bench.count(AuditEventRow) == 0
    assert all(
        browser.post("/api/decisions", **{**good, "cause": cause})[0] in (200, 409) for cause in CAUSES
    )


def test_other_origins_other_kinds_of_body_and_strangers_are_refused(bench: Bench) -> None:
    browser, stranger = bench.browse(), bench.person("stranger")
    for headers, expected in (
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"content-type": "text/plain"}, 400),
    ):
        sent = {"content-type": "application/json", **headers}
        for path in ("/api/decisions", "/api/cases/later", "/api/cases/assign", "/api/cases/let-go"):
            assert browser.client.post(path, content="{}", headers=sent).status_code == expected
    for body in ("[]", "null", "{", "[" * 100_000):
        sent = {"content-type": "application/json"}
        assert browser.client.post("/api/decisions", content=body, headers=sent).status_code == 400
    for actor, expected in ((stranger, 403), (bench.hanako, 403)):
        other = bench.browse(actor)
        assert other.get("/api/cases", tab="t", want=1)[0] == expected
        assert other.get("/api/cases/origin", pair=bench.far)[0] == expected
        assert other.get("/api/cases/leads")[0] == expected
        assert other.decide(bench.far, 2, seen="0-0")[0] == expected
        assert other.post("/api/cases/let-go", tab="t", pairs=[])[0] == expected
    assert LeadBrowser(bench.database, None).get("/api/cases", want=1)[0] == 403
    assert bench.count(DisagreementHoldRow) == bench.count(DisclosureRow) == 0
    for words in (
        {"want": "x"},
        {"want": "-1"},
        {"tab": "\0"},
        {"have": "\0"},
        {"query": "\0"},
        {"pair": ""},
    ):
        assert browser.get("/api/cases", **{"want": 1, "tab": "t", **words})[0] in (400, 404)


def test_a_pair_of_another_dataset_is_not_there(bench: Bench) -> None:
    other = JudgedWorld(bench.database, name="other")
    lead = other.person("else", "lead")
    browser = bench.browse(lead)
    for status, _ in (
        browser.get("/api/cases", dataset="other", pair=bench.far, want=0),
        browser.post("/api/cases/later", dataset="other", pair=bench.far),
        browser.post("/api/cases/assign", dataset="other", pair=bench.far, to=None),
        browser.get("/api/cases/origin", dataset="other", pair=bench.far),
        browser.get("/api/cases/trail", dataset="other", pair=bench.far),
        browser.decide(bench.far, 2, seen="0-0", dataset="other"),
    ):
        assert status == 404


def test_leads_are_listed_and_the_audit_log_of_a_pair_is_told(bench: Bench) -> None:
    browser = bench.browse()
    assert [lead["username"] for lead in browser.get("/api/cases/leads")[1]["leads"]] == ["lea", "lou"]
    browser.decide(bench.far, 2)
    status, body = browser.get("/api/cases/trail", pair=bench.far)
    assert status == 200
    assert "decided" in [event["action"] for event in body["events"]]


def test_a_lead_reads_the_document_of_a_disagreement_whole_and_rendered(bench: Bench) -> None:
    browser = bench.browse()
    whole = browser.client.get("/api/text", params={"dataset": "d", "pair": bench.far})
    assert (whole.status_code, whole.text) == (200, browser.look(bench.far)["document"]["text"])
    status, rendered = browser.get("/api/rendering", pair=bench.far)
    assert (status, rendered["cut"]) == (200, False)


def test_what_annotators_asked_and_object_to_stands_under_the_letter_of_their_judgment(bench: Bench) -> None:
    browser = bench.browse()
    browser.decide(bench.far, 3)
    with bench.database.write() as session:
        pk = session.scalars(select(col(PairRow.pk)).where(col(PairRow.key) == bench.far)).one()
        decision = session.scalars(select(col(AdjudicationRow.pk))).one()
        who = bench.hanako.person_id or 0
        session.add(
            ObjectionRow(pair_pk=pk, annotator_pk=who, adjudication_pk=decision, text="違う", objected_at=NOW)
        )
        session.add(QuestionRow(pair_pk=pk, annotator_pk=who, text="これは？", asked_at=NOW))
        derive_disagreements(session, bench.dataset_pk, [pk])
    view = browser.look(bench.far)
    (hanako,) = [judgment["letter"] for judgment in view["judgments"] if judgment["grade"] == 0]
    assert [(objection["letter"], objection["text"]) for objection in view["objections"]] == [
        (hanako, "違う")
    ]
    assert [(question["letter"], question["answer"]) for question in view["questions"]] == [(hanako, None)]
    assert (view["status"], view["waiting"]) == ("reopened", ["objection"])
    number = view["questions"][0]["number"]
    assert browser.post("/api/cases/answer", question=number, answer="はい")[0] == 200
    assert browser.look(bench.far)["questions"][0]["answer"] == "はい"
    assert browser.post("/api/cases/answer", question=True, answer="x")[0] == 400
    assert browser.post("/api/cases/answer", question=2**70, answer="x")[0] == 400
    assert "花子" not in json.dumps(browser.look(bench.far), ensure_ascii=False)


def test_annotators_are_asked_to_discuss_and_released_from_it(bench: Bench) -> None:
    browser = bench.browse()
    assert browser.post("/api/cases/discuss", pair=bench.far, close=False) == (200, {"ok": True})
    discussion = browser.look(bench.far)["discussion"]
    assert (discussion["state"], len(discussion["waiting"])) == ("asked", 2)
    assert browser.post("/api/cases/discuss", pair=bench.far, close=True)[0] == 200
    assert browser.look(bench.far)["discussion"]["state"] == "closed"
    assert browser.post("/api/cases/discuss", pair=bench.far, close="no")[0] == 400
