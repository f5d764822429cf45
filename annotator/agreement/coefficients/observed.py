"""Observed agreement: the share of judgments that match, with no account of chance."""

import numpy as np

from annotator.agreement.judgment_table import Floats, divide


def observed_agreement(confusion: Floats) -> Floats:
    """Share on the diagonal of `confusion` (… x k x k counts); NaN for an empty table."""
    return divide(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))
