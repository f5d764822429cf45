"""What people use up is forgiven with time, and nobody is remembered for longer."""

from annotator.web.server.spending import Allowance, Spending

ALLOWANCE = Allowance(at_once=10, per_second=2, most_over=4)


class Clock:
    """Shows the time that the test sets."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_within_the_allowance_nobody_waits_and_above_it_everybody_waits_alone() -> None:
    spending = Spending(Clock())
    spending.spend("ada", 10, ALLOWANCE)
    assert spending.find_wait("ada", ALLOWANCE) == 0
    spending.spend("ada", 3, ALLOWANCE)
    assert spending.find_wait("ada", ALLOWANCE) == 1.5
    assert spending.find_wait("bo", ALLOWANCE) == 0


def test_what_is_used_is_forgiven_with_time() -> None:
    clock = Clock()
    spending = Spending(clock)
    spending.spend("ada", 13, ALLOWANCE)
    clock.now += 1
    assert spending.find_wait("ada", ALLOWANCE) == 0.5
    clock.now += 0.5
    assert spending.find_wait("ada", ALLOWANCE) == 0
    clock.now += 60
    spending.spend("ada", 10, ALLOWANCE)
    assert spending.find_wait("ada", ALLOWANCE) == 0


def test_one_large_use_is_waited_for_only_so_long() -> None:
    spending = Spending(Clock())
    spending.spend("ada", 1_000, ALLOWANCE)
    assert spending.find_wait("ada", ALLOWANCE) == 2


def test_what_is_taken_back_was_not_used() -> None:
    spending = Spending(Clock())
    spending.spend("ada", 13, ALLOWANCE)
    spending.spend("ada", -13, ALLOWANCE)
    spending.spend("ada", -5, ALLOWANCE)
    spending.spend("ada", 11, ALLOWANCE)
    assert spending.find_wait("ada", ALLOWANCE) == 0.5


def test_people_who_left_are_forgotten() -> None:
    clock = Clock()
    spending = Spending(clock)
    for number in range(10_000):
        spending.spend(number, 1, ALLOWANCE)
        clock.now += 1
    assert len(spending) < 300
