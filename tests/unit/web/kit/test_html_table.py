"""Tables to read: plain text whatever a cell holds, and ids that break where a reader would break them."""

from datetime import UTC, datetime

import pytest
import streamlit as st

from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import use_language
from annotator.web.kit.tables import _mark_sentences, draw_link_table, escape_breakable, mark_column


def test_an_id_may_be_broken_behind_its_signs_and_is_otherwise_as_it_was() -> None:
    shown = escape_breakable("guide/web_app.md#章")
    assert shown == "guide/<wbr>web_<wbr>app.<wbr>md#<wbr>章"
    assert shown.replace("<wbr>", "") == "guide/web_app.md#章"
    assert escape_breakable("2.5 s  of user_1") == "2.5 s  of user_1"


def test_markup_in_a_cell_is_text_and_no_entity_is_torn_apart() -> None:
    assert escape_breakable("<b>a & 'b'</b>") == "&lt;b&gt;a &amp; &#x27;b&#x27;&lt;/b&gt;"


def test_figures_and_times_stay_in_one_line_and_ids_and_sentences_may_be_broken() -> None:
    for cells in (["Nov 23, 2026 00:14", "–"], ["2026年11月23日 00:14"], ["2026년 11월 23일 00:14"], ["50.0 %", "1,234"],
                  ["0.85 [0.79, 0.92]"], ["-0.20"], ["at 3"]):  # fmt: skip
        assert mark_column(cells) == ' class="annotator-figure"', cells
    for cells in (
        ["guide/libraries/web.md"],
        ["01HHDASVWA0YRKTMMX2664QSWF"],
        ["12", "undefined: every grade is the same"],
    ):
        assert mark_column(cells) != ' class="annotator-figure"', cells
    assert _mark_sentences(["waits for somebody who may judge it"]) and not _mark_sentences(
        ["short words", "–"]
    )
    assert (
        mark_column(["–", ""]) == ""
        and mark_column(["01HHDASVWA0YRKTMMX2664QSWF"]) == ' class="annotator-long"'
    )


@pytest.mark.parametrize("language", ["en", "ja", "ko"])
def test_a_time_stays_on_one_line_in_every_language(language: str) -> None:
    use_language(language)
    times = [show_time(datetime(2026, month, 24, 14, 5, tzinfo=UTC)) for month in (1, 9, 11, 12)]
    assert mark_column(times) == ' class="annotator-figure"', times
    use_language("en")


def test_on_a_narrow_screen_figures_and_words_keep_the_name_of_their_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(st, "html", shown.append)
    draw_link_table("c", ["draw", "for", 'file "x"'], [["1", "Mei", "guide/libraries/web.md"]], stacked=True)
    draw_link_table("c", ["draw", "for"], [["1", "Mei"]])
    assert 'data-column="draw">1</th><td dir="auto" data-column="for">Mei</td>' in shown[0]
    assert "file &quot;x&quot;</th>" in shown[0] and "data-column" not in shown[1]
