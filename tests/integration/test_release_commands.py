"""Disagreement to release on the command line: what is printed, the exit codes, and the same bytes twice."""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from annotator.cli.main import run
from annotator.storage.database import Database
from annotator.web import serve
from tests.integration.release_world import ReleaseWorld

NAME = "検索-법령"


class Done(NamedTuple):
    code: int
    stdout: str
    stderr: str


class Terminal:
    """Runs commands as the console script does, on the database and an exports folder of its own."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.folder, self.captured, self.patch = folder, captured, patch

    def run(self, *words: str) -> Done:
        self.patch.setattr(sys, "argv", ["annotator", *words])
        self.captured.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        said = self.captured.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)

    def json(self, *words: str) -> Any:
        done = self.run(*words, "--json")
        assert done.code == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def terminal(
    database: Database,
    database_url: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Terminal:
    ReleaseWorld(database)
    monkeypatch.setenv("ANNOTATOR_DATABASE_URL", database_url)
    monkeypatch.setenv("ANNOTATOR_EXPORTS_DIR", str(tmp_path / "exports"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1773032767")
    return Terminal(tmp_path, capfd, monkeypatch)


def test_from_a_disagreement_to_a_verified_release(terminal: Terminal) -> None:
    (found,) = terminal.json("disagreements", NAME, "--sort", "impact")
    assert found["since"] == "2026-03-04T05:16:07Z"
    assert {key: found[key] for key in ("query_id", "doc_id", "category", "grades", "distance", "impact", "status")} == {
        "query_id": "Q2", "doc_id": "법률_제17조", "category": None, "grades": {"花子": 3, "민준": 1}, "distance": 2,
        "impact": 3.0, "status": "open",
    }  # fmt: skip

    checked = terminal.run("release", "check", NAME, "--json")
    assert checked.code == 3
    assert "Q2  법률_제17조" in checked.stderr
    document = json.loads(checked.stdout)
    assert document["version"] is None
    assert [(gate["name"], gate["met"], gate["override"]) for gate in document["gates"]] == [
        ("kappa", True, None),
        ("disagreements", False, None),
    ]
    refused = terminal.run("release", "publish", NAME, "1.0.0", "--as", "editor")
    assert (refused.code, refused.stdout) == (3, "")
    assert not (terminal.folder / "exports").exists()

    decisions = terminal.folder / "決定.csv"
    decisions.write_text("query_id,doc_id,grade,rationale\nQ2,법률_제17조,2,第17条に直接\n", encoding="utf-8")
    dry = terminal.json("adjudicate", NAME, str(decisions), "--as", "editor", "--dry-run")
    assert dry == {"decided": 1, "revised": 0, "unchanged": 0, "dry_run": True}
    assert terminal.json("adjudicate", NAME, str(decisions), "--as", "editor")["decided"] == 1
    assert terminal.json("adjudicate", NAME, str(decisions), "--as", "editor")["unchanged"] == 1
    assert terminal.json("disagreements", NAME)[0]["status"] == "decided"
    assert all(gate["met"] for gate in terminal.json("release", "check", NAME)["gates"])

    made = terminal.json("release", "publish", NAME, "1.0.0", "--as", "editor", "--note", "初版")
    assert (made["created_at"], made["qrels"], made["folder"]) == ("2026-03-09T05:06:07Z", 6, "whole")
    (listed,) = terminal.json("release", "list", NAME)
    assert listed == made
    verified = terminal.json("release", "verify", made["path"])
    assert (verified["whole"], verified["content_sha256"]) == (True, made["content_sha256"])
    golden = Path(__file__).parents[1] / "golden" / "releases"
    for path in golden.iterdir():
        assert (Path(made["path"]) / path.name).read_bytes() == path.read_bytes(), path.name

    law = Path(made["path"]) / "law.json"
    law.chmod(0o644)
    law.write_bytes(law.read_bytes().replace(b'"relevance": 3', b'"relevance": 1'))
    tampered = terminal.run("release", "verify", made["path"], "--json")
    assert tampered.code == 3
    assert "law.json: expected SHA-256" in tampered.stderr
    assert {fault["path"] for fault in json.loads(tampered.stdout)["faults"]} == {"law.json"}


def test_refusals_have_their_exit_codes(terminal: Terminal) -> None:
    publish = ("release", "publish", NAME)
    lead = ("--as", "editor")
    for code, words, said in (
        (2, (*publish, "1.0.0"), "--as"),
        (2, (*publish, "1.0.0", *lead, "--override", "disagreements"), "GATE=REASON"),
        (1, (*publish, "v1", *lead), "MAJOR.MINOR.PATCH"),
        (1, (*publish, "1.0.0", "--as", "nobody"), "no person named 'nobody'"),
        (1, (*publish, "1.0.0", "--as", "花子"), "role lead"),
        (1, (*publish, "1.0.0", *lead, "--override", "speed=fast"), "no gate named 'speed'"),
        (1, ("release", "check", "nothing"), "no dataset named"),
        (1, ("release", "verify", "nothing"), "expected a release folder"),
        (1, ("disagreements", NAME, "--sort", "size"), "expected one of distance, impact, age"),
        (1, ("adjudicate", NAME, "absent.csv", *lead), "cannot read absent.csv"),
    ):
        done = terminal.run(*words)
        assert (done.code, done.stdout) == (code, ""), words
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    terminal.patch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    wrong = terminal.run(*publish, "1.0.0", *lead, "--override", "disagreements=later")
    assert (wrong.code, "SOURCE_DATE_EPOCH" in wrong.stderr) == (1, True)
    assert not (terminal.folder / "exports").exists()


def test_overrides_let_it_through_and_one_too_many_is_said(terminal: Terminal) -> None:
    words = ("release", "publish", NAME, "0.1.0", "--as", "editor", "--override", "disagreements=半分=half")
    done = terminal.run(*words, "--override", "kappa=not needed")
    assert done.code == 0
    assert "kappa is met: its override was not needed and is not kept." in done.stderr
    manifest = json.loads((terminal.folder / "exports" / NAME / "0.1.0" / "manifest.json").read_bytes())
    assert [gate["override"] and gate["override"]["reason"] for gate in manifest["gates"]] == [
        None,
        "半分=half",
    ]
    table = terminal.run("release", "list", NAME).stdout
    assert "0.1.0" in table
    assert "whole" in table


@pytest.mark.parametrize("command", [("serve",), ("release", "list", NAME)])
def test_what_a_killed_publish_recorded_is_put_in_place_by_the_next_start(
    terminal: Terminal, command: tuple[str, ...]
) -> None:
    terminal.patch.setattr(serve, "serve_app", lambda *args, **options: None)
    publish = ("release", "publish", NAME, "1.0.0", "--as", "editor", "--override", "disagreements=half done")
    folder = Path(terminal.json(*publish)["path"])
    folder.rename(folder.with_name(".1.0.0.0123456789ab.partial"))
    assert terminal.run(*command).code == 0
    assert terminal.json("release", "verify", str(folder))["whole"]
