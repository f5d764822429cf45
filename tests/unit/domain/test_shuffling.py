"""How letters hide who judged."""

from annotator.domain.shuffling import name_letter, shuffle

NAMES = ["花子", "민준", "أحمد", "zoë"]


def test_the_order_for_a_pair_does_not_depend_on_the_order_of_the_names() -> None:
    assert shuffle(NAMES, seed=1, pair="ab") == shuffle(reversed(NAMES), seed=1, pair="ab")
    assert sorted(shuffle(NAMES, seed=1, pair="ab")) == sorted(NAMES)


def test_the_order_differs_between_pairs_and_seeds() -> None:
    first = [shuffle(NAMES, seed=1, pair=str(number))[0] for number in range(400)]
    assert all(60 < first.count(name) < 140 for name in NAMES)
    assert any(
        shuffle(NAMES, seed=seed, pair="ab") != shuffle(NAMES, seed=0, pair="ab") for seed in (1, 2, 3)
    )


def test_places_are_lettered_beyond_z() -> None:
    assert [name_letter(index) for index in (0, 1, 25, 26, 27, 51, 52)] == [
        "A",
        "B",
        "Z",
        "AA",
        "AB",
        "AZ",
        "BA",
    ]
