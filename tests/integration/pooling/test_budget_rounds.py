"""A budget is spent on what is judged so far, round by round; on both databases."""

import json
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.people import OPERATOR
from annotator.evaluation.service import EvaluationRequest, evaluate_dataset
from annotator.pooling.filters.filters import PoolFilters
from annotator.pooling.rounds.pool_records import PoolReport, PoolRequest
from annotator.pooling.rounds.rounds_service import STORING, list_pool_rounds, make_round
from annotator.pooling.service import list_pairs
from annotator.storage.database import Database
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW
from tests.integration.pooling.test_pooling import Pool, _run

LATER = NOW + timedelta(days=1)
DOCUMENTS = [f"doc {number:02}" for number in range(12)]


def make_world(database: Database) -> Pool:
    """Two systems over two queries of two categories: they agree on the first documents, and not on the others."""
    made = Pool(database)
    made.query("Q4", "a", category="law")
    made.query("Q5", "b", category="law")
    made.query("Q6", "c", category="survey")
    for doc_id in DOCUMENTS:
        made.document(doc_id, f"text of {doc_id}")
    for system, order in (("s1", DOCUMENTS), ("s2", DOCUMENTS[:2] + DOCUMENTS[:1:-1])):
        made.run(system, dict.fromkeys(("Q4", "Q5", "Q6"), order[:10]))
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> Pool:
    return copy_world(make_world)


def pool(world: Pool, *, dry_run: bool = False, **request: Any) -> PoolReport:
    return make_round(world.database, OPERATOR, "d", PoolRequest(**request), now=LATER, dry_run=dry_run)


def listed(world: Pool) -> dict[tuple[str, str], str]:
    return {(pair.query_id, pair.doc_id): pair.status for pair in list_pairs(world.database, OPERATOR, "d")}


@pytest.mark.parametrize("strategy", ["move-to-front", "adaptive"])
def test_a_budget_buys_so_many_pairs_and_the_next_ones_when_these_are_judged(
    world: Pool, strategy: str
) -> None:
    ann = world.person("ann")
    report = pool(world, strategy=strategy, budget=6)
    assert (report.new, report.round, report.waiting) == (6, 1, 0)
    again = pool(world, strategy=strategy, budget=6)
    assert (again.new, again.round, again.waiting) == (0, None, 6)
    before = listed(world)
    for query_id, doc_id in list(before)[:4]:
        world.judge(ann, query_id, doc_id, 3)
    further = pool(world, strategy=strategy, budget=6)
    assert (further.new, further.round, further.waiting) == (4, 2, 2)
    after = listed(world)
    assert len(after) == 10 and before.keys() <= after.keys()
    (first, second) = list_pool_rounds(world.database, OPERATOR, "d")
    assert (first.strategy, first.pairs, second.pairs) == (strategy, 6, 4)
    assert (first.options["budget"], first.options["seed"]) == (6, 0)


def test_two_rounds_at_once_never_spend_the_same_budget_twice(world: Pool) -> None:
    def let_another_round_in(step: str, share: float) -> None:
        if (step, share) == (STORING, 0.0):
            pool(world, strategy="move-to-front", budget=6)

    request = PoolRequest(strategy="adaptive", budget=6)
    with pytest.raises(StateError, match="another round has spent a budget in the meantime"):
        make_round(world.database, OPERATOR, "d", request, now=LATER, progress=let_another_round_in)
    assert len(listed(world)) == 6
    assert len(list_pool_rounds(world.database, OPERATOR, "d")) == 1


def test_a_round_that_is_stopped_before_it_is_stored_leaves_nothing(world: Pool) -> None:
    def stop(step: str, _share: float) -> None:
        if step == STORING:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        make_round(world.database, OPERATOR, "d", PoolRequest(depth=3), now=LATER, progress=stop)
    assert not listed(world) and not list_pool_rounds(world.database, OPERATOR, "d")


def test_move_to_front_takes_the_first_of_the_lists_first(world: Pool) -> None:
    pool(world, strategy="move-to-front", budget=3)
    assert {doc_id for _, doc_id in listed(world)} == {DOCUMENTS[0]}


def test_a_budget_per_category_is_spent_in_each(world: Pool) -> None:
    report = pool(world, strategy="move-to-front", per_category=4)
    assert report.new == 8, "the queries without a category have no candidate"
    queries = [query_id for query_id, _ in listed(world)]
    assert (queries.count("Q6"), queries.count("Q4") + queries.count("Q5")) == (4, 4)
    assert pool(world, strategy="move-to-front", per_category=4).new == 0
    assert pool(world, strategy="move-to-front", per_category=5).new == 2


def test_an_adaptive_round_says_what_is_open_and_keeps_it(world: Pool) -> None:
    ann = world.person("ann")
    first = pool(world, strategy="adaptive", budget=8, measure="nDCG@5").order
    assert first is not None and (first.judged, first.compared, first.measure) == (0, 1, "nDCG@5")
    assert {item.system for item in first.systems} == {"s1", "s2"}
    for doc_id in DOCUMENTS[2:6]:
        for query_id in ("Q4", "Q5", "Q6"):
            world.pair(query_id, doc_id)
            world.judge(ann, query_id, doc_id, 3)
    for doc_id in DOCUMENTS[8:]:
        for query_id in ("Q4", "Q5", "Q6"):
            world.pair(query_id, doc_id)
            world.judge(ann, query_id, doc_id, 0)
    order = pool(world, strategy="adaptive", budget=8, measure="nDCG@5", dry_run=True).order
    assert order is not None
    assert [item.system for item in order.systems] == ["s1", "s2"], "s1 ranks what is relevant first"
    assert order.judged == 24 and order.systems[0].score > order.systems[1].score
    (made,) = list_pool_rounds(world.database, OPERATOR, "d")
    assert made.figures["order"] == json.loads(json.dumps(asdict(first)))


def test_an_evaluation_shows_the_order_that_the_next_adaptive_round_would_report(
    world: Pool, tmp_path: Path
) -> None:
    ann = world.person("ann")
    world.document("short", "x")
    world.run("s3", {"Q4": ["short", DOCUMENTS[0]]})
    request = {"strategy": "adaptive", "budget": 8, "measure": "nDCG@5", "depth": 8}
    request["filters"] = PoolFilters(min_length=5)
    pool(world, depth=1)
    for query_id, doc_id in listed(world):
        world.judge(ann, query_id, doc_id, 0)
    judged = listed(world)
    pool(world, **request)
    result = evaluate_dataset(world.database, OPERATOR, "d", EvaluationRequest())
    assert result.expected_order is None, "no pair of the round is judged yet"
    for query_id, doc_id in sorted(listed(world).keys() - judged.keys()):
        world.judge(ann, query_id, doc_id, 3 if doc_id in DOCUMENTS[2:6] else 0)
    report = pool(world, **request, dry_run=True).order
    assert report is not None and report.judged == len(judged) + 8
    result = evaluate_dataset(world.database, OPERATOR, "d", EvaluationRequest())
    assert result.expected_order == report
    assert "use their expected order by nDCG@5, which begins with" in str(result.evaluation.sentences[0])
    one = evaluate_dataset(world.database, OPERATOR, "d", EvaluationRequest(), systems=["s2"]).expected_order
    assert one is not None and [item.system for item in one.systems] == ["s2"]
    shown = _run(world, "evaluate", "d").stdout
    table = report.tabulate()
    for shown_line in (table.title, table.columns[1], *table.rows[0], table.note):
        assert str(shown_line) in shown
    files = {option: tmp_path / f"report{option}" for option in ("--markdown", "--html")}
    _run(world, "evaluate", "d", *(str(word) for option in files.items() for word in option))
    for path in files.values():
        report_text = path.read_text(encoding="utf-8")
        assert report_text.index(str(table.title)) < report_text.index("Scores")
        assert all(str(shown_line) in report_text for shown_line in (table.columns[1], table.note))
    rows = [f"| {system} | {score} |" for system, score in table.rows]
    assert "\n".join(rows) in files["--markdown"].read_text(encoding="utf-8")
    kept = json.loads(_run(world, "evaluate", "d", "--json").stdout)["expected_order"]
    assert kept == json.loads(json.dumps(asdict(report)))


def test_an_evaluation_of_a_pool_without_adaptive_rounds_has_no_expected_order(world: Pool) -> None:
    ann = world.person("ann")
    pool(world, depth=2)
    for query_id, doc_id in listed(world):
        world.judge(ann, query_id, doc_id, 1)
    assert evaluate_dataset(world.database, OPERATOR, "d", EvaluationRequest()).expected_order is None
    assert "expected_order" not in json.loads(_run(world, "evaluate", "d", "--json").stdout)


def test_the_order_in_which_runs_came_does_not_change_what_is_chosen(world: Pool) -> None:
    chosen = pool(world, strategy="adaptive", budget=5, systems=("s1", "s2"), dry_run=True)
    turned = pool(world, strategy="adaptive", budget=5, systems=("s2", "s1"), dry_run=True)
    assert chosen == turned


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"strategy": "move-to-front"}, "budget: expected a number of pairs, in all or per category"),
        ({"strategy": "adaptive", "budget": 1, "per_category": 1}, "budget: expected a number of pairs"),
        (
            {"depth": 3, "budget": 5},
            "budget: it goes with move-to-front and adaptive, found the strategy depth",
        ),
        ({"strategy": "adaptive", "budget": 0}, "budget: expected 1 to 10,000,000, found 0"),
        (
            {"strategy": "adaptive", "budget": 5, "measure": "MRR"},
            r"measure: expected nDCG@k, P@k or AP, found MRR",
        ),
    ],
)
def test_budgets_that_make_no_sense_are_refused(world: Pool, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        pool(world, **request_)
    assert listed(world) == {}


def test_the_command_spends_a_budget_and_says_what_is_open(world: Pool) -> None:
    shown = _run(world, "pool", "d", "--budget", "4").stdout
    assert "Made 4 new pairs; 0 were there already. Round 1." in shown
    shown = _run(world, "pool", "d", "--budget", "6", "--adaptive").stdout
    assert "Made 2 new pairs; 0 were there already. Round 2." in shown
    assert "4 pairs of earlier budget rounds, not judged yet, count towards the budget." in shown
    assert "The systems' expected order by nDCG@10, from 0 settled candidates." in shown
    assert "tau" not in shown and "standard error" not in shown
    assert "of 1 pair of systems could still swap." in shown
    refused = _run(world, "pool", "d", "--holes", "--budget", "3")
    assert (refused.exit_code, "--holes goes with" in refused.stderr) == (2, True)
