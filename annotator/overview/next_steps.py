"""Suggest a lead's next steps on a dataset: a short list, in the order of the work.

Steps that are not possible yet are left out: without pairs, there is no step on agreement.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from annotator.agreement.records import CoefficientValue
from annotator.domain.figures import show_beside
from annotator.domain.messages import Message, begin, join, join_sentences, say, say_n
from annotator.domain.settling import LASTING, REASONS, QueueReason
from annotator.releases.records import GATE_NAMES

FEW = 5
"""From this many unanswered decisions and questions on, a new version of the guideline is suggested."""


def describe_feedback(waiting: int) -> tuple[Message, Message]:
    """Return the step to the guideline as (what to do, why). `waiting`: unanswered decisions and questions."""
    title = say("Add the lessons from disagreements to the guideline")
    why = say_n(
        "{n:,} decision or question is waiting to be answered in the guideline. The page shows what they have in common, with examples.",
        "{n:,} decisions and questions are waiting to be answered in the guideline. The page shows what they have in common, with examples.",
        waiting,
    )
    return title, why


@dataclass(frozen=True, slots=True)
class WaitingDisagreements:
    """The disagreements that wait for a decision, by reason. `flips`: those that can change the order of systems."""

    open: int = 0
    by_reason: Mapping[QueueReason, int] = field(default_factory=dict)
    flips: int = 0


NOTHING = WaitingDisagreements()


def describe_waiting(
    waiting: WaitingDisagreements, disagreements: int, reopened: int
) -> tuple[Message, Message]:
    """Return the step to the queue as (what to do, why).

    `disagreements`: those without a settled grade. `reopened`: those of them that quality control reopened.
    """
    n = waiting.open
    sentences = [_explain_reopened(reopened)] if disagreements else [_describe_settled(n)]
    if 0 < disagreements < n:
        sentences.append(
            say_n(
                "{n:,} of them has no settled grade yet and holds up the next release. The others have one, but an objection, a question or a newer guideline calls it into question.",
                "{n:,} of them have no settled grade yet and hold up the next release. The others have one, but an objection, a question or a newer guideline calls it into question.",
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
        sentences.append(say("Reasons: {reasons}.", reasons=join(counted)))
    if waiting.flips:
        sentences.append(
            say_n(
                "{n:,} of them can change the order of systems: decide it first.",
                "{n:,} of them can change the order of systems: decide these first.",
                waiting.flips,
            )
        )
    title = say_n("Decide {n:,} waiting pair", "Decide {n:,} waiting pairs", n)
    return title, join_sentences(sentences)


def _describe_settled(n: int) -> Message:
    return say_n(
        "It has a settled grade, but an objection, a question or a newer guideline calls it into question.",
        "All of them have a settled grade, but an objection, a question or a newer guideline calls it into question.",
        n,
    )


def _explain_reopened(reopened: int) -> Message:
    if reopened:
        return say_n(
            "Quality control reopened {n:,} of them: the checker disagrees with its settled grade. A lead decides it and gives a rationale.",
            "Quality control reopened {n:,} of them: the checker disagrees with their settled grades. A lead decides each and gives a rationale.",
            reopened,
        )
    return say("Annotators gave different grades. A lead decides each pair and gives a rationale.")


Page = Literal[
    "label",
    "people",
    "agreement",
    "disagreements",
    "pool",
    "releases",
    "questions",
    "guideline",
    "quality",
    "import",
    "settings",
]
_NAMED = 3
_QUALITY = "quality_control"


@dataclass(frozen=True, slots=True)
class NextStep:
    """A step for a lead."""

    what: Message
    why: Message
    page: Page | None = None  # of the app, where it is done
    gate: str | None = None  # name of the release gate that it serves


@dataclass(frozen=True, slots=True)
class DatasetFigures:
    """The figures of a dataset that decide its next steps.

    `annotators`: people who label, including simulated ones. `short`: undecided pairs with fewer than
    `overlap` judgments; `begun`: those of them with some. `shared`: pairs in the measure of agreement.
    `kappa`: unweighted; `kappa_open`: its interval contains the target. `disagreements`: open ones;
    `reopened`: those of them from quality control. `ready`: every release gate is met. `open_gates`: (name,
    why) of unmet gates without a step of their own. `settled`: pairs with a grade. `version`: of the latest
    release; None without one. `changed`: the settled grades differ from it. `questions`: unanswered ones.
    `outdated`: judgments under an older guideline or on an older text. `waiting`: the queue, which also has
    settled pairs. `waiting_feedback`: decisions and questions that wait for the guideline. `missing`: unmet
    requirements by name.
    """

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
    waiting_feedback: int = 0


def suggest_steps(figures: DatasetFigures) -> tuple[NextStep, ...]:
    """Return the next steps in order. If there is no more work, one step says so."""
    if not figures.queries:
        why = say("The dataset is empty. Start with the queries: YAML, JSON, CSV or JSONL.")
        return (NextStep(say("Import the queries"), why, "import"),)
    if not figures.pairs:
        return (_make_pool(figures), *_cover(figures))
    steps = (
        *_answer(figures),
        *_judge(figures),
        *_confirm(figures),
        *_agree(figures),
        *_decide(figures),
        *_cover(figures),
        *_pass_gates(figures),
        *_publish(figures),
    )
    return steps or (_make_last_step(figures),)


def _make_pool(figures: DatasetFigures) -> NextStep:
    if not figures.documents:
        why = say_n(
            "There is {n:,} query, but no documents yet.",
            "There are {n:,} queries, but no documents yet.",
            figures.queries,
        )
        return NextStep(say("Import documents and make the pool"), why, "import")
    why = say_n(
        "There is {n:,} query and {documents}, but no pair to judge yet.",
        "There are {n:,} queries and {documents}, but no pair to judge yet.",
        figures.queries,
        documents=say_n("{n:,} document", "{n:,} documents", figures.documents),
    )
    return NextStep(say("Make the pool"), why, "pool")


def _judge(figures: DatasetFigures) -> Iterator[NextStep]:
    if not figures.short:
        return
    if figures.annotators < figures.overlap:
        why = say_n(
            "Each pair is judged by {overlap}, and there is {n:,} annotator.",
            "Each pair is judged by {overlap}, and there are {n:,} annotators.",
            figures.annotators,
            overlap=figures.overlap,
        )
        yield NextStep(say("Add annotators"), why, "people")
    needed = say_n("{n:,} judgment", "{n:,} judgments", figures.overlap)
    if figures.begun:
        why = say_n(
            "Each pair needs {needed}; these have fewer, and judging has begun on {n:,} of them. Annotators find them on the page Label. If you judge a pair yourself, another lead must decide its disagreement.",
            "Each pair needs {needed}; these have fewer, and judging has begun on {n:,} of them. Annotators find them on the page Label. If you judge a pair yourself, another lead must decide its disagreement.",
            figures.begun,
            needed=needed,
        )
    else:
        why = say(
            "Each pair needs {needed}; these have fewer. Annotators find them on the page Label. If you judge a pair yourself, another lead must decide its disagreement.",
            needed=needed,
        )
    yield NextStep(
        say_n("Have {n:,} pair judged", "Have {n:,} pairs judged", figures.short), why, "label", "overlap"
    )


def _answer(figures: DatasetFigures) -> Iterator[NextStep]:
    if figures.questions:
        yield NextStep(
            say_n(
                "{n} question waits for an answer", "{n:,} questions wait for an answer", figures.questions
            ),
            say("Annotators asked about pairs. You can mark your answers for the guideline."),
            "questions",
        )


def _confirm(figures: DatasetFigures) -> Iterator[NextStep]:
    if figures.outdated:
        yield NextStep(
            say_n(
                "Have {n:,} judgment confirmed or changed",
                "Have {n:,} judgments confirmed or changed",
                figures.outdated,
            ),
            say(
                "They are based on an older guideline or text. Their annotators see them first on the page Label."
            ),
            "guideline",
        )


def _agree(figures: DatasetFigures) -> Iterator[NextStep]:
    if figures.kappa_met:
        return
    if not figures.shared:
        if figures.overlap == 1:
            yield NextStep(
                say("Let two annotators judge each pair"),
                say("A release needs agreement, which cannot be measured with one judgment per pair."),
                "settings",
                "kappa",
            )
            return
        if figures.short:
            return
    if figures.kappa.value is None:
        why = say_n(
            "κ is undefined over {n:,} pair: {why}.",
            "κ is undefined over {n:,} pairs: {why}.",
            figures.shared,
            why=figures.kappa.why,
        )
        yield NextStep(say("See why agreement is undefined"), why, "agreement", "kappa")
        return
    measured, target = show_beside(figures.kappa.value, figures.kappa_target)
    if figures.kappa_open:
        title = say(
            "Check whether agreement is high enough: κ is {measured}, the target is {target}",
            measured=measured,
            target=target,
        )
        why = say_n(
            "Measured over {n:,} pair, which is not enough to tell. The page shows what is needed.",
            "Measured over {n:,} pairs, which is not enough to tell. The page shows what is needed.",
            figures.shared,
        )
    else:
        title = say(
            "Improve agreement: κ is {measured}, the target is {target}", measured=measured, target=target
        )
        why = say_n(
            "Measured over {n:,} pair. See which grades are confused, then make the guideline clearer.",
            "Measured over {n:,} pairs. See which grades are confused, then make the guideline clearer.",
            figures.shared,
        )
    yield NextStep(title, why, "agreement", "kappa")


def _decide(figures: DatasetFigures) -> Iterator[NextStep]:
    if figures.waiting.open:
        title, why = describe_waiting(figures.waiting, figures.disagreements, figures.reopened)
        yield NextStep(title, why, "disagreements", "disagreements")
    if figures.waiting_feedback >= FEW:
        yield NextStep(*describe_feedback(figures.waiting_feedback), "guideline")


def _cover(figures: DatasetFigures) -> Iterator[NextStep]:
    if not figures.missing:
        return
    named = join(figures.missing[:_NAMED])
    if len(figures.missing) > _NAMED:
        named = say("{named} and {n} more", named=named, n=len(figures.missing) - _NAMED)
    yield NextStep(
        say_n(
            "Meet {n:,} requirement of coverage", "Meet {n:,} requirements of coverage", len(figures.missing)
        ),
        say(
            "Missing: {named}. Import the missing queries, pool and judge more, or change the requirements.",
            named=named,
        ),
        "settings",
        "coverage",
    )


def _pass_gates(figures: DatasetFigures) -> Iterator[NextStep]:
    if figures.short or figures.disagreements:
        return
    for name, why in sorted(figures.open_gates, key=lambda gate: gate[0] == _QUALITY):
        sentence = begin(why) if why.endswith(".") else join((begin(why), "."), "")
        if name == _QUALITY:
            yield NextStep(say("Have a sample checked"), sentence, "quality", name)
        else:
            yield NextStep(
                say("Meet the gate “{name}”", name=GATE_NAMES.get(name, name)), sentence, "releases", name
            )


def _publish(figures: DatasetFigures) -> Iterator[NextStep]:
    if not figures.settled and not figures.short and not figures.disagreements:
        yield NextStep(
            say("Check the pool"), say("No pair could be graded, so there is nothing to publish."), "pool"
        )
    if not figures.ready or not figures.settled or not figures.changed:
        return
    qrels = say_n("{n:,} settled pair", "{n:,} settled pairs", figures.settled)
    if figures.version is not None:
        why = say(
            "Settled grades have changed since version {version}. The release will contain {qrels}.",
            version=figures.version,
            qrels=qrels,
        )
        yield NextStep(say("Publish a new release"), why, "releases")
        return
    reason = say(
        "No disagreement is open and every gate is met. The release will contain {qrels}.", qrels=qrels
    )
    if figures.waiting.open:
        reason = say("Every gate is met. The release will contain {qrels}.", qrels=qrels)
    yield NextStep(say("Publish the first release"), reason, "releases")


def _make_last_step(figures: DatasetFigures) -> NextStep:
    if not figures.ready:
        return NextStep(
            say("See what a release still needs"), say("One of its gates is not met."), "releases"
        )
    return NextStep(
        say("Nothing is left to do"),
        say("Version {version} contains all settled grades.", version=figures.version),
        "releases",
    )
