"""Reads the figures of a DATASHEET.md back and compares them with the manifest.

The tables of contents, agreement, gates and the sentences that count pairs. A number must be the manifest's as far as it is
shown; a figure that the datasheet does not show is no fault, since programs of other versions word it otherwise, but it is
said. The other sentences are not compared.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from annotator.formats.markdown import escape_markdown, unescape_markdown
from annotator.releases.datasheet_figures import NOT_SAID, list_agreement_figures
from annotator.releases.files import DATASHEET, MANIFEST
from annotator.releases.reading_back import Fault

_GRADE = re.compile(r"… of grade (\d), .*")
_ORIGIN = re.compile(r"… .*\(`(\w+)`\)")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
_JUDGED = re.compile(
    r"^([\d,]+) pairs were judged independently by two or more annotators(?:; ([\d.]+) % of)?", re.MULTILINE
)
_DECIDED = re.compile(r"a lead decides with a reason: ([\d,]+) of ([\d,]+) qrels")
_CONTENT = re.compile(r"content `sha256:([0-9a-f]*)`")

CONTENT, AGREEMENT, GATES = "## What it holds", "## How well they agree", "## Gates"
Rows = dict[tuple[str, str], list[str]]
Check = tuple[str, Any, str | None]  # a figure's name, the manifest's number, what the datasheet shows


def compare_datasheet(text: str, manifest: Mapping[str, Any]) -> tuple[list[Fault], list[str]]:
    """Where the datasheet says another number than the manifest; and in sentences what it does not show."""
    rows = _read_tables(text)
    checks = [
        *_check_content(rows, manifest),
        *_check_agreement(rows, text, manifest),
        *_check_gates(rows, manifest),
    ]
    found = _CONTENT.search(text)
    checks.append(("the content hash", manifest.get("content_sha256"), found[1] if found else None))
    faults, missing = [], []
    for name, expected, shown in checks:
        if shown is None:
            missing.append(name)
        elif not _says(shown, expected):
            faults.append(Fault(DATASHEET, f"{name}: {_show(expected)} as in {MANIFEST}", shown))
    if not missing:
        return faults, []
    named = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
    return faults, [
        f"{DATASHEET} does not show {len(missing):,} figures of the manifest where they are looked for: {named}"
    ]


def _check_content(rows: Rows, manifest: Mapping[str, Any]) -> Iterator[Check]:
    counts = manifest.get("counts") or {}
    by_grade = counts.get("by_grade") or {}
    for (section, label), cells in rows.items():
        grade, origin = _GRADE.fullmatch(label), _ORIGIN.fullmatch(label)
        if section != CONTENT:
            continue
        if grade:
            yield f"qrels of grade {grade[1]}", by_grade.get(grade[1]), cells[1]
        elif origin:
            yield f"qrels {origin[1]}", counts.get(origin[1]), cells[1]
        elif label.startswith("qrels ("):
            yield "qrels", counts.get("qrels"), cells[1]


def _check_agreement(rows: Rows, text: str, manifest: Mapping[str, Any]) -> Iterator[Check]:
    agreement = manifest.get("agreement")
    if not isinstance(agreement, dict):
        return
    for name, value in list_agreement_figures(agreement):
        cells = rows.get((AGREEMENT, name))
        yield name, value["value"], cells[1] if cells else None
        if cells and value.get("ci95"):
            yield f"{name}, 95 % interval", value["ci95"], cells[2]
    judged = _JUDGED.search(text)
    yield "pairs judged by two or more", agreement.get("pairs"), judged[1] if judged else None
    observed = agreement.get("observed_agreement")
    if judged and judged[2] and observed is not None:
        yield "judgments that match, in percent", observed * 100, judged[2]
    decided, counts = _DECIDED.search(text), manifest.get("counts") or {}
    if decided:
        numbers = [counts.get("adjudicated"), counts.get("qrels")]
        yield "qrels decided by a lead", numbers, f"{decided[1]} {decided[2]}"
    yield from _check_parts(rows, agreement)


def _check_parts(rows: Rows, agreement: Mapping[str, Any]) -> Iterator[Check]:
    """Cohen's κ of every two annotators and of every group. Of many, the datasheet shows some."""
    parts = [(" and ".join(one["annotators"]), one) for one in agreement.get("annotator_pairs") or ()]
    parts += [(one["value"] or NOT_SAID, one) for one in agreement.get("groups") or ()]
    for name, one in parts:
        cells = rows.get((AGREEMENT, unescape_markdown(escape_markdown(name))))
        if cells and len(cells) > 3:
            yield f"{name}, pairs", one["pairs"], cells[1]
            yield f"{name}, Cohen's κ", one["cohen_kappa"]["unweighted"]["value"], cells[3]


def _check_gates(rows: Rows, manifest: Mapping[str, Any]) -> Iterator[Check]:
    for gate in manifest.get("gates") or ():
        cells = rows.get((GATES, str(gate.get("name"))))
        if cells is None or len(cells) < 4:
            yield f"gate {gate.get('name')}", None, None
            continue
        for key, cell in (("required", cells[1]), ("measured", cells[2])):
            yield f"gate {gate['name']}, {key}", gate.get(key), cell
        yield f"gate {gate['name']}, met", "yes" if gate.get("met") else "no", cells[3]


def _read_tables(text: str) -> Rows:
    """The rows of all tables by section and first cell; of two of the same name, the first."""
    found: Rows = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line
        elif line.startswith("| ") and line.endswith(" |"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\) ?\|", line.strip()[1:-1])]
            found.setdefault((section, unescape_markdown(cells[0])), cells)
    return found


def _says(shown: str, expected: Any) -> bool:
    """Whether the text shows this number as far as it has digits; lists: these numbers one after the other."""
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
    """By how much a number may differ from its text: half of the last digit shown, or of the sixth significant one."""
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
