"""Which versions are versions."""

import pytest

from annotator.domain.errors import ValidationError
from annotator.releases.versions import check_version


@pytest.mark.parametrize("version", ["0.0.1", "1.0.0", "10.20.30"])
def test_three_numbers_are_a_version(version: str) -> None:
    assert check_version(version) == version


@pytest.mark.parametrize(
    "version",
    ["", "1", "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0-rc1", "1.0.0\n", " 1.0.0", "../1.0.0", "1.0.٣", "１.0.0", "9999999999.0.0"],
)  # fmt: skip
def test_anything_else_is_refused(version: str) -> None:
    with pytest.raises(ValidationError, match=r"expected a version MAJOR\.MINOR\.PATCH"):
        check_version(version)
