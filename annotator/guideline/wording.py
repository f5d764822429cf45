"""The sentences of the worklist: what decisions have in common, and what the guideline could say about it."""

from annotator.domain.messages import Message, say, say_n
from annotator.guideline.records import Apart


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
