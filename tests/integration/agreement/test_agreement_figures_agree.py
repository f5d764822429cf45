"""Every figure of agreement is the same number wherever it is shown: the JSON, the terminal, the page, its files, the report as a
page, and a release."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from annotator.cli import terminal
from annotator.storage.database import Database
from tests.integration.agreement_world import AgreementWorld
from tests.integration.shown_figures import (
    KINDS,
    METRICS,
    Path_,
    Place,
    find_pattern,
    flatten,
    read_files,
    read_overview,
    read_page,
    read_release,
    read_report,
    read_terminal,
    run_command,
)

SIZES = (2, 5, pytest.param(120, marks=pytest.mark.long))
ALL = "files page report terminal manifest datasheet"
READ = "files page report terminal"
SAID_ONCE = "a name: it is part of the path of every figure beside it"
SHOWN: dict[str, str] = {
    "pairs": "page report terminal manifest datasheet files",
    "single_pairs": "report",
    "queries": "page report terminal",
    "judgments": "report terminal",
    "annotators": "page report terminal manifest datasheet",
    "annotators_sharing_a_pair": "page report terminal",
    "observed_agreement": ALL,
    **{f"{at}cohen_kappa.{kind}.value": ALL if kind == "unweighted" or not at else f"{READ} manifest"
       for at in ("", "groups.*.", "annotator_pairs.*.") for kind in KINDS},
    **{f"{at}cohen_kappa.unweighted.ci95": ALL for at in ("", "groups.*.", "annotator_pairs.*.")},
    **{f"cohen_kappa.{kind}.ci95": ALL for kind in KINDS[1:]},
    **{f"{at}.cohen_kappa.{kind}.ci95": "report terminal manifest"
       for at in ("groups.*", "annotator_pairs.*") for kind in KINDS[1:]},
    **{f"{name}.{part}": ALL for part in ("value", "ci95")
       for name in ("fleiss_kappa", "gwet_ac1", "gwet_ac2", "cut_points.*.cohen_kappa",
                    *(f"krippendorff_alpha.{metric}" for metric in METRICS))},
    **{f"groups.*.krippendorff_alpha.{metric}.{part}": "report terminal manifest" if metric == "ordinal" else "manifest"
       for metric in METRICS for part in ("value", "ci95")},
    **{f"{at}cohen_kappa.{kind}.why": "manifest" for at in ("annotator_pairs.*.", "groups.*.") for kind in KINDS},
    **{f"groups.*.krippendorff_alpha.{metric}.why": "manifest" for metric in METRICS},
    "paradox.prevalence": "page report terminal",
    "paradox.bias": "page report terminal",
    "annotator_pairs.*.pairs": ALL,
    "annotator_pairs.*.queries": "manifest",
    "annotator_pairs.*.warning": f"{READ} manifest",
    "annotator_pairs.*.observed_agreement": ALL,
    "annotator_pairs.*.confusion": f"{READ} manifest",
    "annotator_pairs.*.paradox.prevalence": READ,
    "annotator_pairs.*.paradox.bias": READ,
    "annotator_pairs.*.annotators": "manifest",
    "groups.*.pairs": ALL,
    "groups.*.queries": "report",
    "groups.*.warning": f"{READ} manifest",
    "groups.*.observed_agreement": ALL,
    "groups.*.by": "manifest",
    "groups.*.value": "manifest",
    "cut_points.*.relevant_from": "manifest",
    "diagnosis": "report terminal",
    "verdict.state": "page report terminal",
    "verdict.target": "page report terminal",
    "verdict.further_pairs": "page",
    "kappa_target": "page report terminal gate overview",
    "left_out.*.why": READ,
    "left_out.*.judgments": READ,
    "outdated": "report terminal",
    "resamples": "page report manifest datasheet",
    "seed": "page report manifest datasheet",
    "grades_by_annotator.*": READ,
    "leanings.*.comparisons": READ,
    "leanings.*.mean": READ,
    "leanings.*.ci95": READ,
    "leanings.*.krippendorff_alpha_ordinal_without": READ,
    "leanings.*.pairs_without": READ,
    "leanings.*.cohen_kappa_with_others.value": READ,
    "leanings.*.cohen_kappa_with_others.ci95": READ,
    "periods.*.last": READ,
    "periods.*.pairs": READ,
    "periods.*.observed_agreement": READ,
    "periods.*.cohen_kappa.value": READ,
    "periods.*.cohen_kappa.ci95": READ,
    "periods.*.cohen_kappa.why": "files page report",
    "periods.*.leanings.*.mean": "files page report",
    "periods.*.leanings.*.comparisons": "report",
    "periods.*.leanings.*.ci95": "report",
}  # fmt: skip
SHOWN["cohen_kappa.unweighted.value"] += " gate overview"
SHOWN["cohen_kappa.unweighted.ci95"] += " overview"
ONLY_JSON: dict[str, str] = {
    "dataset": "the name of what is asked for",
    "simulated": "a sentence of the diagnosis says so, with their names",
    "left_out.*.kind": "the name of the reason in addresses; `why` is for people",
    "leanings.*.annotator": SAID_ONCE,
    "leanings.*.cohen_kappa_with_others.why": "a table has no room; the figure is shown as undefined",
    "periods.*.first": SAID_ONCE,
    "periods.*.leanings.*.annotator": SAID_ONCE,
    "periods.*.leanings.*.why": "a table has no room; the interval is left empty",
    "leanings.*.why": "a table has no room; the interval is left empty",
}
COUNTS = {"annotator_pairs", "periods.*.leanings"}
"""Of what a place says how many there are without listing them."""


@pytest.mark.parametrize("people", SIZES)
def test_every_figure_is_the_same_wherever_it_is_shown(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, people: int
) -> None:
    monkeypatch.setitem(terminal.chosen, "database", None)
    world = AgreementWorld(database, people)
    html = tmp_path / "report.html"
    json_figures = flatten(json.loads(run_command(world, "--json", "--html", str(html))))
    manifest, datasheet, gate = read_release(world, tmp_path)
    surfaces = {
        "files": read_files(world, json_figures),
        "page": read_page(world, json_figures),
        "report": read_report(html.read_text(encoding="utf-8"), json_figures),
        "terminal": read_terminal(run_command(world), json_figures),
        "manifest": Place([], {}),
        "datasheet": datasheet,
        "gate": gate,
        "overview": read_overview(world),
    }
    for path, figure in manifest.items():
        surfaces["manifest"].add(path, figure, 6)
    wrong = [
        problem for name, surface in surfaces.items() for problem in compare(name, surface, json_figures)
    ]
    undeclared = sorted({find_pattern(path) for path in json_figures} - set(SHOWN) - set(ONLY_JSON))
    wrong += [
        f"{pattern}: say in SHOWN where it is shown too, or in ONLY_JSON why not" for pattern in undeclared
    ]
    assert wrong == [], "\n".join(wrong[:40])


def compare(name: str, surface: Place, json_figures: Mapping[Path_, object]) -> list[str]:
    """What this place shows otherwise than the JSON, or does not show although it should."""
    wrong, seen = list[str](), set[Path_]()
    for seen_figure in surface.seen:
        pattern = find_pattern(seen_figure.path)
        seen.add(seen_figure.path)
        if seen_figure.path not in json_figures:
            in_all = count_rows(json_figures, pattern)
            if pattern not in COUNTS or seen_figure.shown != in_all:
                wrong.append(
                    f"{name} shows {seen_figure.path} as {seen_figure.shown}: the JSON has {in_all or 'none'}"
                )
        elif name not in SHOWN.get(pattern, "").split():
            wrong.append(f"{name} shows {seen_figure.path}, which SHOWN does not declare")
        elif not is_same(seen_figure.shown, json_figures[seen_figure.path], seen_figure.digits):
            wrong.append(
                f"{name} shows {seen_figure.path} as {seen_figure.shown}: the JSON says {json_figures[seen_figure.path]}"
            )
    for path, figure in json_figures.items():
        pattern = find_pattern(path)
        if figure is None or path in seen or name not in SHOWN.get(pattern, "").split():
            continue
        if name == "datasheet" and path[0] == "annotator_pairs" and len(list_pairs(json_figures)) == 1:
            continue  # of two annotators the dataset's figures are theirs, and no table says them again
        if not is_cut(surface, pattern) and not is_explained(pattern, path, seen):
            wrong.append(f"{name} does not show {path} ({figure})")
    for rows, number in surface.listed.items():
        if number >= 0 and number != count_rows(json_figures, ".".join(rows)):
            wrong.append(
                f"{name} says there are {number} of {rows}: there are {count_rows(json_figures, '.'.join(rows))}"
            )
    return wrong


def count_rows(json_figures: Mapping[Path_, object], pattern: str) -> int:
    """How many rows the JSON has; of the leanings by period, how many annotators."""
    steps = [step for step in pattern.split(".") if step not in ("confusion",)]
    at = max((surface for surface, step in enumerate(steps) if step == "*"), default=-1)
    if pattern.endswith("leanings") and at == 1:
        at = 3
    at = 1 if at < 0 else at
    rows = {
        path[at]
        for path in json_figures
        if len(path) > at
        and find_pattern(path).split(".")[:1] == steps[:1]
        and (at < 3 or "leanings" in path)
    }
    return len(rows)


def list_pairs(json_figures: Mapping[Path_, object]) -> set[str]:
    """The annotator pairs of the JSON."""
    return {path[1] for path in json_figures if path[0] == "annotator_pairs"}


def is_cut(surface: Place, pattern: str) -> bool:
    """Whether the place lists some of these rows only, and says how many there are."""
    return any(pattern.startswith(".".join(rows)) for rows in surface.listed)


def is_explained(pattern: str, path: Path_, seen: set[Path_]) -> bool:
    """Whether this is why something is undefined, and the place shows it as undefined."""
    return pattern.endswith(".why") and (*path[:-1], "value") in seen


def is_same(shown: object, figure: object, digits: int) -> bool:
    """Whether both are the same once rounded as it is shown."""
    if isinstance(shown, (tuple, list)) and isinstance(figure, (tuple, list)):
        return len(shown) == len(figure) and all(
            is_same(table, other, digits) for table, other in zip(shown, figure, strict=True)
        )
    if isinstance(shown, (int, float)) and isinstance(figure, (int, float)):
        return abs(shown - figure) <= 0.5 * 10.0**-digits * (digits > 0) + 1e-9
    return shown == figure
