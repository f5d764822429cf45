"""Find relations between documents in their own texts."""
