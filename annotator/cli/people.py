"""Run `annotator people …`: people, their roles and passwords, by the operator of the database."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from annotator.cli.terminal import (
    CommandGroup,
    Console,
    DryRunOption,
    LeadConsole,
    now,
    print_table,
)
from annotator.domain.messages import count_of
from annotator.domain.people import OPERATOR

if TYPE_CHECKING:
    from datetime import datetime

    from annotator.domain.people import Membership, PersonChange

app = CommandGroup(help="People, their roles and passwords.", no_args_is_help=True)


class RoleName(StrEnum):
    """The values of `--role`, each role including the ones before it."""

    annotator = "annotator"
    lead = "lead"
    admin = "admin"


UserArgument = Annotated[str, typer.Argument(help="The name to sign in with.", metavar="USER")]
NameOption = Annotated[str | None, typer.Option(help="The name shown to people.")]
OnOption = Annotated[
    str | None, typer.Option("--dataset", help="The dataset of the role (default: every dataset).")
]
StdinOption = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]


@app.command()
def add(
    user: UserArgument,
    name: NameOption = None,
    role: RoleName = typer.Option(RoleName.annotator, help="What they may do."),
    dataset: OnOption = None,
    password_stdin: StdinOption = False,
    console: Console = Console(),
) -> None:
    """Add a person who can sign in. Prints a one-time password unless one is given."""
    from annotator.people.service import add_person

    password = _read_password() if password_stdin else None
    made = add_person(
        console.open(),
        OPERATOR,
        user,
        now=now(),
        role=role.value,
        dataset=dataset,
        name=name or "",
        password=password,
    )
    _report(made, f"Added {made.person.username}", console)


@app.command("list")
def list_(
    dataset: str | None = typer.Option(None, help="Only the people of this dataset."),
    console: Console = Console(),
) -> None:
    """List people with their roles."""
    from annotator.domain.usernames import describe_look_alikes
    from annotator.people.service import list_people

    people = list_people(console.open(), OPERATOR, dataset=dataset)
    if console.show_json(people):
        return
    rows = [
        (
            person.username,
            person.name,
            _describe_roles(person.memberships),
            "yes" if person.can_sign_in else "no",
        )
        for person in people
    ]
    print_table(
        ("username", "name", "roles", "can sign in"),
        rows,
        empty="Nobody yet. Add the first admin: annotator people add NAME --role admin",
    )
    for sentence in describe_look_alikes(person.username for person in people):
        typer.echo(sentence, err=True)


@app.command("set")
def set_(
    user: UserArgument,
    name: NameOption = None,
    role: RoleName | None = typer.Option(None, help="What they may do."),
    dataset: OnOption = None,
    no_role: bool = typer.Option(False, "--no-role", help="Remove the role instead."),
    new_password: bool = typer.Option(False, "--new-password", help="Make and print a one-time password."),
    password_stdin: StdinOption = False,
    enable: bool = typer.Option(False, "--enable", help="Enable a disabled account."),
    categories: str | None = typer.Option(
        None, metavar="A,B", help="Judge only queries of these categories; none: all categories."
    ),
    languages: str | None = typer.Option(
        None, metavar="JA,KO", help="Judge only queries in these languages; none: all languages."
    ),
    console: Console = Console(),
) -> None:
    """Change a person's name, role, expertise or password. A new password signs them out everywhere."""
    from annotator.domain.people import PersonChange
    from annotator.people.service import change_person, remove_role

    given = {"categories": categories, "languages": languages}
    expertise = {kind: _read_names(names) for kind, names in given.items() if names is not None}
    others = name is not None or role or new_password or password_stdin or enable or expertise
    if bool(no_role) == bool(others):
        raise typer.BadParameter("expected something to change, or --no-role alone; see --help")
    if new_password and password_stdin:
        raise typer.BadParameter("--new-password and --password-stdin exclude each other")
    opened = console.open()
    if no_role:
        changed = PersonChange(remove_role(opened, OPERATOR, user, dataset=dataset, now=now()))
    else:
        changed = change_person(
            opened,
            OPERATOR,
            user,
            name=name,
            role=role.value if role else None,
            dataset=dataset,
            password=_read_password() if password_stdin else None,
            new_password=new_password,
            enable=enable,
            expertise=expertise or None,
            now=now(),
        )
    _report(changed, f"Changed {user}", console)


@app.command()
def disable(user: UserArgument, console: Console = Console()) -> None:
    """Disable an account: the person can no longer sign in. Their judgments stay."""
    from annotator.labeling.assignment_service import list_left
    from annotator.people.service import disable_person

    opened = console.open()
    person = disable_person(opened, OPERATOR, user, now=now())
    left = list_left(opened, OPERATOR, user)
    if console.show_json({**asdict(person), "left": left}):
        return
    for part in left:
        typer.echo(
            f"They leave {count_of(part.queries, 'query')} given to them on {part.dataset}, with {count_of(part.pairs, 'pair')} to do. "
            f"Hand them on: annotator reassign {part.dataset} --from {user} --to USER"
        )
    typer.echo(f"Disabled {person.username}. Undo: annotator people set {person.username} --enable")


@app.command()
def pseudonymise(
    user: UserArgument,
    dry_run: DryRunOption = False,
    console: LeadConsole = LeadConsole(),
) -> None:
    """Remove a person for ever: a pseudonym replaces all names. Their judgments and the releases stay."""
    from annotator.audit.service import pseudonymise_person

    opened, actor = console.open_as()
    report = pseudonymise_person(opened, actor, user, now=now(), dry_run=dry_run)
    if console.show_json(report):
        return
    typer.echo(f"{user} {'would be' if dry_run else 'is now'} {report.pseudonym}. Their judgments stay.")
    rows = [(name, rows) for name, rows in report.removed.items()]
    print_table(("table", "rows without the name"), rows, empty="Nothing else named them.")
    for name, kept in report.kept.items():
        typer.echo(f"{count_of(kept, 'row')} of {name} cannot be changed and may still name them.", err=True)


AddressOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The server's address as the person who opens the link reaches it (default: ANNOTATOR_ADDRESS).",
    ),
]
DaysOption = Annotated[int, typer.Option(help="How many days the link works.", min=1)]


@app.command()
def invite(
    role: RoleName = typer.Option(RoleName.annotator, help="What they may do."),
    dataset: OnOption = None,
    note: str = typer.Option("", help="For whom the invitation is; shown in the list."),
    days: DaysOption = 7,
    address: AddressOption = None,
    console: LeadConsole = LeadConsole(),
) -> None:
    """Make a one-time link for joining with this role, with a new or an existing account."""
    from annotator.people.invitations_service import invite as make_invitation

    opened, actor = console.open_as()
    made = make_invitation(opened, actor, role=role.value, dataset=dataset, note=note, days=days, now=now())
    link = _make_link(address, made.token)
    where = made.invitation.dataset or "every dataset"
    console.show(
        {**asdict(made.invitation), "link": link},
        f"Invitation {made.invitation.number}: {made.invitation.role} on {where}.",
        *_describe_link(link, made.invitation.expires_at),
    )


@app.command()
def invitations(
    dataset: str | None = typer.Option(None, help="Only those to this dataset."),
    console: LeadConsole = LeadConsole(),
) -> None:
    """List invitations and their state, newest first. Links are not stored."""
    from annotator.people.invitations_service import list_invitations

    opened, actor = console.open_as()
    listed = list_invitations(opened, actor, dataset=dataset, now=now())
    console.show_table(
        listed,
        ("number", "for", "role", "state", "made by", "expires"),
        (
            (
                item.number,
                item.note,
                f"{item.role} on {item.dataset or 'every dataset'}",
                f"used by {item.user}" if item.user else item.state,
                item.author or "operator",
                item.expires_at.strftime("%Y-%m-%d %H:%M UTC"),
            )
            for item in listed
        ),
        empty="No invitations.",
    )


@app.command()
def revoke(
    number: int = typer.Argument(..., help="The invitation's number: annotator people invitations."),
    console: LeadConsole = LeadConsole(),
) -> None:
    """Revoke an invitation that nobody has accepted yet."""
    from annotator.people.invitations_service import revoke_invitation

    opened, actor = console.open_as()
    revoked = revoke_invitation(opened, actor, number, now=now())
    console.show(revoked, f"Invitation {number} is revoked.")


@app.command()
def link(
    user: UserArgument,
    days: DaysOption = 7,
    address: AddressOption = None,
    console: LeadConsole = LeadConsole(),
) -> None:
    """Make a one-time link for choosing a new password. The old password works until the link is used."""
    from annotator.people.invitations_service import make_password_link

    opened, actor = console.open_as()
    made = make_password_link(opened, actor, user, days=days, now=now())
    url = _make_link(address, made.token)
    console.show(
        {"username": made.username, "expires_at": made.expires_at, "link": url},
        f"For {made.username}, to choose a new password.",
        *_describe_link(url, made.expires_at),
    )


@app.command("link-identity")
def link_identity(
    user: UserArgument,
    subject: str = typer.Option(..., help="The person's key at the provider: the claim sub."),
    issuer: str | None = typer.Option(
        None, help="The provider (default: ANNOTATOR_OIDC_ISSUER).", metavar="URL"
    ),
    move: bool = typer.Option(False, "--move", help="Take the identity from the account that it opens now."),
    console: LeadConsole = LeadConsole(),
) -> None:
    """Let a person of the OpenID Connect provider open an account that was there before."""
    from annotator.people.single_sign_on.service import link_identity as link_to
    from annotator.settings import Settings

    opened, actor = console.open_as()
    chosen = issuer or Settings().oidc_issuer
    link_to(opened, actor, user, issuer=chosen, subject=subject, move=move, now=now())
    console.show(
        {"username": user, "issuer": chosen, "subject": subject},
        f"{subject} of {chosen} signs in as {user} from now on.",
    )


@app.command("reset-second-factor")
def reset_second_factor(
    user: UserArgument,
    console: LeadConsole = LeadConsole(),
) -> None:
    """Remove the second factor of somebody who lost the phone and the recovery codes. Ends all their sessions."""
    from annotator.people.second_factor.service import reset_second_factor as reset

    opened, actor = console.open_as()
    reset(opened, actor, user, now=now())
    console.show(
        {"username": user, "second_factor": False},
        f"The second factor of {user} is removed. They are signed out everywhere, and told at the next sign-in.",
    )


def _make_link(address: str | None, token: str) -> str:
    """Return the link of a token, at the server's address. Warns if only this machine can open it."""
    from annotator.domain.addresses import check_address, is_loopback
    from annotator.settings import Settings

    chosen = Settings().address if address is None else check_address("--address", address)
    chosen = chosen or "http://127.0.0.1:8501"
    if is_loopback(urlsplit(chosen).hostname or ""):
        typer.echo(
            f"Only this computer can open {chosen}. For others, name the server: --address URL", err=True
        )
    return f"{chosen}/join#{token}"


def _describe_link(link: str, expires_at: "datetime") -> tuple[str, str]:
    return f"  {link}", f"It works once, until {expires_at:%Y-%m-%d %H:%M} UTC, and is shown only now."


def _report(change: "PersonChange", what: str, console: Console) -> None:
    if console.show_json({**asdict(change.person), "one_time_password": change.one_time_password}):
        return
    typer.echo(f"{what}: {_describe_roles(change.person.memberships)}.")
    if change.one_time_password:
        typer.echo(f"One-time password: {change.one_time_password}")
        typer.echo("It is shown only now; a password of their own is chosen at the first sign-in.")


def _read_password() -> str:
    from annotator.domain.errors import ValidationError

    try:
        return sys.stdin.buffer.readline(10_000).decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValidationError("expected the password in UTF-8") from None


def _read_names(text: str) -> list[str] | None:
    """Return the names of a list such as `howto,判例`; None for an empty list or `none`, which means all."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return None if [name.lower() for name in names] in ([], ["none"]) else names


def _describe_roles(memberships: "Sequence[Membership]") -> str:
    return ", ".join(map(_describe_role, memberships)) or "no role"


def _describe_role(held: "Membership") -> str:
    limits = [", ".join(names) for names in (held.categories, held.languages) if names]
    return f"{held.role} on {held.dataset or 'every dataset'}" + (f" ({'; '.join(limits)})" if limits else "")
