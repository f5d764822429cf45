"""Measure how well annotators agree, for leads, for annotators' own work, and for the release gate.

Only current independent judgments with a grade count. Quality control, third judgments requested because two differed,
and adjudications do not; unrateable is the absence of a grade; a pair with one annotator adds nothing to agreement.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
from annotator.agreement.html_report import render_report
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
from annotator.agreement.measure import measure_given, measure_own, measure_pairs
from annotator.agreement.own_agreement import choose_compared
from annotator.agreement.records import (
    AgreementReport,
    AgreementSummary,
    AgreementVerdict,
    CoefficientValue,
    ExcludedJudgment,
    GivenGrade,
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
from annotator.labeling.records import AnnotatorResult
from annotator.people.roles_service import require_person, require_role
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
from annotator.storage.lookup import find_dataset, find_rubric, key_of, to_rubric
from annotator.storage.pairs.pair_settlements import PairSettlements
from annotator.storage.pairs.pair_states import iterate_pair_states
from annotator.storage.sql import split_into_chunks
from annotator.storage.tables.central import DatasetRow, PersonRow

MAX_RESAMPLES = 100_000
RESAMPLES = 1000  # unless another number is asked for
PAIRS_AT_ONCE = 10_000
UNDER_WAY = timedelta(minutes=1)
"""Judgments received since then may still be in a transaction, so their order is not final."""


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
    """Measure the agreement of a dataset, by annotator pair and by group, with 95 % intervals and diagnosis. For
    leads.

    Pairs that the lead may still judge are left out of every figure. `by`: one of `list_groupings`. `resamples` 0 leaves the intervals out. `seed`: None for the dataset's, with which
    the verdict is that of a release's gate. The report has real usernames. `report_progress` is called with the number of shared
    pairs and their kappa without an interval, as soon as they are known.
    """
    with database.read() as session:
        row = _find_led(session, actor, dataset)
        blind = list_blind_pairs(session, key_of(row.pk), actor.person_id)
        return measure_agreement(
            session, row, by=by, resamples=resamples, seed=seed, blind=blind, report_progress=report_progress
        )


def measure_agreement(
    session: Session,
    row: DatasetRow,
    *,
    by: str | None = None,
    resamples: int = RESAMPLES,
    seed: int | None = None,
    pseudonyms: Mapping[int, str] | None = None,
    blind: Collection[int] = frozenset(),
    report_progress: Callable[[int, CoefficientValue], None] | None = None,
) -> AgreementReport:
    """Measure agreement in an open transaction. The caller has checked the role.

    `pseudonyms` (by annotator_pk) replace the usernames, also in the diagnosis; releases use them. `blind`: pairs to leave
    out, because the reader may still judge them.
    """
    if not 0 <= resamples <= MAX_RESAMPLES:
        raise ValidationError(f"resamples: expected 0 to {MAX_RESAMPLES}, found {resamples}")
    if seed is None:
        seed = row.seed
    if seed < 0:
        raise ValidationError(f"seed: expected 0 or more, found {seed}")
    dataset_pk = key_of(row.pk)
    judgments = _find_judged(session, dataset_pk, pseudonyms, blind)
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
            by=by,
            groups=_label(session, dataset_pk, by, judgments) if by and by != "annotator" else None,
            categories=_label(session, dataset_pk, "category", judgments),
            checks=_list_checks(session, dataset_pk, judgments),
            resamples=resamples,
            seed=seed,
        )
        categories = measure_categories(judgments, basis.categories)
        groups = measure_groups(judgments, basis)
        measured = measuring.result()
    report = make_report(judgments, basis, measured, groups, categories, left_out)
    return replace(report, outdated=outdated, blind_pairs=len(blind))


def measure_listed(
    grades: Mapping[tuple[str, str], Mapping[str, int]], *, resamples: int, seed: int
) -> dict[str, Any]:
    """Return the figures of `agreement --json` over judgments from a file, without a database.

    `grades`: the independent grades of each pair by annotator, at least one, by query_id and doc_id. Pairs that are judged alike may
    share one object. For verifying a release.
    """
    names, measured = measure_pairs(grades, resamples=resamples, seed=seed)
    return {"annotators": names, **measured.figures_as_json()}


def read_stamp(database: Database, actor: Actor, dataset: str) -> FigureStamp:
    """Return a value that changes when a report would change, for callers that keep one. For leads."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        changes = read_agreement_stamp(session, dataset_pk)
        return stamp_figures(session, dataset_pk, actor.person_id, changes)


def list_groupings(database: Database, actor: Actor, dataset: str) -> list[str]:
    """Return every field by which the dataset's agreement can be grouped. For leads."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        return find_groupings(session, dataset_pk)


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
    """Return the pairs that a figure or a sentence is about, the furthest apart first, then in the queries' order.
    For leads.

    Pairs that the lead may still judge are left out and not counted; a lead may no longer judge a pair seen here.
    Annotators have letters, as on the pair's page, unless the selection names them; that a lead looked at named annotators is written
    to the audit log.
    """
    with database.read() as session:
        row = _find_led(session, actor, dataset)
        blind = list_blind_pairs(session, key_of(row.pk), actor.person_id)
        chosen = select_pairs(
            session,
            key_of(row.pk),
            selection,
            limit=limit,
            offset=offset,
            blind=blind,
        )
        reader = PairReader(actor.person_id, chosen.named, row.order_seed)
        pairs = read_selected_pairs(session, key_of(row.pk), reader, chosen.distances, chosen.notes)
    _note_shown(database, key_of(row.pk), chosen, reader, now=now)
    return SelectedPairs(chosen.total, tuple(pairs), len(blind))


def iterate_selected_pairs(
    database: Database, actor: Actor, dataset: str, selection: PairSelection, *, now: datetime
) -> Iterator[SelectedPair]:
    """Yield all pairs of a selection, read in chunks. Notes what is shown before the first pair. For leads."""
    with database.read() as session:
        row = _find_led(session, actor, dataset)
        dataset_pk = key_of(row.pk)
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        chosen = select_pairs(session, dataset_pk, selection, limit=None, blind=blind)
        reader = PairReader(actor.person_id, chosen.named, row.order_seed)
    _note_shown(database, dataset_pk, chosen, reader, now=now)

    def read() -> Iterator[SelectedPair]:
        for chunk in split_into_chunks(chosen.distances, PAIRS_AT_ONCE):
            with database.read() as session:
                pairs = read_selected_pairs(session, dataset_pk, reader, chunk, chosen.notes)
            yield from pairs

    return read()


def iterate_left_out_judgments(
    database: Database, actor: Actor, dataset: str, kind: str, *, now: datetime
) -> Iterator[ExcludedJudgment]:
    """Yield the judgments left out for this reason (`ExclusionCount.kind`), in the order in which they were stored.
    For leads.

    Leaves out pairs that the lead may still judge; a lead may no longer judge a pair shown here.
    """
    with database.read() as session:
        dataset_pk = key_of(_find_led(session, actor, dataset).pk)
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
    seed: int | None = None,
) -> OwnAgreement:
    """Return how well the annotator agrees with all others together. `seed`: None for the dataset's.

    The pairs behind the figures count as seen: the annotator can no longer change their grades. Raises NotAllowed unless
    the dataset's leads allow it.
    """
    with database.read() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "annotator")
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
    seed = row.seed if seed is None else seed
    agreement = measure_own([*sorted(own), *others], person, resamples=resamples, seed=seed)
    if agreement.kappa is not None:
        note_seen(database, {item.pair_pk for item in compared if not item.decided}, person, now=now)
    return agreement


def compute_consensus(database: Database, actor: Actor, dataset: str, *, now: datetime) -> Consensus:
    """Return estimates of the grade of each shared pair, beside its settled grade. For leads, to compare with
    decisions.

    An estimate settles nothing. Pairs that the lead may still judge are left out.
    """
    with database.read() as session:
        row = _find_led(session, actor, dataset)
        pairs, pks = list[ConsensusPair](), list[int]()
        blind = list_blind_pairs(session, key_of(row.pk), actor.person_id)
        for state in iterate_pair_states(session, key_of(row.pk), blind):
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
    seed: int | None = None,
) -> VersionComparison | None:
    """Compare agreement before and since a version of the guideline, in the dataset and by category. For leads.

    `version` None: the latest that decisions led to, else the latest. The categories are those of these decisions.
    Pairs that the lead may still judge are left out. None if there is only one version. `seed`: None for the dataset's.
    """
    with database.read() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "lead")
        numbers, led = read_versions(session, dataset_pk), count_decisions_behind(session, dataset_pk)
        versions = sorted(numbers.values())
        chosen = choose_version(versions, led, version)
        if chosen is None:
            return None
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        judgments = _find_judged(session, dataset_pk, blind=blind)
        categories = _label(session, dataset_pk, "category", judgments)
    return compare_versions(
        judgments,
        look_up(judgments.rubric, numbers),
        categories,
        dataset=dataset,
        version_numbers=versions,
        led=led,
        version=chosen,
        resamples=resamples,
        seed=row.seed if seed is None else seed,
    )


def write_report(
    target: Path,
    report: AgreementReport,
    *,
    made_at: datetime,
    program: str,
    estimates: Consensus | None = None,
) -> None:
    """Write the report as one self-contained HTML page (see `render_report`)."""
    write_file(target, [render_report(report, made_at=made_at, program=program, estimates=estimates)])


def write_estimates(target: Path, estimates: Consensus) -> None:
    """Write the estimates as CSV. Raises InsufficientData if they did not converge; an existing file then stays as it
    was."""
    if not estimates.converged:
        raise InsufficientData(estimates.explain_none())
    write_file(target, write_estimate_rows(estimates))


def compute_verdict(
    session: Session,
    row: DatasetRow,
    *,
    target: float | None = None,
    settled: PairSettlements | None = None,
    blind: Collection[int] = frozenset(),
) -> AgreementVerdict:
    """Return whether the dataset's kappa meets its target, for the gate of a release. `target`: another one than its own.

    See `summarize_agreement`.
    """
    return summarize_agreement(session, row, target=target, settled=settled, blind=blind).verdict


def summarize_agreement(
    session: Session,
    row: DatasetRow,
    *,
    target: float | None = None,
    settled: PairSettlements | None = None,
    blind: Collection[int] = frozenset(),
) -> AgreementSummary:
    """Return the verdict and the figures of a report with the dataset's seed, in a fraction of a report's time.

    `settled`: the dataset's pairs, if the caller has read them with the same `blind`, so that the judgments are not read
    again. `blind`: pairs to leave out, because the reader may still judge them. The caller has checked the role.
    """
    dataset_pk = key_of(row.pk)
    read = read_grades(session, dataset_pk, blind) if settled is None else select_grades(settled)
    judgments = _name(session, read)
    measured = measure_whole(judgments, resamples=RESAMPLES, seed=row.seed)
    left_out = () if measured.pairs else count_left_out(session, dataset_pk, blind)
    wanted = row.kappa_target if target is None else target
    verdict = judge(measured, target=wanted, unrateable=count_unrateable(left_out))
    simulated = judgments.simulated
    sentences = (verdict.sentence, describe_simulated(simulated)) if simulated else (verdict.sentence,)
    return AgreementSummary(measured, verdict, sentences)


def measure_file(given: Sequence[GivenGrade]) -> MeasuredAgreement:
    """Measure how well the annotators in a file agree, as for a dataset with these judgments."""
    return measure_given(given, resamples=RESAMPLES, seed=0)


def _find_led(session: Session, actor: Actor, dataset: str) -> DatasetRow:
    row = find_dataset(session, dataset)
    require_role(session, actor, key_of(row.pk), "lead")
    return row


def _note_shown(
    database: Database, dataset_pk: int, chosen: SelectionResult, reader: PairReader, *, now: datetime
) -> None:
    """Note what this reader is about to be shown, and whose names."""
    shown = {distance.pair_pk for distance in chosen.distances}
    if reader.person_pk is None or not shown:
        return
    note_seen(database, shown, reader.person_pk, now=now)
    note_named(database, dataset_pk, reader.person_pk, chosen.named, pairs=len(shown), now=now)


def _find_judged(
    session: Session,
    dataset_pk: int,
    pseudonyms: Mapping[int, str] | None = None,
    blind: Collection[int] = frozenset(),
) -> NamedJudgments:
    """Return every judgment that counts, without those of the pairs in `blind`."""
    return _name(session, read_grades(session, dataset_pk, blind), pseudonyms)


def _name(session: Session, read: GradeRows, pseudonyms: Mapping[int, str] | None = None) -> NamedJudgments:
    return name_judged(read, _read_people(session, number(read.annotator)[0].tolist()), pseudonyms)


def _read_people(session: Session, pks: Sequence[int]) -> dict[int, tuple[str, bool]]:
    """Return username and whether simulated, by person_pk."""
    statement = select(col(PersonRow.pk), col(PersonRow.username), col(PersonRow.simulated))
    people = session.execute(statement.where(col(PersonRow.pk).in_(pks)))
    return {key_of(pk): (username, simulated) for pk, username, simulated in people}


def _list_checks(session: Session, dataset_pk: int, judgments: NamedJudgments) -> list[AnnotatorResult]:
    """Return the annotators' results of checks, under the names that the report uses."""
    names = dict(zip(judgments.people, judgments.names, strict=True))
    results = list_results(session, dataset_pk)
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
