"""Measure how well annotators agree, for leads, for annotators' own work, and for the release gate.

Only current independent judgments with a grade count. Quality control, third judgments requested because two differed,
and adjudications do not; unrateable is the absence of a grade; a pair with one annotator adds nothing to agreement.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.agreement.consensus import ConsensusPair, compare_estimates
from annotator.agreement.consensus_records import Consensus
from annotator.agreement.diagnosis.speed import limit_quick
from annotator.agreement.diagnosis.verdict import judge
from annotator.agreement.grades_sql import (
    DOCUMENT,
    list_own_couples,
    read_agreement_stamp,
    read_document_labels,
    read_grades,
    read_query_labels,
    read_versions,
)
from annotator.agreement.grades_sql import GROUP_FIELDS as GROUP_FIELDS
from annotator.agreement.grades_sql import list_groupings as find_groupings
from annotator.agreement.html_charts import choose_pairs as choose_pairs
from annotator.agreement.html_report import render_report as render_report
from annotator.agreement.html_report import say_estimates as say_estimates
from annotator.agreement.judgment_table import (
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
    hide_left_out,
    list_left_out,
)
from annotator.agreement.measure import GivenGrade as GivenGrade
from annotator.agreement.measure import measure_given, measure_own
from annotator.agreement.pairs_behind_sql import PairReader, SelectedPairs, find_selected, show_behind
from annotator.agreement.records import (
    AgreementReport,
    AgreementVerdict,
    CoefficientValue,
    ExcludedJudgment,
    MeasuredAgreement,
    OwnAgreement,
    PairBehind,
    PairsBehind,
    PairSelection,
    SinceVersion,
)
from annotator.agreement.report import MOST_GROUPS as MOST_GROUPS
from annotator.agreement.report import (
    ReportInput,
    choose_version,
    compare_since,
    count_unrateable,
    make_report,
    measure_categories,
    measure_first,
    measure_groups,
    measure_whole,
    write_estimate_rows,
)
from annotator.agreement.report import check_target as check_target
from annotator.agreement.report import write_file as write_file
from annotator.domain.errors import InsufficientData, NotAllowed, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.guideline.feedback_sql import count_led
from annotator.labeling.calibration_service import list_results
from annotator.labeling.records import AnnotatorResult
from annotator.people.service import require_person, require_role
from annotator.storage.audit_log import AuditEvent, add_events
from annotator.storage.database import Database
from annotator.storage.disclosures import find_pair_pks, list_to_judge, note_seen
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.pair_states import iterate_pair_states
from annotator.storage.sql import split_into_chunks
from annotator.storage.tables import DatasetRow, PersonRow

MAX_RESAMPLES = 100_000
RESAMPLES = 1000  # unless another number is asked for
PAIRS_AT_ONCE = 10_000


def compute_agreement(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    by: str | None = None,
    resamples: int = RESAMPLES,
    seed: int | None = None,
    tell: Callable[[int, CoefficientValue], None] | None = None,
) -> AgreementReport:
    """Every coefficient with its 95 % interval, per annotator pair, for the dataset, and by group; what it all means.

    `by`: one of `list_groupings`. `resamples` 0 leaves the intervals out. `seed`: None for the dataset's, with which the
    verdict is that of a release's gate. Real usernames: for leads only. `tell`: gets the number of shared pairs and their
    kappa, yet without an interval, as soon as they are known.
    """
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        return measure_agreement(session, row, by=by, resamples=resamples, seed=seed, tell=tell)


def measure_agreement(
    session: Session,
    row: DatasetRow,
    *,
    by: str | None = None,
    resamples: int = RESAMPLES,
    seed: int | None = None,
    pseudonyms: Mapping[int, str] | None = None,
    tell: Callable[[int, CoefficientValue], None] | None = None,
) -> AgreementReport:
    """The same within a transaction that is open already; whoever calls it has checked the role.

    `pseudonyms` (by annotator_pk) stand for the usernames, in the diagnosis too; releases use them.
    """
    if not 0 <= resamples <= MAX_RESAMPLES:
        raise ValidationError(f"resamples: expected 0 to {MAX_RESAMPLES}, found {resamples}")
    if seed is None:
        seed = row.seed
    if seed < 0:
        raise ValidationError(f"seed: expected 0 or more, found {seed}")
    dataset_pk = key_of(row.pk)
    found = _find_judged(session, dataset_pk, pseudonyms)
    if tell:
        tell(*measure_first(found))
    with ThreadPoolExecutor(1) as beside:  # arithmetic on one core, while the database counts on another
        measuring = beside.submit(measure_whole, found, resamples=resamples, seed=seed)
        left_out, outdated = count_left_out(session, dataset_pk), count_outdated(session, dataset_pk)
        basis = ReportInput(
            dataset=row.name,
            kappa_target=row.kappa_target,
            grade_names=[entry["name"] for entry in find_rubric(session, dataset_pk).grades],
            by=by,
            groups=_label(session, dataset_pk, by, found) if by and by != "annotator" else None,
            categories=_label(session, dataset_pk, "category", found),
            checks=_list_checks(session, dataset_pk, found),
            resamples=resamples,
            seed=seed,
        )
        categories = measure_categories(found, basis.categories)
        groups = measure_groups(found, basis)
        measured = measuring.result()
    return replace(make_report(found, basis, measured, groups, categories, left_out), outdated=outdated)


def measure_listed(
    judgments: Iterable[tuple[str, str, str, int]], *, resamples: int, seed: int
) -> dict[str, Any]:
    """The figures of `agreement --json` over judgments that stand in a file: (query_id, doc_id, annotator, grade) of each
    independent one that carries a grade. No database: whoever verifies a release has none."""
    given = [GivenGrade(*one) for one in judgments]
    names = sorted({one.annotator for one in given})
    found = measure_given(given, resamples=resamples, seed=seed)
    return {"annotators": names, **found.figures_as_json()}


def read_stamp(database: Database, actor: Actor, dataset: str) -> Hashable:
    """A value that differs when a report would: for whoever keeps one. For leads."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        return (dataset_pk, read_agreement_stamp(session, dataset_pk))


def list_groupings(database: Database, actor: Actor, dataset: str) -> list[str]:
    """Everything that the dataset's agreement can be grouped by. For leads."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        return find_groupings(session, dataset_pk)


def list_pairs_behind(
    database: Database,
    actor: Actor,
    dataset: str,
    selection: PairSelection,
    *,
    limit: int,
    offset: int = 0,
    now: datetime,
) -> PairsBehind:
    """The pairs that a figure or a sentence is about: the furthest apart first, then in the queries' order. For leads,
    who see nothing of a pair that they have still to judge themselves, and judge none any more that they have seen here.

    Annotators have letters, as on the pair's case, but for those whom the selection names: that a lead looked at these is
    kept in the trail.
    """
    with database.read() as session:
        row = _find_led(session, actor, dataset)
        chosen = find_selected(
            session, key_of(row.pk), selection, limit=limit, offset=offset, limit_quick=limit_quick
        )
        reader = _find_reader(session, actor, row, chosen)
        pairs = show_behind(session, key_of(row.pk), reader, chosen.found, chosen.notes)
    _note_shown(database, key_of(row.pk), chosen, reader, now=now)
    return PairsBehind(chosen.total, tuple(pairs))


def iterate_pairs_behind(
    database: Database, actor: Actor, dataset: str, selection: PairSelection, *, now: datetime
) -> Iterator[PairBehind]:
    """All of them, read piece by piece; what is about to be shown is noted before the first. For leads."""
    with database.read() as session:
        row = _find_led(session, actor, dataset)
        dataset_pk = key_of(row.pk)
        chosen = find_selected(session, dataset_pk, selection, limit=None, limit_quick=limit_quick)
        reader = _find_reader(session, actor, row, chosen)
    _note_shown(database, dataset_pk, chosen, reader, now=now)

    def read() -> Iterator[PairBehind]:
        for some in split_into_chunks(chosen.found, PAIRS_AT_ONCE):
            with database.read() as session:
                pairs = show_behind(session, dataset_pk, reader, some, chosen.notes)
            yield from pairs

    return read()


def iterate_left_out_judgments(
    database: Database, actor: Actor, dataset: str, kind: str, *, now: datetime
) -> Iterator[ExcludedJudgment]:
    """Judgments that are left out for this reason (`LeftOut.kind`), in the order in which they came in, read piece by
    piece. For leads: nothing of a pair that they have still to judge; what they are shown they judge no more."""
    with database.read() as session:
        dataset_pk = key_of(_find_led(session, actor, dataset).pk)
        check_kind(kind)

    def read() -> Iterator[ExcludedJudgment]:
        offset = 0
        while True:
            with database.read() as session:
                found = list_left_out(session, dataset_pk, kind, limit=PAIRS_AT_ONCE, offset=offset)
                pks = find_pair_pks(session, {one.pair for one in found})
                hidden = list_to_judge(session, actor.person_id, pks.values())
            if not found:
                return
            note_seen(database, set(pks.values()) - hidden, actor.person_id, now=now)
            yield from (hide_left_out(one) if pks[one.pair] in hidden else one for one in found)
            offset += PAIRS_AT_ONCE

    return read()


def show_own_agreement(
    database: Database, actor: Actor, dataset: str, *, resamples: int = RESAMPLES, seed: int | None = None
) -> OwnAgreement:
    """How well the annotator agrees with all others together (`seed`: None for the dataset's). NotAllowed unless the
    dataset's leads allow it."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "annotator")
        if not row.show_own_agreement:
            raise NotAllowed(
                say("the leads of {dataset} have not opened this to annotators", dataset=dataset)
            )
        person = require_person(actor)
        rows = list_own_couples(session, key_of(row.pk), person)
    return measure_own(rows, person, resamples=resamples, seed=row.seed if seed is None else seed)


def compute_consensus(database: Database, actor: Actor, dataset: str, *, now: datetime) -> Consensus:
    """Estimates of the grade behind the judgments of each shared pair, beside what settled it. For leads, to compare with
    what they decided: an estimate settles nothing. Pairs that the lead has still to judge count, and are not listed."""
    with database.read() as session:
        row = _find_led(session, actor, dataset)
        pairs, pks = list[ConsensusPair](), list[int]()
        for state in iterate_pair_states(session, key_of(row.pk)):
            if len(state.grades) > 1:
                settled = state.settlement
                pairs.append(
                    ConsensusPair(state.query_id, state.doc_id, state.grades, settled.grade, settled.status)
                )
                pks.append(state.pair_pk)
        people = _read_people(session, sorted({pk for pair in pairs for pk in pair.grades}))
        hidden = list_to_judge(session, actor.person_id, pks)
    found = compare_estimates(row.name, pairs, {pk: username for pk, (username, _) in people.items()})
    if not found.pairs:
        return found
    note_seen(database, set(pks) - hidden, actor.person_id, now=now)
    if not hidden:
        return found
    told = [pair for pair, pk in zip(found.pairs, pks, strict=True) if pk not in hidden]
    return replace(found, pairs=told)


def compare_version(
    database: Database,
    actor: Actor,
    dataset: str,
    version: int | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int | None = None,
) -> SinceVersion | None:
    """Agreement before and since a version of the guideline (None: the latest that decisions led to, else the latest), of
    the dataset and of the categories of those decisions; None where there is but one version. `seed`: None for the
    dataset's. For leads."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "lead")
        numbers, led = read_versions(session, dataset_pk), count_led(session, dataset_pk)
        known = sorted(numbers.values())
        chosen = choose_version(known, led, version)
        if chosen is None:
            return None
        found = _find_judged(session, dataset_pk)
        categories = _label(session, dataset_pk, "category", found)
    return compare_since(
        found,
        look_up(found.rubric, numbers),
        categories,
        dataset=dataset,
        known=known,
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
    """The report as a page that stands by itself (`render_report`), in this file."""
    write_file(target, [render_report(report, made_at=made_at, program=program, estimates=estimates)])


def write_estimates(target: Path, estimates: Consensus) -> None:
    """The estimates as CSV, in this file. InsufficientData where they did not converge: the file stays as it was."""
    if not estimates.converged:
        raise InsufficientData(estimates.explain_none())
    write_file(target, write_estimate_rows(estimates))


def compute_verdict(session: Session, row: DatasetRow) -> AgreementVerdict:
    """Whether the dataset's kappa meets its target: what the gate of a release goes by.

    The same verdict as that of a report with the dataset's seed, without what else a report takes. Whoever calls it has
    checked the role.
    """
    dataset_pk = key_of(row.pk)
    measured = measure_whole(_find_judged(session, dataset_pk), resamples=RESAMPLES, seed=row.seed)
    left_out = () if measured.pairs else count_left_out(session, dataset_pk)
    return judge(measured, target=row.kappa_target, unrateable=count_unrateable(left_out))


def find_verdict(report: AgreementReport, row: DatasetRow) -> AgreementVerdict | None:
    """The report's verdict, where the gate of a release would draw the same one from the same judgments: whether the report is
    of the present ones, its caller knows."""
    same = (report.seed, report.resamples, report.kappa_target) == (row.seed, RESAMPLES, row.kappa_target)
    return report.verdict if same else None


def measure_file(given: Sequence[GivenGrade]) -> MeasuredAgreement:
    """How well the annotators agree whose grades a file holds: the figures that a dataset of these judgments would have."""
    return measure_given(given, resamples=RESAMPLES, seed=0)


def _find_led(session: Session, actor: Actor, dataset: str) -> DatasetRow:
    row = find_dataset(session, dataset)
    require_role(session, actor, key_of(row.pk), "lead")
    return row


def _find_reader(session: Session, actor: Actor, row: DatasetRow, chosen: SelectedPairs) -> PairReader:
    """Who reads these pairs, and what is hidden from them."""
    hidden = list_to_judge(session, actor.person_id, [one.pair_pk for one in chosen.found])
    return PairReader(actor.person_id, chosen.named, hidden, row.seed)


def _note_shown(
    database: Database, dataset_pk: int, chosen: SelectedPairs, reader: PairReader, *, now: datetime
) -> None:
    """Note what this reader is about to be shown, and whose names."""
    shown = {one.pair_pk for one in chosen.found} - set(reader.hidden)
    if reader.person_pk is None or not shown:
        return
    note_seen(database, shown, reader.person_pk, now=now)
    if chosen.named:
        told = {"annotators": list(chosen.named), "pairs": len(shown)}
        with database.write() as session:
            add_events(
                session, [AuditEvent("looked up names", dataset_pk, reader.person_pk, now, after=told)]
            )


def _find_judged(
    session: Session, dataset_pk: int, pseudonyms: Mapping[int, str] | None = None
) -> NamedJudgments:
    """Every judgment that counts."""
    read = read_grades(session, dataset_pk)
    return name_judged(read, _read_people(session, number(read.annotator)[0].tolist()), pseudonyms)


def _read_people(session: Session, pks: Sequence[int]) -> dict[int, tuple[str, bool]]:
    """Username and whether simulated, by person's key."""
    statement = select(col(PersonRow.pk), col(PersonRow.username), col(PersonRow.simulated))
    people = session.execute(statement.where(col(PersonRow.pk).in_(pks)))
    return {key_of(pk): (username, simulated) for pk, username, simulated in people}


def _list_checks(session: Session, dataset_pk: int, found: NamedJudgments) -> list[AnnotatorResult]:
    """What the checks show of the annotators, under the names that the report uses."""
    names = dict(zip(found.people, found.names, strict=True))
    results = list_results(session, dataset_pk)
    return [replace(result, annotator=names[pk]) for pk, result in results.items() if pk in names]


def _label(session: Session, dataset_pk: int, by: str, found: NamedJudgments) -> GroupLabels:
    """How the judgments are grouped. ValidationError for what nothing can be grouped by."""
    judged = found.judged
    if by == "week":
        return label_by_week(judged, found.made_at)
    if by == "guideline_version":
        versions = read_versions(session, dataset_pk)
        return label_by_version(judged, look_up(found.rubric, versions))
    if by.startswith(DOCUMENT):
        documents, attributes = read_document_labels(session, dataset_pk, by)
        return label_by(look_up(judged.pair, documents), attributes)
    return label_by(judged.query, read_query_labels(session, dataset_pk, by))
