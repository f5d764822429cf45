"""The table of ASVS in docs/security.md names every requirement of levels 1 and 2 once, and only tests and pages that exist."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PAGE = PROJECT / "docs" / "security.md"
STATES = {"met", "partly", "not met", "n/a"}
LEVEL_2 = {
    "1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2, "2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1, "3.2": 2, "3.3": 4, "3.4": 6, "3.5": 5, "3.7": 2,
    "4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4, "5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3, "6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3,
    "6.8": 4, "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 2, "7.6": 2, "8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1, "9.1": 3, "9.2": 4, "10.1": 2,
    "10.2": 2, "10.3": 4, "10.4": 11, "10.5": 5, "10.6": 2, "10.7": 3, "11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1, "12.1": 3,
    "12.2": 2, "12.3": 4, "13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5, "14.1": 2, "14.2": 4, "14.3": 3, "15.1": 3, "15.2": 3, "15.3": 7, "16.1": 1,
    "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3, "17.1": 1, "17.2": 4, "17.3": 2,
}  # fmt: skip
"""ASVS 5.0.0: by section, how many of its requirements, from the first on, are of level 1 or 2."""


def list_rows() -> Iterator[tuple[str, str, str]]:
    """Yield the requirements, the state and the last column of each row."""
    section = PAGE.read_text(encoding="utf-8").partition("## ASVS 5.0, level 2")[2]
    for line in section.splitlines():
        if line.startswith("| V"):
            requirements, _about, state, where = (cell.strip() for cell in line.strip("|").split("|"))
            yield requirements, state, where


def list_requirements(cell: str) -> Iterator[str]:
    """Yield the numbers of "V1.2.6–V1.2.8, V1.3.1"."""
    for part in cell.split(", "):
        first, _, last = part.partition("–")
        section, _, number = first.removeprefix("V").rpartition(".")
        final = int(last.rpartition(".")[2]) if last else int(number)
        assert not last or last.removeprefix("V").rpartition(".")[0] == section, part
        yield from (f"{section}.{each}" for each in range(int(number), final + 1))


def test_every_requirement_of_level_2_is_in_the_table_once() -> None:
    assert sum(LEVEL_2.values()) == 253
    named = Counter(number for cell, _state, _where in list_rows() for number in list_requirements(cell))
    expected = {f"{section}.{each}" for section, most in LEVEL_2.items() for each in range(1, most + 1)}
    assert set(named) == expected
    assert not [number for number, times in named.items() if times > 1]


def test_what_is_met_names_what_shows_it_and_anything_else_its_reason() -> None:
    for cell, state, where in list_rows():
        assert state in STATES, cell
        assert len(where) >= 4, cell
        if state == "met" and not re.search(r"\]\(|tests/", where):
            assert cell in ("V1.3.2", "V1.4.1–V1.4.3", "V11.2.1"), f"{cell}: no test and no page"


def test_every_file_that_the_table_and_the_threat_model_name_exists() -> None:
    text = PAGE.read_text(encoding="utf-8") + (PAGE.parent / "threat-model.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(tests/[^`]+)`", text)) | set(re.findall(r"\]\(\.\./(tests/[^)#]+)\)", text))
    assert len(named) > 50
    assert not [name for name in sorted(named) if not (PROJECT / name).exists()]
