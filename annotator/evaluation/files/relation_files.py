"""Read the edges between documents from a file of relations (`formats/input_tables.py`).

Several relations from one document to another are one edge.
"""

from pathlib import Path

from annotator.evaluation.result_structure import Edge
from annotator.formats.input_tables import read_relation_lines


def read_relations(path: Path) -> frozenset[Edge]:
    """Return the edges of a file of relations. BadInput names every bad line."""
    return frozenset((line.start, line.end) for line in read_relation_lines(path))
