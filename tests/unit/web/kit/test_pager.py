"""Which part of a list an address names, and where the last part begins."""

import pytest

from annotator.web.kit.lists import find_last_start, find_start, show_part


@pytest.mark.parametrize(
    ("word", "start"),
    [
        ("", 0),
        ("50", 50),
        ("51", 50),
        ("-1", 0),
        ("x", 0),
        ("999999999999", 0),
        ("99999999999", 99999999975),
        ("٥٠", 50),
    ],
)
def test_a_place_in_the_list_is_the_beginning_of_a_part_that_a_person_could_have_meant(
    monkeypatch: pytest.MonkeyPatch, word: str, start: int
) -> None:
    monkeypatch.setattr("streamlit.query_params", {"from": word})
    assert find_start(25) == start


@pytest.mark.parametrize(("total", "start"), [(0, 0), (1, 0), (25, 0), (26, 25), (50, 25), (340, 325)])
def test_the_last_part_is_never_empty(total: int, start: int) -> None:
    assert find_last_start(total, 25) == start


def test_a_part_is_named_by_its_first_and_its_last_entry() -> None:
    assert show_part(325, 15, 340) == "326–340 of 340"
