"""Import an earlier ground truth, for a lead. Checks and errors as in `texts_service.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from annotator.domain.ground_truth import Qrel
from annotator.domain.messages import say, say_n
from annotator.domain.people import Actor
from annotator.formats.syntax.grade_scale import GradeScale, parse_mapping
from annotator.importing.judgments.judgments_service import (
    plan_judgments,
    prepare_new_judgments,
    store_judgments,
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
    to_rows,
)
from annotator.importing.new_ids import note_by_id, require_content
from annotator.importing.report import (
    ImportReport,
    Progress,
    be_silent,
    count_mapped,
    note_joined,
)
from annotator.importing.runs.run_plan import RESERVED
from annotator.importing.texts.text_plan import QueryText
from annotator.importing.texts.texts_sql import add_documents_by_id, list_query_texts
from annotator.importing.transaction_sql import (
    ImportTransaction,
    list_given_options,
    open_import,
    record_declaration,
    record_import,
)
from annotator.storage.database import Database
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.pairs.pair_states import bring_in, list_judged, list_known_qrels
from annotator.storage.pairs.pool import add_missing


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
        rows = to_rows(plan, file, now=now, import_record_pk=record_pk)
        kept = [] if rejudge else new  # the others are opened
        query_pks, pair_pks = {query_pk for query_pk, _ in kept}, {pair_pk for _, pair_pk in kept}
        bring_in(session, dataset_pk, rows, new=pair_pks, query_pks=query_pks)
        return report


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
