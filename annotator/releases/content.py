"""The content of a release: which pairs are qrels, in which order, and how many of each kind. Pure rules.

A qrel is a settled pair: unanimous, adjudicated, or judged by one annotator and marked "single". Open
disagreements, unrateable and unjudged pairs are absent and counted; absence is never grade 0. A query without
any qrel is absent too: an evaluator would count it as one for which nothing is relevant.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotator.domain.errors import StateError
from annotator.domain.grades import GRADES
from annotator.domain.ground_truth import GroundTruth, Metadata, Origin, Qrel, Query
from annotator.domain.trail import GivenJudgment, JudgedPair
from annotator.releases.pseudonyms import name_annotator

DOCUMENT_KEYS = (
    "law_type",
)  # what evaluators read of a document's metadata; more would upset strict loaders
_ORIGINS: dict[str, Origin] = {"unanimous": "unanimous", "adjudicated": "adjudicated", "single": "single"}


def build_truth(
    queries: Sequence[Query],
    pairs: Iterable[JudgedPair],
    *,
    numbers: Mapping[int, int],
    metadata: Metadata,
) -> GroundTruth:
    """The queries that have a qrel, in their order, each with its qrels in the order of `sort_place`.

    `numbers`: everybody's pseudonym number, by person. `metadata`: what the files say about themselves.
    """
    order = {query.query_id: place for place, query in enumerate(queries)}
    settled = [pair for pair in pairs if pair.grade is not None]
    settled.sort(key=lambda pair: (order[pair.query_id], *sort_place(pair)))
    kept = {pair.query_id for pair in settled}
    return GroundTruth(
        tuple(query for query in queries if query.query_id in kept),
        tuple(to_qrel(pair, numbers) for pair in settled),
        metadata,
    )


def sort_place(pair: JudgedPair) -> tuple[float, float, bool, int, str]:
    """Best settled grade first, then highest mean annotator grade, best pool rank (unknown last), doc_id."""
    grades = [item.grade for item in pair.judgments if item.is_independent_grade and item.grade is not None]
    mean = sum(grades) / len(grades) if grades else 0.0
    return -(pair.grade or 0), -mean, pair.best_rank is None, pair.best_rank or 0, pair.doc_id


def sort_judgments(pair: JudgedPair, numbers: Mapping[int, int]) -> list[GivenJudgment]:
    """The pair's judgments by pseudonym number."""
    return sorted(pair.judgments, key=lambda judgment: numbers[judgment.annotator])


def to_qrel(pair: JudgedPair, numbers: Mapping[int, int]) -> Qrel:
    """The qrel of a settled pair. Its note: the decision's rationale, or the annotators' notes."""
    if pair.grade is None:
        raise StateError(f"{pair.query_id} {pair.doc_id} is not settled, so it is no qrel")
    counted = [item for item in sort_judgments(pair, numbers) if item.is_independent_grade]
    notes = "; ".join(item.note for item in counted if item.note)
    return Qrel(
        query_id=pair.query_id,
        doc_id=pair.doc_id,
        grade=pair.grade,
        origin=_ORIGINS[pair.status],
        description=pair.title or None,
        note=pair.rationale if pair.status == "adjudicated" else notes or None,
        annotator_grades=tuple(
            (name_annotator(numbers[item.annotator]), item.grade)
            for item in counted
            if item.grade is not None
        ),
        metadata={key: pair.document_metadata[key] for key in DOCUMENT_KEYS if key in pair.document_metadata},
    )


def count_content(queries: Sequence[Query], pairs: Sequence[JudgedPair]) -> dict[str, Any]:
    """The manifest's counts: queries (and those left out, without a qrel), pairs, qrels, by_grade, and the pairs
    by status.

    unanimous + adjudicated + single = qrels; with disagreement, unrateable and unjudged they are the pairs.
    """
    by_status = Counter(pair.status for pair in pairs)
    by_grade = Counter(pair.grade for pair in pairs)
    return {
        "queries": len(queries),
        "queries_without_qrels": len(queries)
        - len({pair.query_id for pair in pairs if pair.grade is not None}),
        "pairs": len(pairs),
        "qrels": len(pairs) - by_grade[None],
        "by_grade": {str(grade): by_grade[grade] for grade in GRADES},
        "unanimous": by_status["unanimous"],
        "adjudicated": by_status["adjudicated"],
        "single": by_status["single"],
        "disagreement": by_status["disagreement"],
        "unrateable": by_status["unrateable"],
        "unjudged": by_status["unjudged"],
    }


def hash_content(qrels: Iterable[Qrel]) -> str:
    """SHA-256, in hexadecimal, over the canonical qrels: the same grades give the same hash.

    Canonical bytes: one line per qrel, sorted by query_id, then doc_id, both by code point; each line is the
    JSON array `["query_id","doc_id",grade]` without spaces, non-ASCII characters as themselves, in UTF-8, ended by
    LF. Neither order in a file, nor origin, nor notes enter it.
    """
    digest = hashlib.sha256()
    for key in sorted((qrel.query_id, qrel.doc_id, qrel.grade) for qrel in qrels):
        digest.update(json.dumps(key, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()
