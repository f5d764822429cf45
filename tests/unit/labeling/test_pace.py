"""How long pairs take, and how long the rest will."""

from annotator.labeling.my_work_service import compute_medians, estimate_pace
from annotator.labeling.records import MedianSeconds


def test_the_rest_takes_the_median_times_what_is_left() -> None:
    pace = estimate_pace(40, 30, [4.0] * 6 + [8.0] * 5 + [3_000.0])
    assert (pace.done, pace.left, pace.timed, pace.seconds, pace.needed) == (40, 30, 12, 6.0, 180.0)


def test_below_ten_timed_answers_the_pace_is_not_known() -> None:
    pace = estimate_pace(9, 30, [4.0] * 9)
    assert (pace.timed, pace.seconds, pace.needed) == (9, None, None)
    assert estimate_pace(9, 30, [4.0] * 10).needed == 120


def test_medians_stand_by_name_and_never_by_speed() -> None:
    timed = [
        ("zoe", False, "법률", 1.0),
        ("ann", True, None, 9.0),
        ("mia", False, "law", 5.0),
        ("ann", True, "law", 7.0),
    ]
    medians = compute_medians(timed)
    assert list(medians.annotators) == ["ann", "mia", "zoe"]
    assert list(medians.categories) == ["", "law", "법률"]
    assert medians.annotators["ann"] == MedianSeconds(2, 8.0)
    assert medians.categories["law"] == MedianSeconds(2, 6.0)
    assert (medians.n, medians.overall, sorted(medians.simulated)) == (4, MedianSeconds(4, 6.0), ["ann"])


def test_without_answers_there_is_no_median() -> None:
    medians = compute_medians([])
    assert (medians.n, medians.overall, medians.annotators) == (0, MedianSeconds(0, None), {})
