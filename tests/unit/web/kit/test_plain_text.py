"""What others wrote is never markup."""

from annotator.web.kit.text import escape_markdown, show_as


def test_every_character_that_markdown_could_read_is_escaped() -> None:
    assert escape_markdown(":red[x] $5$ __init__ <b> `c` ~a~ 検索 | #") == (
        r"\:red\[x\] \$5\$ \_\_init\_\_ \<b\> \`c\` \~a\~ 検索 \| \#"
    )


def test_an_underscore_inside_a_word_stays_as_it_is() -> None:
    assert escape_markdown("max_pool_size 設定_値") == "max_pool_size 設定_値"
    assert escape_markdown("_a_ a__b _b _") == r"\_a\_ a\_\_b \_b \_"


def test_a_label_is_one_line() -> None:
    assert escape_markdown("  一\n\n# 二\t三 ") == r"一 \# 二 三"


def test_html_of_others_is_text_in_its_own_direction() -> None:
    assert show_as("query", 'مرحبا <img src=x onerror="a">') == (
        '<p class="annotator-query" dir="auto">مرحبا &lt;img src=x onerror=&quot;a&quot;&gt;</p>'
    )
