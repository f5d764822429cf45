"""Agreement of annotators whose grades stand in a file, measured as a dataset's judgments are."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annotator.agreement.judgment_table import sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import Measured


class GivenGrade(NamedTuple):
    """One annotator's grade of a document for a query, all by their ids in the file."""

    query_id: str
    doc_id: str
    annotator: str
    grade: int


def measure_given(given: Sequence[GivenGrade], *, resamples: int, seed: int) -> Measured:
    """Return every figure over these grades; each annotator gives a document of a query at most one."""
    queries = {query_id: place for place, query_id in enumerate(dict.fromkeys(one.query_id for one in given))}
    pairs = {
        pair: place for place, pair in enumerate(dict.fromkeys((one.query_id, one.doc_id) for one in given))
    }
    names = tuple(sorted({one.annotator for one in given}))
    people = {name: place for place, name in enumerate(names)}
    columns = (
        [queries[one.query_id] for one in given],
        [pairs[one.query_id, one.doc_id] for one in given],
        [people[one.annotator] for one in given],
        [one.grade for one in given],
    )
    query, pair, annotator, grade = (np.array(column, dtype=np.int64) for column in columns)
    return measure(sort_judged(query, pair, annotator, grade), names, resamples=resamples, seed=seed)
