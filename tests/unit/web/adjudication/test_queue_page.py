"""The queue as Streamlit runs it, without a browser: what it shows of each disagreement, and that its address is its state."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, update
from sqlmodel import col
from streamlit.testing.v1 import AppTest

from annotator.domain.people import Membership, SignedIn
from annotator.labeling.questions_service import ask_question
from annotator.overview.service import keep_answers
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.lookup import find_pair_pk
from annotator.storage.pairs.pool import pair_key
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.adjudication import (
    DisagreementAssignmentRow,
    DisagreementHoldRow,
    DisagreementRow,
    PutOffDisagreementRow,
    ScoreDueRow,
)
from annotator.web.page_context import PageContext
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import alternatives, find, html_rows, links, make_world, open_page, run, words

FAR, NEAR = pair_key("d", "Q1", "遠い"), pair_key("d", "Q2", "近い")
EVER = datetime(2026, 3, 5, 5, 10, tzinfo=UTC)  # shortly after the time of the page
LATER = NOW + timedelta(days=1)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)


def table(app: AppTest) -> list[dict[str, str]]:
    """The rows of the queue by column."""
    messages = [
        json.loads(json.loads(item.proto.json).get("message", "{}"))
        for item in app.get("bidi_component")
        if '"message"' in item.proto.json
    ]
    (queue,) = [message for message in messages if "columns" in message]
    return [dict(zip(queue["columns"], row["cells"], strict=True)) for row in queue["rows"]]


def documents(app: AppTest) -> list[str]:
    return [row["document"].split("\n")[-1] for row in table(app)]


def address(app: AppTest) -> dict[str, str]:
    return {name: value[-1] if isinstance(value, list) else value for name, value in app.query_params.items()}


def test_each_row_says_why_it_waits_and_names_nobody_who_judged(world: JudgedWorld) -> None:
    far, near = table(open_page(world, "disagreements"))
    assert far == {
        "query": "Q1 ハンドラキュー <b>🔎", "document": "題 遠い\n遠い", "grades": "0 3", "gap": "3", "impact": far["impact"],
        "why": "grades differ; simulated", "category": "設定", "since": "Mar 4",
    }  # fmt: skip
    assert near["why"] == "grades differ; one grade apart, same relevance; simulated"
    assert not {"花子", "simulated_1"} & set(" ".join(far.values()).split())


def test_a_row_says_who_has_it_and_what_hangs_on_it(world: JudgedWorld) -> None:
    lead, other = find(world, "lead"), world.person("other", "lead")
    world.judge(lead, "Q2", "近い", 2)
    keep_answers(world.database, lead, world.name, now=NOW)
    with world.database.write() as session:
        far, near = (find_pair_pk(session, world.dataset_pk, key) or 0 for key in (FAR, NEAR))
        session.add(DisagreementHoldRow(pair_pk=far, lead_pk=other.person_id or 0, tab="t", expires_at=EVER))
        session.add(DisagreementAssignmentRow(pair_pk=far, lead_pk=other.person_id or 0, assigned_at=NOW))
        session.add(PutOffDisagreementRow(pair_pk=far, lead_pk=lead.person_id or 0, put_off_at=NOW))
        session.execute(update(DisagreementRow).where(col(DisagreementRow.pair_pk) == near).values(flips=3))
        session.execute(delete(ScoreDueRow))  # or they would be computed anew, without a run
    first, last = table(open_page(world, "disagreements"))
    assert last["why"] == "grades differ; open by other; assigned to other; set to later by you; simulated"
    assert (
        first["why"]
        == "grades differ; could change the ranking of 3 system pairs; judged by you; one grade apart, same relevance; simulated"
    )


def test_a_pair_that_cannot_be_rated_for_one_shows_a_dash_among_the_grades(world: JudgedWorld) -> None:
    world.pair("Q2", "不", rank=1)
    world.judge(find(world, "花子"), "Q2", "不", 2)
    world.judge(find(world, "simulated_1"), "Q2", "不", None)
    row = next(row for row in table(open_page(world, "disagreements")) if row["document"] == "不")
    assert (row["grades"], row["gap"], row["why"]) == ("2 –", "1", "some cannot rate; simulated")


def test_the_address_filters_and_sorts_and_what_it_cannot_mean_is_passed_over(world: JudgedWorld) -> None:
    world.add_decision(find(world, "lead"), "Q2", "近い", 3)
    assert documents(open_page(world, "disagreements")) == ["遠い"]
    (row,) = table(open_page(world, "disagreements", show="decided"))
    assert (row["document"], row["settled grade"]) == ("題 近い\n近い", "3")
    app = open_page(world, "disagreements", show="all", sort="age", category="없음", assigned="who", reason="x,differ", annotators="?")  # fmt: skip
    assert documents(app) == ["遠い", "近い"]
    assert "2 of 2: open and decided; grades differ." in words(app)
    assert app.selectbox(key="queue sort").value == "age"


def test_every_filter_is_a_change_of_the_address_and_keeps_the_others(world: JudgedWorld) -> None:
    app = open_page(world, "disagreements", show="all", **{"from": "50"})
    app.selectbox(key="queue grades").set_value("2-3")
    run(app)
    assert address(app) == {"dataset": "d", "show": "all", "grades": "2-3"}
    assert documents(app) == ["近い"]
    app.selectbox(key="queue sort").set_value("impact")
    run(app)
    assert address(app) == {"dataset": "d", "show": "all", "grades": "2-3", "sort": "impact"}
    app.query_params.clear()  # the browser's way back
    run(app)
    assert documents(app) == ["遠い", "近い"]
    assert app.selectbox(key="queue grades").value == "any"


def test_a_filter_that_lets_nothing_through_says_so_and_offers_to_clear_it(world: JudgedWorld) -> None:
    app = open_page(world, "disagreements", reason="quality", sort="age")
    assert "0 of 2: quality control." in words(app)
    assert "No disagreement matches the filter. Clear the filters to see all." in words(app)
    next(button for button in app.button if button.label == "Clear filters").click()
    run(app)
    assert address(app) == {"dataset": "d", "sort": "age"}
    assert documents(app) == ["遠い", "近い"]


def test_to_decide_the_next_one_keeps_the_filter_in_the_address(world: JudgedWorld) -> None:
    app = open_page(world, "disagreements", taste="yes")
    next(button for button in app.button if button.label == "Decide next pair").click()
    app.run()
    assert address(app) == {"dataset": "d", "taste": "yes", "pair": "next"}


def test_a_long_queue_is_read_a_page_at_a_time(world: JudgedWorld) -> None:
    for number in range(52):
        world.pair("Q1", f"d{number}", rank=1)
        world.judge(find(world, "花子"), "Q1", f"d{number}", 0)
        world.judge(find(world, "simulated_1"), "Q1", f"d{number}", 2)
    app = open_page(world, "disagreements")
    assert len(table(app)) == 25
    assert "1–25 of 54" in words(app)
    next(button for button in app.button if button.label == "Next").click()
    run(app)
    assert address(app) == {"dataset": "d", "from": "25"}
    assert "26–50 of 54" in words(app)
    app = open_page(world, "disagreements", **{"from": "9000"})
    assert "51–54 of 54" in words(app), "behind the end stands the last part"
    assert len(table(app)) == 4
    assert documents(app)[-1] == "近い"


def test_what_is_open_stands_first_with_how_long_it_lasts(world: JudgedWorld) -> None:
    shown = words(open_page(world, "disagreements"))
    assert "2 pairs waiting for a decision" in shown
    assert "Time left is unknown: no decisions in the last 7 days." in shown
    world.add_decision(find(world, "lead"), "Q2", "近い", 3)
    shown = words(open_page(world, "disagreements"))
    assert "1 pair; at this pace, less than a working day." in shown
    assert (
        "Decided in the last 7 days: 1 (on 1 day). New: 1 per day. More disagreements arrive than are decided."
        in shown
    )


def test_an_empty_queue_says_how_well_annotators_agree_and_leads_to_the_release(world: JudgedWorld) -> None:
    lead = find(world, "lead")
    world.add_decision(lead, "Q1", "遠い", 3)
    world.add_decision(lead, "Q2", "近い", 3)
    app = open_page(world, "disagreements")
    shown = words(app)
    assert "No open disagreements" in shown
    assert "All 2 disagreements are decided." in shown
    assert "Cohen's kappa: 0.27 (4 pairs, 95 % confidence interval 0.00 to 0.27)." in shown
    assert links(app) == [("releases", "dataset=d")]
    assert documents(open_page(world, "disagreements", show="all")) == ["遠い", "近い"]


def test_a_dataset_that_never_had_a_disagreement_says_when_one_comes(database: Database) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    app = open_page(world, "disagreements")
    assert "Agreement is unknown: no pair has independent judgments of two annotators." in words(app)
    assert "Pairs appear here as soon as two annotators judge them differently." in words(app)
    assert links(app) == [("overview", "dataset=d")]


def test_charts_are_drawn_only_when_asked_for_and_have_words_and_numbers(world: JudgedWorld) -> None:
    app = open_page(world, "disagreements", sort="age")
    assert alternatives(app) == []
    app = open_page(world, "disagreements", sort="age", tab="Breakdown")
    assert alternatives(app) == [
        "Open disagreements by lowest and highest grade: 0 against 3: 1; 2 against 3: 1.",
        "Open disagreements by category: 設定 1; 법 1.",
    ]
    assert 'href="/disagreements?dataset=d&amp;sort=age&amp;grades=2-3"' in words(app)


def test_the_queue_says_what_quality_control_reopened_without_the_expert(world: JudgedWorld) -> None:
    world.check_quality(world.person("専門家"), "Q2", "같은", 0, settled=3, note="別の <b>条文")
    app = open_page(world, "disagreements", reason="quality")
    (row,) = table(app)
    assert (row["grades"], row["why"]) == ("0 3 3", "quality control; simulated")
    assert "専門家" not in words(app) + json.dumps(row)


def open_part(world: JudgedWorld, part: str, monkeypatch: pytest.MonkeyPatch, **parameters: str) -> AppTest:
    """The page with this tab open, and the lead signed in for its buttons too."""
    lead = find(world, "lead")
    signed_in = PageContext(
        world.database, Settings(), SignedIn(lead, "lead", (Membership("d", "lead"),), False, EVER), "", (), "d", LATER
    )  # fmt: skip
    for module in ("annotator.web.adjudication.bulk", "annotator.web.adjudication.bulk"):
        monkeypatch.setattr(f"{module}.require_context", lambda: signed_in)
    app = open_page(world, "disagreements", **parameters)
    app.session_state["tab"] = part
    return run(app)


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return run(app)


def test_a_policy_settles_what_its_preview_showed_and_can_be_undone(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_part(world, "Settle in bulk", monkeypatch)
    assert "Pair to settle: 1" in words(app)
    assert (
        "1 pair stays open: the grades are further apart or on both sides of the relevance threshold."
        in words(app)
    )
    assert "Relevance threshold: grade 1 (" in words(app)
    assert ["Q2 법령 :red[검색]", "題 近い近い", "2, 3", "2"] in html_rows(app)
    press(app, "Settle 1 pair")
    assert "rationale" in app.error[0].value
    app.radio(key="queue policy").set_value("higher")
    run(app)
    app.text_area[0].set_value("どちらでも *同じ*")
    press(app, "Settle 1 pair")
    assert app.success[0].value == "1 pair settled."
    assert "Pairs to settle: 0" in words(app)
    assert "どちらでも *同じ*" in words(app)
    press(app, "Undo")
    assert app.success[0].value == "1 pair reopened."
    assert "Undone by lead on" in words(app)
    assert not [button for button in app.button if button.label == "Undo"]


def test_a_policy_is_refused_when_the_pairs_are_no_longer_those_of_its_preview(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_part(world, "Settle in bulk", monkeypatch)
    app.text_area[0].set_value("同じ")
    world.judge(find(world, "花子"), "Q2", "近い", 3)
    press(app, "Settle 1 pair")
    assert "Check the new preview" in app.error[0].value
    assert documents(open_page(world, "disagreements")) == ["遠い"]


def test_the_file_of_the_queue_is_what_the_filter_lets_through_and_comes_back_as_a_whole(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_part(world, "Meeting file", monkeypatch, taste="no")
    assert 'href="/api/queue?dataset=d&amp;taste=no" download' in words(app)
    app.file_uploader[0].upload(
        "会議.csv", "query_id,doc_id,grade,rationale\nQ1,無い,9,\n".encode(), "text/csv"
    )
    run(app)
    assert app.error[0].value.startswith("Nothing was decided.")
    assert "会議.csv" in app.code[0].value and "2" in app.code[0].value
    app.file_uploader[0].upload(
        "会議.csv", "query_id,doc_id,grade,rationale\nQ1,遠い,2,第17条\n".encode(), "text/csv"
    )
    run(app)
    assert "new decisions: 1" in words(app)
    press(app, "Decide 1 pair")
    assert app.success[0].value == "Done. new decisions: 1"
    assert documents(open_page(world, "disagreements")) == ["近い"]


def test_of_pairs_that_keep_their_grades_the_page_says_only_that(world: JudgedWorld) -> None:
    for query_id, doc_id in (("Q1", "遠い"), ("Q2", "近い")):
        world.add_decision(find(world, "lead"), query_id, doc_id, 3)
    event = "00000000-0000-4000-8000-000000000901"
    ask_question(
        world.database,
        find(world, "花子"),
        "d",
        event_id=event,
        pair=pair_key("d", "Q1", "同じ"),
        text="第17条とは?",
        now=NOW,
    )
    shown = words(open_page(world, "disagreements"))
    assert (
        "It has a settled grade, but an objection, a question or a newer guideline calls it into question."
        in shown
    )
    assert "no settled grade yet" not in shown
