"""Evaluate run files against a ground-truth file, or imported runs against a dataset or a release.

Files need no database. In a database only leads may evaluate, because scores rest on grades and runs show
ranks.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from annotator.domain.errors import InsufficientData, ValidationError
from annotator.domain.ground_truth import GroundTruth
from annotator.domain.judgments import describe_blind_queries
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.evaluation.dataset_analysis.robustness import PairGrades, Robustness, measure_robustness
from annotator.evaluation.evaluate import Evaluation, EvaluationOptions, evaluate_runs, rank_systems
from annotator.evaluation.evaluation_sql import (
    choose_imported_runs,
    list_imported_runs,
    list_pairs_of_other_queries,
    list_query_ids_of_pairs,
    list_versions,
    read_document_fields,
    read_evaluation_stamp,
    read_imported_run,
    read_present_truth,
    read_published_truth,
    read_settled_truth,
)
from annotator.evaluation.profiles import DEFAULT_PROFILE, Profile, Target, find_profile
from annotator.evaluation.records import Order, RankedRun, RunFindings, Truth
from annotator.evaluation.run_files import RunReading, read_run
from annotator.evaluation.run_findings import (
    NO_GRADES,
    NO_RUNS,
    PROFILE,
    LeadingSystem,
    choose_ranking_measure,
    find_leading_system,
    sum_up_runs,
)
from annotator.evaluation.scores.scoring import ScoringOptions
from annotator.evaluation.scores.summary import list_group_fields
from annotator.evaluation.targets import TargetCheck, check_targets, list_measures_to_score, read_targets
from annotator.evaluation.truth_files import build_truth, read_truth_file
from annotator.formats.runs import name_by_file
from annotator.people.roles_service import open_dataset
from annotator.pooling.rounds.rounds_service import estimate_order_now
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import (
    FigureStamp,
    find_released,
    has_pairs_to_judge,
    list_blind_pairs,
    list_withheld,
    note_seen,
    split_published,
    stamp_figures,
)
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_settlements import read_settlements
from annotator.storage.pairs.pair_states import list_queries
from annotator.storage.pairs.published import find_release, list_published_queries

if TYPE_CHECKING:
    from annotator.pooling.rounds.pool_records import SystemOrder


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """The options of an evaluation.

    `profile`: None means the dataset's own profile, or `trec` for files. `targets_file`: its targets replace those
    of the profile.
    """

    profile: str | None = None
    order: Order | None = None  # None: the profile's
    scoring: ScoringOptions = field(default_factory=ScoringOptions)
    options: EvaluationOptions = field(default_factory=EvaluationOptions)
    targets_file: Path | None = None
    check_profile_targets: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationResult:
    """An evaluation with its robustness and checked targets.

    `source`: where the truth is, {"path": …} or {"dataset": …}. `expected_order`: the estimated order of the
    systems with everything judged. None unless adaptive rounds chose the pairs and the grades are those of
    today.
    """

    evaluation: Evaluation
    robustness: Robustness | None
    targets: tuple[TargetCheck, ...]
    source: Mapping[str, str]
    expected_order: "SystemOrder | None" = None


def evaluate_files(
    truth_path: Path,
    run_paths: Sequence[Path],
    request: EvaluationRequest,
    *,
    truth_format: str | None = None,
    grades_by: str | None = None,
    grades: Mapping[str, int | str] | None = None,
    reading: RunReading | None = None,
) -> EvaluationResult:
    """Evaluate run files against a release folder or a ground-truth file. Runs are read one at a time.

    Raises BadInput naming every bad line of the first bad file, and ValidationError if truth, runs and
    options do not match.
    """
    if not run_paths:
        raise ValidationError("expected at least one run file, found none")
    profile = find_profile(request.profile or DEFAULT_PROFILE)
    truth = read_truth_file(truth_path, format_name=truth_format, grades_by=grades_by, grades=grades)
    given = reading or RunReading()
    chosen = replace(given, order=request.order or profile.order)
    runs = _read_runs(run_paths, truth, chosen)
    return _evaluate(truth, runs, profile, request, source={"path": str(truth_path)})


def _read_runs(paths: Sequence[Path], truth: Truth, reading: RunReading) -> Iterator[RankedRun]:
    """Yield the run of each file.

    If an earlier run has the same system name, the run gets the file's name, and a note says so. Raises
    ValidationError if that name is taken too.
    """
    systems: set[str] = set()
    for path in paths:
        run = read_run(path, truth, reading)
        if run.system in systems:
            name = name_by_file(path)
            if name in systems:
                raise ValidationError(f"{path}: expected every system once, found {run.system!r} again")
            note = say("named after its file, because another run is also called {system}", system=run.system)
            run = replace(run, system=name, notes=(*run.notes, note))
        systems.add(run.system)
        yield run


def evaluate_dataset(
    database: Database,
    actor: Actor,
    dataset: str,
    request: EvaluationRequest,
    *,
    version: str | None = None,
    systems: Sequence[str] = (),
) -> EvaluationResult:
    """Evaluate imported runs against the grades of today or of a published version. For leads.

    Empty `systems`: all. Queries with a pair that the lead may still judge are in no figure. Raises NotFound
    for an unknown dataset, version or system, and InsufficientData if every judged query has such a pair.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        profile = find_profile(request.profile or row.profile)
        blind = find_blind_queries(session, dataset_pk, actor.person_id, version)
        truth, pairs = read_truth(session, dataset_pk, dataset, version, blind)
        _check_rest(truth)
        type_field = request.options.structure.type_field
        truth = replace(truth, document_fields=read_document_fields(session, dataset_pk, type_field))
        imported = choose_imported_runs(session, dataset_pk, dataset, systems)
        query_ids = {pk: query.query_id for pk, query in list_queries(session, dataset_pk).items()}
        order = request.order or profile.order
        runs = (read_imported_run(session, run, query_ids, order, with_signals=True) for run in imported)
        result = _evaluate(
            truth, _drop_blind_runs(runs, truth), profile, request, source={"dataset": dataset}, pairs=pairs
        )
        result = _hide_ranks(session, dataset_pk, actor, result)
        if version is not None:
            return result
        blind_pairs = list_blind_pairs(session, dataset_pk, actor.person_id)
        evaluated = {system.system for system in result.evaluation.systems}
        return _add_expected_order(result, estimate_order_now(session, dataset_pk, evaluated, blind_pairs))


def _hide_ranks(
    session: Session, dataset_pk: int, actor: Actor, result: EvaluationResult
) -> EvaluationResult:
    """Return the result without the ranks of unjudged documents that the reader may still judge."""
    analysis = result.evaluation.dataset
    if analysis.holes is None or not has_pairs_to_judge(session, dataset_pk, actor.person_id):
        return result
    names = {(hole.query_id, hole.doc_id) for hole in analysis.holes.holes}
    hidden_names, _ = split_published(session, dataset_pk, actor.person_id, names)
    holes = tuple(
        replace(hole, ranks={}) if (hole.query_id, hole.doc_id) in hidden_names else hole
        for hole in analysis.holes.holes
    )
    shown = replace(analysis, holes=replace(analysis.holes, holes=holes))
    return replace(result, evaluation=replace(result.evaluation, dataset=shown))


def _add_expected_order(result: EvaluationResult, order: "SystemOrder | None") -> EvaluationResult:
    """Add the expected order, and a sentence that says why it differs from the order of the scores."""
    if order is None:
        return result
    sentence = say(
        "Adaptive rounds chose the pairs, and the scores count unjudged documents as not relevant. To compare systems, "
        "use their expected order by {measure}, which begins with {first}.",
        measure=order.measure,
        first=order.systems[0].system,
    )
    evaluation = replace(result.evaluation, sentences=(sentence, *result.evaluation.sentences))
    return replace(result, evaluation=evaluation, expected_order=order)


def record_shown_grades(
    database: Database, actor: Actor, dataset: str, *, version: str | None = None, now: datetime
) -> None:
    """Record that a lead was shown the settled grades of a dataset, or the grades of a release.

    Operators are not recorded. Call it before writing a report that names relevant documents or scores single
    queries. Queries with a pair that the lead may still judge are not shown, and not recorded.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        if version is None:
            settled = read_settlements(session, dataset_pk)
            pair_pks = settled.pair[settled.map_settled() >= 0].tolist()
        else:
            pair_pks = find_released(
                session, dataset_pk, key_of(find_release(session, dataset_pk, version).pk)
            )
        blind = find_blind_queries(session, dataset_pk, actor.person_id, version)
        pair_pks = list_pairs_of_other_queries(session, dataset_pk, pair_pks, blind) if blind else pair_pks
    note_seen(database, pair_pks, actor.person_id, now=now)


def read_truth(
    session: Session,
    dataset_pk: int,
    dataset: str,
    version: str | None,
    blind: Collection[str] = frozenset(),
) -> tuple[Truth, list[PairGrades]]:
    """Return (truth, grades behind it by annotator), of a release or of today (`version` None).

    The second is empty for a release. `blind`: queries to leave out (`find_blind_queries`). The caller must
    check the role. Raises NotFound for an unknown version.
    """
    pairs: list[PairGrades] = []
    if version is None:
        content, pairs = read_present_truth(session, dataset_pk)
    else:
        release_pk = key_of(find_release(session, dataset_pk, version).pk)
        texts = list_published_queries(session, release_pk)
        content = read_published_truth(session, dataset_pk, release_pk, texts)
    pairs = [pair for pair in pairs if pair.query_id not in blind]
    return _build_without(content, dataset, version, blind), pairs


def _build_without(content: GroundTruth, dataset: str, version: str | None, blind: Collection[str]) -> Truth:
    """Build the truth without these queries, also in its checksum, from which a grade could be guessed."""
    if not blind:
        return build_truth(content, dataset, version=version)
    kept = replace(
        content,
        queries=tuple(query for query in content.queries if query.query_id not in blind),
        qrels=tuple(qrel for qrel in content.qrels if qrel.query_id not in blind),
    )
    left_out = {query.query_id: query.text for query in content.queries if query.query_id in blind}
    truth = build_truth(kept, dataset, version=version)
    return replace(truth, texts={**truth.texts, **left_out}, blind_queries=tuple(left_out))


def find_blind_queries(
    session: Session, dataset_pk: int, person_pk: int | None, version: str | None = None
) -> frozenset[str]:
    """Return the ids of queries with a graded pair that the person may still judge.

    `version` None: the grades of today. Evaluations leave out the whole query, because without single pairs a
    score would mean something else.
    """
    if version is not None:
        release_pk = key_of(find_release(session, dataset_pk, version).pk)
        withheld = list_withheld(session, dataset_pk, person_pk, release_pk)
        return frozenset(query_id for query_id, _ in withheld)
    pair_pks = list_blind_pairs(session, dataset_pk, person_pk)
    return list_query_ids_of_pairs(session, pair_pks) if pair_pks else frozenset()


def _check_rest(truth: Truth) -> None:
    """Raise InsufficientData if every graded query is hidden from this reader."""
    if truth.blind_queries and not any(truth.grades.values()):
        raise InsufficientData(
            say(
                "The systems cannot be scored for you: every query with a grade has a pair that you may still judge. "
                "Judge these pairs first."
            )
        )


def _drop_blind_runs(runs: Iterable[RankedRun], truth: Truth) -> Iterator[RankedRun]:
    """Leave out the runs that have results for hidden queries only."""
    blind = set(truth.blind_queries)
    return (run for run in runs if not blind or not blind.issuperset(run.query_ids))


def find_what_runs_tell(session: Session, dataset_pk: int, dataset: str) -> RunFindings:
    """Return what the grades of today can tell about the imported runs.

    The caller must check the role, and that a pair of the dataset has a settled grade.
    """
    runs = list_imported_runs(session, dataset_pk)
    if not runs:
        return RunFindings()
    truth, _ = read_truth(session, dataset_pk, dataset, None)
    query_ids = {pk: query.query_id for pk, query in list_queries(session, dataset_pk).items()}
    order = find_profile(PROFILE).order
    return sum_up_runs(truth, (read_imported_run(session, run, query_ids, order) for run in runs))


@dataclass(frozen=True, slots=True)
class EvaluationChoices:
    """What to choose from for an evaluation of a dataset. `fields`: queries can be grouped by them."""

    systems: tuple[str, ...]  # in the order of their import
    versions: tuple[str, ...]  # oldest first
    fields: tuple[str, ...]
    has_grades: bool  # today


def list_choices(database: Database, actor: Actor, dataset: str) -> EvaluationChoices:
    """Return the systems, releases and fields to choose from. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        queries = GroundTruth(queries=tuple(list_queries(session, dataset_pk).values()), qrels=())
        return EvaluationChoices(
            systems=tuple(run.system for run in list_imported_runs(session, dataset_pk)),
            versions=tuple(list_versions(session, dataset_pk)),
            fields=tuple(list_group_fields(build_truth(queries, dataset))),
            has_grades=bool(blind) or bool((read_settlements(session, dataset_pk).map_settled() >= 0).any()),
        )


def find_leader(database: Database, actor: Actor, dataset: str) -> LeadingSystem:
    """Return the imported system that leads on the settled grades of today. For leads.

    The measure is that of the dataset's profile (`choose_ranking_measure`). After adaptive rounds no system
    is named, because scores mislead; `why` then names the first system of the expected order.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        imported = list_imported_runs(session, dataset_pk)
        if not imported:
            return LeadingSystem(None, why=NO_RUNS)
        profile = find_profile(row.profile)
        measure = choose_ranking_measure(profile)
        blind = find_blind_queries(session, dataset_pk, actor.person_id)
        truth = _build_without(read_settled_truth(session, dataset_pk), dataset, None, blind)
        if not any(truth.grades.values()):
            return LeadingSystem(None, measure, why=NO_GRADES)
        blind_pairs = list_blind_pairs(session, dataset_pk, actor.person_id)
        expected = estimate_order_now(session, dataset_pk, {run.system for run in imported}, blind_pairs)
        if expected is not None:
            return LeadingSystem(
                None,
                expected.measure,
                why=say(
                    "{first} comes first in the expected order by {measure}. Adaptive rounds chose the pairs, so scores alone mislead.",
                    first=expected.systems[0].system,
                    measure=expected.measure,
                ),
            )
        query_ids = {pk: query.query_id for pk, query in list_queries(session, dataset_pk).items()}
        every = (read_imported_run(session, run, query_ids, profile.order) for run in imported)
        runs = _drop_blind_runs(every, truth)
        try:
            scoring = ScoringOptions(measures=(measure,), readings=False)
            ranking = rank_systems(truth, runs, profile, scoring=scoring)
        except ValidationError as error:
            return LeadingSystem(
                None, measure, why=say("The systems cannot be scored: {why}.", why=error.args[0])
            )
    return find_leading_system(ranking, measure)


def read_stamp(database: Database, actor: Actor, dataset: str) -> FigureStamp:
    """Return a value that changes whenever an evaluation would change, for caches. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        changes = read_evaluation_stamp(session, dataset_pk)
        stamp = stamp_figures(session, dataset_pk, actor.person_id, changes)
        may_judge = has_pairs_to_judge(session, dataset_pk, actor.person_id)
        return stamp._replace(reader=actor.person_id) if may_judge else stamp


def _evaluate(
    truth: Truth,
    runs: Iterable[RankedRun],
    profile: Profile,
    request: EvaluationRequest,
    *,
    source: Mapping[str, str],
    pairs: Sequence[PairGrades] = (),
) -> EvaluationResult:
    targets: tuple[Target, ...] = ()
    if request.targets_file is not None:
        targets = read_targets(request.targets_file, profile)
    elif request.check_profile_targets:
        targets = profile.targets
        if not targets:
            raise ValidationError(f"the profile {profile.name} has no targets; name a file (--targets FILE)")
    scoring = request.scoring
    if targets:
        names = list_measures_to_score(scoring.measures or profile.measures, targets)
        scoring = ScoringOptions(
            names, scoring.relevant_from, scoring.ideal, scoring.complete, scoring.readings
        )
    evaluation = evaluate_runs(truth, runs, profile, scoring=scoring, options=request.options)
    if truth.blind_queries:
        left_out = describe_blind_queries(len(truth.blind_queries))
        evaluation = replace(evaluation, sentences=(left_out, *evaluation.sentences))
    return EvaluationResult(
        evaluation,
        measure_robustness(evaluation, pairs),
        check_targets(evaluation.table, targets),
        source,
    )
