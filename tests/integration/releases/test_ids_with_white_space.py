"""Ids that TREC cannot hold: a gate names them, they can be renamed, or a release leaves TREC out and says so."""

import json
from pathlib import Path

import pytest

from annotator.domain.errors import BadInput, GateNotMet
from annotator.domain.people import OPERATOR
from annotator.importing.judgments.judgments_service import import_qrels
from annotator.importing.remapping.remapping_service import rename_queries
from annotator.importing.texts.texts_service import import_documents, import_pairs, import_queries
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person
from annotator.releases.gates_service import check_release
from annotator.releases.records import ReleaseGate
from annotator.releases.service import publish_release
from annotator.releases.verify.verify import verify_folder
from annotator.storage.database import Database
from annotator.storage.tables.central import PairRow, QueryRow
from tests.integration.importing.test_importing import NOW, Desk

PASSWORD = "a-Long-pass-word-91!"


@pytest.fixture
def desk(database: Database, tmp_path: Path) -> Desk:
    made = Desk(database, tmp_path)
    made.bring(import_queries, "q.csv", "query_id,text\nq 1,x\nq2,y\n")
    made.bring(import_documents, "d.csv", "doc_id,text\n법 1,a\nd2,b\nd 3,c\n")
    qrels = "query_id,doc_id,grade\nq 1,법 1,3\nq2,d2,1\nq2,법 1,0\n"
    made.bring(import_qrels, "t.csv", qrels)
    made.bring(import_pairs, "p.csv", "query_id,doc_id\nq2,d 3\n")
    add_person(database, OPERATOR, "sora", role="lead", dataset="d", password=PASSWORD, now=NOW)
    return made


def find_gate(desk: Desk) -> ReleaseGate:
    return next(gate for gate in check_release(desk.database, OPERATOR, "d").gates if gate.name == "ids")


def publish(desk: Desk, *overridden: str) -> Path:
    with desk.database.read() as session:
        lead = find_actor(session, "sora")
    gates = ("kappa", "overlap", "quality_control", *overridden)
    folder = desk.folder / "exports"
    made = publish_release(
        desk.database, lead, "d", "1.0.0", exports_dir=folder, now=NOW, overrides=dict.fromkeys(gates, "x")
    )
    return made.path


def test_a_gate_names_every_id_of_a_settled_pair_that_a_format_cannot_hold(desk: Desk) -> None:
    gate = find_gate(desk)
    assert (gate.met, gate.measured, gate.examples) == (False, 2, (("q 1",), ("법 1",)))
    with pytest.raises(GateNotMet, match="ids: 2 ids contain white space"):
        publish(desk)


def test_overridden_the_release_leaves_the_format_out_and_says_so(desk: Desk) -> None:
    folder = publish(desk, "ids")
    assert not (folder / "qrels.trec.txt").exists()
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["formats_left_out"] == [{"format": "trec", "ids": 2}]
    assert "The format trec is left out: it cannot hold 2 ids" in (folder / "DATASHEET.md").read_text("utf-8")
    assert verify_folder(folder).faults == ()


def test_a_format_that_is_left_out_without_need_is_a_fault(desk: Desk) -> None:
    folder = publish(desk, "ids")
    for name in ("queries.jsonl", "corpus.jsonl", "qrels/test.tsv"):
        path = folder / "beir" / name
        path.chmod(0o600)
        path.write_text(path.read_text("utf-8").replace("q 1", "q1").replace("법 1", "법1"), encoding="utf-8")
    assert any("the format can hold every id" in fault.expected for fault in verify_folder(folder).faults)


def test_renamed_ids_are_published_in_every_format_and_keep_their_pairs(desk: Desk) -> None:
    keys = desk.rows(PairRow.key)
    new = "old_query_id,new_query_id\nq 1,q1\n"
    assert rename(desk, new, dry_run=True) == ({"q 1": "q1"}, 0)
    assert desk.rows(QueryRow.query_id) == [("q 1",), ("q2",)]
    assert rename(desk, new) == ({"q 1": "q1"}, 0)
    assert rename(desk, new) == ({}, 1)
    assert desk.rows(QueryRow.query_id) == [("q1",), ("q2",)]
    assert desk.rows(PairRow.key) == keys
    assert find_gate(desk).examples == (("법 1",),)


def rename(desk: Desk, text: str, *, dry_run: bool = False) -> tuple[dict[str, str], int]:
    path = desk.put("rename.csv", text)
    report = rename_queries(desk.database, OPERATOR, "d", path, now=NOW, dry_run=dry_run)
    return dict(report.renamed), report.applied


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("q 1,q2\n", "2: expected new_query_id to be an id that no query has, found 'q2'"),
        ("q 1,a\nq2,a\n", r"3: expected each id once \(first on line 2\), found 'a'"),
        ("q 1,a\nq 1,b\n", r"3: expected each id once \(first on line 2\), found 'q 1'"),
        ("q 1,a\na,b\n", r"3: expected each id once"),
        ("", "expected lines of old_query_id and new_query_id, found none"),
    ],
)
def test_query_ids_that_would_meet_or_go_in_a_row_are_refused(desk: Desk, lines: str, expected: str) -> None:
    before = desk.dump()
    with pytest.raises(BadInput, match=expected):
        rename(desk, "old_query_id,new_query_id\n" + lines)
    assert desk.dump() == before


def test_a_query_that_takes_an_old_id_gets_pairs_of_its_own(desk: Desk) -> None:
    rename(desk, "old_query_id,new_query_id\nq 1,q1\n")
    desk.bring(import_queries, "q.csv", "query_id,text\nq 1,another\n")
    desk.bring(import_pairs, "p.csv", "query_id,doc_id\nq 1,법 1\n")
    keys = desk.rows(PairRow.key)
    assert len(set(keys)) == len(keys) == 5


def test_a_query_that_a_release_names_keeps_its_id(desk: Desk) -> None:
    publish(desk, "ids")
    for lines in ("q 1,q1\n", "q2,new\n"):
        with pytest.raises(BadInput, match="2: expected an id that no release names: releases never change"):
            rename(desk, "old_query_id,new_query_id\n" + lines)
    assert desk.rows(QueryRow.query_id) == [("q 1",), ("q2",)]


def test_an_old_id_that_is_not_there_is_reported(desk: Desk) -> None:
    path = desk.put("rename.csv", "old_query_id,new_query_id\nzz,yy\n")
    assert rename_queries(desk.database, OPERATOR, "d", path, now=NOW).unknown == ("zz",)
