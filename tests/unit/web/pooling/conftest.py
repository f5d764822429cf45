"""A database of the test's own, also where the folder's is shared by a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()
