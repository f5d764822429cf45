"""Laws are cut on import, and their own references make the file of relations that widens the pool."""

import json
from pathlib import Path

import openpyxl
import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.service import create_dataset
from annotator.domain.errors import BadInput, NotAllowed, StateError, ValidationError
from annotator.domain.people import OPERATOR
from annotator.importing.texts.texts_service import find_law_relations, import_documents
from annotator.importing.texts.texts_sql import list_stored_documents
from annotator.storage.database import Database
from tests.integration.judged_world import NOW, JudgedWorld

ACT = """---
제목: 토지법
---
##### 제1조 (목적)

**①** 목적을 정한다.

**②** 제2조에 따라 시행한다.

##### 제2조 (정의)

뜻은 대통령령으로 정한다.

##### 제3조

삭제 <2011.4.14>
"""
DECREE = "---\n제목: 토지법 시행령\n---\n##### 제5조 (뜻)\n\n법 제2조에 따른 뜻은 다음과 같다.\n"


@pytest.fixture
def laws(tmp_path: Path) -> Path:
    folder = tmp_path / "laws"
    folder.mkdir()
    (folder / "법률.md").write_text(ACT, encoding="utf-8")
    (folder / "시행령.md").write_text(DECREE, encoding="utf-8")
    return folder


def test_laws_are_imported_as_paragraphs_and_twice_changes_nothing(database: Database, laws: Path) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    report = import_documents(database, OPERATOR, "d", laws, cut="paragraphs", now=NOW)
    assert (report.added, report.notes) == (4, ("1 deleted article, paragraph or item left out",))
    assert import_documents(database, OPERATOR, "d", laws, cut="paragraphs", now=NOW).unchanged == 4


def test_the_relations_of_a_dataset_are_those_of_its_texts(database: Database, laws: Path) -> None:
    world = JudgedWorld(database)
    import_documents(database, OPERATOR, "d", laws, cut="paragraphs", now=NOW)
    report = find_law_relations(database, OPERATOR, "d")
    assert [tuple(relation) for relation in report.relations] == [
        ("법률_제1조_제1항", "법률_제1조_제2항", "sibling"),
        ("법률_제1조_제2항", "법률_제2조", "reference"),
        ("법률_제2조", "시행령_제5조", "decree"),
        ("시행령_제5조", "법률_제2조", "reference"),
    ]
    with pytest.raises(NotAllowed):
        find_law_relations(database, world.person("ann"), "d")


def test_a_dataset_without_laws_has_no_relations(database: Database, tmp_path: Path) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    with pytest.raises(StateError, match="is an article of a law"):
        find_law_relations(database, OPERATOR, "d")
    table = tmp_path / "documents.csv"
    table.write_text("doc_id,title\na,b\n")
    with pytest.raises(ValidationError, match="are for files of text"):
        import_documents(database, OPERATOR, "d", table, cut="articles", now=NOW)


def test_the_command_names_the_references_that_lead_nowhere(
    database: Database, database_url: str, laws: Path, tmp_path: Path
) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    text = DECREE + "".join(f"제{number}조, " for number in range(51, 63)) + "「건축법」 제1조"
    (laws / "시행령.md").write_text(text, encoding="utf-8")
    import_documents(database, OPERATOR, "d", laws, cut="paragraphs", now=NOW)
    command = ["relations", "d", str(tmp_path / "r.csv"), "--database", database_url]
    printed = CliRunner().invoke(app, command, catch_exceptions=False).output
    assert "1 reference to laws that the dataset does not have." in printed
    assert "12 references lead to no document of the dataset:\n  시행령_제5조: 제51조\n" in printed
    assert "제60조\n  2 more: --json lists all" in printed
    told = json.loads(CliRunner().invoke(app, [*command, "--json"], catch_exceptions=False).output)
    assert (len(told["unknown"]), told["other_laws"]) == (12, 1)
    assert told["unknown"][0] == {"doc_id": "시행령_제5조", "words": "제51조"}


def test_the_file_of_relations_goes_straight_into_suggest(
    database: Database, database_url: str, laws: Path, tmp_path: Path
) -> None:
    world = JudgedWorld(database)
    world.query("Q1", "토지")
    target = tmp_path / "relations.csv"

    def run(*arguments: str) -> str:
        outcome = CliRunner().invoke(app, [*arguments, "--database", database_url], catch_exceptions=False)
        assert outcome.exit_code == 0, outcome.output
        return outcome.output

    run("import", "documents", "d", str(laws), "--cut", "paragraphs", "--doc-id", "{stem}")
    assert json.loads(run("relations", "d", str(target), "--json"))["counts"] == {
        "decree": 1,
        "reference": 2,
        "sibling": 1,
    }
    assert target.read_text(encoding="utf-8").startswith(
        "from,to,relation\n법률_제1조_제1항,법률_제1조_제2항,"
    )
    world.pair("Q1", "법률_제2조")
    for username in ("ann", "bea"):
        world.judge(world.person(username), "Q1", "법률_제2조", 3)
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules:\n- {relation: decree, grade: 2}\n", encoding="utf-8")
    printed = run("suggest", "d", str(target), "--rules", str(rules))
    assert (
        "Made 1 new pair for 1 query" in printed and "No rule follows: reference (2), sibling (1)" in printed
    )


def test_pages_of_office_files_are_imported_with_their_numbers(database: Database, tmp_path: Path) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    book = openpyxl.Workbook()
    book.active.title = "料金"
    book.active.append(["大人", 1200])
    book.save(tmp_path / "fees.xlsx")
    report = import_documents(database, OPERATOR, "d", tmp_path, sections=True, now=NOW)
    assert report.added == 1
    with database.read() as session:
        (document,) = list_stored_documents(session, 1).values()
    assert (document.document.doc_id, dict(document.document.metadata)) == (
        "fees.xlsx#料金",
        {"sheet": "料金"},
    )
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.4 broken")
    with pytest.raises(BadInput, match=r"scan\.pdf: expected a PDF file that can be read"):
        import_documents(database, OPERATOR, "d", tmp_path, sections=True, now=NOW)
