"""The overlap of a pair, over any rules: the cap holds, the share is drawn fairly and once, categories go first."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.settling import (
    allows_further,
    check_rules,
    conditional_distance,
    describe_overlap,
    find_largest_overlap,
    find_overlap,
    find_uniform_overlap,
)
from annotator.storage.pairs.pool import pair_key

NUMBER = st.integers(1, 20)
SEEDS = st.integers(0, 2**31 - 1)
SHARES = st.integers(1, 99).map(lambda percent: percent / 100)
CATEGORIES = st.sampled_from([None, "howto", "判例", "a=b,c"])
RULES = st.fixed_dictionaries(
    {},
    optional={
        "category": st.dictionaries(CATEGORIES.filter(bool), NUMBER),
        "share": st.fixed_dictionaries({"share": SHARES, "overlap": NUMBER}),
        "cap": NUMBER,
        "conditional": st.integers(1, 3),
    },
)
KEYS = [pair_key("law", f"q{number}", "第709条") for number in range(4_000)]


def _count(share: float, seed: int) -> set[str]:
    rules = {"share": {"share": share, "overlap": 2}}
    return {key for key in KEYS if find_overlap(1, rules, seed=seed, key=key, category=None) == 2}


@given(NUMBER, RULES, SEEDS, CATEGORIES)
def test_no_pair_is_wanted_above_the_cap_or_below_1(
    overlap: int, rules: dict[str, Any], seed: int, category: str | None
) -> None:
    cap, most = rules.get("cap", 20), find_largest_overlap(overlap, rules, category)
    for key in KEYS[:20]:
        wanted = find_overlap(overlap, rules, seed=seed, key=key, category=category)
        assert 1 <= wanted <= min(cap, most)
        further = conditional_distance(rules) is not None and allows_further(rules, wanted)
        assert wanted + further <= min(cap, most)


@given(SHARES, SEEDS)
def test_the_share_holds_within_bounds(share: float, seed: int) -> None:
    spread = 6 * (share * (1 - share) / len(KEYS)) ** 0.5
    assert abs(len(_count(share, seed)) / len(KEYS) - share) < spread


@given(SHARES, SHARES, SEEDS)
def test_a_greater_share_keeps_every_pair_of_a_smaller_one(share: float, other: float, seed: int) -> None:
    assert _count(min(share, other), seed) <= _count(max(share, other), seed)


@given(NUMBER, NUMBER, SEEDS)
def test_a_category_with_an_exception_is_left_out_of_the_share(overlap: int, wanted: int, seed: int) -> None:
    rules = {"category": {"howto": wanted}, "share": {"share": 0.5, "overlap": 3}}
    assert {find_overlap(overlap, rules, seed=seed, key=key, category="howto") for key in KEYS[:50]} == {
        wanted
    }


@given(NUMBER, RULES, SEEDS)
def test_what_is_the_same_for_all_pairs_is_what_each_of_them_gets(
    overlap: int, rules: dict[str, Any], seed: int
) -> None:
    everywhere = find_uniform_overlap(overlap, rules)
    if everywhere is not None:
        assert {find_overlap(overlap, rules, seed=seed, key=key, category="howto") for key in KEYS[:50]} == {
            everywhere
        }


@given(NUMBER, RULES)
def test_rules_that_are_accepted_are_said_in_words_and_accepted_again(
    overlap: int, rules: dict[str, Any]
) -> None:
    cap = max(rules.get("cap", 20), overlap, 3)
    kept = check_rules(overlap, {**rules, "cap": cap})
    assert check_rules(overlap, kept) == kept
    assert conditional_distance(kept) == rules.get("conditional")
    assert str(cap) in describe_overlap(overlap, kept)
