"""Near duplicates that a pool left out, and the grades that leads accept for them."""
