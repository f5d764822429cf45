"""The queue's own words in the reader's language: why a pair is in it, in which order it comes, what a filter lets through."""

from annotator.adjudication.queue_records import QueueFilter
from annotator.domain.disputes import Reason
from annotator.domain.messages import join, say
from annotator.domain.reasons import REASONS
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.words import name_word

SORTS = {
    "distance": say("the furthest apart first"),
    "impact": say("the greatest impact first"),
    "age": say("the longest open first"),
    "query": say("by query"),
    "category": say("by category"),
    "grades": say("by the grades"),
    "annotators": say("by annotators"),
}
MEANINGS = {
    Reason.DIFFER: say("independent grades differ"),
    Reason.UNRATEABLE: say("one annotator graded the pair, another could not rate it"),
    Reason.QUALITY: say("a third expert contradicts the settled grade"),
    Reason.OBJECTION: say("an annotator objects to what was decided"),
    Reason.QUESTION: say("an annotator asked something that nobody has answered"),
    Reason.STALE: say("judged or decided before the guideline changed its meaning"),
}


def name_reasons(reasons: Reason) -> str:
    """Why a pair waits, or did."""
    return tr(join(REASONS[reason] for reason in Reason if reason in reasons))


def say_reasons() -> str:
    """What each reason means: Markdown, for a help text."""
    return "\n".join(f"- **{tr(name)}**: {tr(MEANINGS[reason])}" for reason, name in REASONS.items())


def say_impact() -> str:
    """What the impact is."""
    return tr(
        "How far the choice between the candidate grades moves nDCG@10 of the system that it moves most, on the pair's query: "
        "0 changes nothing, 1 everything. Without runs of systems: by how few relevant documents the query has."
    )


def say_sorts() -> str:
    """What each order puts first: Markdown, for a help text."""
    return "\n".join(
        (
            "- "
            + tr("**The furthest apart**: 0 against 3 before 2 against 3; among equals the oldest first."),
            "- " + tr("**The greatest impact**:") + " " + say_impact(),
            "- " + tr("**The longest open**: since the first reason that it waits for."),
            "- "
            + tr(
                "**By query, category, the grades or annotators**: what belongs together, one after the other."
            ),
            "- " + tr("What you put off comes last."),
        )
    )


def describe_filter(wanted: QueueFilter) -> list[str]:
    """What is asked for, condition by condition; nothing where all that is open is shown."""
    said = []
    if wanted.shown != "open":
        said.append(tr("decided ones") if wanted.shown == "decided" else tr("open and decided ones"))
    if wanted.reasons:
        said.append(name_reasons(wanted.reasons))
    if wanted.query_id is not None:
        said.append(tr("query {query_id}", query_id=wanted.query_id))
    if wanted.category is not None:
        said.append(tr("category {category}", category=wanted.category or tr("(none)")))
    if wanted.annotators:
        said.append(tr("judged by {people}", people=" + ".join(wanted.annotators)))
    if wanted.grades is not None:
        said.append(tr("{low} against {high}", low=wanted.grades[0], high=wanted.grades[1]))
    if wanted.distance is not None:
        said.append(name_distance(wanted.distance))
    if wanted.taste is not None:
        said.append(tr("differ only by taste") if wanted.taste else tr("differ not only by taste"))
    if wanted.flips:
        said.append(tr("can change the order of systems"))
    if wanted.assigned is not None:
        said.append(tr("given to {name}", name=wanted.assigned) if wanted.assigned else tr("given to nobody"))
    return said


def name_distance(distance: int) -> str:
    """How far apart the grades are."""
    return tr_n("{n} grade apart", "{n} grades apart", distance)


def name_decided(decided: int | str | None) -> str:
    """What a pair is settled as."""
    return "" if decided is None else name_word(str(decided))
