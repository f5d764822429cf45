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
from json.encoder import encode_basestring
from math import inf
from typing import Any

from annotator.domain.errors import StateError
from annotator.domain.grades import GRADES, RELEVANT_FROM
from annotator.domain.ground_truth import NOTHING, Metadata, Origin, Qrel
from annotator.domain.people import name_annotator as name_annotator
from annotator.domain.people import name_lead as name_lead
from annotator.domain.settling import PAIR_STATUSES
from annotator.releases.records import GivenJudgment, Participant, ReleasePair


def assign_numbers(
    known: Mapping[int, int], people: Iterable[Participant], secrets: Mapping[int, str], *, seed: int
) -> dict[int, int]:
    """The numbers (from 1, by person) of those who have none yet: who judged first, then the other leads.

    Within both, the order is drawn by the seed: it follows neither accounts nor names, and is the same on
    every machine. The secrets (the smallest event id of everybody who judged; event ids are never published) enter it, so that knowing usernames and the seed is not
    enough to work it out. Numbers that are known stay.
    """

    def place(person: Participant) -> tuple[bool, bytes]:
        drawn = json.dumps([seed, person.username, secrets.get(person.key, "")])
        return person.key not in secrets, hashlib.sha256(drawn.encode()).digest()

    new = sorted((person for person in people if person.key not in known), key=place)
    after = max(known.values(), default=0)
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
    """What decided the order of relevant documents (grade 1 and more) whose settled grade and mean annotator grade are
    those of another one of their query. `tied`: how many there are. Of these `by_lead` have a place in a lead's order,
    `by_earlier` only one in an earlier ground truth; `undecided`: only the hash told them apart from another one;
    `queries_undecided`: in how many queries."""

    tied: int = 0
    by_lead: int = 0
    by_earlier: int = 0
    undecided: int = 0
    queries_undecided: int = 0

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
    """A query's settled pairs in the order in which their qrels are published (see `sort_place`)."""
    return sorted([pair for pair in pairs if pair.grade is not None], key=lambda pair: sort_place(pair, seed))


def sort_place(pair: ReleasePair, seed: int) -> tuple[float, float, float, float, bytes]:
    """Best settled grade first, then highest mean annotator grade, a lead's order, the place in an earlier ground truth
    (documents without one come last), and a hash of the ids with the dataset's seed.

    Never the rank that a system gave: it would favour the systems that the pool was made of. And never the doc_id
    itself, which often follows a collection's own order.
    """
    drawn = hashlib.sha256(f"{seed}\0{pair.query_id}\0{pair.doc_id}".encode()).digest()
    return (*_rank(pair), drawn)


def _rank(pair: ReleasePair) -> tuple[float, float, float, float]:
    """What is known of the order of a settled pair's document among those of its query; least is first."""
    if pair.kept is not None:
        grades = [grade for _, grade in pair.kept.annotator_grades]
    else:
        grades = [
            item.grade for item in pair.judgments if item.grade is not None and item.purpose == "independent"
        ]
    mean = sum(grades) / len(grades) if grades else 0.0
    by_lead = inf if pair.lead_place is None else pair.lead_place
    imported = inf if pair.imported_place is None else pair.imported_place
    return -(pair.grade or 0), -mean, by_lead, imported


def sort_judgments(pair: ReleasePair, numbers: Mapping[int, int]) -> Sequence[GivenJudgment]:
    """The pair's judgments by pseudonym number."""
    given = pair.judgments
    if len(given) < 2 or (len(given) == 2 and numbers[given[0][1]] < numbers[given[1][1]]):
        return given
    return sorted(given, key=lambda judgment: numbers[judgment.annotator])


def to_qrel(pair: ReleasePair, numbers: Mapping[int, int]) -> Qrel:
    """The qrel of a settled pair. Its note: the decision's rationale, or the annotators' notes.

    `numbers`: everybody's pseudonym number, by person. A kept grade brings its own note, description and
    annotators' grades.
    """
    if pair.grade is None:
        raise StateError(f"{pair.query_id} {pair.doc_id} is not settled, so it is no qrel")
    if pair.kept is not None:
        return _to_kept_qrel(pair, pair.grade)
    grades: list[tuple[str, int]] = []
    notes: list[str] = []
    for _, person, _, grade, note, purpose, *_ in sort_judgments(pair, numbers):
        if grade is not None and purpose == "independent":
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


def _to_kept_qrel(pair: ReleasePair, grade: int) -> Qrel:
    kept = pair.kept
    if kept is None:
        raise StateError(f"{pair.query_id} {pair.doc_id} has no kept grade")
    return Qrel(
        pair.query_id,
        pair.doc_id,
        grade,
        "imported",
        kept.description or pair.title or None,
        kept.note,
        kept.annotator_grades,
        _choose({**kept.metadata, **pair.document_metadata}),
    )


def _choose(metadata: Metadata) -> Metadata:
    return {key: metadata[key] for key in DOCUMENT_KEYS if key in metadata} or NOTHING


def list_keys(pair: ReleasePair) -> str:
    """The keys of the judgments that a qrel rests on, ascending, separated by spaces: what a release records."""
    given = pair.judgments
    if len(given) == 2:
        one, other = given[0][0], given[1][0]
        return f"{one} {other}" if one < other else f"{other} {one}"
    return " ".join(map(str, sorted([item[0] for item in given])))


def count_content(
    *, queries: int, judged_queries: int, statuses: Mapping[str, int], by_grade: Mapping[int, int]
) -> dict[str, Any]:
    """The manifest's counts: queries (and those left out, without a qrel), pairs, qrels, by_grade, and the pairs
    by status.

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


def write_canonical(query_id: str, grades: Iterable[tuple[str, int]]) -> bytes:
    """The canonical lines of one query; `grades`: its qrels as (doc_id, grade). See `hash_content`."""
    begin = f"[{encode_basestring(query_id)},"
    lines = [f"{begin}{encode_basestring(doc_id)},{grade}]\n" for doc_id, grade in sorted(grades)]
    return "".join(lines).encode()


def hash_content(qrels: Iterable[Qrel]) -> str:
    """SHA-256, in hexadecimal, over the canonical qrels: the same grades give the same hash.

    Canonical bytes: one line per qrel, sorted by query_id, then doc_id, both by code point; each line is the
    JSON array `["query_id","doc_id",grade]` without spaces, non-ASCII characters as themselves, in UTF-8, ended by
    LF. Neither order in a file, nor origin, nor notes enter it.
    """
    digest = hashlib.sha256()
    keys = sorted((qrel.query_id, qrel.doc_id, qrel.grade) for qrel in qrels)
    for query_id, of_query in groupby(keys, key=lambda key: key[0]):
        digest.update(write_canonical(query_id, ((doc_id, grade) for _, doc_id, grade in of_query)))
    return digest.hexdigest()
