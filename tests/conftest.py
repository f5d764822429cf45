"""What holds for every test: no setting of the developer's environment reaches it, and hypothesis draws the same
examples on every run (`HYPOTHESIS_PROFILE=search` looks for new ones, and looks longer)."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "search", parent=settings.get_profile("repeatable"), derandomize=False, max_examples=2_000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("ANNOTATOR_") and name != "ANNOTATOR_CHROMIUM":
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def project() -> Path:
    """The top folder of the checkout."""
    return Path(__file__).parents[1]
