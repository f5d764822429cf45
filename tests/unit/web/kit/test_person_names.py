"""People have their display names on the pages; what leaves a page keeps their usernames."""

import copy

from annotator.agreement.records import PairSelection
from annotator.domain.messages import join, say
from annotator.web.agreement.links import list_parameters
from annotator.web.agreement.page import name_selection
from annotator.web.agreement.tables import TableRequest
from annotator.web.kit.words import (
    PersonName,
    find_username,
    make_unique,
    name_people_in,
    name_person,
)

NAMES = make_unique({"hana": "花子", "kim1": "김민준", "kim2": "김민준", "eve": "hana", "ann": ""})


def test_namesakes_and_who_is_called_as_anothers_username_get_the_username_too() -> None:
    assert {username: str(name) for username, name in NAMES.items()} == {
        "hana": "花子",
        "kim1": "김민준 (kim1)",
        "kim2": "김민준 (kim2)",
        "eve": "hana (eve)",
        "ann": "ann",
    }
    assert name_person("gone", NAMES) == "gone"


def test_a_name_keeps_its_username_in_copies_too() -> None:
    assert [find_username(name) for name in (NAMES["hana"], copy.deepcopy(NAMES["hana"]), "ann")] == [
        "hana",
        "hana",
        "ann",
    ]


def test_a_sentence_names_people_and_nothing_else() -> None:
    sentence = say("{named}: {name}, {pairs}", named=join(["hana", "ann"]), name="hana", pairs=3)
    assert name_people_in(sentence, NAMES) == "花子, ann: hana, 3"
    assert name_people_in(say("{annotator} and {than}", annotator="kim1", than="hana"), NAMES) == (
        "김민준 (kim1) and 花子"
    )
    assert name_people_in("hana", NAMES) == "hana"


def test_addresses_keep_usernames() -> None:
    selection = PairSelection(annotators=("hana", "kim1"), without=("eve",), by="annotator", value="hana")
    named = name_selection(selection, NAMES)
    assert named.annotators == ("花子", "김민준 (kim1)")
    assert list_parameters(named) == list_parameters(selection)
    request = TableRequest("confusion", first=NAMES["hana"], second=PersonName("x", "kim2"))
    assert request.list_parameters() == [("table", "confusion"), ("first", "hana"), ("second", "kim2")]
