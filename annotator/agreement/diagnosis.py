"""What the figures mean and what to do about it, in plain sentences, most important first.

Rules only: the figures come measured (domain/agreement.py). No sentence appears unless the data carry it, and every
sentence names the figure it rests on. Refuses nothing: with no shared pair it says so.
"""

from collections.abc import Sequence

from annotator.domain.agreement import Interval, Measured, Value
from annotator.domain.messages import Message, join, say, say_n

FEW_PAIRS = 30
FEW_QUERIES = 10
MANY_AGREE = 0.8
ONE_GRADE_PREVAILS = 0.7
LEANS_BY = 0.2
APART_SHARE = 0.25


def diagnose(
    measured: Measured, *, kappa_target: float, grade_names: Sequence[str], simulated: Sequence[str] = ()
) -> tuple[Message, ...]:
    """The sentences. `grade_names`: the rubric's names of the grades 0 to 3. `simulated`: who is no person."""
    sentences = [_say_simulated(simulated)] if simulated else []
    if not measured.pairs:
        return (*sentences, _say_nothing_shared(measured))
    sentences += _say_target(measured, kappa_target)
    sentences += _say_few(measured)
    sentences += _say_prevalence(measured, kappa_target, grade_names)
    sentences += _say_leanings(measured)
    sentences += _say_confused(measured, grade_names)
    sentences += _say_order(measured)
    sentences += _say_annotator_pairs(measured)
    return tuple(sentences)


def _say_simulated(simulated: Sequence[str]) -> Message:
    return say(
        "Simulated judgments are included ({people}): these figures show how the program works, "
        "and say nothing about people.",
        people=", ".join(simulated),
    )


def _say_nothing_shared(measured: Measured) -> Message:
    if not measured.single_pairs:
        return say("Nothing is judged yet, so there is no agreement to measure.")
    return say(
        "No pair was judged by two annotators ({pairs} by one), so there is no agreement to measure: let a second "
        "annotator judge the same pairs.",
        pairs=_pairs(measured.single_pairs),
    )


def _say_target(measured: Measured, target: float) -> list[Message]:
    kappa = measured.cohen_kappa["unweighted"]
    shared = {"pairs": _pairs(measured.pairs), "queries": _queries(measured.queries), "target": target}
    if kappa.value is None:
        return [
            say(
                "Cohen's kappa is undefined over {pairs} of {queries}, so the target of {target:g} is not met: {why}.",
                why=kappa.why,
                **shared,
            )
        ]
    figure = _figure(kappa)
    low, high = kappa.ci95 or (kappa.value, kappa.value)
    if low >= target:
        return [
            say(
                "Cohen's kappa is {kappa} over {pairs} of {queries}: the target of {target:g} is met.",
                kappa=figure,
                **shared,
            )
        ]
    if kappa.value >= target:
        return [
            say(
                "Cohen's kappa is {kappa} over {pairs} of {queries}: the target of {target:g} is met, but its interval "
                "reaches below; more pairs will tell.",
                kappa=figure,
                **shared,
            )
        ]
    if high >= target:
        return [
            say(
                "Cohen's kappa is {kappa} over {pairs} of {queries}: below the target of {target:g}, but its interval "
                "reaches it; more pairs will tell.",
                kappa=figure,
                **shared,
            )
        ]
    return [
        say(
            "Cohen's kappa is {kappa} over {pairs} of {queries}: below the target of {target:g}. Talk about the "
            "disagreements, sharpen the guideline, then judge further pairs.",
            kappa=figure,
            **shared,
        )
    ]


def _say_few(measured: Measured) -> list[Message]:
    if measured.pairs >= FEW_PAIRS and measured.queries >= FEW_QUERIES:
        return []
    return [
        say(
            "Too little is shared to rely on these figures: {pairs} of {queries}; aim for {least_pairs} pairs of "
            "{least_queries} queries at the least.",
            pairs=_pairs(measured.pairs),
            queries=_queries(measured.queries),
            least_pairs=FEW_PAIRS,
            least_queries=FEW_QUERIES,
        )
    ]


def _say_prevalence(measured: Measured, target: float, names: Sequence[str]) -> list[Message]:
    observed, kappa = measured.observed_agreement, measured.cohen_kappa["unweighted"].value
    total = sum(measured.grade_counts)
    grade = max(range(len(measured.grade_counts)), key=lambda g: measured.grade_counts[g])
    share = measured.grade_counts[grade] / total
    if observed is None or observed < MANY_AGREE or share < ONE_GRADE_PREVAILS:
        return []
    if kappa is not None and kappa >= target:
        return []
    figures = {"observed": observed, "share": share, "grade": grade, "name": names[grade]}
    ac1 = measured.gwet_ac1.value
    if ac1 is None:
        return [
            say(
                "The annotators agree on {observed:.0%} of the judgments, yet {share:.0%} of all grades are {grade} "
                "({name}): where one grade prevails, kappa is low whatever the annotators do. Pool more candidates "
                "that may earn other grades.",
                **figures,
            )
        ]
    return [
        say(
            "The annotators agree on {observed:.0%} of the judgments, yet {share:.0%} of all grades are {grade} "
            "({name}): where one grade prevails, kappa is low whatever the annotators do (AC1, which does not suffer "
            "from it, is {ac1:.2f}). Pool more candidates that may earn other grades.",
            ac1=ac1,
            **figures,
        )
    ]


def _say_leanings(measured: Measured) -> list[Message]:
    leaning = [
        one
        for one in measured.leanings
        if one.couples >= FEW_PAIRS
        and abs(one.mean) >= LEANS_BY
        and one.ci95
        and one.ci95[0] * one.ci95[1] > 0
    ]
    if len(measured.leanings) == 2:  # two annotators: the one's gain is the other's loss
        leaning = [one for one in leaning if one.mean > 0]
    leaning.sort(key=lambda one: (-abs(one.mean), one.annotator))
    return [
        say(
            "{annotator} grades higher than the others on the same pairs, by {mean:.2f} grades on average{interval}: "
            "compare how they read the rubric.",
            annotator=one.annotator,
            mean=one.mean,
            interval=_range(one.ci95),
        )
        if one.mean > 0
        else say(
            "{annotator} grades lower than the others on the same pairs, by {mean:.2f} grades on average{interval}: "
            "compare how they read the rubric.",
            annotator=one.annotator,
            mean=-one.mean,
            interval=_range(_turn(one.ci95)),
        )
        for one in leaning
    ]


def _say_confused(measured: Measured, names: Sequence[str]) -> list[Message]:
    confused: dict[tuple[int, int], int] = {}
    for pair in measured.annotator_pairs:
        for row, counts in enumerate(pair.confusion):
            for column, count in enumerate(counts):
                if row != column:
                    place = (min(row, column), max(row, column))
                    confused[place] = confused.get(place, 0) + count
    total = sum(confused.values())
    if not total:
        return []
    (low, high), most = max(confused.items(), key=lambda item: (item[1], -item[0][1] + item[0][0]))
    times = say_n("{n} time", "{n} times", total)
    said = [
        say(
            "The grades confused most are {low} ({low_name}) and {high} ({high_name}): {most} of the {times} that two "
            "annotators differ. Make the rubric say what tells them apart.",
            low=low,
            low_name=names[low],
            high=high,
            high_name=names[high],
            most=most,
            times=times,
        )
    ]
    far = sum(count for (first, second), count in confused.items() if second - first >= 2)
    if far / total >= APART_SHARE:
        said.append(
            say(
                "{far} of the {times} that two annotators differ, they are two or three grades apart: more than a "
                "question of where one grade ends. Look whether a query can be read in two ways.",
                far=far,
                times=times,
            )
        )
    return said


def _say_order(measured: Measured) -> list[Message]:
    plain, squared = (measured.cohen_kappa[name].value for name in ("unweighted", "quadratic"))
    if plain is None or squared is None or squared - plain < 0.15:
        return []
    return [
        say(
            "With near misses forgiven kappa is much higher (quadratic {squared:.2f}, unweighted {plain:.2f}): the "
            "annotators order documents alike and differ in where a grade begins.",
            squared=squared,
            plain=plain,
        )
    ]


def _say_annotator_pairs(measured: Measured) -> list[Message]:
    pairs = measured.annotator_pairs
    said = []
    undefined = [pair for pair in pairs if pair.cohen_kappa["unweighted"].value is None]
    if undefined and len(undefined) < len(pairs):
        named: Message = join(_both(pair.annotators) for pair in undefined[:3])
        if len(undefined) > 3:
            named = say("{named} and {n} more", named=named, n=len(undefined) - 3)
        said.append(
            say(
                "Left out of the mean, since without variation their kappa is undefined: {named}.",
                named=named,
            )
        )
    known = [
        pair for pair in pairs if pair.pairs >= FEW_PAIRS and pair.cohen_kappa["unweighted"].value is not None
    ]
    known.sort(key=lambda pair: (pair.cohen_kappa["unweighted"].value or 0.0, pair.annotators))
    if len(known) > 1:
        low, high = known[0], known[-1]
        said.append(
            say(
                "The annotators who agree least are {low} ({low_kappa} over {pairs}), most {high} ({high_kappa}).",
                low=_both(low.annotators),
                low_kappa=_figure(low.cohen_kappa["unweighted"]),
                pairs=_pairs(low.pairs),
                high=_both(high.annotators),
                high_kappa=_figure(high.cohen_kappa["unweighted"]),
            )
        )
    return said


def _figure(value: Value) -> str:
    return f"{value.value:.2f}{_range(value.ci95)}"


def _range(ci95: Interval | None) -> str:
    return f" [{ci95[0]:.2f}, {ci95[1]:.2f}]" if ci95 else ""


def _turn(ci95: Interval | None) -> Interval | None:
    """The interval of the absolute figure, for a negative one."""
    return None if ci95 is None else (-ci95[1], -ci95[0])


def _both(annotators: Sequence[str]) -> Message:
    return say("{first} and {second}", first=annotators[0], second=annotators[1])


def _pairs(number: int) -> Message:
    return say_n("{n} pair", "{n} pairs", number)


def _queries(number: int) -> Message:
    return say_n("{n} query", "{n} queries", number)
