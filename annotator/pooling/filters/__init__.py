"""What stays out of a pool: documents by rule, and those that say the same as a better ranked one."""
