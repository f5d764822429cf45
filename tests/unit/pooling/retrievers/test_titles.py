"""Titles that match a query, wholly or in part."""

import pytest

from annotator.pooling.retrievers.fusion import TitleIndex

TITLES = [
    ("q", "ハンドラキュー"),
    ("q2", "ハンドラキューの構成"),
    ("h", "ハンドラ"),
    ("m", "E-mail settings"),
    ("m2", "mail"),
    ("ko", "농지의 전용 허가"),
    ("x", "A"),
    ("none", "—"),
]


@pytest.mark.parametrize(
    ("query", "exact", "partial"),
    [
        ("ハンドラキュー", ["q"], [("q2", 1, 0.7), ("h", 2, 4 / 7)]),
        ("ﾊﾝﾄﾞﾗｷｭｰ", ["q"], [("q2", 1, 0.7), ("h", 2, 4 / 7)]),
        ("MAIL", ["m2"], [("m", 1, 4 / 15)]),
        ("email", [], []),
        ("농지의 전용", [], [("ko", 1, 6 / 9)]),
        ("send a mail now", [], [("m2", 1, 4 / 15)]),
        ("mailing", [], []),
        ("setting", [], []),
        ("!", [], []),
        ("", [], []),
    ],
)
def test_titles_match_wholly_or_in_part(
    query: str, exact: list[str], partial: list[tuple[str, int, float]]
) -> None:
    matches = TitleIndex(TITLES).match(query, depth=10)
    assert [item.doc_id for item in matches.exact] == exact
    assert [tuple(item) for item in matches.partial] == [
        (doc_id, rank, pytest.approx(share)) for doc_id, rank, share in partial
    ]


def test_documents_with_the_same_title_have_the_same_rank() -> None:
    index = TitleIndex(
        [("b", "設定ファイル"), ("a", "設定ファイル"), ("aa", "設定ファイル"), ("c", "設定ファイルの例")]
    )
    matches = index.match("設定ファイル", depth=5)
    assert [(item.doc_id, item.rank) for item in matches.exact] == [("a", 1), ("aa", 1), ("b", 1)]
    assert [(item.doc_id, item.rank) for item in index.match("設定", depth=5).partial] == [
        ("a", 1),
        ("aa", 1),
        ("b", 1),
        ("c", 4),
    ]
    assert len(index.match("設定", depth=1).partial) == 1
