"""Verify the folder of a release, recompute its files, and open only the published bytes."""
