"""The whole application in this process, on a database of each kind."""

from tests.integration.conftest import copy_database as copy_database
from tests.integration.conftest import database as database
from tests.integration.conftest import database_url as database_url
from tests.integration.conftest import postgres_url as postgres_url
from tests.integration.conftest import sqlite_template as sqlite_template
