"""The files that an evaluation reads."""
