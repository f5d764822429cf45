"""How far an annotator is told to be: forward only, exact at the end, the same for checks as for other pairs."""

from hypothesis import given
from hypothesis import strategies as st

from annotator.labeling.records import BLOCK, OwnProgress, OwnWork, advance, count_left


def work(answered: int, open_pairs: int, *, checks: int = 0, held: int = 0, possible: int = 0) -> OwnWork:
    return OwnWork(answered, checks, open_pairs, held, lambda: possible)


def read(progress: OwnProgress) -> tuple[int, int]:
    return progress.done, progress.total


def test_a_small_work_is_promised_whole_and_a_large_one_by_blocks() -> None:
    assert read(advance(None, work(0, 12))) == (0, 12)
    assert read(advance(None, work(71, 4_000))) == (71, 71 + BLOCK)
    assert read(advance(OwnProgress(80, 80, 171), work(81, 4_000))) == (81, 171)
    assert read(advance(OwnProgress(151, 151, 171), work(152, 4_000))) == (152, 152 + BLOCK)


def test_what_others_finish_counts_as_done() -> None:
    progress = advance(None, work(0, 50))
    assert read(advance(progress, work(1, 29))) == (21, 50)
    assert read(advance(progress, work(1, 0))) == (50, 50)


def test_an_answer_that_is_put_off_and_given_again_counts_once() -> None:
    progress = advance(None, work(4, 4_000))
    for answered in (5, 4, 5):
        progress = advance(progress, work(answered, 4_000))
    assert read(progress) == (5, 104)


def test_new_work_lets_the_total_grow() -> None:
    progress = advance(advance(None, work(0, 3)), work(3, 0))
    assert read(progress) == (3, 3)
    assert read(advance(progress, work(3, 5))) == (3, 8)


def test_an_answer_to_a_check_moves_both_like_any_other() -> None:
    progress = advance(None, work(0, 10, possible=2))
    assert read(progress) == (0, 12)
    with_check = advance(progress, work(0, 10, held=1, possible=1))
    assert with_check == progress, "nothing moves when one is handed out"
    assert read(advance(with_check, work(1, 10, checks=1, possible=1))) == (1, 12)
    assert read(advance(progress, work(1, 9, possible=2))) == (1, 12)


def test_a_check_that_never_comes_counts_as_done_at_the_end_only() -> None:
    progress = advance(None, work(0, 2, possible=3))
    progress = advance(progress, work(1, 1))
    assert read(progress) == (1, 5)
    assert read(advance(progress, work(2, 0))) == (5, 5)


def test_my_work_says_as_many_are_left_as_the_panel() -> None:
    assert count_left(None, open_pairs=12, checks=0) == 12, "the panel was never opened"
    progress = advance(None, work(0, 12, possible=3))
    assert read(progress) == (0, 15) and count_left(progress, open_pairs=12, checks=0) == 15
    further = advance(progress, work(5, 9, checks=2, possible=1))
    assert read(further) == (5, 15) and count_left(further, open_pairs=9, checks=2) == 10
    assert count_left(further, open_pairs=0, checks=3) == 0
    assert count_left(advance(None, work(0, 4_000)), open_pairs=4_000, checks=0) == 4_000


STEPS = st.lists(
    st.tuples(
        st.integers(-3, 30), st.integers(0, 300), st.integers(0, 5), st.integers(0, 3), st.integers(0, 9)
    ),
    max_size=30,
)


@given(STEPS)
def test_whatever_happens_neither_number_falls_and_they_meet_exactly_when_nothing_is_left(
    steps: list[tuple[int, int, int, int, int]],
) -> None:
    progress, answered, checks = None, 0, 0
    for more, open_pairs, checked, held, possible in steps:
        answered, checks = max(0, answered + more), checks + checked
        now = advance(progress, work(answered, open_pairs, checks=checks, held=held, possible=possible))
        assert now.done <= now.total
        assert (now.done == now.total) == (open_pairs + held == 0)
        if progress is not None:
            assert now.done >= progress.done and now.total >= progress.total
        progress = now
