"""Compute observed agreement: the share of judgments that match, without a correction for chance."""

import numpy as np

from annotator.agreement.judgment_table import Floats, divide


def observed_agreement(confusion: Floats) -> Floats:
    """Return the share on the diagonal of `confusion` (… x k x k counts), 0 to 1; NaN for an empty table."""
    return divide(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))
