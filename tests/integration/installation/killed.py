"""Back up or restore in this process, which kills itself at a given moment: what test_backup.py starts."""

import os
import signal
from datetime import datetime
from pathlib import Path
from typing import Any

from annotator.installation import service
from annotator.installation.service import BackupFolders, restore_backup, write_backup
from annotator.storage.database import Database


def act_until_killed(
    act: str, moment: str, url: str, path: str, folders: tuple[str, str], programs: str, now: str, errors: str
) -> None:
    """`act`: backup or restore. `moment`: a step of the progress, or a function of the service that is never called.

    What goes wrong before is written to `errors`.
    """
    with Path(errors).open("ab") as log:
        os.dup2(log.fileno(), 2)
    if hasattr(service, moment):
        setattr(service, moment, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))

    def die(step: str, *_: Any) -> None:
        if step == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    {"backup": write_backup, "restore": restore_backup}[act](  # type: ignore[operator]
        *((Database(url), Path(path)) if act == "backup" else (Path(path), Database(url))),
        BackupFolders(*map(Path, folders)),
        programs=Path(programs),
        now=datetime.fromisoformat(now),
        progress=die,
    )
