"""Make the agreement report: the dataset, its groups, before and since a guideline version; and write it to a file.

Raises ValidationError for more groups than can be compared. A comparison covers pairs judged wholly before or wholly
since a version; the interval of the kappas' difference varies queries (`agreement/diagnosis/drift.py`). Nothing is
claimed for too few pairs or an interval that holds 0. A file is written under a temporary name and renamed; its target
is checked first.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from annotator.agreement.consensus_records import Consensus
from annotator.agreement.diagnosis.assess import assess
from annotator.agreement.diagnosis.wording import show_figure, show_pairs, show_value
from annotator.agreement.intervals import cluster_interval, misses
from annotator.agreement.judgment_pairs import JudgmentPairs, estimate_kappa, list_couples, subtract
from annotator.agreement.judgment_table import (
    Flags,
    GradedJudgments,
    GroupLabels,
    Ints,
    NamedJudgments,
    number,
    sum_tables,
)
from annotator.agreement.measure import mean_kappas, measure, measure_briefly
from annotator.agreement.records import (
    FEW_QUERIES,
    AgreementReport,
    CoefficientValue,
    ExclusionCount,
    GroupAgreement,
    MeasuredAgreement,
    SincePart,
    SinceVersion,
    State,
    VersionSide,
    warn_of_few,
)
from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.messages import Message, say
from annotator.formats.spreadsheet import write_sheet
from annotator.labeling.records import AnnotatorResult

MOST_GROUPS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """What a report needs beside the judgments. `by`: what `groups` are grouped by (None: nothing), as labels of the rows;
    None for "annotator". `categories`: the same by the queries' category, for the diagnosis. `resamples` 0: no intervals."""

    dataset: str
    kappa_target: float
    grade_names: Sequence[str]
    by: str | None
    groups: GroupLabels | None
    categories: GroupLabels
    checks: Sequence[AnnotatorResult]
    resamples: int
    seed: int


def measure_first(found: NamedJudgments) -> tuple[int, CoefficientValue]:
    """The number of shared pairs and the dataset's unweighted kappa, without an interval: what is known in a moment."""
    shared = found.judged.shared()
    return len(number(shared.pair)[0]), mean_kappas(sum_tables(shared))["unweighted"]


def measure_whole(found: NamedJudgments, *, resamples: int, seed: int) -> MeasuredAgreement:
    """The whole dataset: the part that takes longest, so that the database can be read meanwhile."""
    return measure(found.judged, found.names, resamples=resamples, seed=seed)


def make_report(
    found: NamedJudgments,
    basis: ReportInput,
    measured: MeasuredAgreement,
    groups: Sequence[GroupAgreement],
    categories: Sequence[GroupAgreement],
    left_out: Sequence[ExclusionCount],
) -> AgreementReport:
    """The report. `measured`, `groups`, `categories`: by the functions beside this one, of the same judgments."""
    assessed = assess(
        found.judged,
        names=found.names,
        measured=measured,
        target=basis.kappa_target,
        grade_names=basis.grade_names,
        made_at=found.made_at,
        seconds=found.seconds,
        groups=categories,
        checks=basis.checks,
        simulated=found.simulated,
        unrateable=count_unrateable(left_out),
    )
    return AgreementReport(
        dataset=basis.dataset,
        annotators=found.names,
        simulated=bool(found.simulated),
        kappa_target=basis.kappa_target,
        resamples=basis.resamples,
        seed=basis.seed,
        measured=replace(measured, leanings=assessed.leanings),
        groups=tuple(groups),
        findings=assessed.findings,
        verdict=assessed.verdict,
        periods=assessed.periods,
        left_out=tuple(left_out),
    )


def count_unrateable(left_out: Sequence[ExclusionCount]) -> int:
    """How many judgments say that a pair cannot be rated."""
    return sum(one.judgments for one in left_out if one.kind == "unrateable")


def check_groups(labels: GroupLabels, by: str) -> None:
    """ValidationError when there are more than can be compared."""
    if len(labels.values) > MOST_GROUPS:
        raise ValidationError(
            say(
                "{by} has {n:,} different values: more than the {most} that can be compared",
                by=by,
                n=len(labels.values),
                most=MOST_GROUPS,
            )
        )


def measure_groups(found: NamedJudgments, basis: ReportInput) -> tuple[GroupAgreement, ...]:
    """One measurement per annotator or per value; what has none comes last."""
    options: dict[str, int] = {"resamples": basis.resamples, "seed": basis.seed}
    measured: list[tuple[str | None, MeasuredAgreement]] = []
    if basis.by is None:
        return ()
    if basis.groups is None:
        for place, name in enumerate(found.names):
            measured.append((name, measure(found.judged, found.names, only=place, **options)))
    else:
        check_groups(basis.groups, basis.by)
        for value, rows in basis.groups:
            measured.append((value, measure(found.judged.where(rows), found.names, **options)))
    return tuple(
        GroupAgreement(basis.by, value, one, warn_of_few(one.pairs, one.queries)) for value, one in measured
    )


def measure_categories(found: NamedJudgments, labels: GroupLabels) -> tuple[GroupAgreement, ...]:
    """The categories, for the diagnosis; none where there are too many to tell apart."""
    if len(labels.values) > MOST_GROUPS:
        return ()
    measured = [(value, measure_briefly(found.judged.where(rows), found.names)) for value, rows in labels]
    return tuple(GroupAgreement("category", value, one) for value, one in measured)


MOST_CATEGORIES = 12
NO_DIFFERENCE = say("kappa is not known on both sides")
TOO_FEW_QUERIES = say("an interval needs pairs of {n} or more queries", n=FEW_QUERIES)
Led = Mapping[int, Mapping[str | None, int]]
"""How many decisions led to a version, by the category of their queries."""


@dataclass(frozen=True, slots=True)
class ComparedJudgments:
    """What is compared: the judgments of one group, which rows are since the version and which before."""

    found: NamedJudgments
    before: Flags
    since: Flags
    resamples: int
    seed: int

    def measure(self, rows: Flags) -> VersionSide:
        judged = self.found.judged.where(rows)
        measured = measure(judged, self.found.names, resamples=self.resamples, seed=self.seed)
        return VersionSide(
            measured.pairs,
            measured.queries,
            measured.cohen_kappa["unweighted"],
            measured.krippendorff_alpha["ordinal"],
            warn_of_few(measured.pairs, measured.queries),
        )


def choose_version(known: Sequence[int], led: Led, asked: int | None) -> int | None:
    """The version to compare: the one asked for, else the latest that decisions led to, else the latest; None where there
    is but one. NotFound for one that there is not, or that has none before it."""
    if asked is not None and asked not in known[1:]:
        raise NotFound(say("no version {version} that has another before it", version=asked))
    return asked or max(led, default=None) or (known[-1] if len(known) > 1 else None)


def compare_since(
    found: NamedJudgments,
    versions: Ints,
    categories: GroupLabels,
    *,
    dataset: str,
    known: Sequence[int],
    led: Led,
    version: int,
    resamples: int,
    seed: int,
) -> SinceVersion:
    """Both sides of this version. `versions`: of each judgment's guideline; `known`: all versions, ascending."""
    before, since, between, unknown = split_rows(found.judged, versions, version)
    asked = ComparedJudgments(found, before, since, resamples, seed)
    parts = [_compare(asked, None, np.ones(len(before), dtype=np.bool_), version)]
    about = led.get(version, {})
    chosen = sorted((name for name in about if name is not None), key=lambda name: (-about[name], name))
    groups = {value: rows for value, rows in categories if value in chosen[:MOST_CATEGORIES]}
    parts += [_compare(asked, name, groups[name], version) for name in chosen if name in groups]
    return SinceVersion(
        dataset,
        version,
        tuple((one, sum(led.get(one, {}).values())) for one in known[1:]),
        tuple(parts),
        between,
        bool(found.simulated),
        unknown,
    )


def split_rows(judged: GradedJudgments, versions: Ints, version: int) -> tuple[Flags, Flags, int, int]:
    """The rows of pairs judged wholly before a version, those of pairs judged wholly since, and how many shared pairs are on
    neither side: judged partly before, and judged by somebody under a version that nobody knows (0)."""
    pairs, place = number(judged.pair)
    later = versions >= version
    all_later, any_later = np.ones(len(pairs), dtype=np.bool_), np.zeros(len(pairs), dtype=np.bool_)
    np.logical_and.at(all_later, place, later)
    np.logical_or.at(any_later, place, later)
    known = np.ones(len(pairs), dtype=np.bool_)
    np.logical_and.at(known, place, versions > 0)
    between = int((known & any_later & ~all_later).sum())
    unknown = int((~known & (np.bincount(place, minlength=len(pairs)) > 1)).sum())
    return (known & ~any_later)[place], (known & all_later)[place], between, unknown


def _compare(asked: ComparedJudgments, category: str | None, rows: Flags, version: int) -> SincePart:
    before, since = asked.measure(rows & asked.before), asked.measure(rows & asked.since)
    kept = rows & (asked.before | asked.since)
    difference = _subtract(asked.found.judged.where(kept), asked.since[kept], len(asked.found.names))
    state = _judge(before, since, difference)
    sentence = _say(category, before, since, difference, state, version)
    return SincePart(category, before, since, difference, state, sentence)


def _subtract(judged: GradedJudgments, since: Flags, annotators: int) -> CoefficientValue:
    """The kappa since less the kappa before."""
    couples: JudgmentPairs = list_couples(judged)
    if not len(couples.left):
        return CoefficientValue(None, None, NO_DIFFERENCE)
    later = since[couples.left]
    found = subtract(
        estimate_kappa(couples.take(later), annotators), estimate_kappa(couples.take(~later), annotators)
    )
    if np.isnan(found.value):
        return CoefficientValue(None, None, NO_DIFFERENCE)
    ci95 = cluster_interval(found)
    return CoefficientValue(found.value, ci95, None if ci95 else TOO_FEW_QUERIES)


def _judge(before: VersionSide, since: VersionSide, difference: CoefficientValue) -> State:
    if before.warning or since.warning or difference.value is None or not misses(difference.ci95, 0.0):
        return "unknown"
    return "higher" if difference.value > 0 else "lower"


def _say(
    category: str | None,
    before: VersionSide,
    since: VersionSide,
    difference: CoefficientValue,
    state: State,
    version: int,
) -> Message:
    """What is so, in a sentence."""
    place = say("in {category}", category=category) if category is not None else say("in the dataset")
    if not since.pairs or not before.pairs:
        missing = say("since version {version}", version=version)
        if since.pairs:
            missing = say("before version {version}", version=version)
        return say(
            "Not yet known {place}: no pair was judged by two annotators {missing}.",
            place=place,
            missing=missing,
        )
    if difference.value is None:
        return say(
            "Not yet known {place}: kappa is undefined over {before} before version {version} or over {since} since it.",
            place=place,
            version=version,
            before=show_pairs(before.pairs),
            since=show_pairs(since.pairs),
        )
    told = {
        "place": place,
        "version": version,
        "before": show_value(before.kappa),
        "since": show_value(since.kappa),
        "before_pairs": show_pairs(before.pairs),
        "since_pairs": show_pairs(since.pairs),
        "difference": show_figure(difference.value, difference.ci95, signed=True),
    }
    if state == "higher":
        return say(
            "Agreement {place} is higher since version {version}: Cohen's kappa is {since} over {since_pairs}, before it was "
            "{before} over {before_pairs} (difference {difference}).",
            **told,
        )
    if state == "lower":
        return say(
            "Agreement {place} is lower since version {version}: Cohen's kappa is {since} over {since_pairs}, before it was "
            "{before} over {before_pairs} (difference {difference}). Read what has been disputed since.",
            **told,
        )
    return say(
        "Not yet known {place} whether version {version} changed agreement: Cohen's kappa is {since} over {since_pairs}, "
        "before it was {before} over {before_pairs} (difference {difference}).",
        **told,
    )


COLUMNS = (
    "query_id",
    "doc_id",
    "judgments",
    "majority_estimate",
    "median_estimate",
    "dawid_skene_estimate",
    "dawid_skene_probability",
    "settled_grade",
    "settled_by",
)


def check_target(target: Path) -> None:
    """ValidationError when no file can be written there: a folder, a place in none, or "-"."""
    if str(target) == "-":
        raise ValidationError(
            say("expected the name of a file, found '-': a report is not written to the terminal")
        )
    folder = target.absolute().parent
    try:
        if target.is_dir():
            raise ValidationError(say("cannot write {path}: it is a folder", path=target))
        if not folder.is_dir():
            raise ValidationError(
                say("cannot write {path}: there is no folder {folder}", path=target, folder=folder)
            )
    except OSError as error:
        raise _say_why(target, error) from None


def _say_why(target: Path, error: OSError) -> ValidationError:
    return ValidationError(say("cannot write {path}: {why}", path=target, why=error.strerror or str(error)))


def write_file(target: Path, pieces: Iterable[str]) -> None:
    """The pieces as one file in UTF-8. ValidationError when it cannot be written; then what was there still is."""
    check_target(target)
    try:
        with tempfile.TemporaryDirectory(
            prefix=f".{target.name[:100]}.", suffix=".partial", dir=target.absolute().parent
        ) as partial:
            file = Path(partial) / "file"
            with file.open("w", encoding="utf-8", newline="") as output:
                output.writelines(pieces)
            file.replace(target)
    except OSError as error:
        raise _say_why(target, error) from None


def write_estimate_rows(found: Consensus) -> Iterator[str]:
    """The estimates as CSV for spreadsheets, every column that holds an estimate named so."""
    rows = (
        (
            pair.query_id,
            pair.doc_id,
            pair.judgments,
            pair.majority,
            _plain(pair.median),
            pair.dawid_skene,
            round(pair.probability, 4),
            pair.settled,
            pair.settled_by,
        )
        for pair in found.pairs
    )
    return write_sheet(COLUMNS, rows)


def _plain(number: float) -> float | int:
    """A whole number without its point."""
    return int(number) if number == int(number) else number
