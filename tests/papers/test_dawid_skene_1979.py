"""Dawid & Skene (1979), Applied Statistics 28(1): five anaesthetists judge 45 patients, the first of them three times.

Table 1 (the data), Table 2 (error rates and marginal probabilities) and the probabilities of the patients that are not
certain, as published, to two decimals.
"""

import numpy as np
import pytest

from annotator.agreement.consensus import DawidSkene, estimate

# Seven digits per patient: the first anaesthetist's three answers, then those of the others.
PATIENTS = (
    "111111133343341122122222312122232222223322122211133334332222223232222344444442223343111111122232121211111"
    "111211111111111111111222222122213222222222222222122232222212222111111111111112322222111111111111111121121"
    "111111133332331111111222222222232324334343221223223232333333432111111111111111212111232222212111112222222"
)
SHARES = (0.40, 0.42, 0.11, 0.07)
ERRORS = (
    ((0.89, 0.11, 0.00, 0.00), (0.07, 0.88, 0.05, 0.00), (0.00, 0.34, 0.66, 0.00), (0.00, 0.00, 0.56, 0.44)),
    ((0.83, 0.17, 0.00, 0.00), (0.05, 0.63, 0.31, 0.00), (0.00, 0.00, 1.00, 0.00), (0.00, 0.00, 0.00, 1.00)),
    ((1.00, 0.00, 0.00, 0.00), (0.11, 0.79, 0.11, 0.00), (0.00, 0.40, 0.20, 0.40), (0.00, 0.00, 0.67, 0.33)),
    ((0.94, 0.06, 0.00, 0.00), (0.05, 0.84, 0.10, 0.00), (0.00, 0.00, 0.80, 0.20), (0.00, 0.00, 0.33, 0.67)),
    ((1.00, 0.00, 0.00, 0.00), (0.16, 0.73, 0.11, 0.00), (0.00, 0.21, 0.79, 0.00), (0.00, 0.00, 0.33, 0.67)),
)
CLASSES = "142222132243121111222222112111131224233111212"
UNCERTAIN = {7: (1, 0.98), 35: (2, 0.95), 38: (3, 0.98)}


@pytest.fixture(scope="module")
def estimates() -> DawidSkene:
    rows = [
        (patient, max(0, index - 2), int(answer) - 1)
        for patient in range(45)
        for index, answer in enumerate(PATIENTS[patient * 7 : patient * 7 + 7])
    ]
    return estimate(*np.array(rows).T)


def test_the_marginal_probabilities_are_the_published_ones(estimates: DawidSkene) -> None:
    assert estimates.converged
    assert estimates.shares == pytest.approx(SHARES, abs=0.005)


def test_the_error_rates_are_the_published_ones(estimates: DawidSkene) -> None:
    assert estimates.errors == pytest.approx(np.array(ERRORS), abs=0.0051)


def test_the_patients_classes_are_the_published_ones(estimates: DawidSkene) -> None:
    assert "".join(str(index + 1) for index in estimates.probabilities.argmax(axis=1)) == CLASSES
    most = estimates.probabilities.max(axis=1)
    for patient, (grade, probability) in UNCERTAIN.items():
        assert estimates.probabilities[patient - 1, grade - 1] == pytest.approx(probability, abs=0.0051)
    certain = np.delete(most, [patient - 1 for patient in UNCERTAIN])
    assert certain.min() > 0.994


def test_rounds_that_do_not_suffice_are_told() -> None:
    rows = np.array([(0, 0, 1), (0, 1, 2), (1, 0, 1), (1, 1, 1), (2, 0, 3), (2, 1, 1)]).T
    assert not estimate(*rows, most_rounds=1).converged
