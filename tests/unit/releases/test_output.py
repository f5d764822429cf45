"""Rows kept aside and given back, and the content hash of queries that come in any order."""

from pathlib import Path

import pytest

from annotator.domain.ground_truth import Qrel, hash_content, write_canonical
from annotator.releases.writing import files
from annotator.releases.writing.files import ContentDigest, Spool


def test_rows_come_back_in_their_order_and_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ROWS", 2)
    spool = Spool(tmp_path)
    rows = [(0, "検\n索", None), (1, "\u2028🙂", 2), (2, "مستند", 0)]
    spool.add(rows[:1])
    spool.add([])
    spool.add(rows[1:])
    assert spool.rows == 3
    assert [tuple(row) for chunk in spool.chunks() for row in chunk] == rows
    assert list(tmp_path.iterdir()) == []
    spool.close()


def test_the_content_hash_does_not_depend_on_the_order_of_queries(tmp_path: Path) -> None:
    digest = ContentDigest(tmp_path)
    digest.add("Q2", write_canonical("Q2", [("z", 0)]))
    digest.add("Q10", write_canonical("Q10", [("文書", 3), ("a", 1)]))
    qrels = [Qrel("Q10", "a", 1), Qrel("Q2", "z", 0), Qrel("Q10", "文書", 3)]
    assert digest.end() == hash_content(qrels)
