"""Gathers qrels from the lines of a file, in its order, and notes a document that a query has twice.

Between the readers of line formats and the ground truth that they give.
"""

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import Qrel
from annotator.formats.text import describe


class QrelList:
    """The qrels met so far, and the place of each among them."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.qrels: list[Qrel] = []
        self.places: dict[str, dict[str, int]] = {}  # by query_id, then doc_id

    def add(self, qrel: Qrel, line: int, *, path: str | None = None) -> None:
        """Take a qrel; noted with its line when its document stands in its query already."""
        places = self.places.get(qrel.query_id)
        if places is None:
            places = self.places[qrel.query_id] = {}
        before = places.setdefault(qrel.doc_id, len(self.qrels))
        if before != len(self.qrels):
            grade = self.qrels[before].grade
            found = f"{describe(qrel.doc_id)} again, graded {qrel.grade} and {grade} before"
            self.problems.add(line, "each document of a query once", found, path=path)
        self.qrels.append(qrel)
