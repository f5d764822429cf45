"""Compare a ground truth with its required coverage: rows of the coverage table, with translatable texts.

A required number is a minimum. A share must lie within a tolerance (or half a query, if the share of few
queries is not a whole number). Relevant means grade 1, 2 or 3. A query without graded documents counts as
without relevant documents. A query with an open disagreement is counted separately: the limits on such
queries ignore it. Figures come from `query_counts.py`, keys from `coverage_requirements.py`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import ge
from statistics import median
from typing import Any

from annotator.dataset.coverage_requirements import DEFAULT_TOLERANCE, SIZE_TIERS
from annotator.dataset.query_counts import (
    LENGTHS,
    NAMED,
    Counts,
    QueryTally,
    count_others,
    match,
    same_label,
    tally_queries,
)
from annotator.dataset.records import Coverage, CoverageRow, QueryFacts
from annotator.domain.figures import show_decimals, show_figure, show_number, show_percent
from annotator.domain.messages import join, say, say_n

NAMED_IN_ROW = 3


def show_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {show_number(number)}" for label, number in counts.items())


def show_labels(counts: Counts, labels: list[str]) -> str:
    """Return these labels with their counts, then the other labels by frequency. Shortens a long list."""
    parts = [join([label, show_number(match(counts, label))], " ") for label in labels]
    parts += [
        join([name_label(label), show_number(number)], " ")
        for label, number in count_others(counts, labels).items()
    ]
    return _shorten(parts)


def show_shares(counts: Counts, labels: list[str], queries: int) -> str:
    counted = [(label, match(counts, label)) for label in labels]
    counted += [(name_label(label), number) for label, number in count_others(counts, labels).items()]
    shares = [
        (label, f"{show_percent(number / (queries or 1), 0)} ({show_number(number)})")
        for label, number in counted
    ]
    return _shorten([join(parts, " ") for parts in shares])


def name_label(label: str | None) -> str:
    return say("(not said)") if label is None else label


def _shorten(parts: Sequence[str]) -> str:
    if not parts:
        return say("none")
    more, named = len(parts) - NAMED, join(parts[:NAMED])
    return say("{named} and {more} more", named=named, more=more) if more > 0 else named


def show_ids(ids: list[str]) -> str:
    if not ids:
        return say("none")
    more = ", …" if len(ids) > NAMED_IN_ROW else ""
    return f"{len(ids):,} ({', '.join(ids[:NAMED_IN_ROW])}{more})"


Requirements = Mapping[str, Any]
RELEVANT = say("relevant documents per query")
MEAN = say("relevant documents per query, on the mean")
TOTAL = say("relevant documents in all")
_UNGRADED = say("queries without any graded document")
_BY_KEY = {
    "most_without_relevant": say("queries without a relevant document"),
    "most_without_grade_2": say("queries without a document of grade 2 or 3"),
    "most_with_one_relevant": say("queries with one relevant document"),
    "most_with_one_grade": say("queries with one grade only"),
}
ROWS_OF_DOCUMENTS = frozenset(
    {RELEVANT, MEAN, TOTAL, _UNGRADED, *_BY_KEY.values()}
)  # all other rows need queries only


def measure_coverage(facts: Iterable[QueryFacts], requirements: Requirements | None) -> Coverage:
    """Measure the coverage of these queries. `requirements`: from `read_requirements`; None: figures only."""
    requirements = requirements or {}
    across_field = requirements.get("domains", {}).get("across_field")
    tally = tally_queries(facts, fields=list_fields(requirements), across_field=across_field)
    rows = (
        *_rows_of_size(tally, requirements),
        *_rows_of_categories(tally, requirements),
        *_rows_of_shares(tally, requirements),
        *_rows_of_domains(tally, requirements),
        *_rows_of_documents(tally, requirements),
    )
    required = [row for row in rows if row.met is not None]
    return Coverage(
        rows, len(required), sum(bool(row.met) for row in required), _list_figures(tally, requirements)
    )


def list_fields(requirements: Requirements) -> tuple[str, ...]:
    """Return the fields that the requirements name under `shares` and `per_category`."""
    return tuple(dict.fromkeys([*requirements.get("shares", {}), *requirements.get("per_category", {})]))


def find_size_tier(queries: int) -> int | None:
    """Return the largest size (30, 100, 500) that this number of queries reaches; None below 30."""
    return max((tier for tier in SIZE_TIERS if queries >= tier), default=None)


# Rows ---------------------------------------------------------------------------------------------


def _rows_of_size(tally: QueryTally, requirements: Requirements) -> Iterator[CoverageRow]:
    queries = requirements.get("queries")
    required = say("at least {least:,}", least=queries) if queries is not None else ""
    yield _row(say("queries"), required, show_number(tally.queries), tally.queries >= (queries or 0))
    tier, wanted_tier = find_size_tier(tally.queries), requirements.get("size_tier")
    following = next((size for size in SIZE_TIERS if size > tally.queries), None)
    measured = say("{tier} queries", tier=tier) if tier else say("below {tier} queries", tier=SIZE_TIERS[0])
    if following:
        more = following - tally.queries
        measured = say(
            "{size} ({more:,} more for {following})", size=measured, more=more, following=following
        )
    required = say("{tier} queries", tier=wanted_tier) if wanted_tier else ""
    yield _row(say("size"), required, measured, (tier or 0) >= (wanted_tier or 0))


def _rows_of_categories(tally: QueryTally, requirements: Requirements) -> Iterator[CoverageRow]:
    per = requirements.get("queries_per_category")
    named = list(per) if isinstance(per, Mapping) else None
    present = [category for category in tally.categories if category is not None]
    required: str
    if isinstance(per, Mapping):
        is_met = all(match(tally.categories, name) >= least for name, least in per.items())
        required = say("at least {least}", least=show_counts(per))
    else:
        is_met = bool(present) and all(tally.categories[name] >= (per or 0) for name in present)
        required = say("at least {least} in each", least=per) if per is not None else ""
    yield _row(say("queries per category"), required, show_labels(tally.categories, named or present), is_met)
    for key, name, by_category in (
        ("languages_per_category", say("languages"), tally.languages_by_category),
        ("lengths_per_category", say("lengths"), tally.lengths_by_category),
    ):
        least = requirements.get(key)
        if least:
            yield from _rows_by_category(name, by_category, least, named or present)
    for field, counts in requirements.get("per_category", {}).items():
        by_category = tally.by_field_and_category.get(field, {})
        yield from _rows_by_category(field, by_category, counts, named or present)


def _rows_by_category(
    name: str, by_category: Mapping[str | None, Counts], least: Mapping[str, int], categories: list[str]
) -> Iterator[CoverageRow]:
    required = say("at least {least}", least=show_counts(least))
    if not categories:
        yield CoverageRow(
            say("{what} per category", what=name), required, say("no query has a category"), False
        )
    for category in categories:
        counts: Counts = Counts()
        for present, numbers in by_category.items():
            if same_label(present, category):
                counts.update(numbers)
        is_met = all(match(counts, label) >= number for label, number in least.items())
        yield CoverageRow(
            say("{what} in {category}", what=name, category=category),
            required,
            show_labels(counts, list(least)),
            is_met,
        )


def _rows_of_shares(tally: QueryTally, requirements: Requirements) -> Iterator[CoverageRow]:
    tolerance = float(requirements.get("tolerance", DEFAULT_TOLERANCE))
    for key, name, counts in (
        ("languages", say("languages"), tally.languages),
        ("difficulty", say("difficulty"), tally.difficulty),
        ("query_types", say("query types"), tally.query_types),
        ("lengths", say("query lengths"), tally.lengths),
    ):
        yield _row_of_shares(
            name,
            counts,
            requirements.get(key, {}),
            tally.queries,
            tolerance,
            always=LENGTHS if key == "lengths" else (),
        )
    for field, shares in requirements.get("shares", {}).items():
        name, counts = say("shares of {field}", field=field), tally.by_field.get(field, Counts())
        yield _row_of_shares(name, counts, shares, tally.queries, tolerance)


def _row_of_shares(
    name: str,
    counts: Counts,
    shares: Mapping[str, float],
    queries: int,
    tolerance: float,
    *,
    always: Iterable[str] = (),
) -> CoverageRow:
    """Return a row that compares shares with the required shares.

    `always`: labels to show if no shares are required.
    """
    required = ", ".join(f"{label} {show_figure(share, 6)} %" for label, share in shares.items())
    labels = list(shares) or list(always)
    others = sum(count_others(counts, shares).values())
    counted = [(match(counts, label), share) for label, share in shares.items()]
    is_met = bool(queries) and all(
        _is_near(number, share, queries, tolerance) for number, share in [*counted, (others, 0.0)]
    )
    measured = show_shares(counts, labels, queries)
    near = say("{shares} (each ± {tolerance:g} points)", shares=required, tolerance=tolerance)
    return _row(name, near if shares else "", measured, is_met)


def _is_near(count: int, share: float, queries: int, tolerance: float) -> bool:
    return abs(count - share * queries / 100) <= max(tolerance * queries / 100, 0.5) + 1e-9


def _rows_of_domains(tally: QueryTally, requirements: Requirements) -> Iterator[CoverageRow]:
    rule: Mapping[str, Any] = requirements.get("domains", {})
    across, within = _split_domains(tally, rule)
    least: list[int] | Mapping[str, int] = rule.get("at_least", [])
    measured = show_labels(within, list(least) if isinstance(least, Mapping) else [])
    if "across_query_type" in rule or "across_field" in rule:
        measured = say("{found}; across domains {across}", found=measured, across=across)
    if not rule:
        yield _row(say("domains"), "", measured, False)
        return
    if isinstance(least, Mapping):
        required = say("at least {least}", least=show_counts(least))
        enough = all(match(within, name) >= number for name, number in least.items())
    else:
        sizes = sorted((number for name, number in within.items() if name is not None), reverse=True)
        wanted_sizes = sorted(least, reverse=True)
        required = say("at least {least}", least=", ".join(map(str, wanted_sizes)))
        enough = len(sizes) >= len(wanted_sizes) and all(map(ge, sizes, wanted_sizes))
    if "across" in rule:
        required = say("{sizes}, and {across} across", sizes=required, across=rule["across"])
    is_met: bool | None = enough and across >= rule.get("across", 0)
    start = rule.get("from_queries", 0)
    if tally.queries < start:
        required, is_met = (
            say_n("from {n:,} query on: {sizes}", "from {n:,} queries on: {sizes}", start, sizes=required),
            None,
        )
    yield CoverageRow(say("domains"), required, measured, is_met)


def _split_domains(tally: QueryTally, rule: Mapping[str, Any]) -> tuple[int, Counts]:
    if "across_field" in rule:
        return tally.across, tally.domains_within
    across_type: str | None = rule.get("across_query_type")
    across, within = 0, Counts()
    for query_type, domains in tally.domains_by_type.items():
        if across_type is not None and same_label(query_type, across_type):
            across += domains.total()
        else:
            within.update(domains)
    return across, within


def _rows_of_documents(tally: QueryTally, requirements: Requirements) -> Iterator[CoverageRow]:
    listed = frozenset(requirements.get("queries_without_relevant", ()))
    disputed = frozenset(tally.disputed)
    yield _row_of_relevant(tally, requirements, listed)
    yield from _rows_of_mean_and_total(tally, requirements, listed)
    yield _row(_UNGRADED, "", show_ids(tally.ungraded), True)
    ids_by_key = {
        "most_without_relevant": tally.without_relevant,
        "most_without_grade_2": tally.without_grade_2,
        "most_with_one_relevant": tally.one_relevant,
        "most_with_one_grade": tally.one_grade,
    }
    for key, ids in ids_by_key.items():
        unlisted = [query_id for query_id in ids if query_id not in listed]
        lacking = [query_id for query_id in unlisted if query_id not in disputed]
        most = requirements.get(key)
        required = "" if most is None else say("at most {most:,}", most=most) if most else say("none")
        measured = show_ids(lacking)
        if len(unlisted) < len(ids):
            listed_so = len(ids) - len(unlisted)
            measured = say("{found}, and {listed} listed as such", found=measured, listed=listed_so)
        if len(lacking) < len(unlisted):
            unknown = len(unlisted) - len(lacking)
            measured = say("{found}, and {unknown:,} not yet known", found=measured, unknown=unknown)
        yield _row(_BY_KEY[key], required, measured, len(lacking) <= (most or 0))


def _row_of_relevant(tally: QueryTally, requirements: Requirements, listed: frozenset[str]) -> CoverageRow:
    counted = [number for query_id, number in tally.relevant if query_id not in listed]
    measured = say("no query")
    if counted:
        measured = say(
            "{least} to {most}, median {median:g}, {total:,} in all",
            least=min(counted),
            most=max(counted),
            median=median(counted),
            total=sum(counted),
        )
    limits = _choose_range(requirements.get("relevant_documents"), tally.queries)
    if limits is None:
        return _row(RELEVANT, "", measured, True)
    least, most = limits
    within = sum(least <= number <= (number if most is None else most) for number in counted)
    required = (
        say("{least} to {most}", least=least, most=most)
        if most is not None
        else say("at least {least}", least=least)
    )
    return CoverageRow(
        RELEVANT,
        required,
        say_n(
            "{within:,} of {n:,} query ({found})",
            "{within:,} of {n:,} queries ({found})",
            len(counted),
            within=within,
            found=measured,
        ),
        bool(counted) and within == len(counted),
    )


def _rows_of_mean_and_total(
    tally: QueryTally, requirements: Requirements, listed: frozenset[str]
) -> Iterator[CoverageRow]:
    """Yield the rows for mean and total of relevant documents, each only if required.

    `_row_of_relevant` shows these figures anyway.
    """
    counted = [number for query_id, number in tally.relevant if query_id not in listed]
    total = sum(counted)
    limits = _choose_range(requirements.get("relevant_documents_mean"), tally.queries)
    if limits is not None:
        least, most = limits
        enough = total >= least * len(counted) and (most is None or total <= most * len(counted))
        mean = show_decimals(total / len(counted)) if counted else "0"
        measured = say("{mean} ({total:,} over {queries:,})", mean=mean, total=total, queries=len(counted))
        yield CoverageRow(MEAN, _describe_range(limits), measured, bool(counted) and enough)
    limits = _choose_total(requirements.get("relevant_documents_total"), tally.queries)
    if limits is not None:
        least, most = limits
        yield CoverageRow(
            TOTAL, _describe_range(limits), show_number(total), least <= total <= (most or total)
        )


def _describe_range(limits: tuple[int, int | None]) -> str:
    least, most = limits
    if most is None:
        return say("at least {least:,}", least=least)
    return say("{least:,} to {most:,}", least=least, most=most)


def _choose_total(ranges: Any, queries: int) -> tuple[int, int | None] | None:
    """Return the required range of a total.

    Between two sizes it goes from the minimum of the smaller size to the maximum of the larger size.
    """
    if not isinstance(ranges, Mapping):
        return _choose_range(ranges, queries)
    least = _choose_range(ranges, queries)
    not_exceeded = [size for size in sorted(map(int, ranges)) if size >= queries]
    return (least[0] if least else 0), ranges[str(not_exceeded[0])][1] if not_exceeded else None


def _choose_range(ranges: Any, queries: int) -> tuple[int, int | None] | None:
    """Return the range of the largest size reached; below the smallest size, the range of the smallest."""
    if ranges is None:
        return None
    if isinstance(ranges, Mapping):
        sizes = sorted(int(size) for size in ranges)
        reached = [size for size in sizes if size <= queries]
        ranges = ranges[str(reached[-1] if reached else sizes[0])]
    return ranges[0], ranges[1]


def _row(name: str, required: str, measured: str, is_met: bool) -> CoverageRow:
    """Return a row. Without `required` it has no requirement, and `is_met` is ignored."""
    return CoverageRow(name, required, measured, is_met if required else None)


# For programs -------------------------------------------------------------------------------------


def _list_figures(tally: QueryTally, requirements: Requirements) -> dict[str, Any]:
    numbers = [number for _, number in tally.relevant]
    listed: list[str] = list(requirements.get("queries_without_relevant", ()))
    query_ids = {query_id for query_id, _ in tally.relevant} if listed else set()
    disputed = frozenset(tally.disputed)

    def leave_out_disagreements(ids: list[str]) -> list[str]:
        return [query_id for query_id in ids if query_id not in disputed]

    return {
        "queries": tally.queries,
        "size_tier": find_size_tier(tally.queries),
        "categories": _plain(tally.categories),
        "languages": _plain(tally.languages),
        "languages_by_category": {
            name_label(name): _plain(counts) for name, counts in tally.languages_by_category.items()
        },
        "difficulty": _plain(tally.difficulty),
        "query_types": _plain(tally.query_types),
        "lengths": _list_lengths(tally.lengths),
        "lengths_by_category": {
            name_label(name): _list_lengths(counts) for name, counts in tally.lengths_by_category.items()
        },
        "domains": _plain(sum(tally.domains_by_type.values(), Counts())),
        "qrels_by_grade": {str(grade): number for grade, number in enumerate(tally.by_grade)},
        "relevant_documents": {
            "total": sum(numbers),
            "least": min(numbers, default=None),
            "median": median(numbers) if numbers else None,
            "most": max(numbers, default=None),
        },
        "queries_ungraded": _first(tally.ungraded),
        "queries_without_relevant": _first(leave_out_disagreements(tally.without_relevant)),
        "queries_without_grade_2": _first(leave_out_disagreements(tally.without_grade_2)),
        "queries_with_one_relevant": _first(leave_out_disagreements(tally.one_relevant)),
        "queries_with_one_grade": _first(leave_out_disagreements(tally.one_grade)),
        "queries_disputed": _first(tally.disputed),
        "listed_without_relevant": listed,
        "listed_but_unknown": [query_id for query_id in listed if query_id not in query_ids],
    }


def _plain(counts: Mapping[str | None, int]) -> dict[str, int]:
    return {name_label(label): number for label, number in counts.items()}


def _list_lengths(counts: Counts) -> dict[str, int]:
    return {name: counts[name] for name in LENGTHS} | _plain(count_others(counts, LENGTHS))


def _first(ids: list[str]) -> dict[str, Any]:
    return {"count": len(ids), "query_ids": ids[:NAMED]}
