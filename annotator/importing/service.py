"""What a lead brings in from files: queries, documents, a run, pairs, judgments.

The first stage of the walk. A file is read and checked before the write lock is taken; everything it holds is
then stored in one transaction, or nothing is. The same file twice changes nothing. With `dry_run` everything
is checked, also against the database, and nothing is kept.
Every use case raises BadInput with each bad line, and NotAllowed unless the actor leads the dataset.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy.orm import Session

from annotator.accounts.service import require_role
from annotator.domain.errors import ConflictError
from annotator.domain.people import Actor
from annotator.formats.judgments import read_judgments
from annotator.formats.pairs import read_pairs
from annotator.formats.trec_run import read_run_lines, to_run
from annotator.importing.document_plan import KnownDocument, plan_documents
from annotator.importing.judgment_plan import JudgmentEvent, check_targets, list_events, to_row
from annotator.importing.query_plan import KnownQuery, plan_queries
from annotator.importing.report import ImportReport, Progress, silent
from annotator.importing.run_plan import RESERVED, check_queries, check_system, hash_run
from annotator.importing.sources import read_document_source, read_query_source, read_source
from annotator.storage import intake, intake_judgments
from annotator.storage.current import derive_current
from annotator.storage.database import Database, lock_dataset
from annotator.storage.find import find_dataset, find_rubric, key_of
from annotator.storage.pool import Candidate, add_candidates, list_pair_pks


def import_queries(
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
    """Queries from a ground-truth file (its judgments are left alone) or from CSV, TSV, JSONL.

    New ones are put behind the ones there are, in file order. Refused: another text for a judged query.
    """
    del now
    tell(f"reading {path}")
    lines, notes = read_query_source(path, format_name=format_name, encoding=encoding)
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        tell(f"checking {len(lines):,} queries")
        stored = intake.list_queries(session, place.pk)
        known = {query.query_id: KnownQuery(pk, query, judged) for pk, query, judged in stored}
        plan = plan_queries(known, lines, str(path))
        intake.add_queries(session, place.pk, plan.added)
        intake.change_queries(session, plan.changed)
    added, changed = len(plan.added), len(plan.changed)
    return ImportReport("queries", str(path), len(lines), added, changed, plan.unchanged, notes, dry_run)


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

    A changed text becomes the present one; the old one is kept, since judgments were made on it.
    """
    tell(f"reading {path}")
    source = read_document_source(path, format_name=format_name, encoding=encoding, sections=sections)
    lines = source.documents
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        tell(f"checking {len(lines):,} documents")
        stored = intake.list_documents(session, place.pk)
        known = {document.doc_id: KnownDocument(pk, document, sha256) for pk, document, sha256 in stored}
        plan = plan_documents(known, source.documents)
        tell(f"storing {len(plan.added) + len(plan.changed):,} documents")
        intake.add_documents(session, place.pk, plan.added, now=now)
        intake.change_documents(session, plan.changed, now=now)
        judged = intake.count_judged_documents(session, plan.retexted)
    notes = source.notes
    if judged:
        notes = (*notes, f"{judged:,} documents with a new text were judged on their old one, which is kept")
    added, changed = len(plan.added), len(plan.changed)
    return ImportReport("documents", str(path), len(lines), added, changed, plan.unchanged, notes, dry_run)


def import_run(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    system: str | None = None,
    format_name: str | None = None,
    encoding: str | None = None,
    dry_run: bool = False,
    tell: Progress = silent,
) -> ImportReport:
    """One system's run, from TREC lines or JSONL. `system` overrides the name in the file.

    Documents not known yet are added by their id only. ConflictError when the system has another run already.
    """
    tell(f"reading {path}")
    data = read_source(path, encoding=encoding)
    lines = read_run_lines(data, str(path), kind=format_name)
    run = to_run(lines, str(path), system=system)
    check_system(run.system)
    content, size = hash_run(run), len(run.entries)
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        before = intake.find_run_content(session, place.pk, run.system)
        if before == content:
            return ImportReport("run", str(path), size, 0, 0, size, (f"system {run.system}",), dry_run)
        if before is not None:
            raise ConflictError(
                f"the system {run.system!r} has another run in this dataset already; use another --system"
            )
        tell(f"storing {size:,} results")
        queries = intake.map_queries(session, place.pk)
        check_queries(((line.line, line.entry.query_id) for line in lines), queries, str(path))
        by_id_only = intake.add_run(session, place.pk, run, content, queries=queries, now=now)
    notes = (f"system {run.system}", *_note_by_id(by_id_only))
    return ImportReport("run", str(path), size, size, 0, 0, notes, dry_run)


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
    data = read_source(path, encoding=encoding)
    lines = read_pairs(data, str(path), kind=format_name)
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        queries = intake.map_queries(session, place.pk)
        check_queries(((line.line, line.query_id) for line in lines), queries, str(path))
        ids = (line.doc_id for line in lines)
        documents, by_id_only = intake.add_documents_by_id(session, place.pk, ids)
        tell(f"storing {len(lines):,} pairs")
        candidates = [
            Candidate(queries[query_id], query_id, documents[doc_id][0], doc_id, RESERVED, signals=signals)
            for _, query_id, doc_id, signals in lines
        ]
        growth = add_candidates(session, place.pk, place.name, candidates, now=now)
    unchanged = len(lines) - growth.pairs
    notes = _note_by_id(by_id_only)
    return ImportReport("pairs", str(path), len(lines), growth.pairs, 0, unchanged, notes, dry_run)


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
    dry_run: bool = False,
    tell: Progress = silent,
) -> ImportReport:
    """Judgments made elsewhere, from CSV, TSV or JSONL. `changed` counts revisions of earlier ones.

    An annotator not known yet becomes a person without a sign-in (marked simulated when asked for); a pair not
    in the pool joins it. Refused: an unknown query, a pair that a lead has settled, a time to come.
    """
    tell(f"reading {path}")
    data = read_source(path, encoding=encoding)
    lines = read_judgments(data, str(path), kind=format_name)
    events = list_events(dataset, lines, str(path), now=now)
    with _writing(database, actor, dataset, dry_run=dry_run) as (session, place):
        known = intake_judgments.find_event_ids(session, [event.event_id for event in events])
        new = [event for event in events if event.event_id not in known]
        tell(f"storing {len(new):,} judgments")
        revised, notes = _store_judgments(session, place, new, str(path), now=now, simulated=simulated)
    added, unchanged = len(new) - revised, len(lines) - len(new)
    return ImportReport("judgments", str(path), len(lines), added, revised, unchanged, notes, dry_run)


@dataclass(frozen=True, slots=True)
class _Place:
    """The dataset that is written to."""

    pk: int
    name: str


@contextmanager
def _writing(
    database: Database, actor: Actor, dataset: str, *, dry_run: bool
) -> Iterator[tuple[Session, _Place]]:
    """A write transaction on a dataset that the actor leads; rolled back at its end when it is a dry run."""
    with database.write() as session:
        row = find_dataset(session, dataset)
        place = _Place(key_of(row.pk), row.name)
        require_role(session, actor, place.pk, "lead")
        lock_dataset(session, place.pk)
        yield session, place
        if dry_run:
            session.rollback()


def _note_by_id(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"{count:,} documents are known by their id only: import them with annotator import documents",)


def _store_judgments(
    session: Session,
    place: _Place,
    events: Sequence[JudgmentEvent],
    path: str,
    *,
    now: datetime,
    simulated: bool,
) -> tuple[int, tuple[str, ...]]:
    """Store new judgments with the people, documents and pairs they bring; how many are revisions, and notes."""
    queries = intake.map_queries(session, place.pk)
    names = list(dict.fromkeys(event.username for event in events))
    people = intake_judgments.find_people(session, names)
    newcomers = [name for name in names if name not in people]
    check_targets(
        events,
        path,
        query_ids=queries,
        adjudicated=intake_judgments.list_adjudicated(session, place.pk),
        namesakes=intake_judgments.find_namesakes(session, newcomers),
        real_people=[name for name, (_, known) in people.items() if simulated and not known],
    )
    intake_judgments.add_annotators(session, place.pk, newcomers, now=now, simulated=simulated)
    people = intake_judgments.find_people(session, names)
    ids = (event.line.doc_id for event in events)
    documents, by_id_only = intake.add_documents_by_id(session, place.pk, ids)
    keys = [(queries[event.line.query_id], documents[event.line.doc_id][0]) for event in events]
    joined = _join_pool(session, place, events, keys, now)
    pairs = list_pair_pks(session, place.pk, {query_pk for query_pk, _ in keys})
    rubric_pk = key_of(find_rubric(session, place.pk).pk)
    rows = [
        to_row(
            event,
            pair_pk=pairs[key],
            annotator_pk=people[event.username][0],
            rubric_pk=rubric_pk,
            document_sha256=documents[event.line.doc_id][1],
            now=now,
        )
        for event, key in zip(events, keys, strict=True)
    ]
    places = {(row["pair_pk"], row["annotator_pk"]) for row in rows}
    judged_pairs = sorted({pair_pk for pair_pk, _ in places})
    first = len(places - intake_judgments.list_current_places(session, judged_pairs))
    intake_judgments.add_judgments(session, rows)
    derive_current(session, place.pk, judged_pairs)
    notes = [f"{joined:,} pairs joined the pool"] if joined else []
    notes += [f"new annotators, without a sign-in: {', '.join(newcomers)}"] if newcomers else []
    return len(rows) - first, (*notes, *_note_by_id(by_id_only))


def _join_pool(
    session: Session,
    place: _Place,
    events: Sequence[JudgmentEvent],
    keys: Sequence[tuple[int, int]],
    now: datetime,
) -> int:
    """Make a pair, with the provenance `import`, for every judgment on a pair that is not in the pool."""
    pairs = list_pair_pks(session, place.pk, {query_pk for query_pk, _ in keys})
    missing = {
        key: Candidate(key[0], event.line.query_id, key[1], event.line.doc_id, RESERVED)
        for event, key in zip(events, keys, strict=True)
        if key not in pairs
    }
    return add_candidates(session, place.pk, place.name, list(missing.values()), now=now).pairs
