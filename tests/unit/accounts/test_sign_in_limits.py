"""How often somebody may guess."""

from datetime import UTC, datetime, timedelta

import pytest

from annotator.accounts.sign_in_limits import group_address, refuse_too_many
from annotator.domain.accounts import TooManyAttempts

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def at(*minutes: float) -> list[datetime]:
    return [NOW - timedelta(minutes=before) for before in minutes]


def test_below_the_limit_one_may_try() -> None:
    refuse_too_many(at(1, 2, 3, 4), 5, now=NOW)


def test_at_the_limit_one_waits_until_enough_failures_are_a_window_old() -> None:
    with pytest.raises(TooManyAttempts, match="try again in 5 minutes") as refused:
        refuse_too_many(at(1, 10, 2, 3, 4), 5, now=NOW)
    assert refused.value.seconds == 5 * 60
    with pytest.raises(TooManyAttempts) as refused:
        refuse_too_many(at(14, 13, 12, 11, 10, 9), 5, now=NOW)
    assert refused.value.seconds == 2 * 60


def test_a_failure_of_a_window_ago_does_not_count() -> None:
    refuse_too_many(at(15, 1, 2, 3, 4), 5, now=NOW)


def test_the_wait_is_never_told_as_nothing() -> None:
    with pytest.raises(TooManyAttempts, match=r"try again in 1 minute$") as refused:
        refuse_too_many(at(14.9999), 1, now=NOW)
    assert refused.value.seconds == 1


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_a_household_counts_as_one_address(address: str, group: str) -> None:
    assert group_address(address) == group
