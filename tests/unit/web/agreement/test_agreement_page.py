"""The agreement page as Streamlit runs it, without a browser: what it says, links to and refuses; and its files."""

import csv
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from annotator.agreement.records import PairSelection
from annotator.dataset.service import change_settings
from annotator.domain.errors import NotFound
from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.agreement.downloads import write_figures, write_left_out, write_pairs
from annotator.web.agreement.links import describe_selection, list_parameters, read_selection
from annotator.web.agreement.tables import TABLES, TableRequest
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import alternatives, find, headings, links, make_world, open_page, run, words


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)


def test_the_verdict_comes_first_and_each_sentence_leads_to_its_pairs(world: JudgedWorld) -> None:
    app = open_page(world, "agreement")
    first = next(item.proto.body for item in app.get("html"))
    assert "annotator-state" in first and "0.27" in first and "target" in first
    assert headings(app)[1] == "Findings"
    assert "Simulated judgments are included" in words(app)
    assert alternatives(app)[0].startswith("Cohen's kappa, target 0.7: whole dataset 0.27"), (
        "grouped by category"
    )
    assert app.selectbox(key="by").value == "category"
    assert "pairs=differing" in words(app)


def test_every_part_has_its_tab_and_says_what_is_not_there(world: JudgedWorld) -> None:
    shown = words(open_page(world, "agreement", tab="All figures"))
    assert (
        "observed agreement 50.0 %. Bounds: 95 % confidence intervals from 1,000 bootstrap resamples of the queries, seed "
        in shown
    )
    assert "Krippendorff&#x27;s α, ordinal" in shown and ">0.27<" in shown
    assert "compare periods" in words(open_page(world, "agreement", tab="Over time"))


def test_groups_stand_against_the_target_with_the_dataset_first(world: JudgedWorld) -> None:
    app = open_page(world, "agreement", tab="Groups", by="category")
    assert alternatives(app)[0].startswith("Cohen's kappa, target 0.7: whole dataset 0.27 [0.00, 0.27]; 設定")
    app = open_page(world, "agreement", tab="Gruppen", by="nobody knows")
    assert "By group" in headings(app)
    app = open_page(world, "agreement", by="nothing")
    assert "Choose a field to compare agreement between groups." in words(app)
    app = open_page(world, "agreement", tab="Annotators")
    assert "the same grade on 2, different grades on 2" in alternatives(app)[0]
    assert f"who=simulated_1&amp;who={quote('花子')}&amp;grades=3-0" in words(app)


def test_people_have_the_names_that_others_know_and_addresses_and_files_their_usernames(
    world: JudgedWorld,
) -> None:
    change_person(world.database, OPERATOR, "花子", name="Hanako", now=NOW)
    app = open_page(world, "agreement", tab="Annotators", rows="花子", columns="simulated_1")
    assert [app.selectbox(key=key).value for key in ("rows", "columns")] == ["花子", "simulated_1"]
    assert "rows Hanako, columns simulated_1 Realname" in alternatives(app)[0]
    assert "Hanako ↓ simulated_1 Realname →" in words(app)
    assert f"who={quote('花子')}" in words(app) and "who=Hanako" not in words(app)
    listed = open_page(world, "agreement", pairs="differing", who="花子")
    assert "Pairs graded differently by Hanako and others" in words(listed)
    assert f"who={quote('花子')}" in words(listed)


def test_with_more_categories_than_can_be_compared_nothing_is_grouped_at_first(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.agreement.report.MOST_COMPARED_GROUPS", 1)
    app = open_page(world, "agreement")
    assert "Choose a field to compare agreement between groups." in words(app)
    assert app.selectbox(key="by").value == "nothing"
    assert "Choose a field to compare agreement between groups." in words(run(app))


def test_before_anything_is_shared_agreement_says_so(database: Database) -> None:
    world = JudgedWorld(database)
    world.person("lead", "lead")
    app = open_page(world, "agreement")
    assert "There are no judgments yet" in words(app)
    assert headings(app) == ["Agreement"], "no heading without words below it"
    assert links(app) == [("overview", "dataset=d")]
    assert alternatives(app) == []


def test_without_variation_kappa_is_explained_and_nothing_fails(database: Database) -> None:
    world = JudgedWorld(database)
    first, second = world.person("花子"), world.person("민준")
    world.person("lead", "lead")
    world.query("Q1", "検索")
    world.pair("Q1", "文書")
    for annotator in (first, second):
        world.judge(annotator, "Q1", "文書", 3)
    shown = words(open_page(world, "agreement", tab="All figures"))
    assert "so agreement beyond chance is undefined" in shown
    assert "κ: undefined, everybody gave" in shown, (
        "a sentence of its own, and none of the figures in large letters"
    )
    assert "<dd>undefined" not in shown


def test_an_address_opens_the_pairs_behind_a_figure_with_the_way_to_their_cases(world: JudgedWorld) -> None:
    app = open_page(world, "agreement", pairs="shared", who="花子", grades="3-0")
    page_words = words(app)
    assert "1 pair, largest difference first." in page_words
    assert "simulated\\_1" not in page_words
    shown = page_words.replace("\u00a0", " ")
    assert re.search("3 [AB]<br>0 花子", shown), "a letter for whom the address does not name"
    assert "simulated_1" not in shown and "A, B …: the annotators of a pair, without their names." in shown
    assert "ハンドラキュー &lt;b&gt;🔎" in page_words
    assert (
        "/disagreements?dataset=d&amp;pair=" in page_words and "/api/agreement/pairs?dataset=d" in page_words
    )
    assert alternatives(app) == []
    assert "No pair matches." in words(open_page(world, "agreement", pairs="gold", who="花子"))


@pytest.mark.parametrize(
    "selection",
    [
        PairSelection(), PairSelection("differing", ("a&b=c",)), PairSelection(annotators=("花子", "🦊"), grades=(0, 3)),
        PairSelection("quick", ("민준",)), PairSelection(by="category", value="x;y"), PairSelection(by="document:area", value=None),
        PairSelection("given", ("花子",), grade=0), PairSelection("given", grade=3),
        PairSelection(span=(1_767_225_600, 1_768_003_199)), PairSelection(annotators=("a/b",), span=(1_767_225_600, 1_767_225_661)),
        PairSelection("differing", by="category", value="x", span=(0, 1)),
        PairSelection("differing", ("ann",), grades=(0, 3), without=("a&b=c", "花子", "민준", "🦊")),
    ],
)  # fmt: skip
def test_an_address_holds_all_of_a_selection(selection: PairSelection) -> None:
    assert read_selection(list_parameters(selection)) == selection
    assert describe_selection(selection)


def test_an_address_that_nobody_wrote_is_no_selection() -> None:
    assert read_selection([("who", "ann")]) is None
    assert read_selection([("pairs", "<b>")]) is None
    assert read_selection([("pairs", "shared"), ("grades", "0-9")]) == PairSelection()
    assert read_selection([("pairs", "shared"), ("grade", "7"), ("when", "2026-13-01/x")]) == PairSelection()


def test_a_heading_names_the_grade_and_the_days_or_within_a_day_the_times() -> None:
    assert describe_selection(PairSelection("given", ("花子",), grade=0)) == "Pairs graded 0 by 花子"
    assert describe_selection(PairSelection("given", grade=3)) == "Pairs graded 3 by at least one annotator"
    days = describe_selection(PairSelection(annotators=("ann",), span=(1_767_225_600, 1_768_003_199)))
    assert days == ("Pairs judged by ann and others; second judgment from 2026-01-01 to 2026-01-09 (UTC)")
    without = PairSelection("differing", without=("ann", "花子"))
    assert describe_selection(without) == "Pairs graded differently; without ann, 花子"
    without = PairSelection("differing", without=("a", "b", "c", "d", "e"))
    assert describe_selection(without).endswith("; without a, b, c and 2 more")
    hours = describe_selection(PairSelection(span=(1_767_225_600, 1_767_229_260)))
    assert hours.endswith("from 2026-01-01 00:00 to 2026-01-01 01:01 (UTC)")


def read(text: str) -> list[list[str]]:
    assert text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))


def test_every_table_is_a_file(world: JudgedWorld) -> None:
    requests = {
        "confusion": TableRequest("confusion", None, "花子", "simulated_1"),
        "groups": TableRequest("groups", "category"),
    }
    for table in TABLES:
        rows = read(write_figures(world.database, OPERATOR, "d", requests.get(table, TableRequest(table))))
        assert all(len(row) == len(rows[0]) for row in rows), table
    rows = read(write_figures(world.database, OPERATOR, "d", requests["confusion"]))
    assert rows[0][0] == "花子" and rows[1][1:] == ["1", "0", "0", "1"]
    groups = read(write_figures(world.database, OPERATOR, "d", requests["groups"]))
    assert [row[:2] for row in groups[1:]] == [["whole dataset", "4"], ["設定", "2"], ["법", "2"]]
    with pytest.raises(NotFound):
        write_figures(world.database, OPERATOR, "d", TableRequest("secrets"))


def test_the_pairs_and_what_is_left_out_are_files(world: JudgedWorld) -> None:
    selection = PairSelection("differing")
    rows = read("".join(write_pairs(world.database, OPERATOR, "d", selection, language="en", now=NOW)))
    assert [row[2] for row in rows[1:]] == ["遠い", "近い"]
    world.judge(find(world, "花子"), "Q1", "遠い", 1)
    rows = read("".join(write_left_out(world.database, OPERATOR, "d", "revised", now=NOW)))
    assert len(rows) == 2 and "遠い" in rows[1]


def test_ones_own_agreement_is_on_my_work_only_when_the_leads_allow_it(world: JudgedWorld) -> None:
    hanako = find(world, "花子")
    assert "My agreement with others" not in headings(open_page(world, "work", hanako, tab="Consistency"))
    change_settings(world.database, OPERATOR, "d", {"show_own_agreement": "true"}, now=datetime.now(UTC))
    app = open_page(world, "work", hanako, tab="Consistency")
    assert "My agreement with others" in headings(app)
    assert "0 pairs are compared so far. Your agreement appears once there are 30." in words(app)
    assert "simulated_1" not in words(app)
