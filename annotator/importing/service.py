"""Import files for a lead: queries, documents, runs, pairs, judgments, an earlier ground truth.

A file is read and checked before the write lock is taken, then stored in one transaction or not at all. Folders of runs are
read again under the lock (`import_runs`). The same file twice changes nothing. With `dry_run` everything is checked, also
against the database, and nothing is kept. Raises BadInput with each bad line, and NotAllowed unless the actor leads the
dataset.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sqlalchemy.orm import Session

from annotator.domain.errors import BadInput, ConflictError, Problems
from annotator.domain.ground_truth import Qrel
from annotator.domain.import_records import AFTERWARDS, ImportKind, ImportRecord, find_declared
from annotator.domain.messages import count_of
from annotator.domain.people import Actor
from annotator.formats.grade_scale import GradeScale, parse_mapping
from annotator.formats.input_tables import read_pairs
from annotator.formats.judgments import read_judgments
from annotator.formats.run_lines import RunFile
from annotator.formats.runs import read_run_file
from annotator.formats.source import InputSource
from annotator.formats.tables import read_table
from annotator.importing import import_sql
from annotator.importing.judgment_plan import (
    ImportedJudgmentEvent,
    check_targets,
    list_overtaken,
    name_again,
    name_pairs,
    plan_events,
    to_rows,
)
from annotator.importing.provenance import read_provenance as read_provenance
from annotator.importing.provenance import refuse_annotators, split_declaration
from annotator.importing.qrel_plan import (
    QrelFile,
    check_earlier_names,
    hash_content,
    list_annotator_lines,
    list_imports,
    match_judgments,
    match_qrels,
    name_annotators,
    note_annotators,
    note_plan,
    note_same_names,
    plan_qrels,
    read_qrel_source,
)
from annotator.importing.report import (
    FolderReport,
    ImportReport,
    Progress,
    note_by_id,
    note_contradicting,
    note_further,
    note_joined,
    note_moved,
    note_retexted,
    say_contradicting,
    say_mapped,
    silent,
)
from annotator.importing.run_plan import (
    RESERVED,
    RunOptions,
    RunPlan,
    check_options,
    check_queries,
    list_run_files,
    name_systems,
    plan_run,
)
from annotator.importing.sources import read_document_source, read_query_source, read_source
from annotator.importing.text_plan import KnownDocument, KnownQuery, plan_documents, plan_queries
from annotator.people.service import require_role
from annotator.storage.database import Database, lock_dataset
from annotator.storage.import_records import add_import_record, list_import_records
from annotator.storage.imported_grades import bring_in, list_judged, list_known_qrels
from annotator.storage.lookup import find_dataset, find_rubric, key_of
from annotator.storage.outdated import count_on_older_text, mark_outdated
from annotator.storage.pool import PoolCandidate, add_candidates, add_missing


def import_queries(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    format_name: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    dry_run: bool = False,
    tell: Progress = silent,
) -> ImportReport:
    """Queries from a ground-truth file (its judgments are left alone) or from CSV, TSV, JSONL.

    New ones are put behind the ones there are, in file order. Refused: another text for a judged query.
    """
    tell(f"reading {path}")
    lines, notes = read_query_source(path, format_name=format_name, encoding=encoding, header=header)
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        tell(f"checking {count_of(len(lines), 'query')}")
        stored = import_sql.list_queries(session, place.pk)
        known = {query.query_id: KnownQuery(pk, query, judged) for pk, query, judged in stored}
        plan = plan_queries(known, lines, str(path))
        import_sql.add_queries(session, place.pk, plan.added)
        import_sql.change_queries(session, place.pk, plan.changed)
        added, changed = len(plan.added), len(plan.changed)
        report = ImportReport(
            "queries", str(path), len(lines), added, changed, plan.unchanged, notes, dry_run
        )
        if report.changes_something:
            _record(session, place, actor, report, path, now=now, format=format_name)
    return report


def import_documents(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    format_name: str | None = None,
    sections: bool = False,
    encoding: str | None = None,
    dry_run: bool = False,
    tell: Progress = silent,
) -> ImportReport:
    """Documents from JSONL, CSV, TSV, a folder, or one text file; with `sections` split at their headings.

    A changed text becomes the present one; the old one is kept, and who judged it is asked to confirm or change that.
    """
    tell(f"reading {path}")
    source = read_document_source(path, format_name=format_name, encoding=encoding, sections=sections)
    lines = source.documents
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        tell(f"checking {count_of(len(lines), 'document')}")
        stored = import_sql.list_documents(session, place.pk)
        known = {document.doc_id: KnownDocument(pk, document, sha256) for pk, document, sha256 in stored}
        plan = plan_documents(known, source.documents)
        tell(f"storing {count_of(len(plan.added) + len(plan.changed), 'document')}")
        import_sql.add_documents(session, place.pk, plan.added, now=now)
        import_sql.change_documents(session, plan.changed, now=now)
        mark_outdated(session, place.pk, plan.retexted)
        older = count_on_older_text(session, plan.retexted)
        notes = (*source.notes, *note_retexted(len(plan.retexted), older))
        added, changed, same = len(plan.added), len(plan.changed), plan.unchanged
        report = ImportReport("documents", str(path), len(lines), added, changed, same, notes, dry_run)
        options = {"sections": True} if sections else {}
        if report.changes_something:
            _record(session, place, actor, report, path, now=now, format=format_name, options=options)
    return report


def import_run(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    system: str | None = None,
    order: str = "score",
    duplicates: str = "refuse",
    skip_unknown_queries: bool = False,
    id_field: str | None = None,
    response_time_unit: str | None = None,
    format_name: str | None = None,
    encoding: str | None = None,
    dry_run: bool = False,
    tell: Progress = silent,
) -> ImportReport:
    """One system's run, from TREC lines or JSON. `system` overrides the name in the file.

    `order`, `duplicates` and `skip_unknown_queries` are those of `RunOptions`; `id_field` and `response_time_unit` those
    of `read_json_run`. Documents not known yet are added by their id only. The same file again changes nothing but the
    order, when it is stored in another one, and adds the results of queries that the dataset did not have then.
    ConflictError when the system has another run already.
    """
    options = check_options(order=order, duplicates=duplicates, skip_unknown_queries=skip_unknown_queries)
    reader = _RunReader(format_name, encoding, id_field, response_time_unit)
    tell(f"reading {path}")
    file = reader.read(path)
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        queries = import_sql.list_query_texts(session, place.pk)
        plan = plan_run(file, str(path), queries=queries.values(), options=options, system=system)
        tell(f"storing {len(plan.run.entries):,} results")
        return _store_run(
            session,
            place,
            actor,
            path,
            plan,
            now=now,
            options=options,
            format_name=format_name,
            queries=queries,
            dry_run=dry_run,
        )


def import_runs(
    database: Database,
    actor: Actor,
    dataset: str,
    folder: Path,
    *,
    now: datetime,
    order: str = "score",
    duplicates: str = "refuse",
    skip_unknown_queries: bool = False,
    id_field: str | None = None,
    response_time_unit: str | None = None,
    format_name: str | None = None,
    encoding: str | None = None,
    dry_run: bool = False,
    tell: Progress = silent,
) -> FolderReport:
    """All runs of a folder, or none: each file is one system's, named by its tag or else by the file.

    The options are those of `import_run`. BadInput names every bad line of every file, and files that name one system.
    All files are read and checked by themselves before the write lock is taken, and each a second time under it, so that
    all are stored in one transaction and no more than one run is in memory. Nobody else writes meanwhile: 26 s for 500,000
    results in five files on SQLite and two busy cores, of which reading took 9 s, planning 7 s and storing 9 s.
    """
    options = check_options(order=order, duplicates=duplicates, skip_unknown_queries=skip_unknown_queries)
    reader = _RunReader(format_name, encoding, id_field, response_time_unit)
    paths, notes = list_run_files(folder)
    systems = name_systems(paths, reader.read)
    reports, found = [], Problems(str(folder))
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        queries = import_sql.list_query_texts(session, place.pk)
        for path, system in systems.items():
            tell(f"storing {path}")
            try:
                plan = plan_run(
                    reader.read(path), str(path), queries=queries.values(), options=options, system=system
                )
            except BadInput as error:
                found.found += error.problems
                continue
            reports.append(
                _store_run(
                    session,
                    place,
                    actor,
                    path,
                    plan,
                    now=now,
                    options=options,
                    format_name=format_name,
                    queries=queries,
                    dry_run=dry_run,
                )
            )
        found.raise_if_any()
    return FolderReport.of(str(folder), reports, notes, dry_run=dry_run)


def import_pairs(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    format_name: str | None = None,
    encoding: str | None = None,
    dry_run: bool = False,
    tell: Progress = silent,
) -> ImportReport:
    """Pairs for the pool, from CSV, TSV or JSONL; their provenance is the system `import`."""
    tell(f"reading {path}")
    lines = read_pairs(
        read_table(InputSource(str(path), encoding=encoding), kind=format_name), str(path), kind=format_name
    )
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        queries = import_sql.map_queries(session, place.pk)
        check_queries(((line.line, line.query_id) for line in lines), queries, str(path))
        ids = (line.doc_id for line in lines)
        documents, by_id_only = import_sql.add_documents_by_id(session, place.pk, ids)
        tell(f"storing {count_of(len(lines), 'pair')}")
        candidates = [
            PoolCandidate(
                queries[query_id], query_id, documents[doc_id][0], doc_id, RESERVED, signals=signals
            )
            for _, query_id, doc_id, signals in lines
        ]
        growth = add_candidates(session, place.pk, place.name, candidates, now=now)
        new, notes = growth.pairs, note_by_id(by_id_only)
        report = ImportReport("pairs", str(path), len(lines), new, 0, len(lines) - new, notes, dry_run)
        if report.changes_something:
            _record(session, place, actor, report, path, now=now, format=format_name)
    return report


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
    declared: Mapping[str, Any] | None = None,
    dry_run: bool = False,
    tell: Progress = silent,
) -> ImportReport:
    """Judgments made elsewhere, from CSV, TSV or JSONL. `changed` counts revisions of earlier ones.

    An annotator not known yet becomes a person without a sign-in (marked simulated when asked for); a pair not
    in the pool joins it. `map_grades` reads other scales (`formats/grade_scale.py`). Refused: an unknown query, a pair that
    a lead has settled, a time to come.
    `declared`: what is known of how they were made (`provenance.py`); of a file that is imported already it is kept with that import.
    """
    refuse_annotators(declared, use="this file names its annotators itself")
    scale = GradeScale(parse_mapping(map_grades))
    tell(f"reading {path}")
    data = read_table(InputSource(str(path), encoding=encoding), kind=format_name)
    lines = read_judgments(data, str(path), kind=format_name, scale=scale)
    plan = plan_events(dataset, lines, str(path), now=now)
    events = plan.events
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        new = _choose_new(session, dataset, events)
        tell(f"storing {count_of(len(new), 'judgment')}")
        rows, notes = _prepare_judgments(session, place, new, str(path), now=now, simulated=simulated)
        notes = (*scale.note_mapped(), *notes, *note_contradicting(plan.contradicting))
        revised = import_sql.count_revisions(session, rows)
        added, unchanged = len(new) - revised, len(lines) - len(new)
        report = ImportReport(
            "judgments",
            str(path),
            len(lines),
            added,
            revised,
            unchanged,
            notes,
            dry_run,
            figures={**say_contradicting(plan.contradicting), **say_mapped(scale.figures)},
        )
        options = _name_chosen(simulated=simulated, map_grades=scale.mapping)
        if rows:
            record = _record(
                session,
                place,
                actor,
                report,
                path,
                now=now,
                format=format_name,
                options=options,
                declared=declared,
            )
            import_sql.add_judgments(session, place.pk, rows, import_record_pk=record)
            return report
        said = _declare(session, place, actor, "judgments", path, now=now, declared=declared)
        return replace(report, notes=(*report.notes, *said))


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
    tell: Progress = silent,
) -> ImportReport:
    """An earlier ground truth, of any format: its grades settle the pairs that nobody has judged here.

    With `rejudge` the pairs are to be judged, and the grades stay as suggestions that leads can see. Pairs not in
    the pool join it. `grades_by`: for files without grades; `map_grades`: for other scales. `as_judgments`: the annotators'
    own grades in the file become independent judgments of theirs; what the file settled of these pairs is a suggestion.
    `declared`: what is known of how the grades came about (`provenance.py`), and under which names the annotators' own grades
    are stored. Refused: a query that is not in the dataset.
    """
    if not as_judgments:
        refuse_annotators(declared, use="add --as-judgments, or leave them out")
    told, _ = split_declaration(declared)
    scale = GradeScale(parse_mapping(map_grades))
    tell(f"reading {path}")
    file = read_qrel_source(
        path, format_name=format_name, encoding=encoding, grades_by=grades_by, scale=scale
    )
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        tell(f"checking {count_of(len(file.truth.qrels), 'grade')}")
        qrels, notes = _match(session, place, file)
        if as_judgments:
            notes += _store_annotators(
                session, place, actor, file, qrels, path, now=now, dry_run=dry_run, declared=declared
            )
        by_pair, joined = _find_pairs(session, place, qrels, now=now)
        known, judged = list_known_qrels(session, place.pk), list_judged(session, place.pk)
        plan = plan_qrels(by_pair, known, judged, rejudge=rejudge, ordered=file.known.ordered)
        tell(f"storing {count_of(len(plan.rows), 'grade')}")
        notes = (*notes, *note_plan(plan), *joined)
        size, added, stored = len(file.truth.qrels), plan.added, len(plan.rows)
        counts, mapped = (size, added, stored - added, size - stored), say_mapped(file.mapped)
        report = ImportReport("qrels", str(path), *counts, notes, dry_run, figures=mapped)
        options = _name_chosen(
            grades_by=grades_by, map_grades=scale.mapping, as_judgments=as_judgments, rejudge=rejudge
        )
        if plan.rows:
            record = _record(
                session,
                place,
                actor,
                report,
                path,
                now=now,
                format=file.known.name,
                options=options,
                declared=told,
            )
            bring_in(session, place.pk, list_imports(plan, file, now=now, import_record_pk=record))
            return report
        notes += _declare(session, place, actor, "qrels", path, now=now, declared=told)
        return replace(report, notes=tuple(dict.fromkeys(notes)))


@dataclass(frozen=True, slots=True)
class _ImportTarget:
    """The dataset that is written to."""

    pk: int
    name: str


@contextmanager
def _writing(
    database: Database, actor: Actor, dataset: str, *, dry_run: bool
) -> Iterator[tuple[Session, _ImportTarget]]:
    """A write transaction on a dataset that the actor leads; rolled back at its end when it is a dry run."""
    with database.write() as session:
        row = find_dataset(session, dataset)
        place = _ImportTarget(key_of(row.pk), row.name)
        require_role(session, actor, place.pk, "lead")
        lock_dataset(session, place.pk)
        yield session, place
        if dry_run:
            session.rollback()


@dataclass(frozen=True, slots=True)
class _RunReader:
    """How run files are read; see `read_run_file`."""

    format_name: str | None
    encoding: str | None
    id_field: str | None
    response_time_unit: str | None

    def read(self, path: Path) -> RunFile:
        return read_run_file(
            read_source(path, encoding=self.encoding),
            str(path),
            kind=self.format_name,
            id_field=self.id_field,
            response_time_unit=self.response_time_unit,
        )


def _store_run(
    session: Session,
    place: _ImportTarget,
    actor: Actor,
    path: Path,
    plan: RunPlan,
    *,
    now: datetime,
    options: RunOptions,
    format_name: str | None,
    queries: Mapping[int, tuple[str, str]],
    dry_run: bool,
) -> ImportReport:
    """Store a run that is new, or anew one that is there: the same content in another order, or the same file with results of further
    queries or other ones of a document's several."""
    run, size, notes = plan.run, len(plan.run.entries), plan.notes
    read = size + sum(plan.figures.get(name, 0) for name in ("skipped_unknown_results", "duplicates"))
    keys = {query_id: pk for pk, (query_id, _) in queries.items()}
    stored = import_sql.find_run(session, place.pk, run.system)
    if stored is None:
        report = ImportReport("run", str(path), read, size, 0, 0, notes, dry_run, plan.figures)
        reread = False
    else:
        reread = stored.content_sha256 != plan.content_sha256
        if reread and stored.file_sha256 != hash_content(path):
            raise ConflictError(
                f"{path}: the system {run.system!r} has another run in this dataset already; use another --system"
            )
        moved = import_sql.count_moved(session, place.pk, stored.pk, run, queries=keys, further=reread)
        if reread and moved is None:
            raise ConflictError(
                f"{path}: this file is the run of {run.system!r} already, but its documents are others now: they were read by other "
                "options, or got other ids since. To store this reading too, use another --system"
            )
        added = size - import_sql.count_entries(session, stored.pk) if reread else 0
        notes = (*notes, *note_further(added), *note_moved(moved))
        counts = (read, added, moved or 0, size - added - (moved or 0))
        report = ImportReport("run", str(path), *counts, notes, dry_run, plan.figures)
    if not report.changes_something and not reread:
        return report
    record = _record(
        session,
        place,
        actor,
        report,
        path,
        now=now,
        format=format_name,
        system=run.system,
        options=options.to_record(),
    )
    if stored is None:
        by_id_only = import_sql.add_run(
            session, place.pk, run, plan.content_sha256, queries=keys, now=now, import_record_pk=record
        )
    else:
        by_id_only = import_sql.reread_run(
            session, place.pk, stored.pk, run, plan.content_sha256, queries=keys, import_record_pk=record
        )
    return replace(report, notes=(*notes, *note_by_id(by_id_only)))


def _match(
    session: Session, place: _ImportTarget, file: QrelFile
) -> tuple[list[tuple[int, Qrel]], tuple[str, ...]]:
    """The file's qrels under the dataset's queries, each with its query_pk, and notes."""
    queries, command = _list_texts(session, place, file)
    return match_qrels(file, queries, command=command)


def _list_texts(
    session: Session, place: _ImportTarget, file: QrelFile
) -> tuple[dict[str, tuple[int, str]], str]:
    """Key and text of the dataset's queries by query_id, and the command that would bring in those of the file."""
    stored = import_sql.list_queries(session, place.pk)
    queries = {query.query_id: (pk, query.text) for pk, query, _ in stored}
    return queries, f"annotator import queries {place.name} {file.path}"


def _find_pairs(
    session: Session, place: _ImportTarget, qrels: Sequence[tuple[int, Qrel]], *, now: datetime
) -> tuple[list[tuple[int, Qrel]], tuple[str, ...]]:
    """The pair of each qrel, which comes with its query_pk, after adding what is missing; and notes on that."""
    ids = [qrel.doc_id for _, qrel in qrels]
    documents, by_id_only = import_sql.add_documents_by_id(session, place.pk, ids)
    places = {(pk, documents[qrel.doc_id][0]): qrel for pk, qrel in qrels}
    names = {key: (qrel.query_id, qrel.doc_id) for key, qrel in places.items()}
    pairs, joined = add_missing(session, place.pk, place.name, names, system=RESERVED, now=now)
    return [(pairs[key], qrel) for key, qrel in places.items()], (
        *note_joined(joined),
        *note_by_id(by_id_only),
    )


def _store_annotators(
    session: Session,
    place: _ImportTarget,
    actor: Actor,
    file: QrelFile,
    qrels: Sequence[tuple[int, Qrel]],
    path: Path,
    *,
    now: datetime,
    dry_run: bool,
    declared: Mapping[str, Any] | None,
) -> tuple[str, ...]:
    """Store the annotators' own grades of a ground truth as their judgments, as `import_judgments` does; returns notes."""
    told, people = split_declaration(declared)
    names = name_annotators(file, people)
    records = list_import_records(session, place.pk)
    check_earlier_names(file, names, records)
    queries, command = _list_texts(session, place, file)
    further = match_judgments(file, queries, command=command)
    lines = list_annotator_lines((qrel for _, qrel in qrels), further, names)
    plan = plan_events(place.name, lines, str(path), now=now)
    new = _choose_new(session, place.name, plan.events)
    rows, notes = _prepare_judgments(session, place, new, str(path), now=now, simulated=False)
    revised = import_sql.count_revisions(session, rows)
    said = (*note_annotators(lines, new=len(new)), *note_same_names(file, people, records), *notes)
    if rows:
        report = ImportReport(
            "judgments",
            str(path),
            len(lines),
            len(new) - revised,
            revised,
            len(lines) - len(new),
            said,
            dry_run,
            figures=say_mapped(file.mapped),
        )
        scale = file.source.scale
        options = _name_chosen(as_judgments=True, annotators=people, map_grades=scale.mapping)
        record = _record(
            session,
            place,
            actor,
            report,
            path,
            now=now,
            format=file.known.name,
            options=options,
            declared=told,
        )
        import_sql.add_judgments(session, place.pk, rows, import_record_pk=record)
        return said
    return (*said, *_declare(session, place, actor, "judgments", path, now=now, declared=told))


def _declare(
    session: Session,
    place: _ImportTarget,
    actor: Actor,
    kind: ImportKind,
    path: Path,
    *,
    now: datetime,
    declared: Mapping[str, Any] | None,
) -> tuple[str, ...]:
    """Keep what is declared of a file of which nothing is new, as declared of its earlier imports; returns a note on that."""
    if declared is None:
        return ()
    records = list_import_records(session, place.pk)
    sha256 = None if path.is_dir() else hash_content(path)
    earlier = [record for record in records if sha256 and (record.kind, record.sha256) == (kind, sha256)]
    if not earlier:
        return (
            "nothing in this file is new, and no import of it is recorded: what you declare of it is not kept",
        )
    if all(find_declared(record, records) == declared for record in earlier):
        return ()
    record = ImportRecord(
        kind=kind,
        path=str(path),
        imported_at=now,
        sha256=sha256,
        imported_by=actor.person_id,
        options={AFTERWARDS: True},
        declared=declared,
    )
    add_import_record(session, place.pk, record)
    return ("what you declare of this file is kept with its earlier import: later releases tell it",)


def _name_chosen(**options: Any) -> dict[str, Any]:
    """The options of an import that say something, for its record."""
    return {name: value for name, value in options.items() if value}


def _record(
    session: Session,
    place: _ImportTarget,
    actor: Actor,
    report: ImportReport,
    path: Path,
    *,
    now: datetime,
    format: str | None,
    system: str | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
    declared: Mapping[str, Any] | None = None,
) -> int:
    """Store the record of an import that changes something, and return its primary key."""
    counts = {
        "read": report.read,
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
    }
    record = ImportRecord(
        kind=report.kind,
        path=str(path),
        imported_at=now,
        sha256=None if path.is_dir() else hash_content(path),
        format=format,
        system=system,
        imported_by=actor.person_id,
        options=options,
        figures={**counts, **report.figures},
        declared=declared,
    )
    return add_import_record(session, place.pk, record)


def _choose_new(
    session: Session, dataset: str, events: Sequence[ImportedJudgmentEvent]
) -> list[ImportedJudgmentEvent]:
    """Return the events that are not stored yet, in their order; and under an id of its own the last line of an annotator on a pair
    that says again, after a new one, what an earlier file said."""
    known = import_sql.find_event_ids(session, [event.event_id for event in events])
    taken = known | {event.event_id for event in events}
    waiting = {event.event_id: event for event in list_overtaken(events, known)}
    again: dict[str, ImportedJudgmentEvent] = {}
    times_said = 0
    while waiting:
        times_said += 1
        named = {event_id: name_again(dataset, event, times_said) for event_id, event in waiting.items()}
        taken |= import_sql.find_event_ids(session, [event.event_id for event in named.values()])
        free = {event_id: event for event_id, event in named.items() if event.event_id not in taken}
        again |= free
        waiting = {event_id: event for event_id, event in waiting.items() if event_id not in free}
    return [
        again.get(event.event_id, event)
        for event in events
        if event.event_id not in known or event.event_id in again
    ]


def _prepare_judgments(
    session: Session,
    place: _ImportTarget,
    events: Sequence[ImportedJudgmentEvent],
    path: str,
    *,
    now: datetime,
    simulated: bool,
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Store the people, documents and pairs that new judgments bring; returns the judgments' rows, and notes."""
    queries = import_sql.map_queries(session, place.pk)
    usernames = list(dict.fromkeys(event.username for event in events))
    people = import_sql.find_people(session, usernames)
    newcomers = [name for name in usernames if name not in people]
    check_targets(
        events,
        path,
        query_ids=queries,
        adjudicated=import_sql.list_adjudicated(session, place.pk),
        namesakes=import_sql.find_namesakes(session, newcomers),
        real_people=[name for name, (_, known) in people.items() if simulated and not known],
    )
    import_sql.add_annotators(session, place.pk, newcomers, now=now, simulated=simulated)
    people = import_sql.find_people(session, usernames)
    ids = (event.line.doc_id for event in events)
    documents, by_id_only = import_sql.add_documents_by_id(session, place.pk, ids)
    names = name_pairs(events, queries, documents)
    pairs, joined = add_missing(session, place.pk, place.name, names, system=RESERVED, now=now)
    known: dict[str, Any] = {"queries": queries, "documents": documents, "pairs": pairs, "people": people}
    rows = to_rows(events, **known, rubric_pk=key_of(find_rubric(session, place.pk).pk), now=now)
    people_note = (f"new annotators, without a sign-in: {', '.join(newcomers)}",) if newcomers else ()
    return rows, (*note_joined(joined), *people_note, *note_by_id(by_id_only))
