"""Suggest what a lead does next on a dataset: a short list, in the order of the work.

Pure rules; pages show the steps with links. A step that is not possible yet is left out: without pairs, agreement is
not mentioned. Includes the step to the queue (how many pairs wait and why) and from decided disagreements to the
guideline.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from annotator.agreement.records import CoefficientValue
from annotator.domain.messages import Message, begin, join, join_sentences, say, say_n, show_beside
from annotator.domain.settling import LASTING, REASONS, QueueReason

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


@dataclass(frozen=True, slots=True)
class WaitingDisagreements:
    """What waits for a lead's decision: so many disputes, by reason, of which `flips` can change the order of systems."""

    open: int = 0
    by_reason: Mapping[QueueReason, int] = field(default_factory=dict)
    flips: int = 0


NOTHING = WaitingDisagreements()


def say_waiting(waiting: WaitingDisagreements, disagreements: int, reopened: int) -> tuple[Message, Message]:
    """Say what to do, and why. `disagreements`: the waiting pairs without a settled grade, `reopened` of them by quality control."""
    n = waiting.open
    said = [_say_why(reopened)] if disagreements else [_say_settled(n)]
    if 0 < disagreements < n:
        said.append(
            say_n(
                "{n:,} of them has no settled grade until then; the others have one that something speaks against.",
                "{n:,} of them have no settled grade until then; the others have one that something speaks against.",
                disagreements,
            )
        )
    others = {reason: count for reason, count in waiting.by_reason.items() if count and reason not in LASTING}
    if others:
        counted = [
            say("{reason} {n:,}", reason=REASONS[reason], n=waiting.by_reason[reason])
            for reason in QueueReason
            if waiting.by_reason.get(reason)
        ]
        said.append(say("They wait because of: {reasons}.", reasons=join(counted)))
    if waiting.flips:
        said.append(
            say_n(
                "{n:,} of them can change the order of systems: decide it first.",
                "{n:,} of them can change the order of systems: decide these first.",
                waiting.flips,
            )
        )
    what = say_n("Settle {n:,} open disagreement", "Settle {n:,} open disagreements", n)
    return what, join_sentences(said)


def _say_settled(n: int) -> Message:
    return say_n(
        "It has a settled grade that something speaks against.",
        "All of them have a settled grade that something speaks against.",
        n,
    )


def _say_why(reopened: int) -> Message:
    if reopened:
        return say_n(
            "{n:,} of them was reopened by quality control: a third expert contradicts its settled grade. "
            "A lead decides each, and says why.",
            "{n:,} of them were reopened by quality control: a third expert contradicts their settled grades. "
            "A lead decides each, and says why.",
            reopened,
        )
    return say("The annotators gave different grades. A lead decides each, and says why.")


Page = Literal[
    "label", "people", "agreement", "disagreements", "pool", "releases", "questions", "guideline", "quality"
]
_NAMED = 3
_GATES = {
    str(name): name for name in (say("unjudged_queries"), say("relevant"), say("stale"))
}  # the others have a step of their own
_QUALITY = "quality_control"


@dataclass(frozen=True, slots=True)
class NextStep:
    """One thing to do: what, why, and where: on a page of the app, or by commands, or both."""

    what: Message
    why: Message
    page: Page | None = None
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetFigures:
    """Where a dataset stands, in the figures that the steps follow from.

    `annotators`: people who label, simulated ones included. `short`: undecided pairs with fewer than `overlap`
    judgments, `begun`: those of them with some. `shared`: pairs that agreement is measured on. `kappa`: the
    dataset's, unweighted; `kappa_open`: whether its interval holds the target. `disagreements`: the open ones, `reopened` of them by quality control. `ready`: whether every
    gate of a release is met. `open_gates`: the (name, why) of gates not met that no other figure tells of. `settled`: pairs with a grade.
    `version`: of the latest release, None without one; `changed`: whether what is settled differs from it.
    `questions`: how many of annotators' questions wait for an answer. `outdated`: judgments under an older standard or on
    an older text, for their annotators to confirm or change.
    `waiting`: what is in the queue of disputes, which holds more than the disagreements.
    `lessons`: decisions and questions that wait for the guideline. `missing`: what the dataset is required to cover and does not, by name.
    """

    dataset: str
    queries: int
    documents: int
    pairs: int
    overlap: int
    annotators: int
    short: int
    begun: int
    shared: int
    kappa: CoefficientValue
    kappa_target: float
    kappa_met: bool
    disagreements: int
    ready: bool
    settled: int
    version: str | None
    changed: bool
    questions: int = 0
    outdated: int = 0
    missing: tuple[str, ...] = ()
    open_gates: tuple[tuple[str, str], ...] = ()
    reopened: int = 0
    kappa_open: bool = False
    waiting: WaitingDisagreements = NOTHING
    lessons: int = 0


def suggest_steps(standing: DatasetFigures) -> tuple[NextStep, ...]:
    """What to do next, first things first; one step that says so when nothing is left."""
    if not standing.queries:
        return (_import_queries(standing),)
    if not standing.pairs:
        return (_make_pool(standing), *_cover(standing))
    steps = (
        *_answer(standing),
        *_judge(standing),
        *_confirm(standing),
        *_agree(standing),
        *_decide(standing),
        *_cover(standing),
        *_pass_gates(standing),
        *_publish(standing),
    )
    return steps or (_say_done(standing),)


def _import_queries(standing: DatasetFigures) -> NextStep:
    return NextStep(
        say("Import the queries"),
        say("The dataset is empty. It begins with what people search for: YAML, JSON, CSV or JSONL."),
        commands=(f"annotator import queries {standing.dataset} FILE",),
    )


def _make_pool(standing: DatasetFigures) -> NextStep:
    name = standing.dataset
    runs = (f"annotator import run {name} FILE --system NAME", f"annotator pool {name} --depth 10")
    if not standing.documents:
        why = say_n(
            "There is {n:,} query and no document to judge for them yet.",
            "There are {n:,} queries and no document to judge for them yet.",
            standing.queries,
        )
        commands = (f"annotator import documents {name} PATH", *runs)
        return NextStep(say("Import documents and make the pool"), why, "pool", commands)
    own = f"annotator pool {name} --depth 10 --retrieve bm25"
    why = say_n(
        "There is {n:,} query and {documents}, but no pair to judge yet. "
        "Without a run of a system: use the last command alone.",
        "There are {n:,} queries and {documents}, but no pair to judge yet. "
        "Without a run of a system: use the last command alone.",
        standing.queries,
        documents=say_n("{n:,} document", "{n:,} documents", standing.documents),
    )
    return NextStep(say("Make the pool"), why, "pool", (*runs, own))


def _judge(standing: DatasetFigures) -> Iterator[NextStep]:
    if not standing.short:
        return
    if standing.annotators < standing.overlap:
        why = say_n(
            "Each pair is judged by {overlap}, and there is {n:,} annotator.",
            "Each pair is judged by {overlap}, and there are {n:,} annotators.",
            standing.annotators,
            overlap=standing.overlap,
        )
        yield NextStep(say("Add annotators"), why, "people")
    needed = say_n("{n:,} judgment", "{n:,} judgments", standing.overlap)
    if standing.begun:
        why = say_n(
            "They are short of the {needed} each pair needs. {n:,} of them is begun. "
            "Annotators find them on the page Label; what you judge yourself, another lead must decide.",
            "They are short of the {needed} each pair needs. {n:,} of them are begun. "
            "Annotators find them on the page Label; what you judge yourself, another lead must decide.",
            standing.begun,
            needed=needed,
        )
    else:
        why = say(
            "They are short of the {needed} each pair needs. "
            "Annotators find them on the page Label; what you judge yourself, another lead must decide.",
            needed=needed,
        )
    yield NextStep(say_n("Have {n:,} pair judged", "Have {n:,} pairs judged", standing.short), why, "label")


def _answer(standing: DatasetFigures) -> Iterator[NextStep]:
    if standing.questions:
        yield NextStep(
            say_n(
                "{n} question waits for an answer", "{n:,} questions wait for an answer", standing.questions
            ),
            say("Annotators asked about pairs. What you answer can be marked for the guideline."),
            "questions",
        )


def _confirm(standing: DatasetFigures) -> Iterator[NextStep]:
    if standing.outdated:
        yield NextStep(
            say_n(
                "Have {n:,} judgment confirmed or changed",
                "Have {n:,} judgments confirmed or changed",
                standing.outdated,
            ),
            say(
                "They were made under an older standard or on an older text. Their annotators are asked on the page Label, "
                "before anything else."
            ),
            "guideline",
        )


def _agree(standing: DatasetFigures) -> Iterator[NextStep]:
    if standing.kappa_met:
        return
    if not standing.shared:
        if standing.overlap == 1:
            yield NextStep(
                say("Let two annotators judge each pair"),
                say(
                    "With one judgment for each pair there is no agreement to measure, and a release needs it."
                ),
                commands=(f"annotator dataset set {standing.dataset} overlap=2",),
            )
            return
        if standing.short:
            return
    if standing.kappa.value is None:
        why = say_n(
            "κ has no value over {n:,} pair: {why}.",
            "κ has no value over {n:,} pairs: {why}.",
            standing.shared,
            why=standing.kappa.why,
        )
        yield NextStep(say("See why agreement is undefined"), why, "agreement")
        return
    measured, target = show_beside(standing.kappa.value, standing.kappa_target)
    if standing.kappa_open:
        what = say(
            "Find out whether agreement is enough: κ is {measured}, its target {target}",
            measured=measured,
            target=target,
        )
        why = say_n(
            "Measured over {n:,} pair, which does not tell yet. The page says what would.",
            "Measured over {n:,} pairs, which does not tell yet. The page says what would.",
            standing.shared,
        )
    else:
        what = say("Raise agreement: κ is {measured}, its target {target}", measured=measured, target=target)
        why = say_n(
            "Measured over {n:,} pair. Look which grades are confused, then sharpen the guideline.",
            "Measured over {n:,} pairs. Look which grades are confused, then sharpen the guideline.",
            standing.shared,
        )
    yield NextStep(what, why, "agreement")


def _decide(standing: DatasetFigures) -> Iterator[NextStep]:
    if standing.waiting.open:
        what, why = say_waiting(standing.waiting, standing.disagreements, standing.reopened)
        yield NextStep(what, why, "disagreements")
    if standing.lessons >= FEW:
        yield NextStep(*say_lessons(standing.lessons), "guideline")


def _cover(standing: DatasetFigures) -> Iterator[NextStep]:
    if not standing.missing:
        return
    named = join(standing.missing[:_NAMED])
    if len(standing.missing) > _NAMED:
        named = say("{named} and {n} more", named=named, n=len(standing.missing) - _NAMED)
    yield NextStep(
        say_n(
            "Meet {n:,} requirement of coverage", "Meet {n:,} requirements of coverage", len(standing.missing)
        ),
        say(
            "The dataset does not have what it is required to cover: {named}. Import the queries that it lacks, "
            "pool and judge more, or change the requirements.",
            named=named,
        ),
        "releases",
        (f"annotator dataset set {standing.dataset} requirements=FILE",),
    )


def _pass_gates(standing: DatasetFigures) -> Iterator[NextStep]:
    if standing.short or standing.disagreements:
        return
    for name, why in sorted(standing.open_gates, key=lambda gate: gate[0] == _QUALITY):
        said = join((begin(why), "."), "")
        if name == _QUALITY:
            yield NextStep(say("Have a third expert check a sample"), said, "quality")
        else:
            yield NextStep(say("Meet the gate {name}", name=_GATES.get(name, name)), said, "releases")


def _publish(standing: DatasetFigures) -> Iterator[NextStep]:
    if not standing.settled and not standing.short and not standing.disagreements:
        yield NextStep(
            say("Look at the pool"), say("No pair could be graded, so there is nothing to publish."), "pool"
        )
    if not standing.ready or not standing.settled or not standing.changed:
        return
    qrels = say_n("{n:,} settled pair", "{n:,} settled pairs", standing.settled)
    if standing.version is not None:
        why = say(
            "What is settled has changed since version {version}; it will hold {qrels}.",
            version=standing.version,
            qrels=qrels,
        )
        yield NextStep(say("Publish a new release"), why, "releases")
        return
    met = say("The queue is empty and every gate is met; it will hold {qrels}.", qrels=qrels)
    if standing.waiting.open:
        met = say("Every gate is met; it will hold {qrels}.", qrels=qrels)
    yield NextStep(say("Publish the first release"), met, "releases")


def _say_done(standing: DatasetFigures) -> NextStep:
    if not standing.ready:
        return NextStep(
            say("See what a release still needs"), say("One of its gates is not met."), "releases"
        )
    return NextStep(
        say("Nothing is left to do"),
        say("Version {version} holds everything that is settled.", version=standing.version),
        "releases",
    )
