"""Import pairs to be judged, for a lead. Checks and errors as in `texts_service.py`."""

from datetime import datetime
from pathlib import Path

from annotator.domain.messages import say, say_n
from annotator.domain.people import Actor
from annotator.formats.input_tables import read_pairs
from annotator.formats.syntax.source import InputSource
from annotator.formats.syntax.tables import ColumnNames, read_table
from annotator.importing.new_ids import note_by_id, require_content
from annotator.importing.report import ImportReport, Progress, be_silent
from annotator.importing.runs.run_plan import RESERVED, check_queries
from annotator.importing.texts.texts_sql import add_documents_by_id, list_query_texts
from annotator.importing.transaction_sql import list_given_options, open_import, record_import
from annotator.storage.database import Database
from annotator.storage.pairs.pool import PoolCandidate, add_candidates


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
