"""Read the pairs that are open to an annotator, only as many as `labeling/next_pairs.py` needs, and the checks.

The rules of checks (training, gold, repeats) are in `labeling/checks.py`. A gold pair comes once per
annotator, and never if the annotator judged it, proposed it, marked it as a lead, or saw others' judgments of
it. A repeat asks again, under its own key, for the annotator's own current judgment. Once handed out, a check
waits for its answer like any pair of its query (`list_waiting_checks`). Reads only the marked pairs and a few
queries of the annotator.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE, OpenPair, TrainingState
from annotator.labeling.checks import (
    MOST_CHECKS,
    CheckRates,
    GoldCandidate,
    RepeatCandidate,
    TrainingPair,
    choose_training,
    measure_training,
)
from annotator.labeling.exchange_sql import ExchangeContext
from annotator.labeling.open_pairs_sql import (
    Eligibility,
    OpenQueries,
    count_done,
    find_eligibility,
    find_last_query,
    find_open_queries,
    list_assigned_queries,
    list_handed_queries,
    list_held,
    list_open_pairs,
    list_open_queries,
    list_put_off_queries,
)
from annotator.labeling.records import RepeatTarget
from annotator.storage.judgments.outdated import list_outdated
from annotator.storage.judgments.quality_pairs import (
    GOLD,
    NOT_PUT_OFF,
    OPEN_TO_PERSON,
    WAITING_CHECKS,
    list_changeable,
)
from annotator.storage.lookup import HANDED_OUT, LabeledDataset, OpenPairsRequest, key_of
from annotator.storage.sql import fetch_tuples, prepare_sql
from annotator.storage.tables.adjudication import CurrentAdjudicationRow
from annotator.storage.tables.central import CurrentJudgmentRow, PairRow
from annotator.storage.tables.labeling import CheckRow, DisclosureRow, RepeatRow

ROWS_LOOKED_AT = 20_000
_FRESH_GOLD = "SELECT p.pk, p.key, p.query_pk" + GOLD.replace("{handed}", f"NOT {HANDED_OUT}")
_ANSWERED_GOLD = prepare_sql(f"""
SELECT DISTINCT p.pk, p.key FROM pair p JOIN check_pair g ON g.pair_pk = p.pk AND g.kind = 'gold' CROSS JOIN judgment j
WHERE p.query_pk = :query_pk AND {OPEN_TO_PERSON} AND j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk
  AND j.purpose = 'gold' AND {NOT_PUT_OFF}""")
_REPEATABLE = prepare_sql(f"""
SELECT p.pk, p.key, c.judgment_pk
FROM pair p JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
WHERE p.query_pk = :query_pk AND {OPEN_TO_PERSON}
  AND c.outcome = 'graded' AND c.purpose = '{COUNTED_PURPOSE}' AND c.stale = 0
  AND NOT EXISTS (SELECT 1 FROM repeated_pair r WHERE r.pair_pk = p.pk AND r.annotator_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk)
  AND NOT EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk)
""")
_MET_QUERY = prepare_sql(
    """
SELECT 1 FROM pair p WHERE p.query_pk = :query_pk AND (p.lacking > 0 OR p.pk IN :taken
  OR EXISTS (SELECT 1 FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk)) LIMIT 1""",
    lists=["taken"],
)
_ANSWERED_SINCE = prepare_sql("""
SELECT pair_pk FROM judgment
WHERE pk > :judgment_pk AND pk <= :last AND annotator_pk = :annotator_pk AND pair_pk <> :pair_pk AND outcome <> 'later'
  AND EXISTS (SELECT 1 FROM pair p WHERE p.pk = judgment.pair_pk AND p.dataset_pk = :dataset_pk)
ORDER BY pk LIMIT :most
""")
_ROOM_FOR_REPEATS = """
SELECT w.query_pk, w.open_pairs - coalesce(a.answered_open, 0) - coalesce(l.put_off, 0), coalesce(a.answered, 0) > 0
FROM query_work w LEFT JOIN query_answers a ON a.query_pk = w.query_pk AND a.annotator_pk = :annotator_pk
LEFT JOIN (SELECT p.query_pk, count(*) AS put_off FROM current_judgment c CROSS JOIN pair p
  WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :annotator_pk AND c.outcome = 'later'
    AND p.pk = c.pair_pk AND p.lacking > 0 GROUP BY p.query_pk) l ON l.query_pk = w.query_pk
WHERE w.dataset_pk = :dataset_pk AND w.open_pairs > coalesce(a.answered_open, 0)
  AND (coalesce(a.answered, 0) > 0 OR w.open_pairs > :fewest) AND {eligible}"""
_USED_KEY = prepare_sql(
    "SELECT 1 FROM pair WHERE key = :key UNION ALL SELECT 1 FROM repeated_pair WHERE key = :key"
)


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
_JUDGED = prepare_sql("""
SELECT 1 FROM current_judgment c
WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :annotator_pk AND c.outcome IN ('graded', 'unrateable')
  AND NOT EXISTS (SELECT 1 FROM proposal o WHERE o.pair_pk = c.pair_pk AND o.annotator_pk = :annotator_pk)
LIMIT 1
""")


_COUNT_ANSWERED = prepare_sql(f"""
SELECT (SELECT count(DISTINCT j.pair_pk) FROM check_pair c CROSS JOIN pair p CROSS JOIN judgment j
    WHERE p.pk = c.pair_pk AND p.dataset_pk = :dataset_pk AND j.pair_pk = c.pair_pk AND j.annotator_pk = :annotator_pk
      AND c.kind = 'gold' AND j.purpose = 'gold' AND {NOT_PUT_OFF})
  + (SELECT count(*) FROM repeated_pair r CROSS JOIN pair p
    WHERE p.pk = r.pair_pk AND p.dataset_pk = :dataset_pk
      AND r.annotator_pk = :annotator_pk AND r.answered_at IS NOT NULL)
  + (SELECT count(DISTINCT x.pair_pk) FROM quality_draw w CROSS JOIN quality_pair x
    WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :annotator_pk AND x.draw_pk = w.pk AND x.outcome IS NOT NULL)
""")


class StoredChecks:
    """The `CheckSource` of one annotator in the database."""

    def __init__(self, session: Session, request: OpenPairsRequest) -> None:
        self.session, self.request = session, request

    def count_judged(self) -> int:
        """Return how many pairs the annotator has a current judgment of."""
        return count_done(self.session, self.request)

    def count_answered_checks(self) -> int:
        """Return how many gold pairs, repeats and pairs of quality control the annotator has answered."""
        ((answered,),) = fetch_tuples(self.session, _COUNT_ANSWERED, _own(self.request))
        return int(answered)

    def list_gold(self) -> list[GoldCandidate]:
        """Return the gold pairs that can be handed to the annotator for the first time."""
        eligible = find_eligibility(self.session, self.request.dataset_pk, self.request.annotator_pk)
        statement = eligible.prepare(_FRESH_GOLD, query="p.query_pk")
        rows = fetch_tuples(self.session, statement, {**self.request.values, **eligible.values})
        return [GoldCandidate(*row) for row in rows]

    def is_query_familiar(self, query_pk: int, taken: Collection[int]) -> bool:
        """Return whether the annotator knows the query (see `CheckSource`)."""
        values = {**self.request.values, "query_pk": query_pk, "taken": sorted(taken)}
        return bool(fetch_tuples(self.session, _MET_QUERY, values))

    def count_repeatable(self, needed: int, most: int) -> int:
        """Return the maximum of repeats that can still come, counted up to `most` (see `CheckSource`).

        Expects queries to be finished one after another. Pairs that were put off bring no repeats.
        """
        gold = Counter(pair.query_pk for pair in self.list_gold())
        eligible = find_eligibility(self.session, self.request.dataset_pk, self.request.annotator_pk)
        statement = eligible.prepare(_ROOM_FOR_REPEATS, query="w.query_pk")
        values = {**_own(self.request), **eligible.values, "fewest": needed - max(gold.values(), default=0)}
        count = 0
        for query_pk, open_pairs, is_begun in fetch_tuples(self.session, statement, values):
            if count >= most:
                break
            since = self._count_since_oldest(query_pk, needed) if is_begun else -1
            count += MOST_CHECKS * max(0, min(open_pairs, since + open_pairs + gold[query_pk] - needed))
        return min(count, most)

    def _count_since_oldest(self, query_pk: int, needed: int) -> int:
        """Return how many other pairs were answered since the oldest repeatable pair; -1 without such a pair."""
        oldest = min(self.list_repeatable(query_pk), key=lambda pair: pair.judgment_pk, default=None)
        return -1 if oldest is None else self._count_since(oldest, needed)

    def list_repeatable(self, query_pk: int) -> list[RepeatCandidate]:
        """Return the pairs of the query that the annotator can be asked again, and was not."""
        values = {**_own(self.request), "query_pk": query_pk}
        return [RepeatCandidate(*row) for row in fetch_tuples(self.session, _REPEATABLE, values)]

    def is_long_ago(self, candidate: RepeatCandidate, needed: int) -> bool:
        """Return whether the annotator has answered at least `needed` other pairs since."""
        return self._count_since(candidate, needed) >= needed

    def _count_since(self, candidate: RepeatCandidate, needed: int) -> int:
        """Return how many other pairs the annotator has answered since.

        Counts up to some `needed`. Looks at the last ROWS_LOOKED_AT rows at most.
        """
        values = {
            "judgment_pk": candidate.judgment_pk,
            "last": candidate.judgment_pk + max(ROWS_LOOKED_AT, 100 * needed),
            **_own(self.request),
            "pair_pk": candidate.pair_pk,
            "most": 2 * needed + 100,
        }
        return len(set(fetch_tuples(self.session, _ANSWERED_SINCE, values)))

    def store_repeat(self, candidate: RepeatCandidate, keys: Iterable[str]) -> str:
        """Note that the pair comes again, under the first of the keys that is free; return it."""
        free = (key for key in keys if not fetch_tuples(self.session, _USED_KEY, {"key": key}))
        key = next(free)
        row = {
            "key": key,
            "pair_pk": candidate.pair_pk,
            "annotator_pk": self.request.annotator_pk,
            "handed_at": self.request.now,
        }
        self.session.add(RepeatRow.model_validate(row))
        self.session.flush()
        return key


def list_waiting_checks(
    session: Session, request: OpenPairsRequest, eligibility: Eligibility
) -> list[OpenPair]:
    """Return the gold pairs and repeats that the annotator was handed and has yet to answer."""
    statement = eligibility.prepare(WAITING_CHECKS, query="p.query_pk")
    rows = fetch_tuples(session, statement, {**request.values, **eligibility.values})
    return [
        OpenPair(pk, key, query_pk, bool(begun), bool(put_off), handed=True, repeat=bool(repeat))
        for pk, key, query_pk, begun, put_off, repeat in rows
    ]


def list_answered_gold(session: Session, request: OpenPairsRequest, query_pk: int) -> dict[int, str]:
    """Return the keys of the query's gold pairs that the annotator has answered, by pair_pk."""
    return dict(fetch_tuples(session, _ANSWERED_GOLD, {**_own(request), "query_pk": query_pk}))


def read_check_rates(dataset: LabeledDataset) -> CheckRates:
    """Return how often checks come in the dataset."""
    return CheckRates(dataset.gold_rate, dataset.repeat_rate, dataset.repeat_after)


def find_training(
    session: Session,
    request: OpenPairsRequest,
    dataset: LabeledDataset,
    eligibility: Eligibility | None = None,
) -> TrainingState | None:
    """Return the training's state, or None without training pairs or if real pairs were judged before.

    A document that one proposed oneself is no real pair: it would be a way around the training.
    """
    pairs = _list_training_pairs(session, request, eligibility)
    if not pairs or fetch_tuples(session, _JUDGED, _own(request)):
        return None
    return measure_training(pairs, required=dataset.training_score)


def list_training(
    session: Session, request: OpenPairsRequest, dataset: LabeledDataset, *, limit: int
) -> list[int]:
    """Return the training pairs (pair_pk) to be answered next, in the annotator's own order."""
    pairs = _list_training_pairs(session, request, None)
    return choose_training(pairs, seed=dataset.order_seed, annotator_pk=request.annotator_pk, limit=limit)


def _list_training_pairs(
    session: Session, request: OpenPairsRequest, eligibility: Eligibility | None
) -> list[TrainingPair]:
    eligible = eligibility or find_eligibility(session, request.dataset_pk, request.annotator_pk)
    statement = eligible.prepare(_TRAINING, query="p.query_pk")
    rows = fetch_tuples(session, statement, {**_own(request), **eligible.values})
    return [TrainingPair(*row) for row in rows]


def _own(request: OpenPairsRequest) -> dict[str, int]:
    return {"dataset_pk": request.dataset_pk, "annotator_pk": request.annotator_pk}


def find_repeats(
    session: Session, request: OpenPairsRequest, keys: Collection[str]
) -> Mapping[str, RepeatTarget]:
    """Return {key: repeat} for the keys that belong to repeats of this annotator."""
    if not keys:
        return {}
    statement = (
        select(col(RepeatRow.key), col(RepeatRow.pk), col(PairRow.pk), col(PairRow.document_pk))
        .join(PairRow, col(PairRow.pk) == col(RepeatRow.pair_pk))
        .where(
            col(RepeatRow.key).in_(list(keys)),
            col(RepeatRow.annotator_pk) == request.annotator_pk,
            col(PairRow.dataset_pk) == request.dataset_pk,
        )
    )
    return {
        key: RepeatTarget(key_of(pk), key_of(pair_pk), document_pk)
        for key, pk, pair_pk, document_pk in session.execute(statement)
    }


def note_repeats_answered(session: Session, request: OpenPairsRequest, repeat_pks: Collection[int]) -> None:
    """Note that the annotator has answered these repeats."""
    if repeat_pks:
        answered = update(RepeatRow).where(
            col(RepeatRow.pk).in_(list(repeat_pks)),
            col(RepeatRow.annotator_pk) == request.annotator_pk,
            col(RepeatRow.answered_at).is_(None),
        )
        session.execute(answered.values(answered_at=request.now).execution_options(synchronize_session=False))


def prolong_repeats(session: Session, request: OpenPairsRequest, repeat_pks: Collection[int]) -> None:
    """Note that the browser still shows these repeats, as a lease of another pair is prolonged."""
    if repeat_pks:
        shown = update(RepeatRow).where(col(RepeatRow.pk).in_(list(repeat_pks)))
        session.execute(shown.values(handed_at=request.now).execution_options(synchronize_session=False))


def read_explanations(session: Session, pair_pks: Collection[int]) -> Mapping[int, tuple[int, str]]:
    """Return (right grade, explanation) of each training pair, by pair_pk."""
    if not pair_pks:
        return {}
    statement = select(col(CheckRow.pair_pk), col(CheckRow.grade), col(CheckRow.explanation)).where(
        col(CheckRow.pair_pk).in_(list(pair_pks)), col(CheckRow.kind) == "training"
    )
    return {pair_pk: (grade, explanation) for pair_pk, grade, explanation in session.execute(statement)}


@dataclass(frozen=True, slots=True)
class SpecialWork:
    """The kinds of special work that can exist. Absent kinds are not searched for."""

    outdated: bool
    put_off: bool
    other_tabs: bool


class StoredWork:
    """The `WorkSource` of one annotator in the database."""

    def __init__(
        self, session: Session, request: OpenPairsRequest, context: ExchangeContext, special: SpecialWork
    ) -> None:
        self.session, self.request, self.context, self.special = session, request, context, special
        self.eligibility = context.eligibility
        self.open_pks: set[int] = set()  # of the pairs that were listed as open
        self.open_queries: OpenQueries | None = None

    def list_training(self, limit: int) -> list[int]:
        """Return the training pairs (pair_pk) to be answered next, in their order."""
        return list_training(self.session, self.request, self.context.dataset, limit=limit)

    def list_outdated(self, limit: int) -> list[int]:
        """Return up to `limit` pairs (pair_pk) with own judgments to confirm or change, in order."""
        checks = self.context.has_checks
        if not (self.special.outdated or checks):
            return []
        return list_outdated(self.session, self.request, limit=limit, checks=checks)

    def list_held(self, *, elsewhere: bool) -> list[OpenPair]:
        """Return the pairs that this annotator holds, checks included.

        `elsewhere`: only pairs in another tab.
        """
        if elsewhere and not self.special.other_tabs:
            return []
        return list_held(self.session, self.request, self.eligibility, elsewhere=elsewhere)

    def find_last_query(self) -> int | None:
        """Return the query of the annotator's latest judgment, None if that is long ago."""
        return find_last_query(self.session, self.request)

    def list_assigned_queries(self) -> list[int]:
        """Return the queries that are assigned to the annotator and have open pairs."""
        return list_assigned_queries(self.session, self.request, self.eligibility)

    def list_put_off_queries(self) -> list[int]:
        """Return the queries (query_pk) with pairs that the annotator put off."""
        return list_put_off_queries(self.session, self.request) if self.special.put_off else []

    def count_answered_queries(self) -> int:
        """Return in how many queries the annotator has answered something."""
        return self.context.bounds.answered

    def list_handed_queries(self) -> list[int]:
        """Return the queries with open pairs that the annotator was handed before.

        Only needed if there are checks.
        """
        return list_handed_queries(self.session, self.request) if self.context.has_checks else []

    def list_open_queries(
        self, *, begun: bool, start: float, others: Collection[int] = ()
    ) -> Iterator[list[int]]:
        """Yield queries with open pairs, a few at a time, from the one at that share (0-1) of all on."""
        if self.open_queries is None:
            bounds = self.context.bounds
            self.open_queries = find_open_queries(
                self.session, self.request, self.eligibility, bounds, share=start
            )
        return list_open_queries(
            self.session, self.request, self.eligibility, self.open_queries, begun=begun, others=others
        )

    def list_open_pairs(self, query_pks: Sequence[int]) -> list[OpenPair]:
        """Return the open pairs of these queries, in no particular order."""
        pairs = list_open_pairs(self.session, self.request, self.eligibility, query_pks)
        self.open_pks.update(pair.pair_pk for pair in pairs)
        return pairs

    def list_answered_pairs(self, query_pk: int) -> dict[int, str]:
        """Return the keys of the query's pairs that the annotator has answered and may change, by pair_pk."""
        statement = (
            select(col(PairRow.pk), col(PairRow.key))
            .join(CurrentJudgmentRow, col(CurrentJudgmentRow.pair_pk) == col(PairRow.pk))
            .where(
                col(PairRow.query_pk) == query_pk,
                col(CurrentJudgmentRow.annotator_pk) == self.request.annotator_pk,
                col(CurrentJudgmentRow.outcome) != "later",
                ~exists().where(col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk)),
                ~exists().where(
                    col(DisclosureRow.pair_pk) == col(PairRow.pk),
                    col(DisclosureRow.person_pk) == self.request.annotator_pk,
                ),
            )
        )
        answered = {key_of(pair_pk): key for pair_pk, key in self.session.execute(statement)}
        answered |= list_changeable(self.session, self.request, query_pk)
        return answered | list_answered_gold(self.session, self.request, query_pk)
