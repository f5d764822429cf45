"""No cell of a CSV file that a person opens runs as a formula, whatever people typed; files for programs stay exact."""

import ast
import csv
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.adjudication.history.history import write_csv
from annotator.adjudication.history.history_service import iterate_audit_log
from annotator.agreement.records import PairSelection
from annotator.agreement.report_files import write_estimate_rows
from annotator.agreement.service import compute_consensus
from annotator.domain.people import OPERATOR
from annotator.formats.syntax.spreadsheet import mark_cell, mark_id, unmark, write_sheet
from annotator.storage.database import Database
from annotator.web.agreement.downloads import write_left_out, write_pairs
from annotator.web.quality.downloads import write_table
from tests.integration.judged_world import NOW, JudgedWorld

ROOT = Path(__file__).parents[2]
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠A1", "'=1")
RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
FOR_PEOPLE = "annotator/formats/syntax/spreadsheet.py"
FOR_PROGRAMS = {
    "annotator/formats/judgments.py": "judgments.csv of a release",
    "annotator/formats/qrel_files.py": "the ground-truth format csv",
    "annotator/formats/input_tables.py": "relations between documents",
    "annotator/releases/writing/files.py": "judgments.csv of a release, in pieces",
}
"""Files that write CSV by hand, exactly: programs read them."""


def read(pieces: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(pieces.removeprefix("\ufeff"), newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_would_run_is_a_text_in_every_column_and_comes_back(text: str) -> None:
    _, row = read("".join(write_sheet(["a", "b"], [[text, {"k": text}]])))
    assert row[0] == "'" + text and unmark(row[0]) == text
    assert not row[0].startswith(RUNS) and not row[1].startswith(RUNS)


@given(st.text())
def test_taking_one_apostrophe_away_gives_every_text_back(text: str) -> None:
    for marked in (mark_cell(text), mark_id(text)):
        assert not marked.startswith(RUNS)
        assert unmark(marked) == text


def test_figures_stay_numbers_negative_ones_too_and_times_are_utc() -> None:
    moment = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
    _, row = read("".join(write_sheet(["a"] * 6, [[-1, -0.25, None, True, False, moment]])))
    assert row == ["-1", "-0.25", "", "true", "", "2026-03-04T05:06:00Z"]


def test_a_spreadsheet_reads_japanese_and_korean_by_the_byte_order_mark_and_lines_end_in_cr_lf() -> None:
    text = "".join(write_sheet(["質問", "등급"], [["検索 🔎", 'a "b", c']]))
    assert text == '\ufeff"質問","등급"\r\n"検索 🔎","a ""b"", c"\r\n'


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_spreadsheet_that_splits_at_another_character_makes_no_formula_of_the_rest_of_a_text(
    separator: str,
) -> None:
    text = "".join(write_sheet(["title", "n"], [[f"memo{mark}=cmd|' /C calc'!A0", -1] for mark in ",;\t"]))
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator))
    assert not [cell for row in rows for cell in row if cell.startswith("=")]


def test_every_file_for_people_is_free_of_formulas(database: Database) -> None:
    world = JudgedWorld(database)
    ann, bea, cho = (world.person(name) for name in ("=ann", "+bea", "@cho"))
    lead = world.person("-lead", "lead")
    world.query("=Q1", "＝HYPERLINK(1)", category="@c")
    for index, doc_id in enumerate(FORMULAS):
        world.pair("=Q1", doc_id, title="-2+3")
        world.judge(ann, "=Q1", doc_id, index % 2)
        world.judge(bea, "=Q1", doc_id, 1 if index > 4 else index % 2)
    world.judge(ann, "=Q1", FORMULAS[2], 3)
    world.add_decision(lead, "=Q1", FORMULAS[1], 1, rationale="=cmd|' /C calc'!A0")
    world.check_quality(cho, "=Q1", FORMULAS[0], 3, settled=0, note="+1")
    files = {
        "pairs": write_pairs(database, OPERATOR, "d", PairSelection(), language="en", now=NOW),
        "left out": write_left_out(database, OPERATOR, "d", "revised", now=NOW),
        "errors": write_table(database, OPERATOR, "d", "errors", now=NOW),
        "trail": write_csv(iterate_audit_log(database, OPERATOR, "d", now=NOW)),
        "consensus": write_estimate_rows(compute_consensus(database, OPERATOR, "d", now=NOW)),
    }
    for name, pieces in files.items():
        rows = read("".join(pieces))
        assert len(rows) > 1 or name == "trail", name
        for row in rows:
            for cell in row:
                assert not cell.startswith(RUNS) or _is_number(cell), (name, cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_csv_is_written_by_the_writer_for_people_or_by_a_named_one_for_programs() -> None:
    written: dict[str, set[str]] = {}
    for path in sorted((ROOT / "annotator").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text()
        if "csv" not in text and "quote_cell" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Attribute)
                and node.attr in ("writer", "DictWriter")
                and ast.unparse(node.value) == "csv"
            ):
                written.setdefault("csv", set()).add(name)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "quote_cell":
                written.setdefault("by hand", set()).add(name)
    assert written["csv"] == {FOR_PEOPLE}
    assert written["by hand"] == set(FOR_PROGRAMS)


def test_the_documentation_says_which_file_is_of_which_kind() -> None:
    documentation = (ROOT / "docs" / "files.md").read_text()
    part = documentation.partition("## CSV for people and CSV for programs")[2].partition("\n## ")[0]
    for name in ("judgments.csv", "qrels", "--consensus", "trail", "queue", "Agreement", "Quality control"):
        assert name in part, name


@pytest.mark.parametrize(
    "doc_id", ["7", "0", "123456789012345", "manual/a-1", "제17조", "文書1", "_x", "#a", "a=b", "Q1", "janus"]
)
def test_an_id_that_a_spreadsheet_keeps_is_written_as_it_is(doc_id: str) -> None:
    assert mark_id(doc_id) == doc_id


@pytest.mark.parametrize(
    "doc_id",
    [
        "007",
        "1e5",
        "1.50",
        "1234567890123456",
        "1-2",
        "true",
        "FALSE",
        "Jan 5",
        "may-1",
        "R8.1.2",
        "令和8年",
        " a",
        "a ",
        "",
        "'a",
        "=a",
        "12%",
    ],
)
def test_an_id_that_a_spreadsheet_would_rewrite_is_marked(doc_id: str) -> None:
    assert mark_id(doc_id) == "'" + doc_id


def test_a_long_file_is_written_in_pieces_and_whole() -> None:
    pieces = list(write_sheet(["n"], ([number] for number in range(2_500))))
    assert len(pieces) == 4, "the head, and a piece for every thousand rows"
    assert [row[0] for row in read("".join(pieces))[1:]] == [str(number) for number in range(2_500)]
