"""Compare published releases, browse their qrels, and trace a grade to the judgments behind it. For leads.

Serves the Releases page, `release diff` and `release trace`. Reads only, and names nobody: people appear under the pseudonyms
of the releases.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy.orm import Session

from annotator.domain.audit import AuditAction
from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.releases.diff import (
    ChangeCollector,
    collect_changes,
    follow,
    summarise_changes,
)
from annotator.releases.published_sql import (
    QUERIES_AT_ONCE,
    find_decision_until,
    find_qrel,
    find_traced_decision,
    find_traced_import,
    iterate_published_qrels,
    list_decision_words,
    list_judgments_until,
    list_qrels_on_page,
    list_query_texts,
    list_remaps,
    list_rubrics,
    list_traced_judgments,
)
from annotator.releases.records import (
    Guideline,
    PublishedQrel,
    QrelChange,
    QrelPage,
    QrelTrace,
    ReleaseDiff,
    ReleaseFacts,
    Renames,
)
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_act
from annotator.storage.logs.disclosures import (
    find_released,
    list_withheld,
    note_published,
    note_seen,
)
from annotator.storage.lookup import find_named_pair, key_of
from annotator.storage.pairs.published import find_release, list_published_queries
from annotator.storage.tables.central import DatasetRow
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseRow

MAX_PAGE = 1_000


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
    """Compare release `v2` with `v1`. For leads, who may no longer judge the listed pairs.

    Pairs that the lead may still judge are left out. `keep`: changes of each kind to list, None for all; the counts are of all
    other pairs. Raises NotFound for a version that is not published.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        older = find_release(session, dataset_pk, v1)
        newer = find_release(session, dataset_pk, v2)
        before = read_facts(session, row.name, older)
        after = read_facts(session, row.name, newer)
        renames = _read_renames_between(session, dataset_pk, older, newer)
        without = frozenset[tuple[str, str]]().union(
            *(
                list_withheld(session, dataset_pk, actor.person_id, key_of(release.pk))
                for release in (older, newer)
            )
        )
        collector = ChangeCollector(keep=keep)
        removed = [query_id for query_id in before.queries if query_id not in after.queries]
        order = [*after.queries, *removed]
        for start in range(0, len(order), QUERIES_AT_ONCE):
            chunk = order[start : start + QUERIES_AT_ONCE]
            old = read_qrels(session, key_of(older.pk), chunk, without=without)
            new = read_qrels(session, key_of(newer.pk), chunk, without=without)
            for query_id in chunk:
                collect_changes(collector, old.get(query_id, {}), new.get(query_id, {}), renames)
        diff = summarise_changes(before, after, collector, partial(list_decision_words, session))
    note_published(database, actor, dataset, list_pairs_of_changes(diff.changes), now=now)
    return diff


def list_pairs_of_changes(changes: Iterable[QrelChange]) -> set[tuple[str, str]]:
    """Return (query_id, doc_id) of every pair in these changes, also under its old doc_id."""
    return {(change.query_id, change.doc_id) for change in changes} | {
        (change.query_id, change.old_doc_id) for change in changes if change.old_doc_id is not None
    }


def note_downloaded(
    database: Database, actor: Actor, dataset: str, version: str, file: str | None = None, *, now: datetime
) -> None:
    """Record that the lead is about to be sent a release, or a file of it: they may judge none of its pairs any more."""
    dataset_pk = note_release(database, actor, dataset, version, now=now)
    with database.write() as session:
        note_act(
            session,
            AuditAction.file_downloaded,
            actor,
            at=now,
            dataset=dataset_pk,
            target=version if file is None else f"{version}/{file}",
        )


def note_release(database: Database, actor: Actor, dataset: str, version: str, *, now: datetime) -> int:
    """Record that the lead is shown grades of any pair of a release. Returns the dataset_pk. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        pks = find_released(session, dataset_pk, key_of(find_release(session, dataset_pk, version).pk))
    note_seen(database, pks, actor.person_id, now=now)
    return dataset_pk


def count_withheld(database: Database, actor: Actor, dataset: str, version: str) -> int:
    """Count the pairs of a release that the lead may still judge.

    Until the lead gives them up (`note_release`), checksums, counts and texts of the release must not be shown: with few
    unknown grades, one can try all grades until they fit. For leads.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        release_pk = key_of(find_release(session, dataset_pk, version).pk)
        return len(list_withheld(session, dataset_pk, actor.person_id, release_pk))


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
    """Return some of a release's qrels. For leads, who may not judge any more what they are shown.

    `search`: part of an id or of the query's text. `changed_since`: a version, to see only what has another grade there,
    or none; pairs are compared by their published ids. A filter by grade, origin or change leaves out the pairs that the lead
    may still judge: whether it finds a pair would tell its grade.
    """
    if not 1 <= limit <= MAX_PAGE or offset < 0:
        raise ValidationError(f"expected 1 to {MAX_PAGE} qrels from 0 on, found {limit} from {offset} on")
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        release = find_release(session, dataset_pk, version)
        earlier = find_release(session, dataset_pk, changed_since) if changed_since else None
        is_filtered = grade is not None or origin is not None or earlier is not None
        withheld = (
            list_withheld(session, dataset_pk, actor.person_id, key_of(release.pk))
            if is_filtered
            else frozenset()
        )
        page = list_qrels_on_page(
            session,
            key_of(release.pk),
            search=search.replace("\0", ""),
            grade=grade,
            origin=origin,
            changed_since=key_of(earlier.pk) if earlier else None,
            without=withheld,
            limit=limit,
            offset=offset,
        )
    note_published(database, actor, dataset, {(qrel.query_id, qrel.doc_id) for qrel in page.rows}, now=now)
    return page


def trace_qrel(
    database: Database, actor: Actor, dataset: str, version: str, query_id: str, doc_id: str, *, now: datetime
) -> QrelTrace:
    """Return the judgments and the decision on which a qrel was published, whatever was judged since.

    For leads, who may not judge the pair any more, also if there is no qrel: that tells something of the pair
    too. Raises NotFound if the release holds no such qrel.
    """
    names = [] if "\0" in query_id + doc_id else [(query_id, doc_id)]
    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        release = find_release(session, dataset_pk, version)
        qrel = find_qrel(session, key_of(release.pk), query_id, doc_id) if names else None
        trace = None if qrel is None else _read_trace(session, row, release, qrel)
    note_published(database, actor, dataset, names, now=now)
    if trace is None:
        raise NotFound(
            say(
                "{dataset} {version} has no qrel for query {query_id!r} and document {doc_id!r}.",
                dataset=dataset,
                version=version,
                query_id=query_id,
                doc_id=doc_id,
            )
        )
    return trace


def _read_trace(
    session: Session, dataset: DatasetRow, release: ReleaseRow, qrel: ReleaseQrelRow
) -> QrelTrace:
    dataset_pk = key_of(dataset.pk)
    judgment_pks, adjudication_pk = _find_grounds(session, dataset_pk, release, qrel)
    imported = qrel.imported_qrel_pk
    return QrelTrace(
        dataset=dataset.name,
        version=release.version,
        query_id=qrel.query_id,
        query=list_query_texts(session, key_of(release.pk), [qrel.query_id]).get(qrel.query_id),
        doc_id=qrel.doc_id,
        grade=qrel.grade,
        origin=qrel.origin,
        judgments=list_traced_judgments(session, dataset_pk, judgment_pks),
        adjudication=None
        if adjudication_pk is None
        else find_traced_decision(session, dataset_pk, adjudication_pk),
        imported=None if imported is None else find_traced_import(session, imported),
        complete=qrel.judgments is not None,
    )


def list_guidelines(database: Database, actor: Actor, dataset: str) -> tuple[Guideline, ...]:
    """Return every version of the dataset's guideline, oldest first. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return tuple(
            Guideline(
                rubric.version,
                rubric.title,
                rubric.guideline,
                tuple(rubric.grades),
                rubric.change,
                rubric.created_at,
            )
            for rubric in list_rubrics(session, dataset_pk)
        )


def read_facts(session: Session, dataset: str, release: ReleaseRow) -> ReleaseFacts:
    """Return a release without its qrels."""
    return ReleaseFacts(
        dataset=dataset,
        version=release.version,
        scale=release.manifest["scale"],
        guideline_version=release.manifest["guideline_version"],
        queries=list_published_queries(session, key_of(release.pk)),
        created_at=release.created_at,
    )


def read_qrels(
    session: Session,
    release_pk: int,
    query_ids: Sequence[str],
    *,
    without: Collection[tuple[str, str]] = frozenset(),
) -> dict[str, dict[str, PublishedQrel]]:
    """Return the published qrels of these queries, by query_id and doc_id; queries without any are absent.

    `without`: pairs (query_id, doc_id) to leave out.
    """
    qrels: dict[str, dict[str, PublishedQrel]] = {}
    for qrel in iterate_published_qrels(session, release_pk, query_ids):
        if (qrel.query_id, qrel.doc_id) in without:
            continue
        qrels.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel
    return qrels


def read_renames(
    session: Session, dataset_pk: int, *, since: datetime, until: datetime | None = None
) -> Renames:
    """Return the renamings of documents by `remap` after `since`, up to `until` if given."""
    return follow(list_remaps(session, dataset_pk, since=since, until=until))


def _read_renames_between(session: Session, dataset_pk: int, old: ReleaseRow, new: ReleaseRow) -> Renames:
    """Return the renamings between two releases; `old` may be the later one."""
    first, last = sorted((old.created_at, new.created_at))
    renames = read_renames(session, dataset_pk, since=first, until=last)
    if key_of(old.pk) <= key_of(new.pk):
        return renames
    back = {now: then for then, now in renames.renamed.items()}
    return Renames(back, renames.joined, renames.parted, renames.rows)


def _find_grounds(
    session: Session, dataset_pk: int, release: ReleaseRow, qrel: ReleaseQrelRow
) -> tuple[list[int], int | None]:
    """Return the keys of the judgments and of the decision behind a qrel.

    Releases made before these were recorded: of what was current when nothing later than the release had been received.
    """
    if qrel.judgments is not None:
        return [int(key) for key in qrel.judgments.split()], qrel.adjudication_pk
    renames = read_renames(session, dataset_pk, since=release.created_at)
    doc_id = renames.renamed.get(qrel.doc_id, qrel.doc_id)
    pair = find_named_pair(session, dataset_pk, qrel.query_id, doc_id)
    if pair is None:
        return [], None
    pair_pk = key_of(pair.pk)
    until = release.created_at + timedelta(seconds=1)  # the time of a release is in whole seconds
    return list_judgments_until(session, pair_pk, until), find_decision_until(session, pair_pk, until)
