"""Check the gates of a release: what it requires, and what was measured. For leads.

Count the pairs of a dataset for the gates and the datasheet of a release, from the columns of
`storage/pairs/pair_settlements.py`. The names of a pair are read only for the few pairs that a gate names as
examples.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.agreement.records import AgreementVerdict
from annotator.dataset.coverage_counts import measure_coverage
from annotator.domain.ground_truth import Query
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.releases.gates import (
    SHOWN,
    CountWithExamples,
    PairSurvey,
    ReleaseSurvey,
    compare_gates,
    find_meaning_since,
    is_on_older_text,
    is_stale,
)
from annotator.releases.records import Names, ReleaseCheck, ReleaseGate, suggest_version
from annotator.releases.releases_sql import (
    list_decided_on_older_text,
    list_decision_versions,
    list_judged_on_older_text,
    list_old_judgments,
    list_rubric_versions,
    list_unwritable_documents,
    list_versions,
)
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import list_blind_pairs
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_settlements import (
    PairSettlements,
    count_grades_by_query,
    find_indexes,
    list_open_queries,
    read_settlements,
)
from annotator.storage.pairs.pair_states import list_queries
from annotator.storage.sql import fetch_tuples, prepare_sql, split_into_chunks
from annotator.storage.tables.central import DatasetRow

if TYPE_CHECKING:
    from annotator.storage.pairs.pair_settlements import Ints

_AT_ONCE = 1_000
_DOC_IDS = prepare_sql(
    "SELECT p.pk, d.doc_id FROM pair p JOIN document d ON d.pk = p.document_pk WHERE p.pk IN :pairs",
    lists=["pairs"],
)
FindDocIds = Callable[[Sequence[int]], Mapping[int, str]]


class OlderSources(NamedTuple):
    """The judgments and decisions that were made under an older guideline or on an older text, by pair_pk.

    `judged_under`: the lowest guideline version of the pair's judgments, where it is older than `meaning_since`.
    `decided_under`: that of its decision. Both are empty if no version has changed what a grade means.
    """

    meaning_since: int | None = None
    judged_under: Mapping[int, int] = {}
    decided_under: Mapping[int, int] = {}
    judged_on_older: Collection[int] = ()
    decided_on_older: Collection[int] = ()


def read_older_sources(session: Session, dataset_pk: int) -> OlderSources:
    """Return the judgments and decisions that are older than a change of guideline or text."""
    since = find_meaning_since(list_rubric_versions(session, dataset_pk))
    return OlderSources(
        since,
        list_old_judgments(session, dataset_pk) if since else {},
        list_decision_versions(session, dataset_pk) if since else {},
        list_judged_on_older_text(session, dataset_pk),
        list_decided_on_older_text(session, dataset_pk),
    )


def read_survey(
    session: Session, row: DatasetRow, settled: PairSettlements, query_ids: Mapping[int, str]
) -> PairSurvey:
    """Count a dataset's pairs. `query_ids`: by query_pk, in the dataset's order."""

    def find_doc_ids(pair_pks: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for chunk in split_into_chunks(pair_pks, _AT_ONCE):
            rows: Any = fetch_tuples(session, _DOC_IDS, {"pairs": chunk})
            found.update(rows)
        return found

    return count_settlements(
        settled,
        query_ids,
        find_doc_ids,
        read_older_sources(session, key_of(row.pk)),
        overlap=row.overlap,
        uneven=row.overlap_rules is not None,
    )


def count_settlements(
    settled: PairSettlements,
    query_ids: Mapping[int, str],
    find_doc_ids: FindDocIds,
    older: OlderSources,
    *,
    overlap: int,
    uneven: bool = False,
) -> PairSurvey:
    """Count these pairs. `find_doc_ids`: returns the doc_id of each of a few pairs, by pair_pk."""
    import numpy as np

    by_settlement = np.bincount(settled.settlement, minlength=len(settled.settlements)).tolist()
    statuses, by_grade = Counter[str](), Counter[int]()
    for settlement, pairs in zip(settled.settlements, by_settlement, strict=True):
        if pairs:
            statuses[settlement.status] += pairs
            if settlement.grade is not None:
                by_grade[settlement.grade] += pairs
    names = _ExampleNames(settled, query_ids, find_doc_ids)
    stale, stale_text, stale_both = _find_stale(settled, older)
    return PairSurvey(
        overlap=overlap,
        uneven=uneven,
        meaning_since=older.meaning_since,
        statuses=statuses,
        by_grade=by_grade,
        of_query=count_grades_by_query(settled),
        with_open_pairs=list_open_queries(settled),
        opened=names.count(np.flatnonzero(settled.are_open())),
        short=names.count(np.flatnonzero(settled.lacking > 0)),
        stale=names.count(stale),
        stale_text=stale_text,
        stale_both=stale_both,
    )


class _ExampleNames:
    """Names the first few of some pairs, in the dataset's order: by query, then doc_id in code point order."""

    def __init__(
        self, settled: PairSettlements, query_ids: Mapping[int, str], find_doc_ids: FindDocIds
    ) -> None:
        self._settled, self._query_ids, self._find_doc_ids = settled, query_ids, find_doc_ids
        self._position = {query_pk: position for position, query_pk in enumerate(query_ids)}

    def count(self, index: "Ints") -> CountWithExamples:
        """Count the pairs at these indexes, and name the first of them."""
        import numpy as np

        positions = np.array(
            [self._position[query_pk] for query_pk in self._settled.query[index].tolist()], dtype=np.int64
        )
        if len(index) > SHOWN:
            first = positions <= np.partition(positions, SHOWN - 1)[SHOWN - 1]
        else:
            first = np.ones(len(index), dtype=np.bool_)
        pair_pks = self._settled.pair[index[first]].tolist()
        doc_ids = self._find_doc_ids(pair_pks)
        query_pks = self._settled.query[index[first]].tolist()
        ordered = sorted(
            (position, doc_ids[pair_pk], query_pk)
            for position, pair_pk, query_pk in zip(
                positions[first].tolist(), pair_pks, query_pks, strict=True
            )
        )
        names: list[Names] = [(self._query_ids[query_pk], doc_id) for _, doc_id, query_pk in ordered[:SHOWN]]
        return CountWithExamples(len(index), names)


def _find_stale(settled: PairSettlements, older: OlderSources) -> "tuple[Ints, int, int]":
    """Return the indexes of the settled pairs that rest on an older meaning or text, and how many of them on a text, on both."""
    import numpy as np

    pair_pks = sorted(
        {*older.judged_under, *older.decided_under, *older.judged_on_older, *older.decided_on_older}
    )
    indexes, is_present = find_indexes(settled.pair, np.array(pair_pks, dtype=np.int64))
    judged_on_older, decided_on_older = set(older.judged_on_older), set(older.decided_on_older)
    statuses = settled.list_statuses()
    stale: list[int] = []
    on_text = on_both = 0
    for pair_pk, index, present in zip(pair_pks, indexes.tolist(), is_present.tolist(), strict=True):
        if not present:
            continue
        status, lowest = statuses[settled.settlement[index]], older.judged_under.get(pair_pk)
        older_meaning = is_stale(
            older.meaning_since,
            status=status,
            judged_under=() if lowest is None else (lowest,),
            decided_under=older.decided_under.get(pair_pk),
        )
        older_text = is_on_older_text(
            status, judged=pair_pk in judged_on_older, decided=pair_pk in decided_on_older
        )
        if older_meaning or older_text:
            stale.append(index)
            on_text += older_text
            on_both += older_meaning and older_text
    return np.array(stale, dtype=np.int64), on_text, on_both


def check_release(database: Database, actor: Actor, dataset: str) -> ReleaseCheck:
    """Check every gate: what it requires, what was measured. For leads.

    Pairs that the lead may still judge count as not judged: whether a gate is met shows grades too, since leads choose
    what it requires. `publish_release` checks the gates on all pairs.
    """
    from annotator.agreement.service import summarize_agreement

    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        settled = read_settlements(session, dataset_pk, blind)
        survey = survey_pairs(session, row, settled, blind)
        verdict = summarize_agreement(session, row, settled=settled, blind=blind).verdict
        return ReleaseCheck(
            version=None,
            gates=compute_gates(survey, row, verdict),
            statuses=survey.pairs.statuses,
            suggested=suggest_version(list_versions(session, dataset_pk)),
            blind_pairs=len(blind),
        )


def survey_pairs(
    session: Session, row: DatasetRow, settled: PairSettlements, blind: Collection[int] = frozenset()
) -> ReleaseSurvey:
    """Count what the gates, the coverage and the datasheet need, over all pairs.

    `blind`: pairs that the reader may still judge; `settled` was read with them.
    """
    from annotator.quality.service import compute_quality

    dataset_pk = key_of(row.pk)
    queries = list_queries(session, dataset_pk)
    query_ids = {query_pk: query.query_id for query_pk, query in queries.items()}
    pairs = read_survey(session, row, settled, query_ids)
    return ReleaseSurvey(
        pairs=pairs,
        queries=queries,
        coverage=measure_coverage(pairs.list_facts(queries), row.requirements),
        without_qrels=pairs.list_without_qrels(queries),
        without_relevant=pairs.list_without_relevant(queries),
        quality=compute_quality(session, dataset_pk, blind),
        unwritable=_find_unwritable(session, dataset_pk, settled, pairs, queries),
    )


def _find_unwritable(
    session: Session,
    dataset_pk: int,
    settled: PairSettlements,
    pairs: PairSurvey,
    queries: Mapping[int, Query],
) -> dict[str, list[str]]:
    """Return, by format, the ids of settled pairs that it cannot hold: of queries, then of documents."""
    import numpy as np

    from annotator.formats.registry import find_unwritable

    query_ids = [query.query_id for query_pk, query in queries.items() if query_pk in pairs.of_query]
    documents = list_unwritable_documents(session, dataset_pk)
    indexes, is_present = find_indexes(settled.pair, np.array(sorted(documents), dtype=np.int64))
    doc_ids = {
        documents[pair_pk]
        for pair_pk, index, present in zip(
            sorted(documents), indexes.tolist(), is_present.tolist(), strict=True
        )
        if present and settled.settlements[settled.settlement[index]].grade is not None
    }
    return find_unwritable([*query_ids, *sorted(doc_ids)])


def compute_gates(
    survey: ReleaseSurvey, row: DatasetRow, verdict: AgreementVerdict
) -> tuple[ReleaseGate, ...]:
    """Compare what was counted with what each gate requires."""
    return compare_gates(survey, row.requirements, verdict)
