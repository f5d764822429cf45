"""A dataset at a glance, on both databases: the figures come from the stages, and the next step follows from them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.dataset.service import change_settings
from annotator.domain.errors import NotAllowed, NotFound
from annotator.domain.people import OPERATOR
from annotator.labeling.service import count_recent_judgments, show_activity
from annotator.overview.service import Overview, show_overview, show_status
from annotator.overview.waiting_service import list_idle
from annotator.quality.records import ErrorRate, QualityStatus
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.central import CurrentJudgmentRow, PairRow
from annotator.web.page_context import PageContext
from annotator.web.people.words import describe_activity
from tests.contexts import GivenContext
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=1)


class Glance(JudgedWorld):
    """Two queries with two documents each, two annotators and a lead."""

    def __init__(self, database: Database, **settings: str) -> None:
        super().__init__(database, **settings)
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.lead = self.person("lead", "lead")
        self.pairs = []
        for query_id in ("Q1", "Q2"):
            self.query(query_id, f"検索 {query_id} 🔎")
            self.pairs += [self.pair(query_id, f"{query_id}/甲"), self.pair(query_id, f"{query_id}/乙")]

    def look(self) -> Overview:
        return show_overview(self.database, self.lead, "d")

    def steps(self) -> list[str | None]:
        return [step.page for step in self.look().steps]

    def judge_all(self, *grades: tuple[int, int]) -> None:
        """One (花子's, 민준's) for each pair in order."""
        pairs = [("Q1", "Q1/甲"), ("Q1", "Q1/乙"), ("Q2", "Q2/甲"), ("Q2", "Q2/乙")]
        for (query_id, doc_id), (first, second) in zip(pairs, grades, strict=True):
            self.judge(self.hanako, query_id, doc_id, first)
            self.judge(self.minjun, query_id, doc_id, second)

    def decide(self, pair: str, grade: int) -> None:
        seen = show_disagreement(self.database, self.lead, "d", pair, now=NOW).seen
        adjudicate(self.database, self.lead, "d", pair, grade=grade, rationale="第17条", seen=seen, now=LATER)

    def publish(self, version: str, folder: Path) -> None:
        publish_release(
            self.database, self.lead, "d", version,
            exports_dir=folder, now=LATER, overrides={"quality_control": "표본 검사를 아직 하지 않았다"},
        )  # fmt: skip


@pytest.mark.parametrize("show", [show_overview, partial(show_status, now=LATER)])
def test_all_figures_come_from_one_moment(
    database: Database, monkeypatch: pytest.MonkeyPatch, show: Callable[..., object]
) -> None:
    world = Glance(database)
    world.judge_all((0, 0), (1, 1), (3, 3), (3, 2))
    begun, read = [], Database.read
    monkeypatch.setattr(Database, "read", lambda self: begun.append(self) or read(self))
    show(database, world.lead, "d")
    assert len(begun) == 1, "a judgment between two transactions would be in some figures only"


def test_before_anything_is_judged_every_pair_is_short(database: Database) -> None:
    view = Glance(database).look()
    assert (view.counts.pairs, view.pairs.by_status["unjudged"], view.pairs.by_status["unanimous"]) == (
        4,
        4,
        0,
    )
    assert [step.what for step in view.steps] == ["Have 4 pairs judged"]


def test_pairs_that_are_begun_are_counted_among_the_short_ones(database: Database) -> None:
    world = Glance(database)
    world.judge(world.hanako, "Q1", "Q1/甲", None)
    world.judge(world.hanako, "Q2", "Q2/甲", 3, outcome="graded")
    world.judge(world.minjun, "Q2", "Q2/甲", 3)
    steps = show_overview(database, OPERATOR, "d").steps  # the lead may still judge the begun pair
    (step,) = [step for step in steps if step.page == "label"]
    assert step.what == "Have 3 pairs judged"
    assert "judging has begun on 1 of them" in step.why


def test_a_dataset_goes_from_disagreement_to_release_step_by_step(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Glance(database)
    world.judge_all((0, 0), (1, 1), (3, 3), (3, 2))
    assert world.look().pairs.by_status == {
        "unjudged": 0, "unrateable": 0, "imported": 0, "single": 0, "unanimous": 3, "disagreement": 1, "reopened": 0, "adjudicated": 0,
    }  # fmt: skip
    assert world.steps() == ["agreement", "disagreements"]
    change_settings(database, OPERATOR, "d", {"kappa_target": "-1"}, now=NOW)
    assert world.steps() == ["agreement", "disagreements"], "four pairs are too few for a verdict"
    monkeypatch.setattr("annotator.agreement.diagnosis.verdict.FEW_PAIRS", 1)
    monkeypatch.setattr("annotator.agreement.diagnosis.verdict.FEW_QUERIES", 1)
    assert world.steps() == ["disagreements"]
    world.decide(world.pairs[3], 3)
    assert [(step.what, step.page) for step in world.look().steps] == [("Have a sample checked", "quality")]
    monkeypatch.setattr("annotator.quality.service.compute_quality", _pass_quality)
    assert [step.what for step in world.look().steps] == ["Publish the first release"]
    world.publish("1.0.0", tmp_path)
    assert [step.what for step in world.look().steps] == ["Nothing is left to do"]
    world.decide(world.pairs[3], 2)
    assert [step.what for step in world.look().steps] == ["Publish a new release"]
    world.publish("1.1.0", tmp_path)
    assert [step.what for step in world.look().steps] == ["Nothing is left to do"]


def _pass_quality(_session: object, _dataset_pk: int, _blind: object = ()) -> QualityStatus:
    rate = ErrorRate(0, 4, 0.0, (0.0, 0.6), 0.0)
    return QualityStatus(
        dataset="d", rule="bound", round=1, population=4, outside=0, settled_since=0, drawn=4, checked=4, unrateable=0,
        barred=0, waiting=0, rates={"any": rate}, verdicts={"bound": "passed", "rate": "passed"}, further=0,
        sentences=(), draws=(), errors=(),
    )  # fmt: skip


def test_what_quality_control_reopened_is_open_and_is_no_settled_pair(database: Database) -> None:
    world = Glance(database)
    world.judge_all((0, 0), (1, 1), (2, 2), (3, 3))
    world.check_quality(world.person("専門家"), "Q2", "Q2/甲", 0, settled=2)
    view = world.look()
    assert (view.pairs.by_status["reopened"], view.pairs.by_status["unanimous"]) == (1, 3)
    (step,) = [step for step in view.steps if step.page == "disagreements"]
    assert (step.what, "Quality control reopened 1 of them" in step.why) == (
        "Decide 1 waiting pair", True,
    )  # fmt: skip


def test_a_decided_pair_is_not_short_although_few_judged_it(database: Database) -> None:
    world = Glance(database, overlap="3")
    third = world.person("셋째")
    world.judge_all((0, 0), (1, 1), (3, 3), (3, 2))
    for doc_id in ("Q1/甲", "Q1/乙"):
        world.judge(third, "Q1", doc_id, 1)
    assert any(step.what == "Have 2 pairs judged" for step in world.look().steps)
    world.decide(world.pairs[3], 3)
    assert any(step.what == "Have 1 pair judged" for step in world.look().steps)


def test_what_the_dataset_must_cover_is_a_step_until_it_does(database: Database) -> None:
    """While pairs are judged only what judging cannot bring is missing."""
    world = Glance(database)
    required = {"queries": 3, "most_without_relevant": 0}
    change_settings(database, OPERATOR, "d", {"kappa_target": "-1"}, requirements=required, now=NOW)
    view = world.look()
    assert (view.coverage.required, view.coverage.met) == (2, 1), (
        "over no queries none is without a relevant document"
    )
    (step,) = [step for step in view.steps if "coverage" in step.what]
    assert (step.what, "Missing: queries. Import" in step.why) == ("Meet 1 requirement of coverage", True)
    world.judge_all((0, 0), (0, 0), (3, 3), (3, 3))
    (step,) = [step for step in world.look().steps if "coverage" in step.what]
    assert "queries, queries without a relevant document" in step.why
    change_settings(
        database, OPERATOR, "d", {}, requirements={"queries": 2, "most_without_relevant": 1}, now=NOW
    )
    assert not [step for step in world.look().steps if "coverage" in step.what]


def test_the_history_counts_each_pair_from_its_last_judgment_or_decision_in_the_zone_of_the_reader(
    database: Database,
) -> None:
    world = Glance(database)
    world.judge_all((0, 0), (None, None), (3, 3), (3, 2))
    world.decide(world.pairs[3], 3)
    with database.write() as session:
        made = {"Q1/甲": "2026-03-01 23:30", "Q1/乙": "2026-03-03 12:00", "Q2/甲": "2026-02-28 23:59"}
        for doc_id, at in made.items():
            seconds = int(datetime.fromisoformat(f"{at}+00:00").timestamp())
            session.execute(
                update(CurrentJudgmentRow)
                .where(
                    col(CurrentJudgmentRow.pair_pk).in_(
                        select(col(PairRow.pk)).where(col(PairRow.key) == pair_key("d", doc_id[:2], doc_id))
                    )
                )
                .values(made_at=seconds)
            )

    def look(zone: tzinfo) -> list[tuple[str, int, int, int]]:
        until = datetime(2026, 3, 6, 1, tzinfo=zone)
        days = show_overview(database, world.lead, "d", history_until=until).history
        return [(f"{counts.day:%m-%d}", counts.settled, counts.open, counts.unrateable) for counts in days]

    assert datetime(2026, 3, 5, 5, 6, 7, tzinfo=UTC) == LATER, "the decision"
    assert look(UTC) == [
        ("02-28", 1, 0, 0), ("03-01", 2, 0, 0), ("03-02", 2, 0, 0), ("03-03", 2, 0, 1), ("03-04", 2, 0, 1),
        ("03-05", 3, 0, 1), ("03-06", 3, 0, 1),
    ]  # fmt: skip
    assert look(ZoneInfo("Asia/Seoul"))[:3] == [("03-01", 1, 0, 0), ("03-02", 2, 0, 0), ("03-03", 2, 0, 1)]
    assert show_overview(database, world.lead, "d").history == ()


def test_a_long_history_has_few_days_and_ends_today(database: Database) -> None:
    world = Glance(database)
    world.judge_all((0, 0), (1, 1), (3, 3), (3, 2))
    until = NOW + timedelta(days=1_000)
    days = show_overview(database, world.lead, "d", history_until=until).history
    assert len(days) <= 60 and days[-1].day == until.date()
    assert len({after.day - before.day for before, after in pairwise(days)}) == 1


def test_it_is_for_leads_of_the_dataset(database: Database) -> None:
    world = Glance(database)
    with pytest.raises(NotAllowed):
        show_overview(database, world.hanako, "d")
    with pytest.raises(NotFound):
        show_overview(database, OPERATOR, "nowhere")
    with pytest.raises(NotFound) as refused:
        show_overview(database, world.hanako, "nowhere")
    assert str(refused.value) == "there is no dataset named 'nowhere', or you have no role on it", (
        "others are not named"
    )
    assert show_overview(database, OPERATOR, "d").counts.queries == 2


def test_the_overview_counts_missing_judgments_open_gates_and_the_recent_pace(database: Database) -> None:
    world = Glance(database)
    assert world.look().lacking == 8
    world.judge(world.hanako, "Q1", "Q1/甲", 2)
    view = world.look()
    assert view.lacking == 7
    assert {"overlap", "kappa"} <= {gate.name for gate in view.gates if not gate.met}
    made = NOW.replace(microsecond=0)
    counted = [
        count_recent_judgments(database, world.lead, "d", since=since)
        for since in (made - timedelta(days=1), made + timedelta(days=1))
    ]
    assert counted == [1, 0]
    with pytest.raises(NotAllowed):
        count_recent_judgments(database, world.hanako, "d", since=made)


def test_the_activity_of_people_is_counted_as_on_the_overview(database: Database) -> None:
    world = Glance(database)
    world.judge(world.hanako, "Q1", "Q1/甲", 2)
    since = NOW.replace(microsecond=0) - timedelta(days=1)
    activity = show_activity(database, world.lead, "d", since=since)
    assert dict(activity.recent) == {world.hanako.username: 1}
    assert sum(activity.recent.values()) == count_recent_judgments(database, world.lead, "d", since=since)
    assert activity.people == world.look().progress.annotators
    assert activity.has_work is (world.look().pairs.to_judge > 0) is True
    with pytest.raises(NotAllowed):
        show_activity(database, world.hanako, "d", since=since)


def test_the_page_people_calls_idle_whom_the_overview_does(database: Database) -> None:
    world = Glance(database)
    world.judge(world.hanako, "Q1", "Q1/甲", 2)
    for days, is_idle in ((1, False), (9, True)):
        now = NOW + timedelta(days=days)
        context = GivenContext(database=database, actor=world.lead, dataset="d", now=now)
        said = describe_activity(cast(PageContext, context))
        idle = {person.annotator for person in list_idle(world.look().progress.annotators, now=now)}
        assert {username for username, words in said.items() if words.startswith("idle")} == idle
        assert (world.hanako.username in idle) is is_idle
