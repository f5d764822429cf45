"""Coefficients, breakdowns, the plain-language diagnosis."""
