"""The settings of a dataset: their names, what they accept, what they mean. One table for CLI, pages and checks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from annotator.coverage.service import TEMPLATES, read_requirements
from annotator.domain.errors import ValidationError

NO_REQUIREMENTS = "none"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: `read` turns the text a user typed into its value, or raises ValueError."""

    name: str
    expected: str
    meaning: str
    read: Callable[[str], Any]


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(found: str) -> int:
        value = int(found)
        if not low <= value <= high:
            raise ValueError(found)
        return value

    return read


def _kappa(found: str) -> float:
    value = float(found)
    if not -1 <= value <= 1:
        raise ValueError(found)
    return value


def _yes_or_no(found: str) -> bool:
    words = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    if found.lower() not in words:
        raise ValueError(found)
    return words[found.lower()]


def _requirements(found: str) -> dict[str, Any] | None:
    """Of a template. A file is read by who may name one: see `change_settings`."""
    if found.lower() in (NO_REQUIREMENTS, ""):
        return None
    if found not in TEMPLATES:
        raise ValueError(found)
    return read_requirements(found)


SETTINGS: tuple[Setting, ...] = (
    Setting("title", "a text", "the name shown to people", str),
    Setting("language", "a language tag such as ja, or nothing", "the main language of the documents", lambda v: v or None),
    Setting("overlap", "a whole number 1-20", "how many annotators judge each pair", _whole(1, 20)),
    Setting("kappa_target", "a number between -1 and 1", "Cohen's kappa that a release needs", _kappa),
    Setting("lease_minutes", "a whole number 1-10080", "how long a pair stays with the annotator it was given to", _whole(1, 10080)),
    Setting("seed", "a whole number 0-2147483647", "fixes every order and sample drawn", _whole(0, 2**31 - 1)),
    Setting("list_grade_0", "true or false", "whether set-based formats list grade-0 documents (they count as relevant there)", _yes_or_no),
    Setting("requirements", f"{', '.join(TEMPLATES)}, {NO_REQUIREMENTS}, or a YAML file", "what the queries and qrels must cover", _requirements),
)  # fmt: skip


def read_setting(name: str, found: str) -> Any:
    """The value of one `KEY=VALUE`; ValidationError names what was expected."""
    for setting in SETTINGS:
        if setting.name == name:
            try:
                return setting.read(found)
            except ValueError:
                raise ValidationError(f"{name}: expected {setting.expected}, found {found!r}") from None
    known = ", ".join(setting.name for setting in SETTINGS)
    raise ValidationError(f"no setting named {name!r}; there are: {known}")
