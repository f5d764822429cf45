"""The setting `requirements` on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from annotator.cli.main import app
from annotator.domain.errors import BadInput, ValidationError


@pytest.fixture
def run(tmp_path: Path) -> object:
    def call(*words: str) -> Result:
        done = CliRunner().invoke(app, ["--database", f"sqlite:///{tmp_path / 'a.db'}", *words])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done

    call("dataset", "create", "d")
    return call


def test_a_template_is_set_shown_and_taken_away(run) -> None:  # type: ignore[no-untyped-def]
    assert "Nablarch search quality" in run("dataset", "set", "d", "requirements=nablarch").stdout
    shown = run("dataset", "show", "d").stdout
    assert "requirements: languages_per_category    ja 7, en 2, mixed 1\n" in shown
    assert "requirements: queries_without_relevant  none\n" in shown
    assert json.loads(run("dataset", "show", "d", "--json").stdout)["requirements"]["queries"] == 50
    output = run("dataset", "set", "d", "requirements=none", "overlap=3").stdout
    assert "requirements = none\n" in output
    assert "overlap = 3\n" in output
    assert json.loads(run("dataset", "show", "d", "--json").stdout)["requirements"] is None


def test_a_file_is_read_and_its_bad_lines_are_named(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "요구.yaml"
    file.write_text('about: "検索 🔎"\nqueries: 5\n', encoding="utf-8")
    assert run("dataset", "set", "d", f"requirements={file}").stdout == "requirements = 検索 🔎\n"
    file.write_text("queries: 5\nqueris: 5\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"요구\.yaml:2: expected queris to be a key"):
        run("dataset", "set", "d", f"requirements={file}")
    with pytest.raises(ValidationError, match="templates nablarch, law"):
        run("dataset", "set", "d", "requirements=nowhere.yaml")
    assert json.loads(run("dataset", "show", "d", "--json").stdout)["requirements"]["queries"] == 5
