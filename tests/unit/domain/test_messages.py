"""Sentences that remember what they are made of, so that they can be said in another language."""

import copy
import pickle

from annotator.domain.figures import show_percent
from annotator.domain.messages import Message, begin, join, join_sentences, say, say_n
from annotator.domain.shuffling import order_key


def test_a_sentence_is_a_text_with_its_template_and_values() -> None:
    message = say("no dataset named {name}; there are {n:,}", name="法令", n=1234)
    assert message == "no dataset named 法令; there are 1,234"
    assert (message.template, message.plural) == ("no dataset named {name}; there are {n:,}", None)
    assert dict(message.values) == {"name": "法令", "n": 1234}


def test_a_number_chooses_the_singular_for_one_only() -> None:
    messages = [say_n("{n} pair of {of}", "{n:,} pairs of {of}", n, of="Q") for n in (0, 1, 2, 1000)]
    assert messages == ["0 pairs of Q", "1 pair of Q", "2 pairs of Q", "1,000 pairs of Q"]
    assert [(message.n, message.template, message.plural) for message in messages[:2]] == [
        (0, "{n} pair of {of}", "{n:,} pairs of {of}"),
        (1, "{n} pair of {of}", "{n:,} pairs of {of}"),
    ]


def test_a_copied_sentence_can_still_be_translated() -> None:
    for message in (say("a {b}", b=1), say_n("{n} pair", "{n} pairs", 2)):
        for copied in (copy.deepcopy(message), copy.copy(message), pickle.loads(pickle.dumps(message))):
            assert isinstance(copied, Message)
            assert (copied, copied.template, copied.plural, copied.n) == (
                message,
                message.template,
                message.plural,
                message.n,
            )
            assert copied.values == message.values


def test_a_share_in_an_english_sentence_is_spaced_as_95_percent_is() -> None:
    message = say_n("{n} pair, {share:.0%}", "{n} pairs, {share:.1%} (95 % interval)", 2, share=0.684)
    assert (message, show_percent(0.684), show_percent(0.684, 0)) == (
        "2 pairs, 68.4 % (95 % interval)", "68.4 %", "68 %",
    )  # fmt: skip
    assert say("{text}, {share:.0%}", text="100%} {left}", share=1) == "100%} {left}, 100 %"


def test_a_sentence_begins_with_a_capital_and_keeps_its_template() -> None:
    message = begin(say_n("{n} pair", "{n} pairs of {of}", 2, of="법"))
    assert begin(say("no {name}", name="X")) == "No X"
    assert (message, message.template, message.plural, message.n) == (
        "2 pairs of 법",
        "{n} pair",
        "{n} pairs of {of}",
        2,
    )
    plain = begin("expected {a grade}")
    assert (plain, plain.template, plain.values) == (
        "Expected {a grade}",
        "{sentence}",
        {"sentence": "expected {a grade}"},
    )
    assert begin("") == ""


def test_parts_are_joined_and_those_that_are_sentences_stay_so() -> None:
    part = say("Grade {grade}: name", grade=1)
    text = join([part, "plain {not a place}"])
    assert text == "Grade 1: name, plain {not a place}"
    assert text.values["part_0"] is part
    assert (join(["a", "b", "c"], " and "), join([])) == ("a and b and c", "")
    assert join_sentences([begin(part), "It is so."]) == "Grade 1: name It is so."


def test_the_order_key_depends_exactly_on_seed_annotator_and_name() -> None:
    assert order_key(7, "花子", "Q1") == order_key(7, "花子", "Q1")
    indexes = [
        order_key(7, "花子", "Q1"),
        order_key(8, "花子", "Q1"),
        order_key(7, "민준", "Q1"),
        order_key(7, "花子", "Q2"),
    ]
    assert len(set(indexes)) == 4
    assert {len(message) for message in indexes} == {8}
    assert order_key(7, "\ud800", "x"), "an id that is no text has a place as well"
