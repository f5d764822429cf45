"""An annotator's own work: what was done, what is left, at what pace."""
