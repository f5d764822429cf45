"""Build the demo dataset through the same services as real data, with two annotators and a lead.

Building again completes what is missing and changes only the passwords of its three people, which are new every time, since
whoever starts the demo again has forgotten them. Refuses to change a person of the same username with a role elsewhere.
"""

import csv
import hashlib
import secrets
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from annotator.dataset.rubric_file import read_rubric
from annotator.dataset.service import change_settings, create_dataset, list_datasets, show_dataset
from annotator.domain.errors import ConflictError
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.importing.runs.runs_service import import_run
from annotator.importing.texts.texts_service import import_documents, import_pairs, import_queries
from annotator.labeling.calibration_service import hand_out_check, import_checks, list_checks
from annotator.labeling.questions_service import answer_question, ask_question, list_questions
from annotator.labeling.service import list_judgments, submit_judgments
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person, list_people
from annotator.pooling.proposals.proposals_service import propose
from annotator.pooling.rounds.pool_records import PoolRequest
from annotator.pooling.rounds.rounds_service import make_round
from annotator.pooling.service import list_pairs
from annotator.storage.database import Database

DATASET = "demo"
TITLE = "Demo: frameworks, land planning, surveys"
POOLED_SYSTEMS = ("bm25", "vector")
RUNS = {"bm25": "run-bm25.txt", "vector": "run-vector.txt", "rerank": "run-rerank.jsonl"}
"""File by system. The last one came after the pool was made, so that its unjudged results have to be sent to annotators."""
DEPTH = 5
DEPTH_WITH_JUDGMENTS = 10
PEOPLE = (("demo-hana", "Hana", "annotator"), ("demo-jun", "Jun", "annotator"), ("demo-sora", "Sora", "lead"))
CHECKS = {"training_score": "0.75", "gold_rate": "0.1", "repeat_rate": "0.05", "repeat_after": "20"}
FOLDER = Path(__file__).parent / "demo_data"
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
SECRET = "demo"  # of its draws, so that every demo hands out the same


@dataclass(frozen=True, slots=True)
class SimulatedQuestion:
    """A question that a simulated annotator asks about a pair, and the answer of the demo's lead."""

    annotator: str
    query_id: str
    doc_id: str
    text: str
    answer: str | None = None


QUESTIONS = (
    SimulatedQuestion(
        "simulated_2",
        "D06",
        "법률_제62조",
        "‘5년의 범위’라고 적혀 있으면 지정기간의 답으로 보아도 됩니까?",
        "아닙니다. 제62조의 5년은 허가받은 사람의 이용의무기간이고, 질의는 지정기간의 상한을 묻습니다. 같은 숫자라도 다른 기간이면 답이 아닙니다.",
    ),
    SimulatedQuestion(
        "simulated_2",
        "D02",
        "guide/libraries/validation.md#built-in",
        "The table names @SystemChar but does not show how to restrict it to katakana. Is naming the way enough for a 2?",
    ),
)
MISSED = (
    "D01",
    "release-notes/6.1.md",
    1,
    "LegacySessionHandler を外さないと起動しないという注意だけで、順序は分からない。",
)


@dataclass(frozen=True, slots=True)
class SignIn:
    """The name and password of one of the demo's people, valid until the demo is started again."""

    username: str
    name: str
    role: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo dataset after building. `simulated`: how many judgments this call imported."""

    dataset: str
    made: bool
    pairs: int
    simulated: int
    sign_ins: tuple[SignIn, ...]


def build_demo(
    database: Database, *, now: datetime, with_judgments: bool = False, folder: Path = FOLDER
) -> Demo:
    """Build the demo dataset if it is absent or half built, and give its people new passwords.

    Marks training and gold pairs if none is marked. `with_judgments` adds the work of two annotators, who are
    marked as simulated: judgments on the pairs pooled to depth 5, answers on the marked pairs, two questions and a
    proposal. It then pools to depth 10, to leave pairs to label.
    """
    made = _build_dataset(database, now, folder)
    _mark_checks(database, now, folder)
    sign_ins = _let_sign_in(database, now)
    simulated = 0
    if with_judgments:
        path = folder / "simulated-judgments.csv"
        simulated = import_judgments(database, OPERATOR, DATASET, path, now=now, simulated=True).added
        request = PoolRequest(depth=DEPTH_WITH_JUDGMENTS, systems=POOLED_SYSTEMS)
        make_round(database, OPERATOR, DATASET, request, now=now)
        _answer_checks(database, now, folder / "simulated-answers.csv")
        _ask_and_propose(database, now)
    _, counts = show_dataset(database, OPERATOR, DATASET)
    return Demo(DATASET, made, counts.pairs, simulated, sign_ins)


def _build_dataset(database: Database, now: datetime, folder: Path) -> bool:
    """Return whether anything was missing. A dataset with pairs is complete: they are made last."""
    if all(dataset.name != DATASET for dataset in list_datasets(database, OPERATOR)):
        path = folder / "rubric.yaml"
        rubric = read_rubric(path.read_bytes(), str(path))
        create_dataset(database, OPERATOR, DATASET, now=now, title=TITLE, rubric=rubric, secret=SECRET)
    elif show_dataset(database, OPERATOR, DATASET)[1].pairs:
        return False
    import_queries(database, OPERATOR, DATASET, folder / "queries.yaml", now=now)
    import_documents(database, OPERATOR, DATASET, folder / "documents.jsonl", now=now)
    for system, name in RUNS.items():
        import_run(database, OPERATOR, DATASET, folder / name, system=system, now=now)
    request = PoolRequest(depth=DEPTH, systems=POOLED_SYSTEMS)
    make_round(database, OPERATOR, DATASET, request, now=now)
    return True


def _mark_checks(database: Database, now: datetime, folder: Path) -> None:
    """Mark the training and gold pairs and set the rates, the marks last: with any mark there is nothing to do."""
    if list_checks(database, OPERATOR, DATASET, now=now):
        return
    import_pairs(database, OPERATOR, DATASET, folder / "chosen-pairs.csv", now=now)
    dataset, _ = show_dataset(database, OPERATOR, DATASET)
    if not dataset.gold_rate:
        change_settings(database, OPERATOR, DATASET, CHECKS, now=now)
    path = folder / "checks.csv"
    import_checks(database, OPERATOR, DATASET, path.read_bytes(), str(path), now=now)


def _answer_checks(database: Database, now: datetime, path: Path) -> None:
    """Submit the simulated annotators' answers on training and gold pairs, without those that are stored already."""
    marked = {
        (check.query_id, check.doc_id): check.pair
        for check in list_checks(database, OPERATOR, DATASET, now=now)
    }
    given = {
        (check.annotator, check.query_id, check.doc_id)
        for check in list_judgments(database, OPERATOR, DATASET, history=True)
    }
    with path.open(encoding="utf-8", newline="") as opened:
        for line in csv.DictReader(opened):
            pair = marked.get((line["query_id"], line["doc_id"]))
            name = (line["annotator"], line["query_id"], line["doc_id"])
            if pair is None or name in given:
                continue
            event = {
                "id": _draw_id(*name),
                "pair": pair,
                "outcome": "graded",
                "grade": int(line["grade"]),
                "pressed_at": now.isoformat(),
            }
            actor = _find(database, line["annotator"])
            hand_out_check(database, actor, DATASET, pair, now=now)
            submit_judgments(database, actor, DATASET, events=[event], have=[], want=0, now=now)


def _ask_and_propose(database: Database, now: datetime) -> None:
    """Store the simulated annotators' questions, the lead's answers, and a document that the pool has missed."""
    pairs = {(pair.query_id, pair.doc_id): pair.pair for pair in list_pairs(database, OPERATOR, DATASET)}
    lead = _find(database, next(username for username, _, role in PEOPLE if role == "lead"))
    for pair in QUESTIONS:
        number = ask_question(
            database,
            _find(database, pair.annotator),
            DATASET,
            pair=pairs[pair.query_id, pair.doc_id],
            text=pair.text,
            event_id=_draw_id(pair.text),
            now=now,
        )
        present = {item.number: item.answer for item in list_questions(database, OPERATOR, DATASET)}
        if pair.answer is not None and present[number] is None:
            answer_question(
                database, lead, DATASET, number, pair.answer, seen=None, in_guideline=True, now=now
            )
    query_id, doc_id, grade, note = MISSED
    if (query_id, doc_id) not in pairs:
        event = {"id": _draw_id(query_id, doc_id), "grade": grade, "note": note}
        proposer = _find(database, "simulated_1")
        propose(database, proposer, DATASET, query_id=query_id, doc_id=doc_id, event=event, now=now)


def _find(database: Database, username: str) -> Actor:
    with database.read() as session:
        return find_actor(session, username)


def _draw_id(*parts: str) -> str:
    """Return an id of version 4, the same for the same words, so that every demo has the same bytes."""
    digest = hashlib.sha256("\n".join((SECRET, *parts)).encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _let_sign_in(database: Database, now: datetime) -> tuple[SignIn, ...]:
    people = {person.username: person for person in list_people(database, OPERATOR)}
    for username, _, _ in PEOPLE:
        if username in people and any(item.dataset != DATASET for item in people[username].memberships):
            raise ConflictError(
                f"{username} has a role elsewhere than on the dataset {DATASET!r}, so the demo gives them no new "
                "password. Use another --database"
            )
    sign_ins = []
    for username, name, role in PEOPLE:
        password = _make_password()
        if username in people:
            change_person(database, OPERATOR, username, password=password, enable=True, now=now)
        else:
            add_person(
                database,
                OPERATOR,
                username,
                name=name,
                role=role,
                dataset=DATASET,
                password=password,
                now=now,
            )
        sign_ins.append(SignIn(username, name, role, password))
    return tuple(sign_ins)


def _make_password() -> str:
    """Return twelve letters and digits that are not mistaken for each other, about 59 bits."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(4)) for _ in range(3))
