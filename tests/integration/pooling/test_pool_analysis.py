"""What the page Pool shows: status, systems, sets, relevance by rank, pages of pairs and rounds; on both databases."""

from dataclasses import replace
from typing import Any

import pytest

from annotator.domain.errors import NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR
from annotator.pooling.analysis.pool_analysis import PairCount, PairFilter
from annotator.pooling.analysis.pool_analysis_service import (
    iterate_left_out,
    list_left_out_page,
    list_pair_page,
    show_contents,
    show_depth,
    show_pair,
    show_rounds,
)
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.pooled_world import PooledWorld


def list_pairs(world: PooledWorld, **chosen: Any) -> list[tuple[str, str]]:
    page = list_pair_page(world.database, OPERATOR, "d", PairFilter(**chosen))
    assert page.total == len(page.pairs)
    return [(pair.query_id, pair.doc_id) for pair in page.pairs]


@pytest.fixture
def world(copy_world: CopyWorld) -> PooledWorld:
    return copy_world(PooledWorld)


def test_systems_are_counted_with_what_they_alone_brought_and_how_much_is_relevant(
    world: PooledWorld,
) -> None:
    contents = show_contents(world.database, OPERATOR, "d")
    shares = {share.system: share for share in contents.systems}
    assert (shares["s1"].proposed, shares["s1"].alone) == (
        PairCount(3, 2, 1),
        PairCount(1, 1, 0),
    )
    assert (shares["imp"].deepest, shares["imp"].proposed, shares["imp"].alone) == (
        None,
        PairCount(2, 1, 1),
        PairCount(1, 0, 0),
    )
    assert shares["s0"].deepest == 2, "ranks from 0 are counted from 1"
    assert contents.statuses == {
        "unjudged": 1,
        "unrateable": 0,
        "imported": 0,
        "single": 0,
        "unanimous": 3,
        "disagreement": 1,
        "reopened": 0,
        "adjudicated": 0,
    }


def test_every_pair_is_in_one_set_of_systems(world: PooledWorld) -> None:
    contents = show_contents(world.database, OPERATOR, "d")
    assert [(set(item.systems), item.others, item.counted) for item in contents.sets] == [
        ({"s0", "s1"}, False, PairCount(2, 1, 1)),
        ({"imp"}, False, PairCount(1, 0, 0)),
        ({"imp", "s0"}, False, PairCount(1, 1, 1)),
        ({"s1"}, False, PairCount(1, 1, 0)),
    ]


def test_systems_that_the_picture_does_not_name_are_counted_together(world: PooledWorld) -> None:
    for number in range(13):
        world.pair("Q2", f"x{number}")
        world.propose("Q2", f"x{number}", {f"t{number:02}": 1, "s1": 2})
    contents = show_contents(world.database, OPERATOR, "d")
    assert len(contents.drawn) == 12
    assert sum(item.counted.pairs for item in contents.sets) == contents.pairs == 18
    (hidden,) = [item for item in contents.sets if item.systems == ("s1",) and item.others]
    assert hidden.counted.pairs == 4
    alone = {share.system: share.alone.pairs for share in contents.systems}
    assert (alone["s1"], alone["imp"], alone["t12"]) == (1, 1, 0)


def test_a_pair_counts_at_its_best_rank_and_what_nobody_ranked_is_apart(world: PooledWorld) -> None:
    report = show_depth(world.database, OPERATOR, "d")
    assert [(share.first, share.last, share.counted) for share in report.overall] == [
        (1, 1, PairCount(2, 1, 1)),
        (2, 2, PairCount(2, 2, 1)),
    ]
    assert report.unranked == 1
    assert [share.counted for share in report.by_system["s0"]] == [PairCount(2, 1, 1), PairCount(1, 1, 1)]
    assert [share.counted for share in report.by_system["s1"]] == [PairCount(1, 1, 1), PairCount(2, 1, 0)]
    assert report.verdict is not None
    assert (report.verdict.state, report.verdict.last_ranks.counted) == ("too few", PairCount(2, 2, 1))
    assert {name: verdict.last_ranks.counted for name, verdict in report.categories.items()} == {
        "設定": PairCount(1, 1, 0),
        "법": PairCount(1, 1, 1),
    }


def test_a_pool_without_ranks_has_no_depth(database: Database) -> None:
    world = JudgedWorld(database)
    world.query("Q1", "検索")
    assert show_depth(database, OPERATOR, "d").verdict is None


def test_pairs_are_listed_in_order_by_page(world: PooledWorld) -> None:
    every = [("Q2", "a"), ("Q2", "b"), ("Q1", "c"), ("Q1", "d"), ("Q1", "e_1")]
    assert list_pairs(world) == every
    for start in range(6):
        page = list_pair_page(world.database, OPERATOR, "d", PairFilter(), start=start, most=2)
        assert [(pair.query_id, pair.doc_id) for pair in page.pairs] == every[start : start + 2]
        assert page.total == 5
    (first,) = list_pair_page(world.database, OPERATOR, "d", PairFilter(), most=1).pairs
    assert (first.status, first.title, first.category) == ("unanimous", "題 a", "設定")
    assert [(by.system, by.rank, by.score, by.signals) for by in first.provenance] == [
        ("s0", 0, 0.5, {"벡터": 1}),
        ("s1", 1, 0.5, {"벡터": 1}),
    ]


@pytest.mark.parametrize(
    ("chosen", "listed"),
    [
        ({"status": "disagreement"}, ["c"]),
        ({"status": "adjudicated"}, []),
        ({"system": "s0"}, ["a", "c", "d"]),
        ({"system": "s1", "alone": True}, ["b"]),
        ({"system": "s1", "status": "unanimous"}, ["a", "b"]),
        ({"text": "E_"}, ["e_1"]),
        ({"text": "題 d"}, ["d"]),
        ({"text": "%"}, []),
        ({"text": "q2", "status": "unanimous"}, ["a", "b"]),
        ({"number": 1}, ["c", "d"]),
        ({"number": 2}, []),
    ],
)
def test_pairs_are_chosen_by_status_system_round_and_text(
    world: PooledWorld, chosen: dict[str, Any], listed: list[str]
) -> None:
    world.add_round()
    assert [doc_id for _, doc_id in list_pairs(world, **chosen)] == listed


def test_a_round_shows_what_it_brought_and_left_out(world: PooledWorld) -> None:
    world.add_round()
    rounds, counts, groups = show_rounds(world.database, OPERATOR, "d")
    assert [(item.number, item.strategy, item.options) for item in rounds] == [
        (1, "stratified", {"depth": 3})
    ]
    assert counts[1] == PairCount(2, 1, 1)
    assert [(group.rule, group.candidates) for group in groups] == [
        ("min-length:100", 1),
        ("near-duplicate", 1),
    ]
    page = list_left_out_page(world.database, OPERATOR, "d", 1, "near-duplicate")
    (candidate,) = page.candidates
    assert (page.total, candidate.query_id, candidate.doc_id, candidate.title, candidate.kept_doc_id) == (
        1,
        "Q1",
        "a",
        "題 a",
        "d",
    )
    assert candidate.pair == pair_key("d", "Q1", "d")
    assert not list_left_out_page(world.database, OPERATOR, "d", 2, "near-duplicate").total
    assert [item.doc_id for item in iterate_left_out(world.database, OPERATOR, "d")] == ["b", "a"]


def test_a_pair_shows_how_it_was_drawn_and_what_it_stands_for(world: PooledWorld) -> None:
    world.add_round()
    drawn = show_pair(world.database, OPERATOR, "d", pair_key("d", "Q1", "c"), now=NOW)
    assert (drawn.pair.number, drawn.stratum, drawn.inclusion) == (1, "2-3", 0.25)
    stands = show_pair(world.database, OPERATOR, "d", pair_key("d", "Q1", "d"), now=NOW)
    assert [item.doc_id for item in stands.duplicates] == ["a"]
    assert replace(stands.pair, provenance=()).status == "unanimous"
    with pytest.raises(NotFound, match="no pair 'x'"):
        show_pair(world.database, OPERATOR, "d", "x", now=NOW)


def test_an_unknown_status_is_refused(world: PooledWorld) -> None:
    with pytest.raises(ValidationError, match="status: expected one of unjudged"):
        list_pair_page(world.database, OPERATOR, "d", PairFilter(status="x"))


def test_only_leads_see_any_of_it(world: PooledWorld) -> None:
    annotator = world.person("third")
    pair = pair_key("d", "Q1", "c")
    for ask in (
        lambda: show_contents(world.database, annotator, "d"),
        lambda: show_depth(world.database, annotator, "d"),
        lambda: list_pair_page(world.database, annotator, "d", PairFilter()),
        lambda: show_pair(world.database, annotator, "d", pair, now=NOW),
        lambda: show_rounds(world.database, annotator, "d"),
        lambda: list_left_out_page(world.database, annotator, "d", 1, "near-duplicate"),
        lambda: iterate_left_out(world.database, annotator, "d"),
    ):
        with pytest.raises(NotAllowed):
            ask()
