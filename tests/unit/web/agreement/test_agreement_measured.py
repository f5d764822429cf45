"""The Agreement page while and after its report is measured: first figures, how old it is, measuring it again."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from annotator.agreement.records import CoefficientValue
from annotator.agreement.service import compute_agreement
from annotator.domain.errors import NotAllowed
from annotator.domain.people import OPERATOR
from annotator.overview.service import show_overview
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.agreement import page
from annotator.web.agreement.page import KeptReport
from annotator.web.kit.kept_results import KeptResult
from tests.contexts import GivenContext
from tests.integration.judged_world import JudgedWorld
from tests.unit.web.lead_pages import find, make_world, open_page, run, words


@pytest.fixture
def world(tmp_path: Path) -> Iterator[JudgedWorld]:
    database = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(database)
    yield make_world(database)
    database.dispose()


class Reports:
    """A report of January, changed since until it is asked for anew."""

    def __init__(self, database: Database) -> None:
        self.report = compute_agreement(database, OPERATOR, "d")
        self.asked: list[bool] = []

    def find(self, *_: Any, anew: bool, **__: Any) -> KeptReport:
        self.asked.append(anew)
        return KeptResult(self.report, datetime(2026, 1, 2, 3, 4, tzinfo=UTC), not anew, 1, 1.0)


def test_a_report_that_is_no_longer_new_says_of_when_it_is_and_can_be_measured_again(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = Reports(world.database)
    monkeypatch.setattr(page, "find_kept_report", reports.find)
    app = open_page(world, "agreement")
    assert "Calculated on Jan 2, 2026 03:04. The data has changed since." in words(app)
    app.button(key="measure_again").click()
    run(app)
    assert reports.asked == [False, True]
    assert "The data has changed" not in words(app)
    run(app)
    assert reports.asked == [False, True, False], "it is measured anew once only"


def test_the_overview_is_of_this_moment_whatever_report_is_kept(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "find_kept_report", Reports(world.database).find)
    open_page(world, "agreement")
    before = show_overview(world.database, OPERATOR, "d").agreement.measured
    world.judge(find(world, "花子"), "Q1", "遠い", 3)
    after = show_overview(world.database, OPERATOR, "d").agreement
    assert (after.measured.observed_agreement or 0.0) > (before.observed_agreement or 0.0)
    app = open_page(world, "overview")
    assert after.verdict.sentence in words(app)
    assert "something has changed" not in words(app)


def test_what_is_known_first_is_said_while_the_rest_is_measured(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_figures: list[tuple[int, str]] = []

    def listen(pairs: int, kappa: CoefficientValue) -> str:
        first_figures.append((pairs, f"{kappa.value:.2f}"))
        return "first"

    monkeypatch.setattr(page, "describe_first", listen)
    assert "first" not in words(open_page(world, "agreement")), "the report has taken its place"
    assert first_figures == [(4, "0.27")]


@pytest.mark.parametrize("address", [{}, {"by": "language"}])
def test_by_what_can_be_grouped_is_read_before_the_first_figures(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch, address: dict[str, str]
) -> None:
    done: list[str] = []
    monkeypatch.setattr(page, "list_groupings", lambda *_: done.append("fields") or ["language"])
    monkeypatch.setattr(page, "describe_first", lambda *_: done.append("first") or "first")
    open_page(world, "agreement", **address)
    assert done == ["fields", "first"]


def test_the_first_figures_are_a_sentence_also_without_a_kappa() -> None:
    assert page.describe_first(1234, CoefficientValue(0.456)).startswith(
        "Cohen's kappa: 0.46 (1,234 pairs). Calculating"
    )
    assert page.describe_first(0, CoefficientValue(None, None, "no pair")) == "Calculating agreement …"


def test_by_what_can_be_grouped_is_read_once_a_minute_and_for_each_dataset(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(page, "list_groupings", lambda *arguments: read.append(arguments[2]) or ["week"])
    monkeypatch.setattr("streamlit.session_state", {})
    now = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    for dataset, seconds in (("d", 0), ("d", 59), ("d", 60), ("e", 61), ("e", 62)):
        context = GivenContext(database=world.database, actor=OPERATOR, now=now + timedelta(seconds=seconds))
        assert page.list_fields(context, dataset) == ["nothing", "week"]  # type: ignore[arg-type]
    assert read == ["d", "d", "e"]


def test_whoever_may_not_see_a_report_is_refused_although_it_is_kept(world: JudgedWorld) -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    page.find_kept_report(world.database, OPERATOR, "d", by=None, now=now)
    with pytest.raises(NotAllowed):
        page.find_kept_report(world.database, find(world, "花子"), "d", by=None, now=now)


def test_each_dataset_and_each_field_has_a_report_of_its_own(world: JudgedWorld) -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    whole = page.find_kept_report(world.database, OPERATOR, "d", by=None, now=now).value
    by_language = page.find_kept_report(world.database, OPERATOR, "d", by="language", now=now).value
    assert whole.measured == by_language.measured
    assert whole.groups != by_language.groups
