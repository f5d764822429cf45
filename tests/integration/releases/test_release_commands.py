"""Disagreement to release on the command line: what is printed, the exit codes, and the same bytes twice."""

import json
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from annotator.cli.main import run
from annotator.storage.database import Database
from annotator.web.server import serve
from tests.integration.release_world import NOT_DONE, ReleaseWorld

NAME = "検索-법령"
LEFT = [word for name, reason in NOT_DONE.items() for word in ("--override", f"{name}={reason}")]


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
        output = self.captured.readouterr()
        return Done(int(ended.value.code or 0), output.out, output.err)

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
    (disagreement,) = terminal.json("disagreements", NAME, "--sort", "impact")
    assert disagreement["since"] == "2026-03-04T05:16:07Z"
    assert {key: disagreement[key] for key in ("query_id", "doc_id", "category", "grades", "distance", "impact", "status")} == {
        "query_id": "Q2", "doc_id": "법률_제17조", "category": None, "grades": {"花子": 3, "민준": 1}, "distance": 2,
        "impact": pytest.approx(6 / (7 + 3 / math.log2(3))), "status": "open",
    }  # fmt: skip

    checked = terminal.run("release", "check", NAME, "--json")
    assert checked.code == 3
    assert "Q2  법률_제17조" in checked.stderr
    document = json.loads(checked.stdout)
    assert document["version"] is None
    assert [(gate["name"], gate["met"], gate["override"]) for gate in document["gates"]] == [
        ("kappa", False, None), ("disagreements", False, None), ("overlap", False, None),
        ("quality_control", False, None), ("coverage", True, None), ("unjudged_queries", False, None), ("relevant", True, None), ("stale", True, None), ("ids", True, None),
    ]  # fmt: skip
    assert document["gates"][2]["examples"] == [["Q2", "e\u0301🎯"], ["Q2", "é"], ["Q3", "unjudged"]]
    refused = terminal.run("release", "publish", NAME, "1.0.0", "--as", "editor")
    assert (refused.code, refused.stdout) == (3, "")
    assert not (terminal.folder / "exports").exists()

    decisions = terminal.folder / "決定.csv"
    decisions.write_text("query_id,doc_id,grade,rationale\nQ2,법률_제17조,2,第17条に直接\n", encoding="utf-8")
    dry = terminal.json("adjudicate", NAME, str(decisions), "--as", "editor", "--dry-run")
    assert dry == {
        "decided": 1, "revised": 0, "unchanged": 0, "skipped": 0, "proposed": 0, "dry_run": True,
    }  # fmt: skip
    assert terminal.json("adjudicate", NAME, str(decisions), "--as", "editor")["decided"] == 1
    assert terminal.json("adjudicate", NAME, str(decisions), "--as", "editor")["unchanged"] == 1
    assert terminal.json("disagreements", NAME)[0]["status"] == "decided"
    checked = terminal.run("release", "check", NAME, "--json")
    unmet = [gate["name"] for gate in json.loads(checked.stdout)["gates"] if not gate["met"]]
    assert (checked.code, unmet) == (3, ["kappa", "overlap", "quality_control", "unjudged_queries"])

    made = terminal.json("release", "publish", NAME, "1.0.0", "--as", "editor", "--note", "初版", *LEFT)
    assert (made["created_at"], made["qrels"], made["folder"]) == ("2026-03-09T05:06:07Z", 6, "whole")
    (listed,) = terminal.json("release", "list", NAME)
    assert listed == made
    verified = terminal.json("release", "verify", made["path"])
    assert (verified["whole"], verified["content_sha256"]) == (True, made["content_sha256"])
    golden = Path(__file__).parents[2] / "golden" / "releases"
    for path in (path for path in golden.rglob("*") if path.is_file()):
        name = path.relative_to(golden)
        assert (Path(made["path"]) / name).read_bytes() == path.read_bytes(), name

    law = Path(made["path"]) / "law.json"
    law.chmod(0o644)
    law.write_bytes(law.read_bytes().replace(b'"relevance": 3', b'"relevance": 1'))
    tampered = terminal.run("release", "verify", made["path"], "--json")
    assert tampered.code == 3
    assert "law.json: expected SHA-256" in tampered.stderr
    assert {fault["path"] for fault in json.loads(tampered.stdout)["faults"]} == {"law.json"}


def test_check_says_of_every_gate_which_work_it_needs(terminal: Terminal) -> None:
    done = terminal.run("release", "check", NAME)
    assert done.code == 3
    table = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert list(table)[1:] == [
        "kappa", "disagreements", "overlap", "quality_control", "coverage", "unjudged_queries", "relevant", "stale", "ids",
    ]  # fmt: skip
    assert f"annotator adjudicate {NAME} FILE --as LEAD" in table["disagreements"]
    assert f"annotator assign {NAME} --list" in table["overlap"]
    assert "Not done" in table["quality_control"]
    assert f"annotator dataset set {NAME} requirements=" in table["coverage"]
    assert "--override kappa=REASON --override disagreements=REASON --override overlap=REASON" in done.stderr


def test_refusals_have_their_exit_codes(terminal: Terminal) -> None:
    publish = ("release", "publish", NAME)
    lead = ("--as", "editor")
    for code, words, message in (
        (2, (*publish, "1.0.0"), "--as"),
        (2, (*publish, "1.0.0", *lead, "--override", "disagreements"), "GATE=REASON"),
        (1, (*publish, "v1", *lead), "MAJOR.MINOR.PATCH"),
        (1, (*publish, "1.0.0", "--as", "nobody"), "no person named 'nobody'"),
        (1, (*publish, "1.0.0", "--as", "花子"), "role lead"),
        (1, (*publish, "1.0.0", *lead, "--override", "speed=fast"), "no gate named 'speed'"),
        (1, ("release", "check", "nothing"), "no dataset named"),
        (1, ("release", "diff", NAME, "1.0.0", "1.1.0"), "no release '1.0.0'; no releases yet"),
        (1, ("release", "trace", NAME, "1.0.0", "Q1", "d"), "no release '1.0.0'"),
        (2, ("release", "diff", NAME, "1.0.0"), "V2"),
        (1, ("release", "verify", "nothing"), "expected a release folder"),
        (1, ("disagreements", NAME, "--sort", "size"), "expected one of distance, impact, age"),
        (1, ("adjudicate", NAME, "absent.csv", *lead), "cannot read absent.csv"),
    ):
        done = terminal.run(*words)
        assert (done.code, done.stdout) == (code, ""), words
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    terminal.patch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    wrong = terminal.run(*publish, "1.0.0", *lead, "--override", "disagreements=later")
    assert (wrong.code, "SOURCE_DATE_EPOCH" in wrong.stderr) == (1, True)
    assert not (terminal.folder / "exports").exists()


def test_overrides_let_it_through_and_one_too_many_is_said(terminal: Terminal) -> None:
    words = (
        "release",
        "publish",
        NAME,
        "0.1.0",
        "--as",
        "editor",
        "--override",
        "disagreements=半分=half",
        *LEFT,
    )
    done = terminal.run(*words, "--override", "coverage=not needed")
    assert done.code == 0
    assert "coverage is met: its override is not needed and was not kept." in done.stderr
    manifest = json.loads((terminal.folder / "exports" / NAME / "0.1.0" / "manifest.json").read_bytes())
    assert [gate["override"] and gate["override"]["reason"] for gate in manifest["gates"]] == [
        "まだ半分 🙂", "半分=half", "판정 중", "no sample was drawn", None, "읽을 수 없다", None, None, None,
    ]  # fmt: skip
    table = terminal.run("release", "list", NAME).stdout
    assert "0.1.0" in table
    assert "whole" in table


@pytest.mark.parametrize("command", [("serve",), ("release", "list", NAME)])
def test_what_a_killed_publish_recorded_is_put_in_place_by_the_next_start(
    terminal: Terminal, command: tuple[str, ...]
) -> None:
    terminal.patch.setattr(serve, "serve_app", lambda *args, **options: None)
    publish = (
        "release",
        "publish",
        NAME,
        "1.0.0",
        "--as",
        "editor",
        "--override",
        "disagreements=half done",
        *LEFT,
    )
    folder = Path(terminal.json(*publish)["path"])
    folder.rename(folder.with_name(".1.0.0.0123456789ab.partial"))
    assert terminal.run(*command).code == 0
    assert terminal.json("release", "verify", str(folder))["whole"]


def publish_twice(terminal: Terminal) -> None:
    """1.0.0 with an open disagreement, then 1.1.0 after it was decided."""
    publish = ("release", "publish", NAME)
    assert (
        terminal.run(*publish, "1.0.0", "--as", "editor", "--override", "disagreements=later", *LEFT).code
        == 0
    )
    decisions = terminal.folder / "decisions.csv"
    decisions.write_text("query_id,doc_id,grade,rationale\nQ2,법률_제17조,2,第17条に直接\n", encoding="utf-8")
    assert terminal.run("adjudicate", NAME, str(decisions), "--as", "editor").code == 0
    terminal.patch.setenv("SOURCE_DATE_EPOCH", "1773036367")
    assert terminal.run(*publish, "1.1.0", "--as", "editor", *LEFT).code == 0


def test_two_releases_are_compared_and_a_grade_is_traced(terminal: Terminal) -> None:
    publish_twice(terminal)
    difference = terminal.json("release", "diff", NAME, "1.0.0", "1.1.0")
    assert difference["changes"] == [
        {"kind": "added", "query_id": "Q2", "doc_id": "법률_제17조", "old": None, "new": 2, "reason": None, "old_doc_id": None, "cause": None, "rationale": None}
    ]  # fmt: skip
    assert (difference["advice"], difference["counts"]) == ("minor", {"added": 1})
    printed = terminal.run("release", "diff", NAME, "1.0.0", "1.1.0").stdout
    assert printed.splitlines()[:2] == [
        f"{NAME} 1.0.0 to 1.1.0",
        "Version: at least a minor step is recommended, because qrels changed (1 added).",
    ]
    assert "법률_제17조" in printed
    changes = (terminal.folder / "exports" / NAME / "1.1.0" / "CHANGES.md").read_text("utf-8")
    assert "| Q2 | 법률_제17조 | 2 |" in changes

    trace = ("release", "trace", NAME, "1.1.0", "Q2", "법률_제17조")
    traced = terminal.json(*trace)
    assert [(item["annotator"], item["grade"]) for item in traced["judgments"]] == [
        ("annotator_1", 1), ("annotator_2", 3),
    ]  # fmt: skip
    assert {key: traced["adjudication"][key] for key in ("grade", "rationale", "lead")} == {
        "grade": 2, "rationale": "第17条に直接", "lead": "lead_3",
    }  # fmt: skip
    assert (traced["complete"], traced["query"], traced["origin"]) == (True, '17조 "검색"\n', "adjudicated")
    shown = terminal.run(*trace).stdout
    for words in ("grade 2, adjudicated", '"17조 \\"검색\\"\\n"', "annotator_2", "by lead_3", "第17条に直接"):
        assert words in shown
    for name in ("花子", "민준", "editor"):
        assert name not in shown + json.dumps(traced, ensure_ascii=False)
    missing = terminal.run("release", "trace", NAME, "1.0.0", "Q2", "법률_제17조")
    assert (missing.code, "has no qrel" in missing.stderr) == (1, True)
