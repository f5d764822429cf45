"""Reports of agreement made by hand, for the tests of what is shown of them: every field filled, every name nasty."""

from dataclasses import replace

from annotator.agreement.coefficients import METRICS
from annotator.agreement.consensus_records import Consensus, DecisionMatch, EstimatedAnnotator, EstimatedPair
from annotator.agreement.records import (
    AgreementPeriod,
    AgreementReport,
    AgreementVerdict,
    CoefficientValue,
    DiagnosisFinding,
    ExclusionCount,
    GroupAgreement,
    KappaParadox,
    Leaning,
    MeasuredAgreement,
    PairAgreement,
)

PEOPLE = ("<script>alert('x')</script>", "שרה & co", "고양이 🐈", "高橋")
KAPPA = CoefficientValue(0.5714, (0.4125, 0.7012))
NONE = CoefficientValue(None, None, "everybody gave the same grade on all shared pairs")
KAPPAS = {
    "unweighted": KAPPA,
    "linear": CoefficientValue(0.61, (0.5, 0.7)),
    "quadratic": CoefficientValue(0.7, None, "no confidence interval was requested"),
}
CONFUSION = ((40, 3, 0, 1), (2, 12, 4, 0), (0, 1, 20, 5), (0, 0, 2, 10))


def make_pair(first: str, second: str, *, kappa: CoefficientValue = KAPPA) -> PairAgreement:
    """Two annotators who share a hundred pairs."""
    return PairAgreement(
        (first, second), 100, 0.82, {**KAPPAS, "unweighted": kappa}, CONFUSION, KappaParadox(0.19, 0.02)
    )


MEASURED = MeasuredAgreement(
    pairs=150,
    single_pairs=7,
    queries=12,
    observed_agreement=0.82,
    cohen_kappa=KAPPAS,
    fleiss_kappa=CoefficientValue(0.55, (0.4, 0.7)),
    krippendorff_alpha={
        "nominal": KAPPA,
        "ordinal": CoefficientValue(0.81, (0.7, 0.9)),
        "interval": CoefficientValue(0.8, (0.7, 0.9)),
    },
    gwet_ac1=CoefficientValue(0.77, (0.6, 0.9)),
    gwet_ac2=NONE,
    cut_points=((1, KAPPA), (2, KAPPA), (3, NONE)),
    annotator_pairs=(
        make_pair(PEOPLE[0], PEOPLE[1]),
        make_pair(PEOPLE[0], PEOPLE[3], kappa=CoefficientValue(-0.1, (-0.6, 0.3))),
        make_pair(PEOPLE[2], PEOPLE[3], kappa=NONE),
    ),
    leanings=(Leaning(PEOPLE[0], 200, 0.31, (0.2, 0.4), 0.85), Leaning(PEOPLE[3], 80, -0.05, None)),
    grade_counts=(120, 60, 80, 44),
    grades_by_annotator={PEOPLE[0]: (50, 20, 30, 10), PEOPLE[2]: (0, 0, 0, 0), PEOPLE[3]: (5, 0, 0, 1)},
    paradox=KappaParadox(0.2, 0.05),
)
REPORT = AgreementReport(
    dataset="법령 <b>검색</b>",
    annotators=PEOPLE,
    simulated=False,
    kappa_target=0.7,
    resamples=1000,
    seed=7,
    measured=MEASURED,
    groups=(
        GroupAgreement("category", "手順 </td>", MEASURED),
        GroupAgreement("category", "شرح", replace(MEASURED, cohen_kappa={**KAPPAS, "unweighted": NONE}), "only 3 pairs"),
        GroupAgreement("category", None, MEASURED, "only 1 query"),
    ),
    findings=(DiagnosisFinding("verdict", "Too low & known."), DiagnosisFinding("lenient", "<script> grades higher than the others.")),
    verdict=AgreementVerdict("not met", KAPPA, 0.7, 40, "Too low & known."),
    periods=(
        AgreementPeriod("2026-03-02", "2026-03-08", 80, KAPPA, 0.8, (Leaning(PEOPLE[0], 40, 0.2, (0.1, 0.3)),)),
        AgreementPeriod("2026-03-09", "2026-03-15", 5, NONE, 1.0),
        AgreementPeriod("2026-03-16", "2026-03-22", 65, CoefficientValue(-0.2, (-0.7, 0.1)), 0.4),
        AgreementPeriod("2026-03-23", "2026-03-29", 30, CoefficientValue(0.4), 0.6),
    ),
    left_out=(ExclusionCount("unrateable", "“cannot rate”, so there is no grade", 12), ExclusionCount("single", "the only one", 7)),
    outdated=3,
)  # fmt: skip
EMPTY = AgreementReport(
    dataset="d", annotators=(), simulated=False, kappa_target=0.7, resamples=0, seed=0,
    measured=MeasuredAgreement(0, 0, 0, None, dict.fromkeys(KAPPAS, NONE), NONE, dict.fromkeys(METRICS, NONE), NONE, NONE, ((1, NONE), (2, NONE), (3, NONE)), (), (), (0, 0, 0, 0)),
    groups=(), findings=(DiagnosisFinding("nothing", "There are no judgments yet."),),
)  # fmt: skip
ESTIMATES = Consensus(
    dataset="법령",
    pairs=[
        EstimatedPair("q,1", 'd"1', 2, None, 1.5, 2, 0.91237, 3, "adjudicated"),
        EstimatedPair("q2", "文書 🐈", 3, 2, 2.0, 2, 1.0, None, None),
    ],
    annotators=(
        EstimatedAnnotator(PEOPLE[0], 9, 0.9, ((1.0, 0.0, 0.0, 0.0), None, (0.0, 0.1, 0.9, 0.0), (0.0, 0.0, 0.5, 0.5))),
    ),
    matches=(DecisionMatch("majority", 0, 0, 1), DecisionMatch("median", 0, 0, 1), DecisionMatch("Dawid and Skene", 1, 0, 0)),
    shares=(0.4, 0.3, 0.2, 0.1),
    iterations=12,
    converged=True,
)  # fmt: skip
