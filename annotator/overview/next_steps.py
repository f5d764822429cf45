"""What a lead does next, derived from where the dataset stands: a short list, in the order of the walk.

Pure rules. Pages show these steps with their links, the command line could print them. A step that is not open
yet is not named: without pairs there is nothing to say about agreement.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from annotator.domain.agreement import Value

Page = Literal["label", "people", "agreement", "disagreements", "pool", "releases"]
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: what, why, and where: on a page of the app, or by commands, or both."""

    what: str
    why: str
    page: Page | None = None
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a dataset stands, in the figures that the steps follow from.

    `annotators`: people who label, simulated ones included. `short`: undecided pairs with fewer than `overlap`
    judgments, `begun`: those of them with some. `shared`: pairs that agreement is measured on. `kappa`: the
    dataset's, unweighted. `ready`: whether every gate of a release is met, but for those in `to_override`, which no
    work here can meet. `open_gates`: the (name, why) of gates not met that no other figure tells of. `settled`: pairs with a grade.
    `version`: of the latest release, None without one; `changed`: whether what is settled differs from it.
    `missing`: what the dataset is required to cover and does not, by name.
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
    kappa: Value
    kappa_target: float
    kappa_met: bool
    disagreements: int
    ready: bool
    settled: int
    version: str | None
    changed: bool
    missing: tuple[str, ...] = ()
    open_gates: tuple[tuple[str, str], ...] = ()
    to_override: tuple[str, ...] = ()


def suggest_steps(standing: Standing) -> tuple[Step, ...]:
    """What to do next, first things first; one step that says so when nothing is left."""
    if not standing.queries:
        return (_import_queries(standing),)
    if not standing.pairs:
        return (_make_pool(standing), *_cover(standing))
    steps = (
        *_judge(standing),
        *_agree(standing),
        *_decide(standing),
        *_cover(standing),
        *_pass_gates(standing),
        *_publish(standing),
    )
    return steps or (_say_done(standing),)


def _import_queries(standing: Standing) -> Step:
    return Step(
        "Import the queries",
        "The dataset is empty. It begins with what people search for: YAML, JSON, CSV or JSONL.",
        commands=(f"annotator import queries {standing.dataset} FILE",),
    )


def _make_pool(standing: Standing) -> Step:
    name, queries = standing.dataset, count(standing.queries, "query", "queries")
    runs = (f"annotator import run {name} FILE --system NAME", f"annotator pool {name} --depth 10")
    if not standing.documents:
        why = f"There {_are(standing.queries)} {queries} and no document to judge for them yet."
        return Step(
            "Import documents and make the pool",
            why,
            "pool",
            (f"annotator import documents {name} PATH", *runs),
        )
    own = f"annotator pool {name} --depth 10 --retrieve bm25"
    documents = count(standing.documents, "document")
    why = f"There {_are(standing.queries)} {queries} and {documents}, but no pair to judge yet. "
    return Step("Make the pool", f"{why}Without a run of a system: use the last command alone.", "pool",
                (*runs, own))  # fmt: skip


def _judge(standing: Standing) -> Iterator[Step]:
    if not standing.short:
        return
    if standing.annotators < standing.overlap:
        there = count(standing.annotators, "annotator")
        yield Step(
            "Add annotators",
            f"Each pair is judged by {standing.overlap}, and there {_are(standing.annotators)} {there}.",
            "people",
        )
    begun = f" {standing.begun:,} of them {_are(standing.begun)} begun." if standing.begun else ""
    yield Step(
        f"Have {count(standing.short, 'pair')} judged",
        f"They are short of the {count(standing.overlap, 'judgment')} each pair needs.{begun} "
        "Annotators find them on the page Label; what you judge yourself, another lead must decide.",
        "label",
    )


def _agree(standing: Standing) -> Iterator[Step]:
    if standing.kappa_met:
        return
    if not standing.shared:
        if standing.overlap == 1:
            yield Step(
                "Let two annotators judge each pair",
                "With one judgment for each pair there is no agreement to measure, and a release needs it.",
                commands=(f"annotator dataset set {standing.dataset} overlap=2",),
            )
            return
        if standing.short:
            return
    over = f"over {count(standing.shared, 'pair')}"
    if standing.kappa.value is None:
        yield Step(
            "See why agreement is undefined", f"κ has no value {over}: {standing.kappa.why}.", "agreement"
        )
        return
    measured, target = show_beside(standing.kappa.value, standing.kappa_target)
    yield Step(
        f"Raise agreement: κ is {measured}, its target {target}",
        f"Measured {over}. Look which grades are confused, then sharpen the guideline.",
        "agreement",
    )  # fmt: skip


def _decide(standing: Standing) -> Iterator[Step]:
    if standing.disagreements:
        yield Step(
            f"Settle {count(standing.disagreements, 'open disagreement')}",
            "The annotators gave different grades. A lead decides each, and says why.",
            "disagreements",
        )


def _cover(standing: Standing) -> Iterator[Step]:
    if not standing.missing:
        return
    named = ", ".join(standing.missing[:_NAMED])
    if len(standing.missing) > _NAMED:
        named += f" and {len(standing.missing) - _NAMED} more"
    yield Step(
        f"Meet {count(len(standing.missing), 'requirement')} of coverage",
        f"The dataset does not have what it is required to cover: {named}. Import the queries that it lacks, "
        "pool and judge more, or change the requirements.",
        "releases",
        (f"annotator dataset set {standing.dataset} requirements=FILE",),
    )


def _pass_gates(standing: Standing) -> Iterator[Step]:
    if standing.short or standing.disagreements:
        return
    for name, why in standing.open_gates:
        yield Step(f"Meet the gate {name}", f"{why[:1].upper()}{why[1:]}.", "releases")


def _publish(standing: Standing) -> Iterator[Step]:
    if not standing.settled and not standing.short and not standing.disagreements:
        yield Step("Look at the pool", "No pair could be graded, so there is nothing to publish.", "pool")
    if not standing.ready or not standing.settled or not standing.changed:
        return
    qrels = count(standing.settled, "settled pair")
    gates = " and ".join(standing.to_override)
    override = f" Its gate {gates} has to be overridden, with a reason." if gates else ""
    if standing.version is None:
        met = "Every other gate" if gates else "Every gate"
        yield Step("Publish the first release", f"{met} is met; it will hold {qrels}.{override}", "releases")
    else:
        why = f"What is settled has changed since version {standing.version}; it will hold {qrels}.{override}"
        yield Step("Publish a new release", why, "releases")


def _say_done(standing: Standing) -> Step:
    if not standing.ready:
        return Step("See what a release still needs", "One of its gates is not met.", "releases")
    return Step(
        "Nothing is left to do",
        f"Version {standing.version} holds everything that is settled.",
        "releases",
    )


def show_beside(measured: float, target: float) -> tuple[str, str]:
    """Both figures with two digits, or with as many as it takes to tell them apart (six at most)."""
    for digits in range(2, 6):
        shown = f"{measured:.{digits}f}", f"{target:.{digits}f}"
        if shown[0] != shown[1] or measured == target:
            return shown
    return f"{measured:.6f}", f"{target:.6f}"


def count(number: int, one: str, many: str | None = None) -> str:
    """The number with its noun: "1 pair", "1,200 pairs"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
