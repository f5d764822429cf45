"""Which two annotators agree least and which most, where these surely differ: among annotators who are equally good, somebody
is always lowest."""

from collections.abc import Sequence

from annotator.agreement.claims import cluster_interval, confidence
from annotator.agreement.judgment_pairs import Couples, estimate_kappa, subtract
from annotator.agreement.records import Measured, PairAgreement


def find_extremes(
    measured: Measured, couples: Couples, names: Sequence[str]
) -> tuple[PairAgreement, PairAgreement] | None:
    """Return the lowest and the highest by kappa of those who share enough (`warning`), if the difference of the two is as sure
    as the number of annotator pairs calls for; else None."""
    known = [
        (value, pair.annotators, pair)
        for pair in measured.annotator_pairs
        if pair.warning is None and (value := pair.cohen_kappa["unweighted"].value) is not None
    ]
    if len(known) < 2:
        return None
    known.sort(key=lambda one: one[:2])
    low, high = known[0][2], known[-1][2]
    places = {name: place for place, name in enumerate(names)}
    least, most = (
        estimate_kappa(
            couples.take(
                (couples.first == places[pair.annotators[0]]) & (couples.second == places[pair.annotators[1]])
            ),
            len(names),
        )
        for pair in (low, high)
    )
    level = confidence(len(known) * (len(known) - 1))
    interval = cluster_interval(subtract(least, most), level=level)
    return (low, high) if interval is not None and interval[1] < 0 else None
