"""Measure how well annotators agree: for leads, for annotators themselves, and for the release gate.

Only current independent judgments with a grade count. Judgments of quality control, further judgments
requested because two differed, decisions, and “cannot rate” do not count. A pair with one annotator adds
nothing to agreement.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.agreement.consensus import ConsensusPair, compare_estimates
from annotator.agreement.consensus_records import Consensus
from annotator.agreement.diagnosis.assess import describe_simulated
from annotator.agreement.diagnosis.verdict import judge
from annotator.agreement.grades_sql import (
    DOCUMENT,
    list_compared_grades,
    read_agreement_stamp,
    read_document_labels,
    read_grades,
    read_query_labels,
    read_versions,
    select_grades,
)
from annotator.agreement.grades_sql import list_groupings as find_groupings
from annotator.agreement.judgment_table import (
    GradeRows,
    GroupLabels,
    NamedJudgments,
    label_by,
    label_by_version,
    label_by_week,
    look_up,
    name_judged,
    number,
)
from annotator.agreement.left_out_sql import (
    check_kind,
    count_left_out,
    count_outdated,
    list_left_out,
)
from annotator.agreement.measure import choose_compared, measure_own, measure_pairs
from annotator.agreement.records import (
    AgreementReport,
    AgreementSummary,
    AgreementVerdict,
    CoefficientValue,
    ExcludedJudgment,
    MeasuredAgreement,
    OwnAgreement,
    PairSelection,
    SelectedPair,
    SelectedPairs,
    VersionComparison,
)
from annotator.agreement.report import (
    ReportInput,
    count_unrateable,
    make_report,
    measure_categories,
    measure_first,
    measure_groups,
    measure_whole,
)
from annotator.agreement.report_files import write_estimate_rows, write_file
from annotator.agreement.selected_pairs_sql import (
    PairReader,
    SelectionResult,
    read_selected_pairs,
    select_pairs,
)
from annotator.agreement.version_comparison import choose_version, compare_versions
from annotator.domain.errors import InsufficientData, NotAllowed, ValidationError
from annotator.domain.grades import list_local_names
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.guideline.feedback_sql import count_decisions_behind
from annotator.labeling.calibration_service import list_results
from annotator.labeling.calibration_sql import list_unseen_gold
from annotator.labeling.records import AnnotatorResult
from annotator.people.roles_service import enter_dataset, open_dataset, require_person
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_named
from annotator.storage.logs.disclosures import (
    FigureStamp,
    find_pair_pks,
    list_blind_pairs,
    list_to_judge,
    note_seen,
    stamp_figures,
)
from annotator.storage.lookup import find_rubric, key_of, to_rubric
from annotator.storage.pairs.pair_settlements import PairSettlements
from annotator.storage.pairs.pair_states import iterate_pair_states
from annotator.storage.sql import split_into_chunks
from annotator.storage.tables.central import DatasetRow, PersonRow

MAX_RESAMPLES = 100_000
RESAMPLES = 1000  # unless another number is asked for
PAIRS_AT_ONCE = 10_000
UNDER_WAY = timedelta(minutes=1)
"""The order of judgments younger than this is not final: a transaction may still add one."""


def compute_agreement(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    by: str | None = None,
    resamples: int = RESAMPLES,
    seed: int | None = None,
    report_progress: Callable[[int, CoefficientValue], None] | None = None,
) -> AgreementReport:
    """Measure the agreement of a dataset and its groups, with 95 % intervals and diagnosis. For leads.

    Leaves out pairs that the lead may still judge. `by`: one of `list_groupings`. `resamples` 0 leaves the
    intervals out. `seed` None: the dataset's, which also the release gate uses. The report has usernames.
    `report_progress` is called with the number of shared pairs and their kappa without an interval, as soon
    as they are known.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        return measure_agreement(
            session,
            row,
            by=by,
            resamples=resamples,
            seed=seed,
            blind=list_blind_pairs(session, dataset_pk, actor.person_id),
            unseen_gold=list_unseen_gold(session, dataset_pk, actor.person_id),
            report_progress=report_progress,
        )


def measure_agreement(
    session: Session,
    row: DatasetRow,
    *,
    by: str | None = None,
    resamples: int = RESAMPLES,
    seed: int | None = None,
    blind: Collection[int] = frozenset(),
    unseen_gold: Collection[int] = frozenset(),
    report_progress: Callable[[int, CoefficientValue], None] | None = None,
) -> AgreementReport:
    """Measure agreement in an open transaction. The caller has checked the role.

    `blind`: pairs that the reader may still judge. They are left out. `unseen_gold`: gold pairs that the reader
    may still judge. Answers on them are left out.
    """
    if not 0 <= resamples <= MAX_RESAMPLES:
        raise ValidationError(f"resamples: expected 0 to {MAX_RESAMPLES}, found {resamples}")
    if seed is None:
        seed = row.seed
    if seed < 0:
        raise ValidationError(f"seed: expected 0 or more, found {seed}")
    dataset_pk = key_of(row.pk)
    judgments = _name(session, read_grades(session, dataset_pk, blind))
    if report_progress:
        report_progress(*measure_first(judgments))
    with ThreadPoolExecutor(1) as beside:  # arithmetic on one core, while the database counts on another
        measuring = beside.submit(measure_whole, judgments, resamples=resamples, seed=seed)
        left_out = count_left_out(session, dataset_pk, blind)
        outdated = count_outdated(session, dataset_pk, blind)
        basis = ReportInput(
            dataset=row.name,
            kappa_target=row.kappa_target,
            grade_names=list_local_names(to_rubric(find_rubric(session, dataset_pk))),
            categories=_label(session, dataset_pk, "category", judgments),
            checks=_list_checks(session, dataset_pk, judgments, unseen_gold),
            resamples=resamples,
            seed=seed,
        )
        categories = measure_categories(judgments, basis.categories)
        labels = _label(session, dataset_pk, by, judgments) if by and by != "annotator" else None
        groups = measure_groups(judgments, by, labels, resamples=resamples, seed=seed)
        measured = measuring.result()
    report = make_report(judgments, basis, measured, groups, categories, left_out)
    return replace(report, outdated=outdated, blind_pairs=len({*blind, *unseen_gold}))


def measure_listed(
    grades: Mapping[tuple[str, str], Mapping[str, int]], *, resamples: int, seed: int
) -> dict[str, Any]:
    """Return the figures of `agreement --json` over judgments from a file, to verify a release.

    `grades`: the independent grades by (query_id, doc_id) and annotator, at least one for each pair.
    """
    names, measured = measure_pairs(grades, resamples=resamples, seed=seed)
    return {"annotators": names, **measured.figures_as_json()}


def read_stamp(database: Database, actor: Actor, dataset: str) -> FigureStamp:
    """Return a value that changes when a report would change, for callers that keep reports. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        unseen_gold = list_unseen_gold(session, dataset_pk, actor.person_id)
        changes = read_agreement_stamp(session, dataset_pk), unseen_gold
        stamp = stamp_figures(session, dataset_pk, actor.person_id, changes)
        return stamp._replace(reader=actor.person_id) if unseen_gold else stamp


def list_groupings(database: Database, actor: Actor, dataset: str) -> list[str]:
    """Return every field by which the dataset's agreement can be grouped. For leads."""
    with database.read() as session:
        return find_groupings(session, key_of(enter_dataset(session, actor, dataset, "lead").pk))


def list_selected_pairs(
    database: Database,
    actor: Actor,
    dataset: str,
    selection: PairSelection,
    *,
    limit: int,
    offset: int = 0,
    now: datetime,
) -> SelectedPairs:
    """Return the pairs behind a figure or a sentence, the largest difference first. For leads.

    Leaves out pairs that the lead may still judge; the lead can no longer judge a pair that is returned.
    Annotators have letters, as on the pair's page, unless the selection names them. Writes to the audit log
    if it names somebody.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        selected = select_pairs(session, dataset_pk, selection, limit=limit, offset=offset, blind=blind)
        reader = PairReader(actor.person_id, selected.named, row.order_seed)
        pairs = read_selected_pairs(session, dataset_pk, reader, selected.distances, selected.notes)
    _note_shown(database, dataset_pk, selected, reader, now=now)
    return SelectedPairs(selected.total, tuple(pairs), len(blind))


def iterate_selected_pairs(
    database: Database, actor: Actor, dataset: str, selection: PairSelection, *, now: datetime
) -> Iterator[SelectedPair]:
    """Yield all pairs of a selection, after all of them were noted as seen. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        selected = select_pairs(session, dataset_pk, selection, limit=None, blind=blind)
        reader = PairReader(actor.person_id, selected.named, row.order_seed)
    _note_shown(database, dataset_pk, selected, reader, now=now)

    def read() -> Iterator[SelectedPair]:
        for chunk in split_into_chunks(selected.distances, PAIRS_AT_ONCE):
            with database.read() as session:
                pairs = read_selected_pairs(session, dataset_pk, reader, chunk, selected.notes)
            yield from pairs

    return read()


def iterate_left_out_judgments(
    database: Database, actor: Actor, dataset: str, kind: str, *, now: datetime
) -> Iterator[ExcludedJudgment]:
    """Yield the judgments left out for one reason, in the order in which they were stored. For leads.

    `kind`: of an `ExclusionCount`. Leaves out pairs that the lead may still judge; the lead can no longer
    judge a pair that is shown.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        check_kind(kind)
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)

    def read() -> Iterator[ExcludedJudgment]:
        offset = 0
        while True:
            with database.read() as session:
                excluded = list_left_out(
                    session, dataset_pk, kind, limit=PAIRS_AT_ONCE, offset=offset, blind=blind
                )
                pks = find_pair_pks(session, {judgment.pair for judgment in excluded})
                hidden = list_to_judge(
                    session, actor.person_id, pks.values()
                )  # also without a current judgment
            if not excluded:
                return
            note_seen(database, set(pks.values()) - hidden, actor.person_id, now=now)
            yield from (judgment for judgment in excluded if pks[judgment.pair] not in hidden)
            offset += PAIRS_AT_ONCE

    return read()


def show_own_agreement(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    now: datetime,
    resamples: int = RESAMPLES,
) -> OwnAgreement:
    """Return how well the annotator agrees with all others together.

    The annotator can no longer change the grades of the pairs behind the figures. Raises NotAllowed unless
    the dataset's leads show the figures to annotators.
    """
    with open_dataset(database, actor, dataset, "annotator") as (session, row, dataset_pk):
        if not row.show_own_agreement:
            raise NotAllowed(
                say(
                    "The leads of {dataset} do not show this page to annotators. Ask a lead.", dataset=dataset
                )
            )
        person = require_person(actor)
        compared = choose_compared(list_compared_grades(session, dataset_pk, person, until=now - UNDER_WAY))
    own = {(item.query_pk, item.pair_pk, person, item.own_grade) for item in compared}
    others = [(item.query_pk, item.pair_pk, item.annotator_pk, item.grade) for item in compared]
    agreement = measure_own([*sorted(own), *others], person, resamples=resamples, seed=row.seed)
    if agreement.kappa is not None:
        note_seen(database, {item.pair_pk for item in compared if not item.decided}, person, now=now)
    return agreement


def compute_consensus(database: Database, actor: Actor, dataset: str, *, now: datetime) -> Consensus:
    """Return the estimated and the settled grade of each shared pair. For leads.

    An estimate settles nothing. Leaves out pairs that the lead may still judge.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        pairs, pks = list[ConsensusPair](), list[int]()
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        for state in iterate_pair_states(session, dataset_pk, blind):
            if len(state.grades) > 1:
                settled = state.settlement
                pairs.append(
                    ConsensusPair(state.query_id, state.doc_id, state.grades, settled.grade, settled.status)
                )
                pks.append(state.pair_pk)
        people = _read_people(session, sorted({pk for pair in pairs for pk in pair.grades}))
    consensus = compare_estimates(row.name, pairs, {pk: username for pk, (username, _) in people.items()})
    if consensus.pairs:
        note_seen(database, pks, actor.person_id, now=now)
    return consensus


def compare_version(
    database: Database,
    actor: Actor,
    dataset: str,
    version: int | None = None,
    *,
    resamples: int = RESAMPLES,
) -> VersionComparison | None:
    """Compare agreement before and since a guideline version, also by category. For leads.

    `version` None: the latest that decisions led to, else the latest. The categories are those of these
    decisions. Leaves out pairs that the lead may still judge. Returns None if there is only one version.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        numbers, led = read_versions(session, dataset_pk), count_decisions_behind(session, dataset_pk)
        versions = sorted(numbers.values())
        compared_version = choose_version(versions, led, version)
        if compared_version is None:
            return None
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        judgments = _name(session, read_grades(session, dataset_pk, blind))
        categories = _label(session, dataset_pk, "category", judgments)
    return compare_versions(
        judgments,
        look_up(judgments.rubric, numbers),
        categories,
        dataset=dataset,
        version_numbers=versions,
        led=led,
        version=compared_version,
        resamples=resamples,
        seed=row.seed,
    )


def write_estimates(target: Path, estimates: Consensus) -> None:
    """Write the estimates as CSV. InsufficientData if they did not converge; an old file then stays."""
    if not estimates.converged:
        raise InsufficientData(estimates.explain_none())
    write_file(target, write_estimate_rows(estimates))


def summarize_agreement(
    session: Session,
    row: DatasetRow,
    *,
    target: float | None = None,
    settled: PairSettlements | None = None,
    blind: Collection[int] = frozenset(),
) -> AgreementSummary:
    """Return the figures and the verdict of a report, without the slow diagnosis.

    `settled`: the dataset's pairs, if the caller has read them with the same `blind`: judgments are then not
    read again. `blind`: pairs to leave out, because the reader may still judge them. The caller has checked
    the role.
    """
    dataset_pk = key_of(row.pk)
    read = read_grades(session, dataset_pk, blind) if settled is None else select_grades(settled)
    judgments = _name(session, read)
    measured = measure_whole(judgments, resamples=RESAMPLES, seed=row.seed)
    left_out = () if measured.pairs else count_left_out(session, dataset_pk, blind)
    target = row.kappa_target if target is None else target
    verdict = judge(measured, target=target, unrateable=count_unrateable(left_out))
    simulated = judgments.simulated
    sentences = (verdict.sentence, describe_simulated(simulated)) if simulated else (verdict.sentence,)
    return AgreementSummary(measured, verdict, sentences)


def measure_for_release(
    session: Session,
    row: DatasetRow,
    settled: PairSettlements,
    *,
    by: str | None,
    pseudonyms: Mapping[int, str],
) -> tuple[dict[str, Any], AgreementVerdict]:
    """Return the figures that a release stores, in the shape of `agreement --json`, and the verdict for its gate.

    `settled`: all pairs of the dataset. `by`: a field of queries to group by, or None. `pseudonyms`: by person_pk, shown
    instead of usernames. The caller has checked the role.
    """
    dataset_pk = key_of(row.pk)
    judgments = _name(session, select_grades(settled), pseudonyms)
    measured = measure_whole(judgments, resamples=RESAMPLES, seed=row.seed)
    labels = _label(session, dataset_pk, by, judgments) if by else None
    groups = measure_groups(judgments, by, labels, resamples=RESAMPLES, seed=row.seed)
    left_out = () if measured.pairs else count_left_out(session, dataset_pk)
    verdict = judge(measured, target=row.kappa_target, unrateable=count_unrateable(left_out))
    figures = {
        "annotators": list(judgments.names),
        **measured.figures_as_json(),
        "groups": [group.as_json() for group in groups],
        "resamples": RESAMPLES,
        "seed": row.seed,
    }
    return figures, verdict


def measure_file(given: Iterable[tuple[str, str, str, int]]) -> MeasuredAgreement:
    """Measure how well the annotators in a file agree, from their (query_id, doc_id, annotator, grade)."""
    grades: dict[tuple[str, str], dict[str, int]] = {}
    for query_id, doc_id, annotator, grade in given:
        grades.setdefault((query_id, doc_id), {})[annotator] = grade
    return measure_pairs(grades, resamples=RESAMPLES, seed=0)[1]


def _note_shown(
    database: Database, dataset_pk: int, selected: SelectionResult, reader: PairReader, *, now: datetime
) -> None:
    """Note the pairs as seen by this reader, and the named annotators in the audit log."""
    shown = {distance.pair_pk for distance in selected.distances}
    if reader.person_pk is None or not shown:
        return
    note_seen(database, shown, reader.person_pk, now=now)
    note_named(database, dataset_pk, reader.person_pk, selected.named, pairs=len(shown), now=now)


def _name(session: Session, read: GradeRows, pseudonyms: Mapping[int, str] | None = None) -> NamedJudgments:
    return name_judged(read, _read_people(session, number(read.annotator)[0].tolist()), pseudonyms)


def _read_people(session: Session, pks: Sequence[int]) -> dict[int, tuple[str, bool]]:
    """Return username and whether simulated, by person_pk."""
    statement = select(col(PersonRow.pk), col(PersonRow.username), col(PersonRow.simulated))
    people = session.execute(statement.where(col(PersonRow.pk).in_(pks)))
    return {key_of(pk): (username, simulated) for pk, username, simulated in people}


def _list_checks(
    session: Session, dataset_pk: int, judgments: NamedJudgments, unseen_gold: Collection[int]
) -> list[AnnotatorResult]:
    """Return the annotators' results of gold pairs and repeats, under the names of the report."""
    names = dict(zip(judgments.people, judgments.names, strict=True))
    results = list_results(session, dataset_pk, unseen_gold)
    return [replace(result, annotator=names[pk]) for pk, result in results.items() if pk in names]


def _label(session: Session, dataset_pk: int, by: str, judgments: NamedJudgments) -> GroupLabels:
    """Return the groups of the judgments. Raises ValidationError for an unknown field."""
    judged = judgments.judged
    if by == "week":
        return label_by_week(judged, judgments.made_at)
    if by == "guideline_version":
        versions = read_versions(session, dataset_pk)
        return label_by_version(judged, look_up(judgments.rubric, versions))
    if by.startswith(DOCUMENT):
        documents, attributes = read_document_labels(session, dataset_pk, by)
        return label_by(look_up(judged.pair, documents), attributes)
    return label_by(judged.query, read_query_labels(session, dataset_pk, by))
