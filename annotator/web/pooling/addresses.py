"""Make and read the URLs of the page Pool: a tab, a filter of pairs, a pair, a round's rule, and a file.

`?tab=Pairs&status=unjudged&system=bm25&alone=true&round=2&text=Q1&from=50`; `?pair=KEY` is one pair. Unknown
values are ignored.
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
LONGEST = 9  # digits of a number in a URL
FILTERS = ("status", "system", "round", "text")


def make_pool_url(dataset: str, **parameters: str | None) -> str:
    """Return a URL of the page, without parameters that are None."""
    present = {name: value for name, value in parameters.items() if value is not None}
    return "/pool?" + urlencode({"dataset": dataset, **present})


def make_pairs_url(dataset: str, filtered: PairFilter, *, start: int = 0) -> str:
    """Return the URL of the list of the filtered pairs, from number `start` on."""
    return make_pool_url(
        dataset,
        tab=tr(PAIRS),
        status=filtered.status,
        system=filtered.system,
        alone="true" if filtered.alone else None,
        round=None if filtered.number is None else str(filtered.number),
        text=filtered.text or None,
        **{"from": str(start) if start else None},
    )


def make_left_out_url(dataset: str) -> str:
    """Return the URL of the file with all left-out candidates."""
    return f"{LEFT_OUT}?" + urlencode({"dataset": dataset})


def find_number(name: str) -> int | None:
    """Return the number of this parameter in the URL, or None."""
    text = st.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST else None
