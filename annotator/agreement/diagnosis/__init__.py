"""Diagnosis of agreement: signals, verdict, and findings in plain sentences."""
