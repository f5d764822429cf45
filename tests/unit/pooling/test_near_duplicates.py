"""Which documents say the same as a better ranked one, in every script."""

import random

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.errors import ValidationError
from annotator.pooling.filters.near_duplicates import (
    MISSED_AT_MOST,
    PERMUTATIONS,
    SEED,
    SimilarTexts,
    choose_bands,
    hash_runs,
    make_signature,
    measure_similarity,
    normalize_text,
    read_threshold,
)

TEXTS = {
    "Japanese": "届出は、事由の発生した日から十日以内に、書面によって行わなければならない。附則の定めは別に置く。"
    * 6,
    "Korean": "신고는 사유가 발생한 날부터 열흘 이내에 서면으로 하여야 한다. 부칙은 따로 정한다. " * 6,
    "English": "The handler queue runs each handler in turn, and every handler calls the next one. " * 6,
    "Arabic": "يجب تقديم الإخطار كتابة خلال عشرة أيام من تاريخ وقوع السبب. تحدد الأحكام لاحقا. " * 6,
    "emoji": "🔎🧭 👩‍👩‍👧‍👦 🇯🇵🇰🇷 検索 검색 search 📚 ✅ " * 6,
}


def _leave_out(
    texts: dict[int, str],
    threshold: float | None,
    *,
    ranked: list[int] | None = None,
    in_pool: frozenset[int] = frozenset(),
) -> dict[int, int]:
    ranked = ranked or list(texts)
    return SimilarTexts(threshold, texts.items()).find_duplicates(ranked, in_pool, texts)


def _make_text(seed: int, words: int = 300) -> list[str]:
    draw = random.Random(seed)
    return [draw.choice("検索조항lawテキスト문서") + str(draw.randrange(10_000)) for _ in range(words)]


@pytest.mark.parametrize("script", TEXTS)
@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.9, 1.0, None])
def test_the_same_text_in_other_width_case_and_spacing_is_a_duplicate(
    script: str, threshold: float | None
) -> None:
    text = TEXTS[script]
    other = text.upper().replace(" ", "\n  ").replace("、", "､")
    assert _leave_out({1: text, 2: other}, threshold) == {2: 1}


@pytest.mark.parametrize("script", TEXTS)
def test_a_text_with_one_more_word_is_a_near_duplicate_but_not_an_exact_one(script: str) -> None:
    texts = {1: TEXTS[script], 2: TEXTS[script] + "終"}
    assert _leave_out(texts, 0.8) == {2: 1}
    assert _leave_out(texts, None) == {}


@pytest.mark.parametrize("threshold", [0.5, 0.9, None])
def test_texts_of_other_content_all_stay(threshold: float | None) -> None:
    assert _leave_out(dict(enumerate(TEXTS.values())), threshold) == {}


@pytest.mark.parametrize("threshold", [0.5, None])
def test_documents_without_words_are_duplicates_of_nothing(threshold: float | None) -> None:
    assert _leave_out({1: "", 2: " \n\u3000", 3: ""}, threshold) == {}


def test_texts_shorter_than_a_run_are_duplicates_only_of_themselves() -> None:
    assert _leave_out({1: "조항", 2: "조항", 3: "条", 4: "👍"}, 0.5) == {2: 1}


def test_the_threshold_is_exact() -> None:
    shared = "".join(chr(0x4E00 + number) for number in range(94))  # 90 runs
    texts = {1: shared + "가나다라마", 2: shared + "バナナの木"}  # 5 more runs each: 90 of 100
    assert _leave_out(texts, 0.9) == {2: 1}
    assert _leave_out(texts, 0.9001) == {}


def test_a_document_is_left_out_only_for_one_that_is_as_similar_itself() -> None:
    words = _make_text(1)
    chain = {number: " ".join(words[number * 10 : number * 10 + 200]) for number in range(6)}
    left_out = _leave_out(chain, 0.85)
    runs = {number: np.unique(hash_runs(normalize_text(text))) for number, text in chain.items()}
    assert measure_similarity(runs[0], runs[5]) < 0.85 <= measure_similarity(runs[0], runs[1])
    assert left_out
    for document, kept in left_out.items():
        assert measure_similarity(runs[document], runs[kept]) >= 0.85
        assert kept not in left_out


def test_the_first_ranked_stays_and_a_pair_of_the_pool_is_never_left_out() -> None:
    texts = {1: TEXTS["Korean"], 2: TEXTS["Korean"] + "!", 3: TEXTS["Korean"] + "?"}
    assert _leave_out(texts, 0.8, ranked=[3, 1, 2]) == {1: 3, 2: 3}
    assert _leave_out(texts, 0.8, ranked=[2, 3, 1], in_pool=frozenset({2, 3})) == {1: 2}


def test_only_documents_that_may_be_alike_are_compared() -> None:
    texts = {number: " ".join(_make_text(number)) for number in range(200)} | {200: " ".join(_make_text(7))}
    similar = SimilarTexts(0.9, texts.items())
    assert similar.list_suspects(texts) == {7, 200}
    assert similar.list_suspects([1, 7]) == set()


def test_the_signature_is_that_of_datasketch() -> None:
    for text in ("조항", *TEXTS.values(), " ".join(_make_text(3, 2_000))):
        hashes = hash_runs(normalize_text(text))
        minhash = MinHash(num_perm=PERMUTATIONS, seed=SEED, hashfunc=lambda value: value)
        minhash.update_batch((hashes >> np.uint64(32)).tolist())
        assert make_signature(hashes).tolist() == minhash.hashvalues.tolist()


@given(st.floats(0.5, 1))
def test_a_pair_at_the_threshold_is_hardly_ever_missed(threshold: float) -> None:
    bands, length = choose_bands(threshold)
    assert bands * length <= PERMUTATIONS
    assert (1 - threshold**length) ** bands <= MISSED_AT_MOST


@given(st.permutations(list(range(12))), st.sampled_from([0.6, 0.8, 0.9, None]))
def test_the_order_in_which_texts_are_read_makes_no_difference(
    order: list[int], threshold: float | None
) -> None:
    words = _make_text(5)
    texts = {number: " ".join(words[number % 4 * 3 : 200 + number % 5]) for number in range(12)}
    read = {number: texts[number] for number in order}
    similar = SimilarTexts(threshold, read.items())
    assert similar.find_duplicates(list(range(12)), set(), read) == _leave_out(texts, threshold)


@given(st.lists(st.integers(0, 60), min_size=2, max_size=12), st.sampled_from([0.5, 0.7, 0.9, 1.0]))
def test_kept_documents_differ_from_all_earlier_ones_and_the_others_resemble_a_kept_one(
    starts: list[int], threshold: float
) -> None:
    words = _make_text(9, 160)
    texts = {number: " ".join(words[start : start + 90]) for number, start in enumerate(starts)}
    left_out = _leave_out(texts, threshold)
    runs = {number: np.unique(hash_runs(normalize_text(text))) for number, text in texts.items()}
    for document in texts:
        before = [kept for kept in range(document) if kept not in left_out]
        alike = [kept for kept in before if measure_similarity(runs[document], runs[kept]) >= threshold]
        assert left_out.get(document) == (alike[0] if alike else None)


@pytest.mark.parametrize(
    ("text", "threshold"), [("exact", None), (" EXACT ", None), ("0.9", 0.9), ("1", 1.0), ("0.5", 0.5)]
)
def test_a_threshold_is_read(text: str, threshold: float | None) -> None:
    assert read_threshold(text) == threshold


@pytest.mark.parametrize("text", ["0.49", "1.01", "-1", "90", "nan", "inf", "", "almost"])
def test_any_other_threshold_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match=r"expected “exact” or a similarity from 0\.5 to 1, found"):
        read_threshold(text)
