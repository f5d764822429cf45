"""Define the exceptions, and the collector with which a reader reports every bad line before it fails.

Errors are caught once, at the edge: the command line prints them on stderr with an exit code, a page shows
them, an HTTP route answers with a status. Bad input always raises: it is never asserted, warned about or
turned into NaN.
"""

from collections.abc import Sequence

from annotator.domain.messages import say

MAX_FOUND = 120
MAX_SHOWN = 200
MOST_PROBLEMS = 100_000
"""Bad places of a file that are kept. Each needs some hundred bytes, and a bad line can have two."""


class AnnotatorError(Exception):
    """A refusal, with a message that a user can act on."""


class ValidationError(AnnotatorError):
    """A setting, an option or a form field has a value that is not allowed."""


class StateError(AnnotatorError):
    """The request is valid, but the present state of the dataset does not allow it."""


class DatasetArchived(StateError):
    """The dataset is archived: it allows no judgments and no changes."""

    def __init__(self, message: str, *, dataset: str) -> None:
        super().__init__(message)
        self.dataset = dataset


class ConflictError(AnnotatorError):
    """Somebody else changed the same thing first, or the name is already used for something else."""


class NotAllowed(AnnotatorError):
    """The person may not do this."""


class NotFound(AnnotatorError):
    """The named thing does not exist."""


class DatasetNotOpen(NotAllowed, NotFound):
    """The dataset does not exist, or the person has no role on it. The message does not reveal which."""


class TooManyRequests(AnnotatorError):
    """One person sends more requests than people do. The next one is answered after `seconds`."""

    def __init__(self, message: str, *, seconds: float = 1.0) -> None:
        super().__init__(message)
        self.seconds = seconds


class InsufficientData(AnnotatorError):
    """A figure is undefined for this data; the message says why."""


class DatabaseUnavailable(AnnotatorError):
    """The database cannot work now: locked by another program, full, read-only, damaged or not reachable.

    The message is for everybody. `database` (the address without its secrets) and `detail` (the driver's
    message) are for the operator: the command line and the log.
    """

    def __init__(self, why: str, *, database: str, detail: str) -> None:
        self.why, self.database, self.detail = why, database, detail
        super().__init__(why)

    def describe(self) -> str:
        """Return one sentence with the address and the driver's words."""
        return f"{self.why}: {self.database} ({self.detail})"


class GateNotMet(StateError):
    """A release gate or a check is not met. The command line exits with 3."""


class FormatError(AnnotatorError):
    """One bad place in a file, with the expected and the found content.

    `line` is 1-based; None means the whole file. `path` is the file as the user named it. If `found` is only
    white space, it is shown quoted and escaped.
    """

    def __init__(self, path: str, line: int | None, expected: str, found: str) -> None:
        self.path, self.line, self.expected = path, line, expected
        found = found if found.strip() else ascii(found)
        self.found = found if len(found) <= MAX_FOUND else found[: MAX_FOUND - 1] + "…"
        super().__init__(str(self))

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: expected {self.expected}, found {self.found}"


class BadInput(AnnotatorError):
    """All problems of the input. Nothing was changed.

    `problems` holds at most MOST_PROBLEMS of a file; the message shows the first MAX_SHOWN and counts the rest.
    `hint`: a sentence with advice, shown last.
    """

    def __init__(self, problems: Sequence[FormatError], *, hint: str = "") -> None:
        self.problems: tuple[FormatError, ...] = tuple(problems)
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        shown = [str(problem) for problem in self.problems[:MAX_SHOWN]]
        more = len(self.problems) - MAX_SHOWN
        if more > 0:
            shown.append(f"… and {more:,} more")
        return "\n".join([*shown, self.hint] if self.hint else shown)


def refuse(path: str, line: int | None, expected: str, found: str) -> BadInput:
    """Return a BadInput with one problem, to raise."""
    return BadInput([FormatError(path, line, expected, found)])


class Problems:
    """Collect the bad places of one file, up to MOST_PROBLEMS, and raise them all at once.

    >>> problems = Problems("q.csv")
    >>> problems.add(2, "a grade 0-3", "4")
    >>> problems.raise_if_any()
    Traceback (most recent call last):
    annotator.domain.errors.BadInput: q.csv:2: expected a grade 0-3, found 4
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.errors: list[FormatError] = []
        self.noted = 0  # number of calls of `add`; only the first MOST_PROBLEMS are stored

    def __bool__(self) -> bool:
        return bool(self.errors)

    @property
    def is_full(self) -> bool:
        """Whether further bad places are dropped, so a reader can stop."""
        return self.noted > MOST_PROBLEMS

    def add(self, line: int | None, expected: str, found: str, *, path: str | None = None) -> None:
        """Note one bad place; `path`: its file, if it is not the collector's own."""
        self.noted += 1
        if len(self.errors) < MOST_PROBLEMS:
            self.errors.append(FormatError(path or self.path, line, expected, found))
        elif len(self.errors) == MOST_PROBLEMS:
            limit = say("at most {n} bad places", n=MOST_PROBLEMS)
            self.errors.append(FormatError(self.path, None, limit, say("more, which are not listed")))

    def raise_if_any(self, *, hint: str = "") -> None:
        """Raise BadInput with the noted problems, if there are any; by line if all are in one file."""
        if len({error.path for error in self.errors}) == 1:
            raise BadInput(sorted(self.errors, key=lambda error: error.line or 0), hint=hint)
        if self.errors:
            raise BadInput(self.errors, hint=hint)
