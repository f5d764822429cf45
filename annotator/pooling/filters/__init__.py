"""Keep candidates out of a pool: by rule, or as near duplicates of a better ranked document."""
