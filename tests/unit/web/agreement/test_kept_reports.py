"""Reports are kept for as long as they are good, and shown to nobody who may not see them."""

from collections.abc import Hashable
from datetime import UTC, datetime, timedelta
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from annotator.domain.errors import NotAllowed
from annotator.domain.people import OPERATOR
from annotator.web.agreement import report_cache
from annotator.web.agreement.report_cache import MOST_KEPT, KeptReport, KeptReports

NOW = datetime(2026, 3, 4, tzinfo=UTC)


class Bench:
    """Measures by counting; the stamp and the seconds it takes are what a test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stamp: Hashable = 1
        self.took, self.clock, self.measured = 1.0, 0.0, 0
        self.awaited, self.all_asked = 1, Event()
        self.asked: list[None] = []
        self.kept = KeptReports()
        monkeypatch.setattr(report_cache, "read_stamp", self.read_stamp)
        monkeypatch.setattr(report_cache, "compute_agreement", self.compute)
        monkeypatch.setattr(report_cache, "perf_counter", lambda: self.clock)

    def read_stamp(self, *_: object) -> Hashable:
        if self.stamp == "refused":
            raise NotAllowed("not yours")
        self.asked.append(None)
        if len(self.asked) >= self.awaited:
            self.all_asked.set()
        return self.stamp

    def compute(self, *_: object, by: str | None, report_progress: object) -> Any:
        self.all_asked.wait()
        self.measured += 1
        self.clock += self.took
        return (self.measured, by)

    def find(
        self,
        seconds: float = 0,
        by: str | None = None,
        *,
        anew: bool = False,
        quick: float = 0.0,
        dataset: str = "d",
        database: Any = None,
    ) -> KeptReport:
        now = NOW + timedelta(seconds=seconds)
        return self.kept.find(database, OPERATOR, dataset, by=by, now=now, anew=anew, quick=quick)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_what_has_not_changed_is_measured_once(bench: Bench) -> None:
    first, again = bench.find(), bench.find(599)
    assert first == again
    assert (bench.measured, again.changed, again.measured_at) == (1, False, NOW)


def test_nothing_is_kept_for_more_than_ten_minutes(bench: Bench) -> None:
    bench.find()
    bench.find(600)
    assert bench.measured == 2


def test_what_has_changed_is_kept_for_twenty_times_what_it_took_and_says_so(bench: Bench) -> None:
    bench.find()
    bench.stamp = 2
    kept = bench.find(19.9)
    assert (bench.measured, kept.changed, kept.measured_at) == (1, True, NOW)
    new = bench.find(20)
    assert (bench.measured, new.changed, new.measured_at) == (2, False, NOW + timedelta(seconds=20))


def test_what_has_changed_is_kept_for_ten_minutes_at_the_most_however_long_it_took(bench: Bench) -> None:
    bench.took = 60.0
    bench.find()
    bench.stamp = 2
    assert bench.find(599).changed is True
    assert bench.find(600).changed is False
    assert bench.measured == 2


def test_what_is_measured_in_a_moment_is_measured_anew_at_once(bench: Bench) -> None:
    bench.took = 0.001
    bench.find()
    bench.stamp = 2
    assert bench.find(0.1).changed is False
    assert bench.measured == 2


def test_a_reader_can_have_it_measured_anew(bench: Bench) -> None:
    bench.find()
    assert bench.find(1, anew=True).measured_at == NOW + timedelta(seconds=1)
    assert bench.measured == 2


def test_each_grouping_is_kept_by_itself_and_only_a_few_are(bench: Bench) -> None:
    for number in range(MOST_KEPT + 1):
        bench.find(by=str(number))
    bench.find(by="1")
    assert bench.measured == MOST_KEPT + 1
    bench.find(by="0")
    assert bench.measured == MOST_KEPT + 2
    assert len(bench.kept.kept) == len(bench.kept.turns) == MOST_KEPT


def test_where_somebody_acts_on_it_a_report_that_is_measured_quickly_is_of_now(bench: Bench) -> None:
    bench.find(quick=1.0)
    assert bench.find(1, quick=1.0).report == (1, None)  # type: ignore[comparison-overlap]
    bench.stamp = 2
    assert bench.find(2, quick=0.9).changed, "this one takes longer"
    now = bench.find(3, quick=1.0)
    assert (bench.measured, now.changed, now.measured_at) == (2, False, NOW + timedelta(seconds=3))


def test_the_report_that_was_asked_for_longest_ago_goes_first(bench: Bench) -> None:
    for number in (*range(MOST_KEPT), 0, MOST_KEPT):
        bench.find(by=str(number))
    bench.find(by="0")
    assert bench.measured == MOST_KEPT + 1
    bench.find(by="1")
    assert bench.measured == MOST_KEPT + 2


def test_each_dataset_of_each_database_has_reports_of_its_own(bench: Bench) -> None:
    bench.find()
    bench.find(dataset="e")
    bench.find(database="another")
    assert bench.measured == 3
    assert bench.find(dataset="e").report == (2, None)  # type: ignore[comparison-overlap]


def test_whoever_may_not_see_a_report_is_refused_though_it_is_kept(bench: Bench) -> None:
    bench.find()
    bench.stamp = "refused"
    with pytest.raises(NotAllowed):
        bench.find()


def test_two_who_ask_at_once_wait_for_one_measurement(bench: Bench) -> None:
    together, kept_reports = Barrier(8), []
    bench.awaited = 8  # the measurement is not over before all have asked

    def ask() -> None:
        together.wait()
        kept_reports.append(bench.find())

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bench.measured == 1
    assert len(set(map(id, (kept.report for kept in kept_reports)))) == 1


def test_a_measurement_that_fails_is_tried_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(report_cache, "compute_agreement", fail)
    with pytest.raises(RuntimeError):
        bench.find()
    monkeypatch.setattr(report_cache, "compute_agreement", bench.compute)
    assert bench.find().report == (1, None)  # type: ignore[comparison-overlap]
