"""The gate `quality_control`: what a third expert's sample says, by the reading that the dataset's `quality_rule` names.

By `bound` it is measured by the largest share of errors that the sample leaves possible, by `rate` by the share that it
happens to show. Either way its words tell both. Pure; the verdict is the stage quality's.
"""

from annotator.domain.messages import Message, join, say, say_n
from annotator.quality.records import LIMIT, QualityStatus
from annotator.releases.records import DIGITS, Gate

NAME = "quality_control"


def check_quality(status: QualityStatus | None, *, dataset: str) -> Gate:
    """Met when the verdict by the dataset's own rule is "passed". None, or no draw: nothing was checked."""
    if status is None or not status.round:
        why = say("not done: draw a sample (annotator qc draw {dataset} --annotator USER)", dataset=dataset)
        return Gate(NAME, LIMIT, None, False, why=why)
    found = status.rates["any"]
    measured = found.bound if status.rule == "bound" else found.rate
    measured = None if measured is None else round(measured, DIGITS)
    if status.verdict == "passed":
        return Gate(NAME, LIMIT, measured, True, why=say_found(status))
    return Gate(NAME, LIMIT, measured, False, why=join((say_found(status), _say_work(status, dataset)), ": "))


def say_found(status: QualityStatus) -> Message:
    """What the sample shows and what it proves."""
    found = status.rates["any"]
    if found.rate is None or found.bound is None:
        return say_n(
            "{n:,} pair is drawn, and none is checked yet",
            "{n:,} pairs are drawn, and none is checked yet",
            status.drawn,
        )
    return say_n(
        "{n:,} error among {checked:,} pairs checked ({rate:.2%}), so up to {bound:.2%} of all {population:,} may be errors",
        "{n:,} errors among {checked:,} pairs checked ({rate:.2%}), so up to {bound:.2%} of all {population:,} may be errors",
        found.errors,
        checked=found.checked,
        rate=found.rate,
        bound=found.bound,
        population=status.population,
    )


def _say_work(status: QualityStatus, dataset: str) -> Message:
    if status.verdict == "undecided" and status.waiting:
        return say_n(
            "{n:,} of those drawn waits for the expert on the page Label (annotator qc status {dataset})",
            "{n:,} of those drawn wait for the expert on the page Label (annotator qc status {dataset})",
            status.waiting,
            dataset=dataset,
        )
    if status.verdict == "undecided" and status.further:
        return say_n(
            "{n:,} more without an error would pass, so draw more (annotator qc draw {dataset} --annotator USER)",
            "{n:,} more without an error would pass, so draw more (annotator qc draw {dataset} --annotator USER)",
            status.further,
            dataset=dataset,
        )
    return say(
        "look at the errors, sharpen the guideline, and when the grades are better begin a new sample "
        "(annotator qc draw {dataset} --annotator USER --new-round)",
        dataset=dataset,
    )
