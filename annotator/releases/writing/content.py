"""Choose which pairs are qrels of a release, in which order, and under which pseudonyms people appear.

A qrel is a settled pair: unanimous, adjudicated, judged by one annotator and marked "single", or kept from an earlier ground
truth and marked "imported". Open disagreements, pairs that quality control reopened, unrateable and unjudged pairs are absent
and counted; absence is never grade 0. A query without any qrel is absent too: an evaluator would count it as one without
relevant documents. Works query by query. A person has one number per dataset for ever, given at their first release:
`annotator_N` as a judge, `lead_N` as the one who decided or published. No real name leaves.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import inf
from typing import Any

from annotator.domain.errors import StateError
from annotator.domain.grades import GRADES, RELEVANT_FROM
from annotator.domain.ground_truth import NOTHING, Metadata, Origin, Qrel
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.people import name_annotator
from annotator.domain.settling import PAIR_STATUSES
from annotator.releases.records import GivenJudgment, Participant, ReleasePair


def assign_numbers(
    assigned: Mapping[int, int], people: Iterable[Participant], secrets: Mapping[int, str], *, seed: int
) -> dict[int, int]:
    """Return new pseudonym numbers by person, for people without one: annotators first, then other leads.

    Within both groups the seed decides the order, so it follows neither accounts nor names and is the same on every
    machine. `secrets` (the smallest event id of everybody who judged; event ids are never published) is part of the
    hash, so that usernames and seed are not enough to compute it. Numbers in `assigned` stay.
    """

    def make_sort_key(person: Participant) -> tuple[bool, bytes]:
        drawn = json.dumps([seed, person.username, secrets.get(person.key, "")])
        return person.key not in secrets, hashlib.sha256(drawn.encode()).digest()

    new = sorted((person for person in people if person.key not in assigned), key=make_sort_key)
    after = max(assigned.values(), default=0)
    return {person.key: number for number, person in enumerate(new, after + 1)}


DOCUMENT_KEYS = (
    "law_type",
)  # what evaluators read of a document's metadata; more would upset strict loaders
_ORIGINS: dict[str, Origin] = {
    "unanimous": "unanimous",
    "adjudicated": "adjudicated",
    "single": "single",
    "imported": "imported",
}
_name = lru_cache(4096)(name_annotator)  # a few names, wanted millions of times
_LISTED = ("unanimous", "adjudicated", "single", "imported", "disagreement", "unrateable", "unjudged")


@dataclass(slots=True)
class RankTies:
    """The relevant documents that equal another one of their query, counted by what decided their order.

    Relevant means grade 1 and more. Equal means: the same settled grade and mean annotator grade.
    """

    tied: int = 0  # how many there are
    by_lead: int = 0  # ordered by a lead
    by_earlier: int = 0  # ordered only by an earlier ground truth
    undecided: int = 0  # separated from another one only by the hash
    queries_undecided: int = 0  # queries with such documents

    def add(self, settled: Sequence[ReleasePair]) -> None:
        """Count a query's settled pairs, which are in the order of publishing."""
        keys = [_rank(pair) for pair in settled if (pair.grade or 0) >= RELEVANT_FROM]
        undecided = 0
        for _, group in groupby(keys, key=lambda key: key[:2]):
            alike = list(group)
            if len(alike) == 1:
                continue
            self.tied += len(alike)
            self.by_lead += sum(by_lead < inf for *_, by_lead, _ in alike)
            self.by_earlier += sum(by_lead == inf > earlier for *_, by_lead, earlier in alike)
            sizes = [len(list(same)) for _, same in groupby(alike)]
            undecided += sum(size for size in sizes if size > 1)
        self.undecided += undecided
        self.queries_undecided += undecided > 0


def list_settled(pairs: Iterable[ReleasePair], *, seed: int) -> list[ReleasePair]:
    """Return a query's settled pairs in the order in which their qrels are published."""
    return sorted([pair for pair in pairs if pair.grade is not None], key=lambda pair: sort_place(pair, seed))


def sort_place(pair: ReleasePair, seed: int) -> tuple[float, float, float, float, bytes]:
    """Return the order key of a pair in its query.

    By settled grade, mean grade, a lead's order, an earlier order, and a hash. Highest grades first. Documents without a rank in an earlier ground truth come after those with one. The hash is
    of the ids with the dataset's seed. Never uses a system's rank, which would favour the systems of the pool, nor
    the doc_id itself, which often follows a collection's own order.
    """
    drawn = hashlib.sha256(f"{seed}\0{pair.query_id}\0{pair.doc_id}".encode()).digest()
    return (*_rank(pair), drawn)


def _rank(pair: ReleasePair) -> tuple[float, float, float, float]:
    """Return the sort key of a settled pair within its query; the smallest comes first."""
    if pair.kept is not None:
        grades = [grade for _, grade in pair.kept.annotator_grades]
    else:
        grades = [
            item.grade
            for item in pair.judgments
            if item.grade is not None and item.purpose == COUNTED_PURPOSE
        ]
    mean = sum(grades) / len(grades) if grades else 0.0
    by_lead = inf if pair.lead_place is None else pair.lead_place
    imported = inf if pair.imported_place is None else pair.imported_place
    return -(pair.grade or 0), -mean, by_lead, imported


def sort_judgments(pair: ReleasePair, numbers: Mapping[int, int]) -> Sequence[GivenJudgment]:
    """Return the pair's judgments in the order of their pseudonym numbers."""
    given = pair.judgments
    if len(given) < 2 or (len(given) == 2 and numbers[given[0][1]] < numbers[given[1][1]]):
        return given
    return sorted(given, key=lambda judgment: numbers[judgment.annotator])


def to_qrel(pair: ReleasePair, numbers: Mapping[int, int]) -> Qrel:
    """Return the qrel of a settled pair. Its note: the decision's rationale, or the annotators' notes.

    `numbers`: everybody's pseudonym number, by person. A kept grade brings its own note, description and
    annotators' grades.
    """
    if pair.grade is None:
        raise StateError(f"{pair.query_id} {pair.doc_id} is not settled, so it is no qrel")
    if (kept := pair.kept) is not None:
        return Qrel(
            pair.query_id,
            pair.doc_id,
            pair.grade,
            "imported",
            kept.description or pair.title or None,
            kept.note,
            kept.annotator_grades,
            _choose({**kept.metadata, **pair.document_metadata}),
        )
    grades: list[tuple[str, int]] = []
    notes: list[str] = []
    for _, person, _, grade, note, purpose, *_ in sort_judgments(pair, numbers):
        if grade is not None and purpose == COUNTED_PURPOSE:
            grades.append((_name(numbers[person]), grade))
            if note:
                notes.append(note)
    return Qrel(
        pair.query_id,
        pair.doc_id,
        pair.grade,
        _ORIGINS[pair.status],
        pair.title or None,
        pair.rationale if pair.status == "adjudicated" else "; ".join(notes) or None,
        tuple(grades),
        _choose(pair.document_metadata) if pair.document_metadata else NOTHING,
    )


def _choose(metadata: Metadata) -> Metadata:
    return {key: metadata[key] for key in DOCUMENT_KEYS if key in metadata} or NOTHING


def list_keys(pair: ReleasePair) -> str:
    """Return the keys of the judgments that a qrel rests on, as a release records them: ascending, separated by spaces."""
    given = pair.judgments
    if len(given) == 2:
        first, second = given[0][0], given[1][0]
        return f"{first} {second}" if first < second else f"{second} {first}"
    return " ".join(map(str, sorted([item[0] for item in given])))


def count_content(
    *, queries: int, judged_queries: int, statuses: Mapping[str, int], by_grade: Mapping[int, int]
) -> dict[str, Any]:
    """Return the manifest's counts of queries, pairs and qrels.

    Queries without a qrel are counted as left out. Qrels are also counted by grade, and pairs by status:
    unanimous + adjudicated + single + imported = qrels; with disagreement, reopened, unrateable and unjudged they are
    the pairs. `reopened` is named only where there is one: most datasets know no quality control.
    """
    reopened = {"reopened": statuses["reopened"]} if statuses.get("reopened") else {}
    return {
        "queries": queries,
        "queries_without_qrels": queries - judged_queries,
        "pairs": sum(statuses.get(status, 0) for status in PAIR_STATUSES),
        "qrels": sum(by_grade.get(grade, 0) for grade in GRADES),
        "by_grade": {str(grade): by_grade.get(grade, 0) for grade in GRADES},
        **{status: statuses.get(status, 0) for status in _LISTED},
        **reopened,
    }
