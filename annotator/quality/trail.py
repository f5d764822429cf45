"""The trail of quality control: what came of every draw of every round, and each error with what became of it.

Pure. Figures and verdict speak of the present round alone; what earlier rounds found stays on record beside them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from annotator.quality.records import QualityDraw, QualityError, SampledPair


def tell_draws(draws: Iterable[QualityDraw], pairs: Sequence[SampledPair]) -> tuple[QualityDraw, ...]:
    """The draws with what came of their pairs."""
    checked = Counter(pair.draw for pair in pairs if pair.grade is not None)
    unrateable = Counter(pair.draw for pair in pairs if pair.outcome == "unrateable")
    errors = Counter(pair.draw for pair in pairs if _is_error(pair))
    return tuple(
        replace(
            draw, checked=checked[draw.number], unrateable=unrateable[draw.number], errors=errors[draw.number]
        )
        for draw in draws
    )


def list_undecided(pairs: Iterable[SampledPair]) -> list[int]:
    """The pairs (pair_pk) with an error that no lead has decided on, and that are in the pool."""
    return [pair.pair_pk for pair in pairs if _is_error(pair) and pair.decided is None and not pair.retired]


def list_errors(pairs: Iterable[SampledPair], present: Mapping[int, int | None]) -> tuple[QualityError, ...]:
    """Those that still wait for a lead first, of them those of the latest round, the furthest apart first. `present`: the
    settled grade of the undecided now, by pair_pk: where it is the expert's, nothing is left to decide."""
    found = []
    for pair in pairs:
        if not _is_error(pair) or pair.grade is None or pair.answered_at is None:
            continue
        error = QualityError(
            pair.key, pair.query_id, pair.doc_id, pair.category, pair.settled_grade, pair.settled_by, pair.grade,
            pair.note, pair.draw, pair.round, pair.answered_at, "retired" if pair.retired else "reopened",
        )  # fmt: skip
        agreed = pair.grade if present.get(pair.pair_pk) == pair.grade else None
        decided = agreed if pair.decided is None else pair.decided
        found.append(error if decided is None else replace(error, state="decided", decided_grade=decided))
    return tuple(sorted(found, key=lambda error: (error.state != "reopened", -error.round, -error.distance)))


def _is_error(pair: SampledPair) -> bool:
    return pair.grade is not None and pair.grade != pair.settled_grade
