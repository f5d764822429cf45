"""`annotator … | head -1`: whoever reads the output stops early. The command ends quietly, with a status of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = "from annotator.cli.main import run; run()"


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "old.jsonl"
    rows = (
        f'{{"query_id": "q{number}", "doc_id": "d", "grade": 1, "annotator_1": 1, "annotator_2": {2 + number % 2}}}'
        for number in range(9_000)
    )
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (("check", "--json"), 1),
        *(
            pytest.param(command, 0, marks=pytest.mark.long)
            for command in (("check", "--json"), ("check",), ("convert", "--help"), ("--version",))
        ),
    ],
)
def test_a_reader_who_stops_early_ends_the_command_quietly(
    qrels: Path, command: tuple[str, ...], lines: int
) -> None:
    words = [command[0], *([str(qrels)] if command[0] == "check" else []), *command[1:]]
    reader, writer = os.pipe()
    if not lines:
        os.close(reader)
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *words],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        cwd=qrels.parent,
    )
    os.close(writer)
    if lines:
        assert os.read(reader, 1), "the first line is read, and no further one"
        os.close(reader)
    errors = process.communicate()[1]
    assert errors == ""
    assert process.returncode == 141


def test_a_refusal_is_still_a_refusal_when_nobody_reads_the_output(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", RUN, "check", "missing.json"],
        stdout=writer, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    os.close(writer)
    assert done.returncode == 1
    assert "missing.json" in done.stderr
