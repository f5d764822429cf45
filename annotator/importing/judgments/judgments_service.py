"""Import external judgments, for a lead. Checks and errors as in `texts_service.py`."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from annotator.domain.errors import ConflictError, Problems, refuse
from annotator.domain.ground_truth import JudgmentLine, Qrel
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.messages import say, say_n
from annotator.domain.people import Actor
from annotator.domain.texts import match_names, show_id
from annotator.domain.usernames import find_username_fault
from annotator.formats.judgments import read_judgments
from annotator.formats.syntax.grade_scale import GradeScale, parse_mapping
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import ColumnNames, read_table
from annotator.importing.judgments import judgments_sql
from annotator.importing.judgments.judgment_plan import (
    EventPlan,
    ImportedJudgmentEvent,
    check_respelled,
    check_targets,
    draw_event_id,
    find_stored,
    list_overtaken,
    name_line_as_before,
    note_respelled,
    plan_events,
    repeat_event,
)
from annotator.importing.judgments.provenance import refuse_annotators, split_declaration
from annotator.importing.judgments.qrel_plan import (
    QrelFile,
    check_earlier_names,
    list_annotator_lines,
    match_judgments,
    match_qrels,
    name_annotators,
    note_annotators,
    note_plan,
    note_same_names,
    plan_qrels,
    read_qrel_source,
    to_qrel_rows,
)
from annotator.importing.report import (
    ImportReport,
    Progress,
    be_silent,
    count_contradicting,
    count_mapped,
    list_some,
    note_by_id,
    note_contradicting,
    note_joined,
    require_content,
)
from annotator.importing.runs.run_plan import RESERVED
from annotator.importing.texts.text_plan import QueryText
from annotator.importing.texts.texts_sql import add_documents_by_id, list_query_texts, list_replaced
from annotator.importing.transaction_sql import (
    ImportTransaction,
    list_given_options,
    open_import,
    record_declaration,
    record_import,
)
from annotator.storage.database import Database
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.lookup import find_look_alikes, find_rubric, key_of, list_usernames
from annotator.storage.pairs.pair_states import bring_in, list_judged, list_known_qrels
from annotator.storage.pairs.pool import add_missing
from annotator.storage.tables.central import DatasetRow

MOST_NEWCOMERS = 2_000
"""People that a lead's file may create: their usernames are taken in the whole installation."""
NAMES_SHOWN = 20


def import_judgments(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    format_name: str | None = None,
    encoding: str | None = None,
    simulated: bool = False,
    map_grades: str | None = None,
    columns: ColumnNames | None = None,
    declared: Mapping[str, Any] | None = None,
    dry_run: bool = False,
    report_progress: Progress = be_silent,
) -> ImportReport:
    """Import judgments from CSV, TSV or JSONL. The report's `changed` counts revisions of earlier judgments.

    An annotator is the person of the same name, ignoring case, width and white space (see `fold`). An unknown
    annotator becomes a person without a sign-in (marked as simulated if `simulated`). A pair outside the pool
    joins it. `map_grades` reads other scales (`formats/syntax/grade_scale.py`). `declared`: how the judgments
    were made (`provenance.py`); if the file was imported before, it is stored with that import. Refused: an
    unknown query, a pair that a lead has settled, a time in the future, and, unless the operator imports it,
    a new judgment of a person who can sign in: otherwise the first person to take an annotator's name would
    own these grades.
    """
    refuse_annotators(declared, use="this file names its annotators itself")
    scale = GradeScale(parse_mapping(map_grades))
    report_progress(say("reading {path}", path=path))
    source = InputSource(str(path), encoding=encoding)
    data = read_table(source, kind=format_name)
    lines = read_judgments(data, str(path), kind=format_name, scale=scale, names=columns)
    require_content(len(lines), str(path), "judgments")
    with open_import(database, actor, dataset, now=now, dry_run=dry_run, reading=True) as transaction:
        plan, note = plan_judgments(transaction, lines, str(path))
        stored = _look_up(transaction, plan.events, str(path))
    with open_import(database, actor, dataset, now=now, dry_run=dry_run) as transaction:
        new = prepare_new_judgments(
            transaction,
            plan.events,
            path,
            stored=stored,
            simulated=simulated,
            report_progress=report_progress,
        )
        options = list_given_options(
            simulated=simulated, map_grades=scale.mapping, columns=dict(columns or {})
        )
        return store_judgments(
            transaction,
            new,
            str(path),
            read=len(lines),
            notes=(*scale.note_mapped(), *note, *new.notes, *note_contradicting(plan.contradicting)),
            figures={**count_contradicting(plan.contradicting), **count_mapped(scale.figures)},
            sha256=source.sha256,
            format_name=format_name,
            options=options,
            declared=declared,
        )


def plan_judgments(
    transaction: ImportTransaction, lines: Sequence[JudgmentLine], path: str
) -> tuple[EventPlan, tuple[str, ...]]:
    """Return the events of the lines with usernames, and notes on other spellings of these names."""
    names = dict.fromkeys(line.annotator for line in lines)
    persons = match_names(names, list_usernames(transaction.session))
    return plan_events(lines, path, now=transaction.now, persons=persons), note_respelled(persons)


@dataclass(frozen=True, slots=True)
class NewJudgments:
    """Judgments of a file that are not stored yet. Their people, documents and pairs are stored."""

    rows: Sequence[Mapping[str, Any]]  # see `judgments_sql.add_judgments`
    revisions: int  # how many revise an earlier judgment
    notes: tuple[str, ...]  # for people: what came with them

    @property
    def count(self) -> int:
        return len(self.rows)


def prepare_new_judgments(
    transaction: ImportTransaction,
    events: Sequence[ImportedJudgmentEvent],
    path: Path,
    *,
    stored: Set[str] = frozenset(),
    simulated: bool = False,
    report_progress: Progress = be_silent,
) -> NewJudgments:
    """Choose the events that are not stored yet, and store their new people, documents and pairs.

    `stored`: the names of lines that are known to be stored; they stay so. BadInput names every event that
    cannot be stored (see `find_stored` and `check_targets`).
    """
    session, dataset_pk, now = transaction.session, transaction.dataset_pk, transaction.now
    unknown = [event for event in events if event.line_id not in stored]
    stored = stored | _look_up(transaction, unknown, str(path))
    events = _choose_new_events(transaction, events, stored, str(path))
    report_progress(say_n("storing {n:,} judgment", "storing {n:,} judgments", len(events)))
    queries = list_query_texts(session, dataset_pk)
    usernames = list(dict.fromkeys(event.username for event in events))
    annotators = judgments_sql.find_annotators(session, usernames)
    newcomers = [name for name in usernames if name not in annotators]
    if len(newcomers) > MOST_NEWCOMERS and not transaction.actor.is_operator:
        expected = say("at most {most:,} new annotators in a file", most=MOST_NEWCOMERS)
        raise refuse(str(path), None, expected, f"{len(newcomers):,}")
    _check_newcomers(events, newcomers, str(path))
    check_targets(
        events,
        str(path),
        query_ids=queries,
        adjudicated=judgments_sql.list_adjudicated_pairs(session, dataset_pk),
        namesakes=find_look_alikes(session, newcomers) if newcomers else {},
        real_people=[
            name for name, annotator in annotators.items() if simulated and not annotator.is_simulated
        ],
        can_sign_in=() if transaction.actor.is_operator else judgments_sql.list_people_with_sign_in(session),
    )
    judgments_sql.add_annotators(session, dataset_pk, newcomers, now=now, simulated=simulated)
    annotators = judgments_sql.find_annotators(session, usernames)
    documents, by_id_only = add_documents_by_id(session, dataset_pk, (event.line.doc_id for event in events))
    judged = dict.fromkeys((event.line.query_id, event.line.doc_id) for event in events)
    names = {(queries[query].pk, documents[document].pk): (query, document) for query, document in judged}
    pairs, joined = add_missing(session, dataset_pk, transaction.dataset, names, system=RESERVED, now=now)
    rubric_pk, secret = key_of(find_rubric(session, dataset_pk).pk), _make_event_secret(session, dataset_pk)
    rows: list[dict[str, Any]] = [
        {
            "event_id": draw_event_id(event.line_id, secret),
            "line_id": event.line_id,
            "pair_pk": pairs[queries[event.line.query_id].pk, documents[event.line.doc_id].pk],
            "annotator_pk": annotators[event.username].pk,
            "rubric_pk": rubric_pk,
            "outcome": event.line.outcome,
            "grade": event.line.grade,
            "note": event.line.note,
            "purpose": COUNTED_PURPOSE,
            "document_sha256": documents[event.line.doc_id].sha256,
            "judged_at": event.judged_at or now,
            "received_at": now,
            "seconds": event.line.seconds,
        }
        for event in events
    ]
    listed = list_some(newcomers, NAMES_SHOWN)
    note = (say("new annotators, without a sign-in: {names}", names=listed),) if newcomers else ()
    notes = (*note_joined(len(joined)), *note, *note_by_id(by_id_only))
    keys = [(row["pair_pk"], row["annotator_pk"]) for row in rows]
    answers = judgments_sql.list_current_answers(session, sorted({pair_pk for pair_pk, _ in keys}))
    check_respelled(events, map(answers.get, keys), str(path))
    return NewJudgments(rows, len(rows) - len(set(keys) - answers.keys()), notes)


def _check_newcomers(events: Iterable[ImportedJudgmentEvent], newcomers: Iterable[str], path: str) -> None:
    """Raise BadInput for every line whose new annotator has a name that no new account may have."""
    refused = {name for name in newcomers if find_username_fault(name) is not None}
    problems = Problems(path)
    for event in events:
        if event.username in refused:
            expected = "an annotator's name in one script"
            problems.add(event.line.line, expected, ascii(event.username))
    problems.raise_if_any()


def store_judgments(
    transaction: ImportTransaction,
    new: NewJudgments,
    path: str,
    *,
    read: int,
    notes: tuple[str, ...],
    figures: Mapping[str, Any],
    sha256: str | None,
    format_name: str | None,
    options: Mapping[str, Any],
    declared: Mapping[str, Any] | None,
) -> ImportReport:
    """Store new judgments of the `read` ones with a record of their import, or only the declaration with the earlier one."""
    report = ImportReport(
        "judgments",
        path,
        read,
        new.count - new.revisions,
        new.revisions,
        read - new.count,
        notes,
        transaction.dry_run,
        figures=figures,
    )
    if not new.rows:
        further = record_declaration(transaction, "judgments", Path(path), sha256=sha256, declared=declared)
        return replace(report, notes=(*notes, *further))
    record_pk = record_import(
        transaction, report, sha256=sha256, format_name=format_name, options=options, declared=declared
    )
    judgments_sql.add_judgments(
        transaction.session, transaction.dataset_pk, new.rows, import_record_pk=record_pk
    )
    return report


def _make_event_secret(session: Session, dataset_pk: int) -> str:
    """Return the secret of the dataset's event ids. It differs between datasets of one database."""
    dataset = session.get_one(DatasetRow, dataset_pk)
    return f"{dataset.check_secret}\x1f{dataset.name}"


def _look_up(transaction: ImportTransaction, events: Sequence[ImportedJudgmentEvent], path: str) -> set[str]:
    """Return the names of the lines that are stored. Notes the pairs of all of them: the report reveals this."""
    transaction.note_named((event.line.query_id, event.line.doc_id) for event in events)
    return _find_stored(transaction, events, path)


def _choose_new_events(
    transaction: ImportTransaction, events: Sequence[ImportedJudgmentEvent], stored: Set[str], path: str
) -> list[ImportedJudgmentEvent]:
    """Return the new events in order, and overtaken stored ones (see `list_overtaken`) with a new name."""
    taken = stored | {event.line_id for event in events}
    waiting = {event.line_id: event for event in list_overtaken(events, stored)}
    repeated: dict[str, ImportedJudgmentEvent] = {}
    times_given = 0
    while waiting:
        times_given += 1
        candidates = {line_id: repeat_event(event, times_given) for line_id, event in waiting.items()}
        taken |= _find_stored(transaction, list(candidates.values()), path)
        free = {line_id: event for line_id, event in candidates.items() if event.line_id not in taken}
        repeated |= free
        waiting = {line_id: event for line_id, event in waiting.items() if line_id not in free}
    return [
        repeated.get(event.line_id, event)
        for event in events
        if event.line_id not in stored or event.line_id in repeated
    ]


def _find_stored(
    transaction: ImportTransaction, events: Sequence[ImportedJudgmentEvent], path: str
) -> set[str]:
    session, dataset_pk = transaction.session, transaction.dataset_pk
    names = [event.line_id for event in events]
    if judgments_sql.has_old_names(session):
        names += [name_line_as_before(transaction.dataset, event) for event in events]
    stored = judgments_sql.list_stored_lines(session, dataset_pk, names)
    return find_stored(events, stored, path, dataset=transaction.dataset) if stored else set()


def import_qrels(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    format_name: str | None = None,
    encoding: str | None = None,
    grades_by: str | None = None,
    map_grades: str | None = None,
    rejudge: bool = False,
    as_judgments: bool = False,
    declared: Mapping[str, Any] | None = None,
    dry_run: bool = False,
    report_progress: Progress = be_silent,
) -> ImportReport:
    """Import a ground truth of any format: its grades settle the pairs without a judgment here.

    With `rejudge` the pairs are to be judged, and the grades become suggestions for leads. Pairs outside the
    pool join it. `grades_by`: for files without grades; `map_grades`: for other scales. `as_judgments`: the
    annotators' own grades in the file become independent judgments, and its settled grades of these pairs
    become suggestions. `declared`: how the grades were made (`provenance.py`), and the names under which the
    annotators' own grades are stored. Refused: a query outside the dataset.
    """
    if not as_judgments:
        refuse_annotators(declared, use="add --as-judgments, or leave them out")
    declaration, _ = split_declaration(declared)
    scale = GradeScale(parse_mapping(map_grades))
    report_progress(say("reading {path}", path=path))
    file = read_qrel_source(
        path, format_name=format_name, encoding=encoding, grades_by=grades_by, scale=scale
    )
    judgments = len(file.truth.further_judgments) if as_judgments else 0
    require_content(len(file.truth.qrels) + judgments, file.path, "grades")
    sha256 = file.source.sha256
    with open_import(database, actor, dataset, now=now, dry_run=dry_run) as transaction:
        session, dataset_pk = transaction.session, transaction.dataset_pk
        report_progress(say_n("checking {n:,} grade", "checking {n:,} grades", len(file.truth.qrels)))
        queries = list_query_texts(session, dataset_pk)
        command = f"annotator import queries {transaction.dataset} {file.path}"
        qrels, notes = match_qrels(file, queries, command=command)
        transaction.note_named((qrel.query_id, qrel.doc_id) for _, qrel in qrels)
        _refuse_ids_from_before(transaction, file.path, sha256, {qrel.doc_id for _, qrel in qrels})
        if as_judgments:
            notes += _store_annotators(transaction, file, queries, qrels, sha256, declared, command=command)
        by_pair, new, joined = _find_pairs(transaction, qrels, kept=not rejudge)
        earlier, judged = list_known_qrels(session, dataset_pk), list_judged(session, dataset_pk)
        plan = plan_qrels(by_pair, earlier, judged, rejudge=rejudge, ordered=file.format.ordered)
        report_progress(say_n("storing {n:,} grade", "storing {n:,} grades", len(plan.rows)))
        read, stored = len(file.truth.qrels), len(plan.rows)
        report = ImportReport(
            "qrels",
            str(path),
            read,
            plan.added,
            stored - plan.added,
            read - stored,
            (*notes, *note_plan(plan), *joined),
            dry_run,
            figures=count_mapped(file.mapped),
        )
        if not plan.rows:
            notes = record_declaration(transaction, "qrels", path, sha256=sha256, declared=declaration)
            return replace(report, notes=tuple(dict.fromkeys((*report.notes, *notes))))
        options = list_given_options(
            grades_by=grades_by, map_grades=scale.mapping, as_judgments=as_judgments, rejudge=rejudge
        )
        record_pk = record_import(
            transaction,
            report,
            sha256=sha256,
            format_name=file.format.name,
            options=options,
            declared=declaration,
        )
        rows = to_qrel_rows(plan, file, now=now, import_record_pk=record_pk)
        kept = [] if rejudge else new  # the others are opened
        query_pks, pair_pks = {query_pk for query_pk, _ in kept}, {pair_pk for _, pair_pk in kept}
        bring_in(session, dataset_pk, rows, new=pair_pks, query_pks=query_pks)
        return report


def _refuse_ids_from_before(
    transaction: ImportTransaction, path: str, sha256: str | None, doc_ids: set[str]
) -> None:
    """Raise ConflictError if `remap` replaced ids of the file after its import: its grades belong to other documents."""
    session, dataset_pk = transaction.session, transaction.dataset_pk
    records = list_import_records(session, dataset_pk)
    times = [record.imported_at for record in records if sha256 and record.sha256 == sha256]
    replaced = list_replaced(session, dataset_pk, doc_ids, since=min(times)) if times else {}
    if replaced:
        raise ConflictError(
            say(
                "{path}: this file was imported before remap gave its documents new ids, and its grades went along. Found old ids: {listed}",
                path=path,
                listed=list_some([show_id(old) for old in replaced], NAMES_SHOWN),
            )
        )


def _find_pairs(
    transaction: ImportTransaction, qrels: Sequence[tuple[int, Qrel]], *, kept: bool
) -> tuple[list[tuple[int, Qrel]], list[tuple[int, int]], tuple[str, ...]]:
    """Return (pair_pk, qrel) for each (query_pk, qrel), the new pairs, and notes. `kept`: see `add_missing`."""
    session, dataset_pk = transaction.session, transaction.dataset_pk
    documents, by_id_only = add_documents_by_id(session, dataset_pk, [qrel.doc_id for _, qrel in qrels])
    by_key = {(query_pk, documents[qrel.doc_id].pk): qrel for query_pk, qrel in qrels}
    names = {key: (qrel.query_id, qrel.doc_id) for key, qrel in by_key.items()}
    pairs, joined = add_missing(
        session, dataset_pk, transaction.dataset, names, system=RESERVED, now=transaction.now, kept=kept
    )
    notes = (*note_joined(len(joined)), *note_by_id(by_id_only))
    new = [(key[0], pairs[key]) for key in joined]
    return [(pairs[key], qrel) for key, qrel in by_key.items()], new, notes


def _store_annotators(
    transaction: ImportTransaction,
    file: QrelFile,
    queries: Mapping[str, QueryText],
    qrels: Sequence[tuple[int, Qrel]],
    sha256: str | None,
    declared: Mapping[str, Any] | None,
    *,
    command: str,
) -> tuple[str, ...]:
    """Store the annotators' own grades as their judgments, as `import_judgments` does; return notes."""
    declaration, people = split_declaration(declared)
    names = name_annotators(file, people)
    records = list_import_records(transaction.session, transaction.dataset_pk)
    check_earlier_names(file, names, records)
    further = match_judgments(file, queries, command=command)
    lines = list_annotator_lines((qrel for _, qrel in qrels), further, names)
    path = Path(file.path)
    plan, note = plan_judgments(transaction, lines, file.path)
    new = prepare_new_judgments(transaction, plan.events, path)
    notes = (
        *note,
        *note_annotators(lines, new=new.count),
        *note_same_names(file, people, records),
        *new.notes,
    )
    options = list_given_options(as_judgments=True, annotators=people, map_grades=file.source.scale.mapping)
    return store_judgments(
        transaction,
        new,
        file.path,
        read=len(lines),
        notes=notes,
        figures=count_mapped(file.mapped),
        sha256=sha256,
        format_name=file.format.name,
        options=options,
        declared=declaration,
    ).notes
