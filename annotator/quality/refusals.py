"""Why nothing is drawn, in sentences that name what would help."""

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say, say_n
from annotator.quality.records import QualityPreview

MOST_SEED = 2**31 - 1


def check_numbers(rate: float, size: int | None, seed: int) -> None:
    """Refuse a share, a number of pairs or a seed that cannot be one."""
    if not 0 < rate <= 1:
        raise ValidationError(
            say("rate: expected a share above 0 and at most 1, such as 0.1, found {found}", found=rate)
        )
    if size is not None and size < 1:
        raise ValidationError(say("size: expected a number of pairs from 1 on, found {found}", found=size))
    if not 0 <= seed <= MOST_SEED:
        raise ValidationError(
            say("seed: expected a number from 0 to {most}, found {found}", most=MOST_SEED, found=seed)
        )


def say_nothing_missing(found: QualityPreview) -> Message:
    """The round's sample is as large as was asked for; what is drawn is not drawn again."""
    if found.drawn >= found.population:
        return say_n(
            "nothing to draw: the sample of round {round} holds {n:,} pair, all that {annotator} can check; begin a new round with --new-round, or name somebody else",
            "nothing to draw: the sample of round {round} holds all {n:,} pairs that {annotator} can check; begin a new round with --new-round, or name somebody else",
            found.drawn, round=found.round, annotator=found.annotator,
        )  # fmt: skip
    return say_n(
        "nothing to draw: the sample of round {round} holds {drawn:,} of {n:,} pair already, and what is drawn is not drawn again; more are drawn from --rate {rate} or --size {size} on, a sample from nothing with --new-round",
        "nothing to draw: the sample of round {round} holds {drawn:,} of {n:,} pairs already, and what is drawn is not drawn again; more are drawn from --rate {rate} or --size {size} on, a sample from nothing with --new-round",
        found.population, drawn=found.drawn, round=found.round, size=found.drawn + 1,
        rate=find_higher_rate(found.drawn, found.population),
    )  # fmt: skip


def say_all_outside(annotator: str, settled: int) -> Message:
    """There are settled pairs, and none of them is for this person to check."""
    return say_n(
        "{annotator} cannot check the {n:,} settled pair: they judged, proposed or saw it, or do not judge its query; name somebody else",
        "{annotator} cannot check any of the {n:,} settled pairs: they judged, proposed or saw them, or do not judge their queries; name somebody else",
        settled, annotator=annotator,
    )  # fmt: skip


def say_too_many(annotator: str, size: int, population: int) -> Message:
    """More pairs were asked for than there are."""
    return say_n(
        "size: expected at most {n:,}, the pair that {annotator} can check, found {size:,}",
        "size: expected at most {n:,}, the pairs that {annotator} can check, found {size:,}",
        population, annotator=annotator, size=size,
    )  # fmt: skip


def find_higher_rate(drawn: int, population: int) -> str:
    """A short share of the population that is more than what is drawn."""
    for digits in (2, 3, 4, 5, 6, 7):
        rate = (drawn * 10**digits // population + 1) / 10**digits
        if rate <= 1 and (digits > 2 or rate < 1):
            return f"{rate:g}"
    return "1"
