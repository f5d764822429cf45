"""The step that leads from decided disputes to the guideline. Pure."""

from annotator.domain.messages import Message, say, say_n

FEW = 5
"""From so many on it is worth a new version of the guideline."""


def say_lessons(waiting: int) -> tuple[Message, Message]:
    """What to do, and why. `waiting`: decisions and questions that no version answers yet."""
    what = say("Write into the guideline what disputes taught")
    why = say_n(
        "{n:,} decision or question waits for it. The page sums up what they have in common, with examples at hand.",
        "{n:,} decisions and questions wait for it. The page sums up what they have in common, with examples at hand.",
        waiting,
    )
    return what, why
