"""A draw that adds nothing names a share that would add something."""

from hypothesis import example, given
from hypothesis import strategies as st

from annotator.quality.sampling import find_target
from annotator.quality.service import find_higher_rate


@given(st.integers(2, 100_000).flatmap(lambda n: st.tuples(st.integers(1, n - 1), st.just(n))))
@example((29, 100))
@example((99, 100))
def test_the_share_that_is_named_draws_more(sample: tuple[int, int]) -> None:
    drawn, population = sample
    assert find_target(population, float(find_higher_rate(drawn, population))) > drawn
