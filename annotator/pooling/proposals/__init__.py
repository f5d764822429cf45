"""Let annotators propose documents that the pool lacks."""
