"""Quality control in releases: its gate, what it reopened, and its trail in the datasheet, on both databases."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from annotator.dataset.service import change_settings
from annotator.domain.errors import GateNotMet
from annotator.domain.people import OPERATOR
from annotator.releases.files_service import verify_release
from annotator.releases.gates_service import check_release
from annotator.releases.records import ReleaseGate
from annotator.releases.service import publish_release
from tests.databases import CopyWorld
from tests.integration.release_world import EPOCH, WAIVED, ReleaseWorld


@pytest.fixture
def world(copy_world: CopyWorld) -> ReleaseWorld:
    return copy_world(ReleaseWorld)


def find_gate(world: ReleaseWorld, name: str) -> ReleaseGate:
    return {gate.name: gate for gate in check_release(world.database, world.lead, world.name).gates}[name]


def publish(world: ReleaseWorld, folder: Path, version: str = "1.0.0") -> Path:
    return publish_release(
        world.database, world.lead, world.name, version,
        exports_dir=folder, now=EPOCH, overrides=dict.fromkeys([*WAIVED, "relevant"], "x"),
    ).path  # fmt: skip


def read_judged(folder: Path) -> set[str]:
    """Who stands in judgments.csv, with what they gave: pseudonyms must not change because somebody checked."""
    return set((folder / "judgments.csv").read_text(encoding="utf-8").splitlines())


def test_a_reopened_pair_is_open_and_in_no_file_until_it_is_decided(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    expert = world.person("専門家")
    world.check_quality(expert, "Q1", "Q1/two", 0, settled=2, drawn_by=world.lead)
    gate = find_gate(world, "disagreements")
    assert (gate.measured, gate.examples) == (2, (("Q1", "Q1/two"), ("Q2", "법률_제17조")))
    assert str(gate.why).startswith("Open: 2 (1 reopened by quality control).")
    made = publish(world, tmp_path)
    counts = json.loads((made / "manifest.json").read_bytes())["counts"]
    assert (counts["reopened"], counts["unanimous"], counts["pairs"]) == (1, 3, 9)
    for path in made.rglob("*"):
        if path.is_file() and path.name not in ("DATASHEET.md", "judgments.csv", "documents.jsonl"):
            assert b"Q1/two" not in path.read_bytes() or "corpus" in path.name, path
    assert verify_release(made).whole
    world.add_decision(world.lead, "Q1", "Q1/two", 2)
    again = publish(world, tmp_path, "1.1.0")
    assert "Q1 0 Q1/two 2" in (again / "qrels.trec.txt").read_text(encoding="utf-8").splitlines()
    counts = json.loads((again / "manifest.json").read_bytes())["counts"]
    assert ("reopened" in counts, counts["adjudicated"]) == (False, 1)


def test_the_datasheet_keeps_the_trail_under_pseudonyms(world: ReleaseWorld, tmp_path: Path) -> None:
    before = read_judged(publish(world, tmp_path / "before"))
    expert, other = world.person("専門家"), world.person("別の lead", "lead")
    world.check_quality(expert, "Q1", "Q1/two", 0, settled=2, drawn_by=other, note="専門家 の覚え書き")
    world.check_quality(expert, "Q1", "Q1/one", 1, settled=1)
    made = publish(world, tmp_path, "1.1.0")
    sheet = (made / "DATASHEET.md").read_text(encoding="utf-8")
    assert "| 1 | 1 | 2026-03-04T" in sheet
    assert "| the operator | annotator_" in sheet
    assert "| 40 | 2 | 1 | 1 | 1 |" in sheet  # one drawn, checked, and an error
    assert "| 40 | 2 | 1 | 1 | 0 |" in sheet
    assert "| 1 | 1 | Q1 | Q1/two | 2 (unanimous) | 0 | open |" in sheet
    assert read_judged(made) == before
    for path in made.rglob("*"):
        text = path.read_bytes().decode() if path.is_file() else ""
        assert not any(name in text for name in ("専門家", "別の lead", "editor", "Realname")), path


def test_a_decision_that_was_reopened_is_no_decision_of_its_lead(world: ReleaseWorld, tmp_path: Path) -> None:
    world.add_decision(world.lead, "Q2", "법률_제17조", 3)
    world.add_decision(world.lead, "Q1", "Q1/two", 2)
    world.check_quality(world.person("専門家"), "Q1", "Q1/two", 0, settled=2, settled_by="adjudicated")
    sheet = (publish(world, tmp_path) / "DATASHEET.md").read_text(encoding="utf-8")
    assert "Where they differ, a lead decides with a reason: 1 of " in sheet
    assert re.search(r"Decisions by lead: lead_\d 1\.", sheet)


def test_the_gate_goes_by_what_the_dataset_says(world: ReleaseWorld, tmp_path: Path) -> None:
    gate = find_gate(world, "quality_control")
    assert (gate.required, gate.measured, gate.met) == (0.05, None, False)
    assert str(gate.why) == "Not done. Draw a sample."
    expert = world.person("専門家")
    for doc_id, grade in (("Q1/zero", 0), ("Q1/two", 2), ("Q1/three", 3), ("Q1/one", 1)):
        world.check_quality(expert, "Q1", doc_id, grade, settled=grade)
    gate = find_gate(world, "quality_control")
    assert (gate.met, (gate.measured or 0) > 0.05) == (False, True)
    with pytest.raises(GateNotMet, match="quality_control: 0 errors in 4 checked pairs"):
        publish_release(
            world.database, world.lead, world.name, "1.0.0",
            exports_dir=tmp_path, now=EPOCH, overrides={name: "x" for name in WAIVED if name != "quality_control"},
        )  # fmt: skip
    change_settings(world.database, OPERATOR, world.name, {"quality_rule": "rate"}, now=datetime.now(UTC))
    gate = find_gate(world, "quality_control")
    assert (gate.met, gate.measured) == (True, 0)
    kept: list[dict[str, Any]] = json.loads((publish(world, tmp_path) / "manifest.json").read_bytes())[
        "gates"
    ]
    (quality_gate,) = (judgment for judgment in kept if judgment["name"] == "quality_control")
    assert (quality_gate["met"], quality_gate["override"], "0 errors in 4" in quality_gate["why"]) == (
        True,
        None,
        True,
    )
