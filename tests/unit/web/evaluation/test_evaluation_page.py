"""The evaluation page as Streamlit runs it, without a browser: what it says, opens and refuses; and its files."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import altair  # noqa: F401  (imported before a page is timed)
import pytest

from annotator.domain.errors import InsufficientData, NotAllowed, NotFound
from annotator.domain.people import OPERATOR
from annotator.evaluation.evaluate import Evaluation
from annotator.evaluation.service import evaluate_dataset
from annotator.people.service import change_person
from annotator.pooling.rounds.pool_records import PoolRequest
from annotator.pooling.rounds.rounds_service import make_round
from annotator.pooling.service import list_pairs
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.evaluation.abilities_tab import COUNT
from annotator.web.evaluation.choice import EvaluationChoice, read_choice
from annotator.web.evaluation.downloads import write_figures
from annotator.web.evaluation.tables import QUERIES, TABLES, list_system_cells
from tests.contexts import GivenContext
from tests.databases import CopyWorld
from tests.integration.evaluated_world import EvaluatedWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import alternatives, headings, html_rows, links, open_page, run, words


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def world(copy_world: CopyWorld) -> EvaluatedWorld:
    return copy_world(EvaluatedWorld)


@pytest.fixture
def presses(world: EvaluatedWorld, monkeypatch: pytest.MonkeyPatch) -> EvaluatedWorld:
    """The world with the lead signed in when a button is pressed."""
    pressed = GivenContext(database=world.database, actor=world.lead, now=NOW)
    monkeypatch.setattr("annotator.web.evaluation.abilities_tab.find_context", lambda: pressed)
    return world


def test_without_a_run_the_page_says_how_to_import_one(database: Database) -> None:
    world = JudgedWorld(database)
    lead = world.person("lead", "lead")
    app = open_page(world, "evaluation", lead)
    assert headings(app) == ["Evaluation"]
    assert not app.code, "no command on a page"
    assert [page for page, _query in links(app)][-1].endswith("import")


def test_without_a_settled_grade_the_page_leads_to_what_to_do_next(
    database: Database, tmp_path: Path
) -> None:
    from tests.integration.scored_world import ScoredWorld

    world = ScoredWorld(database, tmp_path)
    world.rank("bm25", {"Q1": ["a"]})
    app = open_page(world, "evaluation", world.lead)
    assert "no pair has a settled grade" in words(app)
    assert links(app) == [("overview", "dataset=d")]


def test_the_systems_come_first_then_the_sentences_and_the_scores_with_their_readings(
    world: EvaluatedWorld,
) -> None:
    app = open_page(world, "evaluation", world.lead)
    assert headings(app) == ["Evaluation", "Scores", "Key results", "nDCG@10"]
    columns, bm25, dense, *further = html_rows(app)
    assert columns[:2] == ["system", "nDCG@10"] and (bm25[0], dense[0]) == ("bm25", "dense")
    assert re.fullmatch(r"0\.\d\d ?\[0\.\d\d, 1\.00\]", bm25[1]), bm25[1]
    assert "In brackets: 95" in words(app)
    assert "▼" not in words(app), "no difference is significant"
    columns, bm25, dense, *_ = further
    assert columns == [
        "system",
        "score",
        "from",
        "to",
        "judged",
        "condensed",
        "lowest possible",
        "highest possible",
        "queries",
    ]
    assert (bm25[0], dense[0], bm25[-1]) == ("bm25", "dense", "3")
    assert float(bm25[6]) <= float(bm25[1]) <= float(bm25[7])


def test_after_an_adaptive_round_the_expected_order_comes_before_the_scores(world: EvaluatedWorld) -> None:
    make_round(
        world.database, OPERATOR, "d", PoolRequest(strategy="adaptive", budget=5, measure="nDCG@5"), now=NOW
    )
    assert "Adaptive rounds" not in words(open_page(world, "evaluation", world.lead)), (
        "none of them is judged"
    )
    new = next(pair for pair in list_pairs(world.database, OPERATOR, "d") if pair.round is not None)
    world.both(new.query_id, new.doc_id, 0, 0)
    app = open_page(world, "evaluation", world.lead)
    assert headings(app)[2:5] == ["Key results", "Expected order", "nDCG@10"]
    assert "use their expected order by nDCG@5, which begins with" in words(app)
    rows = html_rows(app)
    _columns, first, second, *_ = rows[rows.index(["system", "expected nDCG@5"]) :]
    assert float(first[1]) >= float(second[1])


def test_a_measure_of_the_address_is_looked_at(world: EvaluatedWorld) -> None:
    app = open_page(world, "evaluation", world.lead, measure="RR")
    assert "RR" in headings(app)


def test_differences_are_a_forest_plot_in_words_with_their_verdicts(world: EvaluatedWorld) -> None:
    app = open_page(world, "evaluation", world.lead, tab="Differences")
    assert "Differences on nDCG@10" in headings(app)
    assert "bm25" in alternatives(app)[0] and "dense" in alternatives(app)[0]


def test_wins_ties_and_losses_are_counted_by_query(world: EvaluatedWorld) -> None:
    app = open_page(world, "evaluation", world.lead, tab="Differences")
    rows = html_rows(app)
    counts = rows[rows.index(["system", "compared with", "wins", "ties", "losses"]) + 1]
    assert counts[:2] == ["dense", "bm25"] and sum(map(int, counts[2:])) == 3


def test_the_table_of_queries_is_a_heat_map_and_leads_from_one_query_to_the_next(
    world: EvaluatedWorld,
) -> None:
    app = open_page(world, "evaluation", world.lead, tab="Query by query")
    assert 'style="background: #19616b' in words(app)
    rows = html_rows(app)
    first, second, third = [
        row[0] for row in rows[next(at for at, row in enumerate(rows) if row[:2] == ["query", "text"]) + 1 :]
    ]
    said = words(open_page(world, "evaluation", world.lead, query=second))
    assert f"Previous query ({first})" in said and f"Next query ({third})" in said
    said = words(open_page(world, "evaluation", world.lead, query=first))
    assert "Previous query" not in said and f"Next query ({second})" in said


def test_marks_and_digits_follow_the_intervals_and_the_tests() -> None:
    def system(name: str, score: float, reach: float) -> SimpleNamespace:
        summary = SimpleNamespace(
            score=SimpleNamespace(value=score), ci95=(score - reach, score + reach) if reach else None
        )
        return SimpleNamespace(system=name, measures={"AP": summary})

    def compare(a: str, b: str, difference: float, *, significant: bool) -> SimpleNamespace:
        return SimpleNamespace(a=a, b=b, measure="AP", difference=difference, significant=significant)

    evaluation = SimpleNamespace(
        systems=(system("low", 0.5, 0.004), system("best", 0.75, 0.02), system("near", 0.7, 0)),
        table=SimpleNamespace(measures=(SimpleNamespace(name="AP"),)),
        comparisons=(
            compare("low", "best", 0.25, significant=True),
            compare("best", "near", -0.05, significant=False),
            compare("low", "near", 0.2, significant=True),
        ),
        options=SimpleNamespace(baseline=None),
    )
    best = [["best", ["0.750", "[0.730, 0.770]"]], ["near", "0.700"], ["low", ["▼ 0.500", "[0.496, 0.504]"]]]
    assert list_system_cells(cast("Evaluation", evaluation)) == best
    evaluation.options.baseline = "low"
    compared = [cells[1] for cells in list_system_cells(cast("Evaluation", evaluation))]
    assert [str(cell[0] if isinstance(cell, list) else cell)[:1] for cell in compared] == ["▲", "▲", "0"]


def test_what_the_dataset_can_tell_names_the_order_under_each_annotators_grades(
    world: EvaluatedWorld,
) -> None:
    change_person(world.database, OPERATOR, "花子", name="Hanako", now=NOW)
    app = open_page(world, "evaluation", world.lead, tab="Reliability")
    assert headings(app)[3:] == [
        "What to judge next",
        "Which measures can rank these systems",
        "Smallest detectable difference in nDCG@10",
        "Stability of the order",
        "Score loss if a system had not been pooled",
    ]
    said = words(app)
    assert "Hanako" in said and "花子" not in said and "민준" in said
    assert "the highest grade for every disagreement" in said


def test_a_press_has_the_most_influential_documents_judged_and_says_how_many(presses: EvaluatedWorld) -> None:
    app = open_page(presses, "evaluation", presses.lead, tab="Reliability")
    result = evaluate_dataset(presses.database, presses.lead, "d", EvaluationChoice().make_request())
    need = result.evaluation.dataset.holes
    assert need is not None and len(need.holes) == 4
    before = list_pooled(presses)
    app.number_input(key=COUNT).set_value(2).run()
    app.button(key="judge-holes").click().run()
    chosen = {(hole.query_id, hole.doc_id) for hole in need.holes[:2]}
    assert list_pooled(presses) - before == chosen
    assert [item.value for item in app.success] == [
        "2 pairs were added to the pool. Annotators get these pairs like any other pair and see nothing about the systems."
    ]


def test_a_press_on_a_query_has_its_unjudged_documents_judged(presses: EvaluatedWorld) -> None:
    app = open_page(presses, "evaluation", presses.lead, query="Q1")
    assert "2 documents in these lists are unjudged and not yet in the pool." in words(app)
    before = list_pooled(presses)
    app.button(key="judge-query").click().run()
    assert list_pooled(presses) - before == {("Q1", "x"), ("Q1", "z")}
    assert "2 pairs were added to the pool." in app.success[0].value
    assert "not yet in the pool" not in words(app)


def list_pooled(world: EvaluatedWorld) -> set[tuple[str, str]]:
    return {(pair.query_id, pair.doc_id) for pair in list_pairs(world.database, world.lead, "d")}


def test_a_query_opens_the_ranked_lists_side_by_side_with_grades_as_numbers(world: EvaluatedWorld) -> None:
    app = open_page(world, "evaluation", world.lead, query="Q1", document="a")
    assert "Query Q1" in headings(app)
    said = words(app)
    assert 'aria-label="grade 3"' in said and ">unjudged</span>" in said
    assert "Relevant documents missing from all lists" in headings(app)
    assert "Only the id of this document is known." in said
    assert re.search(r"nDCG@10: bm25 0\.\d\d, dense 0\.\d\d\b", said)


def test_scores_of_a_query_that_the_lead_has_still_to_judge_are_not_shown(world: EvaluatedWorld) -> None:
    world.ask_for_more()
    other = world.person("other", "lead")
    app = open_page(world, "evaluation", other, query="Q2")
    assert "You still have to judge 2 pairs of this query" in words(app)
    assert "nDCG@10: bm25" not in words(app) and 'aria-label="grade' not in words(app)
    assert "ranks are hidden" in words(app) and not world.list_seen(other)
    app = open_page(world, "evaluation", other, tab="Query by query")
    assert "every query with a grade has a pair that you may still judge" in words(app)
    with pytest.raises(InsufficientData):
        write_figures(world.database, other, "d", EvaluationChoice(), QUERIES, None)


def test_the_button_that_includes_queries_is_below_the_sentence_that_says_they_are_left_out(
    world: EvaluatedWorld,
) -> None:
    world.judge(world.hanako, "Q3", "d", 1)
    app = open_page(world, "evaluation", world.lead)
    shown = [
        str(item.proto.body if item.type == "html" else item.label)
        for item in app.main
        if item.type in ("html", "button")
    ]
    at = next(number for number, text in enumerate(shown) if "left out of these figures" in text)
    assert shown[at + 1] == "Include them; I will not judge them"
    assert shown.count(shown[at + 1]) == 1


def test_a_lead_who_gives_the_pairs_of_a_query_up_sees_its_ranked_lists(world: EvaluatedWorld) -> None:
    world.ask_for_more()
    other = world.person("other", "lead")
    app = open_page(world, "evaluation", other, query="Q2")
    next(button for button in app.button if button.label == "Show them and judge these pairs no more").click()
    run(app)
    assert 'aria-label="grade 2"' in words(app) and "are hidden" not in words(app)
    assert world.list_seen(other) == {("Q2", "a"), ("Q2", "c")}


def test_two_releases_name_what_moved_and_by_which_grade(world: EvaluatedWorld) -> None:
    app = open_page(world, "evaluation", world.lead, tab="Two releases")
    said = words(app)
    assert "1 grade differs between 1.0.0 and 2.0.0." in said
    assert any("change" in row for row in html_rows(app))


def test_a_query_or_document_that_is_not_there_is_said_so(world: EvaluatedWorld) -> None:
    app = open_page(world, "evaluation", world.lead, query="Q9")
    assert app.info[0].value == "There is no query Q9."
    app = open_page(world, "evaluation", world.lead, query="Q1", document="nothing")
    assert app.info[0].value == "There is no document nothing."


@pytest.mark.parametrize("table", [*TABLES, QUERIES])
def test_every_table_is_a_file_for_leads_only(world: EvaluatedWorld, table: str) -> None:
    choice = EvaluationChoice(by=None)
    text = write_figures(world.database, world.lead, "d", choice, table, "nDCG@10")
    assert text or table == "groups"
    with pytest.raises(NotAllowed):
        write_figures(world.database, world.hanako, "d", choice, table, "nDCG@10")


def test_an_unknown_table_or_measure_is_not_found(world: EvaluatedWorld) -> None:
    with pytest.raises(NotFound, match="no table 'x'"):
        write_figures(world.database, world.lead, "d", EvaluationChoice(), "x", None)
    with pytest.raises(NotFound, match="no measure 'x'"):
        write_figures(world.database, world.lead, "d", EvaluationChoice(), "scores", "x")


def test_an_address_says_the_whole_choice() -> None:
    from starlette.datastructures import QueryParams

    choice = EvaluationChoice("1.0.0", "law", ("P@5", "MAP"), ("a b", "&c"), "a b", "category")
    assert read_choice(QueryParams(choice.list_url_parameters())) == choice
    assert read_choice(QueryParams([])) == EvaluationChoice()


def test_the_json_file_is_what_the_command_writes(world: EvaluatedWorld) -> None:
    from jsonschema import validate

    from annotator.evaluation.reports.json_and_csv import SCHEMA
    from tests.unit.web.evaluation.files import get_file

    answer = get_file(world, world.lead, "/api/evaluation/report", {"dataset": "d"})
    assert answer.status_code == 200
    report = answer.json()
    validate(report, json.loads(SCHEMA.read_text()))
    assert [system["system"] for system in report["systems"]] == ["bm25", "dense"]


@pytest.mark.parametrize("path", ["figures?table=scores", "scores?", "report?"])
def test_no_file_is_given_to_an_annotator(world: EvaluatedWorld, path: str) -> None:
    from tests.unit.web.evaluation.files import get_file

    name, _, query = path.partition("?")
    parameters = {"dataset": "d", **dict(part.split("=") for part in query.split("&") if part)}
    assert get_file(world, world.hanako, f"/api/evaluation/{name}", parameters).status_code == 403
    assert get_file(world, world.lead, f"/api/evaluation/{name}", parameters).status_code == 200
