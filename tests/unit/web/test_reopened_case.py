"""What a lead sees of a pair that quality control reopened: among the disagreements, in the case, in help."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from annotator.disputes.service import find_disagreements
from annotator.domain.accounts import Membership, SignedIn
from annotator.domain.pairs import pair_key
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.page_context import PageContext
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import exports_of, find, headings, make_world, open_page, run, words

LATER = NOW + timedelta(days=1)
SAME = pair_key("d", "Q2", "같은")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[JudgedWorld]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield make_world(opened)
    opened.dispose()


@pytest.fixture
def reopened(world: JudgedWorld, monkeypatch: pytest.MonkeyPatch) -> JudgedWorld:
    """The world, where an expert grades a pair 0 that was unanimously a 3; and the lead signed in for callbacks."""
    world.check_quality(world.person("専門家"), "Q2", "같은", 0, settled=3, note="別の <b>条文")
    lead = find(world, "lead")
    person = SignedIn(lead, "lead", (Membership("d", "lead"),), False, LATER)
    context = PageContext(
        world.database, Settings(exports_dir=exports_of(world)), person, "", (), "d", LATER
    )  # fmt: skip
    monkeypatch.setattr("annotator.web.decision_form.find_context", lambda: context)
    return world


def test_the_queue_marks_what_quality_control_reopened(reopened: JudgedWorld) -> None:
    queue = open_page(reopened, "disagreements").dataframe[0].value
    marks = dict(zip(queue["document"], queue["marks"], strict=True))
    assert marks["같은"] == "reopened, simulated"
    assert marks["近い"] == "simulated"
    assert dict(zip(queue["document"], queue["grades"], strict=True))["같은"] == "0 3 3"


def test_since_when_stands_before_what_may_be_long(reopened: JudgedWorld) -> None:
    """What is out of view at 1280 is the category, which the case says again."""
    queue = open_page(reopened, "disagreements").dataframe[0].value
    assert list(queue) == ["query", "grades", "document", "apart", "impact", "since", "marks", "category"]
    everything = open_page(reopened, "disagreements", show="all").dataframe[0].value
    assert list(everything)[5:7] == ["status", "since"]
    assert set(everything["status"]) == {"open"}


def test_the_case_says_what_was_settled_and_marks_the_experts_judgment(reopened: JudgedWorld) -> None:
    app = open_page(reopened, "disagreements", pair=SAME)
    assert app.info[0].value.startswith("Reopened by quality control: it was settled at 3 · ")
    shown = words(app)
    assert shown.count(">quality control<") == 1
    assert "別の &lt;b&gt;条文" in shown
    assert "専門家" not in shown
    assert "Decide anew" in headings(app)


def test_a_decision_takes_it_off_the_queue(reopened: JudgedWorld) -> None:
    app = open_page(reopened, "disagreements", pair=SAME)
    app.radio(key=f"grade {SAME}").set_value(0)
    app.text_area(key=f"rationale {SAME}").set_value("第17条ではない")
    app.button[0].click()
    run(app)
    found = find_disagreements(reopened.database, find(reopened, "lead"), "d", now=NOW)
    assert {item.doc_id: item.status for item in found}["같은"] == "decided"
    assert not any(item.reopened for item in found)


def test_help_says_what_it_means(reopened: JudgedWorld) -> None:
    told = " ".join(item.value for item in open_page(reopened, "help").markdown)
    assert "**reopened**: the third expert of quality control contradicts its settled grade" in told
