"""List the pages and their roles. To add a page, add a line to PAGES and a file with `draw(context)`.

A page's file is imported when it is first drawn. `draw(context: PageContext) -> None` is called on every run,
if the person's role on the chosen dataset includes `least`. Hiding a page is only convenience: services check
access.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from annotator.dataset.service import list_datasets
from annotator.domain.messages import Message, say
from annotator.domain.people import Role, SignedIn, includes
from annotator.storage.database import Database


@dataclass(frozen=True, slots=True)
class AppPage:
    """A page of the web app, at `/address`."""

    address: str
    title: Message
    file: str  # below annotator/web
    least: Role | None  # needed on the chosen dataset; None: everybody signed in
    symbol: str  # of Material Symbols
    group: str | None = None  # of the sidebar: a key of GROUPS, or END; MENU: in the account menu instead
    everywhere: bool = False  # the role is needed on every dataset
    shows_grades_to: Role | None = None  # from this role on, opening it records which grades were seen

    @property
    def module(self) -> str:
        return f"annotator.web.{self.file}"

    @property
    def icon(self) -> str:
        return f":material/{self.symbol}:"

    @property
    def shows_figures(self) -> bool:
        """Return whether a lead who opens the page can no longer change answers on pairs judged by others.

        Not the overview, the first page after sign-in: its figures leave these pairs out.
        """
        return self.least == self.shows_grades_to == "lead"

    def is_open_to(self, role: str | None) -> bool:
        """Return whether this role opens the page. Some pages need the role on every dataset."""
        return self.least is None or (role is not None and includes(role, self.least))


WORK, RESULTS, SETUP, END, MENU = "work", "results", "setup", "end", "menu"
GROUPS: dict[str, Message] = {WORK: say("Work"), RESULTS: say("Results"), SETUP: say("Set-up")}

PAGES: tuple[AppPage, ...] = (
    # The first page open to a person is where they land after signing in.
    AppPage("overview", say("Overview"), "overview.page", "lead", "dashboard"),
    AppPage("label", say("Label"), "labeling.label_page", "annotator", "edit_note", WORK),
    AppPage(
        "work",
        say("My work"),
        "labeling.work_page",
        "annotator",
        "checklist",
        WORK,
        shows_grades_to="annotator",
    ),
    AppPage("questions", say("Questions"), "labeling.questions_page", "annotator", "help_center", WORK),
    AppPage(
        "agreement", say("Agreement"), "agreement.page", "lead", "join_inner", RESULTS, shows_grades_to="lead"
    ),
    AppPage(
        "disagreements",
        say("Disagreements"),
        "adjudication.queue_page",
        "lead",
        "balance",
        RESULTS,
        shows_grades_to="lead",
    ),
    AppPage(
        "quality", say("Quality control"), "quality.page", "lead", "verified", RESULTS, shows_grades_to="lead"
    ),
    AppPage(
        "evaluation",
        say("Evaluation"),
        "evaluation.page",
        "lead",
        "leaderboard",
        RESULTS,
        shows_grades_to="lead",
    ),
    AppPage("releases", say("Releases"), "releases.page", "lead", "publish", RESULTS, shows_grades_to="lead"),
    AppPage("import", say("Queries and documents"), "importing.page", "lead", "upload_file", SETUP),
    AppPage("pool", say("Pool"), "pooling.page", "lead", "inventory_2", SETUP, shows_grades_to="lead"),
    AppPage(
        "guideline",
        say("Guideline"),
        "guideline.page",
        "annotator",
        "menu_book",
        SETUP,
        shows_grades_to="lead",
    ),
    AppPage("assignment", say("Assignment"), "labeling.assignment_page", "lead", "assignment_ind", SETUP),
    AppPage(
        "calibration",
        say("Calibration"),
        "labeling.calibration_page",
        "lead",
        "fact_check",
        SETUP,
        shows_grades_to="lead",
    ),
    AppPage("people", say("People"), "people.page", "lead", "group", SETUP),
    AppPage("settings", say("Settings"), "dataset.settings_page", "lead", "settings", SETUP),
    AppPage("new-dataset", say("New dataset"), "dataset.new_dataset_page", "admin", "add_box", SETUP),
    AppPage("audit-log", say("Audit log"), "audit.page", "admin", "history", SETUP, everywhere=True),
    AppPage("help", say("Help"), "help_page", None, "help", END),
    AppPage("account", say("Account"), "people.account_page", None, "account_circle", MENU),
)
ACCOUNT = PAGES[-1]


def list_groups(person: SignedIn, dataset: str | None) -> list[tuple[str | None, list[AppPage]]]:
    """Return {sidebar group: pages open to the person}; None: above the groups.

    For people who only judge, the guideline is in the group of their work.
    """
    pages = list_pages(person, dataset)
    only_judges = not any(page.group == RESULTS for page in pages)
    groups: dict[str | None, list[AppPage]] = {}
    for page in pages:
        group = WORK if page.group == SETUP and only_judges else page.group
        groups.setdefault(group, []).append(page)
    return list(groups.items())


def choose_dataset(names: list[str], wanted: str | None) -> str | None:
    """Return the dataset of the query parameter if the person has it, else their first one, or None."""
    return wanted if wanted in names else next(iter(names), None)


def list_pages(person: SignedIn, dataset: str | None) -> list[AppPage]:
    """Return the pages open to the person on this dataset; with a one-time password only the account page."""
    if person.must_change_password:
        return [ACCOUNT]
    here, everywhere = person.role_on(dataset), person.role_on(None)
    return [page for page in PAGES if page.is_open_to(everywhere if page.everywhere else here)]


def is_for_reading(address: str, parameters: Container[str]) -> bool:
    """Return whether the page shows a document for judging or deciding, which needs the sidebar's room."""
    return address == "label" or (address == "disagreements" and "pair" in parameters)


def make_url(path: str, further: Iterable[tuple[str, object]] = (), /, **parameters: object) -> str:
    """Return the path with these query parameters, then the further ones; without those that are None."""
    named = [(name, value) for name, value in (*parameters.items(), *further) if value is not None]
    return f"{path}?{urlencode(named)}" if named else path


def find_home(database: Database, person: SignedIn, wanted: str | None = None) -> str:
    """Return the address of the person's first page, with its dataset."""
    names = [dataset.name for dataset in list_datasets(database, person.actor)]
    dataset = choose_dataset(names, wanted)
    page = list_pages(person, dataset)[0]
    return make_url(f"/{page.address}", dataset=dataset)
