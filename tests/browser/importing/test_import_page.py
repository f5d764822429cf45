"""The page Queries and documents in a real browser: drop files, see what they hold, import; a closed tab loses nothing."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.importing.uploads.import_service import show_contents
from annotator.people.service import change_person
from annotator.storage.database import Database
from tests.browser.conftest import SignIn
from tests.browser.web.test_accessibility import list_violations
from tests.integration.judged_world import NOW


@pytest.fixture
def world(database: Database) -> Database:
    create_dataset(database, OPERATOR, "new", now=NOW)
    change_person(database, OPERATOR, "lea", role="lead", dataset="new", now=NOW)
    return database


@pytest.mark.long(
    "browser/web/test_read_only_file_system.py::test_a_server_writes_to_its_data_and_temporary_files_only",
    "unit/web/importing/test_import_page.py",
)
def test_a_lead_imports_queries_and_a_folder_and_finds_the_files_again_after_closing_the_tab(
    world: Database, page: Page, sign_in: SignIn, tmp_path: Path
) -> None:
    queries = tmp_path / "質問.csv"
    queries.write_bytes("番号,質問文\nQ1,ログの出力先を変更する方法\nQ2,民法第百九十九条\n".encode("cp932"))
    folder = tmp_path / "법령"
    (folder / "민법").mkdir(parents=True)
    for number in range(1, 4):
        (folder / "민법" / f"제{number}조.md").write_text(f"# 제{number}조\n본문\n", encoding="utf-8")
    sign_in(page, "lea", to="/import?dataset=new")
    expect(page.get_by_text("This dataset is empty.")).to_be_visible()
    page.locator("input[type=file]").set_input_files(queries)
    first = page.get_by_role("table", name="First records")
    expect(first.get_by_role("row", name="Q2")).to_contain_text("民法第百九十九条")
    assert show_contents(world, OPERATOR, "new").count("queries") == 0
    page.get_by_role("button", name="Import 2 records").click()
    expect(page.get_by_text("質問.csv is imported: 2 new")).to_be_visible()
    held = page.get_by_role("table", name="Contents of the dataset")
    expect(held.get_by_role("row", name="Queries")).to_contain_text("質問.csv")
    page.get_by_text("Upload a whole folder").click()
    expect(page.locator("input[type=file][webkitdirectory]")).to_be_attached()
    page.locator("input[type=file]").set_input_files(folder)
    expect(page.get_by_role("heading", name="법령 (Documents, 3 files)")).to_be_visible()
    expect(first.get_by_role("row")).to_have_count(4)
    assert list_violations(page) == []
    address, later = page.url, page.context.new_page()
    page.close()
    later.goto(address)
    expect(later.get_by_role("button", name="Import 3 records")).to_be_visible()
    later.get_by_role("button", name="Import 3 records").click()
    expect(later.get_by_text("법령 is imported: 3 new")).to_be_visible()
    assert show_contents(world, OPERATOR, "new").count("documents") == 3
