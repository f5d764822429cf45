"""Store judgments and derive what follows from them: which are current, outdated or missing, and which pairs are open."""
