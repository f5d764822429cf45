"""Who sees which pair next; leases; submitted judgments (append-only)."""
