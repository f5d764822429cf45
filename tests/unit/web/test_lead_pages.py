"""The leads' pages as Streamlit runs them, without a browser: what they show, say and do."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from annotator.dataset.service import change_settings
from annotator.importing.judgments.judgments_service import import_qrels
from annotator.pooling.rounds.round_records import NewRound, PairDraw
from annotator.pooling.rounds.rounds_sql import add_round
from annotator.pooling.suggestions.suggestions_service import StoredSuggestion, add_relation_suggestions
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import find_pair_pks
from annotator.storage.pairs.pool import pair_key
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import ProvenanceRow
from tests.contexts import GivenContext
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import (
    alternatives,
    find,
    headings,
    html_rows,
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
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)


@pytest.mark.parametrize("page", ["overview", "agreement", "disagreements", "pool", "releases"])
def test_without_a_dataset_a_page_says_whom_to_ask(world: JudgedWorld, page: str) -> None:
    app = open_page(world, page, dataset=None)
    assert app.info[0].value.startswith("You have no access to a dataset yet. Ask your admin")
    assert not app.code


def test_the_overview_begins_with_what_a_release_lacks_how_much_work_it_is_and_where_it_is_done(
    world: JudgedWorld,
) -> None:
    app = open_page(world, "overview")
    assert headings(app)[:3] == ["Overview", "Pairs by status", "Agreement"]
    shown = words(app)
    assert "Not ready for release" in shown
    verdict = shown[: shown.index("Last 7 days:")]
    for page, phrase, effort in (
        ("agreement", "κ 0.27 (target 0.70)", "about 52 more judgments until it is known"),
        ("disagreements", "2 open disagreements", "time not known"),
        ("quality", "quality control not done", "about 1 pair to check"),
    ):
        link = f'<a class="annotator-link" href="/{page}?dataset=d" target="_self"'
        assert link in verdict and f">{phrase}</a>: {effort}" in verdict, phrase
    assert "No date yet. In the way: Cohen&#x27;s κ." in verdict
    assert "What to do next" not in headings(app), "the verdict says all of it"


def test_a_dataset_without_judgments_says_what_is_missing_and_draws_no_empty_picture(
    database: Database,
) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    world.query("Q1", "検索")
    world.pair("Q1", "甲")
    shown = words(app := open_page(world, "overview"))
    assert "κ undefined (target 0.70)</a>: measured from the missing judgments" in shown
    assert "1 pair without enough judgments</a>: 2 more judgments" in shown
    assert "Nothing was judged or decided in the last 7 days." in shown
    assert "Add annotators" in shown, "steps that serve no gate stay"
    assert not [text for text in alternatives(app) if "unjudged" in text]


def test_the_leading_system_is_computed_once_the_rest_of_the_overview_is_drawn(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotator.web.overview import page

    order: list[str] = []

    def find_last(*_given: object) -> str:
        order.append("leading system")
        return "bm25 leads"

    monkeypatch.setattr(page, "_find_leader", find_last)
    monkeypatch.setattr(page, "_draw_queries", lambda _overview: order.append("queries"))
    shown = words(open_page(world, "overview"))
    assert order == ["queries", "leading system"]
    assert "bm25 leads" in shown and "Calculating" not in shown


def test_the_overview_says_every_figure_in_words_and_marks_who_is_simulated(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = GivenContext(database=world.database, actor=find(world, "lead"), now=NOW)
    monkeypatch.setattr("annotator.web.kit.page_parts.require_context", lambda: context)
    app = open_page(world, "overview")
    assert alternatives(app) == [
        "4 pairs: unanimous 2, disagreement 2.",
        "Cohen's kappa, target 0.7: κ 0.27 [0.00, 0.27].",
        "Pairs judged, of 4: simulated_1 Realname (simulated) 4, 花子 Realname 4.",
        (
            "A query is complete when each of its pairs has the judgments it needs: 2 of 2 are. "
            "4 pairs are complete, 0 begun, 0 untouched."
        ),
    ]
    assert "Simulated judgments are included (simulated_1)" in words(app)
    assert not app.dataframe, "figures are sent when they are opened"
    for label in ("Numbers by day", "Numbers by annotator", "Numbers by query"):
        app.session_state[f"numbers {label}"] = True
    days, people, queries = (item.value for item in run(app).dataframe)
    assert days.iloc[0].tolist() == ["Mar 5", 2, 2, 0]
    assert list(people["annotator"]) == ["simulated_1 (simulated)", "花子"]
    assert list(queries["complete"]) == [2, 2]


def test_the_overview_of_an_empty_dataset_is_nothing_but_the_next_step(database: Database) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    app = open_page(world, "overview")
    assert headings(app) == ["Overview", "What to do next"]
    assert "The way to a release: queries and documents, the pool" in words(app)
    assert not app.code, "no command on a page"
    assert alternatives(app) == []


def test_the_pool_shows_its_pairs_by_status_and_system(world: JudgedWorld) -> None:
    app = open_page(world, "pool")
    assert alternatives(app) == ["4 pairs: unanimous 2, disagreement 2."]
    (row,) = html_rows(app)[1:]
    assert row == ["bm25", "4", "50 % (1 / 2)", "4", "50 % (1 / 2)", "2", "2"]


def test_the_pool_lists_every_pair_with_who_proposed_it(world: JudgedWorld) -> None:
    app = open_page(world, "pool", tab="Pairs")
    pairs = html_rows(app)[1:]
    assert [row[1] for row in pairs] == ["題 同じ同じ", "題 遠い遠い", "題 近い近い", "題 같은같은"]
    assert pairs[-1][2:] == ["unanimous", "bm25 at 2 (1.5)", "–"]
    assert "법령 :red[검색]" in pairs[-1][0]


def test_the_pool_is_filtered_by_status_and_system_from_the_address(world: JudgedWorld) -> None:
    app = open_page(world, "pool", status="disagreement", system="bm25")
    assert [row[1] for row in html_rows(app)[1:]] == ["題 遠い遠い", "題 近い近い"]
    assert "2 of 4 pairs" in words(app)
    assert list(app.selectbox(key="status").options) == ["all", "unanimous", "disagreement"]


def test_a_pair_of_the_pool_shows_its_origin_and_no_grade(world: JudgedWorld) -> None:
    app = open_page(world, "pool", pair=pair_key("d", "Q1", "遠い"))
    assert headings(app) == ["Pool", "Query Q1", "Who proposed it", "Document"]
    assert html_rows(app)[1] == ["bm25", "2", "1.5", "–"]
    assert "Status: disagreement" in words(app)
    assert "/disagreements?dataset=d&amp;pair=" in words(app)
    assert "The pool has no such pair." in words(open_page(world, "pool", pair="x"))


def test_how_often_suggestions_were_right_is_shown_on_request(world: JudgedWorld) -> None:
    with world.database.write() as session:
        keys = {pair_key("d", "Q1", doc_id): doc_id for doc_id in ("同じ", "遠い")}
        pair_pks = find_pair_pks(session, keys)
        suggestions = [
            StoredSuggestion(pair_pk, "R1", "sibling", 2, (), ()) for pair_pk in sorted(pair_pks.values())
        ]
        add_relation_suggestions(session, suggestions, now=LATER)
        draws = {pair_pk: PairDraw() for pair_pk in pair_pks.values()}
        add_round(session, world.dataset_pk, NewRound("relations"), draws, made_by=None, now=LATER)
        session.add(ProvenanceRow(pair_pk=min(pair_pks.values()), system="relation: sibling"))
    app = open_page(world, "pool", tab="Rounds")
    assert "suggestions=shown" in words(app) and "sibling" not in words(app)
    app = open_page(world, "pool", tab="Rounds", suggestions="shown")
    assert html_rows(app)[-1][:4] == ["sibling", "2", "2", "1"]


def test_an_empty_pool_leads_to_its_first_round_and_shows_no_command(database: Database) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    world.query("Q1", "検索")
    app = open_page(world, "pool")
    assert headings(app) == ["Pool", "New round"]
    assert "There is nothing to take candidates from yet." in words(app)
    app = open_page(world, "pool", tab="Pairs")
    assert "The pool is empty. Make the first round." in words(app)
    assert "tab=New+round" in words(app)
    assert not app.code


def test_a_kept_import_is_a_status_of_its_own_and_nobodys_work(database: Database, tmp_path: Path) -> None:
    world = JudgedWorld(database)
    lead = world.person("lead", "lead")
    world.person("花子")
    world.query("Q1", "検索 <b>")
    file = tmp_path / "earlier.csv"
    file.write_text("query_id,doc_id,grade\nQ1,이전 문서,3\n", encoding="utf-8")
    import_qrels(database, lead, "d", file, now=LATER, format_name="csv")
    app = open_page(world, "overview")
    assert "1 pair: imported 1." in words(app)
    assert "judged\n" not in words(app)
    assert all(address != "label" for address, _ in links(app))
    app = open_page(world, "pool", status="imported")
    (pair,) = html_rows(app)[1:]
    assert pair[1:] == ["이전 문서", "imported", "import", "–"]
    app = open_page(world, "releases")
    assert "The release will contain 1 pair (imported 1)." in words(app)
    assert "every pair has enough judgments" in words(app)


def test_what_a_dataset_covers_stands_on_the_overview_when_something_is_required(world: JudgedWorld) -> None:
    assert "Coverage" not in headings(open_page(world, "overview"))
    change_settings(world.database, find(world, "lead"), "d", {"requirements": "nablarch"}, now=NOW)
    app = open_page(world, "overview")
    assert "Coverage" in headings(app)
    shown = words(app)
    assert "requirements are met." in shown
    assert ">required</th>" in shown and ">measured</th>" in shown
    assert '<td dir="auto">not met</td>' in shown


def test_help_tells_leads_of_statuses_and_releases_and_annotators_not(world: JudgedWorld) -> None:
    titles = [expander.label for expander in open_page(world, "help").expander]
    assert {"Statuses of a pair", "Releases"} <= set(titles)


def test_help_says_what_reopened_means(world: JudgedWorld) -> None:
    text = " ".join(item.value for item in open_page(world, "help").markdown)
    assert "**reopened**: the checker of quality control disagrees with the settled grade" in text
