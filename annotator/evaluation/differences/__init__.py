"""Differences between systems: intervals, tests, power, sweeps, regressions."""
