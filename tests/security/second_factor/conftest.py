"""The whole application in this process, on a database of each kind; hashing is quick."""

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from tests.integration.conftest import copy_database as copy_database
from tests.integration.conftest import database as database
from tests.integration.conftest import database_url as database_url
from tests.integration.conftest import postgres_url as postgres_url
from tests.integration.conftest import sqlite_template as sqlite_template


@pytest.fixture(autouse=True)
def _quick_hashes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr("annotator.people.credentials._make_hasher", lambda: quick)
        yield
