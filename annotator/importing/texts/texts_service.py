"""Import queries, documents and pairs, and find relations between documents in their texts, for a lead.

A file is read and checked before the write lock, then stored in one transaction or not at all. Importing the
same file twice changes nothing. With `dry_run` everything is checked, including the database, and nothing is
stored. Raises BadInput with each bad line, and NotAllowed unless the actor leads the dataset.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from annotator.domain.errors import StateError
from annotator.domain.messages import say, say_n
from annotator.domain.people import Actor
from annotator.formats.input_tables import read_pairs
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import ColumnNames, read_table
from annotator.importing.report import (
    ImportReport,
    NewIds,
    Progress,
    be_silent,
    note_by_id,
    note_changed_texts,
    require_content,
)
from annotator.importing.runs.run_plan import RESERVED, check_queries
from annotator.importing.sources import make_layout, read_document_source, read_query_source
from annotator.importing.texts import texts_sql
from annotator.importing.texts.law_relations import LawRelation, UnknownReference, find_relations
from annotator.importing.texts.text_plan import plan_documents, plan_queries
from annotator.importing.texts.texts_sql import add_documents_by_id, list_law_documents, list_query_texts
from annotator.importing.transaction_sql import list_given_options, open_import, record_import
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database
from annotator.storage.judgments.outdated import count_on_older_text, mark_outdated
from annotator.storage.pairs.pool import PoolCandidate, add_candidates


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
    columns: ColumnNames | None = None,
    dry_run: bool = False,
    report_progress: Progress = be_silent,
) -> ImportReport:
    """Import queries from CSV, TSV, JSONL or a ground-truth file; its grades are ignored.

    New queries come after existing ones, in file order. `columns`: {expected name: column of the table}
    (`rename_columns`). Refused: another text for a judged query.
    """
    report_progress(say("reading {path}", path=path))
    source = InputSource(str(path), encoding=encoding, scale=GradeScale(lenient=True))
    lines, notes = read_query_source(source, format_name=format_name, header=header, columns=columns)
    require_content(len(lines), str(path), "queries")
    with open_import(database, actor, dataset, now=now, dry_run=dry_run) as transaction:
        session, dataset_pk = transaction.session, transaction.dataset_pk
        report_progress(say_n("checking {n:,} query", "checking {n:,} queries", len(lines)))
        existing = texts_sql.list_stored_queries(session, dataset_pk)
        plan = plan_queries(existing, lines, str(path))
        notes = (*notes, *NewIds.of((query.query_id for query in plan.added), existing).describe())
        texts_sql.add_queries(session, dataset_pk, plan.added)
        texts_sql.change_queries(session, dataset_pk, plan.changed)
        added, changed = len(plan.added), len(plan.changed)
        report = ImportReport(
            "queries", str(path), len(lines), added, changed, plan.unchanged, notes, dry_run
        )
        if report.changes_something:
            options = list_given_options(columns=dict(columns or {}))
            record_import(transaction, report, sha256=source.sha256, format_name=format_name, options=options)
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
    cut: str | None = None,
    doc_id: str | None = None,
    title: str | None = None,
    encoding: str | None = None,
    columns: ColumnNames | None = None,
    dry_run: bool = False,
    report_progress: Progress = be_silent,
) -> ImportReport:
    """Import documents from JSONL, CSV, TSV, a folder or one text file; with `sections`, split at headings.

    `cut`: divide law texts into "articles", "paragraphs" or "items". `doc_id`, `title`: patterns for files
    (`document_names.py`). `columns`: {expected name: column of the table}.

    A changed text becomes the current one. The old text is kept, and annotators who judged it are asked to
    confirm or change their judgments.
    """
    layout = make_layout(sections=sections, cut=cut, doc_id=doc_id, title=title)
    report_progress(say("reading {path}", path=path))
    source = InputSource(str(path), encoding=encoding)
    content = read_document_source(source, format_name=format_name, layout=layout, columns=columns)
    lines = content.documents
    require_content(len(lines), str(path), "documents")
    with open_import(database, actor, dataset, now=now, dry_run=dry_run) as transaction:
        session, dataset_pk = transaction.session, transaction.dataset_pk
        report_progress(say_n("checking {n:,} document", "checking {n:,} documents", len(lines)))
        existing = texts_sql.list_stored_documents(session, dataset_pk)
        plan = plan_documents(existing, lines)
        new = NewIds.of((document.doc_id for document, _ in plan.added), existing)
        stored = len(plan.added) + len(plan.changed)
        report_progress(say_n("storing {n:,} document", "storing {n:,} documents", stored))
        texts_sql.add_documents(session, dataset_pk, plan.added, now=now)
        texts_sql.change_documents(session, plan.changed, now=now)
        mark_outdated(session, dataset_pk, plan.retexted)
        on_older_text = count_on_older_text(session, plan.retexted)
        notes = (*content.notes, *new.describe(), *note_changed_texts(len(plan.retexted), on_older_text))
        added, changed = len(plan.added), len(plan.changed)
        report = ImportReport(
            "documents", str(path), len(lines), added, changed, plan.unchanged, notes, dry_run
        )
        if report.changes_something:
            options = list_given_options(
                sections=sections, cut=cut, doc_id=doc_id, title=title, columns=dict(columns or {})
            )
            record_import(transaction, report, sha256=source.sha256, format_name=format_name, options=options)
    return report


@dataclass(frozen=True, slots=True)
class RelationReport:
    """The relations and their number by kind. `documents`: the number of articles and parts of articles.

    `unknown`, `other_laws`: references without a target; see `FoundRelations`.
    """

    dataset: str
    documents: int
    counts: Mapping[str, int]
    relations: tuple[LawRelation, ...]
    unknown: tuple[UnknownReference, ...]
    other_laws: int


def find_law_relations(database: Database, actor: Actor, dataset: str) -> RelationReport:
    """Return the relations between the articles of a dataset's laws. StateError if no document is part of a law."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        documents = list_law_documents(session, dataset_pk)
    if not documents:
        raise StateError(
            say(
                "no document of {dataset} is an article of a law: import the laws by articles or paragraphs",
                dataset=dataset,
            )
        )
    found = find_relations(documents)
    counts = Counter(relation.relation for relation in found.relations)
    return RelationReport(
        dataset,
        len(documents),
        dict(sorted(counts.items())),
        found.relations,
        found.unknown,
        found.other_laws,
    )


def import_pairs(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    format_name: str | None = None,
    encoding: str | None = None,
    columns: ColumnNames | None = None,
    dry_run: bool = False,
    report_progress: Progress = be_silent,
) -> ImportReport:
    """Import pairs into the pool, from CSV, TSV or JSONL. Their provenance is the system `import`."""
    report_progress(say("reading {path}", path=path))
    source = InputSource(str(path), encoding=encoding)
    data = read_table(source, kind=format_name)
    lines = read_pairs(data, str(path), kind=format_name, names=columns)
    require_content(len(lines), str(path), "pairs")
    with open_import(database, actor, dataset, now=now, dry_run=dry_run) as transaction:
        session, dataset_pk = transaction.session, transaction.dataset_pk
        queries = list_query_texts(session, dataset_pk)
        check_queries(((line.line, line.query_id) for line in lines), queries, str(path))
        documents, by_id_only = add_documents_by_id(session, dataset_pk, (line.doc_id for line in lines))
        report_progress(say_n("storing {n:,} pair", "storing {n:,} pairs", len(lines)))
        candidates = [
            PoolCandidate(
                queries[query_id].pk, query_id, documents[doc_id].pk, doc_id, RESERVED, signals=signals
            )
            for _, query_id, doc_id, signals in lines
        ]
        added = add_candidates(session, dataset_pk, transaction.dataset, candidates, now=now).pairs
        report = ImportReport(
            "pairs", str(path), len(lines), added, 0, len(lines) - added, note_by_id(by_id_only), dry_run
        )
        if report.changes_something:
            options = list_given_options(columns=dict(columns or {}))
            record_import(transaction, report, sha256=source.sha256, format_name=format_name, options=options)
    return report
