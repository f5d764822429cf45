"""The tab "New round" of the page Pool as Streamlit runs it: what it previews, what it refuses, and what it adds."""

from time import sleep
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from annotator.domain.people import OPERATOR, SignedIn
from annotator.pooling.rounds.rounds_service import list_pool_rounds
from annotator.pooling.service import list_pairs
from annotator.pooling.suggestions.suggestions_service import list_relation_suggestions
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.kit.background_work import WorkBoard
from annotator.web.page_context import PageContext
from annotator.web.pooling import new_round_tab as new_round
from annotator.web.pooling.words import describe_options
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.pooling.test_pooling import Pool
from tests.unit.web.lead_pages import find, headings, html_rows, links, open_page, run, words


class UnpooledWorld(Pool):
    """Three queries and five documents, of which two say the same; nothing is in the pool."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.person("lead", "lead")


@pytest.fixture
def world(database: Database, monkeypatch: pytest.MonkeyPatch) -> UnpooledWorld:
    made = UnpooledWorld(database)
    monkeypatch.setattr(new_round, "BOARD", WorkBoard())
    monkeypatch.setattr(new_round, "PATIENCE", 60.0)  # a quick preview is there when the page is drawn
    person = SignedIn(find(made, "lead"), "lead", (), False, NOW)
    context = PageContext(database, Settings(), person, "", (), "d", NOW)
    monkeypatch.setattr(new_round, "find_context", lambda: context)
    return made


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click()
    return run(app)


def test_a_lead_makes_the_first_round_of_an_empty_pool(world: UnpooledWorld) -> None:
    app = open_page(world, "pool")
    assert headings(app) == ["Pool", "New round"]
    assert "4 new pairs." in words(app)
    assert "New pairs per query: median 1, from 0 to 3." in words(app)
    assert "Work: 8 judgments." in words(app)
    assert not list_pool_rounds(world.database, OPERATOR, "d"), "a preview stores nothing"
    app = press(app, "add round")
    assert "Round 1: 4 pairs were added." in [item.value for item in app.success]
    assert 'href="/overview?dataset=d"' in words(app)
    (made,) = list_pool_rounds(world.database, OPERATOR, "d")
    assert (made.pairs, made.made_by, made.options["retrievers"]) == (4, "lead", ["bm25"])
    assert len(list_pairs(world.database, OPERATOR, "d")) == 4
    assert "No new pair. 4 pairs are in the pool already." in words(app)
    assert not [button for button in app.button if button.key == "add round"], "nothing is left to add"


def test_an_empty_pool_opens_on_its_first_round_also_after_a_page_with_tabs_of_its_own(
    world: UnpooledWorld,
) -> None:
    app = open_page(world, "pool")
    app.session_state["tab"] = "Import"
    assert headings(run(app)) == ["Pool", "New round"]


def test_a_preview_that_another_tab_began_at_the_same_moment_is_shown_too(
    world: UnpooledWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, start = new_round._begin, new_round.BOARD.start

    def start_late(key: Any, actor: Any, request: Any, act: Any, **more: Any) -> Any:
        def act_late(report: Any) -> Any:
            sleep(0.3)
            return act(report)

        return start(key, actor, request, act_late, **more)

    def begin_after_another(*wanted: Any, **more: Any) -> Any:
        monkeypatch.setattr(new_round, "_begin", begin)
        begin(*wanted, **more)
        return begin(*wanted, **more)

    monkeypatch.setattr(new_round.BOARD, "start", start_late)
    monkeypatch.setattr(new_round, "_begin", begin_after_another)
    app = open_page(world, "pool")
    assert "4 new pairs." in words(app)
    assert not run(app).warning, "nobody pressed anything that could be refused"


def test_a_round_leads_on_to_people_while_nobody_is_there_to_judge(world: UnpooledWorld) -> None:
    app = press(open_page(world, "pool"), "add round")
    assert "Next: invite annotators." in words(app)
    assert "people" in [address for address, _query in links(app)]
    world.person("花子")
    assert "Next: invite annotators." not in words(run(app))


def test_the_preview_counts_left_out_candidates_by_rule(world: UnpooledWorld) -> None:
    app = open_page(world, "pool", tab="New round")
    app.selectbox(key="new round duplicates").set_value("exact")
    app = run(app)
    assert ["near duplicates (exact)", "1"] in html_rows(app)
    assert "3 new pairs." in words(app)
    app = press(app, "add round")
    assert "Round 1: 3 pairs were added." in [item.value for item in app.success]


def test_an_error_is_at_its_field_and_disables_adding(world: UnpooledWorld) -> None:
    app = open_page(world, "pool", tab="New round")
    app.selectbox(key="new round strategy").set_value("stratified")
    app = run(app)
    app.text_input(key="new round strata").set_value("10-1:1")
    app = run(app)
    assert "found 10" in app.error[0].value
    assert not app.button
    app.text_input(key="new round strata").set_value("1-10:1")
    app.text_input(key="new round title").set_value("(")
    app = run(app)
    assert "regular expression" in app.error[0].value
    app.text_input(key="new round title").set_value("")
    app.multiselect(key="new round retrievers").set_value([])
    app = run(app)
    assert "Choose at least one system or one search" in app.error[0].value


def test_a_preview_of_much_data_waits_for_a_button(
    world: UnpooledWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_round, "QUICK_DOCUMENTS", 3)
    app = open_page(world, "pool", tab="New round")
    assert [button.key for button in app.button] == ["preview round"]
    assert "With 5 documents, the preview can take a few minutes." in words(app)
    monkeypatch.setattr(new_round, "watch_work", lambda *_: None)
    app = press(app, "preview round")
    work = new_round.BOARD.find_running(new_round.find_key(world.database, "d"))
    assert work is None or work.ended.wait(60)
    app = run(app)
    assert "4 new pairs." in words(app)


def test_a_dataset_without_queries_or_documents_says_what_to_do(database: Database) -> None:
    empty = JudgedWorld(database)
    empty.person("lead", "lead")
    app = open_page(empty, "pool")
    assert "This dataset has no queries yet. Import them first." in words(app)
    empty.query("Q1", "検索")
    app = open_page(empty, "pool")
    assert "There is nothing to take candidates from yet." in words(app)
    assert not app.code, "no command on a page"


# Rounds that are no search ------------------------------------------------------------------------------


@pytest.fixture
def settled(world: UnpooledWorld) -> UnpooledWorld:
    """Document a is settled at grade 3 for Q2; two systems also list b and HttpRequest, which nobody has judged."""
    for person in (world.person("ann"), world.person("bea")):
        world.pair("Q2", "a")
        world.judge(person, "Q2", "a", 3)
    world.run("s1", {"Q2": ["a", "b", "HttpRequest"]})
    world.run("s2", {"Q2": ["HttpRequest", "a", "b"]})
    return world


def choose_kind(app: AppTest, kind: str) -> AppTest:
    app.segmented_control(key="new round kind").set_value(kind)
    return run(app)


def list_round(world: UnpooledWorld) -> tuple[str, int, str | None]:
    (made,) = list_pool_rounds(world.database, OPERATOR, "d")
    return made.strategy, made.pairs, made.made_by


def test_unjudged_results_are_previewed_and_become_pairs(settled: UnpooledWorld) -> None:
    app = choose_kind(open_page(settled, "pool", tab="New round"), "holes")
    assert "Unjudged documents among the first results" in words(app)
    assert [button.key for button in app.button] == ["preview round"]
    app = press(app, "preview round")
    assert "2 new pairs." in words(app)
    assert "Unjudged documents among these results: 2. In the pool already: 0." in words(app)
    assert not list_pool_rounds(settled.database, OPERATOR, "d"), "a preview stores nothing"
    app.number_input(key="new round hole limit").set_value(1)
    app = press(run(app), "preview round")
    assert "1 new pair." in words(app) and "Left for later: 1." in words(app)
    app = press(app, "add round")
    assert "Round 1: 1 pair was added." in [item.value for item in app.success]
    assert list_round(settled) == ("holes", 1, "lead")


def test_relations_of_a_file_are_previewed_and_become_pairs_with_a_suggested_grade(
    settled: UnpooledWorld,
) -> None:
    app = choose_kind(open_page(settled, "pool", tab="New round"), "relations")
    assert app.radio(key="new round relations").value == "file", "no document is part of a law"
    assert [button.key for button in app.button] == [], "there is no file yet"
    app.file_uploader[0].set_value(
        [("r.csv", b"from,to,relation\na,b,cites\na,HttpRequest,part\na,nobody,part\n", "")]
    )
    app = run(app)
    assert "Choose which relations are followed." in words(app)
    app.selectbox(key="new round follow cites").set_value("forward")
    app = run(app)
    app.selectbox(key="new round grade cites").set_value(2)
    app = press(run(app), "preview round")
    assert "nobody" in app.error[0].value, "a document that the dataset does not have"
    app.checkbox(key="new round skip").set_value(True)
    app = press(run(app), "preview round")
    assert ["cites", "2", "1", "1", "0", "0", "–"] in html_rows(app)
    assert "1 document of the file is not in the dataset; its relations are left out." in words(app)
    app = press(app, "add round")
    assert "Round 1: 1 pair was added." in [item.value for item in app.success]
    assert list_round(settled) == ("relations", 1, "lead")
    with settled.database.read() as session:
        stored = list_relation_suggestions(session, settled.dataset_pk)
    assert [item.grade for item in stored.values()] == [2]


def test_a_file_of_relations_with_an_error_is_refused_at_its_field(settled: UnpooledWorld) -> None:
    app = choose_kind(open_page(settled, "pool", tab="New round"), "relations")
    assert app.radio(key="new round relations").value == "file", "no document is part of a law"
    app.file_uploader[0].set_value([("r.csv", b"from,relation\na,x\n", "")])
    app = run(app)
    assert "expected a column to" in app.error[0].value and not app.button


def test_a_file_of_relations_without_end_is_refused_before_it_is_read(settled: UnpooledWorld) -> None:
    """Each browser tab keeps the relations that it has read in the memory of the server."""
    app = choose_kind(open_page(settled, "pool", tab="New round"), "relations")
    lines = b"from,to,relation\n" + b"a,b,cites\n" * 50_000
    app.file_uploader[0].set_value([("r.csv", lines, "")])
    app = run(app)
    assert "at most 50" in app.error[0].value and not app.button
    assert "relations of the file" not in app.session_state


def test_relations_of_law_texts_need_laws(settled: UnpooledWorld) -> None:
    app = choose_kind(open_page(settled, "pool", tab="New round"), "relations")
    app.radio(key="new round relations").set_value("law texts")
    app = run(app)
    assert [field.value for field in app.selectbox if "follow" in (field.key or "")] == [
        "both",
        "forward",
        "forward",
        "forward",
    ]
    app = press(app, "preview round")
    assert "No document of this dataset is an article of a law" in app.error[0].value


def test_the_options_of_a_round_are_named_as_in_the_form() -> None:
    options = {
        "depth": 10,
        "systems": None,
        "retrievers": ["bm25", "hybrid"],
        "weights": {"bm25": 0.6, "run:s1": 1.0},
        "budget": 1_000,
        "strata": ["1-10:1", "11-50:0.2"],
        "seed": 12_345,
        "filters": ["exclude:lang=ko", "exclude-title:^A:", "min-length:20", "near-duplicate:0.9"],
        "rules": [{"rule": "cites", "relation": "cites", "grade": 2}],
        "new option": "x",
    }
    assert describe_options(options) == [
        "Results per query: 10",
        "Searches: BM25 (words), Hybrid (several lists as one)",
        "Weights of the lists: bm25 0.6, run:s1 1.0",
        "Pairs to judge: 1,000",
        "Ranks and the share to draw: 1-10 100.0\u00a0%, 11-50 20.0\u00a0%",
        "Seed: 12345",
        "Left out: lang=ko, title matches ^A:, shorter than 20 characters, near…",
        "Rules: cites (2)",
        "new option: x",
    ]
