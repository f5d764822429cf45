"""The tables, one file per subject, and the types of columns."""
