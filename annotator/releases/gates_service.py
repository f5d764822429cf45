"""Check the gates of a release: what it requires, and what was measured. For leads."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.agreement.records import AgreementReport, AgreementVerdict
from annotator.dataset.coverage_counts import measure_coverage
from annotator.dataset.records import Coverage
from annotator.domain.ground_truth import Query
from annotator.domain.people import Actor
from annotator.people.service import require_role
from annotator.quality.records import QualityStatus
from annotator.releases.counts import PairSurvey, list_figures
from annotator.releases.gates import compare_gates, explain, find_meaning_since
from annotator.releases.records import ReleaseCheck, ReleaseGate
from annotator.releases.releases_sql import (
    list_decided_on_older_text,
    list_decision_versions,
    list_judged_on_older_text,
    list_old_judgments,
    list_rubric_versions,
    list_versions,
)
from annotator.releases.versions import suggest_version
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pair_states import PairState, iterate_pair_states, list_queries
from annotator.storage.tables import DatasetRow


@dataclass(frozen=True, slots=True)
class ReleaseSurvey:
    """The counts over all pairs of a dataset before a release."""

    pairs: PairSurvey
    queries: Mapping[int, Query]  # by query_pk, in the dataset's order
    coverage: Coverage  # of what the files would hold
    without_qrels: list[str]  # query_ids that no file would hold
    without_relevant: list[str]  # query_ids whose settled grades are all 0
    quality: QualityStatus


def check_release(database: Database, actor: Actor, dataset: str) -> ReleaseCheck:
    """Check every gate: what it requires, what was measured. For leads."""
    from annotator.agreement.service import compute_verdict

    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        survey = survey_pairs(session, row, iterate_pair_states(session, key_of(row.pk)))
        return ReleaseCheck(
            version=None,
            gates=compute_gates(survey, row, compute_verdict(session, row)),
            open_pairs=tuple(survey.pairs.opened.first),
            statuses=survey.pairs.statuses,
            suggested=suggest_version(list_versions(session, key_of(row.pk))),
        )


def check_gates(
    session: Session,
    row: DatasetRow,
    states: Iterable[PairState] | None = None,
    *,
    agreement: AgreementReport | None = None,
) -> tuple[ReleaseGate, ...]:
    """Check the gates in an open transaction. The caller has checked the role.

    `states`: the states of all pairs, read here if not given. `agreement`: a report that the caller has; its verdict is
    taken if publishing would reach the same one. The caller says of which moment that report is.
    """
    from annotator.agreement.service import compute_verdict, find_verdict

    if states is None:
        states = iterate_pair_states(session, key_of(row.pk))
    verdict = None if agreement is None else find_verdict(agreement, row)
    return compute_gates(survey_pairs(session, row, states), row, verdict or compute_verdict(session, row))


def explain_check(check: ReleaseCheck) -> str:
    """Return what is missing for a release, for people; "" if nothing is."""
    return explain(check.gates, check.open_pairs)


def survey_pairs(session: Session, row: DatasetRow, states: Iterable[PairState]) -> ReleaseSurvey:
    """Count what the gates, the coverage and the datasheet need, over all pairs."""
    from annotator.quality.service import compute_quality

    dataset_pk = key_of(row.pk)
    since = find_meaning_since(list_rubric_versions(session, dataset_pk))
    pairs = PairSurvey(
        overlap=row.overlap,
        uneven=row.overlap_rules is not None,
        meaning_since=since,
        judged_under=list_old_judgments(session, dataset_pk) if since else None,
        decided_under=list_decision_versions(session, dataset_pk) if since else None,
        judged_on_older=list_judged_on_older_text(session, dataset_pk),
        decided_on_older=list_decided_on_older_text(session, dataset_pk),
    )
    for state in states:
        names = (state.query_id, state.doc_id)
        pairs.add(names, state.query_pk, state.pair_pk, state.settlement, lacking=state.lacking)
    queries = list_queries(session, dataset_pk)
    coverage = measure_coverage(pairs.list_facts(queries), row.requirements)
    return ReleaseSurvey(
        pairs=pairs,
        queries=queries,
        coverage=coverage,
        without_qrels=pairs.list_without_qrels(queries),
        without_relevant=pairs.list_without_relevant(queries),
        quality=compute_quality(session, dataset_pk),
    )


def compute_gates(
    survey: ReleaseSurvey, row: DatasetRow, verdict: AgreementVerdict
) -> tuple[ReleaseGate, ...]:
    """Compare what was counted with what each gate requires."""
    figures = list_figures(
        survey.pairs,
        dataset=row.name,
        verdict=verdict,
        coverage=survey.coverage,
        unjudged=survey.without_qrels,
        without_relevant=survey.without_relevant,
        requirements=row.requirements,
        quality=survey.quality,
    )
    return compare_gates(figures)
