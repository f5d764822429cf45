"""What the attacks share. A fixture of other tests is named here where an attack needs the same world."""

from tests.integration.conftest import copy_database as copy_database
from tests.integration.conftest import copy_world as copy_world
from tests.integration.conftest import database as database
from tests.integration.conftest import database_url as database_url
from tests.integration.conftest import empty_database as empty_database
from tests.integration.conftest import made_worlds as made_worlds
from tests.integration.conftest import postgres_url as postgres_url
from tests.integration.conftest import sqlite_template as sqlite_template
from tests.unit.web.served_release import served as served
