"""A role on one dataset opens nothing of another one: every route, asked with the other dataset's names and ids.

What belongs to the other dataset (`bbb`) must be answered exactly as what exists nowhere (`ccc`): status, headers and
body. A new route fails here until REQUESTS or WITHOUT_DATASET lists it. Also: the fields that annotators get.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from sqlalchemy import select
from sqlmodel import SQLModel, col
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotator.adjudication.discussion.discussion_service import count_news, list_own_decisions
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_service import list_queue
from annotator.dataset.service import change_settings
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.runs.runs_service import import_run
from annotator.labeling.assignment_service import show_assignment
from annotator.labeling.calibration_service import compute_results, list_checks, set_check, show_own_checks
from annotator.labeling.my_work_service import list_own_work, show_pace
from annotator.labeling.questions_service import ask_question, count_new_answers, list_own_questions
from annotator.labeling.service import SubmitResponse, compute_progress, list_work_progress, submit_judgments
from annotator.overview.service import give_up_blind_pairs, show_overview, show_status
from annotator.overview.waiting_service import count_waiting_work
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person
from annotator.quality.service import draw_sample, show_quality
from annotator.releases.gates_service import check_release
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.lookup import find_pair_pk, find_person
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.central import DatasetRow
from annotator.storage.tables.labeling import RepeatRow
from annotator.web.app import list_own_routes
from annotator.web.importing.file_jobs import FILE_JOBS
from annotator.web.importing.file_tasks import PROBLEM_FILE
from annotator.web.server.gate import RequestGate
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.browser.conftest import PASSWORD
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.labeling_world import hand_out
from tests.unit.web.served_release import publish

OWN, OTHER, NOWHERE = "aaa", "bbb", "ccc"
VERSIONS = {OWN: "1.0.0", OTHER: "2.0.0", NOWHERE: "9.0.0"}
QUESTIONS = {OWN: "1", OTHER: "2", NOWHERE: "9"}
EVENT = "00000000-0000-4000-8000-00000000000a"
WITHOUT_DATASET = {
    "/healthz",
    "/readyz",
    "/login",
    "/logout",
    "/login.css",
    "/favicon.png",
    "/login/code",
    "/login/set-up",
    "/setup",
    "/one-time-link.js",
    "/open-again.js",
    "/join",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its fields with {names}, and the person and status that show that it reaches the own dataset."""

    fields: Mapping[str, Any]
    person: str = "lea"
    status: int = 200


ANSWER = {
    "id": EVENT,
    "pair": "{pair}",
    "outcome": "graded",
    "grade": 2,
    "pressed_at": NOW.isoformat(),
    "seconds": 2.0,
}
REQUESTS: dict[str, Asked] = {
    "/": Asked({}, "ann", 303),
    "/api/judgments": Asked(
        {"events": [ANSWER], "have": ["{open_pair}"], "want": 9, "tab": "t", "whole": True}, "ann"
    ),
    "/api/text": Asked({"pair": "{pair}"}, "ann"),
    "/api/rendering": Asked({"pair": "{pair}"}, "ann"),
    "/api/rendering?": Asked({"doc_id": "{doc}"}, "ann"),
    "/api/pair": Asked({"pair": "{pair}"}, "ann"),
    "/api/news": Asked({}, "ann"),
    "/api/changes": Asked({"pair": "{pair}"}, "ann"),
    "/api/standard": Asked({"since": "1"}, "ann"),
    "/api/search": Asked({"q": "{dataset_word}", "query": "{query}"}, "ann"),
    "/api/document": Asked({"doc_id": "{doc}"}, "ann"),
    "/api/proposals": Asked({"query_id": "{query}", "doc_id": "{doc}", "id": EVENT, "grade": 1}, "ann", 409),
    "/api/questions": Asked({"pair": "{pair}", "text": "質問", "id": EVENT}, "ann"),
    "/api/cases": Asked(
        {"pair": "{pair}", "query": "{query}", "annotators": "{person}", "assigned": "{person}", "have": "{open_pair}"}
    ),
    "/api/cases/origin": Asked({"pair": "{pair}"}),
    "/api/cases/trail": Asked({"pair": "{pair}"}),
    "/api/cases/leads": Asked({}),
    "/api/cases/later": Asked({"pair": "{pair}"}),
    "/api/cases/assign": Asked({"pair": "{pair}", "to": "{lead}"}),
    "/api/cases/let-go": Asked({"pairs": ["{pair}", "{open_pair}"], "tab": "t"}),
    "/api/cases/discuss": Asked({"pair": "{pair}"}),
    "/api/cases/answer": Asked({"question": "{question}", "answer": "はい"}),
    "/api/decisions": Asked(
        {"pair": "{pair}", "decided": 2, "rationale": "第17条", "seen": "x", "have": ["{open_pair}"]}, status=409
    ),
    "/api/agreement/figures": Asked({"table": "confusion", "first": "{person}", "second": "{person2}"}),
    "/api/agreement/since": Asked({"version": "1"}, status=404),
    "/api/agreement/pairs": Asked({"pairs": "shared", "who": "{person}", "of": "category", "is": "{dataset_word}"}),
    "/api/agreement/left-out": Asked({"kind": "revised"}),
    "/api/evaluation/figures": Asked({"table": "scores", "version": "{version}", "systems": "{system}"}),
    "/api/evaluation/scores": Asked({"version": "{version}", "systems": "{system}"}),
    "/api/evaluation/report": Asked({"version": "{version}", "baseline": "{system}"}),
    "/api/pool/left-out": Asked({}),
    "/api/import": Asked({"purpose": "import", "file": "problems"}),
    "/api/quality": Asked({"table": "draws"}),
    "/api/queue": Asked({"query": "{query}", "annotators": "{person}", "assigned": "{lead}", "category": "{dataset_word}"}),
    "/api/trail": Asked({"pair": "{pair}", "person": "{person}"}),
    "/api/release": Asked({"version": "{version}", "file": "qrels.trec.txt"}),
    "/api/dataset": Asked({}),
    "/api/audit": Asked({"about": "{dataset_word}", "person": "{person}"}, status=403),
}  # fmt: skip


def name_all(dataset: str) -> dict[str, str]:
    """Return everything of a dataset that a request can name. The names of two datasets are equally long."""
    return {
        "dataset": dataset,
        "dataset_word": dataset,
        "query": f"{dataset}-Q1",
        "doc": f"{dataset}/1",
        "pair": pair_key(dataset, f"{dataset}-Q1", f"{dataset}/1"),
        "open_pair": pair_key(dataset, f"{dataset}-Q1", f"{dataset}/3"),
        "person": f"{dataset}-1",
        "person2": f"{dataset}-2",
        "lead": f"{dataset}-lead",
        "system": f"{dataset}-sys",
        "version": VERSIONS[dataset],
        "question": QUESTIONS[dataset],
    }


PEOPLE = {
    "ann": ("annotator", None),
    "lea": ("lead", None),
    "both": ("annotator", "annotator"),
    "mix": ("lead", "annotator"),
}
"""By username: the role on the own dataset, and the role on the other one."""


@dataclass
class TwoDatasets:
    """`aaa` and `bbb`, built alike: three pairs, judgments, a disagreement, a question, a run, a release, uploaded files."""

    database: Database
    folder: Path
    clients: ExitStack = field(default_factory=ExitStack)
    """Each keeps its event loop until the end of the test: a new one for every request took a third of the time."""

    def fill(self, dataset: str, judged: int) -> None:
        names, world = name_all(dataset), JudgedWorld(self.database, name=dataset, overlap="3")
        world.judged = judged
        change_settings(self.database, OPERATOR, dataset, {"shown_metadata": "author"}, now=NOW)
        first, second = world.person(names["person"]), world.person(names["person2"])
        lead = world.person(names["lead"], "lead")
        world.query(
            names["query"],
            f"{dataset} 検索",
            category=dataset,
            narrative=f"{dataset} 物語",
            extra={"rank": 7},
        )
        for number in (1, 2, 3):
            extra = {"author": f"{dataset} 著者", "score": 0.5, "relation": "위임관계"}
            text = f"{dataset} 本文 {number}"
            world.pair(
                names["query"], f"{dataset}/{number}", rank=1, title=f"{dataset} 題", text=text, **extra
            )
        for annotator, grade in ((first, 0), (second, 3)):
            world.judge(annotator, names["query"], f"{dataset}/1", grade, note=f"{dataset} メモ")
            world.judge(annotator, names["query"], f"{dataset}/2", 2)
        ask_question(
            self.database,
            first,
            dataset,
            pair=names["pair"],
            text="質問",
            event_id=EVENT.replace("a", str(judged)[0]),
            now=NOW,
        )
        run = self.folder / f"{dataset}.txt"
        run.write_text(f"{names['query']} Q0 {dataset}/1 1 9.5 {names['system']}\n", encoding="utf-8")
        import_run(self.database, OPERATOR, dataset, run, now=NOW)
        publish(world, names["version"], self.folder / "exports")
        self.upload(lead.person_id, dataset)

    def add_people(self) -> None:
        for username, (role, other_role) in PEOPLE.items():
            add_person(self.database, OPERATOR, username, role=role, dataset=OWN, password=PASSWORD, now=NOW)
            if other_role:
                change_person(self.database, OPERATOR, username, role=other_role, dataset=OTHER, now=NOW)

    def hand_out(self) -> None:
        """Let everybody have got the pairs that the requests name."""
        names = name_all(OWN)
        for username in PEOPLE:
            with self.database.read() as session:
                actor = find_actor(session, username)
            hand_out(self.database, actor, [names["pair"], names["open_pair"]], now=NOW)
            if PEOPLE[username][0] == "lead":
                give_up_blind_pairs(self.database, actor, OWN, now=NOW)  # so that systems can be scored

    def upload(self, person_id: int | None, dataset: str) -> None:
        """Leave the list of problems of an import."""
        job = FILE_JOBS.open(person_id, "", dataset, "import")
        job.out.mkdir(exist_ok=True)
        (job.out / PROBLEM_FILE).write_text(f"{dataset} 問題\n", encoding="utf-8")

    def visit(self, username: str) -> "Visitor":
        """Sign in."""
        settings = Settings(exports_dir=self.folder / "exports")
        routes = list_own_routes(self.database, settings)
        gate = Middleware(RequestGate, database=self.database, settings=settings)
        door = Starlette(routes=routes, middleware=[gate], exception_handlers=EXCEPTION_HANDLERS)
        client = self.clients.enter_context(TestClient(door, follow_redirects=False))
        answer = client.post("/login", data={"username": username, "password": PASSWORD})
        assert answer.status_code == 303
        methods = {route.path: "GET" if "GET" in (route.methods or ()) else "POST" for route in routes}
        return Visitor(client, methods)

    def find_person_id(self, username: str) -> int | None:
        with self.database.read() as session:
            return find_person(session, username).pk

    def list_rows_of_other(self) -> dict[str, list[str]]:
        """Return the rows of every table that belong to the other dataset or to somebody who only works there."""
        with self.database.read() as session:
            tables = SQLModel.metadata.sorted_tables
            rows = {table.name: session.execute(table.select()).mappings().all() for table in tables}
        (dataset_pk,) = [row["pk"] for row in rows["dataset"] if row["name"] == OTHER]
        belongs = {"dataset_pk": {dataset_pk}}
        for table, column in (
            ("query", "query_pk"),
            ("document", "document_pk"),
            ("pair", "pair_pk"),
            ("release", "release_pk"),
            ("run", "run_pk"),
        ):
            belongs[column] = {row["pk"] for row in rows[table] if row["dataset_pk"] == dataset_pk}
        people = {row["pk"] for row in rows["person"] if row["username"].startswith(OTHER)}
        belongs |= dict.fromkeys(("person_pk", "annotator_pk", "lead_pk", "to_pk"), people)
        return {
            name: sorted(
                repr(row) for row in listed if any(row.get(key) in pks for key, pks in belongs.items())
            )
            for name, listed in rows.items()
        }


@dataclass
class Visitor:
    """A browser of somebody who is signed in."""

    client: TestClient
    methods: Mapping[str, str]

    def ask(self, key: str, names: Mapping[str, str], *, head: bool = False) -> Response:
        """Send the request of REQUESTS with these names."""
        path = key.rstrip("?")
        values = write_names({"dataset": "{dataset}", **REQUESTS[key].fields}, names)
        if "question" in values:
            values["question"] = int(values["question"])
        headers = {"origin": "http://testserver"}
        if self.methods[path] == "POST":
            return self.client.post(path, json=values, headers=headers)
        return self.client.request("HEAD" if head else "GET", path, params=values, headers=headers)


def write_names(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda match: names[match[1]], value)
    if isinstance(value, dict):
        return {key: write_names(item, names) for key, item in value.items()}
    return [write_names(item, names) for item in value] if isinstance(value, list) else value


def list_mixes(
    key: str, *, with_dataset: bool, every_mix: bool
) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Yield the names of a request that mixes own ones with the other dataset's, and the same with ones from nowhere.

    `every_mix`: otherwise one name, or all of them, are of the other dataset.
    """
    used = sorted(set(re.findall(r"\{(\w+)\}", repr(REQUESTS[key].fields))))
    sizes = range(1, len(used) + 1) if every_mix else sorted({1, len(used)} - {0})
    mixes = [set(mix) for size in sizes for mix in combinations(used, size)]
    if with_dataset:
        mixes += [{"dataset"}, {"dataset", *used}]
    own, other, nowhere = map(name_all, (OWN, OTHER, NOWHERE))
    for mix in mixes:
        yield own | {name: other[name] for name in mix}, own | {name: nowhere[name] for name in mix}


def describe(answer: Response) -> tuple[int, dict[str, str], bytes]:
    """Return everything that the answer tells, with the other dataset's names replaced by ones from nowhere."""
    body, headers = answer.content, dict(answer.headers)
    other, nowhere = name_all(OTHER), name_all(NOWHERE)
    for name in ("pair", "open_pair", "version", "dataset"):
        body = body.replace(other[name].encode(), nowhere[name].encode())
        headers = {key: value.replace(other[name], nowhere[name]) for key, value in headers.items()}
    return answer.status_code, {key: headers[key] for key in headers if key != "x-request-id"}, body


@pytest.fixture(scope="module")
def make_world(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Database], TwoDatasets]:
    """The files of both releases are the same for every copy: no test here changes them."""

    def make(database: Database) -> TwoDatasets:
        made = TwoDatasets(database, tmp_path_factory.mktemp("releases"))
        made.fill(OWN, 0)
        made.fill(OTHER, 100)
        made.add_people()
        made.hand_out()
        return made

    return make


@pytest.fixture
def world(copy_world: CopyWorld, make_world: Callable[[Database], TwoDatasets]) -> Iterator[TwoDatasets]:
    made = copy_world(make_world)
    made.upload(made.find_person_id("lea"), OWN)
    with made.clients:
        yield made
    FILE_JOBS.discard_all()


def test_every_route_is_asked_for_other_datasets_or_takes_none(database: Database) -> None:
    paths = {route.path for route in list_own_routes(database, Settings())}
    assert paths == WITHOUT_DATASET | {key.rstrip("?") for key in REQUESTS}


@pytest.mark.parametrize("username", ["ann", "lea", "mix", pytest.param("both", marks=pytest.mark.long)])
def test_what_belongs_to_another_dataset_is_answered_as_what_exists_nowhere(
    world: TwoDatasets, username: str, is_long_run: bool
) -> None:
    visitor = world.visit(username)
    _wait_for_search(visitor)
    before, differ = world.list_rows_of_other(), []
    for key in REQUESTS:
        with_dataset = PEOPLE[username][1] is None
        for other, nowhere in list_mixes(key, with_dataset=with_dataset, every_mix=is_long_run):
            for head in (False, True) if visitor.methods[key.rstrip("?")] == "GET" else (False,):
                visitor.ask(key, nowhere, head=head)  # so that both are asked after the same requests
                answers = [describe(visitor.ask(key, names, head=head)) for names in (other, nowhere)]
                if answers[0] != answers[1]:
                    differ.append((key, other, *answers))
    assert not differ
    assert world.list_rows_of_other() == before


@pytest.mark.parametrize("username", ["both", "mix"])
def test_a_lead_s_routes_are_closed_in_a_dataset_that_the_person_annotates(
    world: TwoDatasets, username: str
) -> None:
    visitor, before = world.visit(username), world.list_rows_of_other()
    for key, asked in REQUESTS.items():
        if asked.person == "lea":
            answer = visitor.ask(key, name_all(OTHER))
            assert answer.status_code == 403, (key, answer.text)
            assert f"{OTHER} " not in answer.text, key
    assert world.list_rows_of_other() == before


def test_the_same_requests_reach_the_own_dataset(world: TwoDatasets) -> None:
    """Otherwise the test of the other dataset would say nothing."""
    own = name_all(OWN)
    person = world.visit("ann")
    _wait_for_search(person)
    for key, asked in REQUESTS.items():
        answer = world.visit(asked.person).ask(key, own)
        assert answer.status_code == asked.status, (key, answer.text)


def _wait_for_search(visitor: Visitor) -> None:
    for _ in range(600):
        if visitor.ask("/api/search", name_all(OWN)).json()["preparing"] is None:
            return
        time.sleep(0.05)
    pytest.fail("the search is not ready")


def test_problems_of_an_import_are_for_the_person_who_uploaded_the_file(world: TwoDatasets) -> None:
    assert world.visit("lea").ask("/api/import", name_all(OWN)).text == "aaa 問題\n"
    assert world.visit("mix").ask("/api/import", name_all(OWN)).status_code == 404


def _list_keys(value: Any, at: str = "") -> set[str]:
    """Return the path of every field, without the numbers of list items."""
    if isinstance(value, list) and value:
        return set().union(*(_list_keys(item, at) for item in value))
    if not isinstance(value, dict):
        return {at}
    return set().union(
        {at} if not value else set(), *(_list_keys(item, f"{at}.{key}") for key, item in value.items())
    )


PAIR_FIELDS = {
    ".pair",
    ".query.query_id",
    ".query.text",
    ".query.narrative",
    ".query.language",
    ".document.doc_id",
    ".document.title",
    ".document.url",
    ".document.media_type",
    ".document.text",
    ".document.length",
    ".document.sha256",
    ".document.metadata.author",
    ".guideline_version",
    ".training",
    ".outdated",
    ".position",
}
ANSWER_FIELDS = {".answer.outcome", ".answer.grade", ".answer.note", ".answer.reason"}
EXCHANGE_FIELDS = {
    ".acknowledged",
    ".refused",
    ".judged",
    ".progress.done",
    ".progress.total",
    ".progress.added",
    ".progress.answered",
    ".feedback",
    ".surplus",
    ".training",
}
FIELDS = {
    "/api/judgments": EXCHANGE_FIELDS
    | {f".pairs{field}" for field in {*PAIR_FIELDS, *ANSWER_FIELDS, ".answer"}},
    "/api/pair": PAIR_FIELDS | ANSWER_FIELDS,
    "/api/search": {".preparing", ".most_characters"}
    | {f".documents.{name}" for name in ("doc_id", "title", "snippet", "pair", "state")},
    "/api/document": {
        f".{name}"
        for name in ("doc_id", "title", "url", "media_type", "text", "length", "sha256", "guideline_version")
    },
    "/api/rendering": {".html", ".kind", ".blocked", ".cut"},
    "/api/news": {".news"},
    "/api/changes": {".standard", ".text"},
    "/api/questions": {".ok"},
}


def test_an_annotator_gets_these_fields_and_no_others(world: TwoDatasets) -> None:
    """No rank, score, system, relation, grade of others, or column of a document or query that leads do not show."""
    person, own = world.visit("ann"), name_all(OWN)
    _wait_for_search(person)
    for key, fields in FIELDS.items():
        answer = person.ask(key, own)
        assert _list_keys(answer.json()) == fields, key
        assert answer.headers["cache-control"] == "no-store", key
        assert not {"etag", "last-modified"} & set(answer.headers), key
        for hidden in ("위임관계", "bm25", "aaa メモ", own["system"], own["person"]):
            assert hidden not in json.dumps(answer.json(), ensure_ascii=False), (key, hidden)
    assert person.ask("/api/text", own).text == "aaa 本文 1"


def test_what_leads_are_sent_is_kept_by_no_cache(world: TwoDatasets) -> None:
    lead = world.visit("lea")
    for key, asked in REQUESTS.items():
        if asked.person == "lea":
            assert lead.ask(key, name_all(OWN)).headers["cache-control"] == "no-store", key


PAGES: dict[str, Callable[[Database, Actor], object]] = {
    "my work": lambda d, a: (show_pace(d, a, OWN, now=NOW), list_own_work(d, a, OWN)),
    "own checks": lambda d, a: show_own_checks(d, a, OWN, now=NOW),
    "own questions": lambda d, a: (list_own_questions(d, a, OWN, now=NOW), count_new_answers(d, a, OWN)),
    "own decisions": lambda d, a: (count_news(d, a, OWN, now=NOW), list_own_decisions(d, a, OWN, now=NOW)),
    "sidebar": lambda d, a: count_waiting_work(d, a, OWN, "annotator", now=NOW),
    "overview": lambda d, a: (show_overview(d, a, OWN), show_status(d, a, OWN, now=NOW)),
    "progress": lambda d, a: (compute_progress(d, a, OWN), list_work_progress(d, a, OWN, now=NOW)),
    "assignment": lambda d, a: show_assignment(d, a, OWN, now=NOW),
    "calibration": lambda d, a: (list_checks(d, a, OWN, now=NOW), compute_results(d, a, OWN, now=NOW)),
    "disagreements": lambda d, a: list_queue(d, a, OWN, QueueFilter(), now=NOW),
    "quality": lambda d, a: show_quality(d, a, OWN, now=NOW),
    "releases": lambda d, a: check_release(d, a, OWN),
}
"""What each page reads of the own dataset."""
LOGGED = {"/api/cases/trail", "/api/dataset"}
"""Each answer holds that it was asked for before."""
FOR_ANNOTATORS = ("my work", "own checks", "own questions", "own decisions", "sidebar")


def work_in_the_other_dataset(world: TwoDatasets, actor: Actor) -> None:
    """Hold pairs in two tabs, answer one, put one off, ask, answer a gold pair, get a repeat, and be drawn for quality control."""
    names, database = name_all(OTHER), world.database

    def send(*events: dict[str, Any], want: int = 0, tab: str) -> SubmitResponse:
        return submit_judgments(
            database, actor, OTHER, events=list(events), have=[], want=want, tab=tab, now=NOW
        )

    def event(number: int, pair: str, **fields: Any) -> dict[str, Any]:
        key = f"{actor.person_id:08x}-0000-4000-8000-{number:012x}"
        return {**ANSWER, "id": key, "pair": pair, **fields}

    first, second = (send(want=1, tab=tab).pairs[0].pair for tab in ("first", "second"))
    send(event(1, first), tab="first")
    send(event(2, second, outcome="later", grade=None), tab="second")
    ask_question(database, actor, OTHER, pair=first, text="質問", event_id=event(3, first)["id"], now=NOW)
    gold = next(pair for pair in (names["pair"], names["open_pair"]) if pair != first)
    set_check(database, OPERATOR, OTHER, gold, kind="gold", grade=1, explanation="", now=NOW)
    send(want=5, tab="first")
    with database.write() as session:
        (dataset_pk,) = session.scalars(select(col(DatasetRow.pk)).where(col(DatasetRow.name) == OTHER))
        pair_pk = find_pair_pk(session, dataset_pk or 0, first)
        session.add(
            RepeatRow(
                key=f"{actor.person_id:024x}", pair_pk=pair_pk, annotator_pk=actor.person_id, handed_at=NOW
            )
        )
    draw_sample(database, OPERATOR, OTHER, annotator=actor.username, rate=1.0, now=NOW)
    assert send(want=5, tab="third").total > 0
    assert list_work_progress(database, OPERATOR, OTHER, now=NOW)[actor.username].done


@pytest.mark.parametrize("username", ["both", "mix"])
def test_what_a_person_does_in_another_dataset_changes_nothing_in_this_one(
    world: TwoDatasets, username: str
) -> None:
    """Every route, and what every page reads, before and after."""
    visitor, own = world.visit(username), name_all(OWN)
    _wait_for_search(visitor)
    with world.database.read() as session:
        actor = find_actor(session, username)

    def look() -> dict[str, object]:
        routes: dict[str, object] = {
            key: describe(visitor.ask(key, own)) for key in REQUESTS if key not in LOGGED
        }
        pages = PAGES if username == "mix" else FOR_ANNOTATORS
        return routes | {page: PAGES[page](world.database, actor) for page in pages}

    look()  # which stores an answer, and marks what is new as seen
    before = look()
    work_in_the_other_dataset(world, actor)
    after = look()
    assert [key for key in before if before[key] != after[key]] == []
    assert not [key for key, shown in after.items() if OTHER in repr(shown)]
