"""Check the gates of a release: what it requires, and what was measured. For leads."""

from collections.abc import Collection, Mapping

from sqlalchemy.orm import Session

from annotator.agreement.records import AgreementVerdict
from annotator.dataset.coverage_counts import measure_coverage
from annotator.domain.ground_truth import Query
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.releases.counts import PairSurvey, ReleaseSurvey
from annotator.releases.gates import compare_gates
from annotator.releases.records import ReleaseCheck, ReleaseGate, suggest_version
from annotator.releases.releases_sql import list_unwritable_documents, list_versions
from annotator.releases.survey_sql import read_survey
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import list_blind_pairs
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_settlements import PairSettlements, find_indexes, read_settlements
from annotator.storage.pairs.pair_states import list_queries
from annotator.storage.tables.central import DatasetRow


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
