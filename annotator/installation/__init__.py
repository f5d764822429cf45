"""The whole installation: backup, restore, moving to another database, and the effect of an upgrade."""
