"""A query text that a file without ids has twice is told, by `check`, `convert` and the import; the file stays valid."""

import json
from pathlib import Path

from annotator.dataset.coverage_service import check_file
from annotator.formats.content_warnings import describe_repeated_texts
from annotator.formats.syntax.grade_scale import GradeScale
from annotator.formats.syntax.source import InputSource
from annotator.importing.conversion_service import prepare_conversion
from annotator.importing.sources import read_query_source

QUERIES = [{"query": text, "relevant_documents": ["d"]} for text in ("検索", "질의", "検索", "検索 ")]
RANKED = json.dumps(QUERIES).encode()


def test_check_tells_the_text_and_its_places() -> None:
    report = check_file(InputSource("r.json", RANKED), format_name="ranked")
    assert report.valid
    assert report.repeated_texts == (("検索", (1, 3)),)
    assert list(describe_repeated_texts(report.file, report.repeated_texts)) == [
        "r.json: the query '検索' stands 2 times, as number 1, 3; the file has no ids to tell them apart"
    ]


def test_a_format_with_ids_may_have_a_text_twice() -> None:
    law = {
        "queries": [
            {"query_id": name, "query_text": "x", "ground_truth": {"d": {"relevance": 1}}} for name in "ab"
        ]
    }
    report = check_file(InputSource("l.json", json.dumps(law).encode()), format_name="law")
    assert (report.valid, report.repeated_texts) == (True, ())


def test_conversion_and_import_tell_it_too(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(RANKED)
    target = str(tmp_path / "out.jsonl")
    prepared = prepare_conversion(InputSource(str(path)), target, target_format="jsonl", grades_by="all=1")
    assert any("stands 2 times" in note for note in prepared.notes)
    _, notes = read_query_source(InputSource(str(path), scale=GradeScale(lenient=True)), format_name=None)
    assert any("stands 2 times" in note for note in notes)


def test_of_many_the_first_are_named() -> None:
    repeated = tuple((f"t{number}", (number, number + 50)) for number in range(1, 8))
    sentences = list(describe_repeated_texts("f", repeated))
    assert (len(sentences), sentences[-1]) == (6, "f: 2 more query texts stand more than once")
