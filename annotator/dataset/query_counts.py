"""Count documents, fields and words of a ground truth for the coverage table, one query at a time.

Values count as written. `match` finds a required label and ignores case, white space, `-` and `_`
(`cross-law` is `cross_law`). Words are counted without a dictionary, so every machine gets the same count.
White space separates pieces. A piece with Hangul is one word, the eojeol (`도시계획을`). Elsewhere each run of
kanji, katakana or hiragana is a word, and each other run of letters with its punctuation
(`nablarch.fw.handler.RetryHandler`): `Webサービスの構成` is Web, サービス, の, 構成, close to a morphological analyser. A
piece without letter or digit (`–`, 🔎) is no word. Counts are too low for other languages without spaces
(Thai, Khmer).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from annotator.dataset.records import QueryFacts
from annotator.domain.ground_truth import QUERY_FIELDS, Query

MOST_MEDIUM = 8  # words
KEPT = 20_000  # cached query lengths: pages measure coverage again and again
SHORT, MEDIUM, LONG = "short", "medium", "long"
LENGTHS: dict[str, str] = {SHORT: "up to 3 words", MEDIUM: "4 to 8 words", LONG: "9 words and more"}

_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb\uffa1-\uffdc]")
_KANJI = "\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u3096\u3099\u309a\u309d-\u309f"
_KATAKANA = "\u3099\u309a\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_MARKS = "\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_RUN = re.compile(f"[{_KANJI}]+|[{_HIRAGANA}]+|[{_KATAKANA}]+|[^{_KANJI}{_HIRAGANA}{_KATAKANA}{_MARKS}]+")


def count_words(text: str) -> int:
    """Return the number of words of a text; 0 for one without letters and digits."""
    return sum(_count_in_piece(piece) for piece in text.split())


@lru_cache(KEPT)
def name_length(text: str) -> str | None:
    """Return the length class of a query; None without a text.

    "short" has up to 3 words, "medium" 4 to 8, "long" 9 and more.
    """
    if not text.strip():
        return None
    words = count_words(text)
    return SHORT if words <= 3 else MEDIUM if words <= MOST_MEDIUM else LONG


def _count_in_piece(piece: str) -> int:
    if piece.isascii():  # one run, without a need to look for scripts
        return 1 if piece.isalnum() or any(character.isalnum() for character in piece) else 0
    if _HANGUL.search(piece):
        return 1
    return sum(any(character.isalnum() for character in run) for run in _RUN.findall(piece))


NAMED = 20
LENGTH = "length"  # counted like a field: short, medium or long
_YES = frozenset({"true", "yes", "1"})
Counts = Counter[str | None]


@dataclass(slots=True)
class QueryTally:
    """Counts over all queries. The label None: the query has no value.

    `by_field`, `by_field_and_category`: counts of the requested further fields. `across`: queries marked as
    across domains; `domains_within`: domains of the other queries. `relevant`: number of relevant documents
    per query. The `without_…` and `one_…` lists hold query ids in order, including `disputed` queries, where
    the answer is still open.
    """

    queries: int = 0
    by_grade: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    categories: Counts = field(default_factory=Counter)
    languages: Counts = field(default_factory=Counter)
    difficulty: Counts = field(default_factory=Counter)
    query_types: Counts = field(default_factory=Counter)
    lengths: Counts = field(default_factory=Counter)
    languages_by_category: dict[str | None, Counts] = field(default_factory=dict)
    lengths_by_category: dict[str | None, Counts] = field(default_factory=dict)
    domains_by_type: dict[str | None, Counts] = field(default_factory=dict)
    by_field: dict[str, Counts] = field(default_factory=dict)
    by_field_and_category: dict[str, dict[str | None, Counts]] = field(default_factory=dict)
    across: int = 0
    domains_within: Counts = field(default_factory=Counter)
    relevant: list[tuple[str, int]] = field(default_factory=list)
    ungraded: list[str] = field(default_factory=list)
    without_relevant: list[str] = field(default_factory=list)
    without_grade_2: list[str] = field(default_factory=list)
    one_relevant: list[str] = field(default_factory=list)
    one_grade: list[str] = field(default_factory=list)
    disputed: list[str] = field(default_factory=list)


def tally_queries(
    facts: Iterable[QueryFacts], *, fields: Iterable[str] = (), across_field: str | None = None
) -> QueryTally:
    """Count everything in one pass. `fields`: further fields to count.

    `across_field`: the field that marks a query as across domains."""
    tally, names = QueryTally(), tuple(dict.fromkeys(fields))
    for fact in facts:
        _count_query(tally, fact)
        _count_fields(tally, fact.query, names)
        if across_field is not None and _is_across(_find_value(fact.query, across_field)):
            tally.across += 1
        else:
            tally.domains_within[fact.query.primary_domain] += 1
        _count_documents(tally, fact)
    return tally


def _count_query(tally: QueryTally, fact: QueryFacts) -> None:
    query, length = fact.query, name_length(fact.query.text)
    tally.queries += 1
    tally.categories[query.category] += 1
    tally.languages[query.language] += 1
    tally.difficulty[query.difficulty] += 1
    tally.query_types[query.query_type] += 1
    tally.lengths[length] += 1
    tally.languages_by_category.setdefault(query.category, Counter())[query.language] += 1
    tally.lengths_by_category.setdefault(query.category, Counter())[length] += 1
    tally.domains_by_type.setdefault(query.query_type, Counter())[query.primary_domain] += 1


def _count_fields(tally: QueryTally, query: Query, names: tuple[str, ...]) -> None:
    for name in names:
        label = name_value(_find_value(query, name))
        tally.by_field.setdefault(name, Counter())[label] += 1
        by_category = tally.by_field_and_category.setdefault(name, {})
        by_category.setdefault(query.category, Counter())[label] += 1


def _find_value(query: Query, name: str) -> Any:
    if name == LENGTH:
        return name_length(query.text)
    return getattr(query, name) if name in QUERY_FIELDS else query.metadata.get(name)


def name_value(value: Any) -> str | None:
    """Return a field's value as a label; None without a value."""
    if value is None or value == "" or value == []:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _is_across(value: Any) -> bool:
    """Return whether a query's value means across domains: true, or a list of at least two domains."""
    if isinstance(value, list):
        return len(value) > 1
    return value is True or (isinstance(value, str) and _fold(value) in _YES)


def _count_documents(tally: QueryTally, fact: QueryFacts) -> None:
    query_id, relevant = fact.query.query_id, sum(fact.by_grade[1:])
    for grade, number in enumerate(fact.by_grade):
        tally.by_grade[grade] += number
    tally.relevant.append((query_id, relevant))
    if fact.disputed:
        tally.disputed.append(query_id)
    if not any(fact.by_grade):
        tally.ungraded.append(query_id)
    if not relevant:
        tally.without_relevant.append(query_id)
    if not fact.by_grade[2] + fact.by_grade[3]:
        tally.without_grade_2.append(query_id)
    if relevant == 1:
        tally.one_relevant.append(query_id)
    if sum(map(bool, fact.by_grade)) == 1:
        tally.one_grade.append(query_id)


def match(counts: Mapping[str | None, int], label: str) -> int:
    """Return the count of this label, however its words are joined."""
    wanted = _fold(label)
    return sum(
        number for present, number in counts.items() if present is not None and _fold(present) == wanted
    )


def count_others(counts: Mapping[str | None, int], labels: Iterable[str]) -> dict[str | None, int]:
    """Return the counts of all other labels, most frequent first."""
    folded_labels = {_fold(label) for label in labels}
    others = {
        present: number
        for present, number in counts.items()
        if present is None or _fold(present) not in folded_labels
    }
    return dict(sorted(others.items(), key=lambda item: (-item[1], item[0] is None, item[0] or "")))


def same_label(value: str | None, label: str) -> bool:
    """Return whether a query's value equals the label, as `match` compares labels."""
    return value is not None and _fold(value) == _fold(label)


def _fold(label: str) -> str:
    return re.sub(r"[\s_-]+", "_", label.strip()).casefold()
