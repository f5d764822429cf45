"""Sum decided disagreements up into a worklist for the guideline, in sentences, most to be gained first.

Pure. A decision is in one lesson at most: with others of its category, grades and cause; else with those of other categories;
else among those that ask for a rule, or among single cases. Grades are ignored where a document was misread or knowledge was
missing. Slips, and decisions without a cause, count only when they ask for a rule.
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
    Lesson,
)


def say_place(disputes: int, category: str | None, *, others: bool = False) -> Message:
    """Of how many decided disputes; `others`: of the categories that are not named elsewhere."""
    if category is not None:
        return say_n(
            "{n:,} decided dispute in {category}",
            "{n:,} decided disputes in {category}",
            disputes,
            category=category,
        )
    if others:
        return say_n(
            "{n:,} decided dispute of the other categories",
            "{n:,} decided disputes of the other categories",
            disputes,
        )
    return say_n("{n:,} decided dispute", "{n:,} decided disputes", disputes)


def say_apart(apart: Apart | None) -> Message:
    """What speaks against each other."""
    if apart is None or apart == "unrateable":
        return say("a grade against unrateable")
    return say("{low} against {high}", low=apart[0], high=apart[1])


def say_group(cause: str, apart: Apart | None, number: int, of: Message) -> Message:
    """So many of them have this in common, and what can be done about it."""
    told = {"number": number, "of": of, "apart": say_apart(apart)}
    match cause:
        case "guideline_gap":
            return say(
                "{number:,} of {of} are {apart} for lack of a rule in the guideline. Say what tells the two apart, with "
                "examples.",
                **told,
            )
        case "ambiguous_query":
            return say(
                "{number:,} of {of} are {apart} since the query can be read in two ways. Say how to read such queries, or "
                "give them a narrative.",
                **told,
            )
        case "borderline":
            return say(
                "{number:,} of {of} are {apart} and genuinely borderline. Say to which side such documents belong.",
                **told,
            )
        case "misread_document":
            return say(
                "{number:,} of {of} come from misread documents. Say what to look for in them, and where.",
                **told,
            )
    return say(
        "{number:,} of {of} come from missing knowledge. Explain the subject in the guideline, or give such queries to "
        "experts in it.",
        **told,
    )


def say_long(long: int, of: int, elsewhere: int, others: int, limit: int) -> Message:
    """That misread documents are longer than others."""
    return say(
        "{long:,} of these {documents:,} are longer than {limit:,} characters; of {others:,} others, {elsewhere:,} are.",
        long=long,
        documents=of,
        limit=limit,
        others=others,
        elsewhere=elsewhere,
    )


def say_asked(number: int, *, further: bool) -> Message:
    """Decisions that ask for a rule, and have nothing else in common."""
    if further:
        return say_n(
            "{n:,} further decision asks the guideline to say so.",
            "{n:,} further decisions ask the guideline to say so.",
            number,
        )
    return say_n(
        "{n:,} decision asks the guideline to say so.", "{n:,} decisions ask the guideline to say so.", number
    )


def say_single(number: int, *, further: bool) -> Message:
    """Decisions for which the guideline is to blame, too few of a kind."""
    if further:
        return say_n(
            "{n:,} further decision stands by itself: a rule is lacking, the query is ambiguous, or the case is borderline.",
            "{n:,} further decisions stand by themselves: a rule is lacking, the query is ambiguous, or the case is borderline.",
            number,
        )
    return say_n(
        "{n:,} decision stands by itself: a rule is lacking, the query is ambiguous, or the case is borderline.",
        "{n:,} decisions stand by themselves: a rule is lacking, the query is ambiguous, or the case is borderline.",
        number,
    )


def say_questions(number: int) -> Message:
    """Questions whose answers are marked."""
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


def sum_up(
    taught: Sequence[DecisionExample],
    questions: Sequence[AskedQuestion] = (),
    characters: Mapping[str, int] | None = None,
) -> GuidelineWorklist:
    """The worklist. `characters`: how long the documents of some pairs are, those of misread ones among them."""
    disputes = [case for case in taught if case.apart is not None]
    found, rest = _group_by_category(taught, disputes)
    more, rest = _group_all(rest, disputes, found)
    found += more
    asked = [case for case in rest if case.in_guideline]
    single = [case for case in rest if not case.in_guideline and case.cause in TEACHING]
    if asked:
        found.append(_make("asked", asked, say_asked(len(asked), further=bool(found))))
    if single:
        found.append(_make("single", single, say_single(len(single), further=bool(found))))
    found = _tell_long(found, characters or {})
    if questions:
        said = say_questions(len(questions))
        found.append(Lesson("questions", "questions", said, questions=tuple(questions)))
    return GuidelineWorklist(tuple(sorted(found, key=_rank)), len(taught))


def find_group(case: DecisionExample) -> Group | None:
    """With what else a decision is summed up; None for one that stands by itself."""
    if case.cause not in GROUPED or case.apart is None:
        return None
    return (None if case.cause in WITHOUT_GRADES else case.apart), case.cause


def _group_by_category(
    taught: Iterable[DecisionExample], disputes: Sequence[DecisionExample]
) -> tuple[list[Lesson], list[DecisionExample]]:
    """Lessons of a category, and the decisions that are in none."""
    totals = Counter(case.category for case in disputes)
    grouped: dict[tuple[str, Group], list[DecisionExample]] = defaultdict(list)
    rest = []
    for case in taught:
        group = find_group(case)
        if group is None or case.category is None:
            rest.append(case)
        else:
            grouped[case.category, group].append(case)
    found = []
    for (category, group), cases in grouped.items():
        if len(cases) < FEW:
            rest += cases
            continue
        of = totals[category]
        said = say_group(group[1], group[0], len(cases), say_place(of, category))
        found.append(_make("group", cases, said, category=category, group=group, of=of))
    return found, rest


def _group_all(
    rest: Iterable[DecisionExample], disputes: Sequence[DecisionExample], before: Sequence[Lesson]
) -> tuple[list[Lesson], list[DecisionExample]]:
    """Lessons of all categories that have none of their own."""
    grouped: dict[Group, list[DecisionExample]] = defaultdict(list)
    left = []
    for case in rest:
        group = find_group(case)
        if group is None:
            left.append(case)
        else:
            grouped[group].append(case)
    found = []
    for group, cases in grouped.items():
        if len(cases) < FEW:
            left += cases
            continue
        own = {lesson.category for lesson in before if (lesson.apart, lesson.cause) == group}
        of = sum(case.category not in own for case in disputes)
        said = say_group(group[1], group[0], len(cases), say_place(of, None, others=bool(own)))
        found.append(_make("group", cases, said, group=group, of=of))
    return found, left


def _make(
    kind: Kind,
    cases: Sequence[DecisionExample],
    sentence: Message,
    *,
    category: str | None = None,
    group: Group | None = None,
    of: int = 0,
) -> Lesson:
    apart, cause = group or (None, None)
    ordered = sorted(cases, key=lambda case: (not case.waits, -case.impact, case.decided_at, case.pair))
    named = repr((kind, category, group)).encode("utf-8", "surrogatepass")
    return Lesson(
        sha256(named).hexdigest()[:12],
        kind,
        sentence,
        tuple(ordered),
        category=category,
        apart=apart,
        cause=cause,
        of=of,
    )


def _tell_long(found: list[Lesson], characters: Mapping[str, int]) -> list[Lesson]:
    """Say of misread documents that they are long, where they surely are longer than others."""
    misread = [lesson for lesson in found if lesson.cause == "misread_document"]
    every = {case.pair for case in chain.from_iterable(lesson.cases for lesson in misread)}
    others = [length for pair, length in characters.items() if pair not in every]
    told = []
    for lesson in found:
        lengths = [characters[case.pair] for case in lesson.cases if case.pair in characters]
        if lesson in misread and _are_longer(lengths, others, claims=len(misread)):
            of_them = sum(length > LONG for length in lengths)
            elsewhere = sum(length > LONG for length in others)
            said = say_long(of_them, len(lengths), elsewhere, len(others), LONG)
            sentence = join_sentences((lesson.sentence, said))
            told.append(replace(lesson, sentence=sentence))
        else:
            told.append(lesson)
    return told


def _are_longer(own: Sequence[int], others: Sequence[int], *, claims: int) -> bool:
    """Whether long documents are surely more frequent here than elsewhere: Fisher's exact test (1922), one-sided, as strict
    as so many claims at once ask."""
    if len(own) < FEW or not others:
        return False
    long_here, long_all = sum(n > LONG for n in own), sum(n > LONG for n in (*own, *others))
    return _tail(long_here, len(own), long_all, len(own) + len(others)) <= FALSE_CLAIMS / claims


def _tail(found: int, drawn: int, marked: int, everything: int) -> float:
    """The chance of `found` or more marked ones among `drawn` of `everything`, of which `marked` are (hypergeometric)."""
    most = min(drawn, marked)
    ways = sum(comb(marked, n) * comb(everything - marked, drawn - n) for n in range(found, most + 1))
    return ways / comb(everything, drawn)


def _rank(lesson: Lesson) -> tuple[object, ...]:
    """What waits first, then what would have prevented most disputes, then what they weigh."""
    return (
        not lesson.waiting,
        not lesson.open,
        -lesson.waiting,
        -lesson.open,
        -lesson.impact,
        lesson.category or "",
        str(lesson.apart),
        lesson.cause or "",
        lesson.kind,
    )
