"""Compare the figures of a DATASHEET.md with the manifest.

Compares what it says about the dataset, its definitions of grades, the tables of contents, annotators, agreement, gates and
coverage, and the sentences that count pairs, at the precision shown; other sentences are not compared. A figure that is not shown is reported but is no fault, since other versions of the
program word it differently. Comments and code prove nothing; HTML is a fault, because it could hide something.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotator.domain.messages import count_of
from annotator.formats.syntax.markdown import escape_markdown
from annotator.formats.syntax.markdown_tables import read_cell, read_rows, read_shown
from annotator.releases.verify.read_back import QRELS, ReleaseFault
from annotator.releases.verify.recompute import JudgmentKind
from annotator.releases.writing.datasheet_template import list_coefficients
from annotator.releases.writing.files import DATASHEET, JUDGMENTS, MANIFEST

_GRADE = re.compile(r"… of grade (\d), .*")
_ORIGIN = re.compile(r"… .*\(`(\w+)`\)")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
_JUDGED = re.compile(
    r"^([\d,]+) pairs? (?:was|were) judged independently by two or more annotators(?:; ([\d.]+) % of)?",
    re.MULTILINE,
)
_DECIDED = re.compile(r"a lead decides with a reason: ([\d,]+) of ([\d,]+) qrels?\b")
_POOL = re.compile(r"The pool contains ([\d,]+) pairs? of ([\d,]+) quer(?:y|ies)\.")
_TITLE = re.compile(r"# Datasheet of (.*)")
_PUBLISHED = re.compile(r"A ground truth of graded relevance, published (\S+) by (.*)\.")
_ORDER = {
    "tied": re.compile(r"same grade and mean as another one of their query: ([\d,]+)\."),
    "by_lead": re.compile(r"Ordered by a lead: ([\d,]+)\."),
    "by_earlier": re.compile(r"Ordered by an earlier ground truth: ([\d,]+)\."),
    "undecided": re.compile(r"Ordered by the hash alone: ([\d,]+),"),
    "queries_undecided": re.compile(r"Ordered by the hash alone: [\d,]+, in ([\d,]+) quer"),
    "queries_without_relevant": re.compile(r"`ranked\.json` leaves out ([\d,]+) quer"),
}
_PERCENT = re.compile(r"[\d.,]+ %")
_CONTENT = re.compile(r"content `sha256:([0-9a-f]*)`")

CONTENT_COLUMNS = ("what", "how many", "share of the qrels")
FIGURE_COLUMNS = ("figure", "value", "95 % interval")
PART_COLUMNS = ("pairs", "same grade", "Cohen's κ", "95 % interval")
COUPLE_COLUMNS = ("annotators", *PART_COLUMNS)
GATE_COLUMNS = ("gate", "required", "measured", "met", "")
ORIGINS = ("unanimous", "adjudicated", "single", "imported")
NOT_SAID = "(not said)"
_OTHER_FILES = {
    ", pairs graded": JUDGMENTS,
    ", pairs unrateable": JUDGMENTS,
    ", simulated": JUDGMENTS,
    "coverage, ": QRELS,
}
CONTENT, AGREEMENT, SETTLED = "What it holds", "How well they agree", "How grades were settled"
GATES, CITATION = "Gates", "How to cite and verify"
POOL, PEOPLE, SCALE, ORDER, COVERAGE = (
    "How the pool was made",
    "Who judged, and how",
    "What they judged by",
    "Order of documents",
    "Coverage",
)
ABOUT_COLUMNS = ("about this dataset", "")
PEOPLE_COLUMNS = ("annotator", "pairs graded", "pairs unrateable", "of them from files", "")
SCALE_COLUMNS = ("grade", "name", "definition")
MEASURED_COLUMNS, REQUIRED_COLUMNS = ("what", "measured"), ("what", "required", "measured", "met")
NOT_GIVEN, NOT_A_PERSON, NONE = "not given", "simulated, not a person", "none"
Rows = Mapping[tuple[str, tuple[str, ...]], Mapping[str, Sequence[Sequence[str]]]]
Check = tuple[str, Any, str | None]
"""A figure's name, its number (in the manifest, or in the file that the name names), what the datasheet shows."""


def compare_datasheet(
    text: str,
    manifest: Mapping[str, Any],
    people: Mapping[JudgmentKind, int] | None = None,
    coverage: Sequence[tuple[str, str]] = (),
) -> tuple[list[ReleaseFault], list[str]]:
    """Return where the datasheet contradicts the manifest, and sentences about figures that it does not show.

    `people`: the judgments of judgments.csv, counted; `coverage`: what is measured from the queries and qrels, and how much.
    """
    page = read_shown(text)
    rows: defaultdict[tuple[str, tuple[str, ...]], dict[str, list[Sequence[str]]]] = defaultdict(dict)
    for row in read_rows(page):
        rows[row.section, row.header].setdefault(row.name, []).append(row.cells)
    checks = [
        *_check_about(rows, page.join(page.lines[0][0] if page.lines else ""), manifest),
        *_check_content(rows, manifest),
        *_check_order(page.join(ORDER), manifest),
        *_check_people(rows, people or {}),
        *_check_coverage(rows, manifest, coverage),
        *_check_agreement(rows, manifest),
        *_check_sentences({name: page.join(name) for name in (AGREEMENT, SETTLED, CITATION, POOL)}, manifest),
        *_check_gates(rows, manifest),
    ]
    faults, missing = [], []
    if page.html is not None:
        faults.append(ReleaseFault(DATASHEET, "no HTML, which no release writes", page.html.strip()[:80]))
    for name, expected, shown in checks:
        if shown is None:
            missing.append(name)
        elif not _shows_number(shown, expected):
            where = next((file for what, file in _OTHER_FILES.items() if what in name), MANIFEST)
            faults.append(ReleaseFault(DATASHEET, f"{name}: {_show(expected)} as in {where}", shown))
    if not missing:
        return faults, []
    named = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
    figures = count_of(
        len(missing), "figure of the manifest where it is", "figures of the manifest where they are"
    )
    return faults, [f"{DATASHEET} does not show {figures} looked for: {named}"]


def _find(rows: Rows, section: str, columns: Sequence[str]) -> Mapping[str, Sequence[Sequence[str]]]:
    """Return the rows of all tables with these columns in the section, by name."""
    return rows.get((section, tuple(read_cell(column) for column in columns)), {})


def _check_about(rows: Rows, head: str, manifest: Mapping[str, Any]) -> Iterator[Check]:
    """Compare the head of the page and its definitions of grades. `head`: the text before the first chapter."""
    title, published = _TITLE.search(head), _PUBLISHED.search(head)
    if title:
        yield (
            "dataset and version",
            f"{manifest.get('dataset')} {manifest.get('version')}",
            read_cell(title[1]),
        )
    if published:
        yield "created_at", manifest.get("created_at"), published[1]
        yield "published_by", manifest.get("published_by"), read_cell(published[2])
    notice = manifest.get("notice")
    if isinstance(notice, str) and title and notice not in read_cell(head):
        yield "the notice", notice, "none"
    section = read_cell(title[0].removeprefix("# ")) if title else ""
    about = _find(rows, section, ABOUT_COLUMNS)
    for name in ("authors", "contact", "licence", "source"):
        for cells in about.get(name, ()):
            yield name, _flatten(manifest.get(name) or NOT_GIVEN), _flatten(cells[1])
    shown = _find(rows, SCALE, SCALE_COLUMNS)
    for item in manifest.get("scale") or ():
        for cells in shown.get(str(item["grade"]), ()):
            yield f"name of grade {item['grade']}", _flatten(item["name"]), _flatten(cells[1])
            yield f"definition of grade {item['grade']}", _flatten(item["definition"]), _flatten(cells[2])


def _flatten(text: object) -> str:
    """Return the text as a cell of a table can show it: white space joined."""
    return " ".join(read_cell(escape_markdown(str(text))).split())


def _check_order(text: str, manifest: Mapping[str, Any]) -> Iterator[Check]:
    order = manifest.get("order")
    if isinstance(order, dict):
        for name, pattern in _ORDER.items():
            for match in pattern.finditer(text):
                yield f"order.{name}", order.get(name), match[1]


def _check_people(rows: Rows, people: Mapping[JudgmentKind, int]) -> Iterator[Check]:
    """Compare the table of annotators with the judgments, which say who is simulated."""
    graded, unrateable, marks = Counter[str](), Counter[str](), defaultdict[str, set[str | None]](set)
    for (name, cannot_rate, mark), number in people.items():
        (unrateable if cannot_rate else graded)[name] += number
        marks[name].add(mark)
    for name, matching_rows in _find(rows, PEOPLE, PEOPLE_COLUMNS).items() if people else ():
        for cells in matching_rows:
            yield f"{name}, pairs graded", graded[name], cells[1]
            yield f"{name}, pairs unrateable", unrateable[name], cells[2]
            if None not in marks[name]:
                expected = NOT_A_PERSON if "true" in marks[name] else ""
                yield f"{name}, simulated", expected, cells[4]


def _check_coverage(
    rows: Rows, manifest: Mapping[str, Any], coverage: Sequence[tuple[str, str]]
) -> Iterator[Check]:
    """Compare the measured figures, without shares, and how many requirements are met.

    Not compared: figures of a release with open pairs, or with queries without a qrel, which its files do not hold; and a row
    in other words, as another version of the program writes it.
    """
    counts = manifest.get("counts") or {}
    required = _find(rows, COVERAGE, REQUIRED_COLUMNS)
    hides = ("disagreement", "reopened", "queries_without_qrels")
    for name, figure in coverage if not any(counts.get(key) for key in hides) else ():
        for cells in _find(rows, COVERAGE, MEASURED_COLUMNS).get(read_cell(escape_markdown(name)), ()):
            pair = figure, cells[1]
            if NONE in pair:  # 0, and then no ids
                pair = _leave_out_ids(figure), _leave_out_ids(cells[1])
            counted, shown = pair
            same_words = _NUMBER.sub("", _flatten(counted)) == _NUMBER.sub("", _flatten(shown))
            yield f"coverage, {name}", _list_counts(counted), _PERCENT.sub("", shown) if same_words else None
    verdicts = [cells[3] for table in required.values() for cells in table if cells[3]]
    for gate in manifest.get("gates") or ():
        if gate.get("name") == "coverage" and verdicts:
            yield "requirements of coverage", gate.get("required"), str(len(verdicts))
            yield "requirements of coverage that are met", gate.get("measured"), str(verdicts.count("yes"))


def _leave_out_ids(figure: str) -> str:
    return figure.replace(NONE, "0").partition(" (")[0]


def _list_counts(figure: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(_PERCENT.sub("", figure))]


def _check_content(rows: Rows, manifest: Mapping[str, Any]) -> Iterator[Check]:
    counts = manifest.get("counts") or {}
    by_grade = counts.get("by_grade") or {}
    wanted = {"qrels": counts.get("qrels")}
    wanted |= {f"qrels of grade {grade}": by_grade.get(grade) for grade in by_grade}
    wanted |= {f"qrels {origin}": counts[origin] for origin in ORIGINS if counts.get(origin)}
    for label, matching_rows in _find(rows, CONTENT, CONTENT_COLUMNS).items():
        grade, origin = _GRADE.fullmatch(label), _ORIGIN.fullmatch(label)
        if grade:
            name, number = f"qrels of grade {grade[1]}", by_grade.get(grade[1])
        elif origin:
            name, number = f"qrels {origin[1]}", counts.get(origin[1])
        elif label.startswith("qrels ("):
            name, number = "qrels", counts.get("qrels")
        else:
            continue
        wanted.pop(name, None)
        for cells in matching_rows:
            yield name, number, cells[1]
    for name, number in wanted.items():
        yield name, number, None


def _check_agreement(rows: Rows, manifest: Mapping[str, Any]) -> Iterator[Check]:
    agreement = manifest.get("agreement")
    if not isinstance(agreement, dict):
        return
    shown = _find(rows, AGREEMENT, FIGURE_COLUMNS)
    for name, value in list_coefficients(agreement):
        if name not in shown:
            yield name, value["value"], None
        for cells in shown.get(name, ()):
            yield name, value["value"], cells[1]
            if value.get("ci95"):
                yield f"{name}, 95 % interval", value["ci95"], cells[2]
    couples = [(" and ".join(pair["annotators"]), pair) for pair in agreement.get("annotator_pairs") or ()]
    yield from _check_parts(_find(rows, AGREEMENT, COUPLE_COLUMNS), couples)
    groups = agreement.get("groups") or ()
    if groups:
        columns = (escape_markdown(groups[0]["by"]), *PART_COLUMNS)
        named = [(NOT_SAID if group["value"] is None else group["value"], group) for group in groups]
        yield from _check_parts(_find(rows, AGREEMENT, columns), named)


def _check_parts(
    shown: Mapping[str, Sequence[Sequence[str]]], parts: Sequence[tuple[str, Mapping[str, Any]]]
) -> Iterator[Check]:
    """Compare Cohen's κ of every two annotators or of every group; the datasheet may show only some of many.

    Groups with the same name appear in the manifest's order.
    """
    by_name: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for name, part in parts:
        by_name[read_cell(escape_markdown(name))].append(part)
    for name, same in by_name.items():
        for index, cells in enumerate(shown.get(name, ())):
            part = same[min(index, len(same) - 1)]
            yield f"{name}, pairs", part["pairs"], cells[1]
            yield f"{name}, Cohen's κ", part["cohen_kappa"]["unweighted"]["value"], cells[3]


def _check_sentences(texts: Mapping[str, str], manifest: Mapping[str, Any]) -> Iterator[Check]:
    """Compare the sentences with figures. `texts`: the text by section."""
    agreement, counts = manifest.get("agreement"), manifest.get("counts") or {}
    if isinstance(agreement, dict):
        name, observed = "pairs judged by two or more", agreement.get("observed_agreement")
        judged = list(_JUDGED.finditer(texts[AGREEMENT]))
        yield from ((name, agreement.get("pairs"), match[1]) for match in judged)
        if not judged:
            yield name, agreement.get("pairs"), None
        for match in judged:
            if match[2] and observed is not None:
                yield "judgments that match, in percent", observed * 100, match[2]
        numbers = [counts.get("adjudicated"), counts.get("qrels")]
        for match in _DECIDED.finditer(texts[SETTLED]):
            yield "qrels decided by a lead", numbers, f"{match[1]} {match[2]}"
    for match in _POOL.finditer(texts[POOL]):
        yield (
            "pairs and queries of the pool",
            [counts.get("pairs"), counts.get("queries")],
            f"{match[1]} {match[2]}",
        )
    hashes: list[str | None] = [match[1] for match in _CONTENT.finditer(texts[CITATION])]
    for shown in hashes or [None]:
        yield "the content hash", manifest.get("content_sha256"), shown


def _check_gates(rows: Rows, manifest: Mapping[str, Any]) -> Iterator[Check]:
    shown = _find(rows, GATES, GATE_COLUMNS)
    for gate in manifest.get("gates") or ():
        name = f"gate {gate.get('name')}"
        matching_rows = shown.get(str(gate.get("name")), ())
        if not matching_rows:
            yield name, None, None
        for cells in matching_rows:
            yield f"{name}, required", gate.get("required"), cells[1]
            yield f"{name}, measured", gate.get("measured"), cells[2]
            yield f"{name}, met", "yes" if gate.get("met") else "no", cells[3]


def _shows_number(shown: str, expected: Any) -> bool:
    """Return whether the text shows this number, as far as it has digits; for a list, these numbers one after the
    other."""
    if isinstance(expected, str):
        return shown == expected
    if expected is None:
        return shown in ("", "undefined")
    numbers = _NUMBER.findall(shown)
    wanted = list(expected) if isinstance(expected, list | tuple) else [expected]
    return len(numbers) == len(wanted) and all(
        isinstance(number, int | float)
        and abs(float(text.replace(",", "")) - number) <= _find_step(text, number)
        for text, number in zip(numbers, wanted, strict=True)
    )


def _find_step(text: str, number: float) -> float:
    """Return how much a number may differ from its text: half of the last digit shown, or of the sixth significant
    digit."""
    decimals = len(text.partition(".")[2]) if "e" not in text else 0
    rounded = 0.5 * 10**-decimals if "." in text else 0.0
    return max(rounded, abs(number) * 5e-6 if "." in text or "e" in text else 0.0) + 1e-6


def _show(value: Any) -> str:
    return (
        "undefined"
        if value is None
        else "nothing"
        if value == ""
        else " to ".join(map(_show, value))
        if isinstance(value, list)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
