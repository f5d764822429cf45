"""The Korean particle fits the sound before it: syllables, digits, percent signs and Latin letters."""

import pytest

from annotator.agreement.wording import show_both
from annotator.domain.messages import join
from annotator.web.korean_particles import choose_particles
from annotator.web.messages import tr, use_language

CASES = [
    ("75%이(가) 같습니다", "75%가 같습니다"),
    ("등급 0을(를)", "등급 0을"), ("등급 1을(를)", "등급 1을"), ("등급 2을(를)", "등급 2를"), ("등급 3을(를)", "등급 3을"),
    ("등급 1(으)로", "등급 1로"), ("등급 2(으)로", "등급 2로"), ("등급 3(으)로", "등급 3으로"), ("등급 0(으)로", "등급 0으로"),
    ("0.70이(가)", "0.70이"), ("0.75은(는)", "0.75는"), ("10은(는)", "10은"), ("1,200이(가)", "1,200이"), ("1000(으)로", "1000으로"),
    ("화자은(는)", "화자는"), ("민준은(는)", "민준은"), ("서울(으)로", "서울로"), ("‘판정 불가’(으)로", "‘판정 불가’로"),
    ("annotator_1와(과) annotator_2이(가)", "annotator_1과 annotator_2가"),
    ("BM25이(가)", "BM25가"), ("HTML을(를)", "HTML을"), ("API은(는)", "API는"), ("'nablarch'(이)라는", "'nablarch'라는"),
    ("花子은(는)", "花子은(는)"), ("🔎이(가)", "🔎이(가)"), ("이(가)", "이(가)"), ("괄호 (가) 안", "괄호 (가) 안"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "read"), CASES)
def test_the_particle_fits_what_stands_before(written: str, read: str) -> None:
    assert choose_particles(written) == read


def test_a_sentence_of_the_app_has_one_form_of_each_particle() -> None:
    use_language("ko")
    try:
        assert tr("Marked {name}.", name="예문") == "예문을 지정했습니다."
    finally:
        use_language("en")


def test_several_couples_of_annotators_are_told_apart() -> None:
    use_language("ko")
    try:
        couples = join([show_both(("expert-11", "expert-3")), show_both(("민준", "하나"))])
        assert tr(couples) == "expert-11과 expert-3, 민준과 하나"
    finally:
        use_language("en")
