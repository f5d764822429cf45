"""Releases from the gates to the published folder, on both databases."""

import hashlib
import json
import os
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from math import log2
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.dataset.service import change_settings
from annotator.domain.errors import (
    ConflictError,
    GateNotMet,
    NotAllowed,
    StateError,
    ValidationError,
)
from annotator.domain.people import OPERATOR, Actor
from annotator.formats.judgments import read_judgments
from annotator.formats.registry import find_format, read_truth
from annotator.formats.syntax.source import InputSource
from annotator.overview.service import give_up_blind_pairs
from annotator.releases import service
from annotator.releases.files_service import list_releases, verify_release
from annotator.releases.gates import explain
from annotator.releases.gates_service import check_release
from annotator.releases.records import Release
from annotator.releases.service import finish_publishing, publish_release
from annotator.releases.writing.files import TRUTH_FILES
from annotator.releases.writing.write import write_release
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import MembershipRow
from annotator.storage.tables.releases import PseudonymRow, ReleaseQrelRow, ReleaseRow
from tests.databases import CopyWorld
from tests.integration.judged_world import JudgedWorld
from tests.integration.release_world import EPOCH, NOT_DONE, WAIVED, ReleaseWorld

GOLDEN = Path(__file__).parents[2] / "golden" / "releases"
FILES = sorted(
    [
        "manifest.json", "SHA256SUMS", "CHANGES.md", "DATASHEET.md", "pictures/grades.svg", "pictures/confusion.svg",
        "nablarch.yaml", "law.json", "law-compact.json", "ranked.json", "assay.yaml", "assay-queries.yaml",
        "qrels.trec.txt", "beir/queries.jsonl", "beir/corpus.jsonl", "beir/qrels/test.tsv", "judgments.csv",
    ]
)  # fmt: skip


@pytest.fixture
def world(copy_world: CopyWorld) -> ReleaseWorld:
    return copy_world(ReleaseWorld)


def decide(world: ReleaseWorld, grade: int = 2) -> None:
    data = f"query_id,doc_id,grade,rationale\nQ2,법률_제17조,{grade},第17条に直接\n".encode()
    adjudicate_file(world.database, world.lead, world.name, data, "d.csv", now=EPOCH)


def publish(world: ReleaseWorld, folder: Path, version: str = "1.0.0", **more: Any) -> Release:
    more = {"overrides": WAIVED, "now": EPOCH, "actor": world.lead, **more}
    return publish_release(world.database, more.pop("actor"), world.name, version, exports_dir=folder, **more)


def files_of(release: Release) -> list[str]:
    below = (path for path in release.path.rglob("*") if path.is_file())
    return sorted(path.relative_to(release.path).as_posix() for path in below)


def manifest(release: Release) -> dict[str, Any]:
    return json.loads((release.path / "manifest.json").read_bytes())


def releases(world: ReleaseWorld, folder: Path) -> list[tuple[str, str]]:
    releases = list_releases(world.database, world.lead, world.name, exports_dir=folder)
    return [(release.version, release.folder) for release in releases]


def visible(folder: Path) -> list[str]:
    below = folder / "検索-법령"
    return sorted(path.name for path in below.iterdir() if path.name[0] != ".") if below.exists() else []


# --- gates


def test_the_gates_measure_kappa_and_open_disagreements(world: ReleaseWorld) -> None:
    release = check_release(world.database, world.lead, world.name)
    assert [gate.name for gate in release.gates] == [
        "kappa", "disagreements", "overlap", "quality_control", "coverage", "unjudged_queries", "relevant", "stale", "ids",
    ]  # fmt: skip
    kappa, disagreements = release.gates[:2]
    # 5 shared pairs: (0,0) (2,2) (3,3) (1,1) (3,1); po = 4/5, pe = (1·1 + 1·2 + 1·1 + 2·1)/25 = 6/25
    assert (kappa.name, kappa.required, kappa.measured, kappa.met) == ("kappa", 0.7, 0.736842, False)
    assert "too few to rely on" in str(kappa.why)
    assert (disagreements.name, disagreements.required, disagreements.measured) == ("disagreements", 0, 1)
    assert release.version is None
    assert "Q2  법률_제17조" in explain(release.gates)
    decide(world)
    release = check_release(world.database, world.lead, world.name)
    assert [gate.name for gate in release.gates if not gate.met] == [
        "kappa",
        "overlap",
        "quality_control",
        "unjudged_queries",
    ]


def test_a_check_counts_what_a_release_would_hold_and_suggests_its_version(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    release = check_release(world.database, OPERATOR, world.name)
    assert (dict(release.statuses), release.suggested) == (
        {"unanimous": 4, "disagreement": 1, "single": 1, "unrateable": 1, "unjudged": 2},
        "1.0.0",
    )
    publish(world, tmp_path, "2.3.4")
    assert check_release(world.database, world.lead, world.name).suggested == "2.4.0"


@pytest.mark.parametrize("simulated", [False, True])
def test_a_release_names_its_files_and_says_whether_it_holds_simulated_judgments(
    database: Database, tmp_path: Path, simulated: bool
) -> None:
    made = publish(ReleaseWorld(database, simulated=simulated), tmp_path)
    assert made.simulated is simulated
    assert sorted(made.files) == files_of(made) == FILES


def test_an_undefined_kappa_is_not_met_and_says_why(database: Database) -> None:
    JudgedWorld(database)
    kappa, disagreements = check_release(database, OPERATOR, "d").gates[:2]
    assert (kappa.measured, kappa.met) == (None, False)
    assert kappa.why
    assert disagreements.met


def test_a_gate_that_is_not_met_stops_a_release_and_nothing_is_changed(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    change_settings(world.database, OPERATOR, world.name, {"kappa_target": "0.9"}, now=datetime.now(UTC))
    for missing in ("kappa", "disagreements", "overlap", "quality_control"):
        overrides = {name: reason for name, reason in WAIVED.items() if name != missing}
        with pytest.raises(GateNotMet, match="not ready to be published"):
            publish(world, tmp_path, overrides=overrides)
    assert (visible(tmp_path), releases(world, tmp_path)) == ([], [])
    with world.database.read() as session:
        assert session.scalars(select(PseudonymRow)).all() == []


def test_the_coverage_counts_what_the_files_hold_and_a_gate_names_the_other_queries(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    """The dataset has three queries; nobody could rate the only document of the third."""
    decide(world)
    change_settings(
        world.database, OPERATOR, world.name, {}, requirements={"queries": 3}, now=datetime.now(UTC)
    )
    gates = {gate.name: gate for gate in check_release(world.database, world.lead, world.name).gates}
    assert (gates["coverage"].measured, gates["coverage"].met) == (0, False)
    assert gates["coverage"].examples == (("queries", "at least 3", "2"),)
    unjudged = gates["unjudged_queries"]
    assert (unjudged.required, unjudged.measured, unjudged.met, unjudged.examples) == (
        0,
        1,
        False,
        (("Q3",),),
    )
    made = publish(world, tmp_path, overrides={**NOT_DONE, "coverage": "two will do"})
    assert "| queries | at least 3 | 2 | no |" in (made.path / "DATASHEET.md").read_text("utf-8")
    assert manifest(made)["gates"][5]["override"]["reason"] == NOT_DONE["unjudged_queries"]


def test_a_release_says_who_made_it_and_under_which_licence(world: ReleaseWorld, tmp_path: Path) -> None:
    changes = {
        "authors": "花子, 민준",
        "contact": "team@example.org",
        "licence": "CC BY 4.0",
        "source": "편람 2024: §17",
    }
    change_settings(world.database, OPERATOR, world.name, changes, now=datetime.now(UTC))
    made = publish(world, tmp_path)
    assert {name: manifest(made)[name] for name in changes} == changes
    assert "| licence | CC BY 4.0 |" in (made.path / "DATASHEET.md").read_text("utf-8")
    for name in ("nablarch", "law", "law-compact", "assay"):
        path = made.path / TRUTH_FILES[name]
        _, truth = read_truth(InputSource(str(path)), format_name=name)
        assert {key: truth.metadata[key] for key in changes} == changes, name
    assert verify_release(made.path).whole
    change_settings(world.database, OPERATOR, world.name, {"licence": "none"}, now=datetime.now(UTC))
    again = publish(world, tmp_path, "1.1.0")
    assert manifest(again)["licence"] is None
    assert "licence" not in json.loads((again.path / "law.json").read_bytes())


@pytest.mark.parametrize("text", ["x" * 2001, "a\nb", "a\0"])
def test_what_a_release_says_of_its_dataset_is_one_line(world: ReleaseWorld, text: str) -> None:
    with pytest.raises(ValidationError, match="licence: expected a text of at most 2,000 characters"):
        change_settings(world.database, OPERATOR, world.name, {"licence": text}, now=datetime.now(UTC))


def test_an_override_lets_it_through_and_the_manifest_keeps_who_and_why(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    made = publish(world, tmp_path, note="初版")
    kappa, disagreements = manifest(made)["gates"][:2]
    assert {key: value for key, value in kappa.items() if key != "why"} == {
        "name": "kappa",
        "required": 0.7,
        "measured": 0.736842,
        "met": False,
        "override": {"reason": WAIVED["kappa"], "by": "lead_3"},
    }
    assert kappa["why"].startswith("The target of 0.7 cannot be checked yet")
    assert disagreements["override"] == {"reason": "later", "by": "lead_3"}
    assert not disagreements["met"]
    assert made.overridden == ("kappa", "disagreements", "overlap", "quality_control", "unjudged_queries")
    assert manifest(made)["note"] == "初版"


def test_an_unknown_gate_and_a_blank_reason_are_refused(world: ReleaseWorld, tmp_path: Path) -> None:
    for overrides in ({"Kappa": "x"}, {"kappa": " "}):
        with pytest.raises(ValidationError):
            publish(world, tmp_path, overrides=overrides)
    assert visible(tmp_path) == []


# --- content


def test_a_release_is_byte_for_byte_the_golden_one(world: ReleaseWorld, tmp_path: Path) -> None:
    """The same bytes from both databases, whatever their collation and the machine."""
    decide(world)
    made = publish(world, tmp_path, overrides=NOT_DONE, note="初版")
    assert files_of(made) == FILES
    if os.environ.get("WRITE_GOLDEN"):
        for name in FILES:
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_bytes((made.path / name).read_bytes())
    for name in FILES:
        assert (made.path / name).read_bytes() == (GOLDEN / name).read_bytes(), name


def test_publishing_at_the_same_time_again_elsewhere_gives_the_same_bytes(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    made = publish(world, tmp_path / "a", now=EPOCH + timedelta(microseconds=5))
    again = publish(make_elsewhere(tmp_path), tmp_path / "b")
    assert [(made.path / name).read_bytes() for name in FILES] == [
        (again.path / name).read_bytes() for name in FILES
    ]


def make_elsewhere(folder: Path) -> ReleaseWorld:
    """The same dataset in another database, of SQLite, with other keys: something stood there before."""
    other = Database(f"sqlite:///{folder / 'other.db'}")
    upgrade_schema(other)
    before = JudgedWorld(other, name="before")
    before.person("somebody else")
    before.query("Q0", "x")
    before.pair("Q0", "d0")
    return ReleaseWorld(other)


def test_unjudged_unrateable_and_open_pairs_are_absent_and_counted(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    made = publish(world, tmp_path)
    assert manifest(made)["counts"] == {
        "queries": 3, "queries_without_qrels": 1, "pairs": 9, "qrels": 5, "by_grade": {"0": 1, "1": 1, "2": 2, "3": 1},
        "unanimous": 4, "adjudicated": 0, "single": 1, "imported": 0, "disagreement": 1, "unrateable": 1, "unjudged": 2,
    }  # fmt: skip
    lines = (made.path / "qrels.trec.txt").read_text().splitlines()
    assert lines == [
        "Q1 0 Q1/three 3",
        "Q1 0 Q1/two 2",
        "Q1 0 Q1/one 1",
        "Q1 0 Q1/zero 0",
        "Q2 0 e\u0301🎯 2",
    ]
    with world.database.read() as session:
        stored = session.scalars(select(ReleaseQrelRow).order_by(col(ReleaseQrelRow.position))).all()
        assert [f"{row.query_id} 0 {row.doc_id} {row.grade}" for row in stored] == lines
        assert [row.origin for row in stored] == ["unanimous"] * 4 + ["single"]


def test_the_manifest_says_what_is_needed_to_cite_it(world: ReleaseWorld, tmp_path: Path) -> None:
    made = publish(world, tmp_path)
    written = manifest(made)
    assert list(written) == [
        "dataset", "version", "created_at", "published_by", "note", "authors", "contact", "licence", "source", "scale",
        "guideline_version", "previous",
        "content_sha256", "list_grade_0", "counts", "order", "agreement", "gates", "files",
    ]  # fmt: skip
    assert (written["dataset"], written["version"], written["previous"]) == ("検索-법령", "1.0.0", None)
    assert (written["created_at"], written["published_by"]) == ("2026-03-09T05:06:07Z", "lead_3")
    assert (written["guideline_version"], [item["grade"] for item in written["scale"]]) == (1, [0, 1, 2, 3])
    assert written["agreement"]["annotators"] == ["annotator_1", "annotator_2"]
    assert written["agreement"]["cohen_kappa"]["unweighted"]["value"] == 0.736842
    for entry in written["files"]:
        data = (made.path / entry["path"]).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert [entry["path"] for entry in written["files"]] == sorted(
        set(FILES) - {"manifest.json", "SHA256SUMS"}
    )
    assert publish(world, tmp_path, "1.1.0").previous == "1.0.0"


def test_real_names_never_leave(world: ReleaseWorld, tmp_path: Path) -> None:
    decide(world)
    made = publish(world, tmp_path)
    everything = b"".join((made.path / name).read_bytes() for name in FILES).decode()
    for name in ("花子", "민준", "editor", "Realname", "00000000-0000"):
        assert name not in everything


def test_pseudonyms_stay_when_somebody_joins(world: ReleaseWorld, tmp_path: Path) -> None:
    publish(world, tmp_path)
    before = read_judgments((tmp_path / world.name / "1.0.0" / "judgments.csv").read_bytes(), "j.csv")
    for name in ("aaa", "zzz"):
        world.judge(world.person(name), "Q3", "unjudged", 1)
    publish(world, tmp_path, "1.1.0")
    after = read_judgments((tmp_path / world.name / "1.1.0" / "judgments.csv").read_bytes(), "j.csv")
    named = {(line.doc_id, line.annotator, line.grade) for line in after}
    assert named > {(line.doc_id, line.annotator, line.grade) for line in before}
    assert {line.annotator for line in after} == {"annotator_1", "annotator_2", "annotator_4", "annotator_5"}


def test_judgments_csv_holds_every_current_judgment_and_is_read_back(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    world.judge(world.hanako, "Q1", "Q1/one", 1, note="revised")
    world.judge(world.hanako, "Q3", "unjudged", None, outcome="later")
    made = publish(world, tmp_path)
    lines = read_judgments((made.path / "judgments.csv").read_bytes(), "judgments.csv")
    assert len(lines) == 13
    line_by_annotator = {(line.doc_id, line.annotator): line for line in lines}
    three = sorted(line.note or "" for line in lines if line.doc_id == "Q1/three")
    assert three == ['"引用", and\nnew line', "메모"]
    assert {line.outcome for line in lines if line.doc_id == "مستند"} == {"unrateable"}
    revised = [line for line in line_by_annotator.values() if line.note == "revised"]
    assert [(line.grade, line.seconds) for line in revised] == [(1, 2.5)]
    assert revised[0].judged_at == "2026-03-04T05:20:07+00:00"
    head, first = (made.path / "judgments.csv").read_text().splitlines()[:2]
    assert head.endswith("judged_at,seconds,guideline_version,purpose,simulated")
    assert first.endswith("2.5,1,independent,false")


def test_simulated_judgments_say_so_wherever_there_is_a_place(database: Database, tmp_path: Path) -> None:
    made = publish(ReleaseWorld(database, simulated=True), tmp_path)
    assert manifest(made)["simulated"] is True
    assert "simulated annotators" in manifest(made)["notice"]
    header = yaml.safe_load((made.path / "nablarch.yaml").read_bytes())["dataset"]
    law = json.loads((made.path / "law.json").read_bytes())
    assert header["simulated"] is law["simulated"] is True
    assert header["notice"] == law["notice"] == manifest(made)["notice"]
    rows = (made.path / "judgments.csv").read_text()
    assert (rows.count(",independent,true"), rows.count(",independent,false")) == (6, 7)


def test_our_own_readers_read_every_file_back(world: ReleaseWorld, tmp_path: Path) -> None:
    decide(world)
    made = publish(world, tmp_path)
    graded = {
        ("Q1", "Q1/three", 3),
        ("Q1", "Q1/two", 2),
        ("Q1", "Q1/one", 1),
        ("Q2", "법률_제17조", 2),
        ("Q2", "e\u0301🎯", 2),
    }
    for name, path in TRUTH_FILES.items():
        file_format = find_format(name)
        if file_format.needs_grades_by:
            continue
        truth = file_format.read(InputSource(str(made.path / path)))
        zero = {("Q1", "Q1/zero", 0)} if name in ("trec", "beir") else set()
        assert {(qrel.query_id, qrel.doc_id, qrel.grade) for qrel in truth.qrels} == graded | zero


# --- what the evaluators compute from it: their loaders and formulas, written again from their description

RUN = {
    "Q1": ["Q1/zero", "Q1/two", "Q1/three", "Q1/one"],
    "Q2": ["x", "e\u0301🎯", "법률_제17조"],
    "Q3": ["مستند"],
}


def test_the_nablarch_evaluator_arrives_at_the_hand_worked_metrics(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    decide(world)
    loaded = yaml.safe_load((publish(world, tmp_path).path / "nablarch.yaml").read_bytes())
    assert loaded["dataset"]["total_queries"] == len(loaded["queries"]) == 2, (
        "Q3 has no qrel: it is absent, not 0"
    )
    assert (loaded["dataset"]["version"], str(loaded["dataset"]["created"])) == ("1.0.0", "2026-03-09")
    first = loaded["queries"][0]
    assert (first["query"], first["category"]) == ("RESTful Webサービスの構成: yes #1", "handler")
    assert (first["metadata"]["language"], first["metadata"]["difficulty"]) == ("ja", "easy")
    assert first["expected_docs"][0] == {"doc_id": "Q1/three", "relevance": 3, "description": "題 Q1/three"}
    assert [query["query"] for query in loaded["queries"]][1:] == ['17조 "검색"\n']
    reciprocal, recall, ndcg = [], [], []
    for query in loaded["queries"]:
        grades = {item["doc_id"]: item["relevance"] for item in query["expected_docs"]}
        ranked = RUN[query["id"]]
        reciprocal.append(next((1 / (at + 1) for at, doc in enumerate(ranked) if doc in grades), 0))
        high = {doc for doc, grade in grades.items() if grade >= 2}
        recall.append(len(high & set(ranked[:2])) / len(high) if high else 0)
        gains = [2 ** grades.get(doc, 0) - 1 for doc in ranked[:3]]
        ideal = sorted((2**grade - 1 for grade in grades.values()), reverse=True)[:3]
        ndcg.append(discount(gains) / discount(ideal) if ideal else 0)
    assert reciprocal == [0.5, 0.5]
    assert recall == [0.5, 0.5]
    # Q1: 3/log2(3) + 7/2 = 5.392789 of 7 + 3/log2(3) + 1/2 = 9.392789. Q2: 3/log2(3) + 3/2 of 3 + 3/log2(3)
    assert ndcg == pytest.approx([0.574142, 0.693426], abs=1e-6)


def test_the_law_evaluator_arrives_at_the_hand_worked_metrics(world: ReleaseWorld, tmp_path: Path) -> None:
    decide(world)
    loaded = json.loads((publish(world, tmp_path).path / "law.json").read_bytes())
    first, second = loaded["queries"]
    assert (loaded["version"], loaded["created_at"]) == ("1.0.0", "2026-03-09")
    assert (first["needs_a2a"], first["needs_rne"], first["total_relevant"]) == (False, True, 3)
    assert (second["query_type"], second["primary_domain"]) == ("specific_article", "도시계획")
    article = second["ground_truth"]["법률_제17조"]
    assert (article["relevance"], article["law_type"], article["notes"]) == (2, "법률", "第17条に直接")
    assert sorted([article["annotator_1"], article["annotator_2"]]) == [1, 3]
    assert "annotator_2" not in second["ground_truth"]["e\u0301🎯"]
    truth = {doc: item["relevance"] for doc, item in first["ground_truth"].items()}
    ranked = RUN["Q1"]
    hits = [at for at, doc in enumerate(ranked, 1) if doc in truth]
    assert hits == [2, 3, 4]  # a listed grade 0 would have been a hit at 1
    precision = [(index + 1) / at for index, at in enumerate(hits)]
    assert sum(precision) / len(truth) == pytest.approx(0.638889, abs=1e-6)  # (1/2 + 2/3 + 3/4) / 3
    assert len(set(ranked[:3]) & set(truth)) / len(truth) == pytest.approx(2 / 3)
    ideal = sorted(truth.values(), reverse=True)
    # (2/log2(3) + 3/2) / (3 + 2/log2(3) + 1/2)
    assert discount([truth.get(doc, 0) for doc in ranked[:3]]) / discount(ideal) == pytest.approx(
        0.579996, abs=1e-6
    )


def discount(gains: list[float]) -> float:
    return sum(gain / log2(index + 2) for index, gain in enumerate(gains))


def test_grade_0_is_listed_where_it_counts_as_relevant_only_when_asked_for(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    change_settings(world.database, OPERATOR, world.name, {"list_grade_0": "true"}, now=datetime.now(UTC))
    made = publish(world, tmp_path)
    assert (
        json.loads((made.path / "law.json").read_bytes())["queries"][0]["ground_truth"]["Q1/zero"][
            "relevance"
        ]
        == 0
    )
    assert "Q1/zero" in (made.path / "nablarch.yaml").read_text()


# --- refusals


def test_only_a_lead_and_a_person_may_publish(world: ReleaseWorld, tmp_path: Path) -> None:
    for actor in (world.hanako, OPERATOR, Actor(999, "stranger")):
        with pytest.raises(NotAllowed):
            publish(world, tmp_path, actor=actor)
    for read in (check_release, lambda *args: list_releases(*args, exports_dir=tmp_path)):
        with pytest.raises(NotAllowed):
            read(world.database, world.hanako, world.name)


def test_a_dataset_without_anything_settled_is_not_published(database: Database, tmp_path: Path) -> None:
    world = JudgedWorld(database)
    lead = world.person("lead", "lead")
    with pytest.raises(StateError, match="There is nothing to publish"):
        publish_release(
            database,
            lead,
            "d",
            "1.0.0",
            exports_dir=tmp_path,
            now=EPOCH,
            overrides=dict.fromkeys(WAIVED, "x"),
        )


def test_an_id_that_trec_cannot_carry_is_a_gate_that_names_it(world: ReleaseWorld, tmp_path: Path) -> None:
    world.pair("Q3", "white space")
    world.judge(world.hanako, "Q3", "white space", 1)
    with pytest.raises(GateNotMet, match=r"ids: 1 id contains white space.*\n    white space"):
        publish(world, tmp_path)
    assert (visible(tmp_path), releases(world, tmp_path)) == ([], [])


def test_a_version_is_published_once(world: ReleaseWorld, tmp_path: Path) -> None:
    publish(world, tmp_path)
    before = {name: (tmp_path / world.name / "1.0.0" / name).stat() for name in FILES}
    with pytest.raises(ConflictError, match=r"1\.0\.0 is already published"):
        publish(world, tmp_path)
    with pytest.raises(ConflictError):
        publish(world, tmp_path / "elsewhere")
    assert {name: (tmp_path / world.name / "1.0.0" / name).stat() for name in FILES} == before
    assert releases(world, tmp_path) == [("1.0.0", "whole")]


def test_a_foreign_folder_in_the_way_is_refused_and_left_alone(world: ReleaseWorld, tmp_path: Path) -> None:
    foreign = tmp_path / world.name / "1.0.0"
    foreign.mkdir(parents=True)
    (foreign / "mine.txt").write_text("x")
    with pytest.raises(ConflictError, match="already exists"):
        publish(world, tmp_path)
    assert [path.name for path in foreign.iterdir()] == ["mine.txt"]
    assert releases(world, tmp_path) == []


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_of_two_leads_publishing_at_once_one_wins(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    other, write = world.person("other lead", "lead"), write_release

    def other_lead_comes_first(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(service, "write_release", write)
        publish(world, tmp_path, version, actor=other)
        return write(*args, **options)

    monkeypatch.setattr(service, "write_release", other_lead_comes_first)
    with pytest.raises(ConflictError, match="Another lead has just published"):
        publish(world, tmp_path, "1.0.0")
    assert releases(world, tmp_path) == [(version, "whole")]
    assert visible(tmp_path) == [version]
    assert len(list((tmp_path / world.name).iterdir())) == 1


def test_a_lead_who_lost_the_role_meanwhile_does_not_publish(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = write_release

    def role_is_taken(*args: Any, **options: Any) -> Any:
        with world.database.write() as session:
            statement = select(MembershipRow).where(col(MembershipRow.person_pk) == world.lead.person_id)
            session.delete(session.scalars(statement).one())
        return write(*args, **options)

    monkeypatch.setattr(service, "write_release", role_is_taken)
    with pytest.raises(NotAllowed):
        publish(world, tmp_path)
    assert list((tmp_path / world.name).iterdir()) == []


# --- what is there


def test_a_folder_that_is_gone_or_changed_is_said(world: ReleaseWorld, tmp_path: Path) -> None:
    made = publish(world, tmp_path)
    assert releases(world, tmp_path / "another machine") == [("1.0.0", "missing")]
    (made.path / "SHA256SUMS").chmod(0o644)
    (made.path / "SHA256SUMS").write_text("x")
    assert releases(world, tmp_path) == [("1.0.0", "changed")]


def test_a_commit_that_went_through_but_reported_failure_loses_nothing(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_blind_pairs(world.database, world.lead, world.name, now=EPOCH)
    write = world.database.write

    class Broken(Exception):
        pass

    @contextmanager
    def write_and_break() -> Any:
        with write() as session:
            yield session
        raise Broken

    monkeypatch.setattr(world.database, "write", write_and_break)
    with pytest.raises(Broken):
        publish(world, tmp_path)
    monkeypatch.undo()
    assert finish_publishing(world.database, exports_dir=tmp_path, now=EPOCH) == [
        tmp_path / world.name / "1.0.0"
    ]
    assert releases(world, tmp_path) == [("1.0.0", "whole")]


def test_what_was_published_does_not_move_with_what_is_judged_after(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    made = publish(world, tmp_path)
    before = {name: (made.path / name).read_bytes() for name in FILES}
    world.judge(world.hanako, "Q1", "Q1/three", 0)
    change_settings(
        world.database, OPERATOR, world.name, {"list_grade_0": "true", "seed": "99"}, now=datetime.now(UTC)
    )
    assert {name: (made.path / name).read_bytes() for name in FILES} == before
    with world.database.read() as session:
        row = session.scalars(select(ReleaseRow)).one()
        assert row.manifest["content_sha256"] == row.content_sha256 == made.content_sha256
    assert verify_release(made.path).content_sha256 == made.content_sha256
