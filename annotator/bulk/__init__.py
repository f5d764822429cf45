"""Many decisions at once: the queue as a file and back, policies."""
