"""Which versions are versions."""

import pytest

from annotator.domain.errors import ValidationError
from annotator.domain.texts import check_version
from annotator.releases.records import suggest_version


@pytest.mark.parametrize("version", ["0.0.1", "1.0.0", "10.20.30"])
def test_three_numbers_are_a_version(version: str) -> None:
    assert check_version(version) == version


@pytest.mark.parametrize(
    "version",
    ["", "1", "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0-rc1", "1.0.0\n", " 1.0.0", "../1.0.0", "1.0.٣", "１.0.0", "9999999999.0.0"],
)  # fmt: skip
def test_anything_else_is_refused(version: str) -> None:
    with pytest.raises(ValidationError, match=r"Enter a version such as 1\.0\.0"):
        check_version(version)


def test_the_next_version_follows_the_highest_whatever_was_published_last() -> None:
    assert suggest_version([]) == "1.0.0"
    assert suggest_version(["1.0.0"]) == "1.1.0"
    assert suggest_version(["2.9.3", "10.2.0", "2.10.0"]) == "10.3.0"
