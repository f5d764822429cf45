"""What the figures mean and what to do about it, in plain sentences, most important first.

Rules only: the figures come measured (domain/agreement.py). No sentence appears unless the data carry it, and every
sentence names the figure it rests on. Refuses nothing: with no shared pair it says so.
"""

from collections.abc import Sequence

from annotator.domain.agreement import Interval, Measured, Value

FEW_PAIRS = 30
FEW_QUERIES = 10
MANY_AGREE = 0.8
ONE_GRADE_PREVAILS = 0.7
LEANS_BY = 0.2
APART_SHARE = 0.25


def diagnose(
    measured: Measured, *, kappa_target: float, grade_names: Sequence[str], simulated: Sequence[str] = ()
) -> tuple[str, ...]:
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


def _say_simulated(simulated: Sequence[str]) -> str:
    return (
        f"Simulated judgments are included ({', '.join(simulated)}): these figures show how the program works, "
        "and say nothing about people."
    )


def _say_nothing_shared(measured: Measured) -> str:
    if not measured.single_pairs:
        return "Nothing is judged yet, so there is no agreement to measure."
    return (
        f"No pair was judged by two annotators ({_count(measured.single_pairs, 'pair')} by one), so there is no "
        "agreement to measure: let a second annotator judge the same pairs."
    )


def _say_target(measured: Measured, target: float) -> list[str]:
    kappa = measured.cohen_kappa["unweighted"]
    over = f"over {_count(measured.pairs, 'pair')} of {_count(measured.queries, 'query', 'queries')}"
    if kappa.value is None:
        return [f"Cohen's kappa is undefined {over}, so the target of {target:g} is not met: {kappa.why}."]
    said = f"Cohen's kappa is {_figure(kappa)} {over}: "
    low, high = kappa.ci95 or (kappa.value, kappa.value)
    if kappa.value >= target:
        sure = "" if low >= target else ", but its interval reaches below; more pairs will tell"
        return [f"{said}the target of {target:g} is met{sure}."]
    if high >= target:
        return [f"{said}below the target of {target:g}, but its interval reaches it; more pairs will tell."]
    advice = "Talk about the disagreements, sharpen the guideline, then judge further pairs."
    return [f"{said}below the target of {target:g}. {advice}"]


def _say_few(measured: Measured) -> list[str]:
    if measured.pairs >= FEW_PAIRS and measured.queries >= FEW_QUERIES:
        return []
    shared = f"{_count(measured.pairs, 'pair')} of {_count(measured.queries, 'query', 'queries')}"
    wanted = f"{FEW_PAIRS} pairs of {FEW_QUERIES} queries"
    return [f"Too little is shared to rely on these figures: {shared}; aim for {wanted} at the least."]


def _say_prevalence(measured: Measured, target: float, names: Sequence[str]) -> list[str]:
    observed, kappa = measured.observed_agreement, measured.cohen_kappa["unweighted"].value
    total = sum(measured.grade_counts)
    grade = max(range(len(measured.grade_counts)), key=lambda g: measured.grade_counts[g])
    share = measured.grade_counts[grade] / total
    if observed is None or observed < MANY_AGREE or share < ONE_GRADE_PREVAILS:
        return []
    if kappa is not None and kappa >= target:
        return []
    ac1 = measured.gwet_ac1
    beside = f" (AC1, which does not suffer from it, is {ac1.value:.2f})" if ac1.value is not None else ""
    prevails = f"{share:.0%} of all grades are {grade} ({names[grade]})"
    meaning = f"where one grade prevails, kappa is low whatever the annotators do{beside}"
    advice = "Pool more candidates that may earn other grades."
    return [f"The annotators agree on {observed:.0%} of the judgments, yet {prevails}: {meaning}. {advice}"]


def _say_leanings(measured: Measured) -> list[str]:
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
        f"{one.annotator} grades {'higher' if one.mean > 0 else 'lower'} than the others on the same pairs, by "
        f"{abs(one.mean):.2f} grades on average{_range(_turn(one.ci95, one.mean))}: compare how they read the rubric."
        for one in leaning
    ]


def _say_confused(measured: Measured, names: Sequence[str]) -> list[str]:
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
    grades = f"{low} ({names[low]}) and {high} ({names[high]})"
    share = f"{most} of the {_count(total, 'time')} that two annotators differ"
    said = [f"The grades confused most are {grades}: {share}. Make the rubric say what tells them apart."]
    far = sum(count for (first, second), count in confused.items() if second - first >= 2)
    if far / total >= APART_SHARE:
        said.append(
            f"{far} of the {_count(total, 'time')} that two annotators differ, they are two or three grades apart: "
            "more than a question of where one grade ends. Look whether a query can be read in two ways."
        )
    return said


def _say_order(measured: Measured) -> list[str]:
    plain, squared = (measured.cohen_kappa[name].value for name in ("unweighted", "quadratic"))
    if plain is None or squared is None or squared - plain < 0.15:
        return []
    figures = f"quadratic {squared:.2f}, unweighted {plain:.2f}"
    meaning = "the annotators order documents alike and differ in where a grade begins"
    return [f"With near misses forgiven kappa is much higher ({figures}): {meaning}."]


def _say_annotator_pairs(measured: Measured) -> list[str]:
    pairs = measured.annotator_pairs
    said = []
    undefined = [pair for pair in pairs if pair.cohen_kappa["unweighted"].value is None]
    if undefined and len(undefined) < len(pairs):
        named = ", ".join(" and ".join(pair.annotators) for pair in undefined[:3])
        more = f" and {len(undefined) - 3} more" if len(undefined) > 3 else ""
        said.append(f"Left out of the mean, since without variation their kappa is undefined: {named}{more}.")
    known = [
        pair for pair in pairs if pair.pairs >= FEW_PAIRS and pair.cohen_kappa["unweighted"].value is not None
    ]
    known.sort(key=lambda pair: (pair.cohen_kappa["unweighted"].value or 0.0, pair.annotators))
    if len(known) > 1:
        low, high = known[0], known[-1]
        said.append(
            f"The annotators who agree least are {' and '.join(low.annotators)} "
            f"({_figure(low.cohen_kappa['unweighted'])} over {_count(low.pairs, 'pair')}), most "
            f"{' and '.join(high.annotators)} ({_figure(high.cohen_kappa['unweighted'])})."
        )
    return said


def _figure(value: Value) -> str:
    return f"{value.value:.2f}{_range(value.ci95)}"


def _range(ci95: Interval | None) -> str:
    return f" [{ci95[0]:.2f}, {ci95[1]:.2f}]" if ci95 else ""


def _turn(ci95: Interval | None, mean: float) -> Interval | None:
    """The interval of the absolute figure."""
    return ci95 if ci95 is None or mean > 0 else (-ci95[1], -ci95[0])


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
