"""SQLite plans every statement anew after PRAGMA foreign_keys, so no transaction sets what is set already."""

from pathlib import Path
from typing import Any

from sqlalchemy import text

from annotator.storage.database import Database


def test_a_transaction_sets_foreign_keys_only_where_the_connection_has_them_otherwise(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    told: list[str] = []

    def begin(**options: Any) -> int:
        with database.engine.connect().execution_options(**options) as connection, connection.begin():
            driver = connection.connection.driver_connection
            driver.set_trace_callback(told.append)  # type: ignore[union-attr]
            return int(connection.execute(text("PRAGMA foreign_keys")).scalar_one())

    assert [begin(), begin(), begin(annotator_unchecked=True), begin(), begin()] == [1, 1, 0, 1, 1]
    changed = [statement for statement in told if statement.startswith("PRAGMA foreign_keys=")]
    assert changed == ["PRAGMA foreign_keys=OFF", "PRAGMA foreign_keys=ON"]
    database.dispose()
