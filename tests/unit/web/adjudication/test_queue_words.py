"""The queue in words: what a filter asks for, how long the queue lasts, what a row says, and where an address leads."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from annotator.adjudication.queue.queue_records import Disagreement, QueueFilter, QueuePace, QueuePage
from annotator.domain.messages import say
from annotator.domain.settling import QueueReason
from annotator.web.adjudication import queue_table, queue_url
from annotator.web.adjudication.queue_filters import describe_filter
from annotator.web.adjudication.queue_page import describe_pace
from annotator.web.adjudication.queue_url import QueueAddress

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
ITEM = Disagreement(
    1, "p", "Q1", "d1", None, {"花子": 3, "민준": 0}, 3, 0.25, "open", datetime(2026, 3, 4, tzinfo=UTC),
    reasons=QueueReason.DIFFER | QueueReason.QUALITY, waiting=QueueReason.DIFFER, query="Q1", title="x" * 61, unrateable=("셋",),
)  # fmt: skip
PACE = QueuePace(40, 20, 2, 10.0, 14, 2.0, 20, 9.0, 360.0, 4.0, None, None)
UNTIMED = replace(PACE, timed=0, seconds=None, work=None, why_no_work=say("no decision has a time"))
STOPPED = replace(
    PACE, decided=0, working_days=0, per_day=None, working_days_left=None, why_no_days=say("nothing")
)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (QueueFilter(), []), (QueueFilter(shown="decided"), ["decided"]),
        (QueueFilter(shown="all"), ["open and decided"]), (QueueFilter(category=""), ["category (none)"]),
        (QueueFilter(query_id="Q1", category="法"), ["query Q1", "category 法"]),
        (QueueFilter(annotators=("a", "b"), grades=(1, 3)), ["judged by a + b", "1 against 3"]),
        (QueueFilter(distance=1), ["1 grade apart"]), (QueueFilter(distance=0), ["0 grades apart"]),
        (QueueFilter(taste=True), ["one grade apart, same relevance"]), (QueueFilter(taste=False), ["other differences"]),
        (QueueFilter(flips=True, assigned="lea"), ["could change the ranking of systems", "assigned to lea"]),
        (QueueFilter(assigned=""), ["not assigned"]),
    ],
)  # fmt: skip
def test_what_a_filter_asks_for_is_said_condition_by_condition(
    wanted: QueueFilter, message: list[str]
) -> None:
    assert describe_filter(wanted) == message


@pytest.mark.parametrize(
    ("pace", "message"),
    [
        (PACE, ["40 pairs, about 6 minutes of deciding; at this pace, 4 working days.", "Decided in the last 7 days: 20 (on 2 days).", "New: 2 per day."]),
        (replace(UNTIMED, working_days_left=1.0, arrived=0), ["40 pairs; at this pace, less than a working day. Time of deciding unknown: ", "Decided in the last 7 days: 20 (on 2 days)."]),
        (replace(STOPPED, arrived=0), ["40 pairs, about 6 minutes of deciding."]),
        (replace(STOPPED, arrived=0, work=None), ["Time left is unknown: nothing."]),
        (replace(PACE, open=0, arrived=31, arrived_per_day=4.43), ["Decided in the last 7 days: 20 (on 2 days).", "New: 4.4 per day.", "More disagreements arrive than are decided."]),
    ],
)  # fmt: skip
def test_how_long_the_queue_lasts_is_said_as_far_as_it_is_known(pace: QueuePace, message: list[str]) -> None:
    assert [line[: len(part)] for line, part in zip(describe_pace(pace), message, strict=True)] == message


def draw(monkeypatch: pytest.MonkeyPatch, *items: Disagreement, **how: Any) -> list[dict[str, str]]:
    """The rows of the table by column, with their links."""
    drawn: list[dict[str, str]] = []

    def keep(
        _key: str, _title: str, columns: list[str], rows: list[Any], *, links: list[str], **_rest: Any
    ) -> None:
        for (_pair, cells), link in zip(rows, links, strict=True):
            drawn.append({**dict(zip(columns, cells, strict=True)), "link": link})

    monkeypatch.setattr(queue_table, "draw_rows", keep)
    monkeypatch.setattr("streamlit.query_params", {"from": "50", "lang": "ja", "taste": "yes"})
    monkeypatch.setattr("streamlit.session_state", {queue_url.DATASET: "d"})
    page = QueuePage(items, 0, len(items), len(items), 0, {})
    queue_table.draw_table(page, QueueAddress(QueueFilter(distance=3)), now=NOW, **{"decided": False, **how})
    return drawn


def test_a_row_says_what_there_is_to_know_and_its_link_keeps_what_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (row,) = draw(monkeypatch, ITEM)
    assert (row["query"], row["document"]) == ("Q1", "x" * 60 + "…\nd1")
    assert (row["grades"], row["gap"], row["impact"], row["category"]) == ("0 3 –", "3", "0.25", "")
    assert row["why"] == "grades differ"
    assert row["link"] == "/disagreements?dataset=d&lang=ja&distance=3&pair=p"


def test_a_document_is_named_by_its_title_then_by_the_end_of_its_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = "doc/en/application_framework/libraries/data_io/data_bind.md"
    named, unnamed = draw(
        monkeypatch, replace(ITEM, doc_id=path, title="Data bind"), replace(ITEM, doc_id=path, title="")
    )
    assert named["document"] == "Data bind\n…\u2060" + path[-24:]
    assert unnamed["document"] == path
    (whole,) = draw(monkeypatch, replace(ITEM, doc_id="01HHDASVWA0YRKTMMX2664QSWF", title="Survey"))
    assert whole["document"] == "Survey\n01HHDASVWA0YRKTMMX2664QSWF"


def test_a_row_of_a_decided_pair_says_why_it_was_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decided = replace(ITEM, status="decided", waiting=QueueReason(0), decided=2)
    first, second = draw(monkeypatch, decided, replace(ITEM, query_id="Q2"), decided=True)
    assert (first["settled grade"], first["why"]) == ("2", "grades differ, quality control; reopened")
    assert second["settled grade"] == ""


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        ({"category": "없음", "assigned": "who", "annotators": "花子,who", "grades": "2-2"}, {"annotators": "花子"}),
        ({"category": "", "assigned": ""}, {"category": "", "assigned": ""}),
        ({"category": "法", "assigned": "lea", "grades": "1-2"}, {"category": "法", "assigned": "lea", "grades": "1-2"}),
    ],
)  # fmt: skip
def test_what_an_address_names_and_the_dataset_has_not_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, requested: dict[str, str], expected: dict[str, str]
) -> None:
    monkeypatch.setattr("streamlit.query_params", requested)
    here = queue_url.read_here(categories=("法",), people=("花子", "lea"))
    assert queue_url.write_address(here) == expected
