"""Parse names of measures in the notation of ir_measures, and describe in words how each is computed.

`nDCG@10`, `P(rel=2)@5`, `nDCG(dcg='exp-log2')@10`, `RBP(p=0.95)`, `AP`, `RR`, `Bpref`, and also `F1@10`,
which ir_measures lacks. A threshold in the name (`rel=2`) takes precedence over the one chosen for all
measures. An unknown name or a missing cutoff raises ValidationError with a list of the measures.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say, say_n
from annotator.evaluation.records import Gain, Kind, Measure

NAMED_BY_IR_MEASURES: Mapping[str, Kind] = {
    kind: kind for kind in get_args(Kind) if kind not in ("F1", "FirstRank", "TFFU")
}
OTHER_NAMES: Mapping[str, str] = {"Hits": "Success", "Recall": "R", "Precision": "P"}
WITH_CUTOFF: frozenset[Kind] = frozenset(("P", "R", "F1", "Success"))
OFFERED = (
    "nDCG@k (linear gain), nDCG(dcg='exp-log2')@k (gain 2^grade - 1), P@k, R@k, F1@k, AP, AP@k, RR, RR@k, Success@k, ERR@k, "
    "RBP(p=0.8), Bpref, Judged@k; k is a number such as 10, and rel=2 or rel=3 in brackets says from which grade a document "
    "counts as relevant, as in P(rel=2)@10"
)
MAX_CUTOFF = 1_000_000
_F1 = re.compile(r"F1(?:\(rel=([1-3])\))?@(\d{1,7})", re.ASCII)
_PARAMETERS: Mapping[Kind, frozenset[str]] = {
    "nDCG": frozenset(("cutoff", "dcg")),
    "ERR": frozenset(("cutoff",)),
    "RBP": frozenset(("cutoff", "p", "rel")),
    "Bpref": frozenset(("rel",)),
    "Judged": frozenset(("cutoff",)),
}


def split_names(text: str) -> list[str]:
    """Return the names in a list separated by commas; a comma within brackets belongs to its name."""
    return [name.strip() for name in re.split(r",(?![^(]*\))", text) if name.strip()]


def parse_measure_name(name: str, *, relevant_from: int | None = None) -> Measure:
    """Return the measure of this name. `relevant_from`: the threshold (default 1) if the name has none."""
    relevant_from = 1 if relevant_from is None else relevant_from
    if relevant_from not in (1, 2, 3):
        raise ValidationError(
            f"expected a document to be relevant from grade 1, 2 or 3, found {relevant_from!r}"
        )
    match = _F1.fullmatch(name.strip())
    if match:
        cutoff = _check_cutoff(int(match[2]), name)
        threshold = int(match[1]) if match[1] else relevant_from
        return describe_measure(name.strip(), "F1", cutoff=cutoff, relevant_from=threshold)
    kind, shown, given = _ask_ir_measures(name)
    if not given.keys() <= _PARAMETERS.get(kind, frozenset(("cutoff", "rel"))):
        raise _unknown(name)
    depth = given.get("cutoff")
    gain: Gain = "exponential" if given.get("dcg") == "exp-log2" else "grade"
    threshold = given.get("rel", relevant_from)
    persistence = given.get("p", 0.8)
    if threshold not in (1, 2, 3) or not 0 < persistence < 1:
        raise _unknown(name)
    return describe_measure(
        shown,
        kind,
        cutoff=None if depth is None else _check_cutoff(depth, name),
        relevant_from=threshold,
        gain=gain,
        persistence=persistence,
    )


def describe_measure(
    name: str,
    kind: Kind,
    *,
    cutoff: int | None = None,
    relevant_from: int | None = 1,
    gain: Gain = "grade",
    persistence: float = 0.8,
    **others: Any,
) -> Measure:
    """Return a measure with its formula in words."""
    measure = Measure(name, kind, cutoff, relevant_from, gain, persistence=persistence, **others)
    return replace(measure, formula=_write_formula(measure))


def _write_formula(measure: Measure) -> Message:
    """Return the formula in words, which a report can translate."""
    values = {
        "k": say("all results")
        if measure.cutoff is None
        else say_n("the first result", "the first {n:,} results", measure.cutoff),
        "gain": _GAINS[measure.gain],
        "ideal": say("the documents of the truth")
        if measure.ideal == "truth"
        else say("these results themselves"),
        "divisor": say("the number of returned documents among them")
        if measure.over_returned
        else f"{measure.cutoff}",
        "persistence": f"{measure.persistence:g}",
    }
    formula = _choose_formula(measure.kind, values)
    if not measure.decimals:
        return formula
    return say(
        "{formula}; rounded to {decimals} decimals by query", formula=formula, decimals=measure.decimals
    )


_GAINS: Mapping[Gain, Message] = {
    "grade": say("grade"),
    "exponential": say("2^grade - 1"),
    "position": say(
        "2^position - 1, where position is the list's length for the first document and 1 for the last"
    ),
}


def _choose_formula(kind: Kind, values: Mapping[str, Any]) -> Message:
    formulas = {
        "nDCG": say(
            "sum of gain / log2(rank + 1) over {k} (gain: {gain}), divided by the same sum for the best order of {ideal}",
            **values,
        ),
        "P": say("relevant documents in {k}, divided by {divisor}", **values),
        "R": say("relevant documents in {k}, divided by all relevant documents", **values),
        "F1": say("2PR / (P + R) of precision and recall in {k}", **values),
        "AP": say(
            "sum of the precision at each relevant document in {k}, divided by all relevant documents",
            **values,
        ),
        "RR": say("1 / rank of the first relevant document in {k}; 0 without one", **values),
        "Success": say("1 with a relevant document in {k}, else 0", **values),
        "ERR": say(
            "expected 1 / rank at which a reader of {k} stops, who stops at grade g with chance (2^g - 1) / 8",
            **values,
        ),
        "RBP": say(
            "(1 - p) times the sum of p^(rank - 1) over the relevant documents in {k}, p = {persistence}",
            **values,
        ),
        "Bpref": say("for each relevant document, how few judged non-relevant documents are ranked above it"),
        "Judged": say("judged documents in {k}, divided by the number of documents there", **values),
        "FirstRank": say("rank of the first relevant document; undefined without one"),
        "TFFU": say("milliseconds until the first relevant document arrives; undefined without one"),
    }
    return formulas[kind]


_NO_MEASURE = (NameError, ValueError, SyntaxError, AssertionError, TypeError, AttributeError, KeyError)
LONGEST_NAME = 200  # longer names exhaust the stack of Python's parser, which ir_measures uses


def _ask_ir_measures(name: str) -> tuple[Kind, str, dict[str, Any]]:
    """Return (kind, name as ir_measures writes it, parameters in the name)."""
    import ir_measures

    if len(name) > LONGEST_NAME:
        raise _unknown(f"{name[:LONGEST_NAME]}…")
    word = re.match(r"[A-Za-z]+", name.strip())
    text = name.strip()
    if word and word[0] in OTHER_NAMES:
        text = OTHER_NAMES[word[0]] + text[word.end() :]
    try:
        measure = ir_measures.parse_measure(text)
        kind = NAMED_BY_IR_MEASURES.get(measure.NAME)
        if kind in WITH_CUTOFF and "cutoff" not in measure.params:
            raise ValidationError(
                say(
                    "{name} needs a number of results, as in {example}.",
                    name=name,
                    example=f"{kind}@10",
                )
            )
        measure.validate_params()
    except _NO_MEASURE:
        raise _unknown(name) from None
    if kind is None:
        raise _unknown(name)
    return kind, str(measure), dict(measure.params)


def _check_cutoff(cutoff: int, name: str) -> int:
    if 1 <= cutoff <= MAX_CUTOFF:
        return cutoff
    raise ValidationError(
        say(
            "{name}: choose a number of results from 1 to {most:,}, not {found:,}.",
            name=name,
            most=MAX_CUTOFF,
            found=cutoff,
        )
    )


def _unknown(name: str) -> ValidationError:
    return ValidationError(
        say("There is no measure {name!r}. Choose one of: {names}", name=name, names=OFFERED)
    )
