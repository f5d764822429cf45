"""The checks that labeling mixes in: training pairs, gold pairs and repeats, read and noted for the hand-out.

Called by `labeling/service.py` only; what leads do with checks is in `labeling/calibration_service.py`. Which check comes when
follows from the dataset's seed, the annotator and how many pairs were answered before. A rate is a share of
all that is handed out. Nothing here reads more than the marked pairs and a few queries of the annotator's own.
Never a check: a pair that the annotator judged before or proposed (gold), marked as a lead, or saw others' answers of.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import TrainingState
from annotator.labeling.check_choice import Supply, count_gold, draw, which_is_due
from annotator.storage.eligibility import Eligibility, find_eligibility
from annotator.storage.labeling_tables import CheckRow, RepeatRow
from annotator.storage.leases import list_leased_elsewhere
from annotator.storage.lookup import key_of
from annotator.storage.open_pairs import Worklist, count_done
from annotator.storage.sql import prepare, run
from annotator.storage.tables import DatasetRow, PairRow

MOST_CHECKS = 4
"""So many gold pairs and repeats at the most for each ordinary pair, whatever the rates."""

_TRAINING = """
SELECT p.pk, p.key, c.grade,
  (SELECT CASE WHEN j.outcome = 'graded' THEN j.grade ELSE -1 END FROM judgment j
   WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk AND j.purpose = 'training' AND j.outcome <> 'later'
   AND NOT j.late ORDER BY j.pk DESC LIMIT 1) AS latest
FROM check_pair c CROSS JOIN pair p  -- in this order: from the few marks, not from the pool
WHERE p.pk = c.pair_pk AND c.kind = 'training' AND (c.marked_by_pk IS NULL OR c.marked_by_pk <> :annotator_pk) AND p.dataset_pk = :dataset_pk AND p.retired_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = p.pk AND d.person_pk = :annotator_pk)
  AND {eligible}
"""
_JUDGED = prepare("""
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


def find_training(
    session: Session, worklist: Worklist, dataset: DatasetRow, eligibility: Eligibility | None = None
) -> TrainingState | None:
    """How far the annotator's training is; None when there is none: no pair is marked, or real pairs were judged
    before. (A document proposed by oneself is no real pair: it would be a way around the training.)"""
    marked = _list_trained(session, worklist, eligibility)
    if not marked or run(session, _JUDGED, _named(worklist)).first() is not None:
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


def count_checks(session: Session, worklist: Worklist, shown: Collection[str]) -> tuple[int, int]:
    """How many gold pairs, repeats and pairs of quality control the annotator has answered, and how many gold pairs and
    repeats are among those shown in the browser (by key): a progress that left them out would tell which they are."""
    if not shown:
        return _count_answered(session, worklist), 0
    answered, among = run(session, _ANSWERED_AND_SHOWN, {**_named(worklist), "keys": list(shown)}).one()
    return int(answered), int(among)


def count_possible_checks(
    session: Session,
    worklist: Worklist,
    dataset: DatasetRow,
    *,
    annotator: str,
    ordinary: int,
    held: Sequence[str],
    answered: int,
) -> int:
    """How many gold pairs and repeats can come at the most among so many ordinary pairs, which are all that is left to hand
    out. `held`: the keys of what the browser has; `answered`: how many pairs the annotator has answered, checks included."""
    rates = {"gold": dataset.gold_rate, "repeat": dataset.repeat_rate}
    if not ordinary or not any(rates.values()):
        return 0
    due = {"gold": 0, "repeat": 0}
    place, left = answered + len(held), ordinary
    last = place + (1 + MOST_CHECKS) * ordinary
    while left and place < last:
        kind = which_is_due(dataset.seed, annotator, rates, place)
        if kind is None:
            left -= 1
        else:
            due[kind] += 1
        place += 1
    repeats = due["repeat"] if place > dataset.repeat_after else 0
    return repeats + (min(due["gold"], count_gold(session, worklist, held)) if due["gold"] else 0)


def mix_in(
    session: Session,
    worklist: Worklist,
    dataset: DatasetRow,
    *,
    annotator: str,
    ordinary: Sequence[int],
    held: Collection[int],
    at_hand: int | None = None,
) -> list[Handout]:
    """The ordinary pairs (pair_pk) to hand out, with gold pairs and repeats among them at the dataset's rates.

    `held`: what the browser has already, checks included; `at_hand`: the query of what was handed out last. A check is of the
    query at whose turn it is due, so that no finished query comes back for one. Gold pairs of a query of which the
    annotator knows nothing, and which has no ordinary pairs, come where the query changes. The end may be cut off: what is left
    out comes again.
    """
    rates = {"gold": dataset.gold_rate, "repeat": dataset.repeat_rate}
    plain = [Handout(pair_pk) for pair_pk in ordinary]
    if not ordinary or not any(rates.values()):
        return plain
    first = count_done(session, worklist) + _count_answered(session, worklist) + len(held)

    def due(place: int) -> str | None:
        return which_is_due(dataset.seed, annotator, rates, place)

    if not any(due(first + at) for at in range(len(ordinary))):
        return plain
    taken = {*held, *ordinary, *list_leased_elsewhere(session, worklist)}
    supply = Supply(session, worklist, dataset, annotator, taken)
    queries = _find_queries(session, ordinary)
    return _interleave(ordinary, [queries[pk] for pk in ordinary], supply, due, first, at_hand)


def _interleave(
    ordinary: Sequence[int],
    order: Sequence[int],
    supply: Supply,
    due: Callable[[int], str | None],
    first: int,
    at_hand: int | None,
) -> list[Handout]:
    """The pairs with the checks that are due; `order`: the query of each, `first`: the place of the first of all."""
    handed: list[Handout] = []
    for pair_pk, query_pk in zip(ordinary, order, strict=True):
        while (kind := due(first + len(handed))) and len(handed) < MOST_CHECKS * len(ordinary):
            check = supply.take(kind, query_pk, between=query_pk != at_hand)
            if check is None:
                break
            handed.append(Handout(check.pair_pk, check.key))
            at_hand = check.query_pk
        handed.append(Handout(pair_pk))
        at_hand = query_pk
    return handed


def _list_trained(
    session: Session, worklist: Worklist, eligibility: Eligibility | None = None
) -> list[_Trained]:
    eligible = eligibility or find_eligibility(session, worklist.dataset_pk, worklist.annotator_pk)
    statement = eligible.prepare(_TRAINING, query="p.query_pk")
    return [_Trained(*row) for row in run(session, statement, {**_named(worklist), **eligible.values})]


def _named(worklist: Worklist) -> dict[str, int]:
    return {"dataset_pk": worklist.dataset_pk, "annotator_pk": worklist.annotator_pk}


_ANSWERED = """
SELECT (SELECT count(DISTINCT j.pair_pk) FROM check_pair c CROSS JOIN pair p CROSS JOIN judgment j
    WHERE p.pk = c.pair_pk AND p.dataset_pk = :dataset_pk AND j.pair_pk = c.pair_pk AND j.annotator_pk = :annotator_pk
      AND c.kind = 'gold' AND j.purpose = 'gold' AND j.outcome <> 'later')
  + (SELECT count(*) FROM repeated_pair r CROSS JOIN pair p
    WHERE p.pk = r.pair_pk AND p.dataset_pk = :dataset_pk
      AND r.annotator_pk = :annotator_pk AND r.answered_at IS NOT NULL)
  + (SELECT count(DISTINCT x.pair_pk) FROM quality_draw w CROSS JOIN quality_pair x
    WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :annotator_pk AND x.draw_pk = w.pk AND x.outcome IS NOT NULL)
"""
_SHOWN = """
SELECT (SELECT count(*) FROM pair p JOIN check_pair c ON c.pair_pk = p.pk AND c.kind = 'gold' WHERE p.key IN :keys)
  + (SELECT count(*) FROM repeated_pair r WHERE r.key IN :keys AND r.annotator_pk = :annotator_pk)
"""
_COUNT_ANSWERED = prepare(_ANSWERED)
_ANSWERED_AND_SHOWN = prepare(f"SELECT ({_ANSWERED}), ({_SHOWN})", lists=["keys"])


def _count_answered(session: Session, worklist: Worklist) -> int:
    """How many gold pairs, repeats and pairs of quality control the annotator has answered."""
    return int(run(session, _COUNT_ANSWERED, _named(worklist)).scalar_one())


def _find_queries(session: Session, pair_pks: Sequence[int]) -> dict[int, int]:
    statement = select(col(PairRow.pk), col(PairRow.query_pk)).where(col(PairRow.pk).in_(list(pair_pks)))
    return {key_of(pk): query_pk for pk, query_pk in session.execute(statement)}
