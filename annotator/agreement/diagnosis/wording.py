"""Format the figures in the sentences of the diagnosis: with their interval, and with what they count."""

import math
from collections.abc import Collection, Sequence

from annotator.agreement.records import CoefficientValue, Interval
from annotator.domain.figures import show_number
from annotator.domain.messages import Message, join_sentences, say, say_n


def show_value(value: CoefficientValue) -> str:
    """Return a value with its interval: 0.72 [0.65, 0.78]."""
    return show_with_interval(value.value if value.value is not None else float("nan"), value.ci95)


def show_with_interval(figure: float, ci95: Interval | None, *, signed: bool = False) -> str:
    """Return a figure with its interval; `signed`: with a plus sign if it is above 0."""
    shown = [show_number(end, 2, signed=signed) for end in ci95 or ()]
    return show_number(figure, 2, signed=signed) + (f" [{', '.join(shown)}]" if shown else "")


def show_both(annotators: Sequence[str]) -> Message:
    return say("{first} and {second}", first=annotators[0], second=annotators[1])


def show_pairs(number: int) -> Message:
    return say_n("{n} pair", "{n} pairs", number)


def add_note_on_left_out(sentence: str, left_out: Collection[str]) -> str:
    """Return the sentence, with a note if annotators who almost always give one grade are left out."""
    if not left_out:
        return sentence
    return join_sentences(
        [sentence, say("Annotators who almost always give the same grade are excluded here.")]
    )


def round_up(number: float) -> int:
    """Round up to two leading digits: an estimate of how much work is needed deserves no more."""
    whole = math.ceil(round(number, 6))
    unit = int(10 ** max(0, len(str(whole)) - 2))
    return -(-whole // unit) * unit
