"""The steps between versions."""

import pytest

from annotator.published.advice import compare_versions, suggest_next


@pytest.mark.parametrize(
    ("before", "after", "step"),
    [
        ("1.9.3", "2.0.0", "major"), ("1.9.3", "1.10.0", "minor"), ("1.9.3", "1.9.10", "patch"),
        ("1.0.0", "1.0.0", "none"), ("1.10.0", "1.9.0", None),
    ],
)  # fmt: skip
def test_the_step_between_two_versions(before: str, after: str, step: str | None) -> None:
    assert compare_versions(before, after) == step


def test_the_next_version_follows_the_advice() -> None:
    assert suggest_next(None, "major") == "1.0.0"
    found = [suggest_next("1.9.3", advice) for advice in ("major", "minor", "patch")]
    assert found == ["2.0.0", "1.10.0", "1.9.4"]
