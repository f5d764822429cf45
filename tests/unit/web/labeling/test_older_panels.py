"""A label page of an earlier version that is still open in a tab: what it sends is stored, and it understands the answer.

`tests/golden/exchanges` keeps, for each released version, what its panel sends and which keys of the answer it reads. A kept file is
never changed: whoever breaks one raises EXCHANGE_VERSION and OLDEST_EXCHANGE, so that the page says "reload" and keeps its judgments.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.people import OPERATOR
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from tests.unit.web.conftest import Visitor
from tests.unit.web.labeling.test_api import _pool as _pool

KEPT = sorted((Path(__file__).parents[3] / "golden" / "exchanges").glob("*.json"))
FREE = (
    "title",
    "url",
    "media_type",
    "narrative",
    "language",
    "answer",
    "outdated",
    "training",
    "position",
)  # or null


def check_shape(expected: Any, found: Any, where: str = "answer") -> None:
    """The keys that were there are there, and their values are of the same kind."""
    if isinstance(expected, dict):
        assert isinstance(found, dict), where
        for key, value in expected.items():
            assert key in found, f"{where}.{key}"
            if not (key in FREE and None in (value, found[key])):
                check_shape(value, found[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert isinstance(found, list), where
        assert found or not expected, f"{where} is empty"
        for item in found if expected else []:
            check_shape(expected[0], item, where)
    else:
        assert type(found) is type(expected), where


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_an_older_panel_sends_is_stored_and_it_understands_the_answer(
    path: Path, visitor: Visitor, database: Database
) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    visitor.sign_in("hanako")
    first = {
        "dataset": "demo",
        "annotator": "hanako",
        "tab": kept["request"]["tab"],
        "events": [],
        "have": [],
    }
    pairs = visitor.http.post("/api/judgments", json={**first, "want": 3}).json()["pairs"]
    sent = json.dumps(kept["request"])
    for number, pair in enumerate(pairs):
        sent = sent.replace(f"PAIR {number}", pair["pair"])
    request = json.loads(sent)
    answer = visitor.http.post("/api/judgments", json=request)
    assert answer.status_code == 200
    *good, bad = [event["id"] for event in request["events"]]
    assert answer.json()["acknowledged"] == good
    assert [refused["id"] for refused in answer.json()["refused"]] == [bad]
    check_shape(kept["answer"], answer.json())
    stored = {judgment.pair_key: judgment for judgment in list_judgments(database, OPERATOR, "demo")}
    for event in request["events"][:-1]:
        judgment = stored[event["pair"]]
        assert (judgment.outcome, judgment.grade, judgment.note or "") == (
            event["outcome"],
            event["grade"],
            event["note"],
        )
