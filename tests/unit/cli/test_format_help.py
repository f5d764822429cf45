"""The help of every command on ground-truth files ends with the registry's table."""

import pytest
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.formats.registry import FORMATS, list_formats


@pytest.mark.parametrize("command", [["convert"], ["check"], ["import", "queries"], ["import", "qrels"]])
def test_the_help_shows_every_format_with_what_it_can_and_cannot_hold(command: list[str]) -> None:
    shown = CliRunner().invoke(app, [*command, "--help"])
    assert shown.exit_code == 0
    assert shown.output.endswith(f"\nFormats:\n{list_formats(in_full=True)}\n")


def test_the_table_in_full_names_everything() -> None:
    text = " ".join(list_formats(in_full=True).split())
    for file_format in FORMATS:
        assert (
            f"{file_format.name} {file_format.about} ({' '.join(file_format.suffixes)}) holds: {', '.join(file_format.holds)}"
            in text
        )
        assert f"cannot hold: {', '.join(file_format.cannot_hold)}" in text
