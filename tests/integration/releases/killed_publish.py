"""Publish a release in this process, which kills itself at a given moment: what test_publish_killed.py starts."""

import importlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from annotator.domain.errors import ConflictError
from annotator.people.roles_service import find_actor
from annotator.releases.service import publish_release
from annotator.releases.writing import judged_sql
from annotator.storage.database import Database


def publish_until_killed(
    url: str, folder: str, now: str, overrides: dict[str, str], moment: tuple[str, str, int], errors: str
) -> None:
    """`moment`: a function (or "commit"), "before" or "after" it is called, and which call of it.

    What goes wrong before is written to `errors`.
    """
    with Path(errors).open("ab") as log:
        os.dup2(log.fileno(), 2)
    database = Database(url)
    with database.read() as session:
        lead = find_actor(session, "editor")
    name, when, calls = moment
    if name == "commit":
        die_after_commit()
    else:
        patch(name, {"before": die_before, "after": die_after}[when], calls)
    publish_release(
        database,
        lead,
        "検索-법령",
        "1.0.0",
        exports_dir=Path(folder),
        now=datetime.fromisoformat(now),
        overrides=overrides,
    )


def publish_part_by_part_until_killed(
    url: str,
    folder: str,
    now: str,
    overrides: dict[str, str],
    moment: tuple[str, str, int],
    errors: str,
    refused: bool,
) -> None:
    """Do the same with a release whose rows are recorded one by one; if `refused`, publishing fails at its end by itself."""
    judged_sql.PART = 1
    if refused:
        patch("annotator.releases.service.end_recording", refuse, 1)
    publish_until_killed(url, folder, now, overrides, moment, errors)


def refuse(real: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Raise an error instead of the call."""
    raise ConflictError("refused")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_before(real: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Die instead of the call."""
    die()


def die_after(real: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Die when the call is done."""
    real(*arguments, **named)
    die()


def patch(name: str, how: Callable[..., None], calls: int) -> None:
    """Let the n-th call of a function of a module go as `how` says."""
    module = importlib.import_module(name.rpartition(".")[0])
    function = name.rpartition(".")[2]
    real, left = getattr(module, function), [calls]

    def patched(*arguments: Any, **named: Any) -> Any:
        left[0] -= 1
        return how(real, *arguments, **named) if left[0] == 0 else real(*arguments, **named)

    setattr(module, function, patched)


def die_after_commit() -> None:
    """Die as soon as a write transaction is committed."""
    write = Database.write

    @contextmanager
    def patched(self: Database) -> Iterator[Session]:
        with write(self) as session:
            yield session
        die()

    Database.write = patched  # type: ignore[method-assign, assignment]
