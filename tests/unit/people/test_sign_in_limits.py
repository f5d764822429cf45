"""How often somebody may guess."""

from datetime import UTC, datetime, timedelta

import pytest

from annotator.domain.people import TooManyAttempts
from annotator.people.sign_in_limits import (
    check_unknown_browser,
    group_address,
    refuse_too_many,
    widen_address,
)

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


def test_a_clock_that_was_ahead_makes_nobody_wait_longer_than_the_window() -> None:
    with pytest.raises(TooManyAttempts) as refused:
        refuse_too_many([NOW + timedelta(minutes=4)] * 5, 5, now=NOW)
    assert refused.value.seconds <= 15 * 60


HERE = "192.0.2.7"


def test_five_failures_at_one_address_are_too_many_for_a_name() -> None:
    check_unknown_browser([(NOW, HERE)] * 4 + [(NOW, "198.51.100.1")] * 15, at(1), HERE, now=NOW)
    with pytest.raises(TooManyAttempts):
        check_unknown_browser([(NOW, HERE)] * 5, at(1), HERE, now=NOW)


def test_what_a_person_who_is_signed_in_gets_wrong_is_no_attack() -> None:
    check_unknown_browser([(NOW, "")] * 20 + [(NOW, HERE)] * 4, at(1), HERE, now=NOW)


@pytest.mark.parametrize(("failures", "tries"), [(19, 5), (20, 1), (99, 1), (100, 0)])
def test_the_more_fails_at_an_address_the_fewer_tries_it_has_for_each_name(failures: int, tries: int) -> None:
    at_address = [NOW] * failures
    if tries:
        check_unknown_browser([(NOW, HERE)] * (tries - 1), at_address, HERE, now=NOW)
    with pytest.raises(TooManyAttempts):
        check_unknown_browser([(NOW, HERE)] * tries, at_address, HERE, now=NOW)


@pytest.mark.parametrize(
    ("group", "wide"),
    [("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2::/64", "2001:db8:1::/48"), ("testclient", "testclient")],
)
def test_one_customer_counts_as_one_while_a_name_is_attacked(group: str, wide: str) -> None:
    assert widen_address(group) == wide


def test_a_name_is_attacked_from_twenty_failures_elsewhere_on() -> None:
    here = [(NOW, HERE)]
    check_unknown_browser([*here, *[(NOW, "198.51.100.1")] * 19], at(1), HERE, now=NOW)
    with pytest.raises(TooManyAttempts):
        check_unknown_browser([*here, *[(NOW, "198.51.100.1")] * 20], at(1), HERE, now=NOW)


def test_unless_a_name_is_attacked_a_neighbours_failures_do_not_count() -> None:
    own, neighbour = "2001:db8:0:1::/64", "2001:db8:0:2::/64"
    check_unknown_browser([(NOW, neighbour)] * 19, at(1), own, now=NOW)
    with pytest.raises(TooManyAttempts):
        check_unknown_browser([(NOW, neighbour)] * 20, at(1), own, now=NOW)
