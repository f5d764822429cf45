"""Results are kept for as long as they are good, and computed once for all who need them."""

from collections.abc import Hashable
from datetime import UTC, datetime, timedelta
from threading import Barrier, Event, Thread

import pytest

from annotator.web.kit import kept_results
from annotator.web.kit.kept_results import KeptResult, KeptResults

NOW = datetime(2026, 3, 4, tzinfo=UTC)
MOST = 12


class Bench:
    """Computes by counting; a test sets the stamp and the seconds that it takes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stamp: Hashable = 1
        self.took, self.clock, self.measured = 1.0, 0.0, 0
        self.release = Event()
        self.release.set()
        self.fails = False
        self.kept: KeptResults[int] = KeptResults(most=MOST, expires=True)
        monkeypatch.setattr(kept_results, "perf_counter", lambda: self.clock)

    def compute(self) -> int:
        self.release.wait()
        if self.fails:
            raise RuntimeError
        self.measured += 1
        self.clock += self.took
        return self.measured

    def find(
        self, seconds: float = 0, name: str = "d", *, anew: bool = False, quick: float = 0.0
    ) -> KeptResult[int]:
        now = NOW + timedelta(seconds=seconds)
        return self.kept.find(name, self.stamp, self.compute, now=now, anew=anew, quick=quick)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_what_has_not_changed_is_measured_once(bench: Bench) -> None:
    first, again = bench.find(), bench.find(599)
    assert first.value == again.value
    assert (bench.measured, again.changed, again.made_at) == (1, False, NOW)


def test_nothing_is_kept_for_more_than_ten_minutes(bench: Bench) -> None:
    bench.find()
    bench.find(600)
    assert bench.measured == 2


def test_what_has_changed_is_kept_for_twenty_times_what_it_took_and_says_so(bench: Bench) -> None:
    bench.find()
    bench.stamp = 2
    kept = bench.find(19.9)
    assert (bench.measured, kept.changed, kept.made_at) == (1, True, NOW)
    new = bench.find(20)
    assert (bench.measured, new.changed, new.made_at) == (2, False, NOW + timedelta(seconds=20))


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
    assert bench.find(1, anew=True).made_at == NOW + timedelta(seconds=1)
    assert bench.measured == 2


def test_each_grouping_is_kept_by_itself_and_only_a_few_are(bench: Bench) -> None:
    for number in range(MOST + 1):
        bench.find(0, str(number))
    bench.find(0, "1")
    assert bench.measured == MOST + 1
    bench.find(0, "0")
    assert bench.measured == MOST + 2
    assert len(bench.kept.kept) == len(bench.kept.turns) == MOST


def test_where_somebody_acts_on_it_a_report_that_is_measured_quickly_is_of_now(bench: Bench) -> None:
    bench.find(quick=1.0)
    assert bench.find(1, quick=1.0).value == 1
    bench.stamp = 2
    assert bench.find(2, quick=0.9).changed, "this one takes longer"
    now = bench.find(3, quick=1.0)
    assert (bench.measured, now.changed, now.made_at) == (2, False, NOW + timedelta(seconds=3))


def test_the_report_that_was_asked_for_longest_ago_goes_first(bench: Bench) -> None:
    for number in (*range(MOST), 0, MOST):
        bench.find(0, str(number))
    bench.find(0, "0")
    assert bench.measured == MOST + 1
    bench.find(0, "1")
    assert bench.measured == MOST + 2


def test_two_who_ask_at_once_wait_for_one_computation(bench: Bench) -> None:
    together, found = Barrier(9), list[KeptResult[int]]()
    bench.release.clear()

    def ask() -> None:
        together.wait()
        found.append(bench.find())

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    together.wait()
    bench.release.set()
    for thread in threads:
        thread.join()
    assert bench.measured == 1
    assert [kept.value for kept in found] == [1] * 8


def test_a_computation_that_fails_is_tried_again(bench: Bench) -> None:
    bench.fails = True
    with pytest.raises(RuntimeError):
        bench.find()
    bench.fails = False
    assert bench.find().value == 1


def test_a_result_that_depends_on_nothing_but_its_stamp_is_kept_until_that_changes(bench: Bench) -> None:
    bench.kept.expires = False
    bench.find()
    assert bench.find(86_400).made_at == NOW
    bench.stamp = 2
    assert bench.find(86_401).changed is False
    assert bench.measured == 2
