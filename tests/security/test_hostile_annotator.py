"""A signed-in annotator with a script: keys that follow from public names, `have`, many tabs, late presses, search.

Over HTTP, on both databases. A key that was not handed out is answered like one that does not exist, and a check looks like any pair.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import func, select, update
from sqlmodel import col
from starlette.testclient import TestClient
from streamlit.runtime import Runtime

from annotator.adjudication.discussion.discussion_service import list_own_decisions
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.domain.errors import NotAllowed
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling import next_pairs, submission
from annotator.labeling.assignment import QuerySelection
from annotator.labeling.assignment_service import assign, free_pairs, show_assignment
from annotator.labeling.calibration_service import compute_results
from annotator.labeling.checks import CheckRates
from annotator.labeling.my_work_service import list_own_work
from annotator.labeling.service import list_judgments, read_whole_text
from annotator.people.service import add_person
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.judgments.outdated import mark_outdated
from annotator.storage.lookup import find_dataset, find_person, find_rubric, key_of
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.adjudication import DisagreementRow
from annotator.storage.tables.central import MembershipRow, PairRow, QueryRow, RubricRow
from annotator.storage.tables.labeling import CheckRow, LeaseRow
from annotator.web.app import make_app
from annotator.web.labeling import api
from tests.integration.labeling_world import World
from tests.integration.quality_world import QualityWorld

PASSWORD = "correct horse 電池 staple"
KEYS = [pair_key("d", f"Q{query}", f"문서/{query}-{index}") for query in range(3) for index in range(4)]
"""What anybody can compute who knows the names of queries and documents."""
UNKNOWN = "0" * 24


@dataclass
class Attack:
    """The dataset of `World`, with the browsers of its people."""

    world: World
    app: Any

    def __post_init__(self) -> None:
        self.browsers: dict[str, TestClient] = {}

    def open(self, username: str) -> TestClient:
        if username not in self.browsers:
            browser = TestClient(self.app, follow_redirects=False, headers={"Referer": "http://testserver/"})
            answer = browser.post("/login", data={"username": username, "password": PASSWORD})
            assert answer.status_code == 303
            self.browsers[username] = browser
        return self.browsers[username]

    def post(self, username: str, *events: dict[str, Any], **parameters: Any) -> dict[str, Any]:
        body = {"dataset": "d", "events": list(events), "have": [], "want": 0, **parameters}
        answer = self.open(username).post("/api/judgments", json=body)
        assert answer.status_code == 200, answer.text
        response: dict[str, Any] = answer.json()
        return response

    def press(self, username: str, *keys: str, grade: int | None = 2) -> dict[str, Any]:
        return self.post(username, *(event(key, grade) for key in keys))

    def list_handed(self, username: str, want: int = 50, **parameters: Any) -> list[str]:
        return [pair["pair"] for pair in self.post(username, want=want, **parameters)["pairs"]]

    def search(self, username: str, query_id: str, text: str) -> dict[str, dict[str, Any]]:
        """What the search answers about the documents of this query, by document."""
        parameters = {"dataset": "d", "q": text, "query": query_id}
        for _ in range(200):
            answer = self.open(username).get("/api/search", params=parameters).json()
            if answer["preparing"] is None:
                return {
                    found["doc_id"]: found
                    for found in answer["documents"]
                    if found["doc_id"].startswith(f"문서/{query_id[1:]}-")
                }
            time.sleep(0.05)
        raise AssertionError("the search is never ready")

    def get_actor(self, username: str) -> Actor:
        with self.world.database.read() as session:
            return Actor(key_of(find_person(session, username).pk), username)

    def expire(self) -> None:
        """Let every lease run out."""
        with self.world.database.write() as session:
            session.execute(update(LeaseRow).values(expires_at=datetime.now(UTC) - timedelta(minutes=1)))

    def mark(self, key: str, kind: str) -> None:
        with self.world.database.write() as session:
            pair_pk = key_of(session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == key)))
            session.add(CheckRow(pair_pk=pair_pk, kind=kind, grade=1, marked_at=self.world.now))
            derive_work(session, key_of(find_dataset(session, "d").pk), [pair_pk])

    def count(self, table: Any) -> int:
        with self.world.database.read() as session:
            return session.scalar(select(func.count()).select_from(table)) or 0

    def list_purposes(self) -> list[tuple[str, str]]:
        made = list_judgments(self.world.database, OPERATOR, "d", history=True)
        return [(judgment.annotator, judgment.purpose) for judgment in made]


def event(pair: str, grade: int | None = 2) -> dict[str, Any]:
    outcome = "later" if grade is None else "graded"
    pressed_at = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    return {"id": str(uuid4()), "pair": pair, "outcome": outcome, "grade": grade, "pressed_at": pressed_at}


@pytest.fixture
def attack(database: Database) -> Iterator[Attack]:
    world = World(database)
    for name in ("mallory", "bob", "cho"):
        add_person(database, OPERATOR, name, role="annotator", dataset="d", password=PASSWORD, now=world.now)
    Runtime._instance = None  # Streamlit allows one runtime a process
    app = make_app(database, Settings())
    with TestClient(app):
        yield Attack(world, app)
    Runtime._instance = None


def test_showing_computed_keys_leases_nothing(attack: Attack) -> None:
    for tab in ("a", "b", "c", "d"):
        assert attack.post("mallory", have=KEYS, tab=tab)["judged"] == []
    assert attack.count(LeaseRow) == 0
    assert sorted(attack.list_handed("bob")) == sorted(KEYS)


def test_many_tabs_hold_only_so_many_pairs_and_get_these_again(
    attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(next_pairs, "MOST_HELD", 5)
    first = attack.list_handed("mallory", 4, tab="a")
    handed = [attack.list_handed("mallory", 50, tab=tab) for tab in "bcdef"]
    assert [len(keys) for keys in handed] == [1, 5, 5, 5, 5], (
        "after a crash nobody waits for the end of a lease"
    )
    assert attack.count(LeaseRow) == 5 and set(handed[-1]) == {*first, *handed[0]}
    attack.expire()
    assert len(attack.list_handed("mallory", 50, tab="z", have=first)) == 1
    assert attack.press("mallory", first[0])["refused"] == []
    assert len(attack.list_handed("mallory", 50, tab="z", have=first[1:])) == 1


def test_a_lead_sees_and_frees_what_somebody_holds(attack: Attack) -> None:
    held = attack.list_handed("mallory", 12)
    attack.world.person("lea", "lead")
    now = datetime.now(UTC)
    with attack.world.database.read() as session:
        lea = key_of(find_person(session, "lea").pk)
    lead = Actor(lea, "lea")
    (row,) = (
        person
        for person in show_assignment(attack.world.database, lead, "d", now=now).people
        if person.username == "mallory"
    )
    assert row.holds == 12 and row.reserved_seconds is not None and 3_500 < row.reserved_seconds <= 3_600
    assert free_pairs(attack.world.database, lead, "d", "mallory", now=now) == 12
    assert attack.press("mallory", held[0])["refused"] == [], "what is on the screen is not lost"
    with attack.world.database.read() as session:
        mallory = Actor(key_of(find_person(session, "mallory").pk), "mallory")
    with pytest.raises(NotAllowed):
        free_pairs(attack.world.database, mallory, "d", "bob", now=now)


def test_what_a_lead_freed_is_not_taken_back_by_showing_it(attack: Attack) -> None:
    lead, now = attack.world.person("lea", "lead"), datetime.now(UTC)
    held = attack.list_handed("mallory", 12)
    assert attack.post("mallory", have=held)["judged"] == []
    assert free_pairs(attack.world.database, lead, "d", "mallory", now=now) == 12
    attack.post("mallory", have=held)
    assert show_holds(attack, lead, "mallory") == 0
    assert set(attack.list_handed("bob")) == set(attack.list_handed("cho")) == set(KEYS)
    attack.expire()
    attack.post("cho", have=KEYS)
    assert show_holds(attack, lead, "cho") == 12, "what merely ran out goes on"
    change = assign(attack.world.database, OPERATOR, "d", ["bob"], QuerySelection(("Q1",)), now=now)
    assert change.leases == 4, "also where the new owner holds pairs"
    attack.post("cho", have=KEYS)
    assert show_holds(attack, lead, "cho") == 8


def show_holds(attack: Attack, lead: Actor, username: str) -> int:
    people = show_assignment(attack.world.database, lead, "d", now=datetime.now(UTC)).people
    return next(person.holds for person in people if person.username == username)


def test_a_key_that_was_not_handed_out_is_like_one_that_does_not_exist(attack: Attack) -> None:
    (bobs,) = attack.list_handed("bob", 1)
    attack.press("bob", bobs)
    browser = attack.open("mallory")
    for address in ("/api/text", "/api/rendering", "/api/pair", "/api/changes"):
        computed, unknown = (
            browser.get(address, params={"dataset": "d", "pair": key}) for key in (bobs, UNKNOWN)
        )
        assert computed.status_code in (404, 409), address
        assert (computed.status_code, computed.text) == (unknown.status_code, unknown.text), address
    lead = attack.world.person("lea", "lead")
    assert read_whole_text(attack.world.database, lead, "d", bobs), (
        "a decision is made in front of the document"
    )
    question = {"dataset": "d", "text": "어느?", "id": str(uuid4())}
    asked = [browser.post("/api/questions", json={**question, "pair": key}) for key in (bobs, UNKNOWN)]
    assert asked[0].status_code == 403 and asked[0].text == asked[1].text
    refused = [attack.press("mallory", key)["refused"][0] for key in (bobs, KEYS[-1], UNKNOWN)]
    assert {(refusal["code"], refusal["why"]) for refusal in refused} == {
        ("not_in_pool", "this pair was not given to you, or it is not in the dataset's pool")
    }
    assert attack.list_purposes() == [("bob", "independent")]


def test_nothing_is_stored_before_training_is_passed(attack: Attack) -> None:
    handed = attack.list_handed("mallory", 3)  # before there was a training
    rest = next(key for key in KEYS if key not in handed)
    attack.mark(rest, "training")
    refused = attack.press("mallory", *KEYS)["refused"]
    assert {refusal["code"] for refusal in refused} == {"not_in_pool", "not_yours"}
    assert attack.list_purposes() == []
    assert attack.list_handed("mallory", 50, have=handed) == [rest]
    assert attack.press("mallory", rest, grade=1)["refused"] == []
    assert attack.press("mallory", *handed)["refused"] == []


def test_pairs_outside_the_categories_and_those_given_to_others_are_refused(attack: Attack) -> None:
    with attack.world.database.write() as session:
        session.execute(update(QueryRow).where(col(QueryRow.query_id) == "Q1").values(category="law"))
    handed = attack.list_handed("mallory", 12)
    with attack.world.database.write() as session:
        own = col(MembershipRow.person_pk) == find_person(session, "mallory").pk
        session.execute(update(MembershipRow).where(own).values(categories=["law"]))
    first = attack.press("mallory", *handed)
    assert len(first["acknowledged"]) == 4
    assert {refusal["code"] for refusal in first["refused"]} == {"not_yours"}
    assign(attack.world.database, OPERATOR, "d", ["bob"], QuerySelection(("Q1",)), now=datetime.now(UTC))
    answered = [judgment.pair_key for judgment in list_judgments(attack.world.database, OPERATOR, "d")]
    assert attack.press("mallory", *answered, grade=1)["refused"] == [], "one's own answer can be changed"
    assert attack.list_handed("cho", 50) and not set(attack.list_handed("cho", 50)) & set(answered)
    held_by_cho = attack.list_handed("cho", 50, tab="t")
    assign(attack.world.database, OPERATOR, "d", ["bob"], QuerySelection(("Q0", "Q2")), now=datetime.now(UTC))
    assert {refusal["code"] for refusal in attack.press("cho", *held_by_cho)["refused"]} == {"not_yours"}


def test_a_late_press_on_a_finished_pair_is_kept_and_makes_no_disagreement(attack: Attack) -> None:
    pairs = attack.list_handed("mallory", 3)
    attack.expire()
    for other in ("bob", "cho"):
        assert set(pairs) <= set(attack.list_handed(other))
        attack.press(other, *pairs, grade=0)
    response = attack.press("mallory", *pairs, grade=3)
    assert (len(response["acknowledged"]), response["refused"], response["surplus"]) == (3, [], [])
    assert {purpose for who, purpose in attack.list_purposes() if who == "mallory"} == {"conditional"}
    assert attack.count(DisagreementRow) == 0
    with attack.world.database.read() as session:
        rows = session.execute(
            select(col(PairRow.judged), col(PairRow.lacking)).where(col(PairRow.key).in_(pairs))
        )
        assert {tuple(row) for row in rows} == {(2, 0)}


def test_search_and_proposals_do_not_tell_checks_from_open_and_finished_pairs(attack: Attack) -> None:
    gold, finished, handed, answered = KEYS[:4]
    attack.list_handed("bob"), attack.list_handed("cho")
    attack.press("bob", finished), attack.press("cho", finished)
    attack.expire()
    attack.mark(gold, "gold")
    found = attack.search("mallory", "Q0", "문서/0")
    assert {(item["state"], item["pair"]) for item in found.values()} == {("in pool", None)}
    assert len(found) == 4
    proposed = [
        attack.open("mallory").post(
            "/api/proposals",
            json={
                "dataset": "d",
                "query_id": "Q0",
                "doc_id": doc_id,
                "id": str(uuid4()),
                "grade": 1,
                "note": "",
            },
        )
        for doc_id in sorted(found)
    ]
    assert {(answer.status_code, answer.text) for answer in proposed} == {(409, proposed[0].text)}
    hand_out_by_hand(attack, "mallory", [gold, handed, answered])
    attack.press("mallory", gold, answered)
    found = attack.search("mallory", "Q0", "문서/0")
    assert [(item["state"], item["pair"]) for _, item in sorted(found.items())] == [
        ("judged by you", gold),
        ("in pool", None),
        ("in pool", handed),
        ("judged by you", answered),
    ]


def test_what_the_browser_has_stays_alike_for_checks_and_pairs_that_others_finished(attack: Attack) -> None:
    gold, ordinary = KEYS[:2]
    attack.mark(gold, "gold")
    hand_out_by_hand(attack, "mallory", [gold, ordinary])
    attack.list_handed("bob"), attack.list_handed("cho")
    attack.press("bob", ordinary), attack.press("cho", ordinary)
    for _ in range(2):
        assert attack.post("mallory", have=[gold, ordinary])["judged"] == []
        attack.expire()
    response = attack.press("mallory", gold, ordinary)
    assert (len(response["acknowledged"]), response["surplus"]) == (2, [])
    assert attack.post("mallory", have=[gold, ordinary])["judged"] == [gold, ordinary]


def test_an_answered_check_looks_like_any_answered_pair(attack: Attack) -> None:
    gold, ordinary = KEYS[:2]
    attack.mark(gold, "gold")
    hand_out_by_hand(attack, "mallory", [gold, ordinary])
    attack.press("mallory", gold, ordinary)
    browser = attack.open("mallory")

    def ask(address: str, key: str) -> Any:
        answer = browser.get(address, params={"dataset": "d", "pair": key})
        assert answer.status_code == 200
        return answer.json()

    assert ask("/api/changes", gold) == ask("/api/changes", ordinary)
    assert ask("/api/pair", gold)["answer"] == ask("/api/pair", ordinary)["answer"]
    whole = attack.post("mallory", want=200, whole=True)["pairs"]
    shown = {pair["pair"]: pair["answer"] for pair in whole}
    assert shown[gold] == shown[ordinary] is not None, "both are in the list of the query"
    before = attack.post("mallory")["progress"]["answered"]
    attack.press("mallory", gold, grade=None)
    after_gold = attack.post("mallory")["progress"]["answered"]
    attack.press("mallory", ordinary, grade=None)
    assert (before, after_gold, attack.post("mallory")["progress"]["answered"]) == (2, 1, 0)
    assert attack.post("mallory", have=[gold, ordinary])["judged"] == [], "put off, both wait again"
    states = {item["pair"]: item["state"] for item in attack.search("mallory", "Q0", "문서/0").values()}
    assert states[gold] == states[ordinary] == "in pool"


GOLD = KEYS[1::4]


@pytest.fixture
def with_gold(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> Attack:
    """A gold pair is due at every second place."""
    for key in GOLD:
        attack.mark(key, "gold")
    with attack.world.database.write() as session:
        find_dataset(session, "d").gold_rate = 0.5
    monkeypatch.setattr(
        CheckRates, "choose_due", lambda _rates, _seed, _name, position: None if position % 2 else "gold"
    )
    return attack


def test_a_list_of_a_query_has_the_gold_pairs_that_another_tab_holds_and_new_ones(with_gold: Attack) -> None:
    attack = with_gold
    single = attack.post("mallory", want=50, tab="p")["pairs"]
    gold = {pair["pair"] for pair in single} & set(GOLD)
    assert gold
    for key in gold:
        (query_id,) = {pair["query"]["query_id"] for pair in single if pair["pair"] == key}
        answered = next(
            pair["pair"]
            for pair in single
            if pair["query"]["query_id"] == query_id and pair["pair"] not in GOLD
        )
        attack.press("mallory", answered)
        whole = attack.list_handed("mallory", 200, tab="w", whole=True)
        assert set(whole) == {pair["pair"] for pair in single if pair["query"]["query_id"] == query_id}
        assert attack.list_handed("mallory", 200, tab="w", whole=True) == whole
    listed = {key for _ in range(3) for key in list_and_answer(attack, "bob")}
    assert listed & set(GOLD), "a list alone has gold pairs too"


def list_and_answer(attack: Attack, username: str) -> list[str]:
    listed = attack.list_handed(username, 200, whole=True)
    attack.press(username, *listed)
    return listed


def test_gold_pairs_put_off_lie_among_the_others_put_off(with_gold: Attack) -> None:
    attack = with_gold
    first = attack.list_handed("mallory", 50)
    assert GOLD[0] in first
    attack.press("mallory", *first, grade=None)
    again = attack.list_handed("mallory", 50)
    assert set(again) == set(first), "all come again"
    of_query = [key for key in again if key in KEYS[:4]]
    positions = [again.index(key) for key in of_query]
    assert max(positions) - min(positions) == len(of_query) - 1, "with the others of its query"
    progress = attack.post("mallory")["progress"]
    assert progress["total"] - progress["done"] == len(first), "what waits is left, whatever it is"


def publish(attack: Attack) -> None:
    """Publish a guideline by which grades mean something else."""
    with attack.world.database.write() as session:
        row = find_rubric(session, key_of(find_dataset(session, "d").pk))
        values = {"version": row.version + 1, "change": "semantic", "why": "x"}
        session.add(RubricRow.model_validate({**row.model_dump(exclude={"pk"}), **values}))
        mark_outdated(session, row.dataset_pk)


def test_outdated_answers_come_in_the_order_in_which_they_were_given_whether_checks_or_not(
    with_gold: Attack,
) -> None:
    attack = with_gold
    handed = attack.list_handed("mallory", 50)
    given = sorted(
        handed, key=lambda key: (handed.index(key) % 3, key)
    )  # in turns from all parts of the work
    assert set(given) & set(GOLD)
    for key in given:
        attack.press("mallory", key, grade=1)
    publish(attack)
    assert attack.list_handed("mallory", 50) == given
    for n, key in enumerate(given):
        assert attack.list_handed("mallory", 2) == given[n : n + 2], "also where only some are asked for"
        attack.press("mallory", key, grade=2)


def test_answers_on_gold_pairs_are_asked_for_again_like_any_other_and_the_first_counts(
    with_gold: Attack,
) -> None:
    attack = with_gold
    first = attack.list_handed("mallory", 50)
    gold = set(first) & set(GOLD)
    attack.press("mallory", *first, grade=1)
    assert attack.list_handed("mallory", 50) == []
    for _round in range(2):
        publish(attack)
        again = attack.post("mallory", want=50)["pairs"]
        assert {pair["pair"] for pair in again} == set(first)
        assert {str(pair["outdated"]) for pair in again} == {str(again[0]["outdated"])}
        assert again[0]["outdated"] and all(pair["answer"]["grade"] for pair in again)
        assert attack.post("mallory", have=first)["judged"] == []
        whole = attack.post("mallory", want=50, whole=True)["pairs"]
        assert all(pair["outdated"] for pair in whole)
        explained = {
            attack.open("mallory").get("/api/changes", params={"dataset": "d", "pair": key}).text
            for key in first
        }
        assert len(explained) == 1
        attack.press("mallory", *first[:-1], grade=3)
        assert set(attack.post("mallory", have=first)["judged"]) == set(first[:-1])
        attack.press("mallory", first[-1], grade=3)
        assert attack.list_handed("mallory", 50) == []
    lead = attack.world.person("lea", "lead")
    (result,) = (
        person
        for person in compute_results(attack.world.database, lead, "d", now=datetime.now(UTC))
        if person.annotator == "mallory"
    )
    assert (result.gold.answered, result.gold.exact) == (len(gold), 1.0), "the answers before the change"


def test_an_old_guideline_version_tells_no_check_and_no_browser_goes_back_to_one(with_gold: Attack) -> None:
    attack = with_gold
    first = attack.list_handed("mallory", 50)
    publish(attack)
    old = [{**event(key), "guideline_version": 1} for key in first]
    assert len(attack.post("mallory", *old)["acknowledged"]) == len(first), "nothing is lost"
    assert set(attack.list_handed("mallory", 50)) == set(first)
    for number, version in ((1, 1), (2, 2), (3, 1)):
        press = {"browser": "b", "browser_number": number, "guideline_version": version}
        attack.post("mallory", {**event(first[number]), **press})
    stored = {
        judgment.pair_key: judgment.guideline_version
        for judgment in list_judgments(attack.world.database, OPERATOR, "d", history=True)
    }
    assert [stored[first[number]] for number in (1, 2, 3)] == [1, 2, 2]


def hand_out_by_hand(attack: Attack, username: str, keys: list[str]) -> None:
    """Lease exactly these pairs, as the program does when their turn comes."""
    until = datetime.now(UTC) + timedelta(minutes=30)
    with attack.world.database.write() as session:
        person_pk = key_of(find_person(session, username).pk)
        for pair_pk in session.scalars(select(col(PairRow.pk)).where(col(PairRow.key).in_(keys))):
            session.add(LeaseRow(pair_pk=key_of(pair_pk), annotator_pk=person_pk, expires_at=until))


def list_work(attack: Attack, username: str) -> dict[str, tuple[str, int | None]]:
    """What the page My work shows of each pair."""
    page = list_own_work(attack.world.database, attack.get_actor(username), "d", size=100)
    return {judgment.pair: (judgment.outcome, judgment.grade) for judgment in page.judgments}


def test_which_answer_holds_does_not_tell_a_gold_pair(attack: Attack) -> None:
    """Old times and presses that arrive late are told apart for all pairs by one rule."""
    gold, ordinary = KEYS[:2]
    attack.mark(gold, "gold")
    hand_out_by_hand(attack, "mallory", [gold, ordinary])
    presses: list[tuple[int | None, dict[str, Any]]] = [
        (3, {"browser": "b", "browser_number": 9}),
        (0, {"browser": "c", "browser_number": 1, "pressed_at": "1970-01-01T00:00:00Z"}),
        (None, {"browser": "b", "browser_number": 10}),
        (1, {"browser": "b", "browser_number": 4}),
    ]
    for grade, changes in presses:
        done = [attack.post("mallory", event(key, grade) | changes)["progress"] for key in (gold, ordinary)]
        shown = list_work(attack, "mallory")
        assert shown[gold] == shown[ordinary], changes
    assert shown[gold] == ("later", None), "the last press came late"
    assert done[1]["answered"] == 0, "neither pair has an answer"
    assert attack.post("mallory", have=[gold, ordinary])["judged"] == []


def test_a_gold_pair_that_waits_hides_the_decisions_of_its_query_like_any_other(attack: Attack) -> None:
    decided, gold, *others = KEYS[:4]
    lead, now = attack.world.person("lea", "lead"), datetime.now(UTC)
    attack.mark(gold, "gold")
    hand_out_by_hand(attack, "mallory", KEYS[:4]), hand_out_by_hand(attack, "bob", [decided])
    attack.press("mallory", decided, *others, grade=0), attack.press("bob", decided, grade=3)
    seen = show_disagreement(attack.world.database, lead, "d", decided, now=now).seen
    adjudicate(attack.world.database, lead, "d", decided, grade=2, rationale="x", seen=seen, now=now)

    def count_decisions() -> int:
        actor = attack.get_actor("mallory")
        return list_own_decisions(attack.world.database, actor, "d", limit=0, now=datetime.now(UTC)).total

    attack.expire()
    assert count_decisions() == 0, "handed out and not answered, though its lease has ended"
    attack.press("mallory", gold)
    assert count_decisions() == 1
    for key in (gold, *others):
        attack.press("mallory", key, grade=None)
        assert count_decisions() == 0, "put off"
        attack.press("mallory", key)
        assert count_decisions() == 1


def test_a_query_with_a_gold_pair_that_waits_is_handed_out_once(attack: Attack) -> None:
    attack.mark(KEYS[1], "gold")
    hand_out_by_hand(attack, "mallory", KEYS[:5])
    attack.press("mallory", KEYS[4])
    pairs = attack.post("mallory", want=50)["pairs"]
    assert sorted(pair["pair"] for pair in pairs) == sorted({*KEYS} - {KEYS[4]})
    assert {pair["position"][1] for pair in pairs} == {4}


def test_an_answered_gold_pair_in_a_browser_counts_once_in_the_numbers_of_documents(attack: Attack) -> None:
    keys = KEYS[:4]
    attack.mark(keys[0], "gold")
    hand_out_by_hand(attack, "mallory", keys)
    attack.press("mallory", *keys[:2])
    publish(attack)
    for answered in keys[:2]:
        (pair, *_) = [
            pair
            for pair in attack.post("mallory", have=[answered], want=50)["pairs"]
            if pair["pair"] in keys[2:]
        ]
        assert pair["position"] == [3, 4]


def test_a_gold_pair_put_off_in_another_tab_comes_last_like_any_other(attack: Attack) -> None:
    gold, ordinary, open_pair = KEYS[0], KEYS[1], KEYS[4]
    attack.mark(gold, "gold")
    hand_out_by_hand(attack, "mallory", KEYS)
    rest = [key for key in KEYS if key not in (gold, ordinary, open_pair)]
    attack.press("mallory", *rest), attack.press("mallory", gold, ordinary, grade=None)
    assert set(attack.list_handed("mallory", 50, tab="a")) == {gold, ordinary, open_pair}
    again = attack.list_handed("mallory", 50, tab="b")
    assert again[0] == open_pair and set(again[1:]) == {gold, ordinary}


def test_a_pair_of_quality_control_put_off_again_leaves_the_total_like_any_other(database: Database) -> None:
    world = QualityWorld(database, settled=False)
    checked, ordinary, *_ = world.keys.values()
    world.settle([world.pks[checked]])
    world.draw(rate=1.0)
    world.send(world.cho, want=50)
    totals = []
    for key in (checked, ordinary):
        world.send(world.cho, world.event(key))
        before = world.send(world.cho)
        after = world.send(world.cho, world.event(key, None, outcome="later"))
        totals.append((after.total - before.total, after.added))
    assert totals[0] == totals[1]


def test_an_old_time_does_not_make_a_second_try_in_training_the_first(attack: Attack) -> None:
    attack.mark(KEYS[0], "training")
    for grade, pressed_at in ((3, "2026-03-05T00:00:00Z"), (1, "1970-01-01T00:00:00Z")):
        assert KEYS[0] in attack.list_handed("mallory")
        attack.post(
            "mallory",
            event(KEYS[0], grade) | {"pressed_at": pressed_at, "browser": str(grade), "browser_number": 1},
        )
    (result,) = (
        person
        for person in compute_results(attack.world.database, OPERATOR, "d", now=datetime.now(UTC))
        if person.annotator == "mallory"
    )
    assert result.training is not None
    assert (result.training.first, result.training.latest, result.training.passed) == (0.0, 1.0, True)


def test_nobody_makes_others_wait_by_changing_one_judgment_without_end(
    attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each press is compared with what is stored of its pair, in the turn for which others wait."""
    monkeypatch.setattr(submission, "MOST_ANSWERS", 3)
    gold, ordinary = KEYS[:2]
    attack.mark(gold, "gold")
    hand_out_by_hand(attack, "mallory", [gold, ordinary])
    for key in (gold, ordinary):
        response = attack.press("mallory", key, key, grade=1)
        assert len(response["acknowledged"]) == 2
        last, more = event(key, 3), event(key, 0)
        for _ in range(2):
            response = attack.post("mallory", last, more)
            assert response["acknowledged"] == [last["id"]], "what is stored is acknowledged again"
            assert [refusal["code"] for refusal in response["refused"]] == ["too_many"]
    assert list_work(attack, "mallory") == dict.fromkeys([gold, ordinary], ("graded", 3))


def test_how_long_the_server_takes_for_what_can_be_repeated_tells_no_check(
    attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def note(began: float) -> None:
        waits.append(began)

    monkeypatch.setattr(api, "wait_for_step", note)
    gold, ordinary = KEYS[:2]
    attack.mark(gold, "gold")
    hand_out_by_hand(attack, "mallory", KEYS[:4])
    for key, other in ((gold, KEYS[2]), (ordinary, KEYS[3])):
        first = event(key)
        requests: list[tuple[dict[str, Any], bool]] = [
            ({"have": [key]}, True),
            ({"events": [first]}, False),
            ({"events": [first]}, True),
            ({"events": [event(key, 3)]}, True),
            ({"events": [event(key, 3), event(other)]}, True),
            ({"events": [event(key, None)], "have": [key]}, True),
            ({"want": 5}, False),
        ]
        for sent, is_repeatable in requests:
            before = len(waits)
            attack.post("mallory", **sent)
            assert len(waits) - before == is_repeatable, sent


def test_many_browsers_under_an_old_guideline_are_not_compared_with_each_other(attack: Attack) -> None:
    publish(attack)
    hand_out_by_hand(attack, "mallory", KEYS)
    presses = [
        event(key) | {"guideline_version": version, "browser": key, "browser_number": number}
        for key in KEYS
        for number, version in enumerate((1, 2, 1))
    ]
    assert len(attack.post("mallory", *presses)["acknowledged"]) == len(presses)
    stored = list_judgments(attack.world.database, OPERATOR, "d", history=True)
    by_pair = [[item.guideline_version for item in stored if item.pair_key == key] for key in KEYS]
    assert by_pair == [[1, 2, 2]] * len(KEYS)
