"""The leads' pages as Streamlit runs them, without a browser: what they show, say and do."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotator.adjudication.service import show_case
from annotator.datasets.service import change_settings
from annotator.domain.accounts import Membership, SignedIn
from annotator.domain.pairs import pair_key
from annotator.domain.people import Actor
from annotator.importing.service import import_qrels
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.page_context import PageContext
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import (
    alternatives,
    exports_of,
    find,
    headings,
    links,
    make_world,
    open_page,
    run,
    words,
)

LATER = NOW + timedelta(days=1)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    return make_world(database)


@pytest.mark.parametrize("page", ["overview", "agreement", "disagreements", "pool", "releases"])
def test_without_a_dataset_a_page_says_how_to_make_one(world: JudgedWorld, page: str) -> None:
    app = open_page(world, page, dataset=None)
    assert app.info[0].value.startswith("There is no dataset yet")
    assert app.code[0].value == "annotator dataset create NAME"


def test_the_overview_begins_with_what_to_do_next_and_links_keep_the_dataset(world: JudgedWorld) -> None:
    app = open_page(world, "overview")
    assert headings(app)[:2] == ["Overview", "What to do next"]
    assert "1. Find out whether agreement is enough: κ is 0.27, its target 0.70" in words(app)
    assert links(app) == [("agreement", "dataset=d"), ("disagreements", "dataset=d")]


def test_the_overview_says_every_figure_in_words_and_marks_who_is_simulated(world: JudgedWorld) -> None:
    app = open_page(world, "overview")
    assert alternatives(app) == [
        "Cohen's kappa, target 0.7: κ 0.27 [0.00, 0.27].",
        "4 pairs: unanimous 2, disagreement 2.",
        "Pairs judged, of 4: simulated_1 (simulated) 4, 花子 4.",
        (
            "A query is complete when each of its pairs has the judgments it needs: 2 of 2 are. "
            "4 pairs are complete, 0 begun, 0 untouched."
        ),
    ]
    assert "Simulated judgments are included (simulated_1)" in words(app)
    people, queries = (item.value for item in app.dataframe)
    assert list(people["annotator"]) == ["simulated_1 (simulated)", "花子"]
    assert list(queries["complete"]) == [2, 2]


def test_the_overview_of_an_empty_dataset_is_nothing_but_the_next_step(database: Database) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    app = open_page(world, "overview")
    assert headings(app) == ["Overview", "What to do next"]
    assert [item.value for item in app.code] == ["annotator import queries d FILE"]
    assert alternatives(app) == []


def choose(app: AppTest, pair: str) -> AppTest:
    """Look at this case, as by its address."""
    app.query_params["pair"] = pair
    return run(app)


def pair_in(app: AppTest) -> str:
    """The pair of the address."""
    found = app.query_params["pair"]
    return found if isinstance(found, str) else found[-1]


def fill(app: AppTest, pair: str, *, grade: int | None = None, rationale: str = "") -> None:
    if grade is not None:
        app.radio(key=f"grade {pair}").set_value(grade)
    app.text_area(key=f"rationale {pair}").set_value(rationale)


def save(app: AppTest) -> AppTest:
    app.button[0].click()
    return run(app)


@pytest.fixture
def serving(world: JudgedWorld, monkeypatch: pytest.MonkeyPatch) -> JudgedWorld:
    """The world, with the lead signed in for callbacks too, which look up the session by themselves."""
    sign_in_for_callbacks(world, monkeypatch, find(world, "lead"))
    return world


def sign_in_for_callbacks(world: JudgedWorld, monkeypatch: pytest.MonkeyPatch, actor: Actor) -> None:
    def find_context() -> PageContext:
        person = SignedIn(actor, actor.username, (Membership("d", "lead"),), False, LATER)
        return PageContext(
            world.database, Settings(exports_dir=exports_of(world)), person, "", (), "d", LATER
        )

    monkeypatch.setattr("annotator.web.decision_form.find_context", find_context)


def test_the_furthest_apart_open_case_is_on_the_screen_and_in_the_address(serving: JudgedWorld) -> None:
    app = open_page(serving, "disagreements")
    assert pair_in(app) == pair_key("d", "Q1", "遠い")
    queue = app.dataframe[0].value
    assert list(queue["document"]) == ["遠い", "近い"]
    assert list(queue["grades"]) == ["0 3", "2 3"]


def test_a_case_shows_text_of_others_as_it_is_and_names_nobody(serving: JudgedWorld) -> None:
    shown = words(open_page(serving, "disagreements"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; __init__ $5 &lt;mark&gt;x&lt;/mark&gt;" in shown
    assert "ハンドラキュー &lt;b&gt;🔎" in shown
    assert "順序を知りたい *今*" in shown
    assert "ノート &lt;i&gt;遠い" in shown
    for secret in ("<script", "<i>", "花子", "simulated_1", "bm25"):
        assert secret not in shown
    assert shown.count("Annotator ") == 2
    assert shown.count(">simulated<") == 1


def test_the_grades_to_choose_from_carry_their_definitions(serving: JudgedWorld) -> None:
    app = open_page(serving, "disagreements")
    assert [option.replace("\\", "") for option in app.radio[0].options] == [
        "0 · Not relevant", "1 · Marginally relevant", "2 · Highly relevant", "3 · Perfect",
    ]  # fmt: skip
    assert app.radio[0].value is None
    assert len(app.radio[0].proto.captions) == 4


def test_saving_decides_and_brings_the_next_open_case(serving: JudgedWorld) -> None:
    far, near = pair_key("d", "Q1", "遠い"), pair_key("d", "Q2", "近い")
    app = open_page(serving, "disagreements")
    fill(app, far, grade=2, rationale="第17条 🎯")
    save(app)
    assert [toast.value for toast in app.toast] == ["Saved. 1 still open."]
    assert pair_in(app) == near
    decision = show_case(serving.database, find(serving, "lead"), "d", far, now=NOW).decisions[-1]
    assert (decision.grade, decision.rationale, decision.reason) == (2, "第17条 🎯", None)
    fill(app, near, grade=3, rationale="直接")
    save(app)
    assert "Every disagreement is decided" in words(app)
    assert links(app) == [("overview", "dataset=d")]


def test_a_decision_without_a_grade_or_a_rationale_is_refused_and_what_was_typed_stays(
    serving: JudgedWorld,
) -> None:
    far = pair_key("d", "Q1", "遠い")
    app = open_page(serving, "disagreements")
    fill(app, far, rationale="長い説明")
    save(app)
    assert app.error[0].value == "Choose a grade first."
    assert app.text_area[0].value == "長い説明"
    fill(app, far, grade=1, rationale="  ")
    save(app)
    assert app.error[0].value.startswith("Not saved: ")
    assert app.radio[0].value == 1
    assert show_case(serving.database, find(serving, "lead"), "d", far, now=NOW).decisions == ()


def test_what_is_typed_stays_while_another_case_is_looked_at(serving: JudgedWorld) -> None:
    far, near = pair_key("d", "Q1", "遠い"), pair_key("d", "Q2", "近い")
    app = open_page(serving, "disagreements")
    fill(app, far, grade=1, rationale="途中")
    run(app)
    choose(app, near)
    assert app.text_area[0].value == ""
    choose(app, far)
    assert (app.text_area[0].value, app.radio[0].value) == ("途中", 1)


def test_a_decision_on_what_has_changed_is_refused_and_the_case_is_shown_as_it_is_now(
    serving: JudgedWorld,
) -> None:
    far = pair_key("d", "Q1", "遠い")
    app = open_page(serving, "disagreements")
    fill(app, far, grade=1, rationale="第17条")
    serving.judge(find(serving, "花子"), "Q1", "遠い", 2, note="見直した")
    save(app)
    assert "meanwhile" in app.error[0].value
    assert "見直した" in words(app)
    assert (app.text_area[0].value, app.radio[0].value) == ("第17条", 1)
    assert pair_in(app) == far
    save(app)
    assert [toast.value for toast in app.toast] == ["Saved. 1 still open."]


def test_a_lead_who_judged_a_pair_is_told_that_another_decides_it(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = world.person("both", "lead")
    world.judge(both, "Q1", "遠い", 1)
    sign_in_for_callbacks(world, monkeypatch, both)
    app = open_page(world, "disagreements", both)
    assert pair_in(app) == pair_key("d", "Q2", "近い")
    assert list(app.dataframe[0].value["marks"]) == ["simulated, judged by you", "simulated"]
    choose(app, pair_key("d", "Q1", "遠い"))
    assert app.info[0].value.startswith("This one is not yours to decide")
    assert len(app.radio) == 0


def test_a_decided_case_can_be_looked_at_and_decided_anew(serving: JudgedWorld) -> None:
    far = pair_key("d", "Q1", "遠い")
    app = open_page(serving, "disagreements")
    fill(app, far, grade=2, rationale="一度目 <b>")
    save(app)
    choose(app, far)
    assert "Decide anew" in headings(app)
    assert "一度目 &lt;b&gt;" in words(app)
    assert app.text_area[0].value == ""
    fill(app, far, grade=3, rationale="二度目")
    save(app)
    assert len(show_case(serving.database, find(serving, "lead"), "d", far, now=NOW).decisions) == 2


def test_the_queue_is_sorted_and_filtered_by_the_address(serving: JudgedWorld) -> None:
    serving.pair("Q2", "並", rank=99)
    for username, grade in (("花子", 0), ("simulated_1", 2)):
        serving.judge(find(serving, username), "Q2", "並", grade)
    app = open_page(serving, "disagreements")
    assert list(app.dataframe[0].value["document"]) == ["遠い", "並", "近い"]
    app = open_page(serving, "disagreements", sort="age")
    assert list(app.dataframe[0].value["document"]) == ["遠い", "近い", "並"]
    fill(app, pair_key("d", "Q1", "遠い"), grade=2, rationale="第17条")
    save(app)
    assert pair_in(app) == pair_key("d", "Q2", "近い")
    app = open_page(serving, "disagreements", show="decided")
    assert list(app.dataframe[0].value["document"]) == ["遠い"]


def test_a_pair_of_another_dataset_in_the_address_is_passed_over(serving: JudgedWorld) -> None:
    app = open_page(serving, "disagreements")
    choose(app, "0" * 24)
    assert pair_in(app) == pair_key("d", "Q1", "遠い")


def test_without_a_disagreement_the_page_says_what_brings_one(database: Database) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    app = open_page(world, "disagreements")
    assert app.text[0].value.startswith("No pair was graded differently so far")
    assert links(app) == [("overview", "dataset=d")]


def test_the_pool_lists_every_pair_with_who_proposed_it(world: JudgedWorld) -> None:
    app = open_page(world, "pool")
    assert alternatives(app) == ["4 pairs: unanimous 2, disagreement 2."]
    (systems,) = (str(item.proto.body) for item in app.get("html") if "by it alone" in item.proto.body)
    assert re.findall(r'dir="auto">(.*?)</t', systems) == ["bm25", "2", "4", "4"]
    (pairs,) = (item.value for item in app.dataframe)
    assert list(pairs["document"]) == ["同じ", "遠い", "近い", "같은"]
    last = pairs.to_dict("records")[-1]
    assert (last["proposed by"], last["query text"], last["title"]) == (
        "bm25 at 2 (1.5)",
        "법령 :red[검색]",
        "題 같은",
    )


def test_the_pool_is_filtered_by_status_and_system_from_the_address(world: JudgedWorld) -> None:
    app = open_page(world, "pool", status="disagreement", system="bm25")
    assert list(app.dataframe[0].value["document"]) == ["遠い", "近い"]
    assert "2 of 4 pairs" in words(app)
    assert list(app.selectbox(key="status").options) == ["all", "unanimous", "disagreement"]


def test_an_empty_pool_says_which_commands_make_one_and_does_not_lead_to_itself(database: Database) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    world.query("Q1", "検索")
    app = open_page(world, "pool")
    assert [item.value for item in app.code] == [
        "annotator import documents d PATH",
        "annotator import run d FILE --system NAME",
        "annotator pool d --depth 10",
    ]
    assert links(app) == []


def test_a_kept_import_is_a_status_of_its_own_and_nobodys_work(database: Database, tmp_path: Path) -> None:
    world = JudgedWorld(database)
    lead = world.person("lead", "lead")
    world.person("花子")
    world.query("Q1", "検索 <b>")
    file = tmp_path / "earlier.csv"
    file.write_text("query_id,doc_id,grade\nQ1,이전 문서,3\n", encoding="utf-8")
    import_qrels(database, lead, "d", file, now=LATER, format_name="csv")
    app = open_page(world, "overview")
    assert "1 pairs: imported 1." in words(app)
    assert "judged\n" not in words(app)
    assert all(address != "label" for address, _ in links(app))
    app = open_page(world, "pool", status="imported")
    (pair,) = app.dataframe[0].value.to_dict("records")
    assert (pair["document"], pair["status"], pair["proposed by"]) == ("이전 문서", "imported", "import")
    app = open_page(world, "releases")
    assert "It would hold 1 imported." in words(app)
    assert "Required: 0 · measured: 0 short" in words(app)


def test_what_a_dataset_covers_stands_on_the_overview_when_something_is_required(world: JudgedWorld) -> None:
    assert "What it covers" not in headings(open_page(world, "overview"))
    change_settings(world.database, find(world, "lead"), "d", {"requirements": "nablarch"}, now=NOW)
    app = open_page(world, "overview")
    assert "What it covers" in headings(app)
    shown = words(app)
    assert "requirements are met." in shown
    assert '<th scope="col">required</th><th scope="col">measured</th>' in shown
    assert '<td dir="auto">not met</td>' in shown


def test_help_tells_leads_of_statuses_and_releases_and_annotators_not(world: JudgedWorld) -> None:
    assert {"What becomes of a pair", "Releases"} <= set(headings(open_page(world, "help")))
