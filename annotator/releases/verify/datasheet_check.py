"""Compare the figures of a DATASHEET.md with the manifest.

Compares the tables of contents, agreement and gates, and the sentences that count pairs, at the precision shown;
other sentences are not compared. A figure that is not shown is reported but is no fault, since other versions of the
program word it differently. Comments and code prove nothing; HTML is a fault, because it could hide something.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotator.domain.messages import count_of
from annotator.formats.syntax.markdown import escape_markdown
from annotator.formats.syntax.markdown_tables import read_cell, read_rows, read_shown
from annotator.releases.build.datasheet_template import list_coefficients
from annotator.releases.build.files import DATASHEET, MANIFEST
from annotator.releases.verify.read_back import ReleaseFault

_GRADE = re.compile(r"… of grade (\d), .*")
_ORIGIN = re.compile(r"… .*\(`(\w+)`\)")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
_JUDGED = re.compile(
    r"^([\d,]+) pairs? (?:was|were) judged independently by two or more annotators(?:; ([\d.]+) % of)?",
    re.MULTILINE,
)
_DECIDED = re.compile(r"a lead decides with a reason: ([\d,]+) of ([\d,]+) qrels?\b")
_CONTENT = re.compile(r"content `sha256:([0-9a-f]*)`")

CONTENT_COLUMNS = ("what", "how many", "share of the qrels")
FIGURE_COLUMNS = ("figure", "value", "95 % interval")
PART_COLUMNS = ("pairs", "same grade", "Cohen's κ", "95 % interval")
COUPLE_COLUMNS = ("annotators", *PART_COLUMNS)
GATE_COLUMNS = ("gate", "required", "measured", "met", "")
ORIGINS = ("unanimous", "adjudicated", "single", "imported")
NOT_SAID = "(not said)"
CONTENT, AGREEMENT, SETTLED = "What it holds", "How well they agree", "How grades were settled"
GATES, CITATION = "Gates", "How to cite and verify"
Rows = Mapping[tuple[str, tuple[str, ...]], Mapping[str, Sequence[Sequence[str]]]]
Check = tuple[str, Any, str | None]  # a figure's name, the manifest's number, what the datasheet shows


def compare_datasheet(text: str, manifest: Mapping[str, Any]) -> tuple[list[ReleaseFault], list[str]]:
    """Return where the datasheet contradicts the manifest, and sentences about figures that it does not show."""
    page = read_shown(text)
    rows: defaultdict[tuple[str, tuple[str, ...]], dict[str, list[Sequence[str]]]] = defaultdict(dict)
    for row in read_rows(page):
        rows[row.section, row.header].setdefault(row.name, []).append(row.cells)
    checks = [
        *_check_content(rows, manifest),
        *_check_agreement(rows, manifest),
        *_check_sentences({name: page.join(name) for name in (AGREEMENT, SETTLED, CITATION)}, manifest),
        *_check_gates(rows, manifest),
    ]
    faults, missing = [], []
    if page.html is not None:
        faults.append(ReleaseFault(DATASHEET, "no HTML, which no release writes", page.html.strip()[:80]))
    for name, expected, shown in checks:
        if shown is None:
            missing.append(name)
        elif not _shows_number(shown, expected):
            faults.append(ReleaseFault(DATASHEET, f"{name}: {_show(expected)} as in {MANIFEST}", shown))
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
        else " to ".join(map(_show, value))
        if isinstance(value, list)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
