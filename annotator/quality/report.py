"""Describe the result of a checked sample, the next steps, and the results of every draw.

By the rate: *passed* if the whole sample (10 % of the settled pairs, or all drawn pairs if more) is checked
and fewer than 5 % are errors; *failed* as soon as the waiting pairs cannot bring the rate below 5 %. By the
bound: *passed* if the sample excludes every number of errors that is 5 % of the population or more; *failed*
if it proves 5 % or more. A pair that the expert cannot rate, or can no longer answer, is neither right nor
wrong and stays in the population. Verdict and figures are of the present round; earlier rounds are kept.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from annotator.domain.figures import show_percent
from annotator.domain.messages import Message, say, say_n
from annotator.quality.records import (
    CONFIDENCE,
    DEFAULT_RATE,
    LIMIT,
    ErrorKind,
    ErrorRate,
    QualityDraw,
    QualityError,
    QualityStatus,
    SampledPair,
    Verdict,
)
from annotator.quality.sampling import (
    compute_bound,
    count_further,
    find_chance_of_passing,
    find_target,
    is_disproven,
    is_proven,
)

IS_ERROR: dict[ErrorKind, Callable[[int, int], bool]] = {
    "any": lambda settled, expert: settled != expert,
    "far": lambda settled, expert: abs(settled - expert) >= 2,
    "relevance": lambda settled, expert: (settled >= 1) != (expert >= 1),
}


@dataclass(frozen=True, slots=True)
class CheckedSample:
    """The state of a sample."""

    population: int  # pairs that the sample represents
    drawn: int  # of the population
    unrateable: int
    barred: int
    grades: Sequence[tuple[int, int]]  # (settled, the expert's) of each checked pair

    @property
    def waiting(self) -> int:
        return self.drawn - len(self.grades) - self.unrateable - self.barred

    def count(self, kind: ErrorKind) -> int:
        """Return the number of errors of that kind."""
        return sum(IS_ERROR[kind](settled, expert) for settled, expert in self.grades)


def compute_rates(sample: CheckedSample) -> dict[str, ErrorRate]:
    """Return the rate of each kind of error, without figures while nothing is checked."""
    checked = len(sample.grades)
    if not checked:
        return dict.fromkeys(IS_ERROR, ErrorRate(0, 0, None, None, None))
    from annotator.agreement.intervals import exact_interval

    rates: dict[str, ErrorRate] = {}
    for kind in IS_ERROR:
        errors = sample.count(kind)
        rates[kind] = ErrorRate(
            errors,
            checked,
            errors / checked,
            exact_interval(errors, checked, level=CONFIDENCE),
            compute_bound(errors, checked, sample.population),
        )
    return rates


def judge_by_rate(sample: CheckedSample) -> Verdict:
    """Return the verdict by the rate. A sample of less than 10 % is undecided."""
    errors, checked = sample.count("any"), len(sample.grades)
    if sample.drawn - sample.barred < find_target(sample.population, DEFAULT_RATE) or not checked:
        return "undecided"
    if errors >= LIMIT * (checked + sample.waiting) - 1e-9:
        return "failed"
    return "undecided" if sample.waiting else "passed"


def judge_by_bound(sample: CheckedSample) -> Verdict:
    """Return the verdict by the bound."""
    numbers = sample.count("any"), len(sample.grades), sample.population
    if is_proven(*numbers):
        return "passed"
    return "failed" if is_disproven(*numbers) else "undecided"


def find_further(sample: CheckedSample) -> int | None:
    """Return how many more pairs without an error would pass by the bound; None if all remaining pairs are too few."""
    checked = len(sample.grades)
    left = sample.population - checked - sample.unrateable - sample.barred
    return count_further(sample.count("any"), checked, sample.population, left=left)


_VERDICTS = {
    ("bound", "passed"): say(
        "Passed: fewer than 5 % of the settled grades are errors, with 95 % confidence."
    ),
    ("bound", "failed"): say("Failed: 5 % or more of the settled grades are errors, with 95 % confidence."),
    ("bound", "undecided"): say(
        "Not decided: the sample is too small to tell whether fewer than 5 % of the settled grades "
        "are errors."
    ),
    ("rate", "passed"): say("Passed by the observed error rate: fewer than 5 % of the sample are errors."),
    ("rate", "failed"): say("Failed by the observed error rate: 5 % or more of the sample are errors."),
    ("rate", "undecided"): say(
        "Not decided by the observed error rate: not all pairs of the sample are checked yet."
    ),
}


def describe_status(status: QualityStatus) -> tuple[Message, ...]:
    """Return the sentences: verdict, both readings, the pairs needed, and what the sample does not cover."""
    draws = [draw for draw in status.draws if draw.round == status.round]
    draw = draws[-1]
    verdict = _VERDICTS[status.rule, status.verdict]
    least = find_target(status.population, DEFAULT_RATE)
    if status.rule == "rate" and status.drawn - status.barred < least:
        verdict = say(
            "Not decided by the observed error rate: this rule requires a sample of 10 % of the settled "
            "pairs."
        )
    sentences = [
        verdict,
        *_describe_readings(status),
        *_describe_further_pairs(status, draw),
    ]
    if status.waiting:
        sentences.append(
            say_n(
                "{n:,} drawn pair is not checked yet and not counted here.",
                "{n:,} drawn pairs are not checked yet and not counted here.",
                status.waiting,
            )
        )
    if len(draws) > 1:
        sentences.append(_describe_looks(draws))
    reopened = sum(error.state == "reopened" for error in status.errors)
    if reopened:
        sentences.append(
            say_n(
                "{n:,} error is waiting for a decision on Disagreements.",
                "{n:,} errors are waiting for a decision on Disagreements.",
                reopened,
            )
        )
    retired = sum(error.state == "retired" and error.round == draw.round for error in status.errors)
    if retired:
        sentences.append(
            say_n(
                "{n:,} error is in a pair that has left the pool. It needs no decision and still counts as "
                "an error.",
                "{n:,} errors are in pairs that have left the pool. They need no decision and still count as "
                "errors.",
                retired,
            )
        )
    return (*sentences, *_describe_limits(status, draw))


def _show_percent(share: float, *, at_most: bool = False) -> str:
    """Return the percentage without its sign and without zeros at its end, on its side of 5 %."""
    shown = show_percent(share, at_most=at_most, limit=LIMIT, sign="")
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _describe_readings(status: QualityStatus) -> list[Message]:
    rate = status.rates["any"]
    if rate.rate is None or rate.bound is None:
        return [say("No pair of the sample has been checked yet.")]
    shown = {"rate": _show_percent(rate.rate), "errors": rate.errors}
    if rate.rate < LIMIT:
        first = say_n(
            "Observed error rate: {rate} % ({errors:,} of {n:,} checked pair), below 5 %.",
            "Observed error rate: {rate} % ({errors:,} of {n:,} checked pairs), below 5 %.",
            rate.checked,
            **shown,
        )
    else:
        first = say_n(
            "Observed error rate: {rate} % ({errors:,} of {n:,} checked pair), not below 5 %.",
            "Observed error rate: {rate} % ({errors:,} of {n:,} checked pairs), not below 5 %.",
            rate.checked,
            **shown,
        )
    second = say_n(
        "Guaranteed maximum (95 %): at most {bound} % of the {n:,} settled grade are errors.",
        "Guaranteed maximum (95 %): at most {bound} % of the {n:,} settled grades are errors.",
        status.population,
        bound=_show_percent(rate.bound, at_most=True),
    )
    return [first, second]


def _describe_further_pairs(status: QualityStatus, draw: QualityDraw) -> list[Message]:
    verdict, further = status.verdicts["bound"], status.further
    command = f"annotator qc draw {status.dataset} --annotator {draw.annotator}"
    if verdict == "passed":
        return []
    if verdict == "failed" or further is None:
        return [
            say(
                "More pairs cannot bring the guaranteed maximum below 5 %. Decide the errors, look for what "
                "they have in common, and begin a new round: {command}",
                command=f"{command} --new-round",
            )
        ]
    missing = further - status.waiting
    if missing <= 0:
        return [
            say_n(
                "Passes if the next waiting pair shows no error.",
                "Passes if the next {n:,} waiting pairs show no error.",
                further,
            )
        ]
    return [
        say_n(
            "Passes if {n:,} more pair shows no error.",
            "Passes if {n:,} more pairs show no error.",
            further,
        ),
        say_n(
            "This needs {n:,} more drawn pair: {command}",
            "This needs {n:,} more drawn pairs: {command}",
            missing,
            command=f"{command} --size {status.drawn + missing}",
        ),
    ]


def _describe_looks(draws: Sequence[QualityDraw]) -> Message:
    sizes = list(accumulate(draw.pairs for draw in draws))
    return say(
        "This sample was drawn in {steps:,} steps. Drawing more until the sample passes lets too "
        "many errors through in up to {chance} % of cases instead of 5 %.",
        steps=len(draws),
        chance=_show_percent(find_chance_of_passing(sizes, draws[-1].population), at_most=True),
    )


def _describe_limits(status: QualityStatus, draw: QualityDraw) -> list[Message]:
    sentences = []
    if status.unrateable:
        sentences.append(
            say_n(
                "The checker could not rate {n:,} pair; it is not counted.",
                "The checker could not rate {n:,} pairs; they are not counted.",
                status.unrateable,
            )
        )
    if status.barred:
        sentences.append(
            say_n(
                "The checker can no longer judge {n:,} drawn pair; it is not counted.",
                "The checker can no longer judge {n:,} drawn pairs; they are not counted.",
                status.barred,
            )
        )
    if status.settled_since:
        sentences.append(
            say_n(
                "{n:,} pair has been settled since the last draw and is not covered by the sample.",
                "{n:,} pairs have been settled since the last draw and are not covered by the sample.",
                status.settled_since,
            )
        )
    if draw.outside:
        sentences.append(
            say_n(
                "{n:,} settled pair is not covered by the sample: {annotator} has judged, proposed or seen "
                "it, or does not judge its query.",
                "{n:,} settled pairs are not covered by the sample: {annotator} has judged, proposed or seen "
                "them, or does not judge their queries.",
                draw.outside,
                annotator=draw.annotator,
            )
        )
    return sentences


def count_draw_results(draws: Iterable[QualityDraw], pairs: Sequence[SampledPair]) -> tuple[QualityDraw, ...]:
    """Return the draws with the results of their pairs."""
    checked = Counter(pair.draw for pair in pairs if pair.grade is not None)
    unrateable = Counter(pair.draw for pair in pairs if pair.outcome == "unrateable")
    errors = Counter(pair.draw for pair in pairs if _is_error(pair))
    return tuple(
        replace(
            draw, checked=checked[draw.number], unrateable=unrateable[draw.number], errors=errors[draw.number]
        )
        for draw in draws
    )


def list_undecided(pairs: Iterable[SampledPair]) -> list[int]:
    """Return the pair_pks in the pool with an error that no lead has decided."""
    return [pair.pair_pk for pair in pairs if _is_error(pair) and pair.decided is None and not pair.retired]


def list_errors(pairs: Iterable[SampledPair], present: Mapping[int, int | None]) -> tuple[QualityError, ...]:
    """Return the errors: first those that wait for a lead, then by latest round and largest distance.

    `present`: {pair_pk: present settled grade} of undecided pairs. If it is the expert's, the error counts as
    decided.
    """
    errors = []
    for pair in pairs:
        if not _is_error(pair) or pair.grade is None or pair.answered_at is None:
            continue
        error = QualityError(
            pair.key,
            pair.query_id,
            pair.doc_id,
            pair.category,
            pair.settled_grade,
            pair.settled_by,
            pair.grade,
            pair.note,
            pair.draw,
            pair.round,
            pair.answered_at,
            "retired" if pair.retired else "reopened",
        )
        agreed = pair.grade if present.get(pair.pair_pk) == pair.grade else None
        decided = agreed if pair.decided is None else pair.decided
        errors.append(error if decided is None else replace(error, state="decided", decided_grade=decided))
    return tuple(sorted(errors, key=lambda error: (error.state != "reopened", -error.round, -error.distance)))


def _is_error(pair: SampledPair) -> bool:
    return pair.grade is not None and pair.grade != pair.settled_grade
