"""Write and read the addresses of the page Pool: a tab, a filter of pairs, a pair, a round's rule, and a file.

`?tab=Pairs&status=unjudged&system=bm25&alone=true&round=2&text=Q1&from=50`; `?pair=KEY` is one pair. A value that is unknown
is ignored, never guessed.
"""

from urllib.parse import urlencode

import streamlit as st

from annotator.domain.messages import say
from annotator.pooling.analysis.pool_analysis_records import PairFilter
from annotator.web.kit.messages import tr
from annotator.web.pooling.api import LEFT_OUT

CONTENTS, OVERLAP, DEPTH, ROUNDS, NEW_ROUND, DUPLICATES, PROPOSALS, PAIRS = (
    say("Contents"),
    say("Overlap"),
    say("Depth"),
    say("Rounds"),
    say("New round"),
    say("Near duplicates"),
    say("Proposals"),
    say("Pairs"),
)
ALL = "all"
LONGEST = 9  # the most digits of a number in an address
FILTERS = ("status", "system", "round", "text")


def list_pool_address(dataset: str, **parameters: str | None) -> str:
    """Return an address of the page; parameters that are None are left out."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return "/pool?" + urlencode({"dataset": dataset, **given})


def list_pairs_address(dataset: str, chosen: PairFilter, *, start: int = 0) -> str:
    """Return the address of the list of these pairs."""
    return list_pool_address(
        dataset,
        tab=tr(PAIRS),
        status=chosen.status,
        system=chosen.system,
        alone="true" if chosen.alone else None,
        round=None if chosen.number is None else str(chosen.number),
        text=chosen.text or None,
        **{"from": str(start) if start else None},
    )


def list_pair_address(dataset: str, pair: str) -> str:
    """Return the address of one pair."""
    return list_pool_address(dataset, pair=pair)


def list_left_out_address(dataset: str) -> str:
    """Return the address of the file of everything that was left out."""
    return f"{LEFT_OUT}?" + urlencode({"dataset": dataset})


def find_number(name: str) -> int | None:
    """Return the number that the address gives, None if it gives none."""
    text = st.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST else None
