"""What is out: compare releases, browse their qrels, follow a grade to the judgments behind it. For leads.

Stands behind the Releases page, `release diff` and `release trace`; the stage `releases` compares with it what it
is about to publish. Reads only. Names nobody: people appear under the pseudonyms of the releases.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy.orm import Session

from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor, name_annotator, name_lead
from annotator.people.service import require_role
from annotator.releases.changes import say_advice as say_advice
from annotator.releases.changes import write_changes as write_changes
from annotator.releases.diff import ChangeCollector as ChangeCollector
from annotator.releases.diff import ReadDecisions as ReadDecisions
from annotator.releases.diff import RemappedDocument, follow, turn_round
from annotator.releases.diff import compare_query as compare_query
from annotator.releases.diff import summarise as summarise
from annotator.releases.published_sql import (
    QUERIES_AT_ONCE,
    find_decision_until,
    find_imported_qrel,
    find_pair,
    find_qrel,
    find_release,
    find_traced_decision,
    iterate_published_qrels,
    list_decision_words,
    list_judgments_until,
    list_published_queries,
    list_qrels_on_page,
    list_query_texts,
    list_remaps,
    list_rubrics,
    list_traced_judgments,
)
from annotator.releases.records import Guideline as Guideline
from annotator.releases.records import PublishedQrel as PublishedQrel
from annotator.releases.records import QrelChange as QrelChange
from annotator.releases.records import QrelPage as QrelPage
from annotator.releases.records import QrelRow as QrelRow
from annotator.releases.records import QrelTrace as QrelTrace
from annotator.releases.records import ReleaseDiff as ReleaseDiff
from annotator.releases.records import ReleaseFacts as ReleaseFacts
from annotator.releases.records import Renames as Renames
from annotator.releases.records import TracedDecision as TracedDecision
from annotator.releases.records import TracedImport as TracedImport
from annotator.releases.records import TracedJudgment as TracedJudgment
from annotator.releases.versions import suggest_next as suggest_next
from annotator.storage.database import Database
from annotator.storage.disclosures import find_published, find_released, note_seen
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables import ReleaseQrelRow, ReleaseRow

MAX_PAGE = 1_000
UNNAMED_ANNOTATOR, UNNAMED_LEAD = "annotator_?", "lead_?"  # judged or decided, but in no release yet


def compare_releases(
    database: Database,
    actor: Actor,
    dataset: str,
    v1: str,
    v2: str,
    *,
    keep: int | None = None,
    now: datetime,
) -> ReleaseDiff:
    """What `v2` changed against `v1`. `keep`: how many changes of each kind to list, None for all; the counts
    are always complete. For leads, who judge no more what they are told the grade of. NotFound for a version that is not published."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        older = find_release(session, key_of(row.pk), v1)
        newer = find_release(session, key_of(row.pk), v2)
        before = read_facts(session, row.name, older)
        after = read_facts(session, row.name, newer)
        renames = _read_between(session, key_of(row.pk), older, newer)
        collected = ChangeCollector(keep=keep)
        gone = [query_id for query_id in before.queries if query_id not in after.queries]
        order = [*after.queries, *gone]
        for start in range(0, len(order), QUERIES_AT_ONCE):
            chunk = order[start : start + QUERIES_AT_ONCE]
            old = read_qrels(session, key_of(older.pk), chunk)
            new = read_qrels(session, key_of(newer.pk), chunk)
            for query_id in chunk:
                collect_query(collected, old.get(query_id, {}), new.get(query_id, {}), renames)
        found = summarise(before, after, collected, partial(list_decision_words, session))
    note_published(database, actor, dataset, list_named(found.changes), now=now)
    return found


def list_named(changes: Iterable[QrelChange]) -> set[tuple[str, str]]:
    """The pairs that these changes name, by query_id and doc_id."""
    return {(one.query_id, one.doc_id) for one in changes} | {
        (one.query_id, one.old_doc_id) for one in changes if one.old_doc_id is not None
    }


def note_published(
    database: Database, actor: Actor, dataset: str, names: Collection[tuple[str, str]], *, now: datetime
) -> None:
    """Note that the lead is told the grades of the pairs that releases name so: they judge them no more."""
    if actor.person_id is None or not names:
        return
    with database.read() as session:
        found = find_published(session, key_of(find_dataset(session, dataset).pk), names)
    note_seen(database, {pk for pks in found.values() for pk in pks}, actor.person_id, now=now)


def note_downloaded(database: Database, actor: Actor, dataset: str, version: str, *, now: datetime) -> None:
    """The same of every pair of a release, whose files the lead is about to be sent."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        pks = find_released(session, dataset_pk, key_of(find_release(session, dataset_pk, version).pk))
    note_seen(database, pks, actor.person_id, now=now)


def browse_qrels(
    database: Database,
    actor: Actor,
    dataset: str,
    version: str,
    *,
    search: str = "",
    grade: int | None = None,
    origin: str | None = None,
    changed_since: str | None = None,
    limit: int = 50,
    offset: int = 0,
    now: datetime,
) -> QrelPage:
    """Some of a release's qrels. `search`: part of an id or of the query's text; `changed_since`: a version, to see
    only what has another grade there, or none (pairs are compared by their ids as published). For leads, who judge no more
    what they are shown."""
    if not 1 <= limit <= MAX_PAGE or offset < 0:
        raise ValidationError(f"expected 1 to {MAX_PAGE} qrels from 0 on, found {limit} from {offset} on")
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        release = find_release(session, key_of(row.pk), version)
        earlier = find_release(session, key_of(row.pk), changed_since) if changed_since else None
        total, rows = list_qrels_on_page(
            session,
            key_of(release.pk),
            search=search.replace("\0", ""),
            grade=grade,
            origin=origin,
            changed_since=key_of(earlier.pk) if earlier else None,
            limit=limit,
            offset=offset,
        )
        texts = list_query_texts(session, key_of(release.pk), (query_id for query_id, *_ in rows))
    page = QrelPage(total, tuple(QrelRow(query_id, texts.get(query_id), *more) for query_id, *more in rows))
    note_published(database, actor, dataset, {(one.query_id, one.doc_id) for one in page.rows}, now=now)
    return page


def trace_qrel(
    database: Database, actor: Actor, dataset: str, version: str, query_id: str, doc_id: str, *, now: datetime
) -> QrelTrace:
    """The judgments and the decision on which this qrel was published, whatever was judged since.

    NotFound when the release holds no such qrel. For leads, who judge the pair no more.
    """
    with database.read() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "lead")
        release = find_release(session, dataset_pk, version)
        qrel = None if "\0" in query_id + doc_id else find_qrel(session, key_of(release.pk), query_id, doc_id)
        if qrel is None:
            raise NotFound(
                say(
                    "{dataset} {version} holds no qrel for query {query_id!r}, document {doc_id!r}",
                    dataset=row.name,
                    version=version,
                    query_id=query_id,
                    doc_id=doc_id,
                )
            )
        judgment_pks, adjudication_pk = _find_grounds(session, dataset_pk, release, qrel)
        imported = qrel.imported_qrel_pk
        trace = QrelTrace(
            dataset=row.name,
            version=version,
            query_id=query_id,
            query=list_query_texts(session, key_of(release.pk), [query_id]).get(query_id),
            doc_id=doc_id,
            grade=qrel.grade,
            origin=qrel.origin,
            judgments=_read_judgments(session, dataset_pk, judgment_pks),
            adjudication=None
            if adjudication_pk is None
            else _read_decision(session, dataset_pk, adjudication_pk),
            imported=None if imported is None else _read_import(session, imported),
            complete=qrel.judgments is not None,
        )
    note_published(database, actor, dataset, [(query_id, doc_id)], now=now)
    return trace


def list_guidelines(database: Database, actor: Actor, dataset: str) -> tuple[Guideline, ...]:
    """Every version of what the dataset's annotators worked by, oldest first."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        return tuple(
            Guideline(
                rubric.version,
                rubric.title,
                rubric.guideline,
                tuple(rubric.grades),
                rubric.change,
                rubric.created_at,
            )
            for rubric in list_rubrics(session, key_of(row.pk))
        )


def collect_query(
    collected: ChangeCollector,
    before: dict[str, PublishedQrel],
    after: dict[str, PublishedQrel],
    renames: Renames,
) -> None:
    """Compare one query's qrels and gather what differs."""
    changes = compare_query(before, after, renames.renamed, parted=renames.parted, joined=renames.joined)
    collected.add(changes, after, whole=not before or not after)


def read_facts(session: Session, dataset: str, release: ReleaseRow) -> ReleaseFacts:
    """A release apart from its qrels, within a transaction that is open already."""
    return ReleaseFacts(
        dataset=dataset,
        version=release.version,
        scale=release.manifest["scale"],
        guideline_version=release.manifest["guideline_version"],
        queries=list_published_queries(session, key_of(release.pk)),
        created_at=release.created_at,
    )


def read_qrels(
    session: Session, release_pk: int, query_ids: Sequence[str]
) -> dict[str, dict[str, PublishedQrel]]:
    """The published qrels of these queries, by query_id and doc_id; queries without any are absent."""
    found: dict[str, dict[str, PublishedQrel]] = {}
    for row in iterate_published_qrels(session, release_pk, query_ids):
        qrel = PublishedQrel._make(row)
        found.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel
    return found


def read_renames(
    session: Session, dataset_pk: int, *, since: datetime, until: datetime | None = None
) -> Renames:
    """What `remap` did to the documents' ids after `since`; `until` None: up to now."""
    rows = list_remaps(session, dataset_pk, since=since, until=until)
    return follow([RemappedDocument(*row) for row in rows])


def _read_between(session: Session, dataset_pk: int, one: ReleaseRow, other: ReleaseRow) -> Renames:
    """What happened to the ids from one release to the other, whichever came first."""
    first, last = sorted((one.created_at, other.created_at))
    renames = read_renames(session, dataset_pk, since=first, until=last)
    return renames if key_of(one.pk) <= key_of(other.pk) else turn_round(renames)


def _find_grounds(
    session: Session, dataset_pk: int, release: ReleaseRow, qrel: ReleaseQrelRow
) -> tuple[list[int], int | None]:
    """The keys of the judgments and of the decision. Releases made before they were recorded: of what was current
    when nothing later than the release (whose time is in whole seconds) had been received."""
    if qrel.judgments is not None:
        return [int(key) for key in qrel.judgments.split()], qrel.adjudication_pk
    renames = read_renames(session, dataset_pk, since=release.created_at)
    doc_id = renames.renamed.get(qrel.doc_id, qrel.doc_id)
    pair_pk = find_pair(session, dataset_pk, qrel.query_id, doc_id)
    if pair_pk is None:
        return [], None
    until = release.created_at + timedelta(seconds=1)
    return list_judgments_until(session, pair_pk, until), find_decision_until(session, pair_pk, until)


def _read_judgments(
    session: Session, dataset_pk: int, judgment_pks: Sequence[int]
) -> tuple[TracedJudgment, ...]:
    rows = list_traced_judgments(session, dataset_pk, judgment_pks)
    return tuple(
        TracedJudgment(name_annotator(number) if number else UNNAMED_ANNOTATOR, *values)
        for number, *values in rows
    )


def _read_decision(session: Session, dataset_pk: int, adjudication_pk: int) -> TracedDecision | None:
    row = find_traced_decision(session, dataset_pk, adjudication_pk)
    if row is None:
        return None
    grade, rationale, reason, number, decided_at, version = row
    lead = name_lead(number) if number else UNNAMED_LEAD
    return TracedDecision(grade, rationale, reason, lead, decided_at, version)


def _read_import(session: Session, imported_qrel_pk: int) -> TracedImport | None:
    row = find_imported_qrel(session, imported_qrel_pk)
    return None if row is None else TracedImport(row.grade, row.source, row.note, row.imported_at)
