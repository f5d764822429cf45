"""No file that a user names stops a reader: what is no regular file, nested without end or too long is refused with its place."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.cli.terminal import read_bytes
from annotator.dataset.coverage_service import check_file
from annotator.domain.errors import AnnotatorError, BadInput, ValidationError
from annotator.formats.judgments import read_judgments
from annotator.formats.registry import FORMATS, read_truth
from annotator.formats.syntax.source import MAX_LINE, InputSource
from annotator.formats.syntax.tables import MAX_CELL, read_rows
from annotator.importing.judgments.provenance import read_provenance
from annotator.importing.sources import FileLayout, read_folder, read_query_source, read_source

SMALL_CELL = 200_000
DEEP = {
    "law": '{"queries":' + '{"a":' * 3_000,
    "law-compact": "[" * 100_000,
    "ranked": '{"a":' * 3_000,
    "jsonl": '{"query_id":"a","doc_id":' + "[" * 100_000,
    "csv": '"' * 99_999,
    "nablarch": "queries: " + "[" * 20_000,
    "assay": "expected: " + "{a: " * 20_000,
    "assay-queries": "- " * 20_000,
    "trec": "Q 0 " * 20_000,
    "beir": "query-id\tcorpus-id\tscore\n" + '"' * 99_999,
}


@pytest.fixture
def small_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower limit, reached sooner. At the limit itself, one test reads a cell."""
    for module in ("syntax.tables", "qrel_csv"):
        monkeypatch.setattr(f"annotator.formats.{module}.MAX_CELL", SMALL_CELL)


def special_files(folder: Path) -> list[tuple[str, str]]:
    """What is no regular file, and what it is called."""
    pipe, socket_path = folder / "pipe.json", folder / "socket.json"
    os.mkfifo(pipe)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(socket_path))
    server.close()
    (folder / "link.json").symlink_to("/proc/self/mem")
    return [
        (str(pipe), "a named pipe"),
        (str(socket_path), "a socket"),
        ("/dev/zero", "a device"),
        ("/proc/self/mem", "a file of the kernel"),
        (str(folder / "link.json"), "a file of the kernel"),
    ]


def test_every_way_in_refuses_what_is_no_regular_file_before_it_is_read(tmp_path: Path) -> None:
    for path, kind in special_files(tmp_path):
        ways = (
            lambda path=path: check_file(InputSource(path)),
            lambda path=path: read_truth(InputSource(path), format_name="law"),
            lambda path=path: read_source(Path(path), encoding=None),
            lambda path=path: read_query_source(Path(path), format_name=None, encoding=None),
            lambda path=path: read_bytes(Path(path)),
            lambda path=path: read_provenance(Path(path)),
        )
        for way in ways:
            with pytest.raises(BadInput) as caught:
                way()
            (problem,) = caught.value.problems
            assert (problem.path, problem.expected, problem.found) == (path, "a regular file", kind)


def test_a_folder_and_a_name_that_no_file_has_are_refused(tmp_path: Path) -> None:
    for path, message in ((str(tmp_path), "found a folder"), ("a\x00b", "no file can have this name")):
        with pytest.raises(ValidationError, match=message):
            read_bytes(Path(path))
        with pytest.raises(AnnotatorError):
            read_source(Path(path), encoding=None)


def test_a_pipe_in_a_folder_of_documents_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    os.mkfifo(tmp_path / "b.md")
    with pytest.raises(BadInput, match=r"b\.md: expected a regular file, found a named pipe"):
        read_folder(tmp_path, layout=FileLayout(), encoding=None)


@pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
def test_nesting_without_end_is_refused_with_its_line_by_name_and_by_content(
    file_format: object, tmp_path: Path
) -> None:
    name = file_format.name  # type: ignore[attr-defined]
    source = InputSource(str(tmp_path / "f"), DEEP[name].encode())
    with pytest.raises(BadInput) as caught:
        read_truth(source, format_name=name, grades_by="all=1" if name == "ranked" else None)
    assert caught.value.problems[0].line == (2 if name == "beir" else 1)
    assert not check_file(source).valid, "also when the format is to be found from the content"


def test_a_cell_over_the_limit_is_refused_with_its_line() -> None:
    for cell in ("x" * (MAX_CELL + 1), "x\n" * (MAX_CELL // 2 + 1)):
        data = f'query_id,doc_id,annotator,grade,note\nQ,d,a,1,"{cell}"\n'.encode()
        with pytest.raises(BadInput, match=r"j\.csv:2: expected cells of at most 32,000,000 characters"):
            read_judgments(data, "j.csv")


def test_a_line_over_the_limit_is_refused_before_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes(b"query_id,text\nq1,t\nq2," + b"x" * (MAX_LINE + 1))
    with path.open("r+b") as file:
        file.truncate(50_000_000_000)  # sparse: reading all of it would end nowhere
    with pytest.raises(BadInput, match=r"q\.csv:3: expected lines of at most 32 MB, found a longer one"):
        read_query_source(path, format_name="csv", encoding=None)


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize("encoding", [None, "utf-16"])
def test_a_cell_of_many_lines_over_the_limit_is_refused_before_the_rest_is_read(
    tmp_path: Path, encoding: str | None
) -> None:
    path = tmp_path / "q.csv"
    stray, cell = 'q1,a 5" disk\n', "x\n" * (SMALL_CELL // 2 + 1)
    path.write_bytes(f'query_id,text\n{stray}q2,"{cell}'.encode(encoding or "utf-8"))
    with path.open("r+b") as file:
        file.truncate(50_000_000_000)  # sparse: reading all of it would end nowhere
    with pytest.raises(BadInput, match=r"q\.csv:3: expected cells of at most 32,000,000 characters, found a"):
        read_query_source(path, format_name="csv", encoding=encoding)


@pytest.mark.usefixtures("small_cells")
def test_a_ground_truth_with_such_a_cell_is_told_of_in_the_same_words(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_bytes(b'query_id,doc_id,grade,note\nq,d,1,"' + b"x\n" * (SMALL_CELL // 2 + 1))
    with path.open("r+b") as file:
        file.truncate(50_000_000_000)
    (problem,) = check_file(InputSource(str(path))).problems
    assert (problem.line, problem.expected) == (2, "cells of at most 32,000,000 characters")


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize("name", ["judgments", "pairs", "documents"])
def test_every_import_of_a_table_refuses_such_a_cell(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'query_id,doc_id,annotator,grade,note\nq,d,a,1,"' + b"x\n" * (SMALL_CELL // 2 + 1))
    with path.open("r+b") as file:
        file.truncate(50_000_000_000)
    url = f"sqlite:///{tmp_path / 'a.db'}"
    for words in (["dataset", "create", "d"], ["import", name, "d", str(path)]):
        done = CliRunner().invoke(app, [*words, "--database", url])
    assert isinstance(done.exception, BadInput)
    assert "t.csv:2: expected cells of at most 32,000,000 characters" in str(done.exception)


def test_a_large_table_without_such_a_cell_is_read(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    rows = (f'q{number},"{"x" * 1_000_000}"\n' for number in range(33))
    path.write_text("query_id,text\n" + "".join(rows))
    assert len(read_query_source(path, format_name="csv", encoding=None)[0]) == 33


def test_text_that_is_none_is_named_with_its_line_in_a_table_too() -> None:
    for data, message in ((b"query_id,text\nq,\xff\n", "byte 0xff"), (b"query_id,text\nq,a\x00b\n", "NUL")):
        with pytest.raises(BadInput, match=rf"q\.csv:2: expected .*{message}"):
            read_rows(data, "q.csv")


def test_the_command_line_answers_a_hostile_file_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('{"a":' * 3_000, encoding="utf-8")
    for file in (str(path), "/proc/self/mem"):
        done = subprocess.run(
            [sys.executable, "-c", "from annotator.cli.main import run; run()", "check", file],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (1, "")
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith(f"{file}: expected ")
