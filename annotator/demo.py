"""The demo dataset: built through the same services as anybody's data, with two annotators and a lead.

Stands beside the web application, above the stages. Building again changes nothing but the passwords of its own
three people, who get new ones every time: whoever starts the demo again has forgotten the old ones. Refuses to
touch somebody of the same username who has a role anywhere else.
"""

import secrets
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from annotator.accounts.service import add_person, change_person, list_people
from annotator.datasets.service import create_dataset, list_datasets, read_rubric, show_dataset
from annotator.domain.errors import ConflictError
from annotator.domain.people import OPERATOR
from annotator.importing.service import import_documents, import_judgments, import_queries, import_run
from annotator.pooling.service import pool_runs
from annotator.storage.database import Database

DATASET = "demo"
TITLE = "Demo: frameworks, land planning, surveys"
SYSTEMS = ("bm25", "vector")
DEPTH = 5
DEPTH_WITH_JUDGMENTS = 10
PEOPLE = (("demo-hana", "Hana", "annotator"), ("demo-jun", "Jun", "annotator"), ("demo-sora", "Sora", "lead"))
FOLDER = Path(__file__).parent / "demo_data"
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True, slots=True)
class SignIn:
    """How one of the demo's people signs in until the demo is started again."""

    username: str
    name: str
    role: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Demo:
    """What is there after building. `simulated`: how many judgments this call added."""

    dataset: str
    made: bool
    pairs: int
    simulated: int
    sign_ins: tuple[SignIn, ...]


def build_demo(
    database: Database, *, now: datetime, with_judgments: bool = False, folder: Path = FOLDER
) -> Demo:
    """Build the demo dataset where it is absent or half built, and give its people new passwords.

    `with_judgments` adds the judgments of two simulated annotators, who are marked as such, on what is pooled to
    depth 5; and pools to depth 10, so that there is something left to label.
    """
    made = _build_dataset(database, now, folder)
    simulated = 0
    if with_judgments:
        path = folder / "simulated-judgments.csv"
        simulated = import_judgments(database, OPERATOR, DATASET, path, now=now, simulated=True).added
        pool_runs(database, OPERATOR, DATASET, depth=DEPTH_WITH_JUDGMENTS, systems=SYSTEMS, now=now)
    sign_ins = _let_sign_in(database, now)
    _, counts = show_dataset(database, OPERATOR, DATASET)
    return Demo(DATASET, made, counts.pairs, simulated, sign_ins)


def _build_dataset(database: Database, now: datetime, folder: Path) -> bool:
    """Whether anything was missing. A dataset with pairs is complete: they are made last."""
    if all(dataset.name != DATASET for dataset in list_datasets(database, OPERATOR)):
        path = folder / "rubric.yaml"
        rubric = read_rubric(path.read_bytes(), str(path))
        create_dataset(database, OPERATOR, DATASET, now=now, title=TITLE, rubric=rubric)
    elif show_dataset(database, OPERATOR, DATASET)[1].pairs:
        return False
    import_queries(database, OPERATOR, DATASET, folder / "queries.yaml", now=now)
    import_documents(database, OPERATOR, DATASET, folder / "documents.jsonl", now=now)
    for system in SYSTEMS:
        import_run(database, OPERATOR, DATASET, folder / f"run-{system}.txt", system=system, now=now)
    pool_runs(database, OPERATOR, DATASET, depth=DEPTH, systems=SYSTEMS, now=now)
    return True


def _let_sign_in(database: Database, now: datetime) -> tuple[SignIn, ...]:
    known = {person.username: person for person in list_people(database, OPERATOR)}
    for username, _, _ in PEOPLE:
        if username in known and any(item.dataset != DATASET for item in known[username].memberships):
            raise ConflictError(
                f"{username} has a role elsewhere than on the dataset {DATASET!r}, so the demo gives them no new "
                "password. Use another --database"
            )
    sign_ins = []
    for username, name, role in PEOPLE:
        password = _make_password()
        if username in known:
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
    """Twelve letters and digits that are not mistaken for each other, about 59 bits."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(4)) for _ in range(3))
