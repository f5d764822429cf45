"""What happens to every request before and after its handler, and the process that serves them."""
