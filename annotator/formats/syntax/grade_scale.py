"""Read a file's grades as 0-3, or from another scale by the user's mapping (`--map-grades`).

Counts mapped grades and values on no scale; a refusal names the latter. Values are compared as trimmed text.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from annotator.domain.errors import BadInput, FormatError, ValidationError
from annotator.domain.messages import CommandWords, Message, join, refuse_option, say, say_n

UNRATEABLE = "unrateable"
OPTION = CommandWords("--map-grades")
MAX_VALUES = 1_000  # different unknown values that are counted
MAX_NAMED = 20
_DECIMAL = re.compile(r"([0-3])\.0+")
_TARGETS: Mapping[str, int | str] = {"0": 0, "1": 1, "2": 2, "3": 3, UNRATEABLE: UNRATEABLE}


@dataclass(frozen=True, slots=True)
class GradeScale:
    """The scale for reading the grades of a file.

    `mapping`: {value: grade or "unrateable"}. `lenient`: any value counts as "unrateable", for readers that
    need no grades. `mapped` and `unknown` count values. `ungraded`: lines with an empty grade; their pairs
    are not judged.
    """

    mapping: Mapping[str, int | str] = field(default_factory=dict)
    lenient: bool = False
    mapped: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    ungraded: list[int] = field(default_factory=list)

    def translate(self, value: object) -> int | str | None:
        """Return the mapped value, or the grade of a decimal such as 3.0: a grade, "unrateable" or None."""
        if not self.mapping:
            return read_decimal(value)
        text = _show(value)
        if text is None or text not in self.mapping:
            return read_decimal(value)
        self.mapped[text] += 1
        return self.mapping[text]

    def accepts(self, value: object) -> bool:
        """Note a value that is not a grade. Returns whether the row is skipped without an error."""
        text = _show(value)
        if text is not None and (text in self.unknown or len(self.unknown) < MAX_VALUES):
            self.unknown[text] += 1
        return self.lenient and text is not None

    def describe_unknown(self) -> Message:
        """Return a sentence with the values on no scale and the option or field that maps them; "" without any."""
        if not self.unknown:
            return join(())
        counted = self.unknown.most_common(MAX_NAMED)
        values = ", ".join(f"{value!r} ({count:,})" for value, count in counted)
        more = ", …" if len(self.unknown) > MAX_NAMED else ""
        example = ",".join(f"{value}=GRADE" for value, _ in counted if "," not in value and "=" not in value)
        words = CommandWords(
            f"Values that are not grades 0-3, and how often they occur: {values}{more}. To read them as grades: "
            f'{OPTION} "{example}", each GRADE 0, 1, 2, 3 or {UNRATEABLE}',
            on_page=say(
                "Values that are not grades 0–3, with their counts: {values}. To read them as grades, fill in the field for grades of another scale.",
                values=f"{values}{more}",
            ),
        )
        return join((words,))

    def hint(self, error: BadInput) -> BadInput:
        """Return the refusal, with the sentence of `describe_unknown` added."""
        sentence = self.describe_unknown()
        return BadInput(error.problems, hint=sentence) if sentence else error

    def note_ungraded(self) -> tuple[str, ...]:
        """Return a note on rows without a grade."""
        count = len(self.ungraded)
        return (
            (say_n("{n:,} row without a grade left out", "{n:,} rows without a grade left out", count),)
            if count
            else ()
        )

    def note_mapped(self) -> tuple[str, ...]:
        """Return notes on the mapped values with counts, and on rows without a grade."""
        if not self.mapping:
            return self.note_ungraded()
        mapped = ", ".join(
            f"{value!r} read as {grade} ({self.mapped[value]:,})" for value, grade in self.mapping.items()
        )
        return (f"grades of another scale: {mapped}", *self.note_ungraded())

    @property
    def figures(self) -> dict[str, int]:
        """Return {mapped value: occurrences}."""
        return {value: self.mapped[value] for value in self.mapping}

    def leave_out_mapped(self, problems: list[FormatError]) -> list[FormatError]:
        """Return the problems without those about values in the mapping."""
        return [problem for problem in problems if problem.found.strip("'\"").strip() not in self.mapping]


def read_decimal(value: object) -> int | None:
    """Return the grade of a decimal such as 3.0 or "3.0"; None for every other value."""
    if type(value) is float:
        return int(value) if value in (0, 1, 2, 3) else None
    if isinstance(value, str) and len(value) > 1:
        match = _DECIMAL.fullmatch(value.strip())
        return int(match[1]) if match else None
    return None


def parse_mapping(text: str | None) -> dict[str, int | str]:
    """Return the mapping of `--map-grades`, such as "4=3,-1=unrateable". Raises ValidationError."""
    mapping: dict[str, int | str] = {}
    for part in () if text is None else text.split(","):
        value, mark, target = (piece.strip() for piece in part.rpartition("="))
        if not mark or not value or target not in _TARGETS:
            expected = f'VALUE=GRADE, GRADE being 0, 1, 2, 3 or {UNRATEABLE}, as in "4=3,-1={UNRATEABLE}"'
            raise ValidationError(refuse_option(OPTION, expected, f"{part!r:.80}"))
        if value in mapping:
            found = say("{item} again", item=f"{value!r:.80}")
            raise ValidationError(refuse_option(OPTION, say("each value once"), found))
        mapping[value] = _TARGETS[target]
    return mapping


def _show(value: object) -> str | None:
    """Return the value as text; None if it cannot be a grade on any scale."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        text = str(value).strip()
        return text if 0 < len(text) <= 100 else None
    return None
