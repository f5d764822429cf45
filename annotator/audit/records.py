"""Records of the audit log, and the check of its chain of hashes."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotator.domain.audit import (
    FIRST_PREVIOUS,
    PERSONAL_FIELDS,
    AuditAction,
    ChainedEntry,
    PersonalField,
    commit_to,
    write_time,
)
from annotator.domain.errors import ValidationError


@dataclass(frozen=True, slots=True)
class PersonalValue:
    """What an entry says of a person. `salt`: None since it was replaced by a pseudonym."""

    field: PersonalField
    person_pk: int | None
    value: str
    salt: str | None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A stored entry. `sha256`: its stored hash. `personal`: remaining personal values by field."""

    chained: ChainedEntry
    sha256: str
    personal: Mapping[PersonalField, PersonalValue]

    @property
    def sequence(self) -> int:
        return self.chained.sequence

    def name(self, field: PersonalField) -> str | None:
        """Return the value of a field; None if the entry has none, or if it was removed."""
        value = self.personal.get(field)
        return None if value is None else value.value

    def is_removed(self, field: PersonalField) -> bool:
        """Return whether the entry had a value that was removed since."""
        return self.chained.commitments.get(field) is not None and field not in self.personal

    def describe(self) -> dict[str, Any]:
        """Return the entry for a log collector, with everything that is needed to compute its hash again."""
        entry = self.chained
        return {
            "sequence": entry.sequence,
            "at": write_time(entry.at),
            "action": entry.action,
            "actor_kind": entry.actor_kind,
            "actor": self.name("actor"),
            "subject": self.name("subject"),
            "address": self.name("address"),
            "source": entry.source,
            "request_id": entry.request_id,
            "dataset": entry.dataset,
            "object": entry.object,
            "details": json.loads(entry.details),
            "commitments": {field: entry.commitments.get(field) for field in PERSONAL_FIELDS},
            "previous": entry.previous,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are read. `person`: a username, as who acts or on whom; None everywhere: all."""

    dataset: str | None = None
    action: str | None = None
    person: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: int | None = None  # only entries with a higher sequence


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A part of the entries, the newest first, and how many there are."""

    entries: tuple[AuditEntry, ...]
    total: int


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The newest entry's sequence and hash. A copy stored elsewhere proves later that no entries were cut off."""

    sequence: int
    sha256: str

    def __str__(self) -> str:
        return f"{self.sequence}:{self.sha256}"


def read_head(text: str) -> AuditHead:
    """Read SEQUENCE:HASH as `annotator audit --head` prints it. Raises ValidationError."""
    found = re.fullmatch(r"(\d{1,10}):([0-9a-f]{64})", text.strip())
    if found is None:
        raise ValidationError(f"expected SEQUENCE:HASH as annotator audit --head prints it, found {text!r}")
    return AuditHead(int(found[1]), found[2])


@dataclass(frozen=True, slots=True)
class ChainProblem:
    """The first entry that breaks the chain, with the expected and the found value."""

    sequence: int
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """The result of a verification.

    `entries`: number of verified entries. `removed`: number of personal values that were removed or replaced, each accounted for
    by an entry. `problem`: None if the whole chain holds.
    """

    entries: int
    head: AuditHead | None
    removed: int
    problem: ChainProblem | None


REMOVALS = (AuditAction.account_pseudonymised, AuditAction.personal_data_removed)
REMOVED = "removed_from_audit_log"
"""In the details of these entries: how many personal values of the audit log were removed or replaced."""


def verify_chain(entries: Iterable[AuditEntry], *, head_was: AuditHead | None = None) -> AuditVerification:
    """Verify entries in the order of their sequence. `head_was`: an earlier head that was stored elsewhere."""
    verifier = ChainVerifier(head_was)
    for entry in entries:
        problem = verifier.add(entry)
        if problem is not None:
            return verifier.report(problem)
    return verifier.finish()


class ChainVerifier:
    """Takes one entry after the other."""

    def __init__(self, head_was: AuditHead | None = None) -> None:
        self._head_was = head_was
        self._head: AuditHead | None = None
        self._gone = self._accounted = self._count = 0

    def add(self, entry: AuditEntry) -> ChainProblem | None:
        """Verify that the entry follows the ones before. Returns the problem, if there is one."""
        expected = (self._head.sequence if self._head else 0) + 1
        if entry.sequence != expected:
            return ChainProblem(expected, f"entry {expected}", f"entry {entry.sequence}")
        previous = self._head.sha256 if self._head else FIRST_PREVIOUS
        if entry.chained.previous != previous:
            return ChainProblem(expected, f"previous {previous}", f"previous {entry.chained.previous}")
        sha256 = entry.chained.compute_hash()
        if entry.sha256 != sha256:
            return ChainProblem(expected, f"hash {sha256} by its content", f"hash {entry.sha256}")
        if self._head_was and entry.sequence == self._head_was.sequence and sha256 != self._head_was.sha256:
            return ChainProblem(expected, f"hash {self._head_was.sha256} as noted", f"hash {sha256}")
        problem = self._add_personal(entry)
        if problem is None:
            self._head = AuditHead(entry.sequence, sha256)
            self._count += 1
        return problem

    def finish(self) -> AuditVerification:
        """Return the result after the last entry."""
        reached = self._head.sequence if self._head else 0
        if self._head_was is not None and reached < self._head_was.sequence:
            missing = f"entry {self._head_was.sequence}, which was there when the head was noted"
            return self.report(ChainProblem(reached + 1, missing, f"an end after entry {reached}"))
        if self._gone != self._accounted:
            return self.report(
                ChainProblem(
                    reached,
                    f"{self._accounted} personal values removed, as entries of the log say",
                    f"{self._gone} that are gone or replaced",
                )
            )
        return self.report(None)

    def report(self, problem: ChainProblem | None) -> AuditVerification:
        """Return the result so far, with this problem."""
        return AuditVerification(self._count, self._head, self._gone, problem)

    def _add_personal(self, entry: AuditEntry) -> ChainProblem | None:
        for field in PERSONAL_FIELDS:
            committed, kept = entry.chained.commitments.get(field), entry.personal.get(field)
            if committed is None:
                if kept is not None:
                    return ChainProblem(entry.sequence, f"no {field}", f"{field} {kept.value}")
                continue
            if kept is None or kept.salt is None:
                self._gone += 1
            elif commit_to(field, kept.person_pk, kept.value, kept.salt) != committed:
                return ChainProblem(
                    entry.sequence, f"the {field} that the entry commits to", f"{field} {kept.value}"
                )
        if entry.chained.action in REMOVALS:
            self._accounted += int(json.loads(entry.chained.details).get(REMOVED, 0))
        return None
