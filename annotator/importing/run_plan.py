"""What identifies a run's content, and which of its lines cannot be stored.

A rule between the reader and the database. Refused, with the line: a query there is not in the dataset.
"""

import hashlib
import json
from collections.abc import Container, Iterable

from annotator.domain.errors import Problems, ValidationError
from annotator.domain.ground_truth import Run
from annotator.formats.text import describe

RESERVED = "import"
OWN_SYSTEMS = (RESERVED, "remap")
LONGEST_SYSTEM = 200


def check_system(system: str) -> str:
    """The system's name. ValidationError when it is empty, too long, or a name that pairs carry which no system proposed."""
    if not system.strip() or len(system) > LONGEST_SYSTEM or not system.isprintable():
        raise ValidationError(
            f"expected a system name of up to {LONGEST_SYSTEM} characters, found {system!r}"
        )
    if system in OWN_SYSTEMS:
        carried = "imported" if system == RESERVED else "remapped"
        raise ValidationError(
            f"the system name {system!r} is what {carried} pairs carry; use another --system"
        )
    return system


def hash_run(run: Run) -> str:
    """SHA-256 over the entries in a fixed order, in hexadecimal: the same whatever the order of the lines."""
    entries = sorted(
        json.dumps(
            [entry.query_id, entry.rank, entry.doc_id, entry.score, dict(entry.signals)],
            ensure_ascii=False,
            sort_keys=True,
        )
        for entry in run.entries
    )
    return hashlib.sha256("\n".join(entries).encode("utf-8")).hexdigest()


def check_queries(lines: Iterable[tuple[int, str]], known: Container[str], path: str) -> None:
    """BadInput for every (line, query_id) that is not of this dataset."""
    problems = Problems(path)
    for line, query_id in lines:
        if query_id not in known:
            problems.add(line, "a query_id of this dataset", describe(query_id))
    problems.raise_if_any()
