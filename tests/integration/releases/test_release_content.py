"""What a release takes from everything around judging: earlier ground truth, remapped documents, newer guidelines;
and what it says of the release before."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select
from sqlmodel import col

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.domain.errors import NotAllowed
from annotator.domain.people import OPERATOR
from annotator.guideline.service import publish_version, read_version
from annotator.importing.judgments.judgments_service import import_qrels
from annotator.importing.remapping.remapping_service import remap_documents
from annotator.importing.texts.texts_service import import_documents
from annotator.releases.files_service import verify_release
from annotator.releases.gates_service import check_release
from annotator.releases.records import Release, ReleaseGate
from annotator.releases.service import finish_publishing, preview_release, publish_release
from annotator.releases.writing.judged_sql import iterate_judged_queries
from annotator.releases.writing.write import to_published
from annotator.storage.logs.disclosures import list_blind_pairs, list_pair_names
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.releases import ReleaseQrelRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW
from tests.integration.release_world import EPOCH, WAIVED, ReleaseWorld

LATER = EPOCH + timedelta(days=1)


@pytest.fixture
def world(copy_world: CopyWorld) -> ReleaseWorld:
    return copy_world(ReleaseWorld)


def publish(world: ReleaseWorld, folder: Path, version: str = "1.0.0", **more: Any) -> Release:
    more = {"overrides": dict.fromkeys([*WAIVED, "stale", "relevant"], "x"), "now": EPOCH, **more}
    return publish_release(world.database, world.lead, world.name, version, exports_dir=folder, **more)


def manifest(release: Release) -> dict[str, Any]:
    return json.loads((release.path / "manifest.json").read_bytes())


def bring_in(world: ReleaseWorld, folder: Path) -> None:
    """An earlier ground truth in law JSON: two documents of Q3, one of Q1 that is judged here already."""
    path = folder / "earlier.json"
    content = {
        "queries": [
            {"query_id": "Q3", "query_text": "no", "ground_truth": {
                "unjudged": {"relevance": 3, "annotator_1": 3, "annotator_2": 2, "notes": "옛 메모", "law_type": "법률"},
                "新/文書": {"relevance": 0},
            }},
            {"query_id": "Q1", "query_text": "x", "ground_truth": {"Q1/one": {"relevance": 3}}},
        ]
    }  # fmt: skip
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    import_qrels(world.database, OPERATOR, world.name, path, now=EPOCH, format_name="law")


def decide(world: ReleaseWorld, grade: int) -> None:
    data = f"query_id,doc_id,grade,rationale,reason\nQ2,법률_제17조,{grade},第17条に直接,再考\n".encode()
    adjudicate_file(world.database, world.lead, world.name, data, "d.csv", now=EPOCH)


def qrels(world: ReleaseWorld) -> dict[tuple[str, str], ReleaseQrelRow]:
    with world.database.read() as session:
        return {(row.query_id, row.doc_id): row for row in session.scalars(select(ReleaseQrelRow))}


def test_kept_grades_of_an_earlier_ground_truth_are_published_as_imported(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    bring_in(world, tmp_path)
    made = publish(world, tmp_path)
    counts = manifest(made)["counts"]
    assert (counts["imported"], counts["qrels"], counts["unanimous"]) == (2, 7, 4)
    assert (made.path / "qrels.trec.txt").read_text().splitlines()[-2:] == [
        "Q3 0 unjudged 3",
        "Q3 0 新/文書 0",
    ]
    law = json.loads((made.path / "law.json").read_bytes())["queries"][-1]["ground_truth"]["unjudged"]
    assert (law["annotator_1"], law["annotator_2"], law["notes"], law["law_type"]) == (
        3,
        2,
        "옛 메모",
        "법률",
    )
    rows = qrels(world)
    kept = rows["Q3", "unjudged"]
    assert (kept.origin, kept.judgments, kept.adjudication_pk) == ("imported", "", None)
    assert kept.imported_qrel_pk is not None
    assert rows["Q1", "Q1/one"].imported_qrel_pk is None
    assert "earlier.json" in (made.path / "DATASHEET.md").read_text()
    assert str(tmp_path) not in (made.path / "DATASHEET.md").read_text()
    assert verify_release(made.path).whole


def test_a_kept_pair_is_not_short_of_judgments(world: ReleaseWorld, tmp_path: Path) -> None:
    def short() -> float | None:
        gates = {gate.name: gate for gate in check_release(world.database, world.lead, world.name).gates}
        return gates["overlap"].measured

    assert short() == 3
    bring_in(world, tmp_path)
    assert short() == 2


def test_a_pair_whose_document_was_split_leaves_the_release(world: ReleaseWorld, tmp_path: Path) -> None:
    before = publish(world, tmp_path)
    assert manifest(before)["counts"]["pairs"] == 9
    path = tmp_path / "remap.csv"
    path.write_text("old_doc_id,new_doc_id\nQ1/two,Q1/two#a\nQ1/two,Q1/two#b\nQ1/one,Q1/eins\n")
    remap_documents(world.database, OPERATOR, world.name, path, now=LATER)
    made = publish(world, tmp_path, "1.1.0", now=LATER + timedelta(days=1))
    assert "Q1/two 2" not in (made.path / "qrels.trec.txt").read_text()
    assert "Q1 0 Q1/eins 1" in (made.path / "qrels.trec.txt").read_text()
    judged = (made.path / "judgments.csv").read_text()
    assert ("Q1/two" in judged, "Q1/eins" in judged) == (False, True)
    assert (manifest(made)["counts"]["pairs"], manifest(made)["agreement"]["pairs"]) == (10, 4)
    changes = (made.path / "CHANGES.md").read_text()
    assert "Q1/eins" in changes
    assert "Q1/two" in changes
    assert verify_release(made.path).whole


def test_settled_pairs_under_an_older_meaning_of_the_grades_are_stale(world: ReleaseWorld) -> None:
    decide(world, 2)
    present = read_version(world.database, world.lead, world.name).rubric
    for base, change in ((1, "semantic"), (2, "minor")):
        rubric = replace(present, guideline=f"after {base}")
        publish_version(
            world.database, world.lead, world.name, rubric, base_version=base, change=change, why="x", now=NOW
        )
    (stale,) = (
        gate for gate in check_release(world.database, OPERATOR, world.name).gates if gate.name == "stale"
    )
    assert (stale.measured, stale.met) == (6, False)
    world.judge(world.hanako, "Q2", "e\u0301🎯", 2)  # judged again: the single one rests on version 3 now
    decide(world, 1)
    (stale,) = (
        gate for gate in check_release(world.database, world.lead, world.name).gates if gate.name == "stale"
    )
    assert (stale.measured, ("Q2", "법률_제17조") in stale.examples) == (4, False)


def test_settled_pairs_on_an_older_text_are_stale_by_their_judgments_or_their_decision(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    bring_texts(world, tmp_path, {"법률_제17조": "제17조 원문"}, now=NOW)
    decide(world, 2)
    assert find_stale(world).met
    bring_texts(world, tmp_path, {"Q1/zero": "別の本文", "법률_제17조": "제17조 개정"}, now=LATER)
    gate = find_stale(world)
    assert (gate.measured, gate.examples) == (2, (("Q1", "Q1/zero"), ("Q2", "법률_제17조")))
    assert str(gate.why).startswith(
        "2 settled pairs were judged with an older text of their documents. Have these pairs judged or decided again."
    )
    bring_texts(world, tmp_path, {"Q1/zero": "本文"}, now=LATER)
    assert find_stale(world).examples == (("Q2", "법률_제17조"),)


def bring_texts(world: ReleaseWorld, folder: Path, texts: dict[str, str], *, now: datetime) -> None:
    path = folder / "documents.jsonl"
    path.write_text("\n".join(json.dumps({"doc_id": key, "text": text}) for key, text in texts.items()))
    import_documents(world.database, OPERATOR, world.name, path, now=now)


def find_stale(world: ReleaseWorld) -> ReleaseGate:
    gates = check_release(world.database, world.lead, world.name).gates
    return next(gate for gate in gates if gate.name == "stale")


def test_the_preview_is_what_changes_says_after_publishing(world: ReleaseWorld, tmp_path: Path) -> None:
    first = preview_release(world.database, world.lead, world.name, now=NOW)
    assert (first.before, first.after) == (None, None)
    publish(world, tmp_path)
    assert preview_release(world.database, world.lead, world.name, now=NOW).advice == "none"
    decide(world, 2)
    world.judge(world.hanako, "Q1", "Q1/three", 2)
    world.judge(world.minjun, "Q1", "Q1/three", 2)
    preview = preview_release(world.database, world.lead, world.name, now=NOW)
    assert {(change.kind, change.doc_id, change.old, change.new, change.reason) for change in preview.changes} == {
        ("added", "법률_제17조", None, 2, None), ("changed", "Q1/three", 3, 2, "revision"),
    }  # fmt: skip
    assert (preview.before, preview.advice) == ("1.0.0", "minor")
    made = publish(world, tmp_path, "1.1.0", now=LATER)
    changes = (made.path / "CHANGES.md").read_text()
    assert "Compared with 1.0.0" in changes
    assert "법률\\_제17조" in changes or "법률_제17조" in changes
    assert manifest(made)["previous"] == "1.0.0"


def test_a_preview_reads_every_pair_as_the_release_does(world: ReleaseWorld) -> None:
    """What it leaves out of judgments (notes, times) no qrel's settlement and keys depend on."""
    decide(world, 2)
    world.judge(world.minjun, "Q1", "Q1/three", None, outcome="later")
    world.judge(world.hanako, "Q2", "e\u0301🎯", None)
    with world.database.read() as session:
        dataset_pk = key_of(find_dataset(session, world.name).pk)
        read = {
            for_comparison: [
                (pair.status, pair.grade, to_published(pair))
                for _, pairs in iterate_judged_queries(session, dataset_pk, for_comparison=for_comparison)
                for pair in pairs
            ]
            for for_comparison in (False, True)
        }
    assert read[True] == read[False]
    assert len({status for status, *_ in read[True]}) > 3


def test_a_query_that_lost_its_qrels_is_removed_from_the_release(world: ReleaseWorld, tmp_path: Path) -> None:
    publish(world, tmp_path)
    world.judge(world.hanako, "Q2", "e\u0301🎯", None)
    preview = preview_release(world.database, world.lead, world.name, now=NOW)
    assert preview.queries_removed == ("Q2",)
    assert dict(preview.counts) == {"removed": 1}


def test_a_preview_leaves_out_pairs_to_judge_also_after_their_documents_were_renamed(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    publish(world, tmp_path)
    judging_lead = world.person("judging", "lead")
    with world.database.read() as session:
        dataset_pk = key_of(find_dataset(session, world.name).pk)
        blind = list_blind_pairs(session, dataset_pk, judging_lead.person_id)
        names = list_pair_names(session, blind)
    without_renames = preview_release(world.database, judging_lead, world.name, now=LATER)
    renamed = sorted({doc_id for _, doc_id in names})
    path = tmp_path / "remap.csv"
    path.write_text("old_doc_id,new_doc_id\n" + "".join(f"{doc_id},{doc_id}!\n" for doc_id in renamed))
    remap_documents(world.database, OPERATOR, world.name, path, now=LATER)
    assert {pair for pair in qrels(world) if pair in names}, "some of them are in the release"
    preview = preview_release(world.database, judging_lead, world.name, now=LATER)
    assert {(change.query_id, change.old_doc_id or change.doc_id) for change in preview.changes}.isdisjoint(
        names
    )
    assert ("removed" in preview.counts, preview.queries_removed) == (False, without_renames.queries_removed)
    with world.database.read() as session:
        assert list_blind_pairs(session, dataset_pk, judging_lead.person_id) == blind


def test_only_a_lead_previews(world: ReleaseWorld) -> None:
    with pytest.raises(NotAllowed):
        preview_release(world.database, world.hanako, world.name, now=NOW)


def test_a_decision_is_recorded_with_its_qrel(world: ReleaseWorld, tmp_path: Path) -> None:
    decide(world, 2)
    decide(world, 3)
    publish(world, tmp_path)
    with world.database.read() as session:
        latest = session.scalars(
            select(AdjudicationRow).order_by(col(AdjudicationRow.revision).desc())
        ).first()
    row = qrels(world)["Q2", "법률_제17조"]
    assert latest is not None
    assert (row.origin, row.grade, row.adjudication_pk) == ("adjudicated", 3, latest.pk)
    assert finish_publishing(world.database, exports_dir=tmp_path, now=EPOCH) == []
    assert check_release(world.database, world.lead, world.name).suggested == "1.1.0"


def test_no_table_is_read_whole_for_each_part_of_the_queries(world: ReleaseWorld) -> None:
    """All decisions of the database, for one: a million qrels are read in fifty parts."""
    if not world.database.is_sqlite:
        return
    world.add_decision(world.lead, "Q2", "법률_제17조", 2)
    executed: list[tuple[str, Any]] = []
    event.listen(
        world.database.engine,
        "before_cursor_execute",
        lambda *arguments: executed.append((arguments[2], arguments[3])),
    )
    with world.database.read() as session:
        list(iterate_judged_queries(session, key_of(find_dataset(session, world.name).pk)))
        of_a_part = [(statement, values) for statement, values in executed if "query_pk IN" in statement]
        assert any("adjudication" in statement for statement, _ in of_a_part)
        for statement, values in of_a_part:
            plan = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
            assert not [step for *_, step in plan if step.startswith("SCAN")], statement
