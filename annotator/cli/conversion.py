"""Run `annotator convert` and `annotator check`: ground-truth files without a database."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotator.cli.terminal import EncodingOption, ErrorsOption, JsonOption, print_json, print_table
from annotator.domain.figures import show_percent
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.agreement.records import MeasuredAgreement
    from annotator.dataset.coverage_service import CheckReport
    from annotator.formats.syntax.source import InputSource
    from annotator.importing.conversion_service import Conversion, WrittenFile

MOST_DIFFERING = 50  # of the documents on which annotators differ, on the screen

GradesByOption = Annotated[
    str | None,
    typer.Option(
        "--grades-by",
        metavar="RULE",
        help="Grades for a file without any (ranked): position (list length down to 1), all=N with N from 1 to 3, or places=3:3,6:2,10:1 (3 as far as place 3, …).",
    ),
]


MapGradesOption = Annotated[
    str | None,
    typer.Option(
        "--map-grades",
        metavar="VALUE=GRADE,…",
        help='Read another scale, as in "4=3,-1=unrateable" (unrateable: no qrel).',
    ),
]


def convert(
    source: str = typer.Argument(..., metavar="SRC", help="The file to read (beir: or a folder)."),
    target: str = typer.Argument(..., metavar="DST", help="The file to write (beir: a folder)."),
    from_format: str | None = typer.Option(
        None, "--from", metavar="F", help="SRC's format, where its content does not show it."
    ),
    to_format: str | None = typer.Option(
        None, "--to", metavar="F", help="DST's format, where its name does not show it."
    ),
    queries: Path | None = typer.Option(
        None, metavar="FILE", help="A queries file, for texts and fields that SRC does not have."
    ),
    grades_by: GradesByOption = None,
    map_grades: MapGradesOption = None,
    list_grade_0: bool = typer.Option(
        False, "--list-grade-0", help="List grade 0 where the evaluator counts it as relevant."
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Overwrite DST if it exists."),
    encoding: EncodingOption = None,
    errors: ErrorsOption = None,
    json: JsonOption = False,
) -> None:
    """Turn one evaluator's ground-truth file into another's, without a database."""
    del errors  # read where the command ends: see terminal.py
    from annotator.importing.conversion_service import prepare_conversion, write_conversion

    gc.disable()  # a million records, all kept to the end: see cli/importing.py
    prepared = prepare_conversion(
        _open(source, encoding, map_grades),
        target,
        source_format=from_format,
        target_format=to_format,
        queries=_open(str(queries), None) if queries else None,
        grades_by=grades_by,
        list_grade_0=list_grade_0,
        overwrite=overwrite,
        report_progress=_choose_progress(),
    )
    losses = _describe_losses(prepared)
    if losses and prepared.can_be_written:
        typer.echo(losses, err=json)
    if json and not prepared.can_be_written:
        print_json(_show_conversion(prepared, ()))
    written = write_conversion(prepared, report_progress=_choose_progress())
    if json:
        print_json(_show_conversion(prepared, written))
        return
    size = sum(file.bytes for file in written)
    typer.echo(
        f"{target}: {prepared.target_format.name}, {size:,} bytes, of {count_of(len(prepared.truth.queries), 'query')} "
        f"and {count_of(len(prepared.truth.qrels), 'qrel')} read as {prepared.source_format.name}"
    )


def _open(path: str, encoding: str | None, map_grades: str | None = None) -> "InputSource":
    from annotator.formats.syntax.grade_scale import GradeScale, parse_mapping
    from annotator.formats.syntax.source import InputSource

    return InputSource(path, encoding=encoding, scale=GradeScale(parse_mapping(map_grades)))


def _choose_progress() -> Callable[[str], None]:
    if not sys.stderr.isatty():
        return lambda _: None
    return lambda step: typer.echo(f"{step} …", err=True)


def _describe_losses(prepared: "Conversion") -> str:
    lines = [f"- {loss.what}" for loss in prepared.losses]
    if lines:
        lines.insert(0, f"What {prepared.target_format.name} cannot hold of {prepared.source}:")
    return "\n".join([*lines, *(f"Note: {note}" for note in prepared.notes)])


def _show_conversion(prepared: "Conversion", written: "tuple[WrittenFile, ...]") -> dict[str, Any]:
    return {
        "source": prepared.source,
        "from": prepared.source_format.name,
        "target": str(prepared.target),
        "to": prepared.target_format.name,
        "queries": len(prepared.truth.queries),
        "qrels": len(prepared.truth.qrels),
        "losses": prepared.losses,
        "notes": prepared.notes,
        "mapped_grades": prepared.mapped_grades,
        "written": bool(written),
        "files": written,
    }


def check(
    file: str = typer.Argument(..., metavar="FILE", help="A ground-truth file (beir: or a folder)."),
    format_name: str | None = typer.Option(
        None, "--format", metavar="F", help="Its format, where its content does not show it."
    ),
    requirements: str | None = typer.Option(
        None, metavar="FILE", help="What it must cover: nablarch, law, or a YAML file."
    ),
    grades_by: GradesByOption = None,
    map_grades: MapGradesOption = None,
    encoding: EncodingOption = None,
    errors: ErrorsOption = None,
    json: JsonOption = False,
) -> None:
    """Validate a ground-truth file and compare its coverage with requirements. Needs no database."""
    del errors  # read where the command ends: see terminal.py
    from annotator.dataset.coverage_service import check_file, read_requirements
    from annotator.domain.errors import BadInput, GateNotMet
    from annotator.domain.texts import show_id
    from annotator.formats.content_warnings import describe_empty_lists, describe_repeated_texts

    gc.disable()
    required = read_requirements(requirements) if requirements else None
    report = check_file(
        _open(file, encoding, map_grades),
        format_name=format_name,
        grades_by=grades_by,
        requirements=required,
        report_progress=_choose_progress(),
    )
    if json:
        print_json(_show_report(report))
    elif report.valid:
        _print_report(report)
    for wrong in report.wrong_counts:
        typer.echo(f"Warning: {wrong}", err=True)
    for repeated in describe_repeated_texts(report.file, report.repeated_texts):
        typer.echo(f"Warning: {repeated}", err=True)
    for empty in describe_empty_lists(report.file, report.empty_lists):
        typer.echo(f"Warning: {empty}", err=True)
    if report.missing_documents:
        count = count_of(len(report.missing_documents), "graded document is", "graded documents are")
        listed = ", ".join(map(show_id, report.missing_documents[:MOST_DIFFERING]))
        typer.echo(f"Warning: {report.file}: {count} not among the file's documents: {listed}", err=True)
    if report.valid and not report.qrels and not report.unrateable:
        typer.echo(f"Warning: {report.file} holds no grades.", err=True)
    if not report.valid:
        raise BadInput(report.problems, hint=report.hint)
    if report.coverage is not None and report.coverage.met < report.coverage.required:
        lacking = report.coverage.required - report.coverage.met
        raise GateNotMet(
            f"{file}: {lacking} of {report.coverage.required} requirements "
            f"{'is' if lacking == 1 else 'are'} not met"
        )


def _print_report(report: "CheckReport") -> None:
    typer.echo(
        f"{report.file}: valid {report.format}: {count_of(report.queries, 'query')}, {count_of(report.qrels, 'qrel')}"
        + (f", {count_of(report.documents, 'document')}" if report.documents else "")
    )
    if report.qrels:
        typer.echo(
            f"By grade: {', '.join(f'{grade}: {count:,}' for grade, count in (report.by_grade or {}).items())}"
        )
    if report.grades_by is not None:
        typer.echo(f"The file has no grades; these counts use {report.grades_by}.")
    if report.mapped_grades is not None:
        mapped = ", ".join(f"{value!r}: {count:,}" for value, count in report.mapped_grades.items())
        typer.echo(f"Grades mapped from another scale: {mapped}")
    if report.agreement is not None:
        _print_annotators(report, report.agreement)
    if report.mixed_annotators:
        typer.echo(
            "annotator_1 and annotator_2 are the first two annotators of each pair here, not two people: the manifest and the "
            "judgments.csv beside the file say how well the annotators agree"
        )
    if report.unrateable:
        counts = ", ".join(f"{name} {count:,}" for name, count in report.unrateable.items())
        typer.echo(f"Documents that annotators could not rate (unrateable): {counts}")
    if report.coverage is None:
        return
    required = [row for row in report.coverage.rows if row.met is not None]
    figures = [row for row in report.coverage.rows if row.met is None]
    if required:
        rows = [("met" if row.met else "NOT MET", row.name, row.required, row.measured) for row in required]
        typer.echo("")
        print_table(("", "requirement", "required", "measured"), rows, empty="")
    typer.echo("")
    print_table(("coverage", "measured"), [(row.name, row.measured) for row in figures], empty="")
    if not required:
        typer.echo("\nNo requirements are given. To compare with some: --requirements nablarch, law or FILE.")


def _print_annotators(report: "CheckReport", agreement: "MeasuredAgreement") -> None:
    from annotator.cli.agreement import format_value

    typer.echo(
        f"\nAnnotators' own grades: {count_of(agreement.pairs, 'pair')} with two or more, {agreement.single_pairs:,} with one"
    )
    for pair in agreement.annotator_pairs:
        kappa = pair.cohen_kappa["unweighted"]
        why = f" ({kappa.why})" if kappa.why else ""
        typer.echo(
            f"{pair.annotators[0]} and {pair.annotators[1]}: {count_of(pair.pairs, 'pair')}, "
            f"{show_percent(pair.observed_agreement)} equal, Cohen's kappa {format_value(kappa)}{why}"
        )
    if not agreement.annotator_pairs:
        typer.echo(f"Cohen's kappa: {agreement.cohen_kappa['unweighted'].why}")
    rows = [
        (
            pair_grades.query_id,
            pair_grades.doc_id,
            " ".join(f"{name}:{grade}" for name, grade in pair_grades.grades.items()),
            "-" if pair_grades.settled is None else pair_grades.settled,
        )
        for pair_grades in report.differing[:MOST_DIFFERING]
    ]
    if rows:
        typer.echo("")
        print_table(("query_id", "doc_id", "they differ", "settled in the file"), rows, empty="")
    if len(report.differing) > MOST_DIFFERING:
        typer.echo(f"… and {len(report.differing) - MOST_DIFFERING:,} more (--json lists all)")


def _show_annotators(report: "CheckReport") -> dict[str, Any] | None:
    if report.agreement is None:
        return {"unrateable": report.unrateable} if report.unrateable else None
    agreement = report.agreement
    return {
        "pairs": agreement.pairs,
        "single_pairs": agreement.single_pairs,
        "observed_agreement": agreement.observed_agreement,
        "cohen_kappa": {kind: value.as_json() for kind, value in agreement.cohen_kappa.items()},
        "annotator_pairs": [pair.as_json() for pair in agreement.annotator_pairs],
        "differing": report.differing,
        "unrateable": report.unrateable,
    }


def _show_report(report: "CheckReport") -> dict[str, Any]:
    from annotator.dataset.schema_check import split_location

    shown: dict[str, Any] = {
        "file": report.file,
        "format": report.format,
        "valid": report.valid,
        "queries": report.queries,
        "qrels": report.qrels,
        "documents": report.documents,
        "by_grade": report.by_grade,
        "grades_by": report.grades_by,
        "mapped_grades": report.mapped_grades,
        "annotators": _show_annotators(report),
        "problems": [],
        "coverage": report.coverage,
        "wrong_counts": report.wrong_counts,
        "repeated_texts": [{"text": text, "numbers": numbers} for text, numbers in report.repeated_texts],
        "empty_lists": report.empty_lists,
        "missing_documents": report.missing_documents,
    }
    for problem in report.problems:
        location, expected = split_location(problem)
        shown["problems"].append(
            {
                "path": problem.path,
                "line": problem.line,
                "place": location,
                "expected": expected,
                "found": problem.found,
            }
        )
    return shown
