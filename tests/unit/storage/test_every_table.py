"""A new file of tables must not be forgotten by what migrates, copies or exports the whole database."""

from pathlib import Path

from annotator.storage.tables import every_table


def test_every_file_with_tables_is_imported() -> None:
    folder = Path(every_table.__file__).parent
    with_tables = {path.stem for path in folder.glob("*.py") if "table=True" in path.read_text("utf-8")}
    assert {module.__name__.rpartition(".")[2] for module in every_table.TABLES} == with_tables
    assert len(with_tables) > 1
