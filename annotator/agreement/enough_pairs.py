"""How many shared pairs, of how many queries, an agreement figure needs before it says much: one rule for the dataset,
its groups, and every two annotators."""

from functools import lru_cache

from annotator.domain.messages import Message, say, say_n

FEW_PAIRS = 30
FEW_QUERIES = 10


@lru_cache(4096)
def warn_of_few(pairs: int, queries: int) -> Message | None:
    """Return why so few shared pairs say little; None for enough pairs of enough queries."""
    if pairs >= FEW_PAIRS and queries >= FEW_QUERIES:
        return None
    return say(
        "too few to say much: {pairs} of {queries}; aim for {least_pairs} pairs of {least_queries} queries",
        pairs=say_n("{n} pair", "{n} pairs", pairs),
        queries=say_n("{n} query", "{n} queries", queries),
        least_pairs=FEW_PAIRS,
        least_queries=FEW_QUERIES,
    )
