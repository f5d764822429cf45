"""Who gets which number, and that it says nothing and never changes."""

from annotator.releases.records import Participant
from annotator.releases.writing.files import assign_numbers

PEOPLE = [Participant(key, name, False) for key, name in enumerate(["花子", "민준", "أحمد", "zoë"], 1)]
LEAD = Participant(9, "aaa lead", False)
SECRETS = {1: "e4", 2: "e1", 3: "e2", 4: "e3"}


def test_everybody_gets_one_number_and_annotators_come_before_leads() -> None:
    numbers = assign_numbers({}, [LEAD, *PEOPLE], SECRETS, seed=7)
    assert sorted(numbers.values()) == [1, 2, 3, 4, 5]
    assert numbers[LEAD.key] == 5


def test_numbers_depend_on_neither_the_order_nor_the_accounts() -> None:
    numbers = assign_numbers({}, PEOPLE, SECRETS, seed=7)
    assert assign_numbers({}, reversed(PEOPLE), SECRETS, seed=7) == numbers
    moved = [Participant(person.key + 100, person.username, False) for person in PEOPLE]
    secrets = {key + 100: secret for key, secret in SECRETS.items()}
    assert assign_numbers({}, moved, secrets, seed=7) == {
        key + 100: number for key, number in numbers.items()
    }


def test_every_order_can_be_drawn_and_usernames_with_the_seed_do_not_betray_it() -> None:
    by_seed = {tuple(assign_numbers({}, PEOPLE[:2], SECRETS, seed=seed).items()) for seed in range(20)}
    assert len(by_seed) == 2
    by_secret = {
        tuple(assign_numbers({}, PEOPLE[:2], {1: f"e{number}", 2: "e"}, seed=0).items())
        for number in range(20)
    }
    assert len(by_secret) == 2


def test_a_number_is_kept_for_ever_and_newcomers_follow() -> None:
    first = assign_numbers({}, PEOPLE[:2], SECRETS, seed=7)
    later = assign_numbers(first, PEOPLE, SECRETS, seed=7)
    assert sorted(later) == [3, 4]
    assert sorted(later.values()) == [3, 4]
