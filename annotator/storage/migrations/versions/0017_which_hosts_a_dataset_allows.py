"""To which hosts a dataset's queries may be sent: until now the latest entry of the audit log said so

Revision: 0017, after 0016
"""

import json

from alembic import op
from sqlalchemy import text

revision = '0017'
down_revision = '0016'
branch_labels = None
depends_on = None

EVENTS = text("SELECT dataset_pk, after FROM audit_event WHERE action = 'changed settings' ORDER BY pk")
FILL = text("UPDATE dataset SET search_hosts = :hosts WHERE pk = :pk")


def upgrade() -> None:
    # In place: making the table anew, as batch mode does, would break the references to it.
    op.execute("ALTER TABLE dataset ADD COLUMN search_hosts JSON")
    connection = op.get_bind()
    hosts: dict[int, list[str]] = {}
    for dataset_pk, stored in connection.execute(EVENTS):
        after = json.loads(stored) if isinstance(stored, str) else stored
        if after and "search_hosts" in after:
            hosts[dataset_pk] = after["search_hosts"]
    for pk, names in hosts.items():
        if names:
            connection.execute(FILL, {"pk": pk, "hosts": json.dumps(names, ensure_ascii=False)})
