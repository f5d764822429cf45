"""A short run of the fuzzer of readers, the same cases every time: records, or errors that name a line."""

from pathlib import Path

import pytest

from tests.fuzz.readers import Target, list_targets, make_case, run_case

TARGETS = list_targets()
CASES_OF_EACH = 12


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_damaged_file_is_read_or_refused_with_its_lines(target: Target, tmp_path: Path) -> None:
    target_index = TARGETS.index(target)
    for turn in range(CASES_OF_EACH):
        chosen, data = make_case(0, target_index + turn * len(TARGETS), TARGETS)
        assert chosen is target
        run_case(target, data, tmp_path)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_the_files_that_the_fuzzer_begins_with_are_readable(target: Target, tmp_path: Path) -> None:
    for seed in target.seeds:
        run_case(target, seed, tmp_path)
