"""The time to read a file grows with its length, not with the square of it, whatever is repeated in it."""

import time
from collections.abc import Callable

import pytest

from annotator.importing.texts.sections import read_page, split_sections

TIMES = 4
MOST = 8  # linear: 4 times as long; with the square: 16 times
QUICK = 0.1  # seconds; shorter ones tell nothing


def measure(read: Callable[[str], object], text: str) -> float:
    """Return the seconds of the processor that reading takes, the least of three."""
    seconds = []
    for _ in range(3):
        began = time.process_time()
        read(text)
        seconds.append(time.process_time() - began)
    return min(seconds)


def check_growth(read: Callable[[str], object], unit: str, *, characters: int, before: str = "") -> None:
    """AssertionError if a text of TIMES as many units takes more than MOST times as long."""
    count = characters // len(unit)
    few, many = (measure(read, before + unit * number) for number in (count, TIMES * count))
    assert many < QUICK or many < MOST * few, f"{few:.3f} s, then {many:.3f} s"


def split(media_type: str) -> Callable[[str], object]:
    return lambda text: split_sections(read_page("d", text, media_type))


@pytest.mark.parametrize(
    "unit",
    [
        "<a b='",
        '<a b="',
        "<!--",
        "<![",
        "<![CDATA[",
        "<!a",
        "<?",
        "</a ",
        "<a ",
        "<a b=",
        "<script>",
        "<title>a<b>",
        "<",
        "&#",
        "&",
    ],
)
def test_an_html_page_is_read_in_time_that_grows_with_its_length(unit: str) -> None:
    check_growth(split("text/html"), unit, characters=30_000)
