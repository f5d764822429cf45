"""Every word that the program's own lists hold has a name for its readers, in each language."""

from typing import get_args

import pytest

from annotator.domain.judgments import CHECK_PURPOSES, CURRENT_PURPOSES
from annotator.domain.settling import PAIR_STATUSES, PairStatus
from annotator.quality.records import ErrorState
from annotator.web.kit.messages import read_catalog
from annotator.web.kit.words import NAMES, name_word
from annotator.web.quality.page import STATES


def test_every_status_of_a_pair_and_every_purpose_of_a_judgment_has_a_word() -> None:
    assert set(PAIR_STATUSES) == set(get_args(PairStatus))
    assert {*PAIR_STATUSES, *CURRENT_PURPOSES, *CHECK_PURPOSES} <= set(NAMES)
    assert name_word("quality") == "quality control"
    assert set(get_args(ErrorState)) == set(STATES)


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_every_word_is_translated(language: str) -> None:
    catalog = read_catalog(language)
    assert [word for word, name in NAMES.items() if not catalog.get(str(name))] == []
