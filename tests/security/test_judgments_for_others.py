"""A file that a lead imports speaks for nobody who can sign in: it neither replaces nor adds their answers."""

import json
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlmodel import col

from annotator.domain.errors import BadInput, NotAllowed
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.judgments import judgments_service
from annotator.importing.judgments.judgments_service import import_judgments, import_qrels
from annotator.labeling.service import list_judgments
from annotator.people.credentials import AccountRefused, NewAccount
from annotator.people.invitations_service import create_invited_account, invite, make_password_link
from annotator.storage.database import Database
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.sign_in import ProviderIdentityRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW.replace(day=20)


class World(JudgedWorld):
    """hanako judges in the browser, minjun has an account only, and taro can no longer sign in or never could."""

    def __init__(self, database: Database, folder: Path) -> None:
        super().__init__(database)
        self.folder = folder
        self.lea = self.person("lea", "lead")
        self.query("Q1", "x")
        for doc_id in ("d1", "d2"):
            self.pair("Q1", doc_id)
        self.hanako, self.minjun, taro = (self.person(name) for name in ("hanako", "minjun", "taro"))
        self.let_sign_in(self.hanako)
        self.let_sign_in(self.minjun)
        for person in (self.hanako, taro):
            self.judge(person, "Q1", "d1", 2)

    def let_sign_in(self, person: Actor) -> None:
        with self.database.write() as session:
            session.execute(
                update(PersonRow).where(col(PersonRow.pk) == person.person_id).values(password_hash="x")
            )

    def load(self, actor: Actor, *lines: str, dry_run: bool = False) -> int:
        """Import the lines; return how many are new."""
        path = self.folder / "judgments.csv"
        path.write_text("\n".join(("query_id,doc_id,annotator,grade", *lines)), "utf-8")
        report = import_judgments(self.database, actor, "d", path, now=LATER, dry_run=dry_run)
        return report.added + report.changed

    def list_grades(self) -> dict[tuple[str, str], int | None]:
        judgments = list_judgments(self.database, OPERATOR, "d")
        return {(judgment.annotator, judgment.doc_id): judgment.grade for judgment in judgments}


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    return copy_world(World)


def test_a_leads_file_takes_few_usernames_of_the_installation(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgments_service, "MOST_NEWCOMERS", 2)
    with pytest.raises(BadInput, match="expected at most 2 new annotators in a file, found 3"):
        world.load(world.lea, "Q1,d1,x,1", "Q1,d1,y,1", "Q1,d1,z,1")
    assert world.load(world.lea, "Q1,d1,x,1", "Q1,d1,y,1") == 2
    assert world.load(OPERATOR, "Q1,d1,u,1", "Q1,d1,v,1", "Q1,d1,w,1") == 3


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_lead_cannot_answer_for_somebody_who_can_sign_in(world: World, dry_run: bool) -> None:
    before = world.list_grades()
    world.let_sign_in(world.lea)
    lines = ("Q1,d1,taro,1", "Q1,d1,hanako,0", "Q1,d2,Minjun,3", "Q1,d2,lea,3")
    with pytest.raises(BadInput) as refused:
        world.load(world.lea, *lines, dry_run=dry_run)
    expected = "an annotator who cannot sign in"
    found = [(problem.line, problem.expected, problem.found) for problem in refused.value.problems]
    assert found == [(3, expected, "'hanako'"), (4, expected, "'minjun'"), (5, expected, "'lea'")]
    assert "Only the operator can import them" in refused.value.hint
    assert world.list_grades() == before


def test_a_lead_imports_what_others_judged_elsewhere(world: World) -> None:
    assert world.load(world.lea, "Q1,d1,taro,1", "Q1,d2,newcomer,3") == 2
    assert world.list_grades() == {
        ("hanako", "d1"): 2,
        ("taro", "d1"): 1,
        ("newcomer", "d2"): 3,
    }


def test_nobody_who_joins_takes_the_name_of_an_imported_annotator(world: World) -> None:
    world.load(world.lea, "Q1,d2,newcomer,3")
    invitation = invite(world.database, world.lea, role="annotator", dataset="d", now=LATER)
    account = NewAccount(name="N", username="Newcomer", password="correct horse 電池")
    with pytest.raises(AccountRefused):
        create_invited_account(world.database, invitation.token, account, address="192.0.2.1", now=LATER)
    with pytest.raises(NotAllowed):
        make_password_link(world.database, world.lea, "newcomer", now=LATER)


def test_the_operator_imports_any_line_and_a_lead_the_same_file_again(world: World) -> None:
    lines = ("Q1,d1,hanako,0", "Q1,d2,hanako,3")
    assert world.load(OPERATOR, *lines) == 2
    assert world.list_grades()["hanako", "d1"] == 0
    assert world.load(world.lea, *lines) == 0
    with pytest.raises(BadInput):
        world.load(world.lea, *lines, "Q1,d2,hanako,1")


def test_an_account_of_the_provider_of_single_sign_on_counts_too(world: World) -> None:
    jiwoo = world.person("jiwoo")
    with world.database.write() as session:
        values = {"person_pk": jiwoo.person_id, "issuer": "https://i", "subject": "s", "created_at": NOW}
        session.add(ProviderIdentityRow.model_validate(values))
    with pytest.raises(BadInput, match="jiwoo"):
        world.load(world.lea, "Q1,d2,jiwoo,3")


def test_the_annotators_of_an_earlier_ground_truth_do_not_speak_for_them_either(world: World) -> None:
    path = world.folder / "truth.jsonl"
    line = {"query_id": "Q1", "doc_id": "d1", "grade": 1, "annotator_1": 0}
    declared = {"annotators": {"annotator_1": "hanako"}}
    path.write_text(json.dumps(line), "utf-8")
    with pytest.raises(BadInput, match="hanako"):
        import_qrels(world.database, world.lea, "d", path, now=LATER, as_judgments=True, declared=declared)
    import_qrels(world.database, OPERATOR, "d", path, now=LATER, as_judgments=True, declared=declared)
    assert world.list_grades()["hanako", "d1"] == 0
