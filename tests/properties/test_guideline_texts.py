"""Comparing and merging texts: nothing is invented and nothing lost, whatever the texts."""

from hypothesis import given
from hypothesis import strategies as st

from annotator.guideline.compare import compare_lines, match
from annotator.guideline.merge import OPENS, merge_texts
from annotator.guideline.validation import read_examples, write_examples

ITEMS = st.lists(st.sampled_from("abcd"), max_size=12)
LINES = st.lists(st.sampled_from(["", "一", "둘 셋", "four five six", "four five sixty"]), max_size=10)


def longest_common(before: list[str], after: list[str]) -> int:
    """The length of the longest common subsequence, by the book."""
    row = [0] * (len(after) + 1)
    for old in before:
        above = row[:]
        for index, new in enumerate(after):
            row[index + 1] = above[index] + 1 if old == new else max(row[index], above[index + 1])
    return row[-1]


@given(ITEMS, ITEMS)
def test_a_match_is_of_the_same_items_in_order_and_the_longest_there_is(
    before: list[str], after: list[str]
) -> None:
    blocks = match(before, after, most=100)
    assert blocks is not None
    x = y = 0
    for block in blocks:
        assert (block.before >= x, block.after >= y) == (True, True)
        x, y = block.before + block.size, block.after + block.size
        assert before[block.before : x] == after[block.after : y]
    assert sum(block.size for block in blocks) == longest_common(before, after)


@given(LINES, LINES)
def test_a_comparison_holds_both_texts_line_for_line(before: list[str], after: list[str]) -> None:
    old, new = "\n".join(before), "\n".join(after)
    lines = compare_lines(old, new)
    assert not lines.cut
    assert bool(lines.lines) == (old != new)
    skipped = sum(line.skipped for line in lines.lines)
    shown = [line for line in lines.lines if not line.skipped]
    if lines.lines and not skipped:
        assert [line.text for line in shown if line.kind != "added"] == old.split("\n")
    assert skipped != 1
    removed = [line.text for line in shown if line.kind == "removed"]
    added = [line.text for line in shown if line.kind == "added"]
    assert len(old.split("\n")) - len(removed) == len(new.split("\n")) - len(added)
    for line in shown:
        assert "".join(part.text for part in line.parts) in ("", line.text)


@given(LINES, LINES)
def test_a_merge_takes_what_only_one_of_both_changed(base: list[str], changed: list[str]) -> None:
    old, new = "\n".join(base), "\n".join(changed)
    assert merge_texts(old, new, old) == merge_texts(old, old, new) == merge_texts(old, new, new) == new


@given(LINES, LINES, LINES)
def test_a_merge_leaves_out_no_line_that_somebody_added(
    base: list[str], published: list[str], draft: list[str]
) -> None:
    texts = ["\n".join(lines) for lines in (base, published, draft)]
    merged = merge_texts(*texts).split("\n")
    for changed in texts[1:]:
        for line in changed.split("\n"):
            if line not in texts[0].split("\n"):
                assert line in merged
    if OPENS not in merged:
        assert set(merged) <= {line for text in texts for line in text.split("\n")}


@given(st.lists(st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), min_size=1)))
def test_examples_that_are_typed_again_are_the_same(typed: list[str]) -> None:
    examples = read_examples("\n".join(typed))
    assert read_examples(write_examples(examples)) == examples
