"""Tables to read: plain text whatever a cell holds, and ids that break where a reader would break them."""

from datetime import UTC, datetime

import pytest
import streamlit as st

from annotator.domain.figures import write_minus
from annotator.web.kit.figures import show_difference, show_time
from annotator.web.kit.messages import tr, use_language
from annotator.web.kit.tables import TintedCell, classify_column, draw_link_table, escape_breakable


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
        assert "annotator-figure" in classify_column(cells), cells
    for cells in (
        ["guide/libraries/web.md"],
        ["01HHDASVWA0YRKTMMX2664QSWF"],
        ["12", "undefined: every grade is the same"],
    ):
        assert "annotator-figure" not in classify_column(cells), cells
    assert "annotator-sentence" in classify_column(["waits for somebody who may judge it"], roomy=True)
    assert classify_column(["short words", "–"], roomy=True) == classify_column(["–", ""]) == ""
    assert classify_column(["01HHDASVWA0YRKTMMX2664QSWF"]) == "annotator-long"


def test_numbers_stand_to_the_right_under_their_heading_and_names_and_times_to_the_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for cells in (
        ["1,234", "–"],
        ["50.0\u00a0%", "7 %"],
        ["0.85 [0.79, 0.92]", "▼ -0.20 [-0.31, -0.08]"],
        ["+0.010"],
        ["3 / 12"],
        ["2.5 s"],
    ):
        assert classify_column(cells) == "annotator-figure annotator-number", cells
    assert classify_column(["Nov 23, 2026 00:14"]) == classify_column(["D01"]) == "annotator-figure"
    assert classify_column(["1047"], names_row=True) == "annotator-figure"
    shown: list[str] = []
    monkeypatch.setattr(st, "html", shown.append)
    draw_link_table("c", ["who", "κ"], [["-1", "-0.20 [-0.31, -0.08]"]])
    assert '<th scope="col" dir="auto" class="annotator-number">κ</th>' in shown[0]
    assert ">−0.20 [−0.31, −0.08]</td>" in shown[0]


def test_a_cell_of_a_heat_map_has_the_colours_of_its_score(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(st, "html", shown.append)
    draw_link_table("c", ["query", "bm25"], [["Q1", TintedCell("0.50", "#19616b80", "currentcolor")]])
    assert 'style="background: #19616b80; color: currentcolor">0.50</td>' in shown[0]


@pytest.mark.parametrize("language", ["en", "ja", "ko"])
def test_a_time_stays_on_one_line_in_every_language(language: str) -> None:
    use_language(language)
    times = [show_time(datetime(2026, month, 24, 14, 5, tzinfo=UTC)) for month in (1, 9, 11, 12)]
    assert classify_column(times) == "annotator-figure", times
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


def test_a_sentence_of_a_page_has_a_minus_sign_before_a_negative_figure() -> None:
    assert tr("{name} from {first} to {last}", name="a-1", first=-0.5, last=2) == "a-1 from −0.5 to 2"
    assert tr("{name} from {first} to {last}", name="a", first="-0.33", last="-1") == "a from −0.33 to -1"
    assert show_difference(-0.25, signed=True) == "−0.25"
    assert write_minus("x-1 [-0.2, .3] 2026-01-02 -7") == "x-1 [−0.2, .3] 2026-01-02 −7"
