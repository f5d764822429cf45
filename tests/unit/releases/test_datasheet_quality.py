"""What DATASHEET.md says of quality control: the whole trail, and nobody's name."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from annotator.domain.errors import AnnotatorError
from annotator.domain.messages import say
from annotator.quality.records import ErrorRate, QualityDraw, QualityError, QualityStatus
from annotator.releases.writing.datasheet import hide_people, write_datasheet
from tests.unit.releases.test_datasheet import SHEET

NOON = datetime(2026, 1, 2, 12, 0, 0, 5, tzinfo=UTC)
DRAWS = (
    QualityDraw(1, 1, "専門家", "editor", 0.1, 7, 1000, 12, 100, NOON, 80, 3, 3),
    QualityDraw(2, 1, "김민준", None, 0.15, 7, 1000, 3, 50, NOON, 40, 1, 1),
)


def error(doc_id: str, settled: int, expert: int, decided: int | None = None, **more: Any) -> QualityError:
    values: dict[str, Any] = {
        "draw": 1,
        "round": 1,
        "note": "専門家 says so",
        "state": "reopened" if decided is None else "decided",
    } | more
    return QualityError(
        pair="k", query_id="Q|1", doc_id=doc_id, category=None, settled_grade=settled, settled_by="unanimous",
        expert_grade=expert, answered_at=NOON, decided_grade=decided, **values,
    )  # fmt: skip


STATUS = QualityStatus(
    dataset="検索-법령", rule="bound", round=1, population=1000, outside=12, settled_since=5, drawn=150, checked=120,
    unrateable=4, barred=1, waiting=25,
    rates={
        "any": ErrorRate(4, 120, 4 / 120, (0.0092, 0.0831), 0.0749),
        "far": ErrorRate(1, 120, 1 / 120, (0.0002, 0.0456), 0.0385),
        "relevance": ErrorRate(2, 120, 2 / 120, None, 0.0512),
    },
    verdicts={"bound": "undecided", "rate": "passed"}, further=63, sentences=(say("{n} for 専門家", n=1),), draws=DRAWS,
    errors=(
        error("z", 2, 0, draw=2), error("문서", 2, 1, 1), error("b", 2, 3, 2), error("a", 0, 3, 1),
    ),
)  # fmt: skip
HIDDEN = hide_people(STATUS, {"専門家": 4, "김민준": 5, "editor": 3})


def section(status: QualityStatus | None) -> list[str]:
    lines = write_datasheet(replace(SHEET, quality=status)).splitlines()
    start = lines.index("## Quality control")
    return lines[start : next(at for at in range(start + 1, len(lines)) if lines[at].startswith("## "))]


@pytest.mark.parametrize("status", [None, replace(STATUS, round=0, draws=())])
def test_without_a_draw_one_sentence_says_that_nothing_is_known(status: QualityStatus | None) -> None:
    assert section(status) == [
        "## Quality control", "",
        "Nobody has checked a sample of the settled grades, so it is not known how many of them are wrong.", "",
    ]  # fmt: skip


def test_the_whole_trail_is_told() -> None:
    section_lines = section(HIDDEN)
    for line in (
        "| 1 | 1 | 2026-01-02T12:00:00Z | lead_3 | annotator_4 | 10.00 % | 7 | 1,000 | 12 | 100 | 80 | 3 |",
        "| 2 | 1 | 2026-01-02T12:00:00Z | the operator | annotator_5 | 15.00 % | 7 | 1,000 | 3 | 50 | 40 | 1 |",
        (
            "The sample of round 1: 150 pairs drawn, 120 checked, 4 cannot be rated, 1 can no longer be checked, "
            "25 not answered yet."
        ),
        "It does not cover 5 pairs settled after the last draw.",
        "| any other grade | 4 | 3.33 % | 0.92 % to 8.31 % | 7.49 % |",
        "| relevant (from grade 1 on) for one, not for the other | 2 | 1.67 % |  | 5.12 % |",
        "- Observed error rate (`rate`): 3.33 %: passed.",
        (
            "- Guaranteed maximum, 95 % (`bound`): at most 7.49 %: not decided; 63 more pairs without an error would pass."
        ),
        "The gate `quality_control` of this release used `bound`: not decided.",
        (
            "Errors found in round 1: 4. Decided again by a lead: 3 (1 to the expert's grade, 1 as before, 1 to another). "
            "Still open, and so in no file: 1."
        ),
    ):
        assert line in section_lines, line
    rows = [line for line in section_lines if line.endswith(" |") and "unanimous" in line]
    assert rows == [
        "| 1 | 1 | Q\\|1 | a | 0 (unanimous) | 3 | 1 |", "| 1 | 1 | Q\\|1 | b | 2 (unanimous) | 3 | 2 |",
        "| 1 | 1 | Q\\|1 | 문서 | 2 (unanimous) | 1 | 1 |", "| 1 | 2 | Q\\|1 | z | 2 (unanimous) | 0 | open |",
    ]  # fmt: skip


def test_it_names_nobody_and_repeats_no_note() -> None:
    text = "\n".join(section(HIDDEN))
    for name in ("専門家", "김민준", "editor", "says so"):
        assert name not in text
        assert name not in repr(HIDDEN)


def test_somebody_without_a_pseudonym_is_never_written() -> None:
    with pytest.raises((KeyError, AnnotatorError)):
        hide_people(STATUS, {"editor": 3})


def test_the_rule_that_the_gate_went_by_is_named() -> None:
    assert (
        "The gate `quality_control` of this release used `rate`: passed." in section(replace(HIDDEN, rule="rate"))
    )  # fmt: skip


def test_a_sample_without_an_error_says_so() -> None:
    assert "No error was found in it." in section(replace(HIDDEN, errors=()))


def test_an_error_whose_pair_left_the_pool_is_not_open() -> None:
    section_lines = section(replace(HIDDEN, errors=(*HIDDEN.errors, error("c", 1, 0, state="retired"))))
    assert any(
        line.startswith("Errors found in round 1: 5.") and line.endswith("in no file: 1.")
        for line in section_lines
    )
    assert "Removed from the pool before a decision: 1." in section_lines
    assert "| 1 | 1 | Q\\|1 | c | 1 (unanimous) | 0 | left the pool |" in section_lines
    assert not any("Left the pool" in line for line in section(HIDDEN))


def test_a_draw_that_nobody_has_answered_yet_claims_nothing() -> None:
    rates = dict.fromkeys(STATUS.rates, ErrorRate(0, 0, None, None, None))
    section_lines = section(
        replace(HIDDEN, checked=0, rates=rates, verdicts=dict.fromkeys(STATUS.verdicts, "undecided"))
    )
    assert "- Observed error rate (`rate`): nothing is checked yet: not decided." in section_lines
    assert "| any other grade | 0 |  |  |  |" in section_lines


def test_every_round_is_told_and_its_errors_keep_their_round() -> None:
    later = QualityDraw(3, 2, "annotator_4", "lead_3", 0.1, 7, 900, 0, 90, NOON, 30, 0, 1)
    status = replace(
        HIDDEN,
        round=2,
        draws=(*HIDDEN.draws, later),
        errors=(*HIDDEN.errors, error("new", 1, 2, draw=3, round=2)),
    )
    section_lines = section(status)
    first = (
        "The sample of round 1: 150 pairs drawn, 120 checked, 4 cannot be rated, 26 not answered. 4 errors found. "
        "A later round took its place."
    )
    assert [line for line in section_lines if line.endswith("A later round took its place.")] == [first]
    assert any(line.startswith("The sample of round 2: 150 pairs drawn") for line in section_lines)
    sentences = [line.split(".")[0] for line in section_lines if line.startswith("Errors found in round")]
    assert sentences == ["Errors found in round 2: 1", "Errors found in round 1: 4"]
    rows = [line.split(" | ")[:2] for line in section_lines if line.endswith(" |") and "unanimous" in line]
    assert rows == [["| 2", "3"], ["| 1", "1"], ["| 1", "1"], ["| 1", "1"], ["| 1", "2"]]
    clean = section(replace(status, errors=HIDDEN.errors))
    sentences = [line for line in clean if line.startswith(("No error", "Errors found in round"))]
    assert [line.split(".")[0] for line in sentences] == [
        "No error was found in it",
        "Errors found in round 1: 4",
    ]


def test_of_very_many_errors_the_first_are_named_and_all_are_counted() -> None:
    many = tuple(error(f"d{number:03}", 2, 1) for number in range(203))
    section_lines = section(replace(HIDDEN, errors=many))
    assert sum("unanimous" in line for line in section_lines) == 200
    assert "And 3 more." in section_lines
