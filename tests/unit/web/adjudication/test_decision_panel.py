"""What the decision panel is told: its words, its keys, and which part of the queue the address asks for."""

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest

from annotator.adjudication.records import CAUSES
from annotator.domain.grades import DEFAULT_RUBRIC
from annotator.domain.settling import REASONS, STAGES, QueueReason
from annotator.web.adjudication import queue_page
from annotator.web.adjudication.queue_page import STAGE_NAMES, decision_words
from annotator.web.kit.components import join_modules
from annotator.web.labeling import label_page
from tests.contexts import GivenContext

PANEL = queue_page.FOLDER
KEYS = (PANEL / "decision_keys.js").read_text(encoding="utf-8")
SCRIPT = join_modules(PANEL / "panel.js")


def list_asked() -> set[str]:
    """The names of the words that the panel's modules ask for by name, also those that both panels share."""
    return set(re.findall(r"\bwords\.(\w+)(?!\()", SCRIPT))


def test_every_word_that_a_script_asks_for_is_told() -> None:
    requested = list_asked() | {f"cause_{code}" for code in CAUSES} | {f"status_{stage}" for stage in STAGES}
    requested |= {f"why_{reason.name.lower()}" for reason in QueueReason if reason.name}
    requested |= {f"discussion_{state}" for state in ("asked", "answered", "closed")}
    troubles = (
        "slow",
        "unreachable",
        "offline",
        "signedout",
        "other_person",
        "notallowed",
        "nodataset",
        "storage",
    )
    requested |= {f"why_{trouble}" for trouble in troubles}
    requested |= {f"do_{act}" for act in re.findall(r'\["(\w+)", "[a-z?]"\]', KEYS)}
    assert len(requested) > 100
    assert requested - set(decision_words()) == set()


def test_the_panel_names_stages_and_what_cannot_be_rated_as_the_other_pages_do() -> None:
    words = decision_words()
    assert {stage: words[f"status_{stage}"] for stage in STAGES} == dict(STAGE_NAMES)
    assert words["why_unrateable"] == REASONS[QueueReason.UNRATEABLE]


def test_every_cause_has_a_key_of_its_own_and_the_sheet_names_every_key() -> None:
    causes = dict(re.findall(r'(\w+): "(\w)"', KEYS[KEYS.index("const CAUSE_KEYS") :].split("\n")[0]))
    assert tuple(causes) == CAUSES
    others = re.findall(
        r'(?<=[ {"])([a-z]|Enter|Backspace|[/?\[\]])"?: "',
        KEYS[KEYS.index("const DECISION_KEYS") :].split("};")[0],
    )
    assert len({*causes.values(), *others}) == len(causes) + len(others)
    shown = {key for keys, _meaning in label_page.list_keys(PANEL) for key in keys}
    assert {*causes.values(), *(key for key in others if len(key) == 1)} <= shown


@pytest.mark.parametrize(("pair", "expected"), [("next", None), ("abc", "abc")])
def test_the_panel_is_told_the_pair_and_the_part_of_the_queue_that_the_address_names(
    monkeypatch: pytest.MonkeyPatch, pair: str, expected: str | None
) -> None:
    mounted: list[dict[str, Any]] = []
    dataset = SimpleNamespace(name="d", title="D", language="ja", idle_seconds=60)
    context = GivenContext(
        database=None, actor=SimpleNamespace(username="lea"), dataset="d", datasets=(dataset,)
    )
    address = {"pair": pair, "dataset": "d", "reason": "differ,nonsense", "sort": "impact", "other": "x"}
    monkeypatch.setattr("streamlit.query_params", address)
    monkeypatch.setattr("streamlit.html", lambda _text: None)
    monkeypatch.setattr(queue_page, "read_current_rubric", lambda *_: (3, DEFAULT_RUBRIC))
    monkeypatch.setattr(
        queue_page, "load_component", lambda *_, **__: lambda **given: mounted.append(given["data"])
    )
    queue_page.draw_deciding(context)  # type: ignore[arg-type]
    body = json.loads(mounted[0]["message"])
    assert (body["pair"], body["filter"]) == (expected, {"reason": "differ", "sort": "impact"})
    assert (body["username"], body["guideline"]["version"]) == ("lea", 3)
    assert "Clear the filter" in body["words"]["nothing"]
    del address["reason"]
    queue_page.draw_deciding(context)  # type: ignore[arg-type]
    words = json.loads(mounted[1]["message"])["words"]
    assert words["nothing"] == "No disagreements are waiting for you.", "an order is no filter"
    assert list(mounted[0]) == ["message"], "anything else in data= would import pandas"
