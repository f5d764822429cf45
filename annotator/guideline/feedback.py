"""Summarize decided disagreements as a worklist for the guideline, the most valuable item first.

Each decision is in at most one item: grouped with decisions of the same category, grades and cause; else with
decisions of other categories; else with other requests for a rule, or with other single decisions. Grades are
ignored if a document was misread or knowledge was missing. Slips and decisions without a cause count only if
the lead asked for a rule.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from math import comb

from annotator.domain.messages import Message, join_sentences, say, say_n
from annotator.guideline.records import (
    TEACHING,
    Apart,
    AskedQuestion,
    DecisionExample,
    GuidelineWorklist,
    Kind,
    WorklistItem,
)


def describe_total(disagreements: int, category: str | None, *, others: bool = False) -> Message:
    """Describe the number of decided disagreements. `others`: of all categories that no other item names."""
    if category is not None:
        return say_n(
            "{n:,} decided disagreement in {category}",
            "{n:,} decided disagreements in {category}",
            disagreements,
            category=category,
        )
    if others:
        return say_n(
            "{n:,} decided disagreement in other categories",
            "{n:,} decided disagreements in other categories",
            disagreements,
        )
    return say_n("{n:,} decided disagreement", "{n:,} decided disagreements", disagreements)


def describe_difference(apart: Apart | None) -> Message:
    if apart is None or apart == "unrateable":
        return say("a grade against cannot rate")
    return say("{low} against {high}", low=apart[0], high=apart[1])


def describe_group(cause: str, apart: Apart | None, number: int, of: Message) -> Message:
    """Describe the decisions with this cause and difference, and how the guideline can help."""
    values = {"number": number, "of": of, "apart": describe_difference(apart)}
    match cause:
        case "guideline_gap":
            return say(
                "{number:,} of {of} are {apart} because the guideline has no rule. Add a rule that separates "
                "the two, with examples.",
                **values,
            )
        case "ambiguous_query":
            return say(
                "{number:,} of {of} are {apart} because the query can be read in two ways. Explain how to "
                "read such queries, or give them a narrative.",
                **values,
            )
        case "borderline":
            return say(
                "{number:,} of {of} are {apart} and borderline. Define which grade such documents get.",
                **values,
            )
        case "misread_document":
            return say(
                "{number:,} of {of} come from misread documents. Describe what to look for in them, and "
                "where.",
                **values,
            )
    return say(
        "{number:,} of {of} come from missing knowledge. Explain the subject in the guideline, or "
        "assign such queries to people who know it.",
        **values,
    )


def describe_long_documents(long: int, of: int, elsewhere: int, others: int, limit: int) -> Message:
    return say(
        "Documents longer than {limit:,} characters: {long:,} of these {documents:,}, and "
        "{elsewhere:,} of {others:,} others.",
        long=long,
        documents=of,
        limit=limit,
        others=others,
        elsewhere=elsewhere,
    )


def describe_rule_requests(number: int, *, further: bool) -> Message:
    """Describe the number of decisions that ask for a rule and are in no group. `further`: other items exist."""
    if further:
        return say_n(
            "{n:,} more decision is marked for the guideline.",
            "{n:,} more decisions are marked for the guideline.",
            number,
        )
    return say_n(
        "{n:,} decision is marked for the guideline.", "{n:,} decisions are marked for the guideline.", number
    )


def describe_single_decisions(number: int, *, further: bool) -> Message:
    """Describe the number of single decisions that a better guideline could prevent. `further`: other items exist."""
    if further:
        return say_n(
            "{n:,} more single decision: a rule is missing, the query is ambiguous, or the pair is "
            "borderline.",
            "{n:,} more single decisions: a rule is missing, the query is ambiguous, or the pair is "
            "borderline.",
            number,
        )
    return say_n(
        "{n:,} single decision: a rule is missing, the query is ambiguous, or the pair is borderline.",
        "{n:,} single decisions: a rule is missing, the query is ambiguous, or the pair is borderline.",
        number,
    )


def describe_questions(number: int) -> Message:
    return say_n(
        "{n:,} answered question is marked for the guideline.",
        "{n:,} answered questions are marked for the guideline.",
        number,
    )


FEW = 3
"""Fewer decisions than these are no pattern."""
GROUPED = TEACHING | {"misread_document", "missing_knowledge"}
WITHOUT_GRADES = frozenset({"misread_document", "missing_knowledge"})
LONG = 20_000
FALSE_CLAIMS = 0.02
Group = tuple[Apart | None, str]


def make_worklist(
    decisions: Sequence[DecisionExample],
    questions: Sequence[AskedQuestion] = (),
    lengths: Mapping[str, int] | None = None,
) -> GuidelineWorklist:
    """Return the worklist. `lengths`: {pair key: characters of the document}, for misread and some other pairs."""
    disagreements = [decision for decision in decisions if decision.apart is not None]
    items, rest = _group_by_category(decisions, disagreements)
    more, rest = _group_all(rest, disagreements, items)
    items += more
    asking = [decision for decision in rest if decision.in_guideline]
    single = [decision for decision in rest if not decision.in_guideline and decision.cause in TEACHING]
    if asking:
        items.append(_make_item("asked", asking, describe_rule_requests(len(asking), further=bool(items))))
    if single:
        items.append(
            _make_item("single", single, describe_single_decisions(len(single), further=bool(items)))
        )
    items = _add_lengths(items, lengths or {})
    if questions:
        sentence = describe_questions(len(questions))
        items.append(WorklistItem("questions", "questions", sentence, questions=tuple(questions)))
    return GuidelineWorklist(tuple(sorted(items, key=_rank_item)), len(decisions))


def find_group(decision: DecisionExample) -> Group | None:
    """Return the key of the decision's group; None if it is not grouped."""
    if decision.cause not in GROUPED or decision.apart is None:
        return None
    return (None if decision.cause in WITHOUT_GRADES else decision.apart), decision.cause


def _group_by_category(
    decisions: Iterable[DecisionExample], disagreements: Sequence[DecisionExample]
) -> tuple[list[WorklistItem], list[DecisionExample]]:
    """Return items of one category each, and the remaining decisions."""
    totals = Counter(decision.category for decision in disagreements)
    grouped, rest = _split_groups(decisions, with_category=True)
    items = []
    for (category, group), members in grouped.items():
        of = totals[category]
        sentence = describe_group(group[1], group[0], len(members), describe_total(of, category))
        items.append(_make_item("group", members, sentence, category=category, group=group, of=of))
    return items, rest


def _group_all(
    decisions: Iterable[DecisionExample],
    disagreements: Sequence[DecisionExample],
    of_categories: Sequence[WorklistItem],
) -> tuple[list[WorklistItem], list[DecisionExample]]:
    """Return items across categories without an item of their own, and the remaining decisions."""
    grouped, rest = _split_groups(decisions, with_category=False)
    items = []
    for (_category, group), members in grouped.items():
        own = {item.category for item in of_categories if (item.apart, item.cause) == group}
        of = sum(decision.category not in own for decision in disagreements)
        sentence = describe_group(
            group[1], group[0], len(members), describe_total(of, None, others=bool(own))
        )
        items.append(_make_item("group", members, sentence, group=group, of=of))
    return items, rest


def _split_groups(
    decisions: Iterable[DecisionExample], *, with_category: bool
) -> tuple[dict[tuple[str | None, Group], list[DecisionExample]], list[DecisionExample]]:
    """Return {(category or None, group): decisions} of groups of at least FEW, and the other decisions."""
    grouped: dict[tuple[str | None, Group], list[DecisionExample]] = defaultdict(list)
    rest = []
    for decision in decisions:
        group = find_group(decision)
        if group is None or (with_category and decision.category is None):
            rest.append(decision)
        else:
            grouped[decision.category if with_category else None, group].append(decision)
    rest += chain.from_iterable(members for members in grouped.values() if len(members) < FEW)
    return {key: members for key, members in grouped.items() if len(members) >= FEW}, rest


def _make_item(
    kind: Kind,
    decisions: Sequence[DecisionExample],
    sentence: Message,
    *,
    category: str | None = None,
    group: Group | None = None,
    of: int = 0,
) -> WorklistItem:
    apart, cause = group or (None, None)
    ordered = sorted(
        decisions,
        key=lambda decision: (not decision.waits, -decision.impact, decision.decided_at, decision.pair),
    )
    identity = repr((kind, category, group)).encode("utf-8", "surrogatepass")
    return WorklistItem(
        sha256(identity).hexdigest()[:12],
        kind,
        sentence,
        tuple(ordered),
        category=category,
        apart=apart,
        cause=cause,
        of=of,
    )


def _add_lengths(items: list[WorklistItem], lengths: Mapping[str, int]) -> list[WorklistItem]:
    """Return the items, with a further sentence where misread documents are significantly longer."""
    misread = [item for item in items if item.cause == "misread_document"]
    misread_pairs = {decision.pair for decision in chain.from_iterable(item.decisions for item in misread)}
    others = [length for pair, length in lengths.items() if pair not in misread_pairs]
    completed = []
    for item in items:
        own = [lengths[decision.pair] for decision in item.decisions if decision.pair in lengths]
        if item in misread and _are_longer(own, others, claims=len(misread)):
            long_own = sum(length > LONG for length in own)
            long_others = sum(length > LONG for length in others)
            sentence = describe_long_documents(long_own, len(own), long_others, len(others), LONG)
            completed.append(replace(item, sentence=join_sentences((item.sentence, sentence))))
        else:
            completed.append(item)
    return completed


def _are_longer(own: Sequence[int], others: Sequence[int], *, claims: int) -> bool:
    """Return whether long documents are significantly more frequent here than elsewhere.

    Fisher's exact test (1922), one-sided; the level is divided by the number of claims (Bonferroni).
    """
    if len(own) < FEW or not others:
        return False
    long_here, long_all = sum(n > LONG for n in own), sum(n > LONG for n in (*own, *others))
    return _compute_tail(long_here, len(own), long_all, len(own) + len(others)) <= FALSE_CLAIMS / claims


def _compute_tail(least: int, drawn: int, marked: int, everything: int) -> float:
    """Return the hypergeometric probability of at least `least` marked items among `drawn` of `everything`."""
    most = min(drawn, marked)
    ways = sum(comb(marked, n) * comb(everything - marked, drawn - n) for n in range(least, most + 1))
    return ways / comb(everything, drawn)


def _rank_item(item: WorklistItem) -> tuple[object, ...]:
    """Return the sort key: waiting items first, then the number of open decisions, then their impact."""
    return (
        not item.waiting,
        not item.open,
        -item.waiting,
        -item.open,
        -item.impact,
        item.category or "",
        str(item.apart),
        item.cause or "",
        item.kind,
    )
