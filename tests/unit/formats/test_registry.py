"""The registry: names, and what is said when the content does not tell the format."""

import pytest

from annotator.domain.errors import ValidationError
from annotator.formats.registry import FORMATS, detect_format, find_format


def test_names_are_unique_and_findable() -> None:
    assert [find_format(known.name) for known in FORMATS] == list(FORMATS)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match="no format named 'yaml'; there are: nablarch, law, trec"):
        find_format("yaml")


def test_content_that_does_not_tell_is_answered_with_the_candidates_of_its_suffix() -> None:
    with pytest.raises(ValidationError, match=r"x\.yaml: .* say --format, one of: nablarch$"):
        detect_format(b"a: 1\n", "x.yaml")
    with pytest.raises(ValidationError, match=r"one of: nablarch, law, trec$"):
        detect_format(b"hello", "x")


def test_the_compact_law_form_is_not_taken_for_the_law_form() -> None:
    compact = b'{"queries": [{"query_id": "Q", "query_text": "t", "ground_truth": {"d": 3}}]}'
    with pytest.raises(ValidationError):
        detect_format(compact, "x.json")
