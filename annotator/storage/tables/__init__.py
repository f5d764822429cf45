"""The tables, each file those of one subject, and the kinds of columns."""
