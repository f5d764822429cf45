"""The probabilities of drawn pairs are a file of a release; a release without drawn pairs has none. On both databases."""

from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.ground_truth import Qrel
from annotator.pooling.rounds.round_records import NewRound, PairDraw
from annotator.pooling.rounds.rounds_sql import add_round
from annotator.releases.files_service import verify_release
from annotator.releases.service import publish_release
from annotator.releases.verify.read_back import compare_probabilities
from annotator.releases.writing.files import PROBABILITIES
from annotator.storage.lookup import key_of
from annotator.storage.tables.central import DocumentRow, PairRow, QueryRow
from tests.databases import CopyWorld
from tests.integration.release_world import EPOCH, WAIVED, ReleaseWorld


def publish(world: ReleaseWorld, folder: Path, version: str) -> Path:
    return publish_release(
        world.database,
        world.lead,
        world.name,
        version,
        exports_dir=folder,
        now=EPOCH,
        overrides=dict.fromkeys([*WAIVED, "relevant"], "x"),
    ).path


def test_a_release_has_the_probabilities_only_if_pairs_were_drawn(
    copy_world: CopyWorld, tmp_path: Path
) -> None:
    world = copy_world(ReleaseWorld)
    before = publish(world, tmp_path, "1.0.0")
    assert not (before / PROBABILITIES).exists()
    assert PROBABILITIES not in (before / "DATASHEET.md").read_text(encoding="utf-8")
    lines = (before / "qrels.trec.txt").read_text(encoding="utf-8").splitlines()
    query_id, _, doc_id, _ = lines[0].split(" ")
    with world.database.write() as session:
        statement = (
            select(col(PairRow.pk))
            .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
            .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
            .where(col(QueryRow.query_id) == query_id, col(DocumentRow.doc_id) == doc_id)
        )
        drawn = {key_of(session.scalar(statement)): PairDraw("2-9", 0.25)}
        made = NewRound("stratified", {"strata": ["2-9:0.2"], "seed": 0, "retrievers": []})
        add_round(session, world.dataset_pk, made, drawn, made_by=None, now=EPOCH)
    folder = publish(world, tmp_path, "1.1.0")
    expected = [f"{lines[0]} 0.25", *(f"{line} 1" for line in lines[1:])]
    assert (folder / PROBABILITIES).read_text(encoding="utf-8").splitlines() == expected
    assert f"`{PROBABILITIES}` lists every qrel" in (folder / "DATASHEET.md").read_text(encoding="utf-8")
    assert verify_release(folder).whole
    (folder / PROBABILITIES).chmod(0o600)
    (folder / PROBABILITIES).write_text("\n".join([f"{lines[0]} 0", *expected[1:], ""]), encoding="utf-8")
    faults = [fault for fault in verify_release(folder).faults if fault.found.startswith("line 1")]
    assert [(fault.path, fault.expected) for fault in faults] == [
        (PROBABILITIES, f"{lines[0]!r} as in qrels.trec.txt, and a probability")
    ]


QRELS = (Qrel("Q1", "法律_第1条", 3), Qrel("Q1", "b", 0))
GOOD = "Q1 0 法律_第1条 3 0.125\nQ1 0 b 0 1\n"


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (GOOD, []),
        (GOOD.replace(" 3 ", " 2 "), [1]),
        (GOOD.replace("0.125", "1.5"), [1]),
        (GOOD.replace("0.125", "nan"), [1]),
        (GOOD.replace(" 1\n", " one\n"), [2]),
        (GOOD.replace("Q1 0 b 0 1\n", ""), [2, 3]),
        (GOOD + "Q1 0 c 1 1\n", [3, 4]),
        (GOOD.removesuffix("\n"), [3]),
        ("", [1, 2, 3]),
    ],
)
def test_every_line_must_be_a_qrel_with_a_probability(tmp_path: Path, content: str, lines: list[int]) -> None:
    (tmp_path / PROBABILITIES).write_text(content, encoding="utf-8")
    faults = compare_probabilities(tmp_path, QRELS)
    assert [int(fault.found.split(":")[0].removeprefix("line ")) for fault in faults] == lines


def test_probabilities_that_are_no_text_are_a_fault(tmp_path: Path) -> None:
    (tmp_path / PROBABILITIES).write_bytes(b"\xff\xfe")
    assert [fault.expected for fault in compare_probabilities(tmp_path, QRELS)] == ["a readable text"]
