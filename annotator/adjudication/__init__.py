"""The queue of disagreements, decisions, their impact, discussion, bulk decisions and history."""
