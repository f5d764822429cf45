"""How letters hide who judged."""

from annotator.domain.shuffling import name_letter, shuffle

NAMES = ["花子", "민준", "أحمد", "zoë"]


def test_the_order_of_a_pair_never_changes_whatever_order_the_names_come_in() -> None:
    assert shuffle(NAMES, seed=1, pair="ab") == shuffle(reversed(NAMES), seed=1, pair="ab")
    assert sorted(shuffle(NAMES, seed=1, pair="ab")) == sorted(NAMES)


def test_nobody_has_a_fixed_place_from_pair_to_pair_or_seed_to_seed() -> None:
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
