"""List the licences of the libraries that the program ships with, and refuse those that nobody has allowed: `python -m tests.licences`.

Reads what the installed packages of requirements.lock say of themselves; needs no network. Packages for other systems are not installed here and are named.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.lock"

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "PSF-2.0",
    "Zlib",
}
"""Licences that ask for their text and the authors' names at most. `BSD`: a package that does not say which of them."""

EXCEPTIONS = {
    "certifi": (
        "MPL-2.0",
        "the list of certificate authorities, unchanged; the licence covers its own files only",
    ),
    "docutils": (
        "Public-Domain AND BSD AND GPL",
        "what is imported is in the public domain or BSD; GPL is one tool for Emacs, not in the wheel",
    ),
    "psycopg": ("LGPL-3.0-only", "imported unchanged as a package of its own, which anybody can replace"),
    "psycopg-binary": ("LGPL-3.0-only", "as psycopg; with libpq, under PostgreSQL's licence"),
}
"""By package: another licence, and why it is taken."""

WORDS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU General Public License (GPL)": "GPL",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Public Domain": "Public-Domain",
}
"""SPDX's name of what packages write."""


@dataclass(frozen=True, slots=True)
class Library:
    """A package of the lock. `licence`: an SPDX expression, "" if the package says nothing; None if it is not installed here."""

    name: str
    licence: str | None


def list_libraries() -> Iterator[Library]:
    """Yield every package of requirements.lock."""
    for name in re.findall(r"^([A-Za-z0-9_.-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE):
        try:
            yield Library(name, read_licence(metadata.metadata(name)))
        except metadata.PackageNotFoundError:
            yield Library(name, None)


def read_licence(said: metadata.PackageMetadata) -> str:
    """Return the licence that a package names: the expression, else the classifiers, else the free text of one line."""
    expression, classifiers, text = (
        said.get_all(name) or [] for name in ("License-Expression", "Classifier", "License")
    )
    words = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    if expression:
        return str(expression[0])
    if words:
        return " AND ".join(WORDS.get(word, word) for word in words)
    return "".join(WORDS.get(line, line) for line in text if "\n" not in line)


def is_allowed(licence: str) -> bool:
    """Return whether one side of each OR, and every part of an AND, is allowed."""
    return any(
        all(part.strip(" ()") in ALLOWED for part in choice.split(" AND "))
        for choice in licence.split(" OR ")
    )


def list_faults() -> list[str]:
    """Return a sentence for each library whose licence nobody has allowed, and each exception that is needed no more."""
    libraries = {library.name: library for library in list_libraries()}
    faults = [
        f"{name}: {library.licence or 'no licence named'}"
        for name, library in libraries.items()
        if library.licence is not None
        and not is_allowed(library.licence)
        and (name not in EXCEPTIONS or EXCEPTIONS[name][0] != library.licence)
    ]
    return [*faults, *(f"{name}: not in the lock any more" for name in EXCEPTIONS if name not in libraries)]


def main() -> int:
    libraries = list(list_libraries())
    for library in libraries:
        reason = f": {EXCEPTIONS[library.name][1]}" if library.name in EXCEPTIONS else ""
        print(
            f"{library.name:28} {'not installed on this system' if library.licence is None else library.licence}{reason}"
        )
    faults = list_faults()
    print(f"{len(libraries)} libraries, {len(faults)} with a licence that is not allowed")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
