"""Count what a release holds, for the gates and the datasheet, and describe it for the manifest.

Pure. The first of two passes over the pairs: keeps counts and a few examples, never the pairs. Everything of a release comes
from one read transaction, so gates, qrels and judgments show the same moment while annotators go on judging.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotator.agreement.records import AgreementVerdict
from annotator.dataset.records import Coverage, QueryFacts
from annotator.domain.grades import RELEVANT_FROM, Rubric
from annotator.domain.ground_truth import Query
from annotator.domain.settling import OPEN, Settlement
from annotator.quality.records import QualityStatus
from annotator.releases.files import round_numbers
from annotator.releases.gates import GateFigures, is_on_older_text, is_stale
from annotator.releases.records import ReleaseGate

SHOWN = 20
DECLARED = "queries_without_relevant"
Names = tuple[str, str]


class CountWithExamples:
    """A count with its first 20 examples."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Names] = []

    def add(self, names: Names) -> None:
        """Count one more, a (query_id, doc_id)."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(names)


class PairSurvey:
    """Figures over a dataset's pairs, filled by `add`, one pair after the other in the dataset's order.

    `uneven`: whether some pairs are judged by another number than `overlap`. `meaning_since`: see `gates.find_meaning_since`. `judged_under` and `decided_under`: guideline versions by pair_pk,
    the lowest of its judgments (needed only where it is older), and that of its decision. `judged_on_older` and
    `decided_on_older`: the pair_pks whose judgments, or decision, were made on an older text of the document.
    """

    def __init__(
        self,
        *,
        overlap: int,
        uneven: bool = False,
        meaning_since: int | None = None,
        judged_under: Mapping[int, int] | None = None,
        decided_under: Mapping[int, int] | None = None,
        judged_on_older: Collection[int] = (),
        decided_on_older: Collection[int] = (),
    ) -> None:
        self.overlap, self.uneven, self.meaning_since = overlap, uneven, meaning_since
        self._judged_under, self._decided_under = judged_under or {}, decided_under or {}
        self._judged_on_older, self._decided_on_older = judged_on_older, decided_on_older
        self.statuses: Counter[str] = Counter()
        self.by_grade: Counter[int] = Counter()
        self.of_query: dict[int, list[int]] = {}
        self._with_open_pairs: set[int] = set()
        self.opened, self.short, self.stale = CountWithExamples(), CountWithExamples(), CountWithExamples()
        self.stale_text = self.stale_both = 0

    def add(self, names: Names, query_pk: int, pair_pk: int, settlement: Settlement, *, lacking: int) -> None:
        """Count a pair. `names`: (query_id, doc_id); `lacking`: how many judgments it still lacks."""
        status, grade = settlement.status, settlement.grade
        self.statuses[status] += 1
        if lacking:
            self.short.add(names)
        if grade is None:
            if status in OPEN:
                self.opened.add(names)
                self._with_open_pairs.add(query_pk)
            return
        self.by_grade[grade] += 1
        counts = self.of_query.get(query_pk)
        if counts is None:
            counts = self.of_query[query_pk] = [0, 0, 0, 0]
        counts[grade] += 1
        self._note_stale(names, pair_pk, status)

    def list_facts(self, queries: Mapping[int, Query]) -> Iterable[QueryFacts]:
        """Return the queries that the files hold, in order, with their settled grades, for the coverage of a release."""
        for query_pk, query in queries.items():
            if query_pk not in self.of_query:
                continue
            grade_0, grade_1, grade_2, grade_3 = self.of_query[query_pk]
            yield QueryFacts(query, (grade_0, grade_1, grade_2, grade_3), query_pk in self._with_open_pairs)

    def list_without_relevant(self, queries: Mapping[int, Query]) -> list[str]:
        """Return the query_ids whose settled grades are all 0, in the queries' order.

        Queries with an open disagreement are left out: a lead's decision may still find a relevant document.
        """
        return [
            query.query_id
            for query_pk, query in queries.items()
            if query_pk in self.of_query
            and query_pk not in self._with_open_pairs
            and not any(self.of_query[query_pk][RELEVANT_FROM:])
        ]

    def list_without_qrels(self, queries: Mapping[int, Query]) -> list[str]:
        """Return the query_ids without any settled grade."""
        return [query.query_id for query_pk, query in queries.items() if query_pk not in self.of_query]

    def _note_stale(self, names: Names, pair_pk: int, status: str) -> None:
        lowest = self._judged_under.get(pair_pk)
        older_meaning = is_stale(
            self.meaning_since,
            status=status,
            judged_under=() if lowest is None else (lowest,),
            decided_under=self._decided_under.get(pair_pk),
        )
        older_text = is_on_older_text(
            status, judged=pair_pk in self._judged_on_older, decided=pair_pk in self._decided_on_older
        )
        if older_meaning or older_text:
            self.stale.add(names)
            self.stale_text += older_text
            self.stale_both += older_meaning and older_text


def list_figures(
    survey: PairSurvey,
    *,
    dataset: str,
    verdict: AgreementVerdict,
    coverage: Coverage,
    unjudged: Sequence[str],
    without_relevant: Iterable[str],
    requirements: Mapping[str, object] | None,
    quality: QualityStatus | None = None,
) -> GateFigures:
    """Return the figures that the gates compare."""
    declared = (requirements or {}).get(DECLARED)
    declared_ids = set(declared) if isinstance(declared, list) else set()
    missing = [query_id for query_id in without_relevant if query_id not in declared_ids]
    return GateFigures(
        dataset=dataset,
        verdict=verdict,
        disagreements=survey.opened.count,
        reopened=survey.statuses["reopened"],
        open_pairs=survey.opened.first,
        overlap=survey.overlap,
        uneven=survey.uneven,
        short=survey.short.count,
        short_pairs=survey.short.first,
        requirements=coverage.required,
        requirements_met=coverage.met,
        unmet=[(row.name, row.required, row.measured) for row in coverage.rows if row.met is False],
        unjudged=len(unjudged),
        unjudged_queries=unjudged[:SHOWN],
        without_relevant=len(missing),
        without_relevant_queries=missing[:SHOWN],
        stale=survey.stale.count,
        stale_pairs=survey.stale.first,
        stale_text=survey.stale_text,
        stale_both=survey.stale_both,
        meaning_since=survey.meaning_since,
        quality=quality,
    )


NOTICE = (
    "Some of these judgments were made by simulated annotators, not by people: draw no conclusions from them."
)

AGREEMENT_KEYS = (
    "annotators",
    "pairs",
    "observed_agreement",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "gwet_ac1",
    "gwet_ac2",
    "cut_points",
    "annotator_pairs",
    "groups",
    "resamples",
    "seed",
)  # (the figures; the diagnosis is advice to the lead, in words that may get better)


@dataclass(frozen=True, slots=True)
class DatasetSnapshot:
    """A dataset at one moment, apart from its pairs.

    `seed`: the dataset's; it decides the order of documents that nothing else tells apart.
    `counts`: see `content.count_content`. `numbers`: everybody's pseudonym number, by person; `new_numbers`: those
    that this release gives. `simulated`: who of them is not a person. `publisher`: the publishing lead's pseudonym.
    `versions`: the ones published so far, oldest first. `about`: authors, contact, licence and source, None where not said.
    """

    dataset: str
    seed: int
    list_grade_0: bool
    guideline_version: int
    rubric: Rubric
    counts: Mapping[str, Any]
    gates: tuple[ReleaseGate, ...]
    agreement: Mapping[str, Any]
    numbers: Mapping[int, int]
    new_numbers: Mapping[int, int]
    simulated: frozenset[int]
    publisher: str
    versions: tuple[str, ...]
    about: Mapping[str, str | None] = field(default_factory=dict)


def describe_files(snapshot: DatasetSnapshot, *, version: str, at: datetime) -> dict[str, Any]:
    """Return what the files of a release say about themselves, in formats that have a field for it."""
    about = {name: text for name, text in snapshot.about.items() if text}
    return {"version": version, "created_at": at.date().isoformat(), **about, **_count_simulated(snapshot)}


def list_scale(rubric: Rubric) -> list[dict[str, Any]]:
    """Return what each grade means, for the manifest."""
    return [{"grade": item.grade, "name": item.name, "definition": item.definition} for item in rubric.grades]


def describe_release(
    snapshot: DatasetSnapshot,
    *,
    version: str,
    at: datetime,
    note: str,
    content_sha256: str,
    order: Mapping[str, int],
) -> dict[str, Any]:
    """Return the manifest without its list of files, in the order in which people read it.

    `order`: what decided the order of documents (see `write.py`).
    """
    return {
        "dataset": snapshot.dataset,
        "version": version,
        "created_at": at.isoformat().replace("+00:00", "Z"),
        "published_by": snapshot.publisher,
        "note": note,
        **snapshot.about,
        **_count_simulated(snapshot),
        "scale": list_scale(snapshot.rubric),
        "guideline_version": snapshot.guideline_version,
        "previous": snapshot.versions[-1] if snapshot.versions else None,
        "content_sha256": content_sha256,
        "list_grade_0": snapshot.list_grade_0,
        "counts": dict(snapshot.counts),
        "order": dict(order),
        "agreement": round_numbers({key: snapshot.agreement[key] for key in AGREEMENT_KEYS}),
        "gates": [gate.as_json() for gate in snapshot.gates],
    }


def list_grade_names(rubric: Rubric) -> Sequence[str]:
    """Return the names of the grades 0 to 3."""
    return [item.name for item in rubric.grades]


def _count_simulated(snapshot: DatasetSnapshot) -> dict[str, Any]:
    return {"simulated": True, "notice": NOTICE} if snapshot.simulated else {}
