"""The Korean particle fits the sound before it: syllables, digits, percent signs and Latin letters."""

import re
from pathlib import Path

import pytest

from annotator.agreement.diagnosis.verdict import show_both
from annotator.domain.messages import Message, join, say, say_n
from annotator.web.kit import messages
from annotator.web.kit.messages import choose_particles, tr, use_language

LOCALE = Path(messages.__file__).parent / "locale"
CASES = [
    ("75%이(가) 같습니다", "75%가 같습니다"),
    ("등급 0을(를)", "등급 0을"),
    ("등급 1을(를)", "등급 1을"),
    ("등급 2을(를)", "등급 2를"),
    ("등급 3을(를)", "등급 3을"),
    ("등급 1(으)로", "등급 1로"),
    ("등급 2(으)로", "등급 2로"),
    ("등급 3(으)로", "등급 3으로"),
    ("등급 0(으)로", "등급 0으로"),
    ("0.70이(가)", "0.70이"),
    ("0.75은(는)", "0.75는"),
    ("10은(는)", "10은"),
    ("1,200이(가)", "1,200이"),
    ("1000(으)로", "1000으로"),
    ("화자은(는)", "화자는"),
    ("민준은(는)", "민준은"),
    ("서울(으)로", "서울로"),
    ("‘판정 불가’(으)로", "‘판정 불가’로"),
    ("annotator_1와(과) annotator_2이(가)", "annotator_1과 annotator_2가"),
    ("BM25이(가)", "BM25가"),
    ("HTML을(를)", "HTML을"),
    ("API은(는)", "API는"),
    ("'nablarch'(이)라는", "'nablarch'라는"),
    ("hong은(는)", "hong은"),
    ("kang이(가)", "kang이"),
    ("Jung을(를)", "Jung을"),
    ("sung(으)로", "sung으로"),
    ("hong와(과)", "hong과"),
    ("park은(는)", "park은(는)"),
    ("jack이(가)", "jack이(가)"),
    ("philip을(를)", "philip을(를)"),
    ("robert와(과)", "robert와(과)"),
    ("PNG이(가)", "PNG가"),
    ("HTTP은(는)", "HTTP는"),
    ("txt을(를)", "txt를"),
    ("html을(를)", "html을"),
    ("annotator_t이(가)", "annotator_t가"),
    ("mina이(가)", "mina가"),
    ("ben이(가)", "ben이"),
    ("kim은(는)", "kim은"),
    ("editor을(를)", "editor를"),
    ("hans와(과)", "hans와"),
    ("花子은(는)", "花子은(는)"),
    ("🔎이(가)", "🔎이(가)"),
    ("이(가)", "이(가)"),
    ("괄호 (가) 안", "괄호 (가) 안"),
]


@pytest.mark.parametrize(("written", "read"), CASES)
def test_the_particle_fits_what_stands_before(written: str, read: str) -> None:
    assert choose_particles(written) == read


@pytest.mark.parametrize(
    ("message", "read"),
    [
        (
            say_n(
                "There is {n:,} query and {documents}, but no pair to judge yet.",
                "There are {n:,} queries and {documents}, but no pair to judge yet.",
                2,
                documents=say_n("{n:,} document", "{n:,} documents", 100),
            ),
            "질의 2개, 문서 100건이 있지만",
        ),
        (
            say(
                "Most confused grades: {low} ({low_name}) and {high} ({high_name}), {most} of the {times} "
                "that two annotators differ. Explain the difference between them in the rubric.",
                low=0,
                low_name="무관",
                high=3,
                high_name="필수",
                most=4,
                times=5,
            ),
            "0(무관), 3(필수)",
        ),
        (
            say("There is no pair of query {query_id!r} and document {doc_id!r}.", query_id="Q3", doc_id="d"),
            "질의 'Q3' 및 문서 'd'의 쌍이 없습니다",
        ),
        (
            say_n("ordered the documents of {n:,} query", "ordered the documents of {n:,} queries", 2),
            "질의 2개의 문서 순서를 정했습니다",
        ),
    ],
)
def test_what_stands_before_a_particle_may_be_any_value(message: Message, read: str) -> None:
    use_language("ko")
    try:
        assert read in tr(message)
    finally:
        use_language("en")


def test_since_is_said_after_a_value_in_the_form_that_fits_every_value() -> None:
    """이므로, not 여서 or 이어서, which depend on how the value ends."""
    wrong = re.compile(r"\{[a-z_]+(?:![rs])?(?::[^}]*)?\}[\"'’”)]*(?:여서|이어서)")
    names = [
        path.name for path in sorted(LOCALE.glob("ko/*.po")) if wrong.search(path.read_text(encoding="utf-8"))
    ]
    assert not names


def test_several_couples_of_annotators_are_told_apart() -> None:
    use_language("ko")
    try:
        couples = join([show_both(("expert-11", "expert-3")), show_both(("민준", "하나"))])
        assert tr(couples) == "expert-11·expert-3, 민준·하나"
    finally:
        use_language("en")
