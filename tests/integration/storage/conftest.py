"""Migrate every database of these tests, as a user's is migrated: tests/conftest.py has a quicker way for the others."""

from collections.abc import Iterator

import pytest

from annotator.storage import schema

MIGRATE = schema._upgrade


@pytest.fixture(autouse=True)
def migrated_databases() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "_upgrade", MIGRATE)
        yield
