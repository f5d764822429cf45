"""The Releases page in a real browser: publish, look at what is out, follow a grade, compare, download."""

import io
import re
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.demo import build_demo
from annotator.domain.people import OPERATOR
from annotator.formats.syntax.spreadsheet import write_sheet
from annotator.people.roles_service import find_actor
from annotator.people.service import change_person
from annotator.releases.gates_service import check_release
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from tests.browser.conftest import SignIn, go
from tests.integration.judged_world import NOW, JudgedWorld

HOSTILE = "<img src=x onerror=\"document.title='taken'\"><b>太</b> $x$ :red[赤] -> مرحبا 🎯"
HOSTILE_ID = "文書<b>太</b>$x$:red[赤]#مرحبا🎯"  # TREC allows no white space in it
LATER = NOW + timedelta(days=1)


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """Beside `demo`: two settled pairs and one disagreement, with text that would like to be more."""
    made = JudgedWorld(database)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    first, second = made.person("first"), made.person("second")
    made.query("Q1", f"ハンドラキュー {HOSTILE}")
    made.query("Q2", "토지거래허가구역")
    for query_id, doc_id, grades in (
        ("Q1", HOSTILE_ID, (3, 3)), ("Q1", "中間", (0, 2)), ("Q2", "مستند", (2, 2)),
    ):  # fmt: skip
        made.pair(query_id, doc_id, rank=2, title=f"題 {HOSTILE}")
        made.judge(first, query_id, doc_id, grades[0], note=f"ノート {HOSTILE}")
        made.judge(second, query_id, doc_id, grades[1])
    return made


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    """Where the server, which runs in this folder, keeps its releases."""
    return tmp_path / "exports"


def publish(database: Database, dataset: str, version: str, exports: Path, *, note: str = "") -> Path:
    with database.read() as session:
        lead = find_actor(session, "lea")
    gates = check_release(database, lead, dataset).gates
    reasons = {gate.name: f"理由 {HOSTILE}" for gate in gates if not gate.met}
    made = publish_release(
        database, lead, dataset, version, exports_dir=exports, now=LATER, note=note, overrides=reasons
    )
    return made.path


@pytest.fixture
def published(world: JudgedWorld, exports: Path) -> JudgedWorld:
    """1.0.0, and 1.1.0 with a decision in between."""
    publish(world.database, "d", "1.0.0", exports, note=f"第一版 {HOSTILE}")
    with world.database.read() as session:
        lead = find_actor(session, "lea")
    columns = ("query_id", "doc_id", "grade", "rationale", "reason")
    file = "".join(write_sheet(columns, [("Q1", "中間", 1, f"根拠 {HOSTILE}", "query ambiguous")]))
    adjudicate_file(world.database, lead, "d", file.encode(), "meeting.csv", now=LATER)
    publish(world.database, "d", "1.1.0", exports)
    return world


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def qrel(page: Page, doc_id: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"{doc_id}$"))


def trail(page: Page) -> Locator:
    return page.locator(".annotator-trail")


def expect_nothing_taken(page: Page) -> None:
    assert page.title() == "Releases · Annotator"
    assert page.locator("img[src=x]").count() == 0


def test_a_lead_publishes_and_downloads_one_file_and_all_of_them(
    world: JudgedWorld, page: Page, sign_in: SignIn, exports: Path
) -> None:
    sign_in(page, "lea", to="/releases?dataset=d")
    expect(page.get_by_role("button", name="Publish", exact=True)).to_be_visible()
    fields = page.get_by_role("textbox", name=re.compile("Why publish with"))
    for field in fields.all():
        field.fill("まだ半分 🙂")
    page.get_by_role("textbox", name="Note").fill("第一版")
    for name in ("Authors", "Contact", "Licence"):
        page.get_by_role("textbox", name=name).fill("하나")
    page.get_by_role("button", name="Publish", exact=True).dblclick()
    expect(page.get_by_text("Version 1.0.0 published")).to_be_visible()
    page.wait_for_url(re.compile("version=1.0.0"))
    folder = exports / "d"
    assert [path.name for path in folder.iterdir()] == ["1.0.0"]
    page.get_by_role("tab", name="Files").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="qrels.trec.txt").click()
    assert download.value.suggested_filename == "d-1.0.0-qrels.trec.txt"
    assert download.value.path().read_bytes() == (folder / "1.0.0" / "qrels.trec.txt").read_bytes()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download everything (zip)").click()
    assert download.value.suggested_filename == "d-1.0.0.zip"
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as archive:
        assert archive.testzip() is None
        names = {name.removeprefix("d-1.0.0/") for name in archive.namelist()}
    assert names == {
        path.relative_to(folder / "1.0.0").as_posix() for path in folder.rglob("*") if path.is_file()
    }
    expect(page.get_by_role("heading", name="d 1.0.0")).to_be_visible()


def test_enter_on_a_row_shows_the_trail_and_the_focus_stays(
    published: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/releases?dataset=d&tab=Published")
    first = page.locator(".rows").nth(1).locator("tbody button").first
    first.focus()
    for _ in range(5):
        if page.evaluate("document.activeElement.shadowRoot?.activeElement?.textContent").endswith("中間"):
            break
        page.keyboard.press("ArrowDown")
    expect(qrel(page, "中間")).to_be_focused()
    page.keyboard.press("Enter")
    expect(trail(page)).to_contain_text("Why grade 1")
    for text in (
        "annotator_1: ",
        "annotator_2: ",
        "guideline 1",
        "query ambiguous",
        f"根拠 {HOSTILE}",
        f"ノート {HOSTILE}",
    ):
        expect(page.get_by_test_id("stMain").get_by_text(text).first).to_be_visible()
    expect(qrel(page, "中間")).to_be_focused()
    expect(qrel(page, "中間")).to_have_attribute("aria-current", "true")
    expect_nothing_taken(page)
    page.wait_for_url(re.compile("document="))
    page.reload()
    expect(trail(page)).to_contain_text("Why grade 1")


@pytest.mark.long(
    "browser/releases/test_releases_page.py::test_enter_on_a_row_shows_the_trail_and_the_focus_stays",
    "unit/web/releases/test_releases_page.py",
)
def test_qrels_stand_under_their_query(published: JudgedWorld, page: Page, sign_in: SignIn) -> None:
    sign_in(page, "lea", to="/releases?dataset=d&tab=Published")
    groups = page.locator(".rows").nth(1).locator("tr.group")
    expect(groups).to_have_count(2)
    expect(groups.last).to_have_text("Q2 토지거래허가구역")
    groups.last.click()  # a heading, which chooses nothing
    expect(page.get_by_text("Choose a qrel to see the judgments behind its grade.")).to_be_visible()
    page.locator(".rows").nth(1).locator("tbody button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")  # past the heading
    expect(qrel(page, "مستند")).to_be_focused()
    expect_nothing_taken(page)


@pytest.mark.long(
    "browser/releases/test_releases_page.py::test_enter_on_a_row_shows_the_trail_and_the_focus_stays"
)
def test_a_click_anywhere_on_a_row_shows_the_trail_below_on_a_narrow_screen(
    published: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    sign_in(page, "lea", to="/releases?dataset=d&tab=Published")
    page.locator(".rows").nth(1).locator("tbody tr", has_text="مستند").locator("td").last.click()
    expect(trail(page)).to_contain_text("Why grade 2")
    expect(trail(page)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect_nothing_taken(page)


@pytest.mark.long(
    "browser/releases/test_releases_page.py::test_enter_on_a_row_shows_the_trail_and_the_focus_stays",
    "unit/web/releases/test_releases_page.py",
)
def test_choosing_a_release_shows_it_and_stands_in_the_address(
    published: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/releases?dataset=d&tab=Published")
    expect(page.get_by_role("heading", name="d 1.1.0")).to_be_visible()
    row(page, "1.0.0").click()
    expect(page.get_by_role("heading", name="d 1.0.0")).to_be_visible()
    expect(page.get_by_text(f"第一版 {HOSTILE}").last).to_be_visible()
    page.wait_for_url(re.compile("version=1.0.0"))
    page.get_by_role("tab", name="Gates").click()
    expect(page.get_by_text("Published without it by").first).to_contain_text(HOSTILE)
    page.wait_for_url(re.compile("part=Gates"))
    page.reload()
    expect(page.get_by_role("heading", name="d 1.0.0")).to_be_visible()
    expect(page.get_by_text("Published without it by").first).to_be_visible()
    expect_nothing_taken(page)


def test_the_datasheet_is_a_page_with_its_pictures_and_two_releases_are_compared(
    published: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/releases?dataset=d&tab=Published&version=1.0.0&part=Datasheet")
    shown = page.locator(".annotator-published")
    expect(shown.locator("table").first).to_be_visible()
    expect(shown.locator("img").first).to_be_visible()
    for picture in shown.locator("img").all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("one => one.naturalWidth")
    expect_nothing_taken(page)
    page.get_by_role("tab", name="Compare").click()
    expect(page.get_by_text("Compared with 1.0.0: 1 added pair.")).to_be_visible()
    expect(page.get_by_role("cell", name="中間")).to_be_visible()
    go(page, "/releases?dataset=d&tab=Compare&from=1.1.0&to=1.0.0")
    expect(page.get_by_text("Compared with 1.1.0: 1 removed pair.")).to_be_visible()


@pytest.mark.long("unit/web/releases/test_releases_page.py", "unit/web/kit/test_pager.py")
def test_the_demo_is_published_browsed_by_page_and_filtered(
    database: Database, page: Page, sign_in: SignIn, exports: Path
) -> None:
    build_demo(database, now=NOW, with_judgments=True)
    publish(database, "demo", "1.0.0", exports)
    sign_in(page, "lea", to="/releases?dataset=demo&tab=Published")
    expect(page.get_by_text("1 to 50 of 73 qrels.")).to_be_visible()
    page.get_by_role("button", name="Page 2", exact=True).click()
    expect(page.get_by_text("51 to 73 of 73 qrels.")).to_be_visible()
    page.get_by_role("searchbox", name="Search").fill("handler")
    page.get_by_role("searchbox", name="Search").press("Enter")
    expect(page.get_by_text(re.compile("^1 to .* qrels"))).to_be_visible()
    page.wait_for_url(re.compile("search=handler"))
    query = ""
    for line in page.locator(".rows").nth(1).locator("tbody tr").all():
        if line.get_attribute("class") == "group":
            query = line.inner_text()
        else:
            assert "handler" in (query + line.inner_text()).lower()
