"""The list of coefficients: complete, and in the order that each surface shows."""

from dataclasses import fields

from annotator.agreement.coefficients import CUTS, DISAGREEMENT, METRICS
from annotator.agreement.measure import _FORMULAS
from annotator.agreement.records import (
    COEFFICIENT_KEYS,
    COEFFICIENTS,
    KAPPA_KINDS,
    MeasuredAgreement,
    list_stated,
)
from tests.unit.agreement.agreement_reports import MEASURED


def test_every_listed_coefficient_has_a_formula_and_a_field_of_the_measured_agreement() -> None:
    assert set(COEFFICIENT_KEYS) == set(_FORMULAS)
    assert set(COEFFICIENT_KEYS) <= {field.name for field in fields(MeasuredAgreement)}


def test_the_list_has_every_kind_that_the_formulas_know() -> None:
    kinds = {
        key: tuple(coefficient.kind for coefficient in COEFFICIENTS if coefficient.key == key)
        for key in COEFFICIENT_KEYS
    }
    assert KAPPA_KINDS == kinds["cohen_kappa"] == tuple(DISAGREEMENT)
    assert (kinds["krippendorff_alpha"], kinds["cut_points"]) == (METRICS, CUTS)


def test_figures_are_read_from_json_in_the_order_of_datasheets() -> None:
    stated = {(key, kind): value for key, kind, value in list_stated(MEASURED.figures_as_json())}
    assert list(dict.fromkeys(key for key, _ in stated)) == [
        "cohen_kappa",
        "krippendorff_alpha",
        "fleiss_kappa",
        "gwet_ac1",
        "gwet_ac2",
        "cut_points",
    ]
    assert stated == {
        (coefficient.key, coefficient.kind): value.as_json()
        for coefficient, value in MEASURED.list_coefficients()
    }
