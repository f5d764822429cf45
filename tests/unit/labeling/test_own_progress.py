"""How far an annotator is: all pairs that they can get, exact at the end, the same for checks as for other pairs."""

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.labeling.records import BLOCK, OwnProgress, OwnWork, advance


def work(
    answered: int, open_pairs: int, *, checks: int = 0, held: int = 0, possible: int = 0, finished: int = 0
) -> OwnWork:
    return OwnWork(answered, checks, open_pairs, finished, held, lambda: possible)


def go(before: OwnProgress | None, present: OwnWork, *, lead: bool = False) -> OwnProgress:
    return advance(before, present, is_announced=lambda: lead)


def read(progress: OwnProgress) -> tuple[int, int]:
    return progress.done, progress.total


def test_the_total_is_all_that_the_annotator_has_done_and_can_get() -> None:
    assert read(go(None, work(0, 12))) == (0, 12)
    assert read(go(None, work(71, 4_000))) == (71, 4_071)
    assert read(go(go(None, work(80, 182)), work(81, 181))) == (81, 262)
    assert go(None, work(81, 181)).left == 181


def test_what_others_finish_leaves_the_total_and_the_share_rises() -> None:
    progress = go(None, work(10, 90))
    assert read(go(progress, work(11, 69))) == (11, 80)
    assert read(go(progress, work(11, 0))) == (11, 11)


def test_what_others_finish_in_the_annotator_s_browser_changes_nothing_before_or_after_the_answer() -> None:
    progress = go(None, work(10, 40))
    while_held = go(progress, work(10, 39, finished=1))
    assert while_held == progress
    assert read(go(while_held, work(11, 39))) == (11, 50)


def test_an_answer_that_is_put_off_and_given_again_counts_once() -> None:
    progress = go(None, work(4, 96))
    for answered, open_pairs in ((5, 95), (4, 96), (5, 95)):
        progress = go(progress, work(answered, open_pairs))
        assert read(progress) == (5, 100)


def test_new_work_of_a_lead_lets_the_share_fall_and_is_named() -> None:
    progress = go(go(None, work(80, 20)), work(81, 100), lead=True)
    assert read(progress) == (81, 181) and progress.added == 81
    assert go(progress, work(82, 99), lead=True).added == 0, "once"


def test_work_that_comes_by_what_others_do_is_added_without_a_step_back() -> None:
    progress = go(None, work(80, 20))
    assert read(go(progress, work(80, 22))) == (80, 100)
    progress = go(progress, work(81, 21))
    assert read(progress) == (81, 101) and progress.added == 0
    assert read(go(progress, work(82, 20))) == (82, 102)


def test_work_after_everything_was_done_and_more_than_a_block_are_always_named() -> None:
    finished = go(None, work(3, 0))
    assert read(finished) == (3, 3)
    assert go(finished, work(3, 5)) == OwnProgress(3, 8, 0, added=5)
    assert go(go(None, work(80, 20)), work(80, 300)).added == 280


def test_an_answer_to_a_check_moves_the_count_like_any_other() -> None:
    progress = go(None, work(0, 10, possible=2))
    assert read(progress) == (0, 12)
    with_check = go(progress, work(0, 10, held=1, possible=1))
    assert with_check == progress, "nothing moves when one is handed out"
    assert read(go(with_check, work(1, 10, checks=1, possible=1))) == (1, 12)
    assert read(go(progress, work(1, 9, possible=2))) == (1, 12)


def test_a_check_that_never_comes_leaves_the_total_at_the_end_and_where_a_hundred_ends() -> None:
    progress = go(go(None, work(0, 2, possible=3)), work(1, 1))
    assert read(progress) == (1, 5)
    assert read(go(progress, work(2, 0))) == (2, 2)
    progress = go(None, work(0, 310, possible=40))
    for answered in range(1, 51):
        progress = go(progress, work(answered, 310 - answered, possible=35))
        assert read(progress) == (answered, 350)
    assert read(go(progress, work(51, 259, possible=30))) == (51, 340)


STEPS = st.lists(
    st.tuples(
        st.integers(-3, 30),
        st.integers(0, 300),
        st.integers(0, 5),
        st.integers(0, 3),
        st.integers(0, 9),
        st.booleans(),
    ),
    max_size=30,
)


@given(STEPS)
def test_whatever_happens_the_share_falls_only_where_that_is_said_and_ends_exactly(
    steps: list[tuple[int, int, int, int, int, bool]],
) -> None:
    progress, answered, checks = None, 0, 0
    for more, open_pairs, checked, held, possible, lead in steps:
        answered, checks = max(0, answered + more), checks + checked
        present = work(answered, open_pairs, checks=checks, held=held, possible=possible)
        now = go(progress, present, lead=lead)
        assert 0 <= now.done <= now.total
        assert (now.done == now.total) == (open_pairs + held == 0)
        if progress is not None:
            assert now.done >= progress.done
            falls = now.done * progress.total < progress.done * now.total
            assert falls == bool(now.added)
            assert not falls or lead or not progress.left or now.total - progress.total > BLOCK
        progress = now


@pytest.mark.parametrize("pairs", [30, 250, 1_200])
@given(draws=st.data())
def test_nothing_tells_a_check_from_an_ordinary_pair(pairs: int, draws: st.DataObject) -> None:
    """One annotator alone: whichever answers are to checks, the totals are the same."""
    room = draws.draw(st.integers(1, 40))
    chosen = draws.draw(st.sets(st.integers(0, pairs), max_size=room))
    steps = draws.draw(st.integers(1, pairs - 1))
    assert list(label(pairs, room, chosen, steps)) == list(label(pairs, room, set(), steps))


def label(pairs: int, room: int, checks: set[int], steps: int) -> Iterator[tuple[int, int]]:
    """Yield the progress after each answer, within the first hundred."""
    progress = go(None, work(0, pairs, possible=room))
    answered_checks = 0
    for number in count(1):
        answered_checks += number in checks
        progress = go(
            progress,
            work(
                number,
                pairs - number + answered_checks,
                checks=answered_checks,
                possible=room - answered_checks,
            ),
        )
        if number > steps or progress.left // BLOCK != (pairs + room) // BLOCK:
            return
        yield read(progress)
