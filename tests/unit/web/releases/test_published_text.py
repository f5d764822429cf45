"""A release's texts as pages: Markdown is shown, nothing in it is run or fetched from elsewhere."""

from datetime import UTC, datetime
from pathlib import Path

from annotator.releases.records import Release
from annotator.web.releases.files import describe_size, render

RELEASE = Release(
    dataset="법 령",
    version="1.0.0",
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
    published_by="lead_1",
    note="",
    previous=None,
    qrels=1,
    content_sha256="0" * 64,
    path=Path("x"),
    folder="whole",
    overridden=(),
    files=("DATASHEET.md", "pictures/grades.svg"),
    simulated=False,
)


def test_html_is_shown_and_not_run() -> None:
    shown = render("<script>alert(1)</script>\n\n<img src=x> a <b>b</b>", RELEASE)
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;b&gt;b&lt;/b&gt;" in shown


def test_what_only_streamlit_takes_for_markup_stays_as_it_is() -> None:
    assert render("$5 と $x$ :red[赤] :material/home: a -> b __init__", RELEASE) == (
        "<p>$5 と $x$ :red[赤] :material/home: a -&gt; b <strong>init</strong></p>\n"
    )


def test_pictures_of_the_release_come_from_it_and_no_others() -> None:
    shown = render(
        "![等級](pictures/grades.svg) ![x](https://elsewhere.example/x.png) ![y](../y.svg)", RELEASE
    )
    assert (
        'src="/api/release?dataset=%EB%B2%95+%EB%A0%B9&amp;version=1.0.0&amp;file=pictures%2Fgrades.svg"'
        in shown
    )
    assert "elsewhere" not in shown
    assert "../y.svg" not in shown


def test_links_to_files_lead_to_them_and_scripts_are_no_links() -> None:
    shown = render("[sheet](DATASHEET.md) [x](javascript:alert(1)) [y](https://example.org/)", RELEASE)
    assert "file=DATASHEET.md" in shown
    assert 'href="javascript' not in shown
    assert 'href="https://example.org/"' in shown


def test_headings_stand_below_those_of_the_page_and_tables_are_tables() -> None:
    shown = render("# 一\n\n## 二\n\n| a | b |\n|---|---|\n| <i> | 2 |\n", RELEASE)
    assert "<h3>一</h3>" in shown
    assert "<h4>二</h4>" in shown
    assert "<td>&lt;i&gt;</td>" in shown


def test_sizes_are_said_for_people() -> None:
    assert [describe_size(size) for size in (0, 999, 1_000, 12_500_000)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "12.5 MB",
    ]
