"""The figures of a datasheet are read back as a reader of the page sees them."""

from dataclasses import replace
from typing import Any

import pytest

from annotator.releases.verify.datasheet_check import compare_datasheet
from annotator.releases.verify.read_back import ReleaseFault
from annotator.releases.writing.datasheet_template import write_datasheet
from tests.unit.releases.test_datasheet import KAPPA, MANIFEST, SHEET


def group(value: str | None, pairs: int) -> dict[str, Any]:
    kappa = {"value": pairs / 100, "ci95": None}
    return {
        "by": "category",
        "value": value,
        "pairs": pairs,
        "observed_agreement": 0.5,
        "cohen_kappa": {"unweighted": kappa},
    }


def couple(first: str, other: str, pairs: int) -> dict[str, Any]:
    return {
        "annotators": [first, other],
        "pairs": pairs,
        "observed_agreement": 0.8,
        "cohen_kappa": {"unweighted": KAPPA},
    }


COUPLES = [couple("annotator_1", "annotator_2", 5), couple("annotator_1", "annotator_3", 3)]
NAMES = (
    "category",
    "(not said)",
    None,
    "annotators",
    "figure",
    "Cohen's κ",
    "annotator_1 and annotator_2",
    "a|b",
    "1. 検索",
    "**법령**",
    "　전각",
    "مستند",
    "x\ny",
    "x⏎y",
    "&amp;",
    "&",
    "<!--",
    "---",
    "",
)
GUIDELINE = """```
## Gates

| gate | required | measured | met |  |
|---|---:|---:|---|---|
| kappa | 0.10 | 0.20 | no |  |
```
## How well they agree
9 pairs were judged independently by two or more annotators; 10.0 % of those judgments match.
<!-- a lead decides with a reason: 1 of 9 qrels -->"""


def read(text: str, manifest: dict[str, Any]) -> tuple[list[ReleaseFault], list[str]]:
    return compare_datasheet(text, manifest)


def make(**changes: Any) -> tuple[str, dict[str, Any]]:
    """A datasheet and the manifest that it was made from."""
    manifest = {**MANIFEST, "agreement": {**MANIFEST["agreement"], "annotator_pairs": COUPLES}, **changes}
    rubric = replace(SHEET.rubric, guideline=GUIDELINE)
    return write_datasheet(replace(SHEET, manifest=manifest, rubric=rubric)), manifest


def test_an_untouched_datasheet_shows_every_figure_whatever_names_and_texts_it_holds() -> None:
    groups = [group(name, number) for number, name in enumerate(NAMES, 1)]
    agreement = {**MANIFEST["agreement"], "annotator_pairs": COUPLES, "groups": groups}
    note = "a lead decides with a reason: 1 of 9 qrels; content `sha256:ab`"
    text, manifest = make(agreement=agreement, note=note)
    assert read(text, manifest) == ([], [])
    last = groups[-1] | {"pairs": 99}
    faults, _ = read(text, {**manifest, "agreement": {**agreement, "groups": [*groups[:-1], last]}})
    assert [fault.expected for fault in faults] == [", pairs: 99 as in manifest.json"]
    swapped = [group("(not said)", 3), *groups[2:3]]
    faults, _ = read(text, {**manifest, "agreement": {**agreement, "groups": swapped}})
    assert {fault.found for fault in faults} == {"2", "0.020"}


def test_figures_of_one_are_read() -> None:
    agreement = {**MANIFEST["agreement"], "annotator_pairs": COUPLES, "pairs": 1}
    counts = {**MANIFEST["counts"], "qrels": 1, "adjudicated": 1}
    text, manifest = make(agreement=agreement, counts=counts)
    assert "\n1 pair was judged independently" in text
    assert "reason: 1 of 1 qrel (" in text
    assert read(text, manifest) == ([], [])
    manifest["counts"] = {**counts, "adjudicated": 0}
    assert ("qrels decided by a lead: 0 to 1 as in manifest.json", "1 1") in [
        (fault.expected, fault.found) for fault in read(text, manifest)[0]
    ]


ROW, FALSE = "| Cohen's κ | 0.737 |", "| Cohen's κ | 0.937 |"
TABLE = "| figure | value | 95 % interval |\n|---|---:|---:|\n"
HIDDEN = f"{TABLE}{ROW} -0.100 to 1.000 |\n"
HEADING = "## How well they agree\n"


@pytest.mark.parametrize(
    "above",
    [
        f"<!--\n{HIDDEN}-->\n\n",
        f"<!-- {ROW} -0.100 to 1.000 | -->\n\n",
        f"<div hidden>\n{HIDDEN}</div>\n\n",
        f"<div hidden>\n\n{HIDDEN}\n</div>\n\n",
        f"```text\n{HIDDEN}```\n\n",
        f"~~~~\n{HIDDEN}~~~\n~~~~\n\n",
        f"{ROW} -0.100 to 1.000 |\n\n",
        HIDDEN + "\n",
        "",
    ],
)
def test_a_true_row_that_is_hidden_or_repeated_does_not_vouch_for_a_falsified_one(above: str) -> None:
    text, manifest = make()
    assert text.count(ROW) == 1
    text = text.replace(ROW, FALSE).replace(HEADING, HEADING + "\n" + above)
    faults = [(fault.expected, fault.found) for fault in read(text, manifest)[0]]
    assert ("Cohen's κ: 0.736842 as in manifest.json", "0.937") in faults
    html = [shown for expected, shown in faults if expected == "no HTML, which no release writes"]
    assert html == ([above.splitlines()[0].strip()] if above.startswith("<") else [])


@pytest.mark.parametrize(
    "row",
    [
        "| Cohen's κ | 0.937 | -0.100 to 1.000 |",
        "  | Cohen's κ | 0.937 |",
        "Cohen's κ | 0.937",
        "|Cohen&#39;s κ|0.937|",
    ],
)
def test_every_row_of_a_name_is_compared_however_it_is_written(row: str) -> None:
    text, manifest = make()
    line = next(line for line in text.splitlines() if line.startswith(ROW))
    faults, _ = read(text.replace(line, f"{line}\n{row}"), manifest)
    assert ("Cohen's κ: 0.736842 as in manifest.json", "0.937") in [
        (fault.expected, fault.found) for fault in faults
    ]


def test_every_sentence_with_figures_is_compared_and_none_in_another_section() -> None:
    text, manifest = make()
    sentence = "5 pairs were judged independently by two or more annotators"
    false = "9 pairs were judged independently by two or more annotators"
    faults, _ = read(text.replace(sentence, f"{sentence}.\n{false}"), manifest)
    assert [fault.found for fault in faults] == ["9"]
    assert read(text.replace("## Known limits", f"## Known limits\n{false}."), manifest) == ([], [])


def test_what_is_not_shown_is_said() -> None:
    text, manifest = make()
    (sentence,) = read(text.replace(TABLE, ""), manifest)[1]
    assert sentence.startswith(
        "DATASHEET.md does not show 10 figures of the manifest where they are looked for: "
    )
    assert sentence.endswith(": Cohen's κ, Cohen's κ, linear weights, Cohen's κ, quadratic weights, …")
    hidden = text.replace("content `sha256:", "content sha256 `")
    assert read(hidden, manifest)[1] == [
        "DATASHEET.md does not show 1 figure of the manifest where it is looked for: the content hash"
    ]
    assert len(read("", manifest)[1]) == 1
