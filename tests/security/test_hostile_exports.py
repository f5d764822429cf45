"""`annotator dataset restore` of a file that somebody made to do harm: refused with the table, the row and the column, or harmless.

The files are real exports with one thing changed and the checksums computed again. New tables and columns are covered by themselves.
"""

import hashlib
import json
import stat
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
from sqlalchemy import JSON, Boolean, Float, Integer, Table, text

from annotator.dataset import restore_service
from annotator.dataset.export_service import LISTED, find_reference, list_columns, list_tables
from annotator.dataset.exported_rows_service import CLOCKS_DIFFER, RowFault, check_row, decode_row
from annotator.dataset.restore_service import SMALL, restore_dataset
from annotator.domain.errors import BadInput
from annotator.domain.people import OPERATOR
from annotator.domain.texts import MOST_FIELDS
from annotator.formats.syntax.tree import MAX_TEXT
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.columns import UtcDateTime
from tests.databases import CopyWorld
from tests.integration.dataset.test_archive import read_everything
from tests.integration.dataset.test_export import GATES, export, read_rows
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.release_world import ReleaseWorld

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A dataset with a release, a decision, quality control and roles, exported."""
    folder = tmp_path_factory.mktemp("exported")
    database = Database(f"sqlite:///{folder / 'a.db'}")
    upgrade_schema(database)
    world = ReleaseWorld(database)
    world.add_decision(world.lead, "Q2", "법률_제17조", 2)
    world.check_quality(world.person("expert"), "Q1", "Q1/two", 2, settled=2, drawn_by=world.lead)
    reasons = dict.fromkeys(GATES, "a test")
    publish_release(database, world.lead, world.name, "1.0.0", exports_dir=folder, now=NOW, overrides=reasons)
    export(database, world.name, folder / "a.zip")
    database.dispose()
    return (folder / "a.zip").read_bytes()


def make_victim(database: Database) -> JudgedWorld:
    """Another installation, with people of the same usernames, one of them an admin of nothing."""
    made = JudgedWorld(database, name="victim")
    made.person("花子")
    made.query("Q1", "検索")
    made.pair("Q1", "문서/1")
    return made


@pytest.fixture
def victim(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_victim)


def write_file(path: Path, data: bytes, change: Callable[[Rows], object]) -> Path:
    """Write the export with its rows as `change` leaves them, and with checksums that fit."""
    (path.parent / "source.zip").write_bytes(data)
    with ZipFile(path.parent / "source.zip") as source:
        manifest = json.loads(source.read("manifest.json"))
    rows = read_rows(data)
    change(rows)
    files = {name: "".join(json.dumps(row) + "\n" for row in rows[name]).encode() for name in rows}
    manifest["files"] = [
        {"file": name, "rows": len(rows[name]), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files.items()
    ]
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr("manifest.json", json.dumps(manifest))
    return path


def restore(world: JudgedWorld, path: Path, *, with_roles: bool = True) -> None:
    restore_dataset(world.database, OPERATOR, path, name="restored", with_roles=with_roles, now=NOW)


def require_refused(world: JudgedWorld, path: Path, *named: str) -> None:
    before = read_everything(world.database)
    with pytest.raises(BadInput) as caught:
        restore(world, path)
    assert all(name in str(caught.value) for name in named), (named, str(caught.value))
    assert read_everything(world.database) == before


def make_row(table: Table) -> dict[str, Any]:
    """A row as an export could have it, of a table without rows in the exported dataset."""
    known = {"key": "0" * 24, "kind": "renamed", "rule": "a", "outcome": "graded", "origin": "single"}
    return {column.name: known.get(column.name, _make_value(column)) for column in list_columns(table)}


def _make_value(column: Any) -> Any:
    if isinstance(column.type, JSON):
        lists, kinds = ("pair_pks", "annotator_grades"), {"source": {"kind": "qrels"}}
        return None if column.nullable else [] if column.name in lists else kinds.get(column.name, {})
    if isinstance(column.type, UtcDateTime):
        return NOW.isoformat()
    if isinstance(column.type, Boolean):
        return False
    return 1 if isinstance(column.type, Integer | Float) else "x"


def list_bad_values(column: Any) -> Iterator[Any]:
    """Values that no row can have in the column."""
    deep: Any = {}
    for _ in range(60):
        deep = {"a": deep}
    if not column.nullable:
        yield None
    if isinstance(column.type, JSON):
        yield from (7, "x", {"a": "\ud800"}, {"a": "\x00"}, {"a": float("inf")}, {"a": 2**70}, deep)
    elif isinstance(column.type, UtcDateTime):
        yield from (7, "", "soon", "2026-01-01T00:00:00", "0001-01-01T00:00:00+00:00")
        yield (NOW + CLOCKS_DIFFER + timedelta(minutes=1)).isoformat()
    elif isinstance(column.type, Boolean):
        yield from (0, 1, "true", 2)
    elif isinstance(column.type, Integer):
        yield from (-1, 1.5, "1", True, 2**63, 10**400, [1])
    elif isinstance(column.type, Float):
        yield from (float("nan"), float("inf"), "1", True, {})
    else:
        yield from (7, True, [], {}, "a\x00b", "\ud800", "\udfff")


@pytest.mark.parametrize("table", list_tables(), ids=lambda table: table.name)
def test_no_column_takes_a_value_of_another_kind(exported: bytes, table: Table) -> None:
    row = (read_rows(exported)[f"{table.name}.jsonl"] or [make_row(table)])[0]
    check_row(table, row, now=NOW)
    for column in list_columns(table):
        for value in list_bad_values(column):
            with pytest.raises(RowFault) as caught:
                check_row(table, {**row, column.name: value}, now=NOW)
            assert column.name in caught.value.expected, (column.name, value)
        with pytest.raises(RowFault, match=column.name):
            check_row(table, {name: item for name, item in row.items() if name != column.name}, now=NOW)
    with pytest.raises(RowFault, match="password_hash"):
        check_row(table, {**row, "password_hash": "x"}, now=NOW)


@pytest.mark.parametrize(
    "line",
    [
        b"[1]",
        b'{"pk":1,"pk":2}',
        b'{"pk":NaN}',
        b'{"pk":-Infinity}',
        b'{"a":"\xff"}',
        b'{"a":"\xed\xa0\x80"}',
        b"{",
        b'{"a":' * 100_000,
        b'{"pk":' + b"9" * 5_000 + b"}",
    ],
)
def test_a_line_that_is_no_plain_json_object_is_refused(line: bytes) -> None:
    with pytest.raises(RowFault):
        decode_row(line)


GRADES = [
    {"grade": grade, "name": "n", "definition": "d", "positive_examples": [], "negative_examples": []}
    for grade in range(4)
]
VALUES: list[tuple[str, str, Any]] = [
    ("dataset", "name", "../up"),
    ("dataset", "language", "<b>"),
    ("dataset", "authors", "a\nb"),
    ("dataset", "overlap", 21),
    ("dataset", "kappa_target", 2),
    ("dataset", "gold_rate", 0.9),
    ("dataset", "quality_rule", "luck"),
    ("dataset", "profile", "other"),
    ("dataset", "discuss_from", 4),
    ("dataset", "shown_metadata", [1, {}]),
    ("dataset", "shown_metadata", ["a", "a"]),
    ("dataset", "search_hosts", ["http://169.254.169.254/"]),
    ("dataset", "overlap_rules", {"category": ["a"]}),
    ("dataset", "overlap_rules", {"share": {"share": "a", "overlap": 2}}),
    ("dataset", "overlap_rules", {"cap": {"a": 1}}),
    ("dataset", "overlap_rules", {"unknown": 1}),
    ("dataset", "requirements", {"unknown": 1}),
    ("dataset", "requirements", {"shares": {"language": {"ja": 3}}}),
    ("dataset", "requirements", {"queries": "many"}),
    ("rubric", "version", 0),
    ("rubric", "grades", GRADES[:3]),
    ("rubric", "grades", [*GRADES[:3], {**GRADES[3], "name": 7}]),
    ("rubric", "grades", [*GRADES[:3], {**GRADES[3], "positive_examples": "a"}]),
    ("rubric", "grades", [{"a": 1}]),
    ("rubric", "language", "xx"),
    ("rubric", "translations", [{"language": "ja"}]),
    ("judgment", "event_id", "1"),
    ("judgment", "event_id", "../../etc/passwd"),
    ("judgment", "purpose", "fun"),
    ("document", "media_type", "text/javascript"),
    ("query", "query_id", ""),
    ("run", "query_signals", {"Q1": 3}),
    ("pair", "key", "a/b"),
    ("query", "text", "x" * 100_001),
    ("document", "title", "x" * 100_001),
    ("judgment", "note", "x" * 1_000_001),
    ("rubric", "guideline", "x" * 1_000_001),
    ("rubric", "translations", [{"guideline": "x" * 1_000_001}]),
    ("query", "extra", {"a": "x" * 1_000_001}),
    ("query", "extra", {"x" * 1_000_001: "a"}),
    ("document", "extra", {"a": "x" * 600_000, "b": ["x" * 600_000]}),
    ("imported_qrel", "note", "x" * 1_000_001),
    ("imported_qrel", "extra", {"a": [{"b": "x" * 1_000_001}]}),
    ("pool_round", "options", {"systems": 3}),
    ("pool_round", "figures", {"systems": "a"}),
    ("release", "version", "../../up"),
    ("release", "manifest", {}),
    ("release", "sums", f"{'0' * 64}  ../../up"),
    ("release", "sums", "x"),
    ("release_qrel", "origin", "luck"),
    ("imported_qrel", "source", {"kind": "near_duplicate"}),
    ("audit_event", "action", "slept"),
    ("audit_event", "after", {"to": 1}),
    ("quality_pair", "settled_by", "luck"),
]


@pytest.mark.parametrize(("name", "column", "value"), VALUES, ids=lambda value: str(value)[:40])
def test_a_value_that_the_program_would_not_store_is_refused(
    exported: bytes, name: str, column: str, value: Any
) -> None:
    table = next(table for table in list_tables() if table.name == name)
    row = (read_rows(exported)[f"{name}.jsonl"] or [make_row(table)])[0]
    with pytest.raises(RowFault) as caught:
        check_row(table, {**row, column: value}, now=NOW)
    assert column in caught.value.expected


def test_every_length_that_an_import_takes_is_restored(exported: bytes) -> None:
    of_a_file = "x" * MAX_TEXT
    for name, column, value in (
        ("imported_qrel", "note", of_a_file),
        ("imported_qrel", "description", of_a_file),
        ("imported_qrel", "extra", {"a": of_a_file, "b": of_a_file}),
        ("query", "extra", {"a": "x" * (MOST_FIELDS - 1)}),
        ("judgment", "note", of_a_file),
        ("run_entry", "signals", {"text": of_a_file * 2}),
    ):
        table = next(table for table in list_tables() if table.name == name)
        row = (read_rows(exported)[f"{name}.jsonl"] or [make_row(table)])[0]
        check_row(table, {**row, column: value}, now=NOW)


@pytest.mark.parametrize("path", ["../up", "/etc/passwd", "a/../../b", "a\\b", ""])
def test_a_release_whose_files_lie_outside_its_folder_is_refused(exported: bytes, path: str) -> None:
    table = next(table for table in list_tables() if table.name == "release")
    row = read_rows(exported)["release.jsonl"][0]
    row["manifest"]["files"][0]["path"] = path
    with pytest.raises(RowFault, match="manifest"):
        check_row(table, row, now=NOW)


def test_no_number_in_the_file_reaches_a_row_that_was_there_before(
    exported: bytes, victim: JudgedWorld, tmp_path: Path
) -> None:
    checked = set()
    for table in list_tables():
        for column in list_columns(table):
            reference = find_reference(table, column)
            rows = read_rows(exported)[f"{table.name}.jsonl"]
            index = next((i for i, row in enumerate(rows) if row[column.name] is not None), None)
            if reference is None or column.name == "pk" or index is None:
                continue

            def change(
                rows: Rows, name: str = table.name, column: str = column.name, index: int = index
            ) -> None:
                rows[f"{name}.jsonl"][index][column] = 99_999

            path = write_file(tmp_path / "a.zip", exported, change)
            require_refused(victim, path, f"{table.name}.jsonl:{index + 1}:", column.name)
            checked.add((table.name, column.name))
    assert {("judgment", "pair_pk"), ("release_qrel", "release_pk"), ("membership", "dataset_pk")} <= checked
    for name, column in LISTED:
        if rows := [row for row in read_rows(exported)[f"{name}.jsonl"] if row[column]]:
            for value in ("99999", "1 -1", "1  2", "x", "१"):
                at = read_rows(exported)[f"{name}.jsonl"].index(rows[0])
                path = write_file(
                    tmp_path / "a.zip",
                    exported,
                    lambda rows: rows[f"{name}.jsonl"][at].update({column: value}),  # noqa: B023
                )
                require_refused(victim, path, f"{name}.jsonl:{at + 1}:", column)


def test_huge_numbers_of_rows_leave_room_for_the_next_ones(
    exported: bytes, victim: JudgedWorld, tmp_path: Path
) -> None:
    def change(rows: Rows) -> None:
        rows["audit_event.jsonl"][-1]["pk"] = 2**31 - 1

    restore(victim, write_file(tmp_path / "a.zip", exported, change))
    with victim.database.read() as session:
        highest, count = session.execute(text("SELECT max(pk), count(*) FROM audit_event")).one()
    assert highest == count


@pytest.mark.parametrize("with_roles", [False, True])
def test_roles_are_given_on_request_and_noted_and_nothing_else_of_a_person_changes(
    exported: bytes, victim: JudgedWorld, tmp_path: Path, with_roles: bool
) -> None:
    (tmp_path / "a.zip").write_bytes(exported)
    before = read_everything(victim.database)
    restore(victim, tmp_path / "a.zip", with_roles=with_roles)
    after = read_everything(victim.database)
    for table in (
        "person",
        "membership",
        "login_session",
        "provider_identity",
        "second_factor",
        "one_time_link",
    ):
        assert set(before[table]) <= set(after[table])
    new = set(after["membership"]) - set(before["membership"])
    with victim.database.read() as session:
        given = session.scalar(text("SELECT count(*) FROM audit_entry WHERE action = 'role_given'"))
        noted = session.scalar(text("SELECT count(*) FROM audit_entry WHERE action = 'dataset_restored'"))
        secrets = session.scalar(text("SELECT count(*) FROM person WHERE password_hash IS NOT NULL"))
    roles = len(read_rows(exported)["membership.jsonl"])
    assert (len(new), given, noted, secrets) == ((roles, roles, 1, 0) if with_roles else (0, 0, 1, 0))


def _add_row(table: str, **values: Any) -> Callable[[Rows], None]:
    return lambda rows: rows[f"{table}.jsonl"].append({**rows[f"{table}.jsonl"][-1], **values})


def _set(table: str, **values: Any) -> Callable[[Rows], None]:
    return lambda rows: rows[f"{table}.jsonl"][0].update(values)


CHANGES: dict[str, tuple[Callable[[Rows], object], tuple[str, ...]]] = {
    "a role on every dataset": (_set("membership", dataset_pk=None), ("membership.jsonl:1", "dataset_pk")),
    "an unknown role": (_set("membership", role="owner"), ("membership.jsonl:1", "role")),
    "an outcome that the database refuses": (_set("judgment", outcome="perhaps", grade=None), ("judgment.jsonl:1", "outcome")),
    "a grade that the database refuses": (_set("judgment", grade=4), ("judgment.jsonl:1", "grade")),
    "a number twice": (_add_row("judgment"), ("judgment.jsonl", "pk")),
    "two datasets": (_add_row("dataset", pk=99), ("dataset.jsonl", "one dataset")),
    "no dataset": (lambda rows: rows["dataset.jsonl"].clear(), ("dataset.jsonl", "one dataset")),
    "two people of one username": (_add_row("person", pk=99), ("person.jsonl", "username")),
    "a password": (_set("person", password_hash="x"), ("person.jsonl:1", "password_hash")),
    "a table with sign-ins": (lambda rows: rows.update({"login_session.jsonl": []}), ("login_session.jsonl",)),
    "a path": (lambda rows: rows.update({"../up.jsonl": []}), ("only the files of an export",)),
    "a missing table": (lambda rows: rows.pop("query.jsonl"), ("query.jsonl",)),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_what_an_export_never_holds_is_refused_and_nothing_is_stored(
    exported: bytes, victim: JudgedWorld, tmp_path: Path, what: str
) -> None:
    change, named = CHANGES[what]
    path = write_file(tmp_path / "a.zip", exported, change)
    require_refused(victim, path, *named)


def test_a_zip_with_a_file_twice_a_link_or_a_bomb_is_refused(
    exported: bytes, victim: JudgedWorld, tmp_path: Path
) -> None:
    link = ZipInfo("remap.jsonl")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    extras: dict[str, tuple[Any, bytes]] = {
        "each file once": ("query.jsonl", b""),
        "a link": (link, b"/etc/passwd"),
        "times as many bytes": ("remap.jsonl", b" " * (2 * SMALL)),
    }
    for said, (name, content) in extras.items():
        path = write_file(tmp_path / "a.zip", exported, lambda rows: None)
        if said != "each file once":
            with ZipFile(path) as archive:
                files = {item: archive.read(item) for item in archive.namelist() if item != "remap.jsonl"}
            with ZipFile(path, "w", ZIP_DEFLATED) as archive:
                for item, data in files.items():
                    archive.writestr(item, data)
        with ZipFile(path, "a", ZIP_DEFLATED) as archive:
            archive.writestr(name, content, ZIP_DEFLATED)
        require_refused(victim, path, said)


@pytest.mark.parametrize("username", ["花\u200b子", "а\u0441\u0435\u200d", "a\u202egnp", "花子\u202d"])
def test_a_new_username_that_hides_characters_is_refused_with_its_row(
    exported: bytes, victim: JudgedWorld, tmp_path: Path, username: str
) -> None:
    def rename(rows: Rows) -> None:
        rows["person.jsonl"][-1]["username"] = username

    require_refused(victim, write_file(tmp_path / "x.zip", exported, rename), "person.jsonl", "username")


def test_a_new_username_that_looks_like_somebody_here_is_refused_and_names_are_cleaned(
    exported: bytes, victim: JudgedWorld, tmp_path: Path
) -> None:
    victim.person("Élodie")
    victim.person("ana")

    def rename(username: str) -> Callable[[Rows], None]:
        def change(rows: Rows) -> None:
            rows["person.jsonl"][-1] |= {"username": username, "name": "a\u202eb" + "x" * 500}

        return change

    require_refused(victim, write_file(tmp_path / "x.zip", exported, rename("аnа")), "person.jsonl")
    restore(
        victim, write_file(tmp_path / "y.zip", exported, rename("élodie"))
    )  # the same person in another case
    with victim.database.read() as session:
        people = session.execute(text("SELECT username, name FROM person")).all()
    assert [username for username, _ in people if username.casefold() == "élodie"] == ["Élodie"]
    assert not any("\u202e" in name or len(name) > 200 for _, name in people)


def test_long_rows_are_stored_before_many_of_them_wait(
    exported: bytes, victim: JudgedWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once: list[int] = []
    insert = restore_service._Restorer._insert

    def count(restorer: Any, file: Any, rows: list[Any]) -> None:
        at_once.append(len(rows))
        insert(restorer, file, rows)

    monkeypatch.setattr(restore_service, "_BYTES_AT_ONCE", 1)
    monkeypatch.setattr(restore_service._Restorer, "_insert", count)
    restore(victim, write_file(tmp_path / "b.zip", exported, lambda rows: None))
    assert max(at_once) == 1


def test_a_name_of_a_person_without_end_is_refused(
    exported: bytes, victim: JudgedWorld, tmp_path: Path
) -> None:
    path = write_file(
        tmp_path / "b.zip", exported, lambda rows: rows["person.jsonl"][0].update(name="x" * 10_001)
    )
    require_refused(victim, path, "person.jsonl", "name")
