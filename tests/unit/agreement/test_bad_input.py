"""What cannot be measured is said in words: one annotator, no shared pair, no variation, 200 annotators and the rest."""

import numpy as np
import pytest

from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import AgreementReport
from tests.agreement_cases import CASES, Case, check


def _read(case: Case) -> tuple[GradedJudgments, tuple[str, ...]]:
    """The grades as columns; unrateable is absence."""
    graded = [row for row in case.rows if row[3] is not None]
    queries, documents, names = (sorted({str(row[column]) for row in graded}) for column in range(3))
    rows = [
        (queries.index(query), documents.index(document), names.index(who), grade)
        for query, document, who, grade in graded
    ]
    return sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T), tuple(names)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("resamples", [0, 1, 40])
@pytest.mark.parametrize("name", CASES)
def test_a_dataset_that_cannot_be_measured_gets_words(name: str, resamples: int) -> None:
    case = CASES[name]
    judged, names = _read(case)
    measured = measure(judged, names, resamples=resamples, seed=0)
    report = AgreementReport("d", names, False, 0.7, resamples, 0, measured, (), ())
    if resamples == 40:
        check(case, report.as_json())
    assert names == tuple(sorted(case.people))
    assert not any(np.isnan(leaning.mean) for leaning in measured.leanings)
    for value in (*measured.cohen_kappa.values(), *measured.krippendorff_alpha.values(), measured.gwet_ac1):
        assert value.value is None or value.ci95 is not None or value.why


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_one_annotators_figures_where_they_share_nothing_get_words() -> None:
    judged, names = _read(CASES["an annotator with a single judgment that nobody shares"])
    measured = measure(judged, names, resamples=40, seed=0, only=names.index("zoë"))
    assert (measured.pairs, measured.single_pairs, measured.annotator_pairs) == (0, 1, ())
    assert measured.cohen_kappa["linear"].why


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_two_who_share_a_single_pair_have_no_kappa_above_0_from_it() -> None:
    """The same grade once: no variation. Different grades once: no agreement, 0 and not -1 or NaN."""
    judged, names = _read(CASES["an annotator with a single judgment"])
    pairs = {pair.annotators: pair for pair in measure(judged, names, resamples=40, seed=0).annotator_pairs}
    single = [pair for names, pair in pairs.items() if "zoë" in names]
    assert [(pair.pairs, pair.cohen_kappa["unweighted"].value) for pair in single] == [(1, 0.0), (1, 0.0)]
