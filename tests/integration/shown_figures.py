"""Every place that shows a figure of agreement, read back: which figure, the number as it is shown, and how far it is rounded."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from sqlalchemy import update
from sqlmodel import col
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from annotator.cli.main import app as commands
from annotator.domain.people import OPERATOR
from annotator.releases.gates_service import check_release
from annotator.releases.releases_sql import list_pseudonyms
from annotator.releases.service import publish_release
from annotator.releases.writing.datasheet import list_coefficients
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import PersonRow
from annotator.web.agreement.downloads import write_figures
from annotator.web.agreement.tables import TableRequest
from tests.integration.agreement_world import AgreementWorld
from tests.integration.release_world import EPOCH
from tests.unit.web.lead_pages import alternatives, run, run_page, words

Path_ = tuple[str, ...]
KINDS = ("unweighted", "linear", "quadratic")
METRICS = ("nominal", "ordinal", "interval")
NO_GROUP = ("(no category)", "(none)", "(not said)")
UNDEFINED = ("", "undefined", "–")
MARK = "\x00"
KEYS = {"annotator_pairs": "annotators", "groups": "value", "leanings": "annotator", "periods": "first",
        "cut_points": "relevant_from", "left_out": "kind"}  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """A figure as it stands somewhere: `shown` with so many decimals; None is "undefined"."""

    path: Path_
    shown: object
    digits: int = 0


@dataclass
class Place:
    """What one place shows. `listed`: of a table that is cut, by the path of its rows, how many it says there are in all.
    `most_digits`: no figure has more decimals there."""

    seen: list[Seen] = field(default_factory=list)
    listed: dict[Path_, int] = field(default_factory=dict)
    most_digits: int = 6

    def add(self, path: Sequence[str], shown: object, digits: int = 0) -> None:
        self.seen.append(Seen(tuple(path), shown, min(digits, self.most_digits)))

    def add_value(self, path: Sequence[str], text: str, digits: int = 3) -> None:
        """ "0.571 [0.412, 0.701]", or "undefined"."""
        value, _, interval = text.partition(" [")
        self.add((*path, "value"), read_number(value), digits)
        if interval:
            self.add((*path, "ci95"), tuple(map(float, interval.rstrip("]").split(", "))), digits)


def flatten(report: Mapping[str, Any], names: Mapping[str, str] | None = None) -> dict[Path_, object]:
    """Every figure of `agreement --json` by its path; rows of a table by what names them, not by their place. `annotators` and
    `diagnosis` are told by how many there are. `names`: what stands here for each name there."""

    def rename(words: str) -> str:
        return (names or {}).get(words, words)

    def walk(path: Path_, value: object) -> Iterator[tuple[Path_, object]]:
        if path and path[-1] in ("annotators", "diagnosis") and len(path) == 1:
            yield path, len(value) if isinstance(value, list) else value
        elif path and path[-1] == "grades_by_annotator" and isinstance(value, dict):
            yield from (((*path, rename(name)), tuple(counts)) for name, counts in value.items())
        elif isinstance(value, dict):
            for name, part in value.items():
                yield from walk((*path, name), part)
        elif isinstance(value, list) and path[-1] in KEYS:
            for row in value:
                named = row[KEYS[path[-1]]]
                both = isinstance(named, list)
                key = name_two(*map(rename, named)) if both else "" if named is None else rename(str(named))
                yield from walk((*path, key), row)
        elif isinstance(value, list) and path[-1] == "annotators":
            yield path, tuple(sorted(map(rename, value)))
        elif isinstance(value, list) and path[-1] == "confusion":
            rows = tuple(tuple(row) for row in value)
            first, second = path[-2].split(" and ")
            turned = (first, second) != tuple(sorted((first, second)))
            yield path, tuple(zip(*rows, strict=True)) if turned else rows
        elif isinstance(value, list):
            yield path, tuple(value)
        else:
            yield path, rename(value) if path[-1] == "annotator" and isinstance(value, str) else value

    return {sort_names(path): value for path, value in walk((), report)}


def sort_names(path: Path_) -> Path_:
    """The path with the two annotators of a pair in the order of their names."""
    return tuple(name_two(*sorted(step.split(" and "))) if " and " in step else step for step in path)


def name_two(first: str, second: str) -> str:
    return f"{first} and {second}"


def find_pattern(path: Path_) -> str:
    """The path without what names a row."""
    steps, row = list[str](), False
    for step in path:
        steps.append("*" if row else step)
        row = not row and (step in KEYS or step == "grades_by_annotator")
    return ".".join(steps)


def read_number(text: str) -> float | None:
    text = text.strip()
    if text in UNDEFINED:
        return None
    share = text.endswith("%")
    number = float(text.rstrip(" %").replace(",", "").replace("+", "").replace("−", "-"))
    return number / 100 if share else number


def find_coefficient(name: str) -> Path_:
    """The path of a coefficient that people are told the name of."""
    number = re.search(r"relevant from (?:grade )?(\d)", name)
    if number:
        return ("cut_points", number[1], "cohen_kappa")
    if "observed" in name:
        return ("observed_agreement",)
    for author, key, kinds in (
        ("Cohen", "cohen_kappa", KINDS),
        ("Krippendorff", "krippendorff_alpha", METRICS),
    ):
        if author in name:
            return (key, next((kind for kind in reversed(kinds) if kind in name), "unweighted"))
    return ({"Fl": "fleiss_kappa", "AC1": "gwet_ac1", "AC2": "gwet_ac2"}[
        next(part for part in ("Fl", "AC1", "AC2") if part in name)
    ],)  # fmt: skip


# HTML


@dataclass
class Table:
    """A table of a page: `name` is its caption."""

    name: str
    columns: list[str]
    rows: list[list[str]]

    def by_column(self) -> Iterator[dict[str, str]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self.into: list[str] | None = None
        self.row: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self.tables.append(Table("", [], []))
        elif tag == "tr":
            self.row = []
        elif tag in ("th", "td", "caption"):
            self.into = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td"):
            self.row.append("".join(self.into or []))
            self.into = None
        elif tag == "caption":
            self.tables[-1].name, self.into = "".join(self.into or []), None
        elif tag == "tr" and self.tables:
            self.tables[-1].rows.append(self.row)

    def handle_data(self, data: str) -> None:
        if self.into is not None:
            self.into.append(data)


def read_tables(html: str) -> list[Table]:
    """Every table; the first row names the columns."""
    parser = _Tables()
    parser.feed(html)
    for table in parser.tables:
        table.columns, *table.rows = table.rows
    return parser.tables


def read_text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", "", html)).replace("&#x27;", "'").replace("&amp;", "&")


# the page and its files


def read_page_rows(surface: Place, table: str, rows: Sequence[Mapping[str, str]]) -> None:
    """A table of the Agreement page, as it stands there or in its CSV file."""
    for row in rows:
        name = next(iter(row.values()))
        if table == "coefficients":
            _add_value_row(surface, find_coefficient(name), row, "value", "from", "to")
        elif table == "annotators":
            _add_summary(surface, sort_names(("annotator_pairs", name)), row)
        elif table == "groups":
            _add_summary(surface, () if name == "whole dataset" else ("groups", name_group(name)), row)
        elif table == "periods":
            _add_period(surface, row)
        elif table == "leanings":
            _add_leaning(surface, ("leanings", name), row)
        elif table == "grades" and name != "all annotators":
            counts = [int(cell.replace(",", "")) for cell in list(row.values())[1:]]
            surface.add(("grades_by_annotator", name), tuple(counts[:-1]))
            assert counts[-1] == sum(counts[:-1])


def name_group(name: str) -> str:
    return "" if name in NO_GROUP else name


def _add_value_row(
    surface: Place, path: Path_, row: Mapping[str, str], value: str, low: str, high: str
) -> None:
    at = path if path == ("observed_agreement",) else (*path, "value")
    surface.add(at, read_number(row.get(value, "")), 3)
    limits = read_number(row.get(low, "")), read_number(row.get(high, ""))
    if limits[0] is not None:
        surface.add((*path, "ci95"), limits, 3)
    if row.get("undefined because"):
        surface.add((*path, "why"), row["undefined because"])


def _add_summary(surface: Place, path: Path_, row: Mapping[str, str]) -> None:
    surface.add((*path, "pairs"), read_number(row["pairs"]))
    surface.add((*path, "observed_agreement"), read_number(row["observed agreement"]), 3)
    for kind in KINDS:
        surface.add((*path, "cohen_kappa", kind, "value"), read_number(row.get(f"κ {kind}", "")), 3)
    limits = read_number(row.get("κ, lower bound", "")), read_number(row.get("κ, upper bound", ""))
    if limits[0] is not None:
        surface.add((*path, "cohen_kappa", "unweighted", "ci95"), limits, 3)
    for index in ("prevalence", "bias"):
        if row.get(index):
            surface.add((*path, "paradox", index), read_number(row[index]), 3)
    if row.get("warning"):
        surface.add((*path, "warning"), row["warning"])


def read_day(text: str) -> str:
    """The day as in JSON: a page has it in the reader's format."""
    return text if text[:1].isdigit() else datetime.strptime(text, "%b %d, %Y").date().isoformat()


def _add_period(surface: Place, row: Mapping[str, str]) -> None:
    path = ("periods", read_day(row["first day"]))
    surface.add((*path, "last"), read_day(row["last day"]))
    surface.add((*path, "pairs"), read_number(row["pairs"]))
    surface.add((*path, "observed_agreement"), read_number(row["observed agreement"]), 3)
    _add_value_row(surface, (*path, "cohen_kappa"), row, "κ", "κ, lower bound", "κ, upper bound")
    for column, cell in row.items():
        if column.startswith("leniency of ") and cell:
            surface.add(
                (*path, "leanings", column.removeprefix("leniency of "), "mean"), read_number(cell), 3
            )


def _add_leaning(surface: Place, path: Path_, row: Mapping[str, str]) -> None:
    surface.add((*path, "comparisons"), read_number(row["comparisons"]))
    surface.add((*path, "mean"), read_number(row["difference from the others"]), 3)
    if row.get("from"):
        surface.add((*path, "ci95"), (read_number(row["from"]), read_number(row["to"])), 3)
    others = (*path, "cohen_kappa_with_others")
    _add_value_row(
        surface, others, {**row, "undefined because": ""}, "κ with others", "κ, lower bound", "κ, upper bound"
    )
    surface.add(
        (*path, "krippendorff_alpha_ordinal_without"),
        read_number(row.get("ordinal α without this annotator", "")),
        3,
    )
    surface.add((*path, "pairs_without"), read_number(row["pairs without this annotator"]))
    surface.add(
        ("krippendorff_alpha", "ordinal", "value"), read_number(row.get("ordinal α, all annotators", "")), 3
    )


def read_files(world: AgreementWorld, json_figures: Mapping[Path_, object]) -> Place:
    """The CSV file of every table."""
    surface = Place()
    pairs = sorted({path[1] for path in json_figures if path[0] == "annotator_pairs"})
    for table in ("coefficients", "annotators", "groups", "periods", "leanings", "grades", "left-out"):
        by = "category" if table == "groups" else None
        rows = _read_csv(write_figures(world.database, OPERATOR, "d", TableRequest(table, by)))
        read_page_rows(surface, table, rows)
        if table == "left-out":
            _add_left_out(surface, json_figures, [(row["reason"], row["judgments"]) for row in rows])
    for pair in pairs[:3]:
        first, second = pair.split(" and ")
        text = write_figures(world.database, OPERATOR, "d", TableRequest("confusion", None, first, second))
        cells = [[int(cell) for cell in list(row.values())[1:]] for row in _read_csv(text)]
        surface.add(("annotator_pairs", pair, "confusion"), tuple(map(tuple, cells)))
    surface.listed[("annotator_pairs", "*", "confusion")] = len(pairs)
    return surface


def _read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def _add_left_out(
    surface: Place, json_figures: Mapping[Path_, object], rows: Sequence[tuple[str, str]]
) -> None:
    kinds = {why: path[1] for path, why in json_figures.items() if path[0] == "left_out" and path[2] == "why"}
    for why, judgments in rows:
        path = ("left_out", kinds.get(why, f"unknown: {why}"))
        surface.add((*path, "why"), why)
        surface.add((*path, "judgments"), read_number(judgments))


PAGE_TABLES = {
    "Annotators": ("annotators", "Table of annotator pairs", "Figures of these two annotators"),
    "Groups": ("groups", "Table by group"),
    "Over time": ("periods", "Table by period"),
    "Grades": ("grades", "Table of grades"),
    "All figures": ("coefficients", "All coefficients"),
    "Excluded": ("left-out", "Excluded judgments"),
}


def read_page(world: AgreementWorld, json_figures: Mapping[Path_, object]) -> Place:
    """Each tab of the Agreement page, with its tables opened."""
    surface = Place(most_digits=2)
    for tab, (table, *captions) in PAGE_TABLES.items():
        app = _open_tab(world, tab, table)
        text = read_text(words(app))
        if tab == "Annotators":
            _read_page_head(surface, app, text)
            _read_page_matrix(surface, app, text)
        shown = [table for html in app.get("html") for table in read_tables(html.proto.body)]
        for caption in (*captions, *(["Table of leniency"] if tab == "Grades" else [])):
            which = "leanings" if "leniency" in caption else table
            for item in (table for table in shown if table.name == caption):
                if which == "left-out":
                    _add_left_out(
                        surface, json_figures, [(row["reason"], row["judgments"]) for row in item.by_column()]
                    )
                else:
                    read_page_rows(surface, which, list(item.by_column()))
                    _find_limit(surface, which, len(item.rows), text)
        _read_page_charts(surface, tab, app, text)
    return surface


def _open_tab(world: AgreementWorld, tab: str, table: str) -> AppTest:
    """Open a tab of the page. People have their usernames as names, since these name the figures everywhere else."""
    with world.database.write() as session:
        session.execute(update(PersonRow).values(name=col(PersonRow.username)))
    url = world.database.url.render_as_string(hide_password=False)
    arguments = (url, "agreement", world.lead.username, world.lead.person_id, "d", "")
    app = AppTest.from_function(run_page, args=arguments)
    app.query_params["tab"], app.query_params["by"] = tab, "category"
    app.session_state[f"table-{table}"] = True
    return run(app)


def _read_page_head(surface: Place, app: AppTest, text: str) -> None:
    """The verdict, and how many sentences follow it."""
    first = next(item.proto.body for item in app.get("html") if "annotator-counts" in item.proto.body)
    counts = dict(zip(re.findall("<dt>(.*?)</dt>", first), re.findall("<dd>(.*?)</dd>", first), strict=True))
    surface.add(("verdict", "target"), float(counts["target"]), 6)
    surface.add(("kappa_target",), float(counts["target"]), 6)
    surface.add(("pairs",), read_number(counts["pairs judged by two or more"]))
    surface.add_value(
        ("cohen_kappa", "unweighted"), counts["Cohen&#x27;s κ (95\u00a0% confidence interval)"], 2
    )
    further = re.search("about ([0-9,]+)", counts.get("more such pairs needed to decide", ""))
    surface.add(("verdict", "further_pairs"), read_number(further[1]) if further else None)
    state = re.search(r"annotator-(?:met|unmet)\">(.*?)</span>", first)
    surface.add(("verdict", "state"), {"unknown yet": "unknown"}.get(state[1], state[1]) if state else None)


def _read_page_matrix(surface: Place, app: AppTest, text: str) -> None:
    alt = next(
        (text for text in alternatives(app) if text.startswith("Cohen's κ (unweighted) of every")), None
    )
    number = re.search(r"who share pairs \(([0-9,]+) in all\)", alt or "")
    if number:
        surface.add(("annotator_pairs",), read_number(number[1]))
    drawn = re.search(r"Showing (\d+) of ([0-9,]+) annotators:", text)
    if drawn:
        surface.add(("annotators_sharing_a_pair",), read_number(drawn[2]))
    tables = [table for html in app.get("html") for table in read_tables(html.proto.body)]
    for table in tables:
        if re.fullmatch(r"\S+ and \S+", table.name):
            cells = tuple(tuple(int(cell.replace(",", "")) for cell in row[1:]) for row in table.rows)
            surface.add(sort_names(("annotator_pairs", table.name, "confusion")), cells)
    surface.listed[("annotator_pairs", "*", "confusion")] = -1  # one at a time, chosen by name


def _read_page_charts(surface: Place, tab: str, app: AppTest, text: str) -> None:
    """The figures in a chart's words, and how many there are in all where not everything is drawn."""
    alternative_texts = "\n".join(alternatives(app))
    value = r"(-?\d\.\d\d \[-?\d\.\d\d, -?\d\.\d\d\]|-?\d\.\d\d)"
    if tab == "Groups":
        for name, shown in re.findall(rf"(?:: |; )([^;]*?) {value}(?= ?[;.(]|$)", alternative_texts):
            path = () if name == "whole dataset" else ("groups", name_group(name))
            surface.add_value((*path, "cohen_kappa", "unweighted"), shown, 2)
    if tab == "Over time":
        for first, shown in re.findall(rf"(\d{{4}}-\d\d-\d\d(?: [0-9:]+)?) {value}", alternative_texts):
            surface.add_value(("periods", first, "cohen_kappa"), shown, 2)
        drawn = re.search(r"Showing the (\d+) of ([0-9,]+) annotators with the largest", text)
        if drawn:
            surface.add(("periods", "*", "leanings"), read_number(drawn[2]))
    if tab == "Grades":
        drawn = re.search(r"Showing the (\d+) of ([0-9,]+) annotators with the most", text)
        if drawn:
            surface.add(("annotators",), read_number(drawn[2]))
    if tab == "All figures":
        basis = re.search(r"([0-9,]+) pairs? of ([0-9,]+) quer\w+; observed agreement ([0-9.]+) %", text)
        assert basis is not None
        surface.add(("pairs",), read_number(basis[1]))
        surface.add(("queries",), read_number(basis[2]))
        surface.add(("observed_agreement",), float(basis[3]) / 100, 3)
        drawn_from = re.search(r"from ([0-9,]+) bootstrap resamples of the queries, seed (\d+)", text)
        assert drawn_from is not None
        surface.add(("resamples",), read_number(drawn_from[1]))
        surface.add(("seed",), read_number(drawn_from[2]))
        index = re.search(r"Prevalence (\d\.\d\d), bias (\d\.\d\d)", text)
        assert index is not None
        surface.add(("paradox", "prevalence"), float(index[1]), 2)
        surface.add(("paradox", "bias"), float(index[2]), 2)
        people = re.search(r"([0-9,]+) annotators? ha\w+ judgments that count; ([0-9,]+)", text)
        if people:
            surface.add(("annotators",), read_number(people[1]))
            surface.add(("annotators_sharing_a_pair",), read_number(people[2]))


ROWS = {"annotators": ("annotator_pairs", "*"), "leanings": ("leanings", "*"), "grades": ("grades_by_annotator", "*"),
        "groups": ("groups", "*"), "periods": ("periods", "*")}  # fmt: skip


def _find_limit(surface: Place, table: str, rows: int, text: str) -> None:
    """That a table is cut, and how many rows it has in all."""
    end = {"annotators": ", sorted by how", "leanings": ", sorted by leniency"}.get(table, r"\.")
    cut = re.search(rf"Showing ([0-9,]+) of ([0-9,]*\d){end}", text)
    if cut and int(cut[1]) == rows and table in ROWS:
        in_all = int(cut[2].replace(",", ""))
        surface.listed[ROWS[table]] = in_all - (table == "grades")  # one row is that of all annotators


# the report in HTML


def read_report(html: str, json_figures: Mapping[Path_, object]) -> Place:
    """The page that stands by itself."""
    surface = Place()
    text = read_text(html)
    number = r"([0-9,]+)"
    basis = re.search(
        rf"{number} annotators? ha\w+ judgments that count; {number} of them shares? pairs with another annotator. "
        rf"{number} pairs? of {number} quer\w+ (?:was|were) judged by two or more; {number} pairs? by one.",
        text,
    )
    assert basis is not None
    for key, cell in zip(
        ("annotators", "annotators_sharing_a_pair", "pairs", "queries", "single_pairs"),
        basis.groups(),
        strict=True,
    ):
        surface.add((key,), read_number(cell))
    target = re.search(r"Cohen's κ of at least ([0-9.]+)</h2>", html.replace("&#x27;", "'"))
    assert target is not None
    surface.add(("verdict", "target"), float(target[1]), 6)
    surface.add(("kappa_target",), float(target[1]), 6)
    title = re.search(r"<h2>(The target is met|The target is not met|It is not yet known)", html)
    assert title is not None
    surface.add(
        ("verdict", "state"),
        {"It is not yet known": "unknown"}.get(title[1], title[1].removeprefix("The target is ")),
    )
    surface.add(
        ("diagnosis",),
        1 + len(re.findall("<li>", html.split("<h2>Findings<")[1].split("</section>")[0]))
        if "<h2>Findings<" in html
        else 1,
    )
    drawn = re.search(rf"bootstrap \(.*?\) of {number} resamples with seed (\d+)", text)
    assert drawn is not None
    surface.add(("resamples",), read_number(drawn[1]))
    surface.add(("seed",), read_number(drawn[2]))
    index = re.search(r"Prevalence index (\d\.\d{3}) and bias index (\d\.\d{3})", text)
    assert index is not None
    surface.add(("paradox", "prevalence"), float(index[1]), 3)
    surface.add(("paradox", "bias"), float(index[2]), 3)
    counted = re.search(rf"{number} judgments? counts?(?:;|\.)", text)
    assert counted is not None
    surface.add(("judgments",), read_number(counted[1]))
    old = re.search(rf"{number} current grades were made under an older guideline", text)
    surface.add(("outdated",), read_number(old[1]) if old else 0)
    for table in read_tables(html):
        _read_report_table(surface, table, json_figures)
    _find_report_limits(surface, html, text)
    return surface


def _read_report_table(surface: Place, table: Table, json_figures: Mapping[Path_, object]) -> None:
    for row in table.rows:
        name = row[0]
        if table.name == "All coefficients":
            path = find_coefficient(name)
            surface.add(path if path == ("observed_agreement",) else (*path, "value"), read_number(row[1]), 3)
            if row[2]:
                surface.add((*path, "ci95"), tuple(map(float, row[2].split(" to "))), 3)
            if row[3]:
                surface.add((*path, "why"), row[3])
        elif table.name.startswith("Annotators who judged the same pairs"):
            _read_report_summary(surface, sort_names(("annotator_pairs", name)), row)
        elif table.name.startswith("Agreement by") and "period" not in table.name:
            path = ("groups", name_group(name))
            surface.add((*path, "queries"), read_number(row[2]))
            _read_report_summary(surface, path, [name, row[1], *row[3:7], "", "", row[8]])
            surface.add_value((*path, "krippendorff_alpha", "ordinal"), row[7])
        elif table.name.startswith("Grade of the first annotator"):
            counts = [int(cell.replace(",", "")) for cell in row[1:]]
            cells = tuple(tuple(counts[at : at + 4]) for at in range(0, 16, 4))
            surface.add(sort_names(("annotator_pairs", name, "confusion")), cells)
        elif table.name.startswith("Cohen's κ with all other annotators"):
            _read_report_leaning(surface, ("leanings", name), row)
        elif table.name == "Grades given by each annotator":
            counts = [int(cell.replace(",", "")) for cell in row[1:]]
            surface.add(("grades_by_annotator", name), tuple(counts[:-1]))
        elif table.name == "Agreement by period":
            path = ("periods", name.split(" to ")[0])
            surface.add((*path, "last"), name.split(" to ")[1])
            surface.add((*path, "pairs"), read_number(row[1]))
            surface.add((*path, "observed_agreement"), read_number(row[2]), 3)
            surface.add_value((*path, "cohen_kappa"), row[3])
            if row[4]:
                surface.add((*path, "cohen_kappa", "why"), row[4])
        elif table.name.startswith("Mean difference from the others"):
            path = ("periods", name.split(" to ")[0], "leanings", row[1])
            surface.add((*path, "comparisons"), read_number(row[2]))
            surface.add((*path, "mean"), read_number(row[3]), 3)
            if row[4]:
                surface.add((*path, "ci95"), tuple(map(float, row[4].split(" to "))), 3)
        elif table.name.startswith("Judgments left out"):
            _add_left_out(surface, json_figures, [(name, row[1])])
    if table.name.startswith("Above the diagonal"):
        _read_heat_map(surface, table)


def _read_report_summary(surface: Place, path: Path_, row: Sequence[str]) -> None:
    surface.add((*path, "pairs"), read_number(row[1]))
    surface.add((*path, "observed_agreement"), read_number(row[2]), 3)
    for kind, cell in zip(KINDS, row[3:6], strict=True):
        surface.add_value((*path, "cohen_kappa", kind), cell)
    for index, cell in zip(("prevalence", "bias"), row[6:8], strict=True):
        if cell:
            surface.add((*path, "paradox", index), read_number(cell), 3)
    if row[8]:
        few = row[8].startswith("too few")
        surface.add((*path, "warning") if few else (*path, "cohen_kappa", "unweighted", "why"), row[8])


def _read_report_leaning(surface: Place, path: Path_, row: Sequence[str]) -> None:
    surface.add((*path, "comparisons"), read_number(row[1]))
    surface.add_value((*path, "cohen_kappa_with_others"), row[2])
    surface.add((*path, "mean"), read_number(row[3]), 3)
    if row[4]:
        surface.add((*path, "ci95"), tuple(map(float, row[4].split(" to "))), 3)
    surface.add((*path, "krippendorff_alpha_ordinal_without"), read_number(row[5]), 3)
    surface.add((*path, "pairs_without"), read_number(row[6]))


def _read_heat_map(surface: Place, table: Table) -> None:
    """κ above the diagonal, pairs below it."""
    names = [row[0].split(" ", 1)[1] for row in table.rows]
    for at, row in enumerate(table.rows):
        for to, cell in enumerate(row[1:]):
            if at == to or cell in ("", "0"):
                continue
            path = sort_names(("annotator_pairs", name_two(names[at], names[to])))
            if to > at:
                surface.add((*path, "cohen_kappa", "unweighted", "value"), read_number(cell), 2)
            else:
                surface.add((*path, "pairs"), read_number(cell))
    shown = re.search(r"Shown: the (\d+) of ([0-9,]+) annotators who share most", table.name)
    if shown:
        assert int(shown[1]) == len(names)
        surface.add(("annotators_sharing_a_pair",), read_number(shown[2]))


def _find_report_limits(surface: Place, html: str, text: str) -> None:
    number = "([0-9,]+)"
    pairs = re.search(rf"Of {number} annotator pairs the tables list {number}", text)
    if pairs:
        surface.listed[("annotator_pairs", "*")] = int(pairs[1].replace(",", ""))
    drawn = re.search(rf"Drawn: the (\d+) of {number} who differ on most pairs", text)
    if drawn:
        surface.add(("annotator_pairs",), read_number(drawn[2]))
    for which, path in (
        ("those who lean most (", ("leanings", "*")), ("those who judged most", ("grades_by_annotator", "*")),
        ("those who lean most over", ("periods", "*", "leanings", "*")),
    ):  # fmt: skip
        match = re.search(rf"Listed: of {number} annotators the {number} first, {re.escape(which)}", text)
        if match:
            surface.listed[path] = int(match[1].replace(",", ""))
    match = re.search(rf"Drawn: the first (\d+) of {number}\.", text)
    if match:
        surface.add(("annotators",), read_number(match[2]))


# the terminal


def read_terminal(printed: str, json_figures: Mapping[Path_, object]) -> Place:
    """What the command prints for people."""
    surface = Place()
    state = re.match(
        r"(MET|NOT MET|UNKNOWN): .*?(?:[Tt]arget of|clearly below|at or above) ([0-9.]+\d)", printed
    )
    assert state is not None
    surface.add(("verdict", "state"), state[1].lower())
    surface.add(("verdict", "target"), float(state[2]), 6)
    surface.add(("kappa_target",), float(state[2]), 6)
    surface.add(("diagnosis",), 1 + len(re.findall("^- ", printed, re.MULTILINE)))
    blocks = [block.splitlines() for block in re.split(r"\n\n+", printed) if block.strip()]
    for block in blocks:
        matrix = re.fullmatch(r"rows (\S+), columns (\S+)", block[0])
        if matrix:
            cells = tuple(tuple(map(int, line.split()[1:])) for line in block[2:6])
            surface.add(sort_names(("annotator_pairs", name_two(matrix[1], matrix[2]), "confusion")), cells)
            continue
        _read_block(surface, block, json_figures)
    counted = re.search(r"([0-9,]+) judgments? counts?\.", printed)
    assert counted is not None
    surface.add(("judgments",), read_number(counted[1]))
    old = re.search(r"([0-9,]+) current grades were made under an older guideline", printed)
    surface.add(("outdated",), read_number(old[1]) if old else 0)
    listed = re.search(r"Showing [0-9,]+ of ([0-9,]+) annotator pairs", printed)
    if listed:
        surface.listed[("annotator_pairs", "*")] = int(listed[1].replace(",", ""))
    drawn = re.search(r"The (\d+) of ([0-9,]+) annotator pairs who differ on most pairs", printed)
    if drawn:
        surface.add(("annotator_pairs",), read_number(drawn[2]))
    surface.listed[("annotator_pairs", "*", "confusion")] = int(drawn[2].replace(",", "")) if drawn else 1
    people = re.search(r"([0-9,]+) annotators? ha\w+ judgments that count; ([0-9,]+)", printed)
    if people:
        surface.add(("annotators",), read_number(people[1]))
        surface.add(("annotators_sharing_a_pair",), read_number(people[2]))
    return surface


def _read_block(surface: Place, block: Sequence[str], json_figures: Mapping[Path_, object]) -> None:
    """A table of columns."""
    basis = re.match(r"([0-9,]+) pairs? of ([0-9,]+) quer\w+ +value", block[0])
    lines = [_spread(line) for line in block]
    width = max(map(len, lines))
    used = "".join("x" if {line[at : at + 1] for line in lines} - {" ", ""} else " " for at in range(width))
    spans = [match.span() for match in re.finditer(r"x+(?: x+)*", used)]
    rows = [[line[begin:end].replace(MARK, "").strip() for begin, end in spans] for line in lines]
    head = rows[0]
    if basis:
        surface.add(("pairs",), read_number(basis[1]))
        surface.add(("queries",), read_number(basis[2]))
    for row in rows[1:]:
        cells, name = dict(zip(head, row, strict=True)), row[0]
        if basis and name.endswith("index"):
            surface.add(("paradox", name.removesuffix(" index")), read_number(row[1]), 3)
        elif basis and not name.startswith("undefined"):
            path = find_coefficient(name)
            if path == ("observed_agreement",):
                surface.add(path, read_number(row[1]), 3)
            else:
                surface.add_value(path, row[1])
        elif head[0] in ("annotators", "category"):
            pair = head[0] == "annotators"
            path = (
                sort_names(("annotator_pairs", name.replace(" / ", " and ")))
                if pair
                else ("groups", name_group(name))
            )
            surface.add((*path, "pairs"), read_number(cells["pairs"]))
            surface.add((*path, "observed_agreement"), read_number(cells["observed"]), 3)
            for kind in KINDS:
                surface.add_value((*path, "cohen_kappa", kind), cells[kind])
            for index in ("prevalence", "bias"):
                if cells.get(index):
                    surface.add((*path, "paradox", index), read_number(cells[index]), 3)
            if "alpha ordinal" in cells:
                surface.add_value((*path, "krippendorff_alpha", "ordinal"), cells["alpha ordinal"])
            if cells.get("warning"):
                surface.add((*path, "warning"), cells["warning"])
        elif head[0] == "annotator":
            path = ("leanings", name)
            surface.add((*path, "comparisons"), read_number(cells["comparisons"]))
            surface.add_value((*path, "cohen_kappa_with_others"), cells["kappa with the others"])
            mean, _, interval = cells["grades higher by"].partition(" [")
            surface.add((*path, "mean"), float(mean), 3)
            if interval:
                surface.add((*path, "ci95"), tuple(map(float, interval.rstrip("]").split(", "))), 3)
            surface.add(
                (*path, "krippendorff_alpha_ordinal_without"), read_number(cells["alpha ordinal without"]), 3
            )
            surface.add((*path, "pairs_without"), read_number(cells["pairs without"]))
        elif head[0] == "grades given by":
            surface.add(("grades_by_annotator", name), tuple(map(int, row[1:5])))
        elif head[0] == "completed":
            path = ("periods", name.split(" to ")[0])
            surface.add((*path, "last"), name.split(" to ")[1])
            surface.add((*path, "pairs"), read_number(cells["pairs"]))
            surface.add((*path, "observed_agreement"), read_number(cells["observed"]), 3)
            surface.add_value((*path, "cohen_kappa"), cells["kappa [95 %]"])
        elif head[0] == "judgments":
            _add_left_out(surface, json_figures, [(row[1], name)])


def _spread(line: str) -> str:
    """The line with a mark behind each wide character, so that every column begins at its place."""
    return "".join(
        character + MARK if east_asian_width(character) in "WF" else character for character in line
    )


# a release


def read_release(world: AgreementWorld, folder: Path) -> tuple[dict[Path_, object], Place, Place]:
    """The manifest's figures by their paths, the datasheet and the gate; real names for pseudonyms."""
    gates = [gate for gate in check_release(world.database, OPERATOR, "d").gates if not gate.met]
    made = publish_release(
        world.database, world.lead, "d", "1.0.0", exports_dir=folder, now=EPOCH.replace(month=6),
        overrides={gate.name: "counted in a test" for gate in gates},
    )  # fmt: skip
    manifest = json.loads((made.path / "manifest.json").read_bytes())
    with world.database.read() as session:
        numbers = list_pseudonyms(session, key_of(find_dataset(session, "d").pk))
    people = {person.person_id: person.username for person in world.people}
    names = {f"annotator_{number}": people[pk] for pk, number in numbers.items() if pk in people}
    sheet = (made.path / "DATASHEET.md").read_text(encoding="utf-8")
    gate = Place()
    for item in manifest["gates"]:
        if item["name"] == "kappa":
            gate.add(("cohen_kappa", "unweighted", "value"), item["measured"], 6)
            gate.add(("kappa_target",), item["required"], 6)
    agreement = manifest["agreement"]
    return flatten(agreement, names), _read_datasheet(sheet, agreement, names), gate


def _read_datasheet(sheet: str, agreement: Mapping[str, Any], names: Mapping[str, str]) -> Place:
    surface = Place()
    section = sheet.split("## How well they agree")[1].split("\n## ")[0]
    basis = re.search(r"([0-9,]+) pairs? w\w+ judged independently .*?; ([0-9.]+ %) of those", section)
    assert basis is not None
    surface.add(("pairs",), read_number(basis[1]))
    surface.add(("observed_agreement",), read_number(basis[2]), 3)
    drawn = re.search(r"([0-9,]+) resamples, seed (\d+)", section)
    assert drawn is not None
    surface.add(("resamples",), read_number(drawn[1]))
    surface.add(("seed",), read_number(drawn[2]))
    listed = re.search(r"\(the (\d+) who share most, of ([0-9,]+);", section)
    if listed:
        surface.listed[("annotator_pairs", "*")] = int(listed[2].replace(",", ""))
    figures = {name for name, _ in list_coefficients(agreement)}
    for line in section.splitlines():
        cells = [cell.strip().replace("\\", "") for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        if not line.startswith("| ") or cells[1] in ("value", "pairs"):
            continue
        if cells[0] in figures:
            _read_sheet_value(surface, find_coefficient(cells[0]), cells[1:3])
            continue
        pair = re.fullmatch(r"(annotator_\d+) and (annotator_\d+)", cells[0])
        path = (
            sort_names(("annotator_pairs", name_two(names[pair[1]], names[pair[2]])))
            if pair
            else ("groups", name_group(cells[0]))
        )
        surface.add((*path, "pairs"), read_number(cells[1]))
        surface.add((*path, "observed_agreement"), read_number(cells[2]), 3)
        _read_sheet_value(surface, (*path, "cohen_kappa", "unweighted"), cells[3:5])
    people = re.search(r"([0-9,]+) annotators?\. Intended judgments per pair", sheet)
    assert people is not None
    table = sheet.split("## Who judged, and how")[1].split("\n## ")[0]
    graded = re.findall(r"^\| annotator\S+ \| ([0-9,]+) ", table.replace("\\", ""), re.MULTILINE)
    assert int(people[1].replace(",", "")) == len(graded)
    surface.add(("annotators",), sum(count != "0" for count in graded))
    return surface


def _read_sheet_value(surface: Place, path: Path_, cells: Sequence[str]) -> None:
    surface.add((*path, "value"), read_number(cells[0]), 3)
    if re.match(r"-?\d", cells[1]):
        surface.add((*path, "ci95"), tuple(map(float, cells[1].split(" to "))), 3)
    elif cells[1]:
        surface.add((*path, "why"), cells[1])


# the command, and the overview


def run_command(world: AgreementWorld, *arguments: str) -> str:
    url = world.database.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(commands, ["agreement", "d", "--by", "category", *arguments, "--database", url])
    assert done.exit_code == 0, done.output
    return done.stdout


def read_overview(world: AgreementWorld) -> Place:
    """The overview's chart."""
    url = world.database.url.render_as_string(hide_password=False)
    arguments = (url, "overview", world.lead.username, world.lead.person_id, "d", "")
    app = run(AppTest.from_function(run_page, args=arguments))
    surface = Place()
    alternative_text = next(text for text in alternatives(app) if "κ" in text or "kappa" in text)
    value = re.search(r"κ (-?\d\.\d\d \[[^\]]*\])", alternative_text)
    target = re.search(r"target ([0-9.]+\d)", alternative_text)
    assert value is not None and target is not None, alternative_text
    surface.add_value(("cohen_kappa", "unweighted"), value[1], 2)
    surface.add(("kappa_target",), float(target[1]), 6)
    return surface
