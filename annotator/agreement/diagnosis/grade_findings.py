"""Write the findings about grades (confused, prevailing) and categories below the target."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from annotator.agreement.coefficients import compute_paradox, is_paradox
from annotator.agreement.diagnosis.grade_confusion import (
    ConfusionConcentration,
    ConfusionDirection,
    GradeConfusion,
)
from annotator.agreement.diagnosis.verdict import add_note_on_left_out, show_pairs, show_value
from annotator.agreement.intervals import widen
from annotator.agreement.records import (
    FEW_PAIRS,
    FEW_QUERIES,
    CoefficientValue,
    DiagnosisFinding,
    GroupAgreement,
    MeasuredAgreement,
    PairSelection,
)
from annotator.domain.figures import show_number
from annotator.domain.messages import Message, join, say, say_n

APART_SHARE = 0.25
NEAR_MISSES = 0.15
ORDERED_ALIKE = 0.7
FEW_DIFFERING = 10
MOST_NAMED = 3
MOST_CATEGORIES = 5


def describe_paradox(
    measured: MeasuredAgreement, target: float, names: Sequence[str], constants: Collection[str] = ()
) -> list[DiagnosisFinding]:
    """Return the finding that kappa is low because one grade prevails, or nothing.

    Returns nothing if kappa is low because of one annotator, or of the `constants`, who almost always give
    one grade. Recommends AC1 only if kappa is surely above 0: annotators who cannot tell documents apart also
    reach a high AC1.
    """
    observed, kappa = measured.observed_agreement, measured.cohen_kappa["unweighted"].value
    tables = np.array([pair.confusion for pair in measured.annotator_pairs], dtype=np.float64)
    indices = measured.paradox or (compute_paradox(tables) if len(tables) else None)
    if indices is None or not is_paradox(indices, observed=observed, kappa=kappa, target=target):
        return []
    if _owes_to_annotators(measured, target, constants):
        return []
    grade = max(range(len(measured.grade_counts)), key=lambda g: measured.grade_counts[g])
    figures = {
        "observed": observed,
        "share": measured.grade_counts[grade] / sum(measured.grade_counts),
        "grade": grade,
        "name": names[grade],
        "prevalence": show_number(indices.prevalence, 2),
    }
    ac1 = measured.gwet_ac1.value
    if kappa is None or ac1 is None:
        sentence = say(
            "Observed agreement is {observed:.0%}, but {share:.0%} of all grades are {grade} ({name}; "
            "prevalence index {prevalence}). When one grade dominates, kappa is low or undefined "
            "whatever the annotators do. Compare the grades of each annotator, and pool more candidates "
            "that could get other grades.",
            **figures,
        )
    elif not _is_above_0(measured.cohen_kappa["unweighted"]):
        sentence = say(
            "Observed agreement is {observed:.0%}, but kappa is only {kappa:.2f} and not clearly above "
            "0, because {share:.0%} of all grades are {grade} ({name}; prevalence index {prevalence}). "
            "Agreement this high can also occur when nobody distinguishes between documents, so neither "
            "kappa nor AC1 ({ac1:.2f}) shows whether the annotators do. Pool more candidates that could "
            "get other grades.",
            kappa=kappa,
            ac1=ac1,
            **figures,
        )
    else:
        sentence = say(
            "This is the kappa paradox: observed agreement is {observed:.0%}, but kappa is only "
            "{kappa:.2f}, because {share:.0%} of all grades are {grade} ({name}; prevalence index "
            "{prevalence}). Use AC1 ({ac1:.2f}), which is not affected, and the grades of each "
            "annotator; pool more candidates that could get other grades.",
            kappa=kappa,
            ac1=ac1,
            **figures,
        )
    return [DiagnosisFinding("paradox", sentence)]


def _is_above_0(kappa: CoefficientValue) -> bool:
    """Return whether the figure is surely above 0; without an interval, whether it is above 0."""
    return kappa.ci95[0] > 0 if kappa.ci95 else kappa.value is not None and kappa.value > 0


def _owes_to_annotators(measured: MeasuredAgreement, target: float, constants: Collection[str]) -> bool:
    """Return whether the mean kappa reaches the target without one annotator, or without all `constants`.

    Then they lower kappa, and not the grade, which prevails without them too. False if fewer than FEW_PAIRS
    pairs remain.
    """
    weighted_pairs = [
        (pair.annotators, pair.pairs, pair.pairs * value)
        for pair in measured.annotator_pairs
        if (value := pair.cohen_kappa["unweighted"].value) is not None
    ]
    own: dict[str, tuple[int, float]] = {}
    for annotators, pairs, weighted in weighted_pairs:
        for name in annotators:
            own_pairs, own_weighted = own.get(name, (0, 0.0))
            own[name] = own_pairs + pairs, own_weighted + weighted
    everybody = (
        sum(pairs for _, pairs, _ in weighted_pairs),
        sum(weighted for _, _, weighted in weighted_pairs),
    )
    rest = [(everybody[0] - pairs, everybody[1] - weighted) for pairs, weighted in own.values()]
    others = [pair for pair in weighted_pairs if not set(constants) & set(pair[0])]
    rest.append((sum(pairs for _, pairs, _ in others), sum(weighted for _, _, weighted in others)))
    return any(pairs >= FEW_PAIRS and weighted / pairs >= target for pairs, weighted in rest)


def describe_confused(
    confusion: GradeConfusion | None, names: Sequence[str], left_out: tuple[str, ...] = ()
) -> list[DiagnosisFinding]:
    """Return findings about the two grades confused most: who gives the higher one, and in which categories.

    `left_out`: annotators without judgments in these figures.
    """
    if confusion is None:
        return []
    grades = (confusion.low, confusion.high)
    times = say_n("{n} time", "{n} times", confusion.total)
    sentence = say(
        "Most confused grades: {low} ({low_name}) and {high} ({high_name}), {most} of the {times} "
        "that two annotators differ. Explain the difference between them in the rubric.",
        low=confusion.low,
        low_name=names[confusion.low],
        high=confusion.high,
        high_name=names[confusion.high],
        most=confusion.times,
        times=times,
    )
    findings = [DiagnosisFinding("confused", sentence, PairSelection("differing", grades=grades))]
    findings += [_describe_direction(direction, grades) for direction in confusion.directions[:MOST_NAMED]]
    findings += [
        _describe_concentration(concentration, grades)
        for concentration in confusion.concentrations[:MOST_NAMED]
    ]
    if confusion.total >= FEW_DIFFERING and confusion.far / confusion.total >= APART_SHARE:
        sentence = say(
            "Grades are two or three apart in {far} of the {times} that two annotators differ, which is "
            "more than a borderline. Check whether queries can be understood in two ways.",
            far=confusion.far,
            times=times,
        )
        findings.append(DiagnosisFinding("apart", sentence, PairSelection("differing")))
    return [
        replace(
            finding,
            sentence=add_note_on_left_out(finding.sentence, left_out),
            pairs=replace(finding.pairs, without=left_out) if finding.pairs else None,
        )
        for finding in findings
    ]


def _describe_direction(direction: ConfusionDirection, grades: tuple[int, int]) -> DiagnosisFinding:
    mostly_higher = direction.higher * 2 > direction.of
    sentence = say(
        "{annotator} tends to give the higher grade between {low} and {high}: {times} of the {of} "
        "times that {annotator} and another annotator confused the two."
        if mostly_higher
        else "{annotator} tends to give the lower grade between {low} and {high}: {times} of the {of} "
        "times that {annotator} and another annotator confused the two.",
        annotator=direction.annotator,
        times=direction.higher if mostly_higher else direction.of - direction.higher,
        of=direction.of,
        low=grades[0],
        high=grades[1],
    )
    return DiagnosisFinding(
        "direction", sentence, PairSelection("differing", annotators=(direction.annotator,), grades=grades)
    )


def _describe_concentration(
    concentration: ConfusionConcentration, grades: tuple[int, int]
) -> DiagnosisFinding:
    sentence = say(
        "{low} and {high} are confused most in the category {category}: {times} times, {rate:.0%} of "
        "its comparisons, against {elsewhere:.0%} elsewhere. Add examples from this category to the "
        "guideline.",
        category=concentration.category,
        low=grades[0],
        high=grades[1],
        rate=concentration.times / concentration.comparisons,
        times=concentration.times,
        elsewhere=concentration.elsewhere,
    )
    selection = PairSelection("differing", grades=grades, by="category", value=concentration.category)
    return DiagnosisFinding("concentrated", sentence, selection)


def describe_order(
    measured: MeasuredAgreement, tau: float | None, left_out: tuple[str, ...] = ()
) -> list[DiagnosisFinding]:
    """Return the finding that most differences are small, if so, with the agreement on the order.

    `tau`: from `measure_order`. `left_out`: annotators without judgments in these figures.
    """
    plain, squared = (measured.cohen_kappa[name].value for name in ("unweighted", "quadratic"))
    if plain is None or squared is None or squared - plain < NEAR_MISSES or measured.pairs < FEW_PAIRS:
        return []
    if tau is not None and tau >= ORDERED_ALIKE:
        sentence = say(
            "Most differences are small: kappa is much higher when differences of one grade count less "
            "(quadratic {squared:.2f}, unweighted {plain:.2f}). Within a query, annotators order "
            "documents alike (Kendall's tau-b {tau:.2f}) and differ in where each grade begins.",
            squared=squared,
            plain=plain,
            tau=tau,
        )
    elif _are_mostly_near(measured):
        sentence = say(
            "Most differences are of one grade: kappa is much higher when these count less (quadratic "
            "{squared:.2f}, unweighted {plain:.2f}). Define in the rubric where each grade begins.",
            squared=squared,
            plain=plain,
        )
    else:
        return []
    return [
        DiagnosisFinding(
            "near", add_note_on_left_out(sentence, left_out), PairSelection("differing", without=left_out)
        )
    ]


def _are_mostly_near(measured: MeasuredAgreement) -> bool:
    """Return whether more than half of the differences are of one grade."""
    table = np.sum([pair.confusion for pair in measured.annotator_pairs], axis=0)
    apart = np.abs(np.subtract.outer(np.arange(len(table)), np.arange(len(table))))
    return bool(2 * table[apart == 1].sum() > table[apart > 0].sum())


def describe_categories(groups: Sequence[GroupAgreement], target: float) -> list[DiagnosisFinding]:
    """Return findings about groups with a kappa surely below the target. Empty if there is only one group.

    The group that lowers the dataset's kappa most comes first: its distance below the target times its pairs.
    """
    measurable = [
        group
        for group in groups
        if group.value is not None
        and group.measured.pairs >= FEW_PAIRS
        and group.measured.queries >= FEW_QUERIES
        and group.measured.cohen_kappa["unweighted"].ci95
    ]
    if len(groups) < 2:
        return []
    below = []
    for group in measurable:
        kappa = group.measured.cohen_kappa["unweighted"]
        if (
            kappa.value is not None
            and kappa.ci95
            and widen(kappa.value, kappa.ci95, len(measurable))[1] < target
        ):
            below.append(((kappa.value - target) * group.measured.pairs, group.value or "", group))
    below.sort(key=lambda candidate: candidate[:2])
    findings = [
        DiagnosisFinding(
            "category",
            _describe_category(group, target, rank),
            PairSelection(by=group.by, value=group.value),
        )
        for rank, (_, _, group) in enumerate(below[:MOST_CATEGORIES])
    ]
    if len(below) > MOST_CATEGORIES:
        named: Message = join(value for _, value, _ in below[MOST_CATEGORIES:])
        findings.append(
            DiagnosisFinding("category", say("Agreement is also below the target in: {named}.", named=named))
        )
    return findings


def _describe_category(group: GroupAgreement, target: float, rank: int) -> Message:
    return say(
        "In {category}, agreement is below the target of {target:g}: Cohen's kappa is {kappa} "
        "({pairs}). Review its disagreements first."
        if rank == 0
        else "In {category}, agreement is below the target of {target:g}: Cohen's kappa is {kappa} ({pairs}).",
        category=group.value,
        target=target,
        kappa=show_value(group.measured.cohen_kappa["unweighted"]),
        pairs=show_pairs(group.measured.pairs),
    )
