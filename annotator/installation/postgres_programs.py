"""Find and run `pg_dump` and `pg_restore`, PostgreSQL's own programs for backups.

They must be at least as new as the server. They get the password in the environment, never on the command
line, which every user of the machine can read.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from annotator.domain.errors import StateError
from annotator.installation.records import SHORT_LIVED

DEBIAN = Path("/usr/lib/postgresql")  # where Debian and Ubuntu keep the versions side by side
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


def find_program(name: str, server_version: int, folder: Path | None) -> Path:
    """Return a program whose version fits the server: from `folder`, or else from the PATH and Debian's
    folders.

    Raises StateError if there is none, and names the package to install.
    """
    if folder is not None:
        candidates = [folder / name]
    else:
        on_path = shutil.which(name)
        candidates = [Path(on_path)] if on_path else []
        candidates += sorted(DEBIAN.glob(f"*/bin/{name}"), reverse=True)
    seen = []
    for candidate in candidates:
        version = read_version(candidate)
        if version is not None and version >= server_version:
            return candidate
        if version is not None:
            seen.append(f"{candidate} is of version {version}")
    found = "; ".join(dict.fromkeys(seen)) or (f"none in {folder}" if folder else "none on the PATH")
    raise StateError(
        f"expected {name} of PostgreSQL {server_version} or newer, as the server is, found {found}. Install it (Debian and "
        f"Ubuntu: postgresql-client-{server_version}), or name its folder: --pg-bin DIR or ANNOTATOR_PG_BIN"
    )


def read_version(program: Path) -> int | None:
    """Return the major version of a program; None if it cannot be run."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    match = _VERSION.search(done.stdout)
    return int(match[1]) if match else None


@contextmanager
def dump_database(program: Path, url: str, secrets: Mapping[str, str], snapshot: str) -> Iterator[IO[bytes]]:
    """Yield a pipe with the dump of a database, in pg_dump's custom format, from the exported snapshot.

    `url`: without its password; `secrets`: environment variables. Raises StateError at the end if pg_dump
    failed.
    """
    left_out = [f"--exclude-table-data=*.{table}" for table in SHORT_LIVED]
    options = ["--format=custom", "--compress=1", "--no-owner", "--no-privileges", "--lock-wait-timeout=30s"]
    command = [str(program), *options, *left_out, f"--snapshot={snapshot}", f"--dbname={url}"]
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=messages, env={**os.environ, **secrets}
        )
        try:
            if process.stdout is not None:
                yield process.stdout
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
        _raise_if_failed(process, messages, "pg_dump")


@contextmanager
def restore_database(program: Path, url: str, secrets: Mapping[str, str]) -> Iterator[IO[bytes]]:
    """Yield a pipe that restores a dump in one transaction. Raises StateError at the end if it failed."""
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    command = [str(program), *options, f"--dbname={url}"]
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=messages, stderr=messages, env={**os.environ, **secrets}
        )
        try:
            if process.stdin is not None:
                yield process.stdin
                process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended, and its messages say why
        except BaseException:
            process.kill()  # before the pipe is closed, so that half a dump is not taken for a whole one
            raise
        finally:
            process.wait()
        _raise_if_failed(process, messages, "pg_restore")


def _raise_if_failed(process: subprocess.Popen[bytes], messages: IO[bytes], name: str) -> None:
    if process.returncode:
        messages.seek(0)
        lines = messages.read(20_000).decode("utf-8", "replace").split("\n")
        said = next((line for line in lines if "error:" in line), lines[0]).strip()
        raise StateError(f"{name} failed, so nothing was kept: {said}")
