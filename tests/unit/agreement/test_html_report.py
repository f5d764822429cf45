"""The agreement report as a page: it stands by itself, escapes every name, and can be read aloud, printed and compared."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from annotator.agreement.html_report import choose_people, make_heat_map, render_report
from annotator.agreement.ranking import choose_differing_pairs
from annotator.agreement.records import AgreementReport, CoefficientValue, GroupAgreement, Leaning
from tests.unit.agreement.agreement_reports import EMPTY, ESTIMATES, MEASURED, PEOPLE, REPORT, make_pair

MADE_AT = datetime(2026, 3, 22, 5, 6, 7, tzinfo=UTC)
GOLDEN = Path(__file__).parents[2] / "golden" / "agreement" / "report.html"
VOID = {"meta", "br", "rect", "line", "circle", "polyline"}


def render(report: AgreementReport = REPORT, *, estimates: bool = False) -> str:
    return render_report(
        report, made_at=MADE_AT, program="annotator 1.2.3", estimates=ESTIMATES if estimates else None
    )


class Page(HTMLParser):
    """The page as a reader sees it: its tags in order, its words, and what is not closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_is_the_golden_one() -> None:
    assert render(estimates=True) == GOLDEN.read_text(encoding="utf-8")


def test_the_same_report_gives_the_same_page_whatever_the_clock_s_zone() -> None:
    seoul = MADE_AT.astimezone(timezone(timedelta(hours=9)))
    assert render_report(REPORT, made_at=seoul, program="annotator 1.2.3") == render()


@pytest.mark.parametrize("report", [REPORT, EMPTY], ids=["full", "empty"])
def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing(report: AgreementReport) -> None:
    source = render(report, estimates=True)
    page = Page(source)
    assert page.open == []
    assert not {"script", "link", "img", "iframe", "object", "form", "input", "a", "base"} & set(page.tags)
    assert not re.search(
        r"url\(|@import|href|src=|\son\w+=|https?://(?!www\.w3\.org/2000/svg)",
        re.sub(r"<bdi>.*?</bdi>", "", source),
    )
    assert "prefers-color-scheme:dark" in source
    assert "@media print" in source


def test_every_name_is_escaped_and_shown_as_it_is() -> None:
    source = render()
    words = "".join(Page(source).words)
    for person in PEOPLE:
        assert person in words
    assert "<script" not in source
    assert "법령 <b>검색</b>" in words
    assert "手順 </td>" in words


def test_a_name_with_control_and_direction_characters_cannot_break_the_page() -> None:
    source = render(replace(REPORT, dataset="a\x00\x07b\u202ec"))
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", source)
    assert "<title>Agreement of abc</title>" in source


def test_the_page_can_be_read_aloud() -> None:
    page = Page(render(estimates=True))
    assert page.tags.count("h1") == 1
    assert page.tags.count("table") == page.tags.count("caption") > 8
    assert page.tags.count("svg") == page.tags.count("desc") == 3
    assert len(page.ids) == len(set(page.ids))
    heads = [tag for tag in page.tags if re.fullmatch(r"h\d", tag)]
    assert all(int(after[1]) - int(before[1]) <= 1 for before, after in pairwise(heads))


def test_the_verdict_comes_first_and_is_not_said_twice() -> None:
    source = render()
    assert source.index("The target is not met") < source.index("Findings") < source.index("The dataset")
    assert source.count("Too low &amp; known.") == 1


def test_what_is_undefined_says_why_and_is_never_a_number() -> None:
    source = render()
    assert re.search(
        r"Gwet&#39;s AC2, quadratic</th><td class=\"n\">undefined</td><td class=\"n\"></td><td>everybody gave",
        source,
    )
    assert not re.search(r"\bnan\b|\bNone\b|\binf\b", source)


def test_a_report_of_nothing_is_a_page_that_says_so() -> None:
    words = "".join(Page(render(EMPTY)).words)
    assert "There are no judgments yet." in words
    assert "0 judgments count." in words
    assert "Intervals: None were asked for." in words
    assert ">undefined<" not in render(EMPTY)


def test_left_out_judgments_are_counted_with_their_reasons_and_outdated_ones_count() -> None:
    words = "".join(Page(render()).words)
    assert "304 judgments count; 19 are left out." in words
    assert "3 current grades were made under an older guideline" in words
    assert "“cannot rate”, so there is no grade" in words


def test_it_says_how_it_was_computed() -> None:
    words = "".join(Page(render()).words)
    assert "Made: 2026-03-22 05:06:07 UTC by annotator 1.2.3" in words
    assert "1,000 resamples with seed 7" in words


def test_estimates_stand_in_the_page_only_when_asked_for_and_are_no_qrels() -> None:
    assert "Estimates for comparison" not in render()
    words = "".join(Page(render(estimates=True)).words)
    assert "they are not qrels, settle nothing and enter no release" in words
    assert "12 rounds until nothing changed" in words


def test_kappa_stands_above_the_diagonal_and_the_shared_pairs_below() -> None:
    rows = make_heat_map(MEASURED.annotator_pairs, PEOPLE).rows
    assert [[cell.text for cell in row.cells] for row in rows] == [
        ["", "0.57", "", "-0.10"],
        ["100", "", "", ""],
        ["0", "0", "", "–"],
        ["100", "0", "100", ""],
    ]


def test_of_many_annotators_those_are_drawn_who_share_most_and_the_page_says_so() -> None:
    people = [f"p{number:03}" for number in range(200)]
    pairs = [make_pair(people[number], people[number + 1]) for number in range(0, 60, 2)]
    pairs.append(replace(make_pair(people[150], people[151]), pairs=5000))
    shown = choose_people(pairs, people)
    assert len(shown) == 20
    assert shown[-2:] == people[150:152]
    assert "Shown: the 20 of 62 annotators" in make_heat_map(pairs, people).caption
    page = render(
        replace(REPORT, annotators=tuple(people), measured=replace(MEASURED, annotator_pairs=tuple(pairs)))
    )
    assert page.count("<bdi>p150</bdi> and <bdi>p151</bdi>") == 2
    assert "annotator pairs the tables list" not in page
    assert "Drawn: the 4 of 31 who differ on most pairs" in page


def test_of_many_annotator_pairs_those_are_listed_who_lower_kappa_most_and_the_page_says_which_not() -> None:
    pairs = [make_pair(f"a{number:03}", "z", kappa=CoefficientValue(number / 200)) for number in range(150)]
    pairs[0] = replace(pairs[0], pairs=9, warning="too few to say much")
    pairs[1] = replace(
        pairs[1],
        cohen_kappa={**pairs[1].cohen_kappa, "unweighted": CoefficientValue(None, why="no variation")},
    )
    page = render(replace(REPORT, measured=replace(MEASURED, annotator_pairs=tuple(pairs))))
    listed = [number for number in range(150) if f"<bdi>a{number:03}</bdi> and" in page]
    assert listed == list(range(2, 102))
    assert "Of 150 annotator pairs the tables list 100" in page
    assert "1 annotator pair is excluded: fewer than 30 shared pairs or 10 queries" in page
    assert "1 annotator pair is excluded: its kappa is undefined because the grades do not vary." in page


def test_where_all_annotator_pairs_share_too_little_no_table_is_announced() -> None:
    pairs = [replace(make_pair(f"a{n:04}", "z"), pairs=9, warning="too few") for n in range(1_100)]
    page = render(replace(REPORT, measured=replace(MEASURED, annotator_pairs=tuple(pairs))))
    assert "1,100 annotator pairs are excluded: fewer than" in page
    assert "the tables list" not in page
    assert "Annotators who judged the same" not in page and "Grade of the first" not in page


def test_who_shares_too_little_is_remarked_on_in_the_table() -> None:
    pairs = (replace(make_pair("a", "b"), warning="too few to say much"),)
    assert "<td>too few to say much</td>" in render(
        replace(REPORT, measured=replace(MEASURED, annotator_pairs=pairs))
    )


def test_the_pairs_worth_drawing_are_those_that_differ_most() -> None:
    even = replace(make_pair("a", "b"), pairs=40, confusion=((40, 0, 0, 0), *[(0, 0, 0, 0)] * 3))
    odd = replace(make_pair("c", "d"), pairs=9, confusion=((0, 9, 0, 0), *[(0, 0, 0, 0)] * 3))
    assert choose_differing_pairs([even, odd]) == [odd, even]


def test_of_many_groups_the_first_are_drawn_and_all_are_listed() -> None:
    groups = tuple(GroupAgreement("category", f"group-{number:02}", MEASURED) for number in range(60))
    source = render(replace(REPORT, groups=groups))
    assert "Drawn: the first 39 of 60; the table has all." in source
    assert source.count("<bdi>group-") == 60
    assert "group-38" in source[: source.index("Agreement by category")]
    assert "group-39" not in source[: source.index("Agreement by category")]


def test_of_hundreds_of_groups_those_are_listed_that_lower_kappa_most_and_the_page_says_how_many_not() -> (
    None
):
    def make(number: int) -> GroupAgreement:
        kappas = {**MEASURED.cohen_kappa, "unweighted": CoefficientValue(number / 300)}
        return GroupAgreement("annotator", f"group-{number:03}", replace(MEASURED, cohen_kappa=kappas))

    source = render(replace(REPORT, groups=tuple(make(number) for number in reversed(range(150)))))
    assert [n for n in range(150) if f"<bdi>group-{n:03}</bdi>" in source] == list(range(100))
    assert "of 150 groups the 100 that lower the dataset's κ most" in source.replace("&#39;", "'")
    assert "left out: 50." in source and "Drawn: the first 39 of 100; the table has these." in source


def test_an_interval_below_zero_stays_within_the_picture() -> None:
    source = render(
        replace(
            REPORT,
            groups=(
                GroupAgreement(
                    "week",
                    "w",
                    replace(
                        MEASURED,
                        cohen_kappa={
                            **MEASURED.cohen_kappa,
                            "unweighted": CoefficientValue(-0.9, (-1.0, -0.2)),
                        },
                    ),
                ),
            ),
        )
    )
    positions = [float(x) for x in re.findall(r'class="reach" x1="([-\d.]+)"', source)]
    assert min(positions) >= 0


def test_estimates_that_did_not_converge_are_not_shown() -> None:
    none = replace(
        ESTIMATES, pairs=(), annotators=(), matches=(), shares=(), iterations=5_000, converged=False
    )
    page = render_report(REPORT, made_at=datetime(2026, 3, 4, tzinfo=UTC), program="p", estimates=none)
    assert "still changed after 5,000 rounds, so none can be relied on" in page
    assert "How often each estimate equals" not in page and "by the estimated grade" not in page


def test_of_hundreds_of_annotators_a_hundred_are_listed_and_both_counts_are_said() -> None:
    people = [f"p{number:03}" for number in range(300)]
    leanings = tuple(Leaning(name, 40, number / 100, None) for number, name in enumerate(people[:250]))
    measured = replace(MEASURED, leanings=leanings, grades_by_annotator=dict.fromkeys(people, (1, 0, 0, 0)))
    page = render(replace(REPORT, annotators=tuple(people), measured=measured, periods=()))
    assert "300 annotators have judgments that count; 250 of them share pairs with another" in page
    assert "of 250 annotators the 100 first, those who lean most" in page
    assert "of 300 annotators the 100 first, those who judged most" in page
    listed = [
        name for name in people if f'<th scope="row"><bdi>{name}</bdi></th><td class="n">40</td>' in page
    ]
    assert listed == people[150:250]
