"""Count what a release holds, for the gates and the datasheet, and describe it for the manifest.

Pure. Keeps counts and a few examples, never the pairs. Everything of a release comes from one read transaction, so gates,
qrels and judgments show the same moment while annotators go on judging.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotator.dataset.records import Coverage, QueryFacts
from annotator.domain.grades import RELEVANT_FROM, Rubric
from annotator.domain.ground_truth import Query
from annotator.quality.records import QualityStatus
from annotator.releases.records import ReleaseGate
from annotator.releases.writing.files import round_numbers

SHOWN = 20
Names = tuple[str, str]


@dataclass(frozen=True, slots=True)
class CountWithExamples:
    """A count with its first 20 examples, each a (query_id, doc_id), in the dataset's order."""

    count: int
    first: Sequence[Names]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSurvey:
    """Figures over a dataset's pairs, counted by `releases/survey_sql.py`.

    `uneven`: whether some pairs are judged by another number than `overlap`. `meaning_since`: see `gates.find_meaning_since`.
    `of_query`: the settled grades 0 to 3 by query_pk, for queries with one. `with_open_pairs`: the queries of which a pair waits
    for a lead. `stale_text`: how many of the stale pairs rest on an older text; `stale_both`: also on an older guideline.
    """

    overlap: int
    uneven: bool
    meaning_since: int | None
    statuses: Counter[str]
    by_grade: Counter[int]
    of_query: Mapping[int, tuple[int, int, int, int]]
    with_open_pairs: Collection[int]
    opened: CountWithExamples
    short: CountWithExamples
    stale: CountWithExamples
    stale_text: int
    stale_both: int

    def list_facts(self, queries: Mapping[int, Query]) -> Iterable[QueryFacts]:
        """Return the queries that the files hold, in order, with their settled grades, for the coverage of a release."""
        for query_pk, query in queries.items():
            if query_pk not in self.of_query:
                continue
            yield QueryFacts(query, self.of_query[query_pk], query_pk in self.with_open_pairs)

    def list_without_relevant(self, queries: Mapping[int, Query]) -> list[str]:
        """Return the query_ids with settled grades of 0 only, in the order of queries.

        Queries with an open disagreement are left out: a lead's decision may still find a relevant document.
        """
        return [
            query.query_id
            for query_pk, query in queries.items()
            if query_pk in self.of_query
            and query_pk not in self.with_open_pairs
            and not any(self.of_query[query_pk][RELEVANT_FROM:])
        ]

    def list_without_qrels(self, queries: Mapping[int, Query]) -> list[str]:
        """Return the query_ids without any settled grade."""
        return [query.query_id for query_pk, query in queries.items() if query_pk not in self.of_query]


@dataclass(frozen=True, slots=True)
class ReleaseSurvey:
    """The counts over all pairs of a dataset before a release."""

    pairs: PairSurvey
    queries: Mapping[int, Query]  # by query_pk, in the dataset's order
    coverage: Coverage  # of what the files would hold
    without_qrels: list[str]  # query_ids that no file would hold
    without_relevant: list[str]  # query_ids whose settled grades are all 0
    quality: QualityStatus
    unwritable: Mapping[str, Sequence[str]]  # by format, the ids of settled pairs that it cannot hold


NOTICE = (
    "Some of these judgments were made by simulated annotators, not by people: draw no conclusions from them."
)


@dataclass(frozen=True, slots=True)
class DatasetSnapshot:
    """A dataset at one moment, without its pairs.

    `seed`: the dataset's; it decides the order of documents that nothing else tells apart.
    `counts`: see `content.count_content`. `numbers`: everybody's pseudonym number, by person; `new_numbers`: those
    that this release gives. `simulated`: who of them is not a person. `publisher`: the publishing lead's pseudonym.
    `versions`: the ones published so far, oldest first. `about`: authors, contact, licence and source, None where not said.
    `left_out`: the formats that cannot hold some ids, with the number of these ids; the release has no files of them.
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
    left_out: Mapping[str, int] = field(default_factory=dict)


def describe_files(snapshot: DatasetSnapshot, *, version: str, at: datetime) -> dict[str, Any]:
    """Return the metadata of a release for formats that have fields for it."""
    about = {name: text for name, text in snapshot.about.items() if text}
    return {"version": version, "created_at": at.date().isoformat(), **about, **_count_simulated(snapshot)}


def list_scale(rubric: Rubric) -> list[dict[str, Any]]:
    """Return the name and definition of each grade, for the manifest."""
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
    rubric = snapshot.rubric
    return {
        "dataset": snapshot.dataset,
        "version": version,
        "created_at": at.isoformat().replace("+00:00", "Z"),
        "published_by": snapshot.publisher,
        "note": note,
        **snapshot.about,
        **_count_simulated(snapshot),
        "scale": list_scale(rubric),
        "guideline_version": snapshot.guideline_version,
        **({"guideline_languages": list(rubric.languages)} if rubric.translations else {}),
        "previous": snapshot.versions[-1] if snapshot.versions else None,
        "content_sha256": content_sha256,
        "list_grade_0": snapshot.list_grade_0,
        **list_left_out(snapshot),
        "counts": dict(snapshot.counts),
        "order": dict(order),
        "agreement": round_numbers(snapshot.agreement),
        "gates": [gate.as_json() for gate in snapshot.gates],
    }


def list_left_out(snapshot: DatasetSnapshot) -> dict[str, Any]:
    """Return the formats that the release leaves out, for the manifest; nothing if it has all."""
    entries = [{"format": name, "ids": count} for name, count in snapshot.left_out.items()]
    return {"formats_left_out": entries} if entries else {}


def _count_simulated(snapshot: DatasetSnapshot) -> dict[str, Any]:
    return {"simulated": True, "notice": NOTICE} if snapshot.simulated else {}
