"""Give queries new ids, together with everything stored under the old ones. For leads.

Pairs, judgments, decisions and run results stay with their query. A pair keeps its key, so a judgment that a
browser is sending reaches the right pair. A query in a release keeps its id, because readers of that release
find the grades by this id. Everything or nothing; importing the same file twice changes nothing.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from annotator.domain.audit import AuditAction
from annotator.domain.messages import say
from annotator.domain.normal_forms import show_id
from annotator.domain.people import Actor
from annotator.formats.syntax.source import read_regular
from annotator.formats.syntax.tables import open_table, take_id
from annotator.formats.syntax.text import to_utf8
from annotator.importing.remapping import remapping_sql
from annotator.importing.texts.texts_sql import list_query_texts
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_entries import note_act

OLD, NEW = ("old_query_id",), ("new_query_id",)


@dataclass(frozen=True, slots=True)
class QueryRenaming:
    """The effect of a file of new query ids; with `dry_run`, the possible effect.

    `read`: its lines; `applied`: lines whose query already has the new id. `renamed`: {old id: new id}.
    `unknown`: old ids outside the dataset.
    """

    path: str
    read: int
    applied: int
    renamed: Mapping[str, str]
    unknown: tuple[str, ...]
    dry_run: bool


def rename_queries(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    encoding: str | None = None,
    dry_run: bool = False,
) -> QueryRenaming:
    """Give queries the new ids of a file `old_query_id,new_query_id`.

    BadInput names every bad line: a repeated id, a query in a release, or a new id that another query or a
    release has. Old ids outside the dataset are reported, not refused.
    """
    data = to_utf8(read_regular(path), str(path), encoding)
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, _, dataset_pk):
        lock_dataset(session, dataset_pk)
        queries = list_query_texts(session, dataset_pk)
        released = remapping_sql.list_released_queries(session, dataset_pk)
        links = _read_links(data, str(path), queries, released)
        renamed = {old: new for old, new in links.items() if old in queries and old != new}
        if renamed:
            new_ids = {queries[old].pk: new for old, new in renamed.items()}
            remapping_sql.rename_queries(session, dataset_pk, new_ids, renamed)
            note_act(
                session,
                AuditAction.queries_renamed,
                actor,
                at=now,
                dataset=dataset_pk,
                target=path.name,
                details={"renamed": len(renamed)},
            )
        if dry_run:
            session.rollback()
    absent = [old for old in links if old not in queries]
    unknown = tuple(old for old in absent if links[old] not in queries)
    return QueryRenaming(str(path), len(links), len(absent) - len(unknown), renamed, unknown, dry_run)


def _read_links(
    data: bytes, path: str, queries: Collection[str], released: Collection[str]
) -> dict[str, str]:
    """Return {old id: new id}. Each id may occur once in the file, so a second import cannot continue or
    reverse the first.
    """
    table, problems = open_table(data, path, (OLD, NEW))
    links: dict[str, str] = {}
    lines: dict[str, int] = {}
    for row in table.rows:
        old, new = take_id(row, OLD, problems), take_id(row, NEW, problems)
        if old is None or new is None or links.get(old) == new:
            continue
        for item_id in {old, new}:
            if item_id in lines:
                problems.add(row.line, f"each id once (first on line {lines[item_id]})", show_id(item_id))
            lines.setdefault(item_id, row.line)
        if old != new and old in queries:
            if new in queries:
                problems.add(row.line, "new_query_id to be an id that no query has", show_id(new))
            for item_id in {old, new} & set(released):
                problems.add(row.line, "an id that no release names: releases never change", show_id(item_id))
        links.setdefault(old, new)
    if not links and not problems:
        problems.add(None, "lines of old_query_id and new_query_id", say("none"))
    problems.raise_if_any()
    return links
