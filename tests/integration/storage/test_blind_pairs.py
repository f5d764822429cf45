"""The judged pairs that a lead may still judge: kept between the readings of a page, and never out of date."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlmodel import col

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.dataset.service import change_settings
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.remapping.remapping_service import remap_documents
from annotator.quality.service import draw_sample
from annotator.storage.logs import disclosures
from annotator.storage.logs.disclosures import list_blind_pairs, list_to_judge, note_seen
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import PairRow
from tests.databases import CopyWorld
from tests.integration.labeling_world import World


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    return copy_world(World)


def act(world: World, lead: Actor, folder: Path) -> Iterator[str]:
    """Everything that changes which judged pairs the lead may still judge, one act after the other."""
    hana, minjun = world.person("hana"), world.person("minjun")
    with world.database.read() as session:
        pairs = session.execute(select(col(PairRow.pk), col(PairRow.key)).order_by(col(PairRow.pk))).all()
    keys = [key for _pk, key in pairs]
    for key in keys[:8]:
        world.send(hana, world.event(key, 1))
    yield "eight pairs judged once"
    world.send(hana, world.event(keys[0], None, outcome="later"))
    yield "one of them put off"
    world.send(hana, world.event(keys[0], 3))
    yield "and judged"
    world.send(lead, world.event(keys[1], 2))
    yield "one judged by the lead"
    world.send(minjun, world.event(keys[2], 1))
    yield "one closed"
    world.send(hana, world.event(keys[8], 1))
    world.send(minjun, world.event(keys[8], 1), world.event(keys[3], 1))
    yield "two closed"
    note_seen(world.database, [pairs[4].pk], lead.person_id, now=world.now)
    yield "one seen"
    world.send(minjun, world.event(keys[5], 3))
    yield "a disagreement"
    decision = "query_id,doc_id,grade,rationale\nQ1,문서/1-1,2,so\n".encode()
    adjudicate_file(world.database, world.person("chief", "lead"), "d", decision, "d.csv", now=world.now)
    yield "one decided"
    change_settings(world.database, OPERATOR, "d", {"overlap": "3"}, now=world.now)
    yield "one judgment more for each pair"
    change_settings(world.database, OPERATOR, "d", {"overlap": "1"}, now=world.now)
    yield "two fewer"
    draw_sample(world.database, OPERATOR, "d", annotator="lead", rate=1.0, now=world.now)
    yield "some drawn for the lead"
    new_ids = folder / "new-ids.csv"
    new_ids.write_text("old_doc_id,new_doc_id\n문서/0-2,neu\n", encoding="utf-8")
    remap_documents(world.database, OPERATOR, "d", new_ids, now=world.now)
    yield "one document renamed"


def test_what_is_kept_is_what_every_act_leaves(world: World, tmp_path: Path) -> None:
    lead = world.person("lead", "lead")
    seen: list[frozenset[int]] = []
    for what in act(world, lead, tmp_path):
        with world.database.read() as session:
            dataset_pk = key_of(find_dataset(session, "d").pk)
            kept = list_blind_pairs(session, dataset_pk, lead.person_id)
            judged = set(session.scalars(select(col(PairRow.pk)).where(col(PairRow.judged) > 0)))
            rule = list_to_judge(session, lead.person_id, judged)
            rows = session.execute(text("SELECT pk, query_pk FROM pair")).all()
        assert kept == rule, what
        assert kept.query_pks == {query_pk for pk, query_pk in rows if pk in kept}, what
        seen.append(frozenset(kept))
    assert len(set(seen)) > 6


def test_a_page_reads_them_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lead, hana = world.person("lead", "lead"), world.person("hana")
    with world.database.read() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        key = session.scalars(select(col(PairRow.key))).first()
    world.send(hana, world.event(str(key)))
    readings: list[object] = []
    read = disclosures._read_blind_pairs
    monkeypatch.setattr(
        disclosures, "_read_blind_pairs", lambda *given: (readings.append(given), read(*given))[1]
    )
    for _ in range(3):
        with world.database.read() as session:
            assert len(list_blind_pairs(session, dataset_pk, lead.person_id)) == 1
    assert len(readings) == 1
    for number in range(6):
        other = world.person(f"lead-{number}", "lead")
        with world.database.read() as session:
            assert len(list_blind_pairs(session, dataset_pk, other.person_id)) == 1
            assert len(session.info["kept"]) <= disclosures._KEPT_BLIND
    del readings[1:]
    with world.database.write() as session:  # nothing of a transaction that may be undone is kept
        assert len(list_blind_pairs(session, dataset_pk, lead.person_id)) == 1
    assert len(readings) == 2
