"""The errors of a file, as somebody reads them."""

import pytest

from annotator.domain.errors import FormatError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "''"),
        (" ", "' '"),
        ("\x1d", r"'\x1d'"),
        ("\u3000", r"'\u3000'"),
        ("検 索", "検 索"),
        (" 4", " 4"),
    ],
)
def test_found_white_space_is_shown_escaped(text: str, shown: str) -> None:
    assert (
        str(FormatError("f.csv", 2, "a grade 0-3", text)) == f"f.csv:2: expected a grade 0-3, found {shown}"
    )
