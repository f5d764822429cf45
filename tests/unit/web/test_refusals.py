"""What services refuse is told on a page in the reader's language, the parts of a sentence too; elsewhere in English."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotator.dataset.service import change_settings, show_dataset
from annotator.dataset.settings import read_setting
from annotator.domain.errors import AnnotatorError
from annotator.domain.people import OPERATOR
from annotator.domain.settling import check_rules
from annotator.domain.texts import check_version
from annotator.labeling.calibration_service import check_explanation
from annotator.people.credentials import check_username
from annotator.releases.gates import override_gates, to_gate
from annotator.releases.published_service import trace_qrel
from annotator.releases.writing.folder import check_free
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.kit.messages import show_refusal, use_language
from tests.integration.assignment_world import AssignmentWorld

GATE = to_gate({"name": "kappa", "required": 0.7, "measured": 0.5, "met": False, "override": None})


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path_factory.mktemp('refusals') / 'annotator.db'}")
    upgrade_schema(opened)
    AssignmentWorld(opened)
    yield opened
    opened.dispose()


REFUSED: dict[str, Callable[[Database], object]] = {
    "a setting": lambda _: read_setting("overlap_cap", "many"),
    "percentage": lambda _: check_rules(2, {"share": {"share": 0.0, "overlap": 2}}),
    "an overlap of a category": lambda _: check_rules(2, {"category": {"howto": 99}}),
    "a category that no query has": lambda at: change_settings(at, OPERATOR, "d", {"overlap_by_category": "x=2"}, now=datetime.now(UTC)),
    "a dataset that is not there": lambda at: show_dataset(at, OPERATOR, "nowhere"),
    "a release that is not there": lambda at: trace_qrel(at, OPERATOR, "d", "9.9.9", "Q1", "D1", now=datetime.now(UTC)),
    "a username": lambda _: check_username("a b"),
    "a training pair without an explanation": lambda _: check_explanation("training", " "),
    "a version": lambda _: check_version("v1"),
    "an override without words": lambda _: override_gates([GATE], {"kappa": " "}, by="lead_1"),
    "a folder in the way": lambda _: check_free(Path(__file__)),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_is_told_in_the_readers_language(database: Database, what: str) -> None:
    with pytest.raises(AnnotatorError) as caught:
        REFUSED[what](database)
    messages = {}
    for language in ("en", "ja", "ko"):
        use_language(language)
        messages[language] = show_refusal(caught.value)
    use_language("en")
    assert messages["en"] == str(caught.value)
    assert len(set(messages.values())) == 3
    for language in ("ja", "ko"):
        assert "expected" not in messages[language] and "there are" not in messages[language]
