"""The demo dataset: complete, built once however often, and honest about what is simulated."""

import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from annotator import demo
from annotator.dataset.service import change_settings, create_dataset, read_current_rubric, show_dataset
from annotator.demo import DATASET, build_demo
from annotator.domain.errors import ConflictError
from annotator.domain.grades import read_in_language
from annotator.domain.judgments import TrainingState
from annotator.domain.messages import LANGUAGES
from annotator.domain.people import OPERATOR, Actor, WrongSignIn
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.service import EvaluationRequest, evaluate_dataset
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.labeling.calibration_service import compute_results, list_checks, remove_check
from annotator.labeling.questions_service import list_questions
from annotator.labeling.service import compute_progress, list_judgments, submit_judgments
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, list_people
from annotator.people.sign_in_service import sign_in
from annotator.pooling.proposals.proposals_service import list_proposals
from annotator.storage.database import Database
from tests.databases import CopyWorld

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(days=1)


def find(database: Database, username: str) -> Actor:
    with database.read() as session:
        return find_actor(session, username)


def press(pair: str, grade: int) -> dict[str, object]:
    event = {"id": str(uuid.uuid4()), "pair": pair, "outcome": "graded", "grade": grade}
    return {**event, "pressed_at": NOW.isoformat()}


def read_all(database: Database) -> tuple[object, ...]:
    """What building again must leave as it is."""
    return (
        show_dataset(database, OPERATOR, DATASET),
        list_judgments(database, OPERATOR, DATASET, history=True),
        list_checks(database, OPERATOR, DATASET, now=NOW),
        list_questions(database, OPERATOR, DATASET),
        list_proposals(database, OPERATOR, DATASET, now=NOW),
    )


def make_demo(database: Database) -> SimpleNamespace:
    return SimpleNamespace(database=database, built=build_demo(database, now=NOW))


def make_judged_demo(database: Database) -> SimpleNamespace:
    return SimpleNamespace(database=database, built=build_demo(database, now=NOW, with_judgments=True))


@pytest.fixture
def plain_demo(copy_world: CopyWorld) -> SimpleNamespace:
    """The demo dataset of the first day, and what `build_demo` returned."""
    return copy_world(make_demo)


@pytest.fixture
def judged_demo(copy_world: CopyWorld) -> SimpleNamespace:
    return copy_world(make_judged_demo)


def test_the_demo_has_queries_documents_pairs_and_a_rubric_with_examples(plain_demo: SimpleNamespace) -> None:
    database, built = plain_demo.database, plain_demo.built
    _, counts = show_dataset(database, OPERATOR, DATASET)
    assert built.made
    assert (counts.queries, counts.documents, counts.documents_without_text) == (12, 65, 0)
    assert built.pairs == counts.pairs == 91
    _, rubric = read_current_rubric(database, OPERATOR, DATASET)
    assert all(grade.positive_examples and grade.negative_examples for grade in rubric.grades)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_visitor_reads_the_whole_guideline_and_every_example_in_her_language(
    plain_demo: SimpleNamespace, language: str
) -> None:
    database = plain_demo.database
    _, rubric = read_current_rubric(database, OPERATOR, DATASET)
    reading = read_in_language(rubric, language)
    assert reading.missing == ""
    assert reading.rubric.title
    examples = [
        (len(grade.positive_examples), len(grade.negative_examples)) for grade in reading.rubric.grades
    ]
    assert examples == [
        (len(grade.positive_examples), len(grade.negative_examples)) for grade in rubric.grades
    ]
    texts = [
        text
        for read in rubric.texts_by_language.values()
        for grade in read.grades
        for text in (grade.name, grade.definition, *grade.positive_examples, *grade.negative_examples)
    ]
    assert len(set(texts)) == len(texts) == len(LANGUAGES) * (2 * 4 + 5 * 4)


def test_no_judgment_is_made_up_unless_asked_for(plain_demo: SimpleNamespace) -> None:
    database = plain_demo.database
    assert list_judgments(database, OPERATOR, DATASET) == []


def test_a_pair_that_only_trains_or_checks_is_no_work_done(plain_demo: SimpleNamespace) -> None:
    database = plain_demo.database
    progress = compute_progress(database, OPERATOR, DATASET)
    assert (progress.pairs, progress.complete, progress.begun) == (83, 0, 0)


def test_building_it_again_changes_nothing_but_the_passwords(database: Database) -> None:
    first = build_demo(database, now=NOW, with_judgments=True)
    before = read_all(database)
    people = list_people(database, OPERATOR)
    second = build_demo(database, now=LATER, with_judgments=True)
    after = read_all(database)
    assert (before, people) == (after, list_people(database, OPERATOR))
    assert (second.made, second.simulated) == (False, 0)
    passwords = {sign_in.password for sign_in in first.sign_ins}
    assert passwords.isdisjoint({sign_in.password for sign_in in second.sign_ins})


def test_a_demo_that_was_left_half_built_is_completed(database: Database) -> None:
    create_dataset(database, OPERATOR, DATASET, now=NOW)
    assert build_demo(database, now=NOW).pairs == 91


def test_four_training_pairs_come_first_and_are_explained(plain_demo: SimpleNamespace) -> None:
    database = plain_demo.database
    checks = list_checks(database, OPERATOR, DATASET, now=NOW)
    assert Counter(check.kind for check in checks) == {"training": 4, "gold": 4}
    training = [check for check in checks if check.kind == "training"]
    assert sorted(check.grade for check in training) == [0, 1, 2, 3]
    assert all(check.explanation for check in training)
    hana = find(database, "demo-hana")
    response = submit_judgments(database, hana, DATASET, events=[], have=[], want=10, now=NOW)
    assert {pair.pair for pair in response.pairs} == {check.pair for check in training}
    right = [press(check.pair, check.grade) for check in training]
    after = submit_judgments(database, hana, DATASET, events=right, have=[], want=50, now=NOW)
    assert (after.training, len(after.pairs)) == (
        TrainingState(done=4, total=4, right=4, required=0.75, passed=True), 50,
    )  # fmt: skip
    gold = {check.pair for check in checks if check.kind == "gold"}
    assert gold & {pair.pair for pair in after.pairs}


def test_the_simulated_annotators_passed_training_and_answered_gold_pairs(
    judged_demo: SimpleNamespace,
) -> None:
    database = judged_demo.database
    results = {result.annotator: result for result in compute_results(database, OPERATOR, DATASET, now=NOW)}
    for name in ("simulated_1", "simulated_2"):
        training = results[name].training
        assert training is not None
        assert training.passed
        assert results[name].gold.answered == 4
    assert (results["simulated_1"].gold.exact, results["simulated_2"].gold.exact) == (1, 0.75)


def test_with_simulated_judgments_there_are_questions_and_a_proposal(judged_demo: SimpleNamespace) -> None:
    database = judged_demo.database
    questions = list_questions(database, OPERATOR, DATASET)
    assert [item.answered_by for item in questions] == [None, "Sora"]
    assert list_proposals(database, OPERATOR, DATASET, now=NOW).total.proposed == 1


def test_its_evaluation_compares_three_systems_and_its_measures_name_different_ones_as_the_best(
    judged_demo: SimpleNamespace,
) -> None:
    database = judged_demo.database
    measures = ("nDCG@10", "nDCG(dcg='exp-log2')@10")
    request = EvaluationRequest(scoring=ScoringOptions(measures=measures))
    evaluation = evaluate_dataset(database, OPERATOR, DATASET, request).evaluation
    assert [system.system for system in evaluation.systems] == ["bm25", "vector", "rerank"]
    assert (
        "nDCG@10 names vector as the best system, nDCG(dcg='exp-log2')@10 names rerank."
        in evaluation.sentences
    )
    latencies = [system.latency_ms is not None for system in evaluation.systems]
    assert latencies == [False, False, True]
    assert [structure.system for structure in evaluation.structure if structure.stages] == ["rerank"]


def test_a_demo_of_before_there_were_checks_is_completed_and_its_judgments_are_left(
    database: Database, tmp_path: Path
) -> None:
    """Whoever judged a pair before it was marked has no training answer on it; settings that were changed stay."""
    with pytest.MonkeyPatch.context() as before:
        before.setattr(demo, "_mark_checks", lambda *_given: None)
        build_demo(database, now=NOW, with_judgments=False)
    early = tmp_path / "early.csv"
    early.write_text(
        "query_id,doc_id,annotator,grade\nD08,법률_제47조_제1항,simulated_1,2\n", encoding="utf-8"
    )
    import_judgments(database, OPERATOR, DATASET, early, now=NOW, simulated=True)
    change_settings(database, OPERATOR, DATASET, {"gold_rate": "0.2"}, now=NOW)
    build_demo(database, now=LATER, with_judgments=True)
    assert len(list_checks(database, OPERATOR, DATASET, now=NOW)) == 8
    assert show_dataset(database, OPERATOR, DATASET)[0].gold_rate == 0.2
    kept = [
        (judgment.grade, judgment.purpose)
        for judgment in list_judgments(database, OPERATOR, DATASET, history=True)
        if (judgment.doc_id, judgment.annotator) == ("법률_제47조_제1항", "simulated_1")
    ]
    assert kept == [(2, "independent")]


def test_a_mark_that_a_lead_took_back_stays_so(plain_demo: SimpleNamespace) -> None:
    database = plain_demo.database
    first = list_checks(database, OPERATOR, DATASET, now=NOW)[0]
    remove_check(database, OPERATOR, DATASET, first.pair, now=NOW)
    build_demo(database, now=LATER, with_judgments=True)
    assert first.pair not in {check.pair for check in list_checks(database, OPERATOR, DATASET, now=NOW)}


def test_the_printed_passwords_sign_in_and_the_former_ones_do_not(database: Database) -> None:
    (old, *_) = build_demo(database, now=NOW).sign_ins
    (new, *_) = build_demo(database, now=LATER).sign_ins
    assert sign_in(database, new.username, new.password, address="127.0.0.1", now=LATER)
    with pytest.raises(WrongSignIn):
        sign_in(database, old.username, old.password, address="127.0.0.1", now=LATER)


def test_there_are_two_annotators_and_a_lead_of_the_demo_alone(plain_demo: SimpleNamespace) -> None:
    database, built = plain_demo.database, plain_demo.built
    assert sorted(sign_in.role for sign_in in built.sign_ins) == ["annotator", "annotator", "lead"]
    held = [item for person in list_people(database, OPERATOR) for item in person.memberships]
    assert {item.dataset for item in held} == {DATASET}


def test_simulated_judgments_are_marked_so_and_their_people_cannot_sign_in(
    judged_demo: SimpleNamespace,
) -> None:
    database, built = judged_demo.database, judged_demo.built
    judgments = list_judgments(database, OPERATOR, DATASET)
    assert (len(judgments), built.simulated) == (167, 166)  # one more came with a proposal
    assert all(judgment.simulated for judgment in judgments)
    by_name = {person.username: person for person in list_people(database, OPERATOR)}
    for name in {judgment.annotator for judgment in judgments}:
        assert by_name[name].simulated
        assert not by_name[name].can_sign_in


def test_with_simulated_judgments_there_is_something_left_to_label(database: Database) -> None:
    assert build_demo(database, now=NOW, with_judgments=True).pairs == 162
    progress = compute_progress(database, OPERATOR, DATASET)
    assert (progress.pairs, progress.complete, progress.begun) == (154, 83, 1)


def test_somebody_with_a_role_elsewhere_keeps_their_password(database: Database) -> None:
    add_person(
        database,
        OPERATOR,
        "demo-hana",
        role="admin",
        password="花の password 1",
        must_change_password=False,
        now=NOW,
    )
    with pytest.raises(ConflictError, match="demo-hana has a role elsewhere"):
        build_demo(database, now=NOW)
    assert sign_in(database, "demo-hana", "花の password 1", address="127.0.0.1", now=NOW)
