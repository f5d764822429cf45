"""The checks that labeling mixes in: training pairs, gold pairs and repeats, read and noted for the hand-out.

Called by `labeling/service.py` only; what leads do with checks is in `calibration/service.py`. Which check comes when
follows from the dataset's seed, the annotator and how many pairs were answered before. A rate is a share of
all that is handed out. Nothing here reads more than the marked pairs and a few queries of the annotator's own.
Never a check: a pair that the annotator judged before or proposed (gold), marked as a lead, or saw others' answers of.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, select, text, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.labeling import TrainingState
from annotator.storage.check_choice import choose_gold, choose_repeats, draw, list_due
from annotator.storage.find import key_of
from annotator.storage.labeling_tables import CheckRow, RepeatRow
from annotator.storage.tables import DatasetRow, PairRow
from annotator.storage.worklist import Worklist, count_done, list_leased_elsewhere

_TRAINING = text("""
SELECT p.pk, p.key, c.grade,
  (SELECT CASE WHEN j.outcome = 'graded' THEN j.grade ELSE -1 END FROM judgment j
   WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk AND j.purpose = 'training' AND j.outcome <> 'later'
   ORDER BY j.judged_at DESC, j.pk DESC LIMIT 1) AS latest
FROM check_pair c JOIN pair p ON p.pk = c.pair_pk
WHERE c.kind = 'training' AND (c.marked_by_pk IS NULL OR c.marked_by_pk <> :annotator_pk) AND p.dataset_pk = :dataset_pk AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
""")
_JUDGED = text("""
SELECT 1 FROM current_judgment c
WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :annotator_pk AND c.outcome IN ('graded', 'unrateable')
  AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = c.pair_pk AND o.annotator_pk = :annotator_pk)
LIMIT 1
""")


@dataclass(frozen=True, slots=True)
class Handout:
    """A pair to hand out, under the key that the browser shall use for it; `training`: it will be explained."""

    pair_pk: int
    key: str | None = None
    training: bool = False


@dataclass(frozen=True, slots=True)
class RepeatTarget:
    """What the key of a repeat stands for."""

    repeat_pk: int
    pair_pk: int
    document_pk: int


@dataclass(frozen=True, slots=True)
class _Trained:
    """A training pair: its right grade, and the annotator's latest answer (None: none; -1: cannot be rated)."""

    pair_pk: int
    key: str
    grade: int
    latest: int | None


def find_training(session: Session, worklist: Worklist, dataset: DatasetRow) -> TrainingState | None:
    """How far the annotator's training is; None when there is none: no pair is marked, or real pairs were judged
    before. (A document proposed by oneself is no real pair: it would be a way around the training.)"""
    marked = _list_trained(session, worklist)
    if not marked or session.execute(_JUDGED, _named(worklist)).first() is not None:
        return None
    done = sum(one.latest is not None for one in marked)
    right = sum(one.latest == one.grade for one in marked)
    passed = done == len(marked) and right >= dataset.training_score * len(marked) - 1e-9
    return TrainingState(done, len(marked), right, dataset.training_score, passed)


def list_training(session: Session, worklist: Worklist, *, limit: int) -> list[int]:
    """The training pairs to be answered next, in the annotator's own order: those never answered; once all are
    answered, those answered wrong at the latest try."""
    marked = _list_trained(session, worklist)
    seed = session.scalars(
        select(col(DatasetRow.seed)).where(col(DatasetRow.pk) == worklist.dataset_pk)
    ).one()
    left = [one for one in marked if one.latest is None] or [one for one in marked if one.latest != one.grade]
    left.sort(key=lambda one: draw(seed, str(worklist.annotator_pk), "training", one.key))
    return [one.pair_pk for one in left[:limit]]


def find_check_kinds(session: Session, pair_pks: Collection[int]) -> Mapping[int, str]:
    """ "training" or "gold" by pair_pk, for those that are marked."""
    if not pair_pks:
        return {}
    statement = select(col(CheckRow.pair_pk), col(CheckRow.kind))
    found = session.execute(statement.where(col(CheckRow.pair_pk).in_(list(pair_pks))))
    return {key_of(pair_pk): kind for pair_pk, kind in found}


def find_repeats(session: Session, worklist: Worklist, keys: Collection[str]) -> Mapping[str, RepeatTarget]:
    """What those keys stand for that are repeats of this annotator."""
    if not keys:
        return {}
    statement = (
        select(col(RepeatRow.key), col(RepeatRow.pk), col(PairRow.pk), col(PairRow.document_pk))
        .join(PairRow, col(PairRow.pk) == col(RepeatRow.pair_pk))
        .where(
            col(RepeatRow.key).in_(list(keys)),
            col(RepeatRow.annotator_pk) == worklist.annotator_pk,
            col(PairRow.dataset_pk) == worklist.dataset_pk,
        )
    )
    return {
        key: RepeatTarget(key_of(pk), key_of(pair_pk), document_pk)
        for key, pk, pair_pk, document_pk in session.execute(statement)
    }


def note_repeats_answered(session: Session, worklist: Worklist, repeat_pks: Collection[int]) -> None:
    """These repeats have been answered."""
    if repeat_pks:
        answered = update(RepeatRow).where(
            col(RepeatRow.pk).in_(list(repeat_pks)),
            col(RepeatRow.annotator_pk) == worklist.annotator_pk,
            col(RepeatRow.answered_at).is_(None),
        )
        session.execute(
            answered.values(answered_at=worklist.now).execution_options(synchronize_session=False)
        )


def read_explanations(session: Session, pair_pks: Collection[int]) -> Mapping[int, tuple[int, str]]:
    """(right grade, explanation) by pair_pk of training pairs."""
    if not pair_pks:
        return {}
    statement = select(col(CheckRow.pair_pk), col(CheckRow.grade), col(CheckRow.explanation)).where(
        col(CheckRow.pair_pk).in_(list(pair_pks)), col(CheckRow.kind) == "training"
    )
    return {pair_pk: (grade, explanation) for pair_pk, grade, explanation in session.execute(statement)}


def mix_in(
    session: Session,
    worklist: Worklist,
    dataset: DatasetRow,
    *,
    annotator: str,
    ordinary: Sequence[int],
    held: Collection[int],
) -> list[Handout]:
    """The ordinary pairs (pair_pk) to hand out, with gold pairs and repeats among them at the dataset's rates.

    `held`: what the browser has already, checks included. A check stands before the ordinary pair at whose turn it is
    due: one of the same query if there is one, else where the query changes anyway.
    """
    rates = {"gold": dataset.gold_rate, "repeat": dataset.repeat_rate}
    if not ordinary or not any(rates.values()):
        return [Handout(pair_pk) for pair_pk in ordinary]
    first = count_done(session, worklist) + _count_ordinary(session, worklist, held)
    due = list_due(dataset.seed, annotator, rates, first, len(ordinary))
    if not due["gold"] and not due["repeat"]:
        return [Handout(pair_pk) for pair_pk in ordinary]
    queries = _find_queries(session, ordinary)
    order = [queries[pair_pk] for pair_pk in ordinary]
    taken = {*held, *ordinary, *list_leased_elsewhere(session, worklist)}
    checks = choose_gold(session, worklist, dataset, annotator, order, due["gold"], taken)
    checks += choose_repeats(session, worklist, dataset, annotator, order, due["repeat"], taken)
    before: dict[int, list[Handout]] = {}
    for check in checks:
        place = check.place if check.query_pk == order[check.place] else _next_change(order, check.place)
        before.setdefault(place, []).append(Handout(check.pair_pk, check.key))
    return [
        handout
        for place, pair_pk in enumerate(ordinary)
        for handout in (*before.get(place, ()), Handout(pair_pk))
    ]


def _list_trained(session: Session, worklist: Worklist) -> list[_Trained]:
    return [_Trained(*row) for row in session.execute(_TRAINING, _named(worklist))]


def _named(worklist: Worklist) -> dict[str, int]:
    return {"dataset_pk": worklist.dataset_pk, "annotator_pk": worklist.annotator_pk}


_HELD_CHECKS = text("""
SELECT (SELECT count(*) FROM check_pair WHERE pair_pk IN :held)
  + (SELECT count(*) FROM repeated_pair
     WHERE pair_pk IN :held AND annotator_pk = :annotator_pk AND answered_at IS NULL)
""").bindparams(bindparam("held", expanding=True))


def _count_ordinary(session: Session, worklist: Worklist, held: Collection[int]) -> int:
    """How many of those in the browser are no checks."""
    if not held:
        return 0
    named = {"held": list(held), "annotator_pk": worklist.annotator_pk}
    checks: int = session.execute(_HELD_CHECKS, named).scalar_one()
    return len(held) - checks


def _find_queries(session: Session, pair_pks: Sequence[int]) -> dict[int, int]:
    statement = select(col(PairRow.pk), col(PairRow.query_pk)).where(col(PairRow.pk).in_(list(pair_pks)))
    return {key_of(pk): query_pk for pk, query_pk in session.execute(statement)}


def _next_change(order: Sequence[int], place: int) -> int:
    """The next place at which another query begins; the place itself where none does."""
    changes = (at for at in range(max(place, 1), len(order)) if order[at] != order[at - 1])
    return next(changes, place)
