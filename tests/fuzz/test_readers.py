"""A short run of the fuzzer of readers, the same cases every time: records, or errors that name a line. No reader is without a target."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

from tests.fuzz.readers import list_targets, make_case, run_case
from tests.fuzz.target import PROJECT, Target

TARGETS = list_targets()
CASES_OF_EACH = 12

BEGINNINGS = ("read_", "parse_", "load_", "open_", "stage_", "recognize_")
INPUTS = {"bytes", "Path", "InputSource", "BinaryIO"}
NOT_FUZZED = {
    "annotator/cli/terminal.py read_bytes": "bytes as they are",
    "annotator/installation/backup_file.py open_partial_file": "writes",
    "annotator/installation/service.py open_place": "writes",
    "annotator/releases/writing/folder.py open_partial": "writes",
    "annotator/releases/writing/folder.py open_verified": "bytes as they are, when their hash is the published one",
    "annotator/web/releases/files.py read_published": "bytes as they are, when their hash is the published one",
    "annotator/installation/backup_file.py read_version": "the answer of pg_dump --version",
    "annotator/people/second_factor/codes.py read_sealing_key": "bytes as they are, hashed",
    "annotator/pooling/retrievers/vector_files.py load_model": "a folder of the operator, read by model2vec",
    "annotator/web/kit/components.py load_component": "the program's own files",
    "annotator/web/kit/messages.py read_words": "the program's own files",
}
"""Functions that look like readers, and why the fuzzer has no target for them."""


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_damaged_file_is_read_or_refused_with_its_lines(target: Target, tmp_path: Path) -> None:
    target_index = TARGETS.index(target)
    for turn in range(max(1, CASES_OF_EACH // target.every)):
        chosen, data = make_case(0, target_index + turn * len(TARGETS), TARGETS)
        assert chosen is target
        run_case(target, data, tmp_path)


def list_readers() -> Iterator[tuple[str, str]]:
    """Yield the public functions that read bytes or a file: the file of each, and its name."""
    for path in sorted((PROJECT / "annotator").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith(BEGINNINGS):
                continue
            kinds = [ast.unparse(argument.annotation or ast.Constant("")) for argument in node.args.args]
            if any(INPUTS & set(kind.replace("|", " ").split()) for kind in kinds):
                yield path.relative_to(PROJECT).as_posix(), node.name


def test_the_files_that_the_fuzzer_begins_with_are_readable_and_every_reader_reads_one(
    tmp_path: Path,
) -> None:
    entered: set[CodeType] = set()

    def note(frame: FrameType, event: str, _value: object) -> None:
        if event == "call":
            entered.add(frame.f_code)

    for target in TARGETS:
        for seed in target.seeds:
            sys.setprofile(note)
            try:
                run_case(target, seed, tmp_path)
            finally:
                sys.setprofile(None)
    called = {(code.co_filename.removeprefix(f"{PROJECT}/"), code.co_name) for code in entered}
    missing = {f"{file} {name}" for file, name in list_readers() if (file, name) not in called}
    assert missing == set(NOT_FUZZED), (
        "a reader without a target in tests/fuzz/, or one that has a target now"
    )
