"""Run `annotator duplicates`, `suggest`, `suggestions` and `relations`: what follows for pairs from other documents."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from annotator.cli.terminal import (
    Console,
    DatasetArgument,
    DryRunOption,
    now,
    open_as,
    print_table,
)
from annotator.domain.figures import show_percent
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from annotator.pooling.duplicates.duplicates import AcceptedDuplicates, DuplicateReport
    from annotator.pooling.suggestions.suggestion_rules import MeasuredShare, SuggestReport


COLUMNS = (
    "pair",
    "query_id",
    "judged document",
    "its grade",
    "near duplicate",
    "state",
    "grade",
    "round",
    "rule",
)


def duplicates(
    dataset: DatasetArgument,
    accept: bool = typer.Option(
        False, "--accept", help="Give the settled grade of the judged document to its near duplicates."
    ),
    lead: str | None = typer.Option(
        None, "--as", metavar="LEAD", help="The lead who accepts; with --accept."
    ),
    group: list[str] | None = typer.Option(
        None, metavar="PAIR", help="Only the group of this judged pair (repeatable); default: all offers."
    ),
    dry_run: DryRunOption = False,
    console: Console = Console(),
) -> None:
    """List near duplicates left out of the pool, and accept the judged document's grade for them."""
    from annotator.pooling.duplicates.duplicates_service import accept_duplicates, list_duplicates

    if accept and lead is None:
        raise typer.BadParameter("--accept needs --as LEAD: a person accepts a grade")
    if not accept and (group or dry_run):
        raise typer.BadParameter("--group and --dry-run go with --accept")
    opened, actor = open_as(console.database, lead)
    if not accept:
        report = list_duplicates(opened, actor, dataset, now=now())
        if not console.show_json(report):
            _print_duplicates(report)
        return
    done = accept_duplicates(opened, actor, dataset, now=now(), pairs=group or (), dry_run=dry_run)
    if not console.show_json(done):
        _print_accepted(done)


def _print_duplicates(report: "DuplicateReport") -> None:
    rows = [
        (
            group.pair or "",
            group.query_id,
            group.doc_id,
            "" if group.grade is None else group.grade,
            document.doc_id,
            document.state,
            "" if document.grade is None else document.grade,
            document.round,
            document.rule,
        )
        for group in report.groups
        for document in group.documents
    ]
    print_table(COLUMNS, rows, empty="No near duplicate was left out of the pool.")
    if not rows:
        return
    typer.echo(
        f"{count_of(report.documents, 'near duplicate')}: {report.waiting:,} waiting, {report.offered:,} offered, "
        f"{report.accepted:,} accepted, {report.out_of_date:,} out of date, {report.judged:,} judged."
    )
    if report.offered or report.out_of_date:
        typer.echo(f"Accept what is offered: annotator duplicates {report.dataset} --accept --as LEAD")
    for group in report.groups:
        for document in group.documents:
            if document.state == "out of date":
                present = "has no settled grade" if group.grade is None else f"is at {group.grade}"
                typer.echo(
                    f"Out of date: {group.query_id} {document.doc_id} was accepted at {document.grade}, "
                    f"and {group.doc_id} {present} now."
                )


def _print_accepted(done: "AcceptedDuplicates") -> None:
    verb = "Would accept" if done.dry_run else "Accepted"
    typer.echo(
        f"{verb} the grades of {count_of(done.groups, 'judged document')} for {count_of(done.accepted, 'near duplicate')}; "
        f"{count_of(done.new_pairs, 'is a new pair', 'are new pairs')}, {done.renewed:,} had another grade before."
    )
    if done.judged:
        typer.echo(
            f"{count_of(done.judged, 'near duplicate keeps its', 'near duplicates keep their')} own judgments."
        )


MOST_UNKNOWN = 10


def _print_rules(name: str | None) -> None:
    if name is not None:
        from annotator.pooling.suggestions.suggestion_rules import read_template

        typer.echo(read_template(name), nl=False)
        raise typer.Exit


def suggest(
    dataset: DatasetArgument,
    relations: Path = typer.Argument(..., metavar="RELATIONS", help="CSV, TSV or JSONL: from,to,relation."),
    rules: str = typer.Option(..., metavar="FILE", help="The rules, in YAML; or a template: law."),
    print_rules: str | None = typer.Option(
        None, metavar="law", callback=_print_rules, is_eager=True, help="Print a template of rules to edit."
    ),
    skip_unknown_documents: bool = typer.Option(
        False,
        "--skip-unknown-documents",
        help="Leave out relations of documents that the dataset does not have.",
    ),
    dry_run: DryRunOption = False,
    console: Console = Console(),
) -> None:
    """Add pairs by relations: documents that rules reach from documents settled at grade 3."""
    del print_rules
    from annotator.formats.input_tables import read_relation_lines
    from annotator.pooling.suggestions.suggestion_rules import read_rules
    from annotator.pooling.suggestions.suggestions_service import suggest_from

    opened, lines = console.open(), read_relation_lines(relations)
    report = suggest_from(
        opened,
        OPERATOR,
        dataset,
        lines,
        read_rules(rules, (line.relation for line in lines)),
        str(relations),
        now=now(),
        dry_run=dry_run,
        skip_unknown=skip_unknown_documents,
    )
    if not console.show_json(report):
        _print_report(report)


def suggestions(dataset: DatasetArgument, console: Console = Console()) -> None:
    """Show how often suggestions by relations were right, by rule."""
    from annotator.pooling.suggestions.suggestions_service import report_suggestions

    report = report_suggestions(console.open(), OPERATOR, dataset, now=now())
    if console.show_json(report):
        return
    rows = [
        (
            rule.rule,
            rule.grade,
            rule.suggested,
            rule.open,
            rule.unrateable,
            *rule.settled_at.values(),
            _show_share(rule.exact),
            _show_share(rule.relevant),
        )
        for rule in report.rules
    ]
    grades = tuple(f"settled at {grade}" for grade in range(4))
    print_table(
        ("rule", "suggests", "pairs", "open", "unrateable", *grades, "that grade", "relevant"),
        rows,
        empty=f"No suggestions yet: annotator suggest {dataset} RELATIONS.csv --rules law",
    )
    outdated = [pair for pair in report.pairs if pair.outdated]
    if outdated:
        typer.echo(f"\n{_describe_outdated(len(outdated))}:")
        for pair in outdated[:10]:
            settled = pair.status if pair.settled is None else f"{pair.status} at {pair.settled}"
            typer.echo(
                f"  {pair.query_id}  {pair.doc_id}  {pair.rule}, from {', '.join(pair.from_doc_ids)}: {settled}"
            )
        if len(outdated) > 10:
            typer.echo(f"  {len(outdated) - 10:,} more: --json lists all")


def relations(
    dataset: DatasetArgument,
    target: Path = typer.Argument(..., metavar="FILE", help="The CSV to write: from,to,relation."),
    console: Console = Console(),
) -> None:
    """Write the relations between law articles that their texts state."""
    from annotator.agreement.report_files import check_target, write_file
    from annotator.formats.input_tables import write_relations
    from annotator.importing.texts.texts_service import find_law_relations

    check_target(target)
    report = find_law_relations(console.open(), OPERATOR, dataset)
    write_file(target, write_relations(report.relations))
    if console.show_json(
        {
            "dataset": dataset,
            "path": str(target),
            "documents": report.documents,
            "counts": report.counts,
            "unknown": [reference._asdict() for reference in report.unknown],
            "other_laws": report.other_laws,
        }
    ):
        return
    total = count_of(len(report.relations), "relation")
    typer.echo(f"{total} between {count_of(report.documents, 'part', 'parts')} of laws: {target}\n")
    print_table(("relation", "relations"), list(report.counts.items()), empty="No relations.")
    if report.other_laws:
        typer.echo(f"\n{count_of(report.other_laws, 'reference')} to laws that the dataset does not have.")
    if report.unknown:
        typer.echo(
            f"\n{count_of(len(report.unknown), 'reference leads', 'references lead')} to no document of the dataset:"
        )
        for reference in report.unknown[:MOST_UNKNOWN]:
            typer.echo(f"  {reference.doc_id}: {reference.words}")
        if len(report.unknown) > MOST_UNKNOWN:
            typer.echo(f"  {len(report.unknown) - MOST_UNKNOWN:,} more: --json lists all")
    typer.echo(f"\nNext: annotator suggest {dataset} {target} --rules law --dry-run")


def _print_report(report: "SuggestReport") -> None:
    verb = "Would make" if report.dry_run else "Made"
    typer.echo(
        f"{verb} {count_of(report.new_pairs, 'new pair')} for {count_of(report.queries_widened, 'query')}, with "
        f"{count_of(report.suggestions, 'suggestion')}; from {count_of(report.settled_documents, 'document')} "
        f"settled at grade 3 for {count_of(report.queries, 'query')}.\n"
    )
    rows = [
        (
            rule.rule,
            rule.grade,
            rule.pairs,
            rule.new,
            rule.waiting,
            rule.suggested_before,
            rule.judged_before,
            _show_before(rule.exact_before, rule.settled_before),
            _show_before(rule.relevant_before, rule.settled_before),
        )
        for rule in report.rules
    ]
    print_table(
        (
            "rule",
            "suggests",
            "pairs",
            "new",
            "waiting",
            "suggested before",
            "judged before",
            "of these that grade",
            "of these relevant",
        ),
        rows,
        empty="No rule.",
    )
    if report.unused_relations:
        unused = ", ".join(
            f"{name or 'without a name'} ({n:,})" for name, n in report.unused_relations.items()
        )
        typer.echo(f"\nNo rule follows: {unused}")
    if report.unknown_documents:
        typer.echo(f"\n{count_of(report.unknown_documents, 'document')} not in the dataset: left out")
    if report.outdated:
        typer.echo(f"\n{_describe_outdated(report.outdated)}: annotator suggestions {report.dataset}")


def _describe_outdated(count: int) -> str:
    return f"{count_of(count, 'suggestion starts', 'suggestions start')} from no document settled at grade 3 any more"


def _show_before(count: int, settled: int) -> str:
    return f"{count:,} of {settled:,}" if settled else "–"


def _show_share(share: "MeasuredShare") -> str:
    if share.share is None or share.ci95 is None:
        return "–"
    low, high = (show_percent(end, 0).removesuffix(" %") for end in share.ci95)
    return f"{show_percent(share.share, 0)} ({low}–{high}), {share.count:,} of {share.of:,}"
