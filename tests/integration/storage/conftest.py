"""Migrate every database of these tests, as a user's is migrated: tests/conftest.py has a quicker way for the others."""

import pytest

from annotator.storage import schema

MIGRATE = schema._upgrade


@pytest.fixture(autouse=True)
def migrated_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the test's own `monkeypatch`, so that what a test itself exchanges is undone first."""
    monkeypatch.setattr(schema, "_upgrade", MIGRATE)
