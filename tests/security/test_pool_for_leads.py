"""Annotators never reach how the pool was made: no rounds, strata, probabilities, near-duplicate grades or suggestions."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from starlette.testclient import TestClient
from streamlit.runtime import Runtime

from annotator.domain.errors import NotAllowed
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.service import submit_judgments
from annotator.people.service import add_person
from annotator.pooling.analysis.pool_analysis_service import (
    iterate_left_out,
    list_left_out_page,
    read_stamp,
    show_contents,
    show_depth,
    show_rounds,
)
from annotator.pooling.duplicates.duplicates_service import (
    accept_duplicates,
    list_duplicates,
    show_duplicates,
)
from annotator.pooling.proposals.proposals_service import list_proposals
from annotator.pooling.rounds.pool_records import PoolRequest
from annotator.pooling.rounds.rounds_service import (
    list_pair_probabilities,
    list_pool_rounds,
    make_round,
)
from annotator.pooling.service import list_pairs, list_round_choices
from annotator.pooling.suggestions.suggestions_service import report_suggestions
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.app import make_app
from annotator.web.navigation import PAGES
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW
from tests.integration.pooled_world import PooledWorld

PASSWORD = "correct horse 電池 staple"
CALLS: dict[str, Callable[[Database, Actor], Any]] = {
    "preview": lambda d, a: make_round(d, a, "d", PoolRequest(depth=1), now=NOW, dry_run=True),
    "round": lambda d, a: make_round(d, a, "d", PoolRequest(depth=1), now=NOW),
    "choices": lambda d, a: list_round_choices(d, a, "d"),
    "rounds": lambda d, a: list_pool_rounds(d, a, "d"),
    "rounds page": lambda d, a: show_rounds(d, a, "d"),
    "contents": lambda d, a: show_contents(d, a, "d"),
    "depth": lambda d, a: show_depth(d, a, "d"),
    "stamp": lambda d, a: read_stamp(d, a, "d"),
    "probabilities": lambda d, a: list_pair_probabilities(d, a, "d"),
    "left out": lambda d, a: list(iterate_left_out(d, a, "d")),
    "left out page": lambda d, a: list_left_out_page(d, a, "d", 1, "near-duplicate"),
    "pairs": lambda d, a: list_pairs(d, a, "d"),
    "near duplicates": lambda d, a: list_duplicates(d, a, "d", now=NOW),
    "near duplicates without grades": lambda d, a: show_duplicates(d, a, "d", now=NOW),
    "accepting": lambda d, a: accept_duplicates(d, a, "d", now=NOW),
    "suggestions": lambda d, a: report_suggestions(d, a, "d", now=NOW),
    "proposals": lambda d, a: list_proposals(d, a, "d", now=NOW),
}


def make_world(database: Database) -> PooledWorld:
    made = PooledWorld(database)
    made.add_round()
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> PooledWorld:
    return copy_world(make_world)


@pytest.mark.parametrize("call", CALLS)
def test_a_service_of_the_pool_refuses_annotators(world: PooledWorld, call: str) -> None:
    with pytest.raises(NotAllowed):
        CALLS[call](world.database, world.person("third"))


def test_a_pair_that_is_handed_out_says_nothing_of_its_round(world: PooledWorld) -> None:
    third = world.person("third")
    handed = submit_judgments(world.database, third, "d", events=[], have=[], want=9, now=NOW).pairs
    assert handed
    text = json.dumps([asdict(pair) for pair in handed], default=str, ensure_ascii=False)
    for word in (
        "stratum",
        "inclusion",
        "0.25",
        "2-3",
        "stratified",
        "near-duplicate",
        "suggest",
        "provenance",
        "s1",
    ):
        assert word not in text, word


def test_the_page_and_the_file_of_what_was_left_out_are_closed_to_annotators(world: PooledWorld) -> None:
    add_person(world.database, OPERATOR, "ann", role="annotator", dataset="d", password=PASSWORD, now=NOW)
    (page,) = [page for page in PAGES if page.address == "pool"]
    assert not page.is_open_to("annotator") and page.is_open_to("lead")
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(
        make_app(world.database, Settings()),
        follow_redirects=False,
        headers={"Referer": "http://testserver/"},
    ) as client:
        assert client.post("/login", data={"username": "ann", "password": PASSWORD}).status_code == 303
        answer = client.get("/api/pool/left-out", params={"dataset": "d"})
        assert answer.status_code == 403 and "near-duplicate" not in answer.text
    Runtime._instance = None
