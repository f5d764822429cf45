"""One group's agreement without resamples: what the diagnosis needs of every category of every report, in little time.

Its one interval, of the unweighted kappa, is that of the queries' influences (claims.py), which the bootstrap approaches.
"""

from collections.abc import Sequence
from dataclasses import replace

from annotator.agreement.claims import cluster_interval
from annotator.agreement.diagnosis.drift import TOO_FEW_QUERIES
from annotator.agreement.judgment_pairs import estimate_kappa, list_couples
from annotator.agreement.judgment_table import Judged
from annotator.agreement.measure import measure
from annotator.agreement.records import Measured, Value


def measure_briefly(judged: Judged, names: Sequence[str]) -> Measured:
    """Every figure over these judgments, `names[n]` being annotator n, only the unweighted kappa with an interval."""
    measured = measure(judged, names, resamples=0, seed=0)
    kappa = measured.cohen_kappa["unweighted"]
    if kappa.value is None:
        return measured
    ci95 = cluster_interval(estimate_kappa(list_couples(judged), len(names)))
    value = Value(kappa.value, ci95, None if ci95 else TOO_FEW_QUERIES)
    return replace(measured, cohen_kappa={**measured.cohen_kappa, "unweighted": value})
