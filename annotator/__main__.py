"""Runs the command line as `python -m annotator`."""

from annotator.cli.main import run

run()
