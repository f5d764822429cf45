"""Fetch a run from a live search endpoint: the only code of the program that sends requests to other servers."""
