"""A part of the queue as an address, there and back."""

import pytest

from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.domain.settling import QueueReason
from annotator.web.adjudication.queue_url import NAMES, QueueAddress, read_address, write_address

FULL = QueueAddress(
    QueueFilter(
        "all",
        QueueReason.DIFFER | QueueReason.STALE,
        "質問 1",
        "법령",
        ("花子", "민준"),
        (1, 2),
        1,
        False,
        True,
        "lead",
    ),
    "impact",
)


@pytest.mark.parametrize(
    "address", [QueueAddress(), FULL, QueueAddress(QueueFilter(assigned="", category=""))]
)
def test_an_address_comes_back_as_it_was(address: QueueAddress) -> None:
    assert read_address(write_address(address)) == address


def test_every_word_of_an_address_is_written() -> None:
    assert set(write_address(FULL)) == set(NAMES)
    assert write_address(QueueAddress()) == {}


@pytest.mark.parametrize(
    "words",
    [{"show": "none"}, {"sort": "color"}, {"reason": "mood"}, {"grades": "2-1"}, {"grades": "x"}, {"distance": "9"}, {"taste": "maybe"}, {"flips": "1"}],
    ids=str,
)  # fmt: skip
def test_what_means_nothing_is_left_out(words: dict[str, str]) -> None:
    assert read_address(words) == QueueAddress()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ({"reason": "mood,differ"}, QueueFilter(reasons=QueueReason.DIFFER)),
        ({"query": ""}, QueueFilter()),
        ({"query": " Q1 "}, QueueFilter(query_id="Q1")),
        ({"grades": "2-2"}, QueueFilter(grades=(2, 2))),
        ({"annotators": "花子, ,민준"}, QueueFilter(annotators=("花子", "민준"))),
    ],
    ids=str,
)
def test_what_means_something_is_kept_beside_what_does_not(
    words: dict[str, str], wanted: QueueFilter
) -> None:
    assert read_address(words).wanted == wanted
