"""Recompute a release's manifest and files from `judgments.csv`, and say what cannot be recomputed.

Judgments give a pair's grade unless a lead decided it or it was kept from an earlier ground truth; of those a release
contains only the number. So the number of grades that judgments do not give must equal that number, and agreement is
measured again. Only a signature reveals somebody who changed every file consistently.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotator.agreement.records import COEFFICIENT_KEYS, CUT_POINTS, list_stated
from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.ground_truth import Qrel
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.messages import count_of
from annotator.domain.settling import Settlement, settle
from annotator.formats.syntax.grade_scale import UNRATEABLE
from annotator.releases.verify.read_back import QRELS, SHOWN, ReleaseFault
from annotator.releases.writing.files import JUDGMENTS, MANIFEST

MOST_OF_A_CELL = 32_000_000  # characters
ROUNDED = 2e-6  # by how much figures may differ that were rounded to six digits
COLUMNS = ("query_id", "doc_id", "annotator", "grade", "purpose")
UNDECIDED = ("unanimous", "single")
SIMULATED = "simulated"
Name = tuple[str, str]
JudgmentKind = tuple[str, bool, str | None]
"""Annotator, whether the pair could not be rated, and the column `simulated`; None if the file has none."""


@dataclass(frozen=True, slots=True, eq=False)
class PairJudgments:
    """The independent judgments of a pair. Of a million pairs most are judged alike, and these share one object."""

    grades: Mapping[str, int]  # by annotator
    unrateable: int = 0  # how many annotators could not rate the pair

    def settle(self) -> Settlement:
        """Settle the pair without a lead's decision."""
        return settle(list(self.grades.values()), self.unrateable, None)

    def find_mean(self) -> float:
        """Return the mean grade, 0 without a grade: a release orders documents by it."""
        return sum(self.grades.values()) / len(self.grades) if self.grades else 0.0

    def list_grades(self) -> list[int]:
        """Return the grades in the order of pseudonym numbers: annotator_2 before annotator_10."""
        return [self.grades[name] for name in sorted(self.grades, key=lambda name: (len(name), name))]


def says_origins(manifest: Mapping[str, Any]) -> bool:
    """Return whether the manifest counts how grades were settled, as that of every release does."""
    counts = manifest.get("counts")
    return isinstance(counts, dict) and all(
        isinstance(counts.get(name), int) for name in ("adjudicated", "imported", *UNDECIDED)
    )


def list_judged(given: Mapping[Name, PairJudgments]) -> dict[Name, list[int]]:
    """Return the grades of each pair in the order of pseudonym numbers."""
    listed = {judgments: judgments.list_grades() for judgments in set(given.values())}
    return {name: listed[judgments] for name, judgments in given.items()}


def recompute(
    given: Mapping[Name, PairJudgments],
    manifest: Mapping[str, Any],
    qrels: Sequence[Qrel],
    people: Mapping[JudgmentKind, int],
) -> tuple[list[ReleaseFault], list[str]]:
    """Return (contradictions to the judgments, sentences about what they cannot prove).

    The manifest must have origins. `people`: the number of judgments of each kind."""
    counts = manifest["counts"]
    faults = [
        *_compare_settled(given, counts, qrels),
        *_compare_simulated(people, manifest),
        *_compare_order(given, manifest, qrels),
    ]
    unproven = list(_describe_unproven(counts))
    agreement = manifest.get("agreement")
    if not isinstance(agreement, dict):
        return [
            *faults,
            ReleaseFault(MANIFEST, "how well annotators agree", type(agreement).__name__),
        ], unproven
    differing, notes = _compare_agreement(given, agreement)
    return [*faults, *differing], [*unproven, *notes]


def read_given(
    path: Path, faults: list[ReleaseFault], people: Counter[JudgmentKind]
) -> dict[Name, PairJudgments]:
    """Return the independent judgments by (query_id, doc_id), and count all judgments in `people`.

    Notes a fault if the file differs from what a release writes."""
    by_pair: dict[Name, PairJudgments] = {}
    none = PairJudgments({})
    further: dict[tuple[PairJudgments, str, str], PairJudgments] = {}  # each with one judgment more
    try:
        csv.field_size_limit(MOST_OF_A_CELL)
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = next(rows, [])
            places = {name: place for place, name in enumerate(header)}
            missing = [name for name in COLUMNS if name not in places]
            if missing:
                faults.append(
                    ReleaseFault(JUDGMENTS, f"the columns {', '.join(COLUMNS)}", f"none named {missing[0]}")
                )
                return {}
            query, document, annotator, grade, purpose = (places[name] for name in COLUMNS)
            simulated = places.get(SIMULATED)
            texts: dict[str, str] = {}  # a million rows repeat a few ids: each is kept once
            keep = texts.setdefault
            for cells in rows:
                row = cells if len(cells) >= len(header) else cells + [""] * (len(header) - len(cells))
                mark = None if simulated is None else row[simulated]
                people[row[annotator], row[grade] == UNRATEABLE, mark] += 1
                if row[purpose] != COUNTED_PURPOSE:
                    continue
                name = keep(row[query], row[query]), keep(row[document], row[document])
                step = by_pair.get(name, none), row[annotator], row[grade]
                given = further.get(step)
                if given is None:
                    given = _add(*step, rows.line_num, faults)
                    if given is None:
                        continue
                    further[step] = given
                by_pair[name] = given
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        faults.append(ReleaseFault(JUDGMENTS, "a readable CSV file", type(error).__name__))
    return by_pair


def _add(
    given: PairJudgments, annotator: str, grade: str, line: int, faults: list[ReleaseFault]
) -> PairJudgments | None:
    """Return the judgments with this one; None after noting why it cannot be one."""
    if grade == UNRATEABLE:
        return PairJudgments(given.grades, given.unrateable + 1)
    if grade not in ("0", "1", "2", "3"):
        faults.append(ReleaseFault(JUDGMENTS, f"line {line}: a grade 0-3 or unrateable", grade[:20]))
    elif annotator in given.grades:
        faults.append(
            ReleaseFault(JUDGMENTS, f"line {line}: one judgment of each annotator and pair", "another one")
        )
    else:
        return PairJudgments({**given.grades, annotator: int(grade)}, given.unrateable)
    return None


def _compare_settled(
    given: Mapping[Name, PairJudgments], counts: Mapping[str, Any], qrels: Sequence[Qrel]
) -> Iterator[ReleaseFault]:
    """Compare the grades of qrels. A grade that the judgments do not give was decided by a lead or imported."""
    settled = {"unanimous": 0, "single": 0}
    settlements = {judgments: judgments.settle() for judgments in set(given.values())}
    contrary: list[str] = []
    without = 0
    for qrel in qrels:
        judged = given.get((qrel.query_id, qrel.doc_id))
        if judged is None:
            without += 1
        elif settlements[judged].grade == qrel.grade:
            settled[settlements[judged].status] += 1
        else:
            grades_text = (
                ", ".join(f"{name} {grade}" for name, grade in judged.grades.items()) or "unrateable"
            )
            contrary.append(f"{qrel.query_id} {qrel.doc_id} (grade {qrel.grade}; judged {grades_text})")
    decided = len(contrary) + without - counts["imported"]
    if decided > counts["adjudicated"]:
        shown = "; ".join(contrary[:SHOWN]) + ("; …" if len(contrary) > SHOWN else "")
        yield ReleaseFault(
            JUDGMENTS,
            f"at most {counts['adjudicated']:,} grades of {QRELS} that the judgments do not give, since so many were "
            f"decided by a lead ({MANIFEST})",
            f"{decided:,}{': ' if shown else ''}{shown}",
        )
    if without < counts["imported"]:
        yield ReleaseFault(
            JUDGMENTS,
            f"{counts['imported']:,} qrels without a judgment here, kept from an earlier ground truth ({MANIFEST})",
            f"{without:,}",
        )
    for origin in UNDECIDED:
        if settled[origin] < counts[origin]:
            yield ReleaseFault(
                JUDGMENTS,
                f"judgments that settle {counts[origin]:,} qrels as {origin} ({MANIFEST})",
                f"{settled[origin]:,}",
            )
    published = {(qrel.query_id, qrel.doc_id) for qrel in qrels}
    left_out = [settlements[judgments].status for name, judgments in given.items() if name not in published]
    differing, open_pairs = left_out.count("disagreement"), counts.get("disagreement")
    if isinstance(open_pairs, int) and differing < open_pairs:
        yield ReleaseFault(
            JUDGMENTS,
            f"judgments that differ on {open_pairs:,} pairs without a qrel ({MANIFEST})",
            f"{differing:,}",
        )


def _compare_simulated(
    people: Mapping[JudgmentKind, int], manifest: Mapping[str, Any]
) -> Iterator[ReleaseFault]:
    """Find an annotator who is simulated in some judgments only, and simulated judgments that the manifest does not mention."""
    marks: dict[str, set[str | None]] = {}
    for annotator, _, mark in people:
        marks.setdefault(annotator, set()).add(mark)
    for annotator, found in marks.items():
        if len(found) > 1:
            yield ReleaseFault(
                JUDGMENTS,
                f"all judgments of {annotator} simulated, or none",
                "some of them",
            )
    if any("true" in found for found in marks.values()) and manifest.get(SIMULATED) is not True:
        yield ReleaseFault(MANIFEST, f"simulated: true as in {JUDGMENTS}", str(manifest.get(SIMULATED)))


def _compare_order(
    given: Mapping[Name, PairJudgments], manifest: Mapping[str, Any], qrels: Sequence[Qrel]
) -> Iterator[ReleaseFault]:
    """Compare the order of documents, and the number of equal ones, with grades and mean grades.

    Means of kept grades are in no file, so a release with kept grades is compared by grade alone.
    """
    stated = manifest.get("order")
    if not isinstance(stated, dict):
        return
    has_means = not manifest["counts"]["imported"]
    means = {judgments: judgments.find_mean() for judgments in set(given.values())} if has_means else {}
    ranks: Counter[tuple[str, int, float]] = Counter()
    relevant_queries: set[str] = set()
    query_id, last, out_of_order = "", (0, 0.0), list[str]()
    for qrel in qrels:
        judged = given.get((qrel.query_id, qrel.doc_id)) if has_means else None
        rank = qrel.grade, 0.0 if judged is None else means[judged]
        if qrel.query_id == query_id and rank > last:
            out_of_order.append(f"{qrel.query_id} {qrel.doc_id}")
        query_id, last = qrel.query_id, rank
        if qrel.grade >= RELEVANT_FROM:
            relevant_queries.add(query_id)
            ranks[query_id, *rank] += 1
    if out_of_order:
        yield ReleaseFault(
            QRELS,
            "documents in the order of grades and mean grades",
            f"{len(out_of_order):,} above a better one: {', '.join(out_of_order[:SHOWN])}",
        )
    counted = {"queries_without_relevant": len({qrel.query_id for qrel in qrels}) - len(relevant_queries)}
    if has_means:
        counted["tied"] = sum(number for number in ranks.values() if number > 1)
    for name, number in counted.items():
        if name in stated and stated[name] != number:
            yield ReleaseFault(MANIFEST, f"order.{name} {number:,} as in {QRELS}", str(stated[name]))
    tied = stated.get("tied", 0)
    for name in ("by_lead", "by_earlier", "undecided", "queries_undecided"):
        if stated.get(name, 0) > tied:
            yield ReleaseFault(MANIFEST, f"order.{name} at most {tied:,}, as order.tied", str(stated[name]))


def _describe_unproven(counts: Mapping[str, Any]) -> Iterator[str]:
    if counts["adjudicated"]:
        decided = count_of(counts["adjudicated"], "grade was", "grades were")
        yield (
            f"{decided} decided by a lead: the release holds no record of that, "
            "only the database does (annotator release trace)"
        )
    if counts["imported"]:
        kept = count_of(counts["imported"], "grade was", "grades were")
        yield f"{kept} kept from an earlier ground truth, which is not in the release"


def _compare_agreement(
    given: Mapping[Name, PairJudgments], stated: Mapping[str, Any]
) -> tuple[list[ReleaseFault], list[str]]:
    """Compare the manifest's agreement with agreement measured from the judgments.

    Intervals are compared too, but another version of the program may draw them differently.
    """
    from annotator.agreement.service import measure_listed

    grades = {name: judgments.grades for name, judgments in given.items() if judgments.grades}
    resamples, seed = stated.get("resamples"), stated.get("seed")
    drawn = isinstance(resamples, int) and isinstance(seed, int) and 0 <= resamples <= 100_000 and seed >= 0
    measured = measure_listed(grades, resamples=resamples if drawn else 0, seed=seed if drawn else 0)  # type: ignore[arg-type]
    counted = ("pairs", "queries") if "groups" in stated else ("pairs",)  # as earlier versions wrote
    expected, there = dict(_list_figures(measured, counted)), dict(_list_figures(stated, counted))
    faults = [
        ReleaseFault(MANIFEST, f"agreement {name} {_show(value)} as in {JUDGMENTS}", _show(there.get(name)))
        for name, value in expected.items()
        if not _is_near(value, there.get(name))
    ]
    faults += [
        ReleaseFault(MANIFEST, f"agreement of the judgments in {JUDGMENTS}", f"{name} {_show(there[name])}")
        for name in there
        if name not in expected
    ]
    intervals, stated_intervals = dict(_list_intervals(measured)), dict(_list_intervals(stated))
    differing = [name for name, value in stated_intervals.items() if not _is_near(value, intervals.get(name))]
    note = (
        f"{len(differing):,} of the {len(stated_intervals):,} intervals of agreement are not those that this program draws; a "
        "program of another version may draw them otherwise"
    )
    return faults[: SHOWN + 1], [note] if differing else []


def _list_figures(figures: Mapping[str, Any], counted: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield values, counts and tables, without intervals, each with a name for people. `counted`: of two annotators."""
    for key in ("annotators", "pairs", "observed_agreement"):
        yield key, figures.get(key)
    for name, value in _list_values(figures):
        yield name, value.get("value")
    for pair in figures.get("annotator_pairs") or ():
        named = " and ".join(map(str, pair.get("annotators") or ()))
        for key in (*counted, "observed_agreement", "confusion"):
            yield f"of {named}: {key}", pair.get(key)
        for kind, value in (pair.get("cohen_kappa") or {}).items():
            yield f"of {named}: cohen_kappa {kind}", value.get("value")


def _list_intervals(figures: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in _list_values(figures):
        if value.get("ci95") is not None:
            yield name, value["ci95"]


def _list_values(figures: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the coefficients of the whole dataset."""
    for key, kind, value in list_stated({**dict.fromkeys(COEFFICIENT_KEYS), **figures}):
        if key == CUT_POINTS:
            yield f"cohen_kappa, relevant from {kind}", value
        else:
            yield key if kind is None else f"{key} {kind}", value


def _is_near(value: Any, other: Any) -> bool:
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(_is_near, value, other))
    if isinstance(value, int | float) and isinstance(other, int | float):
        return abs(value - other) <= ROUNDED
    return bool(value == other)


def _show(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
