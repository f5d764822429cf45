"""Verify the chain of the audit log, entry by entry: nothing was changed, left out, put in or cut off.

A rule without a database: it keeps a few numbers, however many entries there are.
"""

import json
from collections.abc import Iterable

from annotator.audit.records import AuditEntry, AuditHead, AuditVerification, ChainProblem
from annotator.domain.audit import FIRST_PREVIOUS, PERSONAL_FIELDS, AuditAction, commit_to

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
