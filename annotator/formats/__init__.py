"""Bytes <-> domain records: one file per format, and the registry."""
