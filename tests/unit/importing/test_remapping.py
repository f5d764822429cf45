"""What becomes of each document that a file of new ids names."""

import pytest

from annotator.domain.errors import BadInput
from annotator.importing.remapping.remapping import find_applied, name_retired, plan_remap, read_remap


def plan(*links: str, documents: str = "a b c d", pairs: str = "a b c d"):  # type: ignore[no-untyped-def]
    return plan_remap([tuple(link.split(">")) for link in links], documents.split(), pairs.split())  # type: ignore[misc]


def test_one_old_id_with_one_new_id_is_renamed() -> None:
    remap = plan("a>x", "b>y")
    assert (dict(remap.renamed), dict(remap.leaving)) == ({"a": "x", "b": "y"}, {})
    assert remap.list_links() == [("a", "x", "renamed"), ("b", "y", "renamed")]


def test_several_new_ids_split_a_document_and_a_shared_one_merges_several() -> None:
    remap = plan("a>x", "a>y", "b>z", "c>z")
    assert dict(remap.leaving) == {"a": ("x", "y"), "b": ("z",), "c": ("z",)}
    assert dict(remap.kinds) == {"a": "split", "b": "merged", "c": "merged"}
    assert remap.list_targets() == {"x", "y", "z"}


def test_a_document_that_keeps_its_id_is_named_but_not_changed() -> None:
    remap = plan("a>a", documents="a b", pairs="a b")
    assert (remap.list_links(), remap.unknown, remap.left_over) == ([], (), ("b",))


def test_a_part_may_keep_the_old_id_and_is_another_document_all_the_same() -> None:
    assert dict(plan("a>a", "a>x").leaving) == {"a": ("a", "x")}
    assert dict(plan("a>b", "b>b").leaving) == {"a": ("b",), "b": ("b",)}


def test_an_old_id_that_is_not_in_the_dataset_counts_for_what_a_new_one_is_made_of() -> None:
    remap = plan("a>x", "ない>x")
    assert (dict(remap.renamed), dict(remap.leaving), remap.unknown) == ({}, {"a": ("x",)}, ("ない",))


def test_swaps_and_chains_move_no_pair_to_another_document() -> None:
    assert plan("a>b", "b>a").list_moved("ab") == {}
    assert plan("a>b", "b>c", "c>x").list_moved("abc") == {}
    assert plan("a>b", "b>c").list_moved("abc") == {"b": "c"}
    assert plan("a>b", "b>x", "b>y").list_moved("ab") == {}


def test_documents_with_pairs_that_the_file_does_not_name_are_left_over() -> None:
    assert plan("a>b", documents="a b c d", pairs="a b d").left_over == ("d",)


def test_the_last_remaps_that_say_nothing_but_this_file_are_applied() -> None:
    links = [("a", "b"), ("b", "c"), ("x", "y")]
    assert find_applied([], links) == set()
    assert find_applied([{("a", "b"), ("b", "c")}], links) == {"a", "b"}
    assert find_applied([{("x", "y")}, {("a", "b"), ("b", "c")}], links) == {"a", "b", "x"}
    assert find_applied([{("a", "b")}], [("a", "b"), ("b", "c")]) == {"a", "b"}
    assert find_applied([{("c", "a")}, {("a", "b"), ("b", "c")}], links) == set()


def test_a_retired_document_gets_a_name_that_nobody_has() -> None:
    assert name_retired("법", ["법"], day="2026-01-31") == "법 (retired 2026-01-31)"
    assert name_retired("a", ["a (retired 2026-01-31)"], day="2026-01-31") == "a (retired 2026-01-31, 2)"


JSONL = (
    '{"old_doc_id": "법/1", "new_doc_id": "مادة, ١"}\n{"old_doc_id": "🔎", "new_doc_id": "b"}\n'
    '{"old_doc_id": "법/1", "new_doc_id": "مادة, ١"}\n'
)


@pytest.mark.parametrize(
    "content",
    [
        'old_doc_id,new_doc_id\n법/1,"مادة, ١"\n🔎,b\n법/1,"مادة, ١"\n',
        "old_doc_id\tnew_doc_id\n법/1\tمادة, ١\n🔎\tb\n법/1\tمادة, ١\n",
        JSONL,
    ],
)
def test_links_are_read_in_order_and_the_same_line_twice_is_one(content: str) -> None:
    file = read_remap(
        content.encode(), "new.csv" if "," in content.split("\n")[0] and "{" not in content else "new"
    )
    assert file.links == (("법/1", "مادة, ١"), ("🔎", "b"))
    assert file.repeated == 1


def test_every_bad_line_is_named() -> None:
    content = "old_doc_id,new_doc_id\na,\nb,c\n,d\n" + "x" * 1001 + ",y\n"
    with pytest.raises(BadInput) as raised:
        read_remap(content.encode(), "r.csv")
    assert [problem.line for problem in raised.value.problems] == [2, 4, 5]
    with pytest.raises(BadInput, match="a column new_doc_id"):
        read_remap(b"old_doc_id,to\na,b\n", "r.csv")
