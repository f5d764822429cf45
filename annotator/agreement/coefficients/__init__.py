"""Coefficients of agreement: one file for each, with its paper."""
