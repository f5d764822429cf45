"""`--errors FILE` holds every bad line of the input, whatever command refuses it, and no other file is written over."""

import csv
import io
import sys
from pathlib import Path

import pytest

from annotator.cli import main, terminal

HEADER = ["file", "line", "field", "expected", "found", "message"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run the command line in this process; returns the exit code."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(terminal.chosen_errors_file, "errors", None)

    def start(*words: str) -> int:
        terminal.chosen_errors_file["errors"] = None
        monkeypatch.setattr(sys, "argv", ["annotator", *words])
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            main.run()
        return int(ended.value.code or 0)

    return start


def said() -> str:
    sys.stderr.flush()
    return sys.stderr.buffer.getvalue().decode()  # type: ignore[attr-defined]


def read(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def test_every_bad_line_is_in_the_file_although_the_screen_stops_at_200(run, tmp_path: Path) -> None:
    bad = "".join(f"Q,d{number},a,7\n" for number in range(300))
    (tmp_path / "j.csv").write_text(f"query_id,doc_id,annotator,grade\n{bad}", encoding="utf-8")
    assert run("dataset", "create", "d") == 0
    assert run("import", "judgments", "d", "j.csv", "--errors", "bad.csv") == 1
    shown = said()
    assert "… and 100 more" in shown
    assert shown.splitlines()[-1] == "bad.csv: 300 bad places"
    rows = read(tmp_path / "bad.csv")
    assert (rows[0], len(rows)) == (HEADER, 301)
    assert rows[300] == [
        "j.csv", "301", "", "a grade 0, 1, 2, 3 or unrateable", "''7'",
        "j.csv:301: expected a grade 0, 1, 2, 3 or unrateable, found '7'",
    ]  # fmt: skip
    (tmp_path / "j.csv").write_text("query_id,doc_id,annotator,grade\nQ,d,a,1\n", encoding="utf-8")
    (tmp_path / "q.tsv").write_text("Q\ttext\n", encoding="utf-8")
    assert run("import", "queries", "d", "q.tsv", "--format", "tsv", "--no-header") == 0
    assert run("import", "judgments", "d", "j.csv", "--errors", "bad.csv") == 0
    assert read(tmp_path / "bad.csv") == [HEADER], "an old list is not left to be believed"


@pytest.mark.parametrize(
    ("words", "content"),
    [
        (("import", "queries", "d", "f.csv"), "query_id,text\nQ,\n"),
        (("import", "documents", "d", "f.csv"), "doc_id,text\n,t\n"),
        (("import", "run", "d", "f.csv", "--format", "trec"), "a b\n"),
        (("import", "pairs", "d", "f.csv"), "query_id,doc_id\nQ,\n"),
        (("import", "judgments", "d", "f.csv"), "query_id,doc_id,annotator,grade\nQ,d,a,9\n"),
        (("import", "qrels", "d", "f.csv"), "query_id,doc_id,grade\nQ,d,9\n"),
        (("adjudicate", "d", "f.csv", "--as", "lea"), "query_id,doc_id,grade,rationale\nQ,d,9,r\n"),
        (("order", "d", "f.csv", "--as", "lea"), "query_id,doc_id\nQ,\n"),
        (("check", "f.csv"), "query_id,doc_id,grade\nQ,d,9\n"),
        (("convert", "f.csv", "out.qrels"), "query_id,doc_id,grade\nQ,d,9\n"),
    ],
)  # fmt: skip
def test_every_command_that_reads_lines_writes_its_bad_ones(
    run, tmp_path: Path, words: tuple[str, ...], content: str
) -> None:
    run("dataset", "create", "d")
    run("people", "add", "lea", "--role", "lead", "--dataset", "d")
    (tmp_path / "f.csv").write_text(content, encoding="utf-8")
    assert run(*words, "--errors", "bad.csv") == 1, said()
    rows = read(tmp_path / "bad.csv")
    assert (rows[0], len(rows), rows[1][0]) == (HEADER, 2, "f.csv")


def test_another_file_is_not_written_over(run, tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("query_id,doc_id,grade\nQ,d,9\n", encoding="utf-8")
    before = path.read_bytes()
    assert run("check", "f.csv", "--errors", "f.csv") == 1
    assert "f.csv is another file and was not written over" in said()
    assert path.read_bytes() == before
    assert run("check", "f.csv", "--errors", "none/bad.csv") == 1
    assert "cannot write" in said()
