"""The page Quality control."""
