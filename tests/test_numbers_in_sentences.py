"""Every sentence with a number agrees with it, for 0, 1 and 2 and in every language; and figures in text are short."""

import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.figures import fill as fill_in
from annotator.domain.messages import LANGUAGES, Message
from annotator.web.kit.messages import tr, use_language
from tests.message_survey import list_sentences

ROOT = Path(__file__).parents[1]
NOUNS = (
    "queries|pairs|documents|judgments|qrels|annotators|days|results|requirements|disagreements|disputes|people|questions|"
    "decisions|errors|leads|systems|runs|texts|files|lines|rows|sections"
)
COUNTED = re.compile(rf"\{{[a-z_]+(?::,)?\}} (?:[a-z-]+ )?(?:{NOUNS})\b")
ALWAYS_MANY = re.compile("|".join(map(re.escape, (
    "{least_pairs} pairs of {least_queries} queries",  # a constant: 30 pairs of 10 queries
    "{tier} queries",  # 30, 100, 500
    "at most {most:,} decisions", "at most {most:,} new annotators", "at most {n} judgments of one",  # constants
    "{n} annotators who", "{n} of {all:,} annotators",  # drawn of many
    "{of} gold pairs", "{of:,} gold pairs",  # said from a few on
    "The first {shown} of {all} queries", "your last {timed:,} judgments", "The first {shown} of {all} errors",  # only where they are too many to show
    "annotator dataset set {dataset} requirements=",  # a command
    "{first} to {last} of {all} people",  # only where there are several pages
    "{groups} groups and {systems} systems are drawn", "group of at least {n} queries", "the {n} best systems",  # constants
    "Drawn: {drawn} of {total:,} queries", "Listed: {n} of {all:,} queries",  # only where they are too many to show
    "Listed: {listed} of {total:,} failed queries", "Listed: {listed} of {total:,} unjudged documents",  # the same
    "{measure} these queries", "by recall and precision in the first {depth} results",  # no count; 10 or more
    "{queries:,} queries can show",  # power needs two queries
    "{measure} these queries",  # no number
    "first {depth} results", "at most {groups} groups and {systems} systems", "at least {n} queries",  # constants
    "up to {most:,} relevant documents",  # a constant
    "sheets of at most {n} rows", "A file of relations has at most {n} lines",  # constants
    "a list of {n} documents at most, since {rule} gives no grade behind that place (add one)",  # a limit of the file's own
    "{n} best systems", "{drawn} of {total:,} queries", "{listed} of {total:,}", "{n} of {all:,} queries",  # drawn of many
    "{before:,} and {after:,} queries",  # two numbers that differ
    "ast {days} days", "judgments in {days} days", "decisions in {days} days",  # a constant: 7
    "Up to {mb} MB and {files} files",  # constants
    "you need about {needed:,} queries",  # power needs two queries
    "all {population} settled pairs", "first {shown} of {all} errors",  # drawn of many; only where they are too many to show
    "{missing:,} of {queries:,} queries",  # a run has results for one query at least
))))  # fmt: skip


def fill(template: str, number: int) -> dict[str, Any]:
    """A value for every place: a number where it is formatted as one, else a word."""
    values: dict[str, Any] = {}
    for _, name, spec, _ in string.Formatter().parse(template):
        if name is not None:
            values[name] = number if name == "n" or spec else "x"
    return values


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_every_sentence_with_a_number_reads_well(language: str, number: int) -> None:
    use_language(language)
    for singular, many in sorted(key for key in list_sentences() if len(key) == 2):
        message = Message(singular, fill(singular, number) | fill(many, number), plural=many, n=number)
        sentence = tr(message)
        assert "{" not in sentence, (language, singular)
        assert not re.search(r"[이가은는을를와과로]\([가-힣]+\)", sentence), (language, sentence)
        if language == "en":
            assert sentence == fill_in(singular if number == 1 else many, message.values)


def test_a_sentence_that_counts_has_a_singular() -> None:
    """Heuristic, by the nouns that this program counts; what can never be one is listed with its reason."""
    singles = sorted(key[0] for key in list_sentences() if len(key) == 1)
    missing = [single for single in singles if COUNTED.search(ALWAYS_MANY.sub("", single))]
    assert missing == []


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    use_language("en")


TEXTS = [
    *sorted((ROOT / "tests" / "golden" / "releases").glob("*.md")),
    *sorted((ROOT / "exports" / "sample").rglob("*.md")),
]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_figure_in_text_has_at_most_three_decimals(path: Path) -> None:
    assert re.findall(r"\d\.\d{4,}", path.read_text("utf-8")) == []
