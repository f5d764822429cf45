"""Define the settings of a dataset once: names, types, accepted values and meanings, for CLI, pages and checks.

A new setting is a field of `Dataset`, a column of `DatasetRow` with its migration, and a line on the page Settings
(`web/dataset/words.py`).
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, TypeVar

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import PROFILE_NAMES
from annotator.domain.messages import Message, say
from annotator.domain.settling import MOST
from annotator.domain.texts import check_text

TEMPLATES: tuple[str, ...] = ("nablarch", "law")


NONE = "none"
NO_REQUIREMENTS = NONE
OFF = "off"
MOST_TEXT, MOST_SHOWN = 2_000, 200
SEARCH_HOSTS = "search_hosts"
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[\w]([\w.-]*[\w])?)(:(?P<port>[1-9][0-9]{0,4}))?")
ABOUT = ("authors", "contact", "licence", "source")  # printed in releases
_LANGUAGE_TAG = re.compile(
    r"[a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"
    r"(-[a-wyz0-9](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?",
    re.ASCII | re.IGNORECASE,
)
"""A language tag of BCP 47 (RFC 5646, section 2.1), without grandfathered tags and primary subtags of 4 to 8 letters, which are
unused."""
Number = TypeVar("Number", int, float)
RULES: Mapping[str, str] = {
    "overlap_by_category": "category",
    "overlap_share": "share",
    "overlap_cap": "cap",
    "third_judgment_from": "conditional",
}  # the overlap rules: {name of the setting: name in `domain/settling.py`}


@dataclass(frozen=True, slots=True)
class DatasetSetting:
    """A setting. `read` turns the typed text into its value, or raises ValueError."""

    expected: Message
    meaning: str
    read: Callable[[str], Any]


def _make_number_reader(kind: type[Number], low: Number, high: Number) -> Callable[[str], Number]:
    def read(text: str) -> Number:
        value = kind(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return read


_whole, _number = partial(_make_number_reader, int), partial(_make_number_reader, float)


def _text(value: str) -> str:
    text = value.strip()
    if len(text) > MOST_TEXT or any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise ValueError(value)
    return text


def _language(text: str) -> str | None:
    tag = text.strip()
    if tag and not _LANGUAGE_TAG.fullmatch(tag):
        raise ValueError(text)
    return tag or None


def _make_choice_reader(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in names:
            raise ValueError(text)
        return text.lower()

    return read


def _or_none(read: Callable[[str], Any], *names: str) -> Callable[[str], Any]:
    return lambda text: None if text.strip().lower() in (NONE, "", *names) else read(text)


def _yes_or_no(text: str) -> bool:
    is_yes = text.lower() in ("true", "yes", "on", "1")
    if not is_yes and text.lower() not in ("false", "no", "off", "0"):
        raise ValueError(text)
    return is_yes


def _by_category(text: str) -> dict[str, int]:
    """Return {category: overlap} of `howto=2,reference=1`, or of JSON, which allows commas in names."""
    if text.lstrip().startswith("{"):
        from annotator.formats.syntax.json_text import parse_json

        value = parse_json(text)
        if not all(type(overlap) is int for overlap in value.values()):
            raise ValueError(text)
        return {str(category): overlap for category, overlap in value.items()}
    entries = [part.rpartition("=") for part in text.split(",")]
    values = {category.strip(): int(overlap) for category, _, overlap in entries}
    if "" in values or len(values) < len(entries):
        raise ValueError(text)
    return values


def _share(text: str) -> dict[str, Any]:
    share, _, overlap = text.partition(":")
    return {"share": _number(0, 1)(share), "overlap": int(overlap)}


def _columns(text: str) -> list[str]:
    """Read `author,year`, or a JSON list, which allows columns with a comma in their name."""
    listed: Sequence[Any] = text.split(",")
    if text.lstrip().startswith("["):
        from annotator.formats.syntax.json_text import parse_json

        listed = parse_json(text)
    names = list(dict.fromkeys(str(name).strip() for name in listed))
    if "" in names:
        raise ValueError(text)
    return names


def _hosts(text: str) -> list[str]:
    """Read `es.example.org:9200,localhost`: names or addresses without scheme and path, in lower case."""
    hosts = list(dict.fromkeys(host.strip().lower() for host in text.split(",")))
    for host in hosts:
        match = _HOST.fullmatch(host)
        if match is None or int(match["port"] or 1) > 65_535:
            raise ValueError(text)
    return hosts


def _requirements(text: str) -> dict[str, Any] | None:
    """Return the requirements of a template; None for "none". The callers of `change_settings` read files."""
    if text.lower() in (NONE, ""):
        return None
    if text not in TEMPLATES:
        raise ValueError(text)
    from annotator.dataset.coverage_service import read_requirements  # imports every format

    return read_requirements(text)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset with its settings, except `search_hosts`: annotators may read this record.

    `overlap_share`: {"share", "overlap"}; `requirements`: as `coverage_service.read_requirements` returns
    them. `profile`: one of PROFILE_NAMES. After `archived_at` nothing in it may be judged or changed.
    """

    # fmt: off
    name: str
    title: Annotated[str, DatasetSetting(say("a text of at most {most:,} characters", most=MOST_TEXT), "the name shown to people", _text)]
    language: Annotated[str | None, DatasetSetting(say("a language tag such as ja, or nothing"), "the main language of the documents", _language)]
    authors: Annotated[str | None, DatasetSetting(say("a text of at most {most:,} characters, or none", most=MOST_TEXT), "who made the dataset, for papers that use it", _or_none(_text))]
    contact: Annotated[str | None, DatasetSetting(say("a text of at most {most:,} characters, or none", most=MOST_TEXT), "whom to ask about it", _or_none(_text))]
    licence: Annotated[str | None, DatasetSetting(say("a text of at most {most:,} characters, or none", most=MOST_TEXT), "under which licence its releases may be used", _or_none(_text))]
    source: Annotated[str | None, DatasetSetting(say("a text of at most {most:,} characters, or none", most=MOST_TEXT), "where its queries and documents come from", _or_none(_text))]
    overlap: Annotated[int, DatasetSetting(say("a whole number 1-20"), "how many annotators judge each pair", _whole(1, MOST))]
    overlap_by_category: Annotated[Mapping[str, int] | None, DatasetSetting(say("category=1-20, several with commas between, or none"), "exceptions to the overlap by the query's category", _or_none(_by_category))]
    overlap_share: Annotated[Mapping[str, Any] | None, DatasetSetting(say("a share and its overlap such as 0.3:2, or none"), "how many annotators judge a share of the other pairs", _or_none(_share))]
    overlap_cap: Annotated[int | None, DatasetSetting(say("a whole number 1-20, or none"), "the maximum number of annotators for any pair", _or_none(_whole(1, MOST)))]
    third_judgment_from: Annotated[int | None, DatasetSetting(say("a distance 1-3, or none"), "the distance between the first two grades from which one more annotator is asked", _or_none(_whole(1, 3)))]
    kappa_target: Annotated[float, DatasetSetting(say("a number between -1 and 1"), "Cohen's kappa that a release needs", _number(-1, 1))]
    lease_minutes: Annotated[int, DatasetSetting(say("a whole number 1-10080"), "how long a pair is reserved for the annotator who got it", _whole(1, 10080))]
    seed: Annotated[int, DatasetSetting(say("a whole number 0-2147483647"), "fixes every order and every sample that is drawn", _whole(0, 2**31 - 1))]
    list_grade_0: Annotated[bool, DatasetSetting(say("true or false"), "whether set-based formats list grade-0 documents (they count as relevant there)", _yes_or_no)]
    training_score: Annotated[float, DatasetSetting(say("a number between 0 and 1"), "the share of training pairs that an annotator must answer correctly before real pairs come", _number(0, 1))]
    gold_rate: Annotated[float, DatasetSetting(say("a number between 0 and 0.5"), "the share of gold pairs among the pairs that an annotator gets", _number(0, 0.5))]
    repeat_rate: Annotated[float, DatasetSetting(say("a number between 0 and 0.5"), "the share of an annotator's own pairs among the pairs that they get", _number(0, 0.5))]
    repeat_after: Annotated[int, DatasetSetting(say("a whole number 1-10000"), "after how many other pairs an own pair may be shown again", _whole(1, 10_000))]
    idle_seconds: Annotated[int, DatasetSetting(say("a whole number 10-3600"), "after how many seconds without activity the time no longer counts as work", _whole(10, 3600))]
    shown_metadata: Annotated[tuple[str, ...] | None, DatasetSetting(say("column names with commas between, or none"), "the document's further columns that annotators see", _or_none(_columns))]
    quality_rule: Annotated[str, DatasetSetting(say("bound or rate"), "the rule of a release's quality control: the guaranteed maximum (bound) or the observed error rate (rate)", _make_choice_reader("bound", "rate"))]
    show_own_agreement: Annotated[bool, DatasetSetting(say("true or false"), "whether annotators see how well they agree with the others", _yes_or_no)]
    second_adjudicator: Annotated[bool, DatasetSetting(say("true or false"), "whether a disagreement at distance 3 needs two leads who decide the same", _yes_or_no)]
    discuss_from: Annotated[int | None, DatasetSetting(say("a distance 1-3, or off"), "the distance from which the annotators of a disagreement are asked to read each other's notes before a lead decides", _or_none(_whole(1, 3), OFF))]
    profile: Annotated[str, DatasetSetting(say("one of {names}", names=", ".join(PROFILE_NAMES)), "the evaluator whose measures the page Evaluation shows first", _make_choice_reader(*PROFILE_NAMES))]
    requirements: Annotated[Mapping[str, Any] | None, DatasetSetting(say("{templates}, none, or a YAML file", templates=", ".join(TEMPLATES)), "what the queries and qrels must cover", _requirements)]
    created_at: datetime
    archived_at: datetime | None = None
    # fmt: on

    @property
    def overlap_rules(self) -> dict[str, Any] | None:
        """Return the exceptions to the overlap, as `domain/settling.py` reads them."""
        rules = {rule: getattr(self, name) for name, rule in RULES.items()}
        return {rule: value for rule, value in rules.items() if value is not None} or None


RECORDED: Mapping[str, DatasetSetting] = {
    name: hint.__metadata__[0]
    for name, hint in Dataset.__annotations__.items()
    if hasattr(hint, "__metadata__")
}
"""The settings that are fields of `Dataset`."""
SETTINGS: Mapping[str, DatasetSetting] = {
    **{name: setting for name, setting in RECORDED.items() if name != "requirements"},
    SEARCH_HOSTS: DatasetSetting(
        say("hosts with their ports and commas between, such as es.example.org:9200, or none"),
        "the hosts that import run --from may send this dataset's queries to",
        _or_none(_hosts),
    ),
    "requirements": RECORDED["requirements"],
}


def read_setting(name: str, text: str) -> Any:
    """Return the value of one `KEY=VALUE`. Raises ValidationError with the expected values."""
    setting = SETTINGS.get(name)
    if setting is None:
        known = "\n".join(f"  {key}: {one.meaning} ({one.expected})" for key, one in SETTINGS.items())
        raise ValidationError(f"no setting named {name!r}; there are:\n{known}")
    check_text(name, text, empty=None)
    try:
        return setting.read(text)
    except (ValueError, AttributeError, TypeError):
        raise ValidationError(
            say(
                "{name}: expected {expected}, found {found!r}",
                name=name,
                expected=setting.expected,
                found=text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…",
            )
        ) from None


def write_setting(name: str, value: Any) -> str:
    """Return the text that `read_setting` reads as this value."""
    if value is None:
        return {"language": "", "discuss_from": OFF}.get(name, NONE)
    if name == "overlap_by_category":
        plain = ",".join(f"{category}={overlap}" for category, overlap in value.items())
        return plain if _can_read(name, plain, dict(value)) else json.dumps(dict(value), ensure_ascii=False)
    if name == "overlap_share":
        return f"{value['share']:g}:{value['overlap']}"
    if name == "requirements":
        return json.dumps(dict(value), ensure_ascii=False)
    if name == SEARCH_HOSTS:
        return ",".join(value) or NONE
    if name == "shown_metadata":
        plain = ",".join(value)
        return plain if _can_read(name, plain, list(value)) else json.dumps(list(value), ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _can_read(name: str, text: str, value: Any) -> bool:
    try:
        return bool(read_setting(name, text) == value)
    except ValidationError:
        return False
