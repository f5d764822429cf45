"""Decide which candidates stay out of a pool: by a field, title or length, or all but the best of each value.

Values are compared exactly, including case, in Unicode form NFC: file names of a Mac store か and ゙ as two
characters, and Hangul as single letters. A list matches if one of its members does. A number or true/false is
compared as JSON writes it. Null and missing fields match nothing. Pairs of the pool are never left out and
come before all others.

Titles are matched with a typed regular expression. Some expressions, such as `(a+)+$`, would search for
years. Others, such as large ranges after `(?i)`, take seconds to compile. Python can stop neither. So a
separate process compiles the expression and searches the titles. It is ended at the limit.
"""

import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from annotator.domain.errors import ValidationError
from annotator.domain.messages import join_first, say
from annotator.pooling.filters.near_duplicates import SimilarTexts, read_threshold
from annotator.pooling.rounds.round_records import LeftOut

NEAR_DUPLICATE = "near-duplicate"
"""The name of the rule for near duplicates begins like this. A colon and the threshold follow."""


@dataclass(frozen=True, slots=True)
class ExcludedValue:
    """Leave out documents in which `field` has this value. `field`: nested by dots."""

    field: str
    value: str

    @property
    def rule(self) -> str:
        """Return the name of the rule in reports and in the database."""
        return f"exclude:{self.field}={self.value}"


@dataclass(frozen=True, slots=True)
class NearDuplicateRule:
    """Leave out documents that say the same as a better ranked one. `threshold`: 0.5 to 1; None: equal texts only."""

    threshold: float | None

    @property
    def rule(self) -> str:
        return f"{NEAR_DUPLICATE}:{'exact' if self.threshold is None else self.threshold}"


@dataclass(frozen=True, slots=True)
class PoolFilters:
    """The rules that keep candidates out of a pool, in the order in which they apply.

    `title_patterns`: regular expressions of Python. `min_length`: in characters of the text. `one_per`: a
    field of documents; only the best ranked document of each value enters the pool of a query.
    """

    excluded: tuple[ExcludedValue, ...] = ()
    title_patterns: tuple[str, ...] = ()
    min_length: int = 0
    one_per: str | None = None
    near_duplicates: NearDuplicateRule | None = None

    def __bool__(self) -> bool:
        return bool(
            self.excluded or self.title_patterns or self.min_length or self.one_per or self.near_duplicates
        )

    def list_rules(self) -> list[str]:
        """Return the names of the rules."""
        return [
            *(excluded.rule for excluded in self.excluded),
            *map(name_title_rule, self.title_patterns),
            *([name_length_rule(self.min_length)] if self.min_length else []),
            *([name_one_per_rule(self.one_per)] if self.one_per else []),
            *([self.near_duplicates.rule] if self.near_duplicates else []),
        ]


NO_FILTERS = PoolFilters()


def name_title_rule(pattern: str) -> str:
    """Return the name of the rule that leaves out documents with a matching title."""
    return f"exclude-title:{pattern}"


def name_length_rule(characters: int) -> str:
    """Return the name of the rule that leaves out documents with a shorter text."""
    return f"min-length:{characters}"


def name_one_per_rule(field: str) -> str:
    """Return the name of the rule that leaves out all but the best document of each value of the field."""
    return f"one-per:{field}"


@dataclass(frozen=True, slots=True)
class FilteredDocument:
    """A document as the rules see it. `length`: characters of its text; None if unknown or without a text."""

    document_pk: int
    doc_id: str
    title: str
    url: str | None
    media_type: str
    extra: Mapping[str, Any]
    length: int | None


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate of one query. `in_pool`: it is already a pair, and no rule leaves it out."""

    document_pk: int
    in_pool: bool


OWN_FIELDS = ("doc_id", "title", "url", "media_type")
"""The fields of every document. All others are in `extra`."""
MOST_FIELDS_NAMED = 30
DEEPEST = 20


def read_filters(
    *,
    exclude: Sequence[str] = (),
    exclude_title: Sequence[str] = (),
    min_length: int | None = None,
    one_per: str | None = None,
    near_duplicates: str | None = None,
) -> PoolFilters:
    """Return the typed rules. Raises ValidationError with the name of the wrong option.

    `exclude`: each FIELD=VALUE; the first equals sign ends the field.
    """
    excluded = []
    for text in exclude:
        field, equals, value = text.partition("=")
        if not equals or not field.strip():
            raise ValidationError(say("exclude: expected FIELD=VALUE, found {found!r}", found=text))
        excluded.append(ExcludedValue(field.strip(), value))
    for pattern in exclude_title:
        check_pattern(pattern)
    if min_length is not None and min_length < 0:
        raise ValidationError(
            say("minimum length: expected 0 or more characters, found {found}", found=min_length)
        )
    if one_per is not None and not one_per.strip():
        raise ValidationError(say("one per: expected a field of documents, found nothing"))
    rule = NearDuplicateRule(read_threshold(near_duplicates)) if near_duplicates is not None else None
    return PoolFilters(
        tuple(dict.fromkeys(excluded)),
        tuple(dict.fromkeys(exclude_title)),
        min_length or 0,
        one_per.strip() if one_per else None,
        rule,
    )


def list_field_names(documents: Iterable[FilteredDocument]) -> set[str]:
    """Return the fields of these documents, nested ones with dots. OWN_FIELDS are always included."""
    names = set(OWN_FIELDS)
    for document in documents:
        names.update(_name_fields(document.extra, "", DEEPEST))
    return names


def list_unknown_fields(filters: PoolFilters, names: Collection[str]) -> list[str]:
    """Return the fields of the rules that are not in `names`."""
    fields = dict.fromkeys(excluded.field for excluded in filters.excluded)
    if filters.one_per:
        fields[filters.one_per] = None
    return [field for field in fields if field not in names]


def refuse_fields(unknown: Sequence[str], names: Collection[str]) -> None:
    """Raise ValidationError for an unknown field. The message names the existing fields."""
    if not unknown:
        return
    own = [name for name in OWN_FIELDS if name in names]
    others = sorted(set(names) - set(own))
    existing = join_first([*own, *others], MOST_FIELDS_NAMED)
    raise ValidationError(
        say("no document has the field {field!r}; there are: {names}", field=unknown[0], names=existing)
    )


def list_values(document: FilteredDocument, field: str) -> list[str]:
    """Return the values of a field as texts in NFC, a list by its members; [] without a value."""
    if field in OWN_FIELDS:
        value = getattr(document, field)
        return [] if value is None else [_write_value(value)]
    return [_write_value(value) for value in _walk(document.extra, field)]


def find_excluded(
    document: FilteredDocument, filters: PoolFilters, title_rules: Mapping[int, str]
) -> str | None:
    """Return the first rule that keeps a document out of every query's pool, or None.

    `title_rules`: {document_pk: the rule that its title matches}. A document without a text has the length 0.
    """
    for excluded in filters.excluded:
        if unicodedata.normalize("NFC", excluded.value) in list_values(document, excluded.field):
            return excluded.rule
    if document.document_pk in title_rules:
        return title_rules[document.document_pk]
    if (document.length or 0) < filters.min_length:
        return name_length_rule(filters.min_length)
    return None


def choose_one_per(
    ranked: Sequence[RankedCandidate], documents: Mapping[int, FilteredDocument], field: str
) -> dict[int, int]:
    """Return {document to leave out: the document that stays for the same value of the field}.

    `ranked`: the documents of one query, first those of the pool, then the best ranked. A document without a
    value stays. A whole list is one value.
    """
    kept: dict[tuple[str, ...], int] = {}
    left_out: dict[int, int] = {}
    for candidate in ranked:
        values = tuple(list_values(documents[candidate.document_pk], field))
        if not values:
            continue
        first = kept.setdefault(values, candidate.document_pk)
        if first != candidate.document_pk and not candidate.in_pool:
            left_out[candidate.document_pk] = first
    return left_out


def rank_candidates(
    candidates: Iterable[tuple[int, int, float]], pool: Mapping[int, Collection[int]]
) -> dict[int, list[RankedCandidate]]:
    """Return {query_pk: its documents}, first those of the pool, then the candidates by rank and key.

    `candidates`: (query_pk, document_pk, rank). `pool`: by query_pk, the documents that are already pairs, in
    order. Queries without candidates are absent.
    """
    ranks: dict[int, list[tuple[float, int]]] = {}
    for query_pk, document_pk, rank in candidates:
        ranks.setdefault(query_pk, []).append((rank, document_pk))
    ranked: dict[int, list[RankedCandidate]] = {}
    for query_pk in sorted(ranks):
        pooled = pool.get(query_pk, ())
        ranked[query_pk] = [
            *(RankedCandidate(document_pk, True) for document_pk in pooled),
            *(RankedCandidate(pk, False) for _, pk in sorted(ranks[query_pk]) if pk not in pooled),
        ]
    return ranked


def leave_out(
    ranked: Mapping[int, Sequence[RankedCandidate]],
    documents: Mapping[int, FilteredDocument],
    filters: PoolFilters,
    title_rules: Mapping[int, str],
) -> list[LeftOut]:
    """Return the candidates that stay out by any rule but near duplicates, each with its first rule."""
    rules = {pk: find_excluded(document, filters, title_rules) for pk, document in documents.items()}
    left_out: list[LeftOut] = []
    for query_pk, candidates in ranked.items():
        entering = []
        for candidate in candidates:
            rule = None if candidate.in_pool else rules[candidate.document_pk]
            if rule is None:
                entering.append(candidate)
            else:
                left_out.append(LeftOut(query_pk, candidate.document_pk, rule))
        if filters.one_per:
            rule = name_one_per_rule(filters.one_per)
            kept = choose_one_per(entering, documents, filters.one_per)
            left_out += [LeftOut(query_pk, document, rule, kept_pk) for document, kept_pk in kept.items()]
    return left_out


def leave_out_duplicates(
    ranked: Mapping[int, Sequence[RankedCandidate]],
    rule: NearDuplicateRule,
    similar: SimilarTexts,
    read_texts: Callable[[Collection[int]], Iterable[tuple[int, str]]],
) -> list[LeftOut]:
    """Return the candidates that stay out as near duplicates of better ranked ones.

    `read_texts`: yields (document_pk, text) of the few documents that must be compared.
    """
    by_query = {query_pk: [item.document_pk for item in items] for query_pk, items in ranked.items()}
    suspects = {query_pk: similar.list_suspects(documents) for query_pk, documents in by_query.items()}
    texts = dict(read_texts(set().union(*suspects.values())))
    left_out: list[LeftOut] = []
    for query_pk, items in ranked.items():
        if not suspects[query_pk]:
            continue
        in_pool = {item.document_pk for item in items if item.in_pool}
        ordered = [document for document in by_query[query_pk] if document in suspects[query_pk]]
        kept = similar.find_duplicates(ordered, in_pool, texts)
        left_out += [LeftOut(query_pk, document, rule.rule, kept_pk) for document, kept_pk in kept.items()]
    return left_out


def _name_fields(value: Mapping[str, Any], prefix: str, depth: int) -> Iterator[str]:
    for key, item in value.items():
        name = f"{prefix}{key}"
        members = item if isinstance(item, list) else [item]
        if any(member is not None and not isinstance(member, Mapping) for member in members):
            yield name
        for member in members:
            if isinstance(member, Mapping) and depth:
                yield from _name_fields(member, f"{name}.", depth - 1)


def _walk(value: Any, field: str) -> Iterator[Any]:
    """Yield the values at a dotted name. Keys may contain dots themselves."""
    if isinstance(value, list):
        for member in value:
            yield from _walk(member, field)
    elif isinstance(value, Mapping):
        if field in value:
            yield from _list_members(value[field])
        parts = field.split(".")
        for cut in range(1, len(parts)):
            key = ".".join(parts[:cut])
            if key in value:
                yield from _walk(value[key], ".".join(parts[cut:]))


def _list_members(value: Any) -> Iterator[Any]:
    for member in value if isinstance(value, list) else [value]:
        if member is not None and not isinstance(member, Mapping | list):
            yield member


def _write_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return unicodedata.normalize("NFC", text)


LONGEST_PATTERN = 1_000
SECONDS = 10.0
_SEARCH = """
import json, re, sys
if sys.platform != "win32":
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CPU, (60, resource.RLIM_INFINITY))
request = json.load(sys.stdin)
try:
    pattern = re.compile(request["pattern"])
except (re.error, OverflowError, RecursionError) as error:
    fault = {"position": getattr(error, "pos", None) or 0, "why": getattr(error, "msg", None) or str(error)}
    json.dump(fault, sys.stdout)
else:
    json.dump([number for number, title in request["titles"] if pattern.search(title)], sys.stdout)
"""


@lru_cache(maxsize=100)
def check_pattern(pattern: str) -> None:
    """Raise ValidationError, with the position, unless the text is a valid pattern of at most LONGEST_PATTERN characters."""
    match_titles(pattern, {})


def match_titles(pattern: str, titles: Mapping[int, str], *, seconds: float = SECONDS) -> set[int]:
    """Return the keys of the titles that contain a match of the pattern.

    Raises ValidationError for a wrong pattern, or if compiling it and the search take more than `seconds`.
    """
    if not pattern or len(pattern) > LONGEST_PATTERN:
        raise ValidationError(
            say(
                "title: expected a regular expression of 1 to {most:,} characters, found {found:,}",
                most=LONGEST_PATTERN,
                found=len(pattern),
            )
        )
    listed = [(key, unicodedata.normalize("NFC", title)) for key, title in titles.items()]
    request = json.dumps({"pattern": unicodedata.normalize("NFC", pattern), "titles": listed})
    try:
        done = subprocess.run(
            (sys.executable, "-I", "-c", _SEARCH),
            input=request.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        raise ValidationError(
            say(
                "title: expected a regular expression that takes at most {seconds:g} seconds, found {found!r}, which takes longer; avoid repeats inside repeats, such as (a+)+",
                seconds=seconds,
                found=pattern,
            )
        ) from None
    answer = json.loads(done.stdout)
    if isinstance(answer, dict):
        raise ValidationError(
            say(
                "title: expected a regular expression, found {found!r}, wrong at character {position}: {why}",
                found=pattern,
                position=answer["position"] + 1,
                why=answer["why"],
            )
        )
    return set(answer)
