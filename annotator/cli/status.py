"""`annotator status`: how far a dataset's pairs are, what waits for a lead, and how long that lasts at the present pace."""

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

import typer

from annotator.cli.terminal import DatabaseOption, DatasetArgument, JsonOption, now, open_database, print_json
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.adjudication.queue_pace import QueuePace
    from annotator.overview.service import Status


def status(dataset: DatasetArgument, database: DatabaseOption = None, json: JsonOption = False) -> None:
    """Show how far the pairs are, what waits for a lead, and how long the queue lasts."""
    from annotator.overview.service import show_status

    found = show_status(open_database(database), OPERATOR, dataset, now=now().astimezone())
    if json:
        print_json(_to_json(dataset, found))
        return
    pairs = found.pairs
    statuses = ", ".join(f"{n:,} {status}" for status, n in pairs.by_status.items() if n)
    typer.echo(f"{count_of(pairs.pairs, 'pair')}{': ' if statuses else ''}{statuses}.")
    checks = (
        f"; {count_of(pairs.checks, 'unjudged pair only checks', 'unjudged pairs only check')} annotators"
        if pairs.checks
        else ""
    )
    typer.echo(f"To judge: {count_of(pairs.to_judge, 'pair')}, {pairs.begun:,} begun{checks}.")
    for line in (_say_queue(found), *_say_pace(found.pace)):
        typer.echo(line)


def _to_json(dataset: str, found: "Status") -> dict[str, object]:
    from annotator.adjudication.queue_records import list_words

    queue = found.queue
    return {
        "dataset": dataset,
        "at": now(),
        "pairs": found.pairs.pairs,
        "statuses": found.pairs.by_status,
        "to_judge": found.pairs.to_judge,
        "begun": found.pairs.begun,
        "checks": found.pairs.checks,
        "queue": {
            "open": found.pairs.waiting,
            "by_status": found.pairs.waiting_by_status,
            "by_reason": {list_words(reason)[0]: n for reason, n in queue.by_reason.items()},
            "taste": queue.taste,
            "flips": queue.flips,
        },
        "pace": {**asdict(found.pace), "grows": found.pace.grows},
    }


def _say_queue(found: "Status") -> str:
    from annotator.domain.reasons import REASONS

    pairs = found.pairs
    if not pairs.waiting:
        return "Queue: empty."
    reasons = [f"{REASONS[reason]} {n:,}" for reason, n in found.queue.by_reason.items() if n]
    flips = f"; {found.queue.flips:,} can change the order of systems" if found.queue.flips else ""
    ungraded = f"{pairs.disagreements:,} of them without a settled grade"
    return f"Queue: {count_of(pairs.waiting, 'pair waits', 'pairs wait')} for a lead, {ungraded} ({', '.join(reasons)}){flips}."


def _say_pace(pace: "QueuePace") -> list[str]:
    said = []
    if pace.open:
        work = f"not known: {pace.why_no_work}" if pace.work is None else f"about {_show(pace.work)}"
        days = (
            f"not known: {pace.why_no_days}"
            if pace.working_days_left is None
            else f"about {count_of(max(1, round(pace.working_days_left)), 'working day')} at this pace"
        )
        said += [f"Work left: {work}.", f"It lasts: {days}."]
    if pace.decided:
        said.append(f"Decided in the last 7 days: {pace.decided:,}, on {count_of(pace.working_days, 'day')}.")
    if pace.arrived:
        said.append(
            f"New: {pace.arrived_per_day:.3g} a day{'; more come than are decided' if pace.grows else ''}."
        )
    return said


def _show(seconds: float) -> str:
    """Minutes up to two hours, then hours."""
    minutes = max(1, round(timedelta(seconds=seconds) / timedelta(minutes=1)))
    return count_of(minutes, "minute") if minutes < 120 else count_of(round(minutes / 60), "hour")
