"""Agreement over the database: what counts, the shape of the JSON, who may see it; on both databases."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.agreement.records import AgreementReport, AgreementVerdict
from annotator.agreement.service import (
    compute_agreement,
    measure_agreement,
    measure_for_release,
    summarize_agreement,
)
from annotator.cli.main import app
from annotator.dataset.service import change_settings
from annotator.domain.errors import NotAllowed, NotFound, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.releases.writing.files import round_numbers
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pair_settlements import read_settlements
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

GRADES = [(0, 0), (1, 1), (2, 3), (3, 3), (0, 1), (2, 2)]


class TwoJudges(JudgedWorld):
    """Three queries; 고양이 and 高橋 judged the same six pairs of the first two."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.cat, self.takahashi, self.zoe = (self.person(name) for name in ("고양이", "高橋", "zoë"))
        self.query("법-1", "농지 전용 허가 🏞", category="법령", extra={"source": "편람"})
        self.query("q2", "トランザクション", difficulty="hard", extra={"source": 7})
        self.query("q3", "שאילתה")
        for number, (first, second) in enumerate(GRADES):
            query_id = ("법-1", "q2")[number % 2]
            self.pair(query_id, f"文書{number}")
            self.judge(self.cat, query_id, f"文書{number}", first)
            self.judge(self.takahashi, query_id, f"文書{number}", second)

    def report(self, **options: Any) -> AgreementReport:
        return compute_agreement(self.database, OPERATOR, "d", **{"resamples": 50, **options})


@pytest.fixture
def world(copy_world: CopyWorld) -> TwoJudges:
    return copy_world(TwoJudges)


def test_the_figures_are_those_of_the_current_independent_grades(world: TwoJudges) -> None:
    measured = world.report().measured
    assert measured.pairs == 6
    assert measured.observed_agreement == pytest.approx(4 / 6)
    (pair,) = measured.annotator_pairs
    assert pair.annotators == ("高橋", "고양이")
    assert pair.confusion == ((1, 0, 0, 0), (1, 1, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1))
    assert measured.cohen_kappa["unweighted"].value == pytest.approx((4 / 6 - 8 / 36) / (1 - 8 / 36))


def test_what_is_not_an_independent_grade_does_not_count(world: TwoJudges) -> None:
    before = world.report()
    verdict = judge_kappa(world)
    world.pair("q3", "z")
    world.judge(world.cat, "q3", "z", 3)
    world.judge(world.takahashi, "q3", "z", None)
    world.judge(world.zoe, "q3", "z", 0, purpose="quality")
    world.judge(world.zoe, "법-1", "文書0", 3, purpose="tie_break")
    world.judge(world.zoe, "법-1", "文書2", None, outcome="later")
    after = world.report()
    assert after.annotators == before.annotators
    assert after.measured.cohen_kappa == before.measured.cohen_kappa
    assert (after.measured.pairs, after.measured.single_pairs) == (6, 1)
    assert judge_kappa(world) == verdict


def test_another_datasets_judgments_do_not_count(world: TwoJudges) -> None:
    before, verdict = world.report(), judge_kappa(world)
    other = JudgedWorld(world.database, name="other")
    other.query("他", "다른 데이터셋")
    other.pair("他", "別の文書")
    other.judged = 1000  # event ids of its own
    for annotator, grade in ((world.cat, 0), (world.takahashi, 3)):
        other.judge(annotator, "他", "別の文書", grade)
    assert world.report() == before
    assert judge_kappa(world) == verdict


def test_a_revision_takes_the_place_of_the_judgment(world: TwoJudges) -> None:
    world.judge(world.takahashi, "법-1", "文書2", 2)
    world.judge(world.takahashi, "법-1", "文書4", 0)
    assert world.report().measured.observed_agreement == 1.0


def judge_kappa(world: JudgedWorld) -> AgreementVerdict:
    with world.database.read() as session:
        return summarize_agreement(session, find_dataset(session, world.name)).verdict


@pytest.mark.parametrize("seed", [0, 7])
def test_the_gate_goes_by_the_verdict_of_the_report(world: TwoJudges, seed: int) -> None:
    change_settings(world.database, OPERATOR, world.name, {"seed": str(seed)}, now=NOW)
    world.pair("q3", "z")
    for annotator, grade in ((world.cat, 3), (world.zoe, 1), (world.takahashi, 3)):
        world.judge(annotator, "q3", "z", grade)
    report = compute_agreement(world.database, OPERATOR, world.name)
    assert report == compute_agreement(world.database, OPERATOR, world.name, seed=seed)
    assert judge_kappa(world) == report.verdict


def test_the_verdict_on_an_empty_dataset_says_why_there_is_no_figure(database: Database) -> None:
    verdict = judge_kappa(JudgedWorld(database))
    assert (verdict.state, verdict.kappa.value) == ("unknown", None)
    assert verdict.kappa.why == "no pair has independent judgments of two annotators"
    assert verdict.sentence == compute_agreement(database, OPERATOR, "d").diagnosis[0]
    assert "There are no judgments yet" in compute_agreement(database, OPERATOR, "d").diagnosis[0]


def test_the_same_seed_gives_the_same_report_and_another_seed_another(world: TwoJudges) -> None:
    assert world.report(seed=3) == world.report(seed=3)
    drawn = [world.report(resamples=3, seed=seed).measured.cohen_kappa["linear"].ci95 for seed in range(6)]
    assert len(set(drawn)) > 1


def test_the_command_draws_with_the_datasets_seed_unless_told_another(world: TwoJudges) -> None:
    arguments = ("d", "--json", "--resamples", "50")
    seeds = [json.loads(_run(world, *arguments, *more).stdout)["seed"] for more in ((), ("--seed", "0"))]
    assert seeds == [7, 0]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("category", [("법령", 3), (None, 3)]),
        ("difficulty", [("hard", 3), (None, 3)]),
        ("source", [("7", 3), ("편람", 3), (None, 0)]),
        ("annotator", [("高橋", 6), ("고양이", 6)]),
    ],
)
def test_groups_part_the_pairs(world: TwoJudges, by: str, expected: list[tuple[str | None, int]]) -> None:
    groups = world.report(by=by).groups
    assert [(group.value, group.measured.pairs) for group in groups] == expected
    assert {group.by for group in groups} == {by}


def test_a_group_is_measured_on_its_own_queries(world: TwoJudges) -> None:
    whole, group = world.report().measured, world.report(by="category").groups[0].measured
    assert group.observed_agreement == pytest.approx(1 / 3)
    assert group.cohen_kappa["linear"].value != whole.cohen_kappa["linear"].value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"by": "colour"},
            "Cannot group by 'colour': choose one of category, difficulty, source, annotator, guideline_version, week",
        ),
        ({"resamples": -1}, "resamples: expected 0 to 100000, found -1"),
        ({"resamples": 10**6}, "resamples: expected 0 to 100000, found 1000000"),
        ({"seed": -1}, "seed: expected 0 or more, found -1"),
    ],
)
def test_an_option_outside_what_there_is_is_refused(
    world: TwoJudges, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        world.report(**options)


def test_only_a_lead_sees_who_agrees_with_whom(world: TwoJudges) -> None:
    lead = world.person("lead", "lead")
    assert compute_agreement(world.database, lead, "d", resamples=0).annotators == ("高橋", "고양이")
    for actor in (world.cat, Actor(person_id=999, username="stranger")):
        with pytest.raises(NotAllowed):
            compute_agreement(world.database, actor, "d")
    with pytest.raises(NotFound):
        compute_agreement(world.database, OPERATOR, "x")


def test_simulated_annotators_are_told_apart_right_after_the_verdict(world: TwoJudges) -> None:
    assert not world.report().simulated
    assert "simulated" not in world.report().as_json()
    robot = world.person("로봇", simulated=True)
    world.judge(robot, "q2", "文書1", 1)
    report = world.report()
    assert report.as_json()["simulated"] is True
    assert report.diagnosis[1].startswith("Simulated judgments are included (로봇)")


def test_a_release_stores_the_figures_of_the_report_under_pseudonyms(world: TwoJudges) -> None:
    world.judge(world.person("로봇", simulated=True), "q2", "文書1", 1)
    with world.database.read() as session:
        row = find_dataset(session, "d")
        numbers = {pk: f"annotator_{n}" for n, pk in enumerate(range(1, 10), start=1)}
        settled = read_settlements(session, key_of(row.pk))
        figures, verdict = measure_for_release(session, row, settled, by="category", pseudonyms=numbers)
        report = measure_agreement(session, row, by="category")
    text = json.dumps(figures, ensure_ascii=False)
    by_person = ("annotators", "annotator_pairs")
    reported = {key: report.as_json()[key] for key in figures if key not in by_person}
    assert round_numbers({key: figures[key] for key in reported}) == round_numbers(reported)
    assert verdict == report.verdict
    assert figures["annotators"] == sorted(figures["annotators"])
    assert not any(name in text for name in ("고양이", "高橋", "로봇"))


def _run(world: JudgedWorld, *words: str) -> Any:
    url = world.database.url.render_as_string(hide_password=False)
    return CliRunner().invoke(app, ["--database", url, "agreement", *words], catch_exceptions=False)


def test_the_json_has_the_documented_shape(world: TwoJudges) -> None:
    report = json.loads(_run(world, "d", "--by", "category", "--resamples", "100", "--json").stdout)
    assert list(report)[:12] == [
        "dataset", "annotators", "pairs", "observed_agreement", "cohen_kappa", "fleiss_kappa",
        "krippendorff_alpha", "gwet_ac1", "gwet_ac2", "cut_points", "annotator_pairs", "groups",
    ]  # fmt: skip
    assert (report["dataset"], report["annotators"], report["pairs"]) == ("d", ["高橋", "고양이"], 6)
    assert set(report["cohen_kappa"]) == {"unweighted", "linear", "quadratic"}
    assert set(report["krippendorff_alpha"]) == {"nominal", "ordinal", "interval"}
    assert set(report["cohen_kappa"]["linear"]) == {"value", "ci95"}
    assert len(report["cohen_kappa"]["linear"]["ci95"]) == 2
    assert [cut["relevant_from"] for cut in report["cut_points"]] == [1, 2, 3]
    assert len(report["annotator_pairs"][0]["confusion"]) == 4
    assert set(report["annotator_pairs"][0]) == {
        "annotators", "pairs", "queries", "warning", "observed_agreement", "cohen_kappa", "confusion", "paradox",
    }  # fmt: skip
    assert [(group["by"], group["value"], group["pairs"]) for group in report["groups"]] == [
        ("category", "법령", 3),
        ("category", None, 3),
    ]
    assert all(isinstance(sentence, str) for sentence in report["diagnosis"])


def test_undefined_values_are_null_with_a_reason_in_the_json(database: Database) -> None:
    world = JudgedWorld(database)
    world.query("q", "x")
    for number in range(3):
        world.pair("q", f"d{number}")
        for annotator in ("a", "b"):
            actor = world.person(f"{annotator}{number}")
            world.judge(actor, "q", f"d{number}", 2)
    report = json.loads(_run(world, "d", "--json").stdout)
    assert report["observed_agreement"] == 1.0
    for value in (
        report["cohen_kappa"]["quadratic"],
        report["gwet_ac1"],
        report["cut_points"][0]["cohen_kappa"],
    ):
        assert value["value"] is None
        assert "observed agreement 100 %" in value["why"]
        assert set(value) == {"value", "why"}


def test_the_text_shows_the_diagnosis_the_figures_and_the_confusion(world: TwoJudges) -> None:
    shown = _run(world, "d", "--by", "annotator", "--resamples", "100").stdout
    assert "Cohen's kappa is 0.57 [" in shown
    assert "Krippendorff's alpha, ordinal" in shown
    assert "rows 高橋, columns 고양이" in shown
    assert "0.667" in shown
