"""What the tests of evaluation share."""

import gc

import pytest


@pytest.fixture(autouse=True)
def _no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep statsmodels' multipletests from collecting all garbage at each call: ten seconds each late in a whole run."""
    monkeypatch.setattr(gc, "collect", lambda: 0)
