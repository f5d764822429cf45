"""Convert between file bytes and domain records: one file per format, and the registry."""
