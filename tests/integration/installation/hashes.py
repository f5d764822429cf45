"""The hash of every table's content, to compare two databases."""

from annotator.installation.tables_sql import TableHash, list_tables, read_rows
from annotator.storage.database import Database


def hash_tables(database: Database) -> dict[str, str]:
    hashed = {table.name: TableHash() for table in list_tables()}
    with database.read() as session:
        for table in list_tables():
            for rows in read_rows(session, table):
                hashed[table.name].add(rows)
    return {name: item.hexdigest() for name, item in hashed.items()}
