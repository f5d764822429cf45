"""Tables to read: plain text whatever a cell holds, and ids that break where a reader would break them."""

from annotator.web.html_table import escape_breakable


def test_an_id_may_be_broken_behind_its_signs_and_is_otherwise_as_it_was() -> None:
    shown = escape_breakable("guide/web_app.md#章")
    assert shown == "guide/<wbr>web_<wbr>app.<wbr>md#<wbr>章"
    assert shown.replace("<wbr>", "") == "guide/web_app.md#章"
    assert escape_breakable("2.5 s  of user_1") == "2.5 s  of user_1"


def test_markup_in_a_cell_is_text_and_no_entity_is_torn_apart() -> None:
    assert escape_breakable("<b>a & 'b'</b>") == "&lt;b&gt;a &amp; &#x27;b&#x27;&lt;/b&gt;"
