"""How similar two texts are, in every script."""

import pytest

from annotator.adjudication.disagreement_view import (
    SIMILAR_FROM,
    SKETCH_SIZE,
    WARN_FROM,
    TextSketches,
    compare_sketches,
    make_sketch,
)

TEXTS = {
    "Japanese": "届出は、事由の発生した日から十日以内に、書面によって行わなければならない。" * 12
    + "附則第{n}条",
    "Korean": "신고는 사유가 발생한 날부터 열흘 이내에 서면으로 하여야 한다. " * 12 + "부칙 제{n}조",
    "English": "The handler queue runs each handler in turn, and every handler calls the next one. " * 12
    + "Note {n}.",
    "code": "public final class Handler{n} implements nablarch.fw.Handler<Object, Object> {{\n  return null;\n}}\n"
    * 4,
    "emoji": "🔎🧭 مرحبا بالعالم 👩‍👩‍👧‍👦 " * 30 + "{n}",
}


def vary(name: str, n: int) -> str:
    return TEXTS[name].format(n=n)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_equals_itself_and_is_similar_to_one_with_a_changed_word(name: str) -> None:
    sketch, changed = make_sketch(vary(name, 1)), make_sketch(vary(name, 2))
    assert compare_sketches(sketch, make_sketch(vary(name, 1))) == 1.0
    assert 0.5 < compare_sketches(sketch, changed) < 1.0


def test_texts_of_other_content_are_not_similar() -> None:
    names = list(TEXTS)
    for name in names:
        for other in names:
            if other != name:
                assert compare_sketches(make_sketch(vary(name, 1)), make_sketch(vary(other, 1))) < 0.1


def test_width_case_and_white_space_make_no_difference() -> None:
    assert make_sketch("ＡＢＣ  handler\n\nQueue") == make_sketch("abc handler queue")


def test_a_long_text_is_estimated_within_a_few_hundredths() -> None:
    words = [f"語{number}の節" for number in range(4_000)]
    whole, most = " ".join(words), " ".join(words[:3_800])
    similarity = compare_sketches(make_sketch(whole), make_sketch(most))
    assert len(make_sketch(whole)) == SKETCH_SIZE
    assert similarity == pytest.approx(0.95, abs=0.04)
    assert similarity >= WARN_FROM


def test_a_text_without_words_is_similar_to_nothing_and_a_short_one_only_to_itself() -> None:
    assert make_sketch(" \n") == ()
    assert compare_sketches((), ()) == 0.0
    assert compare_sketches(make_sketch("是"), make_sketch("是")) == 1.0
    assert compare_sketches(make_sketch("是"), make_sketch("否")) == 0.0
    assert make_sketch("\ud800 lone \udfff surrogates stay") != ()


def test_sketches_are_kept_by_hash_and_the_oldest_is_forgotten_first() -> None:
    sketches = TextSketches(most=2)
    sketches.add_texts({"a": vary("English", 1), "b": vary("English", 2)})
    assert sketches.list_missing(["a", "b", "c"]) == {"c"}
    similarity = sketches.compare("a", "b")
    assert similarity is not None
    assert similarity >= SIMILAR_FROM
    sketches.add_texts({"c": vary("code", 1)})
    assert sketches.list_missing(["a"]) == {"a"}
    assert (sketches.compare("b", "c"), sketches.compare("a", "b"), sketches.compare("b", None)) == (
        None,
        None,
        None,
    )
    assert sketches.compare("z", "z") == 1.0
