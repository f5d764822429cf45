"""Pairs by relations between documents: what they are made from, what they change, and how often they were right."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlmodel import col
from typer.testing import CliRunner

from annotator.adjudication.history.history_service import read_pair_history
from annotator.cli.main import app
from annotator.domain.errors import BadInput, NotAllowed, StateError
from annotator.domain.people import OPERATOR, Actor
from annotator.formats.input_tables import read_relation_lines
from annotator.importing.judgments.judgments_service import import_qrels
from annotator.pooling.rounds.rounds_sql import list_pair_rounds, list_rounds
from annotator.pooling.service import list_pairs
from annotator.pooling.suggestions import suggestions_service
from annotator.pooling.suggestions.suggestion_rules import SuggestionReport, SuggestReport, read_rules
from annotator.pooling.suggestions.suggestions_service import report_suggestions, suggest_from
from annotator.releases.gates_service import check_release
from annotator.storage.database import Database
from annotator.storage.pairs.pair_states import list_suggestions
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.central import ImportedQrelRow, PairRow, ProvenanceRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=1)
RELATIONS = """from,to,relation
법률_제17조,법률_제18조,sibling
법률_제17조,시행령_제13조,decree
법률_제17조,법률_제50조,reference
법률_제50조,법률_제60조,reference
"""
RULES = """rules:
- {relation: sibling, follow: both, grade: 2}
- {relation: decree, grade: 2}
- {relation: reference, grade: 1}
"""


class Laws(JudgedWorld):
    """Two queries over five articles; for Q1 two annotators agreed on grade 3 for 법률_제17조, on 2 for 법률_제18조."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database)
        self.folder = folder
        self.ann, self.bea, self.lea = self.person("ann"), self.person("bea"), self.person("lea", "lead")
        self.query("Q1", "용도지역")
        self.query("Q2", "광역도시계획")
        self.pair("Q1", "법률_제17조", text="§17")
        self.pair("Q1", "법률_제18조", text="§18")
        for doc_id in ("시행령_제13조", "법률_제50조", "법률_제60조"):
            self.pair("Q2", doc_id, text=doc_id)
        for actor in (self.ann, self.bea):
            self.judge(actor, "Q1", "법률_제17조", 3)
            self.judge(actor, "Q1", "법률_제18조", 2)
        self.relations, self.rules = folder / "relations.csv", folder / "rules.yaml"
        self.relations.write_text(RELATIONS, encoding="utf-8")
        self.rules.write_text(RULES, encoding="utf-8")

    def suggest(self, actor: Actor = OPERATOR, **options: Any) -> SuggestReport:
        lines = read_relation_lines(self.relations)
        rules = read_rules(str(self.rules), (line.relation for line in lines))
        source, options = str(self.relations), {"now": LATER, **options}
        return suggest_from(self.database, actor, "d", lines, rules, source, **options)

    def report(self) -> SuggestionReport:
        return report_suggestions(self.database, OPERATOR, "d", now=LATER)

    def judge_both(self, doc_id: str, grade: int, query_id: str = "Q1") -> None:
        for actor in (self.ann, self.bea):
            self.judge(actor, query_id, doc_id, grade)

    def count(self) -> tuple[int, ...]:
        with self.database.read() as session:
            rows = (PairRow, ProvenanceRow, ImportedQrelRow)
            return tuple(session.scalar(select(func.count()).select_from(row)) or 0 for row in rows)


@pytest.fixture
def world(copy_world: CopyWorld) -> Laws:
    return copy_world(Laws)


def test_the_rules_lead_from_grade_3_to_new_pairs(world: Laws) -> None:
    report = world.suggest()
    assert (report.queries, report.settled_documents, report.new_pairs, report.suggestions) == (1, 1, 2, 2)
    by_rule = {counts.rule: counts for counts in report.rules}
    assert (by_rule["decree"].new, by_rule["reference"].new) == (1, 1)
    sibling = by_rule["sibling"]
    assert (sibling.new, sibling.judged_before, sibling.settled_before, sibling.exact_before) == (0, 1, 1, 1)
    pairs = {(pair.query_id, pair.doc_id): pair for pair in list_pairs(world.database, OPERATOR, "d")}
    assert [by.system for by in pairs["Q1", "시행령_제13조"].provenance] == ["relation: decree"]
    assert [by.system for by in pairs["Q1", "법률_제18조"].provenance] == ["bm25", "relation: sibling"]
    assert pairs["Q1", "시행령_제13조"].status == "unjudged"
    assert ("Q1", "법률_제60조") not in pairs, "only from grade 3"


def test_new_pairs_come_in_a_round_of_their_own(world: Laws) -> None:
    assert world.suggest().round == 1
    assert world.suggest().round is None
    with world.database.read() as session:
        (stored,) = list_rounds(session, world.dataset_pk)
        assert (stored.strategy, stored.pairs, stored.made_by) == ("relations", 2, None)
        assert stored.figures["new_by_rule"] == {"sibling": 0, "decree": 1, "reference": 1}
        assert set(list_pair_rounds(session, world.dataset_pk).values()) == {1}


def test_the_same_suggestions_twice_change_nothing(world: Laws) -> None:
    world.suggest()
    before = world.count()
    again = world.suggest()
    assert (again.new_pairs, again.suggestions) == (0, 0)
    assert {counts.rule: counts.suggested_before for counts in again.rules} == {
        "sibling": 0,
        "decree": 1,
        "reference": 1,
    }
    assert world.count() == before


def test_a_dry_run_counts_the_same_and_stores_nothing(world: Laws) -> None:
    before = world.count()
    dry = world.suggest(dry_run=True)
    assert world.count() == before
    wet = world.suggest()
    assert (dry.new_pairs, dry.suggestions, dry.rules) == (wet.new_pairs, wet.suggestions, wet.rules)


def test_a_pair_of_the_pool_that_nobody_has_judged_gets_the_suggestion(world: Laws) -> None:
    world.pair("Q1", "법률_제50조")
    report = world.suggest()
    assert report.new_pairs == 1 and report.suggestions == 2
    assert {counts.rule: counts.waiting for counts in report.rules}["reference"] == 1


def test_what_is_judged_while_suggestions_are_computed_is_heeded_and_nobody_waits(
    world: Laws, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.pair("Q1", "법률_제50조")
    plan = suggestions_service._plan

    def judge_meanwhile(*values: Any) -> Any:
        planned = plan(*values)
        monkeypatch.setattr(suggestions_service, "_plan", plan)
        world.judge_both("법률_제50조", 0)  # on SQLite this would wait for the lock of the suggestions
        return planned

    monkeypatch.setattr(suggestions_service, "_plan", judge_meanwhile)
    report = world.suggest()
    assert (report.new_pairs, report.suggestions) == (1, 1), "the decree only"
    reference = {counts.rule: counts for counts in report.rules}["reference"]
    assert (reference.waiting, reference.settled_before) == (0, 1)


def test_pairs_that_change_again_and_again_are_computed_under_the_lock(
    world: Laws, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[bool] = []
    monkeypatch.setattr(suggestions_service, "_is_current", lambda *_: checked.append(False))
    assert (world.suggest().new_pairs, len(checked)) == (2, suggestions_service.ATTEMPTS)
    assert world.count()[0] == 7


def test_a_suggestion_settles_nothing_and_is_in_no_figure_of_agreement(world: Laws) -> None:
    def measure() -> dict[str, float | None]:
        gates = check_release(world.database, OPERATOR, "d").gates
        return {gate.name: gate.measured for gate in gates if gate.name in ("kappa", "adjudication")}

    before = measure()
    world.suggest()
    unjudged = list_pairs(world.database, OPERATOR, "d", status="unjudged")
    assert {("Q1", "시행령_제13조"), ("Q1", "법률_제50조")} <= {
        (pair.query_id, pair.doc_id) for pair in unjudged
    }
    assert measure() == before and before


def test_a_suggested_pair_that_became_grade_3_leads_further(world: Laws) -> None:
    world.suggest()
    world.judge_both("법률_제50조", 3)
    assert world.suggest().new_pairs == 1
    assert pair_key("d", "Q1", "법률_제60조") in {
        pair.pair for pair in list_pairs(world.database, OPERATOR, "d")
    }


def test_the_report_says_how_often_each_rule_was_right(world: Laws) -> None:
    world.suggest()
    world.judge_both("시행령_제13조", 2)
    world.judge_both("법률_제50조", 0)
    rules = {accuracy.rule: accuracy for accuracy in world.report().rules}
    assert (rules["decree"].exact.share, rules["decree"].relevant.share) == (1.0, 1.0)
    assert (rules["reference"].exact.count, rules["reference"].relevant.count) == (0, 0)
    assert rules["reference"].settled_at == {0: 1, 1: 0, 2: 0, 3: 0}
    assert "sibling" not in rules, "it was judged before: no suggestion was made"


def test_a_suggestion_whose_ground_was_revised_is_named(world: Laws) -> None:
    world.suggest()
    world.add_decision(world.lea, "Q1", "법률_제17조", 1)
    report = world.report()
    assert [pair.outdated for pair in report.pairs] == [True, True]
    assert [accuracy.outdated for accuracy in report.rules] == [1, 1]
    again = world.suggest()
    assert again.outdated == 2 and again.new_pairs == 0


def test_a_rule_with_another_grade_suggests_anew_and_the_latest_counts(world: Laws) -> None:
    world.suggest()
    world.rules.write_text(RULES.replace("relation: decree, grade: 2", "relation: decree, grade: 1"))
    report = world.suggest()
    assert (report.new_pairs, report.suggestions) == (0, 1)
    assert {accuracy.rule: accuracy.grade for accuracy in world.report().rules} == {
        "decree": 1,
        "reference": 1,
    }


def test_an_earlier_ground_truth_is_kept_beside_a_suggestion(world: Laws, tmp_path: Path) -> None:
    """A grade brought in later settles the pair; a suggestion before or after it changes nothing of that."""
    world.suggest()
    qrels = tmp_path / "qrels.csv"
    qrels.write_text("query_id,doc_id,grade\nQ1,시행령_제13조,1\n", encoding="utf-8")
    import_qrels(world.database, OPERATOR, "d", qrels, now=LATER + timedelta(hours=1))
    world.suggest(now=LATER + timedelta(hours=2))
    pairs = {(pair.query_id, pair.doc_id): pair.status for pair in list_pairs(world.database, OPERATOR, "d")}
    assert pairs["Q1", "시행령_제13조"] == "imported"
    rules = {accuracy.rule: accuracy for accuracy in world.report().rules}
    assert rules["decree"].settled_at[1] == 1


def test_a_suggestion_is_no_grade_that_new_document_ids_would_carry_on(world: Laws) -> None:
    world.suggest()
    with world.database.read() as session:
        assert list_suggestions(session, world.dataset_pk) == {}
        rows = session.scalars(select(ImportedQrelRow).where(~col(ImportedQrelRow.keep))).all()
    assert {row.source["kind"] for row in rows} == {"relation"}


def test_the_history_of_a_pair_names_the_rule(world: Laws) -> None:
    world.suggest()
    history = read_pair_history(
        world.database, OPERATOR, "d", pair_key("d", "Q1", "시행령_제13조"), now=LATER
    )
    assert "grade 2 suggested from related documents (rule decree)" in repr(history)


def test_bad_relations_change_nothing(world: Laws) -> None:
    world.relations.write_text(RELATIONS + "법률_제17조,법률_제999조,sibling\n", encoding="utf-8")
    before = world.count()
    with pytest.raises(
        BadInput, match=r"relations\.csv:6: expected a document of this dataset, found 법률_제999조"
    ):
        world.suggest()
    assert world.count() == before
    assert world.suggest(skip_unknown=True).unknown_documents == 1


def test_without_a_grade_3_there_is_nothing_to_start_from(database: Database, tmp_path: Path) -> None:
    world = Laws(database, tmp_path)
    world.add_decision(world.lea, "Q1", "법률_제17조", 2)
    with pytest.raises(StateError, match="no pair is settled at grade 3 yet"):
        world.suggest()


def test_only_leads_suggest_and_read_the_report(world: Laws) -> None:
    with pytest.raises(NotAllowed):
        world.suggest(world.ann)
    with pytest.raises(NotAllowed):
        report_suggestions(world.database, world.ann, "d", now=LATER)
    world.suggest(world.lea)


def test_the_commands_print_figures_and_json(world: Laws) -> None:
    def run(*arguments: str) -> str:
        outcome = CliRunner().invoke(app, [*arguments, "--database", world.url], catch_exceptions=False)
        assert outcome.exit_code == 0, outcome.output
        return outcome.output

    arguments = ["suggest", "d", str(world.relations), "--rules", str(world.rules)]
    assert "Would make 2 new pairs for 1 query" in run(*arguments, "--dry-run")
    assert json.loads(run(*arguments, "--json"))["new_pairs"] == 2
    world.judge_both("시행령_제13조", 2)
    world.add_decision(world.lea, "Q1", "법률_제17조", 1)
    printed = run("suggestions", "d")
    assert "100 % (3–100), 1 of 1" in printed
    assert "2 suggestions start from no document settled at grade 3 any more" in printed
    assert json.loads(run("suggestions", "d", "--json"))["rules"][0]["exact"]["count"] == 1
    assert "relation: sibling" in run("suggest", "--print-rules", "law")
