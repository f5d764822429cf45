"""Show leads what the scores rest on: ranked lists with grades, documents, and changes between two releases.

For leads. The lists of a query are hidden while the lead may still judge one of its pairs, because they show its ranks.
Every grade shown is recorded before it is returned. The grades of a release are public: they are shown and recorded, as on
the page Releases.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np

from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.evaluation.evaluate import cut_run
from annotator.evaluation.evaluation_sql import (
    ListedResult,
    RankedDocument,
    find_ranked_document,
    list_imported_runs,
    list_results_of_query,
    read_imported_run,
)
from annotator.evaluation.profiles import find_profile
from annotator.evaluation.records import Grades, Order, RankedRun, ScoreTable
from annotator.evaluation.scores.scoring import ScoringOptions, score_runs
from annotator.evaluation.scores.summary import summarize_measure
from annotator.evaluation.service import find_blind_queries, read_truth
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import list_to_judge, note_published, note_seen
from annotator.storage.pairs.pair_states import PairState, list_pair_states, list_queries
from annotator.storage.pairs.pool import list_pair_pks

GradeState = Literal["graded", "unsettled", "waiting", "not pooled"]


@dataclass(frozen=True, slots=True)
class RankedResult:
    """A document in a system's list, with its grade in the truth.

    `state`: `graded`; `unsettled` (judged, without a settled grade); `waiting` (in the pool, not judged);
    `not pooled` (not in the pool).
    """

    rank: int  # from 1
    doc_id: str
    title: str
    grade: int | None  # None unless `state` is "graded"
    state: GradeState


@dataclass(frozen=True, slots=True)
class QueryRankings:
    """The systems' lists for one query.

    `missed`: relevant documents that no list has, highest grades first. Their rank is 0.
    """

    query_id: str
    text: str
    narrative: str | None
    systems: Mapping[str, tuple[RankedResult, ...]]  # best first
    depth: int
    missed: tuple[RankedResult, ...]
    not_pooled: tuple[str, ...]  # doc_ids of the lists that are not in the pool, without repeats
    hidden: int  # judged pairs among `to_judge`
    to_judge: int = (
        0  # pairs of the query that the lead may still judge; above 0, `systems` and what follows are empty
    )


@dataclass(frozen=True, slots=True)
class ScoreMove:
    """A system's mean on two releases; None if undefined."""

    system: str
    measure: str
    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class GradeMove:
    """A grade that changed between two releases; None: unjudged. `ranks`: the document's rank by system."""

    query_id: str
    doc_id: str
    before: int | None
    after: int | None
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QueryMove:
    """A query with changed scores and its changed grades. `changes`: {system: difference}."""

    query_id: str
    text: str
    changes: Mapping[str, float]
    grades: tuple[GradeMove, ...]

    @property
    def largest(self) -> float:
        """Return the largest change of a score, without its sign."""
        return max(map(abs, self.changes.values()), default=0.0)


@dataclass(frozen=True, slots=True)
class ReleaseEvaluationChange:
    """The same runs on two releases. `queries`: those with the largest changes of `measure`, largest first."""

    before: str
    after: str
    measure: str
    moves: tuple[ScoreMove, ...]
    queries: tuple[QueryMove, ...]
    moved_queries: int  # number of queries with a changed score, listed in `queries` or not
    queries_before: int  # over which the means are taken
    queries_after: int
    changed_grades: int  # of all queries, also of documents that no system lists


DEPTH, RANKED_DEPTH = 10, 100
MOST_MISSED = 50
SHOWN_CHARACTERS = 200_001


def show_query_rankings(
    database: Database,
    actor: Actor,
    dataset: str,
    query_id: str,
    *,
    version: str | None = None,
    systems: Collection[str] = (),
    order: Order = "score",
    depth: int = DEPTH,
    reveal: bool = False,
    now: datetime,
) -> QueryRankings:
    """Return the first results of the systems for one query, with grades of today or of a release.

    Empty `systems`: all. The shown grades are recorded, and the lead may no longer judge these pairs. While the lead may
    still judge a pair of the query, there are no lists, unless `reveal`: then the lead judges none of its pairs. Raises
    NotFound for an unknown query or version.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        queries = list_queries(session, dataset_pk)
        query_pk = next((pk for pk, query in queries.items() if query.query_id == query_id), None)
        if query_pk is None:
            raise NotFound(say("{dataset} has no query {query_id!r}.", dataset=row.name, query_id=query_id))
        query = queries[query_pk]
        listed = list_results_of_query(session, dataset_pk, query_pk, order)
        pair_pks = [
            pk
            for (of_query, _), pk in list_pair_pks(session, dataset_pk, {query_pk}).items()
            if of_query == query_pk
        ]
        states = {state.doc_id: state for state in list_pair_states(session, dataset_pk, pair_pks)}
        present_titles = {result.doc_id: result.title for results in listed.values() for result in results}
        told = [  # of all systems and ranks; that a judged document is not among the missing ones tells its grade
            state.pair_pk for state in states.values() if state.doc_id in present_titles or _is_judged(state)
        ]
        hidden = list_to_judge(session, actor.person_id, told)
        published = None
        if version is not None:
            truth, _ = read_truth(session, dataset_pk, row.name, version)
            published = truth.grades.get(query_id, {})
        if hidden and not reveal:
            judged = sum(state.pair_pk in hidden and _is_judged(state) for state in states.values())
            return QueryRankings(
                query_id, query.text, query.narrative, {}, depth, (), (), hidden=judged, to_judge=len(hidden)
            )
    note_seen(database, hidden, actor.person_id, now=now)
    lists = {
        system: tuple(
            _describe_result(rank, result, states.get(result.doc_id), published)
            for rank, result in enumerate(results[:depth], start=1)
        )
        for system, results in listed.items()
        if not systems or system in systems
    }
    results = [result for listed in lists.values() for result in listed]
    doc_ids = [result.doc_id for result in sorted(results, key=lambda result: result.rank)]
    shown = set(doc_ids)
    rankings = QueryRankings(
        query_id=query_id,
        text=query.text,
        narrative=query.narrative,
        systems=lists,
        depth=depth,
        missed=tuple(_list_missed(states, published, shown, present_titles))[:MOST_MISSED],
        not_pooled=tuple(doc_id for doc_id in dict.fromkeys(doc_ids) if doc_id not in states),
        hidden=0,
    )
    graded = {
        result.doc_id
        for results in (*lists.values(), rankings.missed)
        for result in results
        if result.state == "graded"
    }
    if version is not None:
        note_published(database, actor, dataset, {(query_id, doc_id) for doc_id in graded}, now=now)
    else:
        note_seen(database, {states[doc_id].pair_pk for doc_id in graded}, actor.person_id, now=now)
    return rankings


def _is_judged(state: PairState) -> bool:
    return state.settlement.status != "unjudged"


def _describe_result(
    rank: int,
    result: ListedResult,
    state: PairState | None,
    published: Mapping[str, int] | None,
) -> RankedResult:
    described = RankedResult(rank, result.doc_id, result.title, None, "not pooled")
    if published is not None and result.doc_id in published:
        return replace(described, grade=published[result.doc_id], state="graded")
    if state is None:
        return described
    if published is not None or not _is_judged(state):
        return replace(described, state="waiting" if not _is_judged(state) else "unsettled")
    grade = state.settlement.grade
    settled: GradeState = "unsettled" if grade is None else "graded"
    return replace(described, grade=grade, state=settled)


def _list_missed(
    states: Mapping[str, PairState],
    published: Mapping[str, int] | None,
    shown: Collection[str],
    titles: Mapping[str, str],
) -> list[RankedResult]:
    """Return the relevant documents missing from all lists, highest grades first."""
    if published is not None:
        grades = dict(published)
    else:
        grades = {
            doc_id: state.settlement.grade
            for doc_id, state in states.items()
            if state.settlement.grade is not None
        }
    missed = [
        RankedResult(0, doc_id, titles.get(doc_id, ""), grade, "graded")
        for doc_id, grade in grades.items()
        if grade >= RELEVANT_FROM and doc_id not in shown
    ]
    return sorted(missed, key=lambda result: -(result.grade or 0))


def read_ranked_document(database: Database, actor: Actor, dataset: str, doc_id: str) -> RankedDocument:
    """Return a document with the beginning of its text. For leads. Raises NotFound for an unknown id."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        document = find_ranked_document(session, dataset_pk, doc_id, characters=SHOWN_CHARACTERS)
    if document is None:
        raise NotFound(say("This dataset has no document {doc_id!r}.", doc_id=doc_id))
    return document


def compare_on_releases(
    database: Database,
    actor: Actor,
    dataset: str,
    before: str,
    after: str,
    *,
    profile: str = "trec",
    measures: Sequence[str] = (),
    measure: str | None = None,
    systems: Collection[str] = (),
    most_queries: int = 50,
    now: datetime,
) -> ReleaseEvaluationChange:
    """Return which scores of the same runs changed between two releases, and the changed grades behind them.

    `measure`: decides which queries are listed; None: the first measure. The shown grades are recorded, and
    the lead may no longer judge these pairs. Queries with a pair that the lead may still judge are in no
    figure. Raises NotFound for an unknown version.
    """
    chosen = find_profile(profile)
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        blind = frozenset[str]().union(
            *(
                find_blind_queries(session, dataset_pk, actor.person_id, version)
                for version in (before, after)
            )
        )
        old, _ = read_truth(session, dataset_pk, row.name, before, blind)
        new, _ = read_truth(session, dataset_pk, row.name, after, blind)
        query_ids = {pk: query.query_id for pk, query in list_queries(session, dataset_pk).items()}
        runs = [
            read_imported_run(session, run, query_ids, chosen.order)
            for run in list_imported_runs(session, dataset_pk)
            if not systems or run.system in systems
        ]
    if not runs:
        raise ValidationError(say("{dataset} has no runs yet.", dataset=row.name))
    options = ScoringOptions(measures=tuple(measures), readings=False)
    tables = score_runs(old, runs, chosen, options), score_runs(new, runs, chosen, options)
    names = [one.name for one in tables[0].measures]
    listed = measure if measure in names else names[0]
    changed = _list_changed_grades(old.grades, new.grades, runs)
    moved = _list_query_moves(tables, listed, changed, {**old.texts, **new.texts})
    shown = moved[:most_queries]
    note_published(
        database,
        actor,
        dataset,
        {(grade.query_id, grade.doc_id) for query in shown for grade in query.grades},
        now=now,
    )
    return ReleaseEvaluationChange(
        before=before,
        after=after,
        measure=listed,
        moves=tuple(_list_score_moves(tables)),
        queries=shown,
        moved_queries=len(moved),
        queries_before=len(tables[0].query_ids),
        queries_after=len(tables[1].query_ids),
        changed_grades=sum(map(len, changed.values())),
    )


def _list_score_moves(tables: tuple[ScoreTable, ScoreTable]) -> list[ScoreMove]:
    return [
        ScoreMove(
            old.system,
            measure.name,
            summarize_measure(old, measure).value,
            summarize_measure(new, measure).value,
        )
        for measure in tables[0].measures
        for old, new in zip(tables[0].systems, tables[1].systems, strict=True)
    ]


def _list_changed_grades(old: Grades, new: Grades, runs: Sequence[RankedRun]) -> dict[str, list[GradeMove]]:
    """Return {query_id: changed, added and removed grades}, with the documents' ranks up to RANKED_DEPTH."""
    ranks: dict[str, dict[str, dict[str, int]]] = {}
    for run in (cut_run(run, RANKED_DEPTH) for run in runs):
        for index, query_id in enumerate(run.query_ids):
            for rank, doc_id in enumerate(run.list_documents(index), start=1):
                ranks.setdefault(query_id, {}).setdefault(doc_id, {})[run.system] = rank
    changed: dict[str, list[GradeMove]] = {}
    for query_id in dict.fromkeys([*old, *new]):
        before, after = old.get(query_id, {}), new.get(query_id, {})
        for doc_id in dict.fromkeys([*before, *after]):
            if before.get(doc_id) != after.get(doc_id):
                move = GradeMove(
                    query_id,
                    doc_id,
                    before.get(doc_id),
                    after.get(doc_id),
                    ranks.get(query_id, {}).get(doc_id, {}),
                )
                changed.setdefault(query_id, []).append(move)
    return changed


def _list_query_moves(
    tables: tuple[ScoreTable, ScoreTable],
    measure: str,
    changed: Mapping[str, Sequence[GradeMove]],
    texts: Mapping[str, str],
) -> tuple[QueryMove, ...]:
    """Return the queries with a changed score, largest change first. A missing query counts 0."""
    rows = [{query_id: row for row, query_id in enumerate(table.query_ids)} for table in tables]
    moves = []
    for query_id in dict.fromkeys([*tables[0].query_ids, *tables[1].query_ids]):
        changes = {}
        for old, new in zip(tables[0].systems, tables[1].systems, strict=True):
            before, after = (
                float(np.nan_to_num(scores.values[measure][by_id[query_id]])) if query_id in by_id else 0.0
                for scores, by_id in zip((old, new), rows, strict=True)
            )
            if abs(after - before) > 1e-12:
                changes[old.system] = after - before
        if changes:
            moves.append(
                QueryMove(query_id, texts.get(query_id, ""), changes, tuple(changed.get(query_id, ())))
            )
    return tuple(sorted(moves, key=lambda move: -move.largest))
