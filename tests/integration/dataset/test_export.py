"""A dataset exported as one file and restored: the same rows, all or nothing. On both databases."""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.testclient import TestClient
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.dataset.export_service import (
    LEFT_OUT,
    LISTED,
    REFERENCES,
    export_dataset,
    find_reference,
    list_tables,
    select_rows,
)
from annotator.dataset.restore_service import restore_dataset
from annotator.dataset.service import archive_dataset, create_dataset, list_datasets
from annotator.domain.errors import AnnotatorError, BadInput, ConflictError, NotAllowed, StateError
from annotator.domain.people import OPERATOR, Actor, SignedIn
from annotator.labeling.service import list_judgments, submit_judgments
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.dataset import downloads as dataset_downloads
from annotator.web.navigation import make_url
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.integration.dataset.test_archive import read_everything
from tests.integration.judged_world import NOW
from tests.integration.release_world import ReleaseWorld

GATES = (
    "kappa",
    "disagreements",
    "overlap",
    "quality_control",
    "coverage",
    "unjudged_queries",
    "relevant",
    "stale",
)


@pytest.fixture
def world(database: Database, tmp_path: Path) -> ReleaseWorld:
    """Judgments, a decision, a release, and another dataset beside it."""
    made = ReleaseWorld(database)
    made.add_decision(made.lead, "Q2", "법률_제17조", 2)
    reasons = dict.fromkeys(GATES, "a test")
    publish_release(database, made.lead, made.name, "1.0.0", exports_dir=tmp_path, now=NOW, overrides=reasons)
    create_dataset(database, OPERATOR, "other", now=NOW)
    return made


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'restored.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


def export(database: Database, name: str, path: Path) -> dict[str, list[dict[str, Any]]]:
    """Export to the file; return the rows of each table."""
    path.write_bytes(b"".join(export_dataset(database, OPERATOR, name, now=NOW)))
    return read_rows(path.read_bytes())


def read_rows(data: bytes) -> dict[str, list[dict[str, Any]]]:
    with ZipFile(BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".jsonl")]
        return {name: [json.loads(line) for line in archive.read(name).splitlines()] for name in names}


def without_exports(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The rows without the entries that exporting and restoring add to the audit log."""
    added = ("exported dataset", "restored dataset")
    events = [row for row in rows["audit_event.jsonl"] if row["action"] not in added]
    return {**rows, "audit_event.jsonl": events}


def test_a_dataset_restored_into_another_database_is_the_same_row_by_row(
    world: ReleaseWorld, empty: Database, tmp_path: Path
) -> None:
    before = export(world.database, world.name, tmp_path / "a.zip")
    assert {len(before[f"{name}.jsonl"]) > 0 for name in ("judgment", "release_qrel", "adjudication")} == {
        True
    }
    restored = restore_dataset(empty, OPERATOR, tmp_path / "a.zip", with_roles=True, now=NOW)
    assert restored.name == world.name
    assert without_exports(export(empty, world.name, tmp_path / "b.zip")) == without_exports(before)
    history = [list_judgments(db, OPERATOR, world.name, history=True) for db in (world.database, empty)]
    assert history[0] == history[1] and history[0]


def test_a_dataset_is_restored_beside_itself_under_another_name_and_goes_on(
    world: ReleaseWorld, empty: Database, tmp_path: Path
) -> None:
    before = export(world.database, world.name, tmp_path / "a.zip")
    untouched = read_everything(world.database)
    restore_dataset(world.database, OPERATOR, tmp_path / "a.zip", name="copy", with_roles=True, now=NOW)
    after = read_everything(world.database)
    assert all(set(rows) <= set(after[name]) for name, rows in untouched.items())
    copied = export(world.database, "copy", tmp_path / "b.zip")
    rests_on = {int(pk) for row in copied["release_qrel.jsonl"] for pk in (row["judgments"] or "").split()}
    assert rests_on <= {row["pk"] for row in copied["judgment.jsonl"]} and rests_on
    restore_dataset(empty, OPERATOR, tmp_path / "b.zip", name="again", with_roles=True, now=NOW)
    again = without_exports(export(empty, "again", tmp_path / "c.zip"))
    for name, rows in without_exports(before).items():
        named = ("key", "event_id", "name") if name != "person.jsonl" else ()
        assert [drop(row, named) for row in again[name]] == [drop(row, named) for row in rows], name
    event = {
        "id": "00000000-0000-4000-8000-0000000000ff",
        "pair": again["pair.jsonl"][0]["key"],
        "outcome": "later",
        "grade": None,
        "pressed_at": NOW.isoformat(),
    }
    for name in ("copy", world.name):  # further rows get numbers of their own
        arrived = submit_judgments(world.database, world.hanako, name, events=[], have=[], want=3, now=NOW)
        sent = {**event, "id": event["id"][:-2] + name[:1].encode().hex()[:2], "pair": arrived.pairs[0].pair}
        assert submit_judgments(
            world.database, world.hanako, name, events=[sent], have=[], want=0, now=NOW
        ).acknowledged == (sent["id"],)


def drop(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def test_no_secret_is_in_an_export_and_other_datasets_are_not(world: ReleaseWorld, tmp_path: Path) -> None:
    rows = export(world.database, world.name, tmp_path / "a.zip")
    assert set(rows["person.jsonl"][0]) == {"pk", "username", "name", "simulated", "created_at"}
    assert [row["name"] for row in rows["dataset.jsonl"]] == [world.name]
    assert not {f"{name}.jsonl" for name in LEFT_OUT} & set(rows)


def test_every_column_that_names_a_row_is_followed() -> None:
    for table in list_tables():
        select_rows(table, 1)
        for column in table.columns:
            if column.name.endswith("_pk") and column.name != "pk":
                assert find_reference(table, column) is not None, (table.name, column.name)
    names = {(table.name, column.name) for table in list_tables() for column in table.columns}
    assert {*REFERENCES, *LISTED} <= names


def test_a_lead_who_exports_has_seen_every_pair_and_an_annotator_may_not(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    with pytest.raises(NotAllowed):
        export_dataset(world.database, world.hanako, world.name, now=NOW)
    archive_dataset(world.database, OPERATOR, world.name, now=NOW)
    b"".join(export_dataset(world.database, world.lead, world.name, now=NOW))
    with world.database.read() as session:
        values = {"lead": world.lead.person_id}
        seen = session.scalar(text("SELECT count(*) FROM disclosure WHERE person_pk = :lead"), values)
        noted = session.scalar(
            text("SELECT count(*) FROM audit_event WHERE action = 'exported dataset' AND person_pk = :lead"),
            values,
        )
        pairs = session.scalar(text("SELECT count(*) FROM pair"))
    assert (seen, noted) == (pairs, 1)


def damage(path: Path, change: Any) -> None:
    """Write the zip anew, with its files as `change` gives them."""
    with ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def set_manifest(files: dict[str, bytes], **values: Any) -> None:
    files["manifest.json"] = json.dumps({**json.loads(files["manifest.json"]), **values}).encode()


DAMAGES: dict[str, Any] = {
    "rows with the checksum": lambda files: files.update(
        {"judgment.jsonl": files["judgment.jsonl"][:-5] + b"\n"}
    ),
    "the file query.jsonl": lambda files: files.pop("query.jsonl"),
    "with manifest.json": lambda files: files.pop("manifest.json"),
    "a manifest of annotator dataset export": lambda files: files.update({"manifest.json": b"{"}),
    "annotator dataset export, version 2": lambda files: set_manifest(files, format="else"),
    "expected an export of schema": lambda files: set_manifest(files, schema="0001"),
}


@pytest.mark.parametrize("said", DAMAGES)
def test_a_damaged_file_is_refused_and_nothing_is_restored(
    world: ReleaseWorld, empty: Database, tmp_path: Path, said: str
) -> None:
    export(world.database, world.name, tmp_path / "a.zip")
    damage(tmp_path / "a.zip", DAMAGES[said])
    before = read_everything(empty)
    with pytest.raises((BadInput, StateError), match=said):
        restore_dataset(empty, OPERATOR, tmp_path / "a.zip", now=NOW)
    assert read_everything(empty) == before


def test_a_zip_with_a_file_name_in_no_encoding_is_refused(empty: Database, tmp_path: Path) -> None:
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("é.jsonl", b"")
    damaged = (tmp_path / "a.zip").read_bytes().replace("é".encode(), b"\xa7\xa7")
    (tmp_path / "a.zip").write_bytes(damaged)
    with pytest.raises(BadInput, match="a whole zip"):
        restore_dataset(empty, OPERATOR, tmp_path / "a.zip", now=NOW)


def test_a_zip_cut_short_a_taken_name_and_a_stranger_are_refused(world: ReleaseWorld, tmp_path: Path) -> None:
    export(world.database, world.name, tmp_path / "a.zip")
    before = read_everything(world.database)
    (tmp_path / "b.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:-100])
    attempts: list[tuple[type[AnnotatorError], Actor, str, str | None]] = [
        (BadInput, OPERATOR, "b.zip", "x"),
        (ConflictError, OPERATOR, "a.zip", None),
        (NotAllowed, world.lead, "a.zip", "x"),
    ]
    for error, actor, file, name in attempts:
        with pytest.raises(error):
            restore_dataset(world.database, actor, tmp_path / file, name=name, now=NOW)
    assert read_everything(world.database) == before


def test_the_commands_export_and_restore_and_never_write_over_a_file(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["dataset", *words, "--database", world.url])

    file = tmp_path / "out.zip"
    assert run("export", world.name, "--output", str(file)).output.startswith(
        f"Exported {world.name} to {file}"
    )
    assert isinstance(run("export", world.name, "--output", str(file)).exception, StateError)
    assert file.stat().st_mode & 0o077 == 0
    assert run("restore", str(file), "--name", "copy").output.startswith("Restored copy")
    assert {dataset.name for dataset in list_datasets(world.database, OPERATOR)} == {
        world.name,
        "other",
        "copy",
    }


def test_a_download_is_the_same_file_for_leads_only(world: ReleaseWorld) -> None:
    routes, signed_in = dataset_downloads.routes(world.database), {}

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        scope.setdefault("state", {})["signed_in"] = signed_in["who"]
        await Starlette(routes=routes, exception_handlers=EXCEPTION_HANDLERS)(scope, receive, send)  # type: ignore[arg-type]

    client = TestClient(answer, headers={"Origin": "http://testserver"})
    address = make_url(dataset_downloads.ADDRESS, dataset=world.name)
    for actor, status in ((world.hanako, 403), (world.lead, 200)):
        signed_in["who"] = SignedIn(actor, "", (), False, NOW)
        response = client.get(address)
        assert response.status_code == status
    stored = list_judgments(world.database, OPERATOR, world.name, history=True)
    assert len(read_rows(response.content)["judgment.jsonl"]) == len(stored) > 0
    assert client.get(address, headers={"Origin": "http://elsewhere"}).status_code == 403
    assert client.head(address).status_code == 200
