"""Run `annotator evaluate`: score runs against a ground truth, compare systems, describe the dataset's limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from annotator.cli.conversion import GradesByOption, MapGradesOption
from annotator.cli.terminal import (
    AsOption,
    DatabaseOption,
    ErrorsOption,
    JsonOption,
    has_dataset,
    note_written,
    now,
    open_as,
    print_json,
    print_table,
)
from annotator.domain.figures import show_figure, show_interval, show_number, show_p
from annotator.domain.messages import count_of

if TYPE_CHECKING:
    from annotator.evaluation.differences.sweep import Sweep
    from annotator.evaluation.evaluate import Evaluation, SystemSummary
    from annotator.evaluation.result_structure import RunStructure
    from annotator.evaluation.service import EvaluationRequest, EvaluationResult
    from annotator.evaluation.targets import RegressionReport
    from annotator.pooling.rounds.pool_records import SystemOrder

NOT_MET = 3
MOST_COMPARISONS = 30
MOST_QUERIES = 10
BY_QUERY = "query"
WITH_GRADES = {"--markdown": "evaluation.md", "--html": "evaluation.html"}
"""Options whose files name relevant documents, with their names in the audit log."""


@dataclass(frozen=True, slots=True)
class EvaluationFlags:
    """The options of `annotator evaluate`."""

    profile: str | None = typer.Option(
        None,
        metavar="P",
        help="trec, nablarch, law, survey, code or document (default: the dataset's; for files trec).",
    )
    measures: str | None = typer.Option(
        None, metavar="M,…", help="Such as nDCG@10,R@5,P(rel=2)@10 (default: the profile's)."
    )
    relevant_from: int | None = typer.Option(
        None, metavar="GRADE", help="The lowest relevant grade: 1 (the default), 2 or 3 (profile trec)."
    )
    order: str | None = typer.Option(
        None, metavar="score|rank", help="What orders a run's results (default: the profile's)."
    )
    ideal: str = typer.Option(
        "truth",
        metavar="truth|retrieved",
        help="Where nDCG's ideal ranking comes from; 'retrieved' is for comparison with programs that do so.",
    )
    answered_only: bool = typer.Option(
        False,
        "--answered-only",
        help="Leave queries without results out of a system's means (trec_eval without -c).",
    )
    baseline: str | None = typer.Option(
        None, metavar="SYSTEM", help="Compare every system with this one (default: every two)."
    )
    by: str | None = typer.Option(
        None,
        metavar="FIELD,…",
        help="Score groups of queries too: category, language, difficulty, or any field; 'query' adds each query to --json.",
    )
    targets: str | None = typer.Option(
        None,
        metavar="FILE",
        help="What each system must reach, 'measure: minimum' in YAML; 'profile' for the profile's own. Exit code 3 if one is missed.",
    )
    against: Path | None = typer.Option(
        None,
        metavar="OLD.json",
        help="An earlier evaluation (--json --by query). Exit code 3 if a score fell.",
    )
    tolerance: float = typer.Option(0.01, metavar="T", help="How far a score may fall against OLD.json.")
    seed: int = typer.Option(0, metavar="N", help="Seed of intervals and randomization tests.")
    resamples: int = typer.Option(1_000, metavar="N", help="Number of resamples for the 95 % intervals.")
    csv: Path | None = typer.Option(None, metavar="FILE", help="Write the scores for a spreadsheet.")
    markdown: Path | None = typer.Option(
        None, metavar="FILE", help="Write a report: scores, failed queries, recommendations."
    )
    html: Path | None = typer.Option(
        None, metavar="FILE", help="Write the whole report as one page, with charts."
    )
    language: str = typer.Option("en", metavar="en|ja|ko", help="Language of the reports.")
    from_format: str | None = typer.Option(
        None, "--from", metavar="F", help="TRUTH's format, where its content does not show it."
    )
    grades_by: GradesByOption = None
    map_grades: MapGradesOption = None
    id_field: str | None = typer.Option(
        None, metavar="NAME", help="A JSON run's field with the document's id."
    )
    keep_first: bool = typer.Option(
        False,
        "--keep-first",
        help="If a run lists a document twice for a query, keep the first result instead of refusing the run.",
    )
    relations: Path | None = typer.Option(
        None,
        metavar="FILE",
        help="Relations between documents (CSV: from,to[,relation]), for the coverage of nodes and edges.",
    )
    types: str = typer.Option(
        "law_type=법률",
        metavar="FIELD=TYPE",
        help="The document field and its primary type: how many relevant documents of other types are found.",
    )
    database: DatabaseOption = None
    as_: AsOption = None
    errors: ErrorsOption = None
    json: JsonOption = False


def evaluate(
    truth: str = typer.Argument(
        ...,
        metavar="TRUTH",
        help="A release folder, a ground-truth file of any format, or DATASET or DATASET@VERSION in the database. ./NAME is always a path.",
    ),
    runs: list[str] | None = typer.Argument(
        None,
        metavar="RUN…",
        help="Run files (TREC or JSON); for a dataset the names of imported systems, all unless some are named.",
    ),
    options: EvaluationFlags = EvaluationFlags(),
) -> None:
    """Score runs against a ground truth, compare the systems, and show what the dataset can tell.

    Exit code 3 if a target is missed (--targets) or a score fell (--against).
    """
    from annotator.evaluation.dataset_analysis.robustness import describe_robustness
    from annotator.evaluation.reports.json_and_csv import build_json
    from annotator.evaluation.targets import find_regressions, read_earlier_evaluation

    reports = _check_reports(options)
    fields = [name.strip() for name in (options.by or "").split(",") if name.strip()]
    earlier = None if options.against is None else read_earlier_evaluation(options.against)
    request = _make_request(options, [name for name in fields if name != BY_QUERY])
    files = [WITH_GRADES[option] for option in reports if option in WITH_GRADES]
    result = _evaluate(truth, runs or [], request, options, files, shows_queries=BY_QUERY in fields)
    evaluation = result.evaluation
    regressions = (
        None if earlier is None else find_regressions(evaluation.table, earlier, tolerance=options.tolerance)
    )
    _write_reports(result, reports, options.language)
    if options.json:
        print_json(
            build_json(
                evaluation,
                truth_source=result.source,
                targets=result.targets,
                by_query=BY_QUERY in fields,
                extra=describe_robustness(result.robustness),
                expected_order=result.expected_order,
            )
        )
    else:
        _print_evaluation(result)
    missed = [check for check in result.targets if not check.met]
    if regressions is not None:
        _report_regressions(regressions)
    if missed or (regressions is not None and regressions.regressions):
        raise SystemExit(NOT_MET)


def _check_reports(options: EvaluationFlags) -> dict[str, Path]:
    """Return {option: file to write}. Refuses unwritable files before anything is computed."""
    from annotator.agreement.report_files import check_target
    from annotator.domain.errors import ValidationError
    from annotator.domain.messages import LANGUAGES

    if options.language not in LANGUAGES:
        raise ValidationError(f"--language: expected {', '.join(LANGUAGES)}, found {options.language!r}")
    targets = {"--csv": options.csv, "--markdown": options.markdown, "--html": options.html}
    reports = {option: path for option, path in targets.items() if path is not None}
    for path in reports.values():
        check_target(path)
    if len({path.absolute() for path in reports.values()}) < len(reports):
        raise ValidationError(f"{', '.join(reports)}: expected different files, found one twice")
    return reports


def _write_reports(result: "EvaluationResult", reports: Mapping[str, Path], language: str) -> None:
    from annotator import __version__
    from annotator.agreement.report_files import write_file
    from annotator.evaluation.reports.html_report import render_html
    from annotator.evaluation.reports.json_and_csv import write_csv
    from annotator.evaluation.reports.report_values import render_markdown
    from annotator.web.kit.messages import tr, use_language

    if "--csv" in reports:
        write_file(reports["--csv"], write_csv(result.evaluation))
    use_language(language)
    made: dict[str, Any] = {
        "tr": tr,
        "made_at": now(),
        "program": f"annotator {__version__}",
        "robustness": result.robustness,
        "checks": result.targets,
        "expected_order": result.expected_order,
    }
    if "--markdown" in reports:
        write_file(reports["--markdown"], [render_markdown(result.evaluation, **made)])
    if "--html" in reports:
        write_file(reports["--html"], [render_html(result.evaluation, language=language, **made)])
    use_language("en")


def _make_request(options: EvaluationFlags, group_by: Sequence[str]) -> "EvaluationRequest":
    from annotator.domain.errors import ValidationError
    from annotator.evaluation.evaluate import EvaluationOptions
    from annotator.evaluation.result_structure import StructureOptions
    from annotator.evaluation.scores.measures import split_names
    from annotator.evaluation.scores.ranking import check_order
    from annotator.evaluation.scores.scoring import ScoringOptions
    from annotator.evaluation.service import EvaluationRequest
    from annotator.formats.input_tables import read_relation_lines

    if options.ideal not in ("truth", "retrieved"):
        raise ValidationError(f"--ideal: expected truth or retrieved, found {options.ideal!r}")
    if not 1 <= options.resamples <= 100_000:
        raise ValidationError(
            f"--resamples: expected a number from 1 to 100,000, found {options.resamples:,}"
        )
    type_field, _, primary_type = options.types.partition("=")
    if not type_field or not primary_type:
        raise ValidationError(f"--types: expected FIELD=TYPE, such as law_type=법률, found {options.types!r}")
    lines = () if options.relations is None else read_relation_lines(options.relations)
    targets = options.targets
    return EvaluationRequest(
        profile=options.profile,
        order=None if options.order is None else check_order(options.order),
        scoring=ScoringOptions(
            measures=tuple(split_names(options.measures or "")),
            relevant_from=options.relevant_from,
            ideal="retrieved" if options.ideal == "retrieved" else "truth",
            complete=not options.answered_only,
        ),
        options=EvaluationOptions(
            baseline=options.baseline,
            group_by=tuple(group_by),
            seed=options.seed,
            resamples=options.resamples,
            structure=StructureOptions(
                frozenset((line.start, line.end) for line in lines), type_field, primary_type
            ),
        ),
        targets_file=None if targets in (None, "profile") else Path(targets or ""),
        check_profile_targets=targets == "profile",
    )


def _evaluate(
    truth: str,
    runs: Sequence[str],
    request: "EvaluationRequest",
    options: EvaluationFlags,
    files: Sequence[str],
    *,
    shows_queries: bool,
) -> "EvaluationResult":
    """Evaluate files if TRUTH is a path, else a dataset.

    `files`: output files that name relevant documents; `shows_queries`: scores of single queries are shown. Both are
    recorded.
    """
    from annotator.evaluation.run_files import RunReading
    from annotator.evaluation.service import evaluate_dataset, evaluate_files, record_shown_grades
    from annotator.formats.syntax.grade_scale import parse_mapping

    if _is_path(truth, options.database):
        return evaluate_files(
            Path(truth),
            [Path(run) for run in runs],
            request,
            truth_format=options.from_format,
            grades_by=options.grades_by,
            grades=parse_mapping(options.map_grades),
            reading=RunReading(id_field=options.id_field, keep_first=options.keep_first),
        )
    name, _, version = truth.partition("@")
    opened, actor = open_as(options.database, options.as_, figures_of=name)
    result = evaluate_dataset(opened, actor, name, request, version=version or None, systems=runs)
    if files or shows_queries:
        record_shown_grades(opened, actor, name, version=version or None, now=now())
    for file in files:
        note_written(opened, actor, name, file)
    return result


def _is_path(truth: str, database: str | None) -> bool:
    """Return whether TRUTH is a path: it has a slash or a known suffix, or exists and no dataset has its name."""
    from annotator.formats.registry import FORMATS

    path = Path(truth)
    suffixes = {suffix for known_format in FORMATS for suffix in known_format.suffixes}
    if "/" in truth or path.suffix.lower() in suffixes:
        return True
    name = truth.partition("@")[0]
    if not path.exists() or not has_dataset(database, name):
        return path.exists()
    kind = "folder" if path.is_dir() else "file"
    typer.echo(
        f"Evaluating the dataset {name}, not the {kind} {truth}. To evaluate the {kind}, write ./{truth}",
        err=True,
    )
    return False


def _print_evaluation(result: "EvaluationResult") -> None:
    from annotator.evaluation.profiles import MEAN_OVER, describe_conventions

    evaluation = result.evaluation
    table = evaluation.table
    version = f" {table.truth.version}" if table.truth.version else ""
    typer.echo(
        f"{table.truth.name}{version}: {count_of(len(table.query_ids), 'query')}, profile {evaluation.profile.name} "
        f"({evaluation.profile.about})"
    )
    for sentence in evaluation.sentences:
        typer.echo(f"- {sentence}")
    for sentence in result.robustness.sentences if result.robustness else ():
        typer.echo(f"- {sentence}")
    for system in evaluation.systems:
        for note in system.notes:
            typer.echo(f"- {system.system}: {note}")
    typer.echo("")
    if result.expected_order is not None:
        _print_expected_order(result.expected_order)
    _print_scores(evaluation.systems)
    for group in evaluation.groups:
        typer.echo(f"\n{group.field} = {group.value} ({count_of(group.queries, 'query')})")
        _print_scores(group.systems)
    _print_comparisons(evaluation)
    _print_sweeps(evaluation.sweeps)
    _print_structure(evaluation.structure)
    _print_targets(result)
    typer.echo(f"\nHow the scores are computed (means over {MEAN_OVER[evaluation.profile.mean_over]})")
    for convention in describe_conventions(evaluation.profile, table.measures):
        ideal = f"; ideal ranking: {convention.ideal}" if convention.ideal else ""
        typer.echo(f"  {convention.measure}: {convention.formula}; relevant: {convention.relevant}{ideal}")


def _print_expected_order(order: "SystemOrder") -> None:
    table = order.tabulate()
    typer.echo(str(table.title))
    print_table(tuple(map(str, table.columns)), table.rows, empty="")
    typer.echo(f"{table.note}\n")


def _print_scores(systems: Sequence["SystemSummary"]) -> None:
    columns = ("measure", "system", "score", "95 % interval", "judged", "condensed", "possible")
    rows = [
        (
            name,
            system.system,
            _show(summary.score.value)
            if summary.score.value is not None
            else f"undefined: {summary.score.why}",
            _show_pair(summary.ci95),
            _show(summary.score.judged),
            _show(summary.score.condensed),
            _show_pair(summary.score.bounds),
        )
        for name in systems[0].measures
        for system in systems
        for summary in (system.measures[name],)
    ]
    print_table(columns, rows, empty="")
    timed = any(system.latency_ms for system in systems)
    latencies = [
        (
            system.system,
            system.queries,
            _show(system.coverage),
            *(
                (latency.p50, latency.p95, latency.p99)
                if (latency := system.latency_ms)
                else ("",) * 3 * timed
            ),
        )
        for system in systems
    ]
    typer.echo("")
    columns = ("system", "with results", "coverage", *(("P50 ms", "P95 ms", "P99 ms") if timed else ()))
    print_table(columns, latencies, empty="")


def _print_comparisons(evaluation: "Evaluation") -> None:
    if not evaluation.comparisons:
        return
    typer.echo("\nComparisons (B − A; p of the paired t-test after Holm)")
    shown = sorted(evaluation.comparisons, key=lambda comparison: not comparison.significant)[
        :MOST_COMPARISONS
    ]
    rows = [
        (
            comparison.measure,
            comparison.a,
            comparison.b,
            show_number(comparison.difference, 4, signed=True),
            _show_pair(comparison.ci95),
            f"{comparison.wins}/{comparison.ties}/{comparison.losses}",
            show_p(comparison.p_holm, named=False),
            _show(comparison.t_test.cohens_d),
        )
        for comparison in shown
    ]
    print_table(
        ("measure", "A", "B", "difference", "95 % interval", "wins/ties/losses", "p", "d"), rows, empty=""
    )
    left = len(evaluation.comparisons) - len(shown)
    if left:
        typer.echo(f"{count_of(left, 'more comparison')}: --json lists all")


def _print_sweeps(sweeps: Sequence["Sweep"]) -> None:
    for sweep in sweeps:
        gaps = (
            "" if sweep.complete else "; not every combination was run, so the means compare unlike systems"
        )
        interval = f" {_show_pair(sweep.best_ci95)}" if sweep.best_ci95 else ""
        typer.echo(
            f"\nParameters of {sweep.family} on {sweep.measure} ({count_of(sweep.systems, 'system')}{gaps}); "
            f"best: {sweep.best} with {show_number(sweep.best_score, 4)}{interval}"
        )
        rows = [
            (parameter.name, value.value, _show(value.mean), value.systems)
            for parameter in sweep.parameters
            for value in parameter.values
        ]
        print_table(("parameter", "value", "mean", "systems"), rows, empty="")


def _print_structure(structures: Sequence["RunStructure"]) -> None:
    from annotator.evaluation.reports.structure_report import list_figures

    if not structures:
        return
    typer.echo("\nWhere results come from")
    rows = [
        (structure.system, figure.name, _show(figure.value), figure.over)
        for structure in structures
        for figure in list_figures(structure)
    ]
    print_table(("system", "figure", "value", "over"), rows, empty="")


def _print_targets(result: "EvaluationResult") -> None:
    if not result.targets:
        return
    typer.echo("\nTargets")
    rows = [
        (
            check.system,
            check.measure,
            f"{'≤' if check.is_maximum else '≥'} {show_figure(check.required, 6)}",
            _show(check.measured) or f"undefined: {check.why}",
            "met" if check.met else "missed",
            check.note or "",
        )
        for check in result.targets
    ]
    print_table(("system", "measure", "required", "measured", "", ""), rows, empty="")


def _report_regressions(report: "RegressionReport") -> None:
    """Print the regressions on stderr, because with --json stdout holds one document."""
    for note in report.notes:
        typer.echo(f"- {note}", err=True)
    for regression in report.regressions:
        typer.echo(
            f"{regression.system}: {regression.measure} fell from {_show(regression.before)} to {_show(regression.after)}",
            err=True,
        )
        for change in (regression.queries or ())[:MOST_QUERIES]:
            typer.echo(f"  {change.query_id}: {_show(change.before)} -> {_show(change.after)}", err=True)
        left = len(regression.queries or ()) - MOST_QUERIES
        if left > 0:
            typer.echo(f"  and {count_of(left, 'more query')}", err=True)
    if not report.regressions:
        typer.echo(f"no score fell ({report.compared:,} compared)", err=True)


def _show(figure: float | None) -> str:
    return "" if figure is None else show_number(figure, 4)


def _show_pair(pair: tuple[float, float] | None) -> str:
    return "" if pair is None else f"[{show_interval(pair, 4)}]"
